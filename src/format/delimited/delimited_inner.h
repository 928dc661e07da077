/* delimited_inner: what the parts of delimited share. */
#ifndef TIPPLE_FORMAT_DELIMITED_DELIMITED_INNER_H
#define TIPPLE_FORMAT_DELIMITED_DELIMITED_INNER_H

#include "format/cut/scan.h"
#include "format/cut/split.h"
#include "format/delimited/delimited.h"
#include "format/delimited/plan.h"
#include "format/record/bsonw.h"
#include "format/schema/schema.h"
#include "format/types.h"
#include "format/values/convert.h"
#include "format/values/pattern.h"

#include <string.h>

enum { DELIMITED_LONGEST_START = 63 };

struct delimited {
    const schema_t *schema;
    scan_fn *scan_text;
    const dialect_t *dialect;
    uint64_t planned; /* the serial of the dialect for which the plan was made */
    plan_t plan;

    const uint8_t *text;
    uint32_t length;
    uint32_t scanned; /* ends are known up to here */
    uint32_t at;      /* the first byte of the next record */
    uint32_t line;
    size_t row; /* the index of the next record in scan.rows */
    scan_t scan;
    bool high, quotes; /* as in scan_t, for the windows in which the known records are */
    size_t ends_room;
    bool file_start, with_id;
    bool doubts;        /* a record may be none by its lines or its last byte; */
    bool backslash_on;  /* and goes on behind a backslash at its end, perhaps */
    uint32_t skip_left; /* lines at the file's start that are still to be skipped */
    passed_over_t passed;
    int64_t id_base;

    /* can a header begin with this byte? A bit for each length of its first field; the last for 63 and more */
    uint64_t header_start[256];
    split_t *split;   /* made for the first record that needs it */
    values_t *values; /* NULL: no value needs it */
    size_t plain;     /* a record of so many fields needs no care; SIZE_MAX: each may be a reject */

    uint64_t bad_values, *bad_of; /* in all, and by field */
    const field_t *refused;       /* of the record at hand: the first with a value that makes it a reject; */
    const uint8_t *refused_text;  /* the value */
    size_t refused_length, refused_column;
    uint8_t made_text[VALUE_MISFIT]; /* of what is made, where that is the value */
    bool failed;                     /* memory was out */
    const char *file;                /* where the text is */
    size_t file_length;
    size_t worst_bytes; /* the plan's, and for the name of the file */
    char reason[VALUE_MISFIT];
};

/* Writes the type and the key before a value. short_head: the caller knows that they are at most PLAN_HEAD bytes. */
static inline uint8_t *delimited_put_head(uint8_t *out, const op_t *op, bool short_head) {
    if (!short_head && __builtin_expect(op->head_size > PLAN_HEAD, 0))
        memcpy(out, op->long_head, op->head_size);
    else
        memcpy(out, op->head, PLAN_HEAD);
    return out + op->head_size;
}

/* The same, with another type than planned. */
static inline uint8_t *delimited_put_head_as(uint8_t *out, const op_t *op, uint8_t type) {
    uint8_t *after = delimited_put_head(out, op, false);
    *out = type;
    return after;
}

/* Is it one that the field wants kept as it is written, and cannot be? */
static inline bool delimited_is_inexact(const field_t *field, const uint8_t *text, size_t length) {
    return __builtin_expect(field->exact, 0) && !convert_is_exact(text, length);
}

static inline uint8_t *delimited_put_int(uint8_t *out, const op_t *op, int64_t value, bool short_head) {
    if (__builtin_expect(op->code == OP_INT && value == (int32_t)value, 1))
        return bsonw_int32(delimited_put_head(out, op, short_head), (int32_t)value);
    return bsonw_int64(delimited_put_head_as(out, op, 0x12), value);
}

typedef struct {
    const span_t *spans;   /* fields found by split_record */
    const uint8_t *record; /* fields between ends */
    const uint8_t *base;
    const uint32_t *ends;
} bounds_t;

/* How the fields of a record are found, and what the plan guarantees: a constant in each instance of encode. */
typedef enum {
    FIELDS_SIMPLE,  /* between ends, plan->simple */
    FIELDS_BETWEEN, /* between ends */
    FIELDS_QUOTED,  /* between ends; some are in quotes that contain no quotes */
    FIELDS_SPANS,   /* found by split_record */
} fields_t;

static inline uint8_t *delimited_put_exact(uint8_t *out, const op_t *op, int64_t value) {
    return op->code == OP_EXACT && value == (int32_t)value
               ? bsonw_int32(delimited_put_head(out, op, false), (int32_t)value)
               : bsonw_int64(delimited_put_head_as(out, op, 0x12), value);
}

/* The text of a column. Where it matters, `fields` is a constant. */
static inline span_t delimited_text_of(const delimited_t *reader, const bounds_t *bounds, fields_t fields,
                                       size_t column) {
    if (fields == FIELDS_SPANS)
        return bounds->spans[column];
    const uint8_t *text = column ? bounds->base + bounds->ends[column - 1] + 1 : bounds->record;
    size_t length = (size_t)(bounds->base + bounds->ends[column] - text);
    size_t quoted = fields == FIELDS_QUOTED && length && *text == (uint8_t)reader->schema->quote;
    return (span_t){.text = text + quoted, .length = (uint32_t)(length - 2 * quoted)};
}

/* Does the column's text, as delimited_text_of has found it, stand in quotes? Where it matters, `fields` is a constant. */
static inline bool delimited_is_quoted(const delimited_t *reader, const bounds_t *bounds, fields_t fields,
                                       size_t column, const uint8_t *text) {
    if (fields == FIELDS_SPANS)
        return bounds->spans[column].raw_length != bounds->spans[column].length;
    return fields == FIELDS_QUOTED && text != bounds->record && text[-1] == (uint8_t)reader->schema->quote;
}

/* ---- delimited_header.c ---- */

/* Which bytes a header can begin with. */
void delimited_learn_header(delimited_t *reader);

/* The next of the lines that the format skips, before anything is scanned. False: there is none. */
bool delimited_skip(delimited_t *reader, record_t *record);

/* PARSED_DOCUMENT: the line is an ordinary record. After a line without a line end there is nothing that could be read
 * wrongly, and the line may be a header that is still being written. */
parsed_t delimited_look_for_header(delimited_t *reader, record_t *record, const uint8_t *text);

/* Makes reader->split, if it is not there. False: out of memory. */
bool delimited_want_split(delimited_t *reader);

/* ---- delimited_put.c ---- */

/* Writes a field that contains a null value, or that does not look like a number or date. */
uint8_t *delimited_put_unusual(delimited_t *reader, uint8_t *out, const op_t *op, const uint8_t *text,
                               size_t length, bool high, shape_t *shape);

/* What does not fit its type. */
typedef struct {
    size_t counter; /* in bad_of */
    const field_t *field;
    const uint8_t *text; /* for the sentence; NULL: it is no text */
    size_t length, column;
} bad_t;

/* Counts it, and writes what stands in for it: *out moves on behind that. False: its text does. */
bool delimited_put_bad(delimited_t *reader, uint8_t **out, const op_t *op, const bad_t *bad);

/* ---- delimited_made.c ---- */

/* Opens or closes a subdocument; an empty one is removed again. */
uint8_t *delimited_put_group(uint8_t *out, const op_t *op, uint8_t ***group);

uint8_t *delimited_put_point(delimited_t *reader, const bounds_t *bounds, fields_t fields, uint8_t *out,
                             const op_t *op);

/* The first item that is there, after its prefix. */
uint8_t *delimited_put_first(delimited_t *reader, const bounds_t *bounds, fields_t fields, bool high,
                             uint8_t *out, const op_t *op);

/* All items that are there, each after its prefix, or what is between them. */
uint8_t *delimited_put_joined(delimited_t *reader, const bounds_t *bounds, fields_t fields, bool high,
                              uint8_t *out, const op_t *op);

/* What needs nothing of the record: a constant, or the name of the file. */
uint8_t *delimited_put_given(const delimited_t *reader, uint8_t *out, const op_t *op);

typedef enum {
    MADE_VALUE,
    MADE_NOTHING, /* the text is a null value */
    MADE_BAD,     /* it does not fit the type: it is there as a text */
    MADE_FAILED,  /* no memory */
} made_result_t;

enum { MADE_MOST = 96 /* bytes of a value beside its text, at most */ };

/* The text is at `text`, UTF-8, four bytes behind the place of its value, with the room of any value there. Writes the value
 * and its type, and gives its end. */
made_result_t made_finish(const make_t *made, uint8_t *type, uint8_t *text, size_t length, uint8_t **end);

#endif
