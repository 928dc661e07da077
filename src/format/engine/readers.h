/* readers: the two kinds of records that the engine makes documents of, block by block. Used through `records`. A reader
 * belongs to one thread; the schema and the dialect are shared. Functions are as those of records.h with the same ending.
 *
 * delimited: no allocation and no libc conversion for usual values; one pass finds the fields, 64 bytes at a time, and one
 * goes over the fields. fixed: records of fixed width, with all that follows their fixed part. */
#ifndef TIPPLE_FORMAT_ENGINE_READERS_H
#define TIPPLE_FORMAT_ENGINE_READERS_H

#include "format/record/bad_values.h"
#include "format/record/dialect.h"

typedef struct delimited delimited_t;
typedef struct fixed fixed_t;

/* Values that do not fit are noted in `bad`. in: the text at hand, which belongs to the caller; the reader moves on in it. NULL:
 * out of memory. */
delimited_t *delimited_new(const schema_t *schema, bad_values_t *bad, record_text_t *in);
void delimited_destroy(delimited_t *reader);
void delimited_begin(delimited_t *reader, const dialect_t *dialect);
parsed_t delimited_next(delimited_t *reader, uint8_t *out, size_t room, record_t *record, shape_t *shape);

fixed_t *fixed_new(const schema_t *schema, bad_values_t *bad, record_text_t *in);
void fixed_destroy(fixed_t *fixed);
parsed_t fixed_next(fixed_t *fixed, uint8_t *out, size_t room, record_t *record, shape_t *shape);

#endif
