/* records: a file's records into BSON documents, block by block, whichever kind of format it has: the face of
 * `delimited` and `fixed`. A records_t belongs to one thread; the schema and the dialect are shared. */
#ifndef TIPPLE_FORMAT_RECORDS_H
#define TIPPLE_FORMAT_RECORDS_H

#include "format/record/dialect.h"
#include "format/record/record.h"

typedef struct records records_t;

records_t *records_new(const schema_t *schema); /* NULL: out of memory */
void records_destroy(records_t *records);

/* text[0, length) holds whole records; POOL_SLACK bytes before and behind it can be read. file_start: it is
 * the start of its file. id_base: with_id documents start with {_id: id_base + the record's offset in the
 * text}. */
void records_begin(records_t *records, const dialect_t *dialect, const uint8_t *text, uint32_t length,
                   bool file_start, bool with_id, int64_t id_base);

/* The next record. shape may be NULL; asking for it goes the slow way. */
parsed_t records_next(records_t *records, uint8_t *out, size_t room, record_t *record, shape_t *shape);

/* A document's place that grows with what the records need; {NULL, 0} to begin with, freed by its owner. */
typedef struct {
    uint8_t *bytes;
    size_t room;
} records_place_t;

/* The same into a place of one's own: never PARSED_FULL. */
parsed_t records_next_into(records_t *records, records_place_t *place, record_t *record, shape_t *shape);

/* The document of a record of which there is only its own text, without the slack around it. PARSED_MEMORY: there is none
 * left, and record->needed were asked for. */
parsed_t records_one(records_t *records, const dialect_t *dialect, const uint8_t *text, size_t length,
                     bool file_start, int64_t id, records_place_t *place, record_t *record);

/* Values kept as text because they were no number or date, since records_new. */
uint64_t records_kept_as_text(const records_t *records);

#endif
