/* Rows of Arrow as bytes. */
#include "format/columns/columns.h"
#include "library/library.h"

#include <stdlib.h>

struct tipple_arrow {
    frame_t *columns;
    columns_sums_t sums;
    bool begun;
};

tipple_arrow_t *tipple_arrow_open(struct ArrowArrayStream *stream, tipple_error_t *error) {
    err_t err;
    if (library_misses(stream, "the stream", error))
        return NULL;
    tipple_arrow_t *arrow = calloc(1, sizeof *arrow);
    if (!arrow)
        library_no_memory(error, sizeof *arrow);
    if (!arrow || (arrow->columns = columns_open(stream, &arrow->sums, &err)))
        return arrow;
    library_tell(error, &err);
    tipple_arrow_close(arrow);
    return NULL;
}

bool tipple_arrow_set(tipple_arrow_t *arrow, const char *option, const char *value, tipple_error_t *error) {
    err_t err;
    if (library_misses(arrow, "the rows", error) || library_misses(option, "the option's name", error) ||
        library_misses(value, "the option's value", error))
        return false;
    if (arrow->begun)
        return library_refuse(error, "the rows are being read; what is set must be set before");
    return columns_how_read(&arrow->sums.how, option, value, &err) || library_tell(error, &err);
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
    columns_close(arrow->columns);
    columns_sums_free(&arrow->sums);
    free(arrow);
}
