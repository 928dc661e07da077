#include "load/before/piece.h"
#include "format/cut/bson_span.h"

#include <string.h>

bool piece_read(const schema_t *schema, const input_file_t *file, source_t *source, uint64_t offset,
                uint8_t *room, dialect_t *dialect, piece_t *piece) {
    err_t ignored;
    const ssize_t most = offset ? PIECE_LATER : PIECE_FIRST;
    uint8_t *text = room + POOL_SLACK, *first = text;
    if (offset && !source_skip_to(source, offset, &ignored))
        return false;
    const ssize_t got = source_read(source, text, (size_t)most, &ignored);
    if (got <= 0)
        return false;
    const bool bson = schema->kind == RECORDS_BSON;
    if (offset && bson)
        first += bson_span_search(text, (size_t)got);
    else if (offset && (first = memchr(text, '\n', (size_t)got)))
        first++;
    uint8_t *last = bson ? NULL : memrchr(text, '\n', (size_t)got);
    uint8_t *end = got < most || !last ? text + got : last + 1;
    if (!first || first >= end)
        return false;
    memset(text + got, 0, POOL_SLACK);
    *piece = (piece_t){.text = first, .length = (uint32_t)(end - first), .more = got == most};
    return offset || dialect_sniff(schema, first, piece->length, file->name, dialect, &ignored);
}
