/* emit_delimited: converts a document back to a delimited record. */
#ifndef TIPPLE_FORMAT_DELIMITED_EMIT_DELIMITED_H
#define TIPPLE_FORMAT_DELIMITED_EMIT_DELIMITED_H

#include "format/record/draft.h"

typedef struct emit_delimited emit_delimited_t;

emit_delimited_t *emit_delimited_new(draft_t *draft); /* NULL: out of memory */
void emit_delimited_destroy(emit_delimited_t *emit);

/* Writes the record into the draft. 1: done; -1: out of memory; -2: err says what is wrong. */
int emit_delimited_record(emit_delimited_t *emit, const dialect_t *dialect, const bson_t *document,
                          const shape_t *shape, err_t *err);

#endif
