/* Rows of Arrow: as bytes, or into a load. */
#include "library/library.h"

#include <stdlib.h>

struct tipple_arrow {
    frame_t *columns;
    columns_how_t how;
    bool begun;
};

tipple_arrow_t *tipple_arrow_open(struct ArrowArrayStream *stream, tipple_error_t *error) {
    err_t err;
    if (library_misses(stream, "the stream", error))
        return NULL;
    tipple_arrow_t *arrow = calloc(1, sizeof *arrow);
    if (!arrow)
        library_no_memory(error, sizeof *arrow);
    if (!arrow || (arrow->columns = columns_open(stream, &err)))
        return arrow;
    library_tell(error, &err);
    free(arrow);
    return NULL;
}

bool tipple_arrow_set(tipple_arrow_t *arrow, const char *option, const char *value, tipple_error_t *error) {
    err_t err;
    if (library_misses(arrow, "the rows", error) || library_misses(option, "the option's name", error) ||
        library_misses(value, "the option's value", error))
        return false;
    if (arrow->begun)
        return library_refuse(error, "the rows are being read; what is set must be set before");
    if (!columns_how_read(&arrow->how, option, value, &err))
        return library_tell(error, &err);
    columns_set(arrow->columns, arrow->how, 0);
    return true;
}

int tipple_arrow_next(tipple_arrow_t *arrow, const void **bytes, size_t *length, tipple_error_t *error) {
    err_t err;
    const uint8_t *documents;
    if (library_misses(arrow, "the rows", error) || library_misses(bytes, "bytes", error) ||
        library_misses(length, "length", error))
        return -1;
    arrow->begun = true;
    const int more = columns_next(arrow->columns, &documents, length, &err);
    *bytes = documents;
    if (more < 0)
        library_tell(error, &err);
    return more;
}

void tipple_arrow_close(tipple_arrow_t *arrow) {
    if (!arrow)
        return;
    columns_close(arrow->columns, NULL);
    free(arrow);
}

bool tipple_load_push_arrow(tipple_load_t *load, struct ArrowArrayStream *stream, tipple_error_t *error) {
    err_t err;
    columns_how_t how;
    const uint8_t *bytes;
    size_t length;
    if (library_misses(load, "the load", error) || library_misses(stream, "the stream", error))
        return false;
    frame_t *columns = columns_open(stream, &err);
    if (!columns)
        return library_tell(error, &err);
    columns_sums_t *sums = library_begin_rows(load, columns_has_id(columns), &how, error);
    int more = -1;
    if (sums) {
        columns_set(columns, how, sums->rows);
        while ((more = columns_next(columns, &bytes, &length, &err)) > 0)
            if (!library_push_rows(load, bytes, length))
                break;
    }
    columns_close(columns, sums);
    return more == 0 || (sums && library_end_rows(load, more < 0 ? &err : NULL, error));
}
