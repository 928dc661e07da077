/* delimited: converts records of a delimited format to BSON documents, block by block. Fast: no allocation, no libc
 * conversion, one SIMD pass to find the fields and one pass over the fields. A delimited_t belongs to one thread; the
 * schema and the dialect are shared. */
#ifndef TIPPLE_FORMAT_DELIMITED_DELIMITED_H
#define TIPPLE_FORMAT_DELIMITED_DELIMITED_H

#include "format/record/dialect.h"
#include "format/record/record.h"

typedef struct delimited delimited_t;

delimited_t *delimited_new(const schema_t *schema); /* NULL: out of memory */
void delimited_destroy(delimited_t *reader);

/* text[0, length) holds whole records; POOL_SLACK bytes before and after it must be readable. file_start: the text is
 * the start of its file. id_base: with with_id, documents begin with {_id: id_base + the record's offset in the
 * text}. */
/* As records_from. */
void delimited_from(delimited_t *reader, const char *file);

void delimited_begin(delimited_t *reader, const dialect_t *dialect, const uint8_t *text, uint32_t length,
                     bool file_start, bool with_id, int64_t id_base);

/* The next record. shape may be NULL; a record is read more slowly if it is asked for. */
parsed_t delimited_next(delimited_t *reader, uint8_t *out, size_t room, record_t *record, shape_t *shape);

/* How many values did not fit their field's type, since delimited_new: in all, and of one field. */
uint64_t delimited_bad_values(const delimited_t *reader);
uint64_t delimited_bad_of(const delimited_t *reader, size_t field);

/* How many lines were passed over, since delimited_new. */
passed_over_t delimited_passed_over(const delimited_t *reader);
#endif
