/* A schema becomes the tree of columns: once for each stream, before any batch is read. Whatever a document cannot have is refused
 * here, with the column. */
#include "base/chars.h"
#include "base/text.h"
#include "format/columns/columns_inner.h"

#include <search.h>

enum { SECOND = 1000, DAY = 86400 * SECOND /* milliseconds */ };

/* The table of types: docs/types.md has it for users. An order matters only where one format begins another one. */
static const type_t types[] = {
    {"n", BSON_TYPE_NULL, 0, 0, 0},
    {"b", BSON_TYPE_BOOL, 2, 1, 0},
    {"c", BSON_TYPE_INT32, 2, 1, 0},
    {"C", BSON_TYPE_INT32, 2, 1, 0},
    {"s", BSON_TYPE_INT32, 2, 2, 0},
    {"S", BSON_TYPE_INT32, 2, 2, 0},
    {"i", BSON_TYPE_INT32, 2, 4, 0},
    {"I", BSON_TYPE_INT64, 2, 4, 0},
    {"l", BSON_TYPE_INT64, 2, 8, 0},
    {"L", BSON_TYPE_INT64, 2, 8, 0},
    {"e", BSON_TYPE_DOUBLE, 2, 2, 0},
    {"f", BSON_TYPE_DOUBLE, 2, 4, 0},
    {"g", BSON_TYPE_DOUBLE, 2, 8, 0},
    {"d:", BSON_TYPE_DECIMAL128, 2, 0, 0},
    {"u", BSON_TYPE_UTF8, 3, 4, 0},
    {"U", BSON_TYPE_UTF8, 3, 8, 0},
    {"vu", BSON_TYPE_UTF8, 3, VIEW, 0},
    {"z", BSON_TYPE_BINARY, 3, 4, 0},
    {"Z", BSON_TYPE_BINARY, 3, 8, 0},
    {"vz", BSON_TYPE_BINARY, 3, VIEW, 0},
    {"w:", BSON_TYPE_BINARY, 2, 0, 0},
    {"tdD", BSON_TYPE_DATE_TIME, 2, 4, DAY},
    {"tdm", BSON_TYPE_DATE_TIME, 2, 8, 1},
    {"tss:", BSON_TYPE_DATE_TIME, 2, 8, SECOND},
    {"tsm:", BSON_TYPE_DATE_TIME, 2, 8, 1},
    {"tsu:", BSON_TYPE_DATE_TIME, 2, 8, -1000},
    {"tsn:", BSON_TYPE_DATE_TIME, 2, 8, -1000000},
    {"tts", KIND_CLOCK, 2, 4, 1},
    {"ttm", KIND_CLOCK, 2, 4, 1000},
    {"ttu", KIND_CLOCK, 2, 8, 1000000},
    {"ttn", KIND_CLOCK, 2, 8, 1000000000},
    {"tDs", BSON_TYPE_INT64, 2, 8, 0},
    {"tDm", BSON_TYPE_INT64, 2, 8, 0},
    {"tDu", BSON_TYPE_INT64, 2, 8, 0},
    {"tDn", BSON_TYPE_INT64, 2, 8, 0},
    {"+l", BSON_TYPE_ARRAY, 2, 4, 0},
    {"+L", BSON_TYPE_ARRAY, 2, 8, 0},
    {"+vl", BSON_TYPE_ARRAY, 3, 4, 0},
    {"+vL", BSON_TYPE_ARRAY, 3, 8, 0},
    {"+w:", BSON_TYPE_ARRAY, 1, 0, 0},
    {"+s", BSON_TYPE_DOCUMENT, 1, 0, 0},
    {"+m", KIND_MAP, 2, 4, 0},
    {"+r", KIND_RUNS, 0, 0, 0},
    {"+us:", KIND_UNION, 1, 1, 0},
    {"+ud:", KIND_UNION, 2, 1, 0},
};

/* The type of a format; *more: what follows after its ':'. NULL: there is none. */
static const type_t *find(const char *format, const char **more) {
    for (size_t i = 0; i < COUNT(types); i++) {
        const size_t length = strlen(types[i].format);
        *more = format + length;
        if (strncmp(format, types[i].format, length) == 0 &&
            (types[i].format[length - 1] == ':' || !format[length]))
            return &types[i];
    }
    return NULL;
}

/* A number of a format, within bounds, and the comma after it. */
static bool take_number(const char **at, int64_t least, int64_t most, int64_t *number) {
    char *end;
    *number = strtoll(*at, &end, 10);
    const bool ok = end != *at && *number >= least && *number <= most && (!*end || *end == ',');
    *at = *end ? end + 1 : end;
    return ok;
}

/* ---- extensions ---- */

/* The name of the extension whose values are stored so; to be freed. NULL: there is none, or memory is out. Metadata is a number
 * of keys with their values, each of them a length and its bytes. */
static char *extension_of(const char *at) {
    static const char wanted[] = "ARROW:extension:name";
    int32_t keys = 0, length;
    bool found = false;
    if (at)
        memcpy(&keys, at, sizeof keys);
    for (int64_t words = 2 * (int64_t)keys; words > 0; words--) {
        at += sizeof length; /* after the number, or what follows a length */
        memcpy(&length, at, sizeof length);
        const char *word = at + sizeof length;
        if (found)
            return length > 0 ? strndup(word, (size_t)length) : NULL;
        found =
            words % 2 == 0 && length == (int32_t)strlen(wanted) && memcmp(word, wanted, (size_t)length) == 0;
        at += length > 0 ? length : 0;
    }
    return NULL;
}

/* Identifiers that BSON has types for. The storage of other extensions is stored, and columns_tell says so. */
static void read_extension(const char *metadata, column_t *column) {
    char *name = extension_of(metadata);
    const int64_t bytes = name && column->kind == BSON_TYPE_BINARY ? column->size : 0;
    if (bytes == 16 && strcmp(name, "arrow.uuid") == 0) {
        column->subtype = BSON_SUBTYPE_UUID;
    } else if (bytes == 12 && strcmp(name, "pymongoarrow.objectid") == 0) {
        column->bson = BSON_TYPE_OID;
    } else {
        column->extension = name;
        return;
    }
    free(name);
}

/* ---- names ---- */

static int by_path(const void *a, const void *b) {
    return strcmp(((const columns_sum_t *)a)->path, ((const columns_sum_t *)b)->path);
}

/* The sum of a path, which is taken over; a new one where none has it. NULL: memory is out. */
static columns_sum_t *find_sum(columns_sums_t *sums, char *path) {
    columns_sum_t *sum = calloc(1, sizeof *sum), **at = NULL;
    if (sum && GROW(sums->columns, sums->room, sums->count + 1, NULL)) {
        sum->path = path;
        at = (columns_sum_t **)tsearch(sum, &sums->by_path, by_path);
    }
    if (at && *at == sum)
        return sums->columns[sums->count++] = sum;
    free(sum);
    free(path);
    return at ? *at : NULL;
}

/* A field of a struct or a union adds its name to the path; what is in a list, or stands for another column, does not, and what
 * there is to say of it is said of the column around it. The sum may be that of an earlier stream. */
static bool take_name(frame_t *frame, const char *name, const column_t *within, column_t *column) {
    if (within && within->kind != BSON_TYPE_DOCUMENT && within->kind != KIND_UNION) {
        column->sum = within->sum;
        return true;
    }
    const char *const before = within ? within->sum->path : "";
    const size_t length = strlen(name), room = strlen(before) + length + 1 + KEY_SHORT;
    char *path = calloc(1, room);
    if (path)
        snprintf(path, room, "%s%s%s", before, *before ? "." : "", name);
    if (!path || !(column->sum = find_sum(frame->sums, path)))
        return err_memory(&frame->err, room);
    path = column->sum->path;
    column->key = (bytes_t){(const uint8_t *)path + strlen(path) - length, length, true};
    return true;
}

static int by_name(const void *a, const void *b) {
    return strcmp((const char *)((const column_t *)a)->key.bytes,
                  (const char *)((const column_t *)b)->key.bytes);
}

static void keep_column(void *column) {
    (void)column; /* it belongs to the tree of columns */
}

/* Each field of a document has a name of its own, which is UTF-8. */
static bool check_names(frame_t *frame, const column_t *column) {
    const column_t *const first = column->children;
    const char *const path = column->sum->path;
    void *names = NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < column->child_count; i++) {
        const column_t *const of = &first[i];
        const column_t *const *const twin = (const column_t *const *)tsearch(of, &names, by_name);
        if (!twin)
            ok = err_memory(&frame->err, sizeof *of);
        else if (!utf8_valid(of->key.bytes, of->key.length))
            ok = err_set(&frame->err, STATUS_INPUT, "the name of column %zu is not UTF-8: rename it", i + 1);
        else if (*twin != of)
            ok = err_set(&frame->err, STATUS_INPUT,
                         "%s%scolumns %td and %zu are both called '%s': a document has each name once, so "
                         "rename one of them",
                         path, *path ? ": " : "", *twin - first + 1, i + 1, (const char *)of->key.bytes);
    }
    tdestroy(names, keep_column);
    return ok;
}

/* ---- the tree ---- */

static bool is_whole(uint8_t kind) {
    return kind == BSON_TYPE_INT32 || kind == BSON_TYPE_INT64;
}

static bool refuse(frame_t *frame, const column_t *column, const char *format) {
    const bool interval = strncmp(format, "ti", 2) == 0;
    return err_set(&frame->err, STATUS_INPUT, "column '%s' %s '%s', which %s: cast it, or leave it out",
                   column->sum->path, interval ? "is an interval," : "has the Arrow type", format,
                   interval ? "no type of a document holds" : "is not known here");
}

/* True if each value of the column is a text. */
static bool is_text(const column_t *column) {
    while (column->kind == KIND_DICTIONARY || column->kind == KIND_RUNS)
        column = &column->children[column->child_count - 1]; /* what is pointed into, or the values of runs */
    return column->kind == BSON_TYPE_UTF8;
}

/* What follows the ':' of a format, and what the children have to be. A map whose keys are no texts is a list of pairs. */
static bool read_parameters(const char *more, column_t *column) {
    const column_t *const first = column->children;
    const size_t count = column->child_count;
    int64_t digits, bits = 128, id;
    switch (column->kind) {
    case BSON_TYPE_DECIMAL128: /* precision, scale, bits */
        if (!take_number(&more, 1, 76, &digits) || !take_number(&more, -6000, 6000, &column->size) ||
            (*more && !take_number(&more, 32, 256, &bits)))
            return false;
        column->width = (uint8_t)(bits / 8);
        return !count && !(bits & (bits - 1));
    case BSON_TYPE_BINARY:
        return !count && (column->width || take_number(&more, 0, INT32_MAX, &column->size));
    case BSON_TYPE_ARRAY:
        return count == 1 && (column->width || take_number(&more, 0, INT32_MAX, &column->size));
    case KIND_MAP:
        if (count != 1 || first->kind != BSON_TYPE_DOCUMENT || first->child_count != 2)
            return false;
        if (!is_text(first->children))
            column->kind = column->bson = BSON_TYPE_ARRAY;
        return true;
    case KIND_RUNS:
        return count == 2 && is_whole(first->kind) && !first->is_unsigned && first->width > 1;
    case KIND_UNION:
        for (uint8_t i = 1; *more; i++) {
            if (!take_number(&more, 0, COLUMN_CODES - 1, &id) || i > count || i > COLUMN_CODES)
                return false;
            column->codes[id] = i;
        }
        return true;
    case BSON_TYPE_DOCUMENT:
        return true;
    default:
        return column->kind == KIND_DICTIONARY || !count;
    }
}

static bool make(frame_t *frame, const struct ArrowSchema *schema, const column_t *within, int level,
                 column_t *column) {
    const char *format = schema && schema->format ? schema->format : "",
               *name = within && schema && schema->name ? schema->name : "", *more;
    const type_t *type = find(format, &more);
    if (within && within->is_entry && column - within->children < 2)
        name = column == within->children ? "key" : "value";
    if (!take_name(frame, name, within, column))
        return false;
    if (level == COLUMN_LEVELS)
        return err_set(&frame->err, STATUS_INPUT,
                       "column '%.200s' is nested deeper than the 180 levels that a server stores",
                       column->sum->path);
    if (!type || (schema->dictionary && (!is_whole(type->kind) || schema->n_children)) ||
        schema->n_children < 0 || (schema->n_children && !schema->children))
        return refuse(frame, column, format);
    *column = (column_t){.kind = schema->dictionary ? KIND_DICTIONARY : type->kind,
                         .type = type,
                         .key = column->key,
                         .sum = column->sum,
                         .bson = type->kind % KIND_OTHER,
                         .width = type->width,
                         .is_unsigned = type->format[0] >= 'A' && type->format[0] <= 'Z',
                         .is_entry = within && within->kind == KIND_MAP,
                         .child_count = schema->dictionary ? 1 : (size_t)schema->n_children};
    if (!(column->children = calloc(column->child_count + 1, sizeof *column->children)))
        return err_memory(&frame->err, column->child_count * sizeof *column->children);
    for (size_t i = 0; i < column->child_count; i++)
        if (!make(frame, schema->dictionary ? schema->dictionary : schema->children[i], column, level + 1,
                  &column->children[i]))
            return false;
    if (!read_parameters(more, column))
        return refuse(frame, column, format);
    read_extension(schema->metadata, column);
    column->unzoned = strncmp(format, "ts", 2) == 0 && !*more;
    return column->kind != BSON_TYPE_DOCUMENT || check_names(frame, column);
}

bool tree_make(frame_t *frame, const struct ArrowSchema *schema) {
    const char *format = schema->format ? schema->format : "";
    if (strcmp(format, "+s") != 0)
        return err_set(&frame->err, STATUS_INPUT,
                       "this is a stream of single values ('%.100s'), not of rows with columns: give a table "
                       "or a data frame",
                       format);
    return make(frame, schema, NULL, 0, &frame->root);
}

void tree_free(column_t *column) {
    for (size_t i = 0; column->children && i < column->child_count; i++)
        tree_free(&column->children[i]);
    free(column->children);
    free(column->extension);
}
