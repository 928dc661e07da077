/* emit: converts a document back to its record. An emit_t belongs to one thread. */
#ifndef TIPPLE_FORMAT_EMIT_H
#define TIPPLE_FORMAT_EMIT_H

#include "format/records.h"

#include <bson/bson.h>

typedef struct emit emit_t;

emit_t *emit_new(const schema_t *schema); /* NULL: out of memory */
void emit_destroy(emit_t *emit);

/* False, with the sentence (status 1): the format leaves parts of its records out. */
bool emit_possible(const schema_t *schema, err_t *err);

/* The record of a document in a file's dialect, without its line end; valid until the next call. shape NULL: the first
 * null value and pattern of each field, and quotes only where needed. The record is read back before it is returned.
 * False, with the sentence: it does not give the same document again. */
bool emit_record(emit_t *emit, const dialect_t *dialect, const bson_t *document, const shape_t *shape,
                 const uint8_t **record, size_t *length, err_t *err);

#endif
