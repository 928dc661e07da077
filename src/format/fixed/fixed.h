/* fixed: converts records of fixed width, with all that follows their fixed part, to BSON documents, block by block.
 * Used through `records`. A fixed_t belongs to one thread; the schema is shared. */
#ifndef TIPPLE_FORMAT_FIXED_FIXED_H
#define TIPPLE_FORMAT_FIXED_FIXED_H

#include "format/record/record.h"

typedef struct fixed fixed_t;

fixed_t *fixed_new(const schema_t *schema); /* NULL: out of memory */
void fixed_destroy(fixed_t *fixed);

/* As records_begin. */
void fixed_begin(fixed_t *fixed, const uint8_t *text, uint32_t length, bool file_start, bool with_id,
                 int64_t id_base);

/* As records_next. */
parsed_t fixed_next(fixed_t *fixed, uint8_t *out, size_t room, record_t *record);

uint64_t fixed_odd(const fixed_t *fixed);

#endif
