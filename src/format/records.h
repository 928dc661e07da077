/* records: converts a file's records to BSON documents, block by block, whatever kind of format it has, by `delimited`,
 * `fixed` or `json`, or as they are (BSON). A records_t belongs to one thread; the schema and the dialect are shared. */
#ifndef TIPPLE_FORMAT_RECORDS_H
#define TIPPLE_FORMAT_RECORDS_H

#include "format/record/dialect.h"
#include "format/record/record.h"
#include "format/schema/schema.h"

#include <bson/bson.h>

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

/* ---- filter ----
 *
 * Simple comparisons of a document's fields, such as 'testType==N' or 'm>=100000 && d<2013-01-01'. A field is
 * given by its name or its key. Read-only after it is made; shared by threads. */

typedef struct filter filter_t;

/* texts: several filters, which must all be true. Status 1 with what is wrong: also a number that the format would read
 * in another way. */
filter_t *filter_parse(const schema_t *schema, char *const *texts, size_t count, err_t *err);
void filter_free(filter_t *filter);

/* The same filter in a unique spelling, for the catalog: keys, operators and values in the order given; values in
 * quotes where needed. Parsing it gives this filter again. */
const char *filter_text(const filter_t *filter);

/* A header must have the columns that it compares (schema_need). */
void filter_need(const filter_t *filter, schema_t *schema);

/* Is the filter true for the document? For a field that is missing, or of another kind than the value, only '!=' is
 * true. */
bool filter_passes(const filter_t *filter, const uint8_t *document, uint32_t length);

/* ---- emit ----
 *
 * Converts documents back to the records of their format. The reverse of records.h.
 *
 * The operations of a format's program (engine/program.h) are a tree of keys in the order of its documents, with those of
 * sections and of the tail's parts after those of the record. A document is converted in two steps:
 *
 *  1. One pass over its elements. The elements and the operations are walked together: the search for an element's
 *     operation begins after that of the element before it, so a document whose elements are in the format's order
 *     costs one comparison an element. Values are noted by field; each section and each entry of the tail becomes a piece of
 *     text, field by field.
 *  2. The record is put together: the fields of its fixed part and its pieces in their order, with markers and the gap
 *     (engine/fixed.c) between them; or its columns in the file's order, each with the value of its field or a null value, in
 *     quotes where it needs them.
 *
 * A value has one spelling, and no other is tried. Instead, each record is read back, and only a record that makes the
 * same document, byte for byte, is given out. So the two steps need not notice everything that is odd about a
 * document: whatever they write for it is refused. Records of fixed width come back byte for byte. Delimited records do so
 * where they were written the usual way, with the help of their shape (record.h); otherwise they have the same values.
 *
 * An emit_t belongs to one thread; the schema is shared. */

typedef struct emit emit_t;

emit_t *emit_new(const schema_t *schema); /* NULL: out of memory */
void emit_destroy(emit_t *emit);

/* False, with the sentence (status 1): the documents of this format do not hold all that its records say. */
bool emit_possible(const schema_t *schema, err_t *err);

/* Gives the record of a document, which has no _id, in a file's dialect, without its line end; valid until the next call. shape:
 * of the record that has made the document. False, with the sentence: no record makes this document. */
bool emit_record(emit_t *emit, const dialect_t *dialect, const bson_t *document, const shape_t *shape,
                 const uint8_t **record, size_t *length, err_t *err);

/* ---- emitted ----
 *
 * The file of records that `emit` prints. Whoever reads this file finds its dialect from its first lines, as for
 * any other file. So the first lines are kept until it is certain that a reader finds the dialect that they are written
 * in, and until then nothing of the file is put out. Headers, blank lines and comments are those of the first input that has
 * a record or a header; of the inputs after it, only the records are printed. */

typedef void emitted_put_fn(void *to, const void *bytes, size_t length);

/* Its owner sets the first four members; the others begin as 0. The owner frees `kept`. */
typedef struct {
    const schema_t *schema;
    size_t head; /* how many bytes of a file a reader examines to find its dialect */
    emitted_put_fn *put;
    void *to; /* for `put` */

    dialect_t dialect; /* of the new file */
    const char *other; /* the input's name, if its dialect is another one */
    bool later;        /* the file had a record or a header before this input, so that its dialect stays */
    bool open;         /* its last line has no line feed */
    bool certain;      /* its dialect will be found: lines are kept no longer than they are written */
    text_t kept;
    uint64_t lines; /* that are neither blank nor passed over */
} emitted_t;

/* The next input's lines follow. Returns the dialect in which its records have to be written: the new file has one dialect
 * for all of its inputs, and the first line of an input in another dialect is refused. `of` and the input's name stay valid
 * until the next call. */
const dialect_t *emitted_begin(emitted_t *emitted, const dialect_t *of, const char *input);

/* The input begins with a byte order mark, which stays where the new file begins. */
void emitted_mark(emitted_t *emitted);

typedef struct {
    const uint8_t *text, *end; /* end: its line end */
    size_t length, end_length; /* end_length 0: it has none */
    bool record;               /* false: a header or a blank line, as it stood, */
    bool passed;               /* or a line that was passed over: a comment, or a skipped one */
} emitted_line_t;

/* One more line of this input. False, with the sentence: the new file would be read as other documents. */
bool emitted_line(emitted_t *emitted, const emitted_line_t *line, err_t *err);

/* There are no more lines: puts out what is kept. False, with the sentence, as emitted_line. */
bool emitted_end(emitted_t *emitted, err_t *err);

#endif
