/* record: what every reader of records reports about a record. */
#ifndef TIPPLE_FORMAT_RECORD_RECORD_H
#define TIPPLE_FORMAT_RECORD_RECORD_H

#include "format/schema/schema.h"

#include <string.h>

/* What a record says and its document does not. Of a delimited one: which of a field's null values or date patterns it has,
 * and how its quotes are written. */
typedef struct {
    uint8_t choice[SCHEMA_MOST_FIELDS];
    bool quoted, backslash;
    bool carriage; /* its line end begins with a CR */
} shape_t;

typedef enum {
    PARSED_END, /* the block has no more records */
    PARSED_DOCUMENT,
    PARSED_REJECT, /* no document can be made of it: column, field and reason say why */
    PARSED_HEADER, /* a header line */
    /* a header with other columns than those by which the file is read: what follows would be read wrongly; reason
     * says so */
    PARSED_OTHER_HEADER,
    PARSED_BLANK,   /* an empty line */
    PARSED_COMMENT, /* a line that begins as comments do */
    PARSED_SKIPPED, /* one of the lines before the first record or the header */
    PARSED_FULL,    /* not enough room in `out`: call again with `needed` bytes */
    PARSED_MEMORY,  /* out of memory */
} parsed_t;

typedef struct {
    uint32_t offset, length; /* in the block's text; length without the line end */
    uint32_t line;           /* in the block, from 0 */
    uint8_t line_end;        /* bytes of the line end: 0 (the last line of a file), 1 or 2 */
    uint32_t document_length;
    size_t needed; /* how many bytes of `out` it takes at most */
    /* of a reject (or another header): the byte in the record, from 1; of JSON, in the line */
    uint32_t column;
    const char *field;  /* of a reject: the field's name, or NULL */
    const char *reason; /* of a reject; valid until the next call */
} record_t;

/* A text of whole records, which a reader reads one after the other. */
typedef struct {
    const uint8_t *text; /* POOL_SLACK bytes before and after it may be read */
    uint32_t length;
    uint32_t at;           /* where the next record begins, */
    uint32_t line;         /* and in which line, from 0 */
    bool file_start;       /* the text is the start of its file */
    bool with_id;          /* documents begin with {_id: id_base + the record's offset} */
    bad_value_t bad_value; /* what becomes of values that do not fit */
    int64_t id_base;
    const char *file; /* the name of its input, where a key is made of that; NULL: not known */
} record_text_t;

/* Describes the record at hand, which has `length` bytes with its line end. */
static inline record_t record_at(const record_text_t *in, uint32_t length) {
    const uint8_t *const text = in->text + in->at;
    const bool feed = length && text[length - 1] == '\n',
               carriage = length > feed && text[length - feed - 1] == '\r';
    const uint8_t line_end = (uint8_t)(feed + carriage);
    return (record_t){.offset = in->at, .length = length - line_end, .line = in->line, .line_end = line_end};
}

/* The column of a reject in a block that begins `in_line` bytes after the beginning of its line. 0, which is no column: it is
 * too far to be counted. */
static inline uint32_t record_column(const record_t *record, uint64_t in_line) {
    const uint64_t column = record->column + (record->line || !record->column ? 0 : in_line);
    return column <= UINT32_MAX ? (uint32_t)column : 0;
}

/* Lines that are no records by what the format says of them. */
typedef struct {
    uint64_t skipped, comments;
} passed_over_t;

/* No document may come near 2 GiB: sizes in BSON are int32. */
enum { RECORD_MOST_NEEDED = 1 << 30 };

/* The reason of a reject whose document has a top-level Timestamp(0, 0). */
#define RECORD_SERVER_REPLACES "a server stores the time of day in place of Timestamp(0, 0)"

/* The reason of a reject whose document brings an `_id` where those of the collection are made. */
#define RECORD_OWN_ID                                                                                        \
    "it brings its own _id, but in this collection the _id of a document is made of its record: load it "    \
    "into another collection with --id _id, or take its _id out"

/* Rejects the record. reason: valid until the next call. */
static inline parsed_t record_refuse(record_t *record, uint32_t column, const char *reason) {
    record->reason = reason;
    record->field = NULL;
    record->column = column;
    return PARSED_REJECT;
}

static inline parsed_t record_refuse_large(record_t *record) {
    return record_refuse(record, 1, "its document could be larger than 1 GiB");
}

/* ---- own_id ----
 *
 * The `_id` of a document that the data bring, where it is not the record's place: their own `_id`, or the
 * values of some fields (--id). The fields stay in the document, too. */

/* From now on the documents of this schema get their `_id` from these fields, which are given by their names or keys:
 * "order_id" or "shop,order"; "_id": documents keep their own; "": the place of the record. Before records_new. False:
 * status 1, and what is wrong. */
bool own_id_set(schema_t *schema, const char *fields, err_t *err);

/* Is a shard key's field decided by the `_id`, so that two documents with one `_id` are always on one shard? False: the
 * sentence. */
bool own_id_decides(const own_id_t *id, const char *path, err_t *err);

/* Puts the `_id` that is made of its fields in the place of the one that the document begins with, which is the record's place,
 * and which `room` is for. An `_id` that is kept stays. False: it is none; the record is a reject that says why. */
bool own_id_put(const own_id_t *id, uint8_t *document, size_t room, record_t *record);

/* ---- bad_values ----
 *
 * The values that do not fit their field's type: how many each field has, and where the first of them are.
 *
 * Each reader (records.h) notes such a value with its place when it meets it. The values of the last record that has any
 * are kept apart until another record has some or a caller asks, so that a caller who does not store the record's document
 * can take them back (records_leave_out). Fields are numbered as schema_counted_field does; after them comes one for all
 * other fields, which is what records of fixed width count by; and last one for values that do fit, but are local times that
 * there were twice (bad_values_twice), which the count of all fields leaves out. Belongs to one thread. */

enum { BAD_VALUES_PLACES = 3 };

typedef struct {
    const void *input;                 /* the caller's; inputs are in the order of their addresses */
    uint64_t offset, line, lines_from; /* line: counted from the offset lines_from on */
} bad_place_t;

typedef struct {
    uint64_t count;
    bad_place_t places[BAD_VALUES_PLACES]; /* the first ones, in order */
    size_t place_count;
    uint64_t recent; /* values of the last record, which are not in `count` yet */
} bad_field_t;

typedef struct {
    uint64_t count;              /* of all fields, */
    uint64_t became[BAD_VALUES]; /* and by what became of them */
    bad_place_t text;            /* where the text that is read begins, */
    bad_value_t by;              /* and what becomes of its values */
    bad_place_t record;          /* the last record that has such values, while they are kept apart */
    bool any_recent;
    bool binary;          /* some that were to stay as texts are binary: their bytes are no text */
    passed_over_t passed; /* lines that are no records, which are counted here, too */
    size_t field_count;
    bad_field_t fields[];
} bad_values_t;

bad_values_t *bad_values_new(const schema_t *schema); /* NULL: out of memory; freed by free */

static inline size_t bad_values_twice(const bad_values_t *values) {
    return values->field_count - 1;
}

/* For readers: `count` values of a field of this record do not fit. */
void bad_values_note(bad_values_t *values, size_t field, uint64_t count, const record_t *record);

/* Takes back what was noted of this record. */
void bad_values_take_back(bad_values_t *values, const record_t *record);

/* Counts what is kept apart. */
void bad_values_settle(bad_values_t *values);

/* Adds those of a reader of the same schema, which are settled. */
void bad_values_add(bad_values_t *values, const bad_values_t *more);

#endif
