/* emit_with: what the writers of records share. Inside src/format only. */
#ifndef TIPPLE_FORMAT_EMIT_WITH_H
#define TIPPLE_FORMAT_EMIT_WITH_H

#include "format/emit.h"

/* The record starts POOL_SLACK bytes behind `base`, because it is read again by the record path. */
typedef struct {
    uint8_t *base, *bytes;
    size_t length, room;
} text_buffer_t;

typedef struct emit_delimited emit_delimited_t;
typedef struct emit_fixed emit_fixed_t;

struct emit {
    const schema_t *schema;
    text_buffer_t out;
    records_t *reader;           /* reads records back */
    records_place_t again;       /* the document that they make */
    emit_delimited_t *delimited; /* one of the two */
    emit_fixed_t *fixed;
};

bool emit_put(text_buffer_t *out, const void *bytes, size_t length); /* false: out of memory */

/* Does the record, with its line end, read back as the document? -1: out of memory. */
int emit_reads_back(emit_t *emit, const dialect_t *dialect, const bson_t *document, const shape_t *shape);

emit_delimited_t *emit_delimited_new(void); /* NULL: out of memory */
void emit_delimited_destroy(emit_delimited_t *delimited);

/* Writes the record into emit->out. 1: done, and it reads back; 0: it does not; -1: out of memory; -2: err
 * says what is wrong. */
int emit_delimited_record(emit_t *emit, const dialect_t *dialect, const bson_t *document,
                          const shape_t *shape, err_t *err);

emit_fixed_t *emit_fixed_new(const schema_t *schema); /* NULL: out of memory */
void emit_fixed_destroy(emit_fixed_t *fixed);
int emit_fixed_record(emit_t *emit, const bson_t *document, const shape_t *shape, err_t *err);

#endif
