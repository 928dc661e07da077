/* delimited: records of a delimited format into BSON documents, block by block. The record path: no
 * allocation, no libc conversion, one pass of SIMD for the field bounds and one over the fields. A
 * delimited_t belongs to one thread; the schema and the dialect are shared. */
#ifndef TIPPLE_FORMAT_DELIMITED_DELIMITED_H
#define TIPPLE_FORMAT_DELIMITED_DELIMITED_H

#include "format/record/dialect.h"
#include "format/record/record.h"

typedef struct delimited delimited_t;

delimited_t *delimited_new(const schema_t *schema); /* NULL: out of memory */
void delimited_destroy(delimited_t *reader);

/* text[0, length) holds whole records; POOL_SLACK bytes before and behind it can be read. file_start: it is
 * the start of its file. id_base: with_id documents start with {_id: id_base + the record's offset in the
 * text}. */
void delimited_begin(delimited_t *reader, const dialect_t *dialect, const uint8_t *text, uint32_t length,
                     bool file_start, bool with_id, int64_t id_base);

/* The next record. shape may be NULL; asking for it goes the slow way. */
parsed_t delimited_next(delimited_t *reader, uint8_t *out, size_t room, record_t *record, shape_t *shape);

/* Values kept as text because they were no number or date, since delimited_new. */
uint64_t delimited_odd(const delimited_t *reader);

#endif
