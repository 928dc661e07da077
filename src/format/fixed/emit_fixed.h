/* emit_fixed: converts a document back to a record of fixed width. */
#ifndef TIPPLE_FORMAT_FIXED_EMIT_FIXED_H
#define TIPPLE_FORMAT_FIXED_EMIT_FIXED_H

#include "format/record/draft.h"

typedef struct emit_fixed emit_fixed_t;

emit_fixed_t *emit_fixed_new(draft_t *draft); /* NULL: out of memory */
void emit_fixed_destroy(emit_fixed_t *emit);

/* Writes the record into the draft; returns what emit_delimited_record returns. */
int emit_fixed_record(emit_fixed_t *emit, const bson_t *document, err_t *err);

#endif
