/* records: converts a file's records to BSON documents, block by block, whatever kind of format it has, by `delimited`,
 * `fixed` or `json`, or as they are (BSON). A records_t belongs to one thread; the schema and the dialect are shared. */
#ifndef TIPPLE_FORMAT_RECORDS_H
#define TIPPLE_FORMAT_RECORDS_H

#include "format/record/dialect.h"
#include "format/record/record.h"

typedef struct records records_t;

records_t *records_new(const schema_t *schema); /* NULL: out of memory */
void records_destroy(records_t *records);

/* The input of the texts of the next records_begin, by its name in the catalog. Only formats that make a key
 * of it (schema_tells_place) need it. */
void records_from(records_t *records, const char *file);

/* text[0, length) holds whole records; POOL_SLACK bytes before and after it must be readable. file_start: the text is
 * the start of its file. id_base: with with_id, documents begin with {_id: id_base + the record's offset in the
 * text}, or with the `_id` that the schema says. */
void records_begin(records_t *records, const dialect_t *dialect, const uint8_t *text, uint32_t length,
                   bool file_start, bool with_id, int64_t id_base);

/* The next record. shape may be NULL; a delimited record is read more slowly if it is asked for. */
parsed_t records_next(records_t *records, uint8_t *out, size_t room, record_t *record, shape_t *shape);

/* A buffer for a document, which grows as records need it; begins as {NULL, 0}; its owner frees it. */
typedef struct {
    uint8_t *bytes;
    size_t room;
} records_place_t;

/* The same into a buffer that grows: never PARSED_FULL. PARSED_MEMORY: memory is out; record->needed bytes were asked for. */
parsed_t records_next_into(records_t *records, records_place_t *place, record_t *record, shape_t *shape);

/* Where the text of the last records_begin begins in its input, for the places of values that do not fit; else places
 * count from the beginning of the text. */
void records_place(records_t *records, const bad_place_t *begin);

/* The document of the last record is not stored: what did not fit in it does not count. */
void records_leave_out(records_t *records, const record_t *record);

/* The values that did not fit their field's type, since records_new. */
const bad_values_t *records_bad(records_t *records);

/* How many lines were no records by what the format says of them, since records_new. */
passed_over_t records_passed_over(const records_t *records);

#endif
