/* A batch is bound to the tree before any of its rows is encoded: each array has the buffers and the children that its type needs,
 * and as many values as are used of it without a check. */
#include "format/columns/columns_inner.h"

/* Bytes, or values of a list: more than any memory holds, and so few that no place in a buffer overflows. */
#define MOST (INT64_C(1) << 48)

/* Its lengths, and that all that was planned is there. Of a type without buffers it may have some. */
static bool check_shape(const column_t *column, const struct ArrowArray *array, int64_t needed) {
    const int64_t most = column->size > 0 ? MOST / column->size : MOST, buffers = column->type->buffers;
    if (!array || array->length < needed || array->length > most || array->offset < 0 ||
        array->offset > most || array->null_count < -1 || array->null_count > array->length)
        return false;
    if (buffers && (!array->buffers || array->n_buffers < buffers))
        return false;
    if (buffers && column->width != VIEW && array->n_buffers > buffers)
        return false;
    if (column->kind == KIND_DICTIONARY)
        return array->dictionary && !array->n_children;
    return !array->dictionary && array->n_children == (int64_t)column->child_count &&
           (array->children || !array->n_children);
}

/* Ends of runs rise, above 0, and the last one is that of all values or after it. */
static bool check_runs(const column_t *column) {
    const column_t *ends = &column->children[0], *values = &column->children[1];
    int64_t before = 0;
    if (ends->valid || values->length < ends->length)
        return false;
    for (int64_t i = 0; i < ends->length; i++) {
        const int64_t end = bind_whole(ends, i);
        if (end <= before)
            return false;
        before = end;
    }
    return before >= column->offset + column->length || !column->length;
}

/* How many values of its children its own ones use without a check. */
static int64_t needed_of_children(const column_t *column) {
    const int64_t values = column->offset + column->length;
    const bool same = column->kind == KIND_STRUCT || column->kind == KIND_SPARSE;
    return same ? values : column->kind == KIND_FIXED_LIST ? values * column->size : 0;
}

/* Its own buffers: bits for nulls, which unions and runs do not have, values, and what these point to. Texts need no third one
 * as long as all of them are empty: encode.c looks. */
static bool take_buffers(column_t *column, const struct ArrowArray *array) {
    const kind_t kind = column->kind;
    const bool bits = column->type->buffers && kind != KIND_SPARSE && kind != KIND_DENSE,
               views = column->width == VIEW, list = kind == KIND_LIST && column->type->buffers == 3;
    const int64_t count = column->type->buffers ? array->n_buffers : 0, first = bits;
    column->length = array->length;
    column->offset = array->offset;
    column->valid = bits ? array->buffers[0] : NULL;
    column->values = count > first ? array->buffers[first] : NULL;
    column->data = count > first + 1 ? array->buffers[count - 1] : NULL;
    column->views = views ? array->buffers + 2 : NULL;
    column->view_count = views ? count - 3 : 0;
    column->run = 0;
    column->data_end = 0;
    if (array->null_count > 0 && bits && !column->valid)
        return false;
    const bool has_values = count > first && !(kind == KIND_FIXED && !column->size),
               has_data = list || kind == KIND_DENSE || column->view_count;
    if (!column->length)
        return true;
    if ((has_values && !column->values) || (has_data && !column->data))
        return false;
    if ((kind == KIND_TEXT || kind == KIND_BYTES) && !views && column->data)
        column->data_end = place_at(column->values, column->offset + column->length, column->width);
    return true;
}

const column_t *bind_array(column_t *column, const struct ArrowArray *array, int64_t needed) {
    if (!check_shape(column, array, needed) || !take_buffers(column, array))
        return column;
    const int64_t of_children = needed_of_children(column);
    const column_t *broken = NULL;
    for (size_t i = 0; !broken && i < column->child_count; i++)
        broken = bind_array(&column->children[i], array->dictionary ? array->dictionary : array->children[i],
                            of_children);
    if (!broken && column->kind == KIND_RUNS && !check_runs(column))
        return column;
    return broken;
}
