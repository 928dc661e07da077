#include "format/delimited/delimited.h"
#include "base/lines.h"
#include "base/utf8.h"
#include "format/delimited/made.h"
#include "format/delimited/plan.h"
#include "format/delimited/wide.h"
#include "format/record/bsonw.h"
#include "format/record/ends.h"
#include "format/record/split.h"
#include "format/record/typed.h"
#include "format/record/words.h"
#include "format/values/calendar.h"
#include "format/values/convert.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* The ends of fields are found one window at a time, so that they are still in the first-level cache when they are
 * used. */
enum { WINDOW = 16 * 1024, OVER = 64 /* scanned beyond a window at most, but for one record */ };

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
    int64_t id_base;

    /* can a header begin with this byte? A bit for each length of its first field; the last for 63 and more */
    uint64_t header_start[256];
    split_t *split; /* made for the first record that needs it */
    wide_t *wide;   /* NULL: no value needs it */
    size_t plain;   /* a record of so many fields needs no care; SIZE_MAX: each may be a reject */

    uint64_t bad_values, *bad_of; /* in all, and by field */
    const field_t *refused;       /* of the record at hand: the first with a value that makes it a reject; */
    const uint8_t *refused_text;  /* the value */
    size_t refused_length, refused_column;
    uint8_t made_text[TYPED_MISFIT]; /* of what is made, where that is the value */
    bool failed;                     /* memory was out */
    const char *file;                /* where the text is */
    size_t file_length;
    uint64_t offset;
    size_t worst_bytes; /* the plan's, and for the name of the file */
    char reason[TYPED_MISFIT];
};

delimited_t *delimited_new(const schema_t *schema) {
    delimited_t *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->file = "";
    reader->schema = schema;
    reader->scan_text = scan_best();
    reader->ends_room = 2 * WINDOW;
    reader->scan.ends = malloc((reader->ends_room + SCAN_SLACK) * sizeof(uint32_t));
    reader->scan.rows = malloc((WINDOW + OVER + 2) * sizeof(uint32_t));
    reader->scan.row_quotes = malloc((WINDOW + OVER + 2) * sizeof(uint32_t));
    reader->bad_of = calloc(schema_counted(schema) + 1, sizeof *reader->bad_of);
    bool wide = false;
    for (size_t i = 0; i < schema->field_count; i++)
        wide |= wide_is(&schema->fields[i]);
    if ((wide && !(reader->wide = wide_new())) || !reader->scan.ends || !reader->scan.rows ||
        !reader->scan.row_quotes || !reader->bad_of) {
        delimited_destroy(reader);
        return NULL;
    }
    return reader;
}

void delimited_destroy(delimited_t *reader) {
    if (!reader)
        return;
    free(reader->scan.ends);
    free(reader->scan.rows);
    free(reader->scan.row_quotes);
    free(reader->bad_of);
    if (reader->split)
        split_free(reader->split);
    free(reader->split);
    plan_free(&reader->plan);
    wide_free(reader->wide);
    free(reader);
}

uint64_t delimited_bad_values(const delimited_t *reader) {
    return reader->bad_values;
}

uint64_t delimited_bad_of(const delimited_t *reader, size_t field) {
    return reader->bad_of[field];
}

bool delimited_must_stop(const delimited_t *reader) {
    return reader->refused && reader->schema->bad_value == BAD_VALUE_STOP;
}

static bool may_refuse_values(const delimited_t *reader) {
    return reader->schema->bad_value == BAD_VALUE_REJECT || reader->schema->bad_value == BAD_VALUE_STOP;
}

enum { LONGEST_START = 63 };

/* In an encoding, characters outside ASCII have other bytes, and so another length. */
static void learn_start(delimited_t *reader, const schema_text_t *word, uint64_t lengths) {
    const encoding_t encoding = reader->schema->encoding;
    uint8_t character[ENCODING_MOST_BYTES];
    reader->header_start[(uint8_t)word->text[0]] |= encoding ? UINT64_MAX : lengths;
    for (unsigned byte = 0x80; encoding && byte <= 0xFF; byte++) {
        const size_t size = encoding_character(encoding, (uint8_t)byte, character);
        if (size && size <= word->length && memcmp(character, word->text, size) == 0)
            reader->header_start[byte] = UINT64_MAX;
    }
}

/* Any column may be the first in a header, in upper or lower case. */
static void learn_columns(delimited_t *reader) {
    const schema_t *schema = reader->schema;
    uint64_t *starts = reader->header_start;
    for (size_t i = 0; i < schema->field_count; i++)
        for (size_t j = 0; j < schema->fields[i].columns.count; j++) {
            const schema_text_t *name = &schema->fields[i].columns.items[j];
            if (name->length)
                learn_start(reader, name,
                            1ull << (name->length < LONGEST_START ? name->length : LONGEST_START));
        }
    for (int lower = 'a'; lower <= 'z'; lower++)
        starts[lower] = starts[lower - 'a' + 'A'] |= starts[lower];
    starts[' '] = UINT64_MAX;
    if (reader->dialect->header_length)
        starts[reader->dialect->header_first] = UINT64_MAX;
}

static void learn_header_starts(delimited_t *reader) {
    const schema_t *schema = reader->schema;
    memset(reader->header_start, 0, sizeof reader->header_start);
    if (schema->header == HEADER_YES)
        learn_columns(reader);
    for (size_t i = 0; schema->header == HEADER_WORDS && i < schema->header_words.count; i++)
        learn_start(reader, &schema->header_words.items[i], UINT64_MAX);
    if (schema->quote && schema->header != HEADER_NO)
        reader->header_start[(uint8_t)schema->quote] = UINT64_MAX;
}

void delimited_from(delimited_t *reader, const char *file, uint64_t offset) {
    reader->file = file;
    reader->file_length = strlen(file);
    reader->offset = offset;
}

void delimited_begin(delimited_t *reader, const dialect_t *dialect, const uint8_t *text, uint32_t length,
                     bool file_start, bool with_id, int64_t id_base) {
    reader->dialect = dialect;
    if (reader->planned != dialect->serial) {
        plan_free(&reader->plan);
        reader->planned = plan_compile(reader->schema, dialect, &reader->plan) ? dialect->serial : 0;
        learn_header_starts(reader);
    }
    reader->worst_bytes = reader->plan.worst_bytes + reader->file_length * reader->plan.file_times;
    reader->plain = may_refuse_values(reader) ? SIZE_MAX : dialect->columns;
    reader->refused = NULL;
    reader->text = text;
    reader->length = length;
    reader->at = reader->scanned = file_start ? (uint32_t)dialect_bom(text, length) : 0;
    reader->line = 0;
    reader->row = 0;
    reader->scan.end_count = reader->scan.row_count = 0;
    reader->scan.quote_count = 0;
    reader->high = reader->quotes = reader->scan.high = reader->scan.quotes = false;
    reader->file_start = file_start;
    reader->with_id = with_id;
    reader->id_base = id_base;
}

/* Scans until at least one more record's ends are known. 0: there are no more records; -1: out of memory. */
static int scan_on(delimited_t *reader) {
    scan_t *scan = &reader->scan;
    size_t used = scan->row_count ? scan->rows[scan->row_count - 1] : 0;
    memmove(scan->ends, scan->ends + used, (scan->end_count - used) * sizeof *scan->ends);
    scan->end_count -= used;
    /* quotes of a record that continues from the last window are counted from its start */
    scan->quote_count -= scan->row_count ? scan->row_quotes[scan->row_count - 1] : 0;
    scan->row_count = reader->row = 0;
    /* a record that began in the last window keeps that window's flags */
    bool reaches_over = reader->at < reader->scanned;
    reader->high = reaches_over && scan->high;
    reader->quotes = reaches_over && scan->quotes;
    while (!scan->row_count && reader->scanned < reader->length) {
        uint32_t to = reader->length - reader->scanned > WINDOW ? reader->scanned + WINDOW : reader->length;
        if (scan->end_count + WINDOW + OVER > reader->ends_room) {
            size_t room = 2 * (scan->end_count + WINDOW + OVER);
            uint32_t *larger = realloc(scan->ends, (room + SCAN_SLACK) * sizeof *larger);
            if (!larger)
                return -1;
            scan->ends = larger;
            reader->ends_room = room;
        }
        scan->high = scan->quotes = false;
        if (reader->schema->multiline)
            to = ends_scan(reader->schema, reader->dialect->delimiter, reader->text, reader->length,
                           reader->at, reader->scanned, to, scan);
        else
            reader->scan_text(reader->text, reader->scanned, to, reader->dialect->delimiter,
                              reader->schema->quote, scan);
        reader->high |= scan->high;
        reader->quotes |= scan->quotes;
        reader->scanned = to;
    }
    if (!scan->row_count && reader->at < reader->length) {
        /* the file's last line has no line end */
        scan->ends[scan->end_count++] = reader->length;
        scan->row_quotes[0] = scan->quote_count;
        scan->rows[scan->row_count++] = (uint32_t)scan->end_count;
    }
    return scan->row_count > 0;
}

/* Writes the type and the key before a value. short_head: the caller knows that they are at most PLAN_HEAD bytes. */
static inline uint8_t *put_head(uint8_t *out, const op_t *op, bool short_head) {
    if (!short_head && __builtin_expect(op->head_size > PLAN_HEAD, 0))
        memcpy(out, op->long_head, op->head_size);
    else
        memcpy(out, op->head, PLAN_HEAD);
    return out + op->head_size;
}

/* The same, with another type than planned. */
static inline uint8_t *put_head_as(uint8_t *out, const op_t *op, uint8_t type) {
    uint8_t *after = put_head(out, op, false);
    *out = type;
    return after;
}

/* Writes the text of a field that is not the number or date that it should be, or of a text field. */
static uint8_t *put_text(delimited_t *reader, uint8_t *out, const op_t *op, const uint8_t *text,
                         size_t length, bool high) {
    if (!high || utf8_valid(text, length))
        return bsonw_string(put_head_as(out, op, 0x02), text, length);
    if (encoding_is(reader->schema->encoding, text, length)) {
        out = put_head_as(out, op, 0x02);
        size_t bytes = encoding_to_utf8(reader->schema->encoding, out + 4, text, length);
        out = bsonw_int32(out, (int32_t)bytes + 1) + bytes;
        *out = 0;
        return out + 1;
    }
    out = bsonw_int32(put_head_as(out, op, 0x05), (int32_t)length);
    *out++ = reader->schema->fields[op->field].type == TYPE_BINARY ? WIDE_NO_BINARY : BSON_SUBTYPE_BINARY;
    memcpy(out, text, length);
    return out + length;
}

static inline bool is_absent(const op_t *op, encoding_t encoding, const uint8_t *text, size_t length) {
    if (length == 0)
        return op->null_kinds & NULLS_EMPTY;
    if (length == 4 && (op->null_kinds & NULLS_WORD) && memcmp(text, "NULL", 4) == 0)
        return true;
    return (op->null_kinds & NULLS_OTHER) && words_find(op->nulls, encoding, text, length) >= 0;
}

static inline uint8_t *put_int(uint8_t *out, const op_t *op, int64_t value, bool short_head) {
    if (__builtin_expect(op->code == OP_INT && value == (int32_t)value, 1))
        return bsonw_int32(put_head(out, op, short_head), (int32_t)value);
    return bsonw_int64(put_head_as(out, op, 0x12), value);
}

static uint8_t *put_typed(const delimited_t *reader, uint8_t *out, const op_t *op, const uint8_t *text,
                          size_t length, bool high, shape_t *shape) {
    const field_t *field = &reader->schema->fields[op->field];
    typed_t value;
    if (!typed_read(field, high ? reader->schema->encoding : ENCODING_NONE, text, length, &value))
        return NULL;
    if (shape)
        shape->spelling[op->field] = value.spelling;
    out = put_head_as(out, op, value.bson_type);
    memcpy(out, value.bytes, sizeof value.bytes);
    return out + value.size;
}

static uint8_t *put_wide(delimited_t *reader, uint8_t *out, const op_t *op, const uint8_t *text,
                         size_t length, bool high, shape_t *shape) {
    uint8_t spelling = 0;
    uint8_t *after = wide_put(reader->wide, &reader->schema->fields[op->field], op->patterns,
                              high ? reader->schema->encoding : ENCODING_NONE, text, length, out,
                              put_head(out, op, false), &spelling);
    reader->failed |= wide_failed(reader->wide);
    if (shape)
        shape->spelling[op->field] = spelling;
    return after;
}

/* The less usual conversions. NULL: the text is not such a value. */
static uint8_t *put_rare(delimited_t *reader, uint8_t *out, const op_t *op, const uint8_t *text,
                         size_t length, bool high, shape_t *shape) {
    int64_t whole;
    double number;
    switch (op->code) {
    case OP_INT:
    case OP_LONG:
        return convert_int(text, length, &whole) ? put_int(out, op, whole, false) : NULL;
    case OP_NUMBER:
        if (!convert_kept(text, length, op->divide, &number))
            return NULL;
        out = put_head(out, op, false);
        memcpy(out, &number, 8);
        return out + 8;
    case OP_TYPED:
        return put_typed(reader, out, op, text, length, high, shape);
    case OP_WIDE:
        return put_wide(reader, out, op, text, length, high, shape);
    default:
        for (uint8_t i = 0; i < op->pattern_count; i++) {
            pattern_spelling_t spelling = {0, 0};
            if ((op->patterns[i].length != length && !op->patterns[i].varies) ||
                !pattern_read(&op->patterns[i], text, length, &whole, &spelling))
                continue;
            if (shape) {
                shape->spelling[op->field] = (uint8_t)(i + PATTERN_MOST * spelling.letters);
                shape->zone[op->field] = spelling.zone;
            }
            return bsonw_int64(put_head(out, op, false), whole);
        }
        return NULL;
    }
}

/* Would the value be written like a null value? Then it could not be told from a missing value, so it stays text. */
static bool prints_as_null(op_code_t code, int divide, const texts_t *nulls, const uint8_t *text,
                           size_t length) {
    uint8_t printed[64];
    int64_t whole;
    double number;
    size_t size = 0;
    if ((code == OP_INT || code == OP_LONG) && convert_int(text, length, &whole))
        size = convert_print_int(whole, printed);
    else if (code == OP_NUMBER && convert_kept(text, length, divide, &number))
        size = convert_print_number(number, divide, printed);
    return size && words_find(nulls, ENCODING_NONE, printed, size) >= 0;
}

/* What is no value of the field's type. */
static __attribute__((noinline)) uint8_t *put_bad(delimited_t *reader, uint8_t *out, const op_t *op,
                                                  const uint8_t *text, size_t length, bool high) {
    reader->bad_values++;
    reader->bad_of[op->field]++;
    switch (reader->schema->bad_value) {
    case BAD_VALUE_NULL:
        return put_head_as(out, op, 0x0A);
    case BAD_VALUE_REJECT:
    case BAD_VALUE_STOP:
        if (!reader->refused) {
            reader->refused = &reader->schema->fields[op->field];
            reader->refused_text = text;
            reader->refused_length = length;
            reader->refused_column = reader->dialect->column_of[op->field];
        }
        return out;
    case BAD_VALUE_SKIP:
        return out;
    case BAD_VALUE_TEXT:
    case BAD_VALUES:
        break;
    }
    return put_text(reader, out, op, text, length, high);
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

/* Writes a field that contains a null value, or that does not look like a number or date. */
static uint8_t *put_unusual(delimited_t *reader, uint8_t *out, const op_t *op, const uint8_t *text,
                            size_t length, bool high, shape_t *shape) {
    const encoding_t encoding = high ? reader->schema->encoding : ENCODING_NONE;
    if (is_absent(op, encoding, text, length)) {
        int null = shape ? words_find(op->nulls, encoding, text, length) : 0;
        if (shape)
            shape->spelling[op->field] = (uint8_t)(null < 0 ? 0 : null);
        return out;
    }
    if (op->code != OP_TEXT && op->code != OP_TRIMMED) {
        const bool null =
            (op->null_kinds & NULLS_OTHER) && prints_as_null(op->code, op->divide, op->nulls, text, length);
        uint8_t *after = null ? NULL : put_rare(reader, out, op, text, length, high, shape);
        return after ? after : put_bad(reader, out, op, text, length, high);
    }
    return put_text(reader, out, op, text, length, high);
}

/* Opens or closes a subdocument; an empty one is removed again. */
static uint8_t *put_group(uint8_t *out, const op_t *op, uint8_t ***group) {
    if (op->code == OP_OPEN) {
        *(*group)++ = out;
        return put_head(out, op, false) + 4;
    }
    uint8_t *head = *--*group; // NOLINT(clang-analyzer-core.uninitialized.Assign): the plan has opened it
    uint8_t *body = head + strlen((const char *)head + 1) + 2;
    if (out == body + 4)
        return head;
    *out++ = 0;
    bsonw_int32(body, (int32_t)(out - body));
    return out;
}

/* The text of a column. Where it matters, `fields` is a constant. */
static inline span_t text_of(const delimited_t *reader, const bounds_t *bounds, fields_t fields,
                             size_t column) {
    if (fields == FIELDS_SPANS)
        return bounds->spans[column];
    const uint8_t *text = column ? bounds->base + bounds->ends[column - 1] + 1 : bounds->record;
    size_t length = (size_t)(bounds->base + bounds->ends[column] - text);
    size_t quoted = fields == FIELDS_QUOTED && length && *text == (uint8_t)reader->schema->quote;
    return (span_t){.text = text + quoted, .length = (uint32_t)(length - 2 * quoted)};
}

/* The text of a field as it would be under the field's own key. False: the file has no such column. */
static bool value_of(const delimited_t *reader, const bounds_t *bounds, fields_t fields, uint16_t index,
                     span_t *value) {
    const uint16_t column = reader->dialect->column_of[index];
    if (column == DIALECT_NO_FIELD)
        return false;
    *value = text_of(reader, bounds, fields, column);
    if (reader->schema->fields[index].type == TYPE_TRIMMED) {
        while (value->length && value->text[value->length - 1] == ' ')
            value->length--;
        while (value->length && value->text[0] == ' ')
            value->text++, value->length--;
    }
    return true;
}

static bool is_null(const field_t *field, encoding_t encoding, const span_t *value) {
    return words_find(&field->nulls, encoding, value->text, value->length) >= 0;
}

/* The number that a field has become. False: it is none. */
static bool number_of(const op_t *op, const field_t *field, const span_t *value, double *number) {
    typed_t typed;
    if (typed_is(field)) {
        const bool is = typed_read(field, ENCODING_NONE, value->text, value->length, &typed);
        memcpy(number, typed.bytes, sizeof *number);
        return is;
    }
    return convert_kept(value->text, value->length, field->divide, number) &&
           !((op->null_kinds & NULLS_OTHER) &&
             prints_as_null(OP_NUMBER, field->divide, &field->nulls, value->text, value->length));
}

/* What is made does not fit its type. text: why; its element ends at `end`. */
static __attribute__((noinline)) uint8_t *put_bad_made(delimited_t *reader, uint8_t *out, const op_t *op,
                                                       const uint8_t *text, size_t length, uint8_t *end) {
    reader->bad_values++;
    reader->bad_of[reader->schema->field_count + op->field]++;
    switch (reader->schema->bad_value) {
    case BAD_VALUE_NULL:
        return put_head_as(out, op, 0x0A);
    case BAD_VALUE_REJECT:
    case BAD_VALUE_STOP:
        if (!reader->refused) {
            reader->refused = &reader->schema->made[op->field].field;
            reader->refused_column = 0;
            reader->refused_length = length < sizeof reader->made_text ? length : sizeof reader->made_text;
            reader->refused_text = text ? memcpy(reader->made_text, text, reader->refused_length) : NULL;
        }
        return out;
    case BAD_VALUE_SKIP:
        return out;
    case BAD_VALUE_TEXT:
    case BAD_VALUES:
        break;
    }
    return end;
}

static uint8_t *put_point(delimited_t *reader, const bounds_t *bounds, fields_t fields, uint8_t *out,
                          const op_t *op) {
    const make_t *made = &reader->schema->made[op->field];
    double place[2];
    size_t missing = 0;
    for (size_t i = 0; i < 2; i++) {
        const field_t *field = &reader->schema->fields[made->from[i].fields[0]];
        span_t value;
        if (!value_of(reader, bounds, fields, made->from[i].fields[0], &value) ||
            is_null(field, ENCODING_NONE, &value))
            missing++;
        else if (!number_of(op, field, &value, &place[i]))
            return out; /* that value is counted itself */
    }
    if (!missing && bsonw_is_on_earth(place[0], place[1]))
        return bsonw_point(put_head(out, op, false), place[0], place[1]);
    return missing == 2 ? out : put_bad_made(reader, out, op, NULL, 0, out);
}

/* Writes the values of an item, one after the other. NULL: the item is not there. Fields that are joined are always
 * there, whatever they contain. */
static uint8_t *put_item(const delimited_t *reader, const bounds_t *bounds, fields_t fields, bool high,
                         uint8_t *out, const make_t *made, size_t item) {
    const size_t count = made->from[item].count;
    const encoding_t encoding = high ? reader->schema->encoding : ENCODING_NONE;
    for (size_t i = 0; i < count; i++) {
        const uint16_t index = made->from[item].fields[i];
        span_t value;
        if (!value_of(reader, bounds, fields, index, &value) ||
            (count == 1 && is_null(&reader->schema->fields[index], encoding, &value)))
            return NULL;
        if (high && !utf8_valid(value.text, value.length) &&
            encoding_is(encoding, value.text, value.length)) {
            out += encoding_to_utf8(encoding, out, value.text, value.length);
        } else {
            memcpy(out, value.text, value.length);
            out += value.length;
        }
    }
    return out;
}

/* Puts what the format makes of a text that is there up to `end`; nothing if it is no text. */
static uint8_t *put_made(delimited_t *reader, uint8_t *out, const op_t *op, uint8_t *text, uint8_t *end,
                         bool high) {
    const size_t length = (size_t)(end - text);
    if (high && !utf8_valid(text, length))
        return out;
    switch (made_finish(&reader->schema->made[op->field], op->patterns, out, text, length, &end)) {
    case MADE_VALUE:
        return end;
    case MADE_BAD:
        return put_bad_made(reader, out, op, text, (size_t)(end - text) - 1, end);
    case MADE_FAILED:
        reader->failed = true;
        break;
    case MADE_NOTHING:
        break;
    }
    return out;
}

/* The first item that is there, after its prefix. */
static uint8_t *put_first(delimited_t *reader, const bounds_t *bounds, fields_t fields, bool high,
                          uint8_t *out, const op_t *op) {
    const make_t *made = &reader->schema->made[op->field];
    for (size_t i = 0; i < made->from_count; i++) {
        const schema_text_t *with = &made->from[i].with;
        uint8_t *value = put_head(out, op, false) + 4;
        memcpy(value, with->text ? with->text : "", with->length);
        uint8_t *end = put_item(reader, bounds, fields, high, value + with->length, made, i);
        if (end)
            return put_made(reader, out, op, value, end, high);
    }
    return out;
}

/* All items that are there, each after its prefix, or what is between them. */
static uint8_t *put_joined(delimited_t *reader, const bounds_t *bounds, fields_t fields, bool high,
                           uint8_t *out, const op_t *op) {
    const make_t *made = &reader->schema->made[op->field];
    uint8_t *const value = put_head(out, op, false) + 4, *end = value;
    bool any = false;
    for (size_t i = 0; i < made->from_count; i++) {
        const schema_text_t *with = made->from[i].with.length ? &made->from[i].with : &made->text;
        const size_t before = any || with != &made->text ? with->length : 0;
        memcpy(end, with->text ? with->text : "", before);
        uint8_t *after = put_item(reader, bounds, fields, high, end + before, made, i);
        any |= after != NULL;
        end = after ? after : end;
    }
    return any ? put_made(reader, out, op, value, end, high) : out;
}

static uint8_t *put_file(const delimited_t *reader, uint8_t *out, const op_t *op) {
    const uint8_t *text = (const uint8_t *)reader->file;
    const bool valid = utf8_valid(text, reader->file_length);
    out = put_head_as(out, op, valid ? 0x02 : 0x05);
    out = bsonw_int32(out, (int32_t)(reader->file_length + valid));
    if (!valid)
        *out++ = BSON_SUBTYPE_BINARY;
    memcpy(out, text, reader->file_length);
    out += reader->file_length;
    *out = 0;
    return out + valid;
}

/* What needs nothing of the record. at: where it begins in the text. */
static uint8_t *put_place(const delimited_t *reader, uint8_t *out, const op_t *op, int64_t at) {
    if (op->code == OP_FILE)
        return put_file(reader, out, op);
    if (op->code == OP_OFFSET)
        return bsonw_int64(put_head(out, op, false), (int64_t)reader->offset + at);
    return (uint8_t *)memcpy(out, op->long_head, op->constant_size) + op->constant_size;
}

/* Converts one record to a document. */
__attribute__((always_inline)) static inline uint8_t *encode(delimited_t *reader, const bounds_t *bounds,
                                                             fields_t fields, uint8_t *out, int64_t id,
                                                             bool high, shape_t *shape) {
    const bool simple = fields == FIELDS_SIMPLE;
    uint8_t *start = out, *groups[PLAN_DEPTH], **group = groups;
    const uint8_t *next = bounds->record;
    const uint32_t *ends = bounds->ends;
    out += 4;
    if (reader->with_id) {
        memcpy(out, "\x12_id", 5);
        out = bsonw_int64(out + 5, id);
    }
    for (const op_t *op = reader->plan.ops, *end = op + reader->plan.count; op < end; op++) {
        const uint8_t *text;
        size_t length;
        uint64_t digits;
        int64_t ms;
        if (!simple && op->code >= OP_OPEN) {
            if (op->code <= OP_CLOSE)
                out = put_group(out, op, &group);
            else if (op->code >= OP_CONSTANT)
                out = put_place(reader, out, op, id - reader->id_base);
            else
                out = op->code == OP_FIRST  ? put_first(reader, bounds, fields, high, out, op)
                      : op->code == OP_JOIN ? put_joined(reader, bounds, fields, high, out, op)
                                            : put_point(reader, bounds, fields, out, op);
            continue;
        }
        if (simple) {
            const uint8_t *stop = bounds->base + *ends++;
            text = next;
            length = (size_t)(stop - text);
            next = stop + 1;
        } else {
            const span_t span = text_of(reader, bounds, fields, op->column);
            text = span.text;
            length = span.length;
        }
        if (!simple && (op->null_kinds & NULLS_OTHER)) {
            for (; op->code == OP_TRIMMED && length && text[length - 1] == ' '; length--)
                ;
            for (; op->code == OP_TRIMMED && length && text[0] == ' '; text++, length--)
                ;
            out = put_unusual(reader, out, op, text, length, high, shape);
            continue;
        }
        switch (op->code) {
        case OP_INT:
        case OP_LONG:
            if (__builtin_expect(convert_digits(text, length, &digits), 1)) {
                out = put_int(out, op, (int64_t)digits, simple);
                continue;
            }
            break;
        case OP_ISO_DATE:
            if (__builtin_expect(length == 10 && calendar_iso(text, &ms), 1)) {
                out = bsonw_int64(put_head(out, op, simple), ms);
                continue;
            }
            break;
        case OP_TRIMMED:
            while (length && text[length - 1] == ' ')
                length--;
            while (length && text[0] == ' ')
                text++, length--;
            /* fall through */
        case OP_TEXT:
            if (__builtin_expect(length == 0 || high || (length == 4 && (op->null_kinds & NULLS_WORD)), 0))
                break; /* empty, perhaps NULL, perhaps not UTF-8 */
            out = bsonw_string(put_head(out, op, simple), text, length);
            continue;
        }
        out = put_unusual(reader, out, op, text, length, high, shape);
    }
    *out++ = 0;
    bsonw_int32(start, (int32_t)(out - start));
    return out;
}

static parsed_t refuse(delimited_t *reader, record_t *record, uint32_t column, size_t got) {
    snprintf(reader->reason, sizeof reader->reason, "it has %zu field%s where %u were expected", got,
             got == 1 ? "" : "s", reader->dialect->columns);
    record->reason = reader->reason;
    record->field = NULL;
    record->column = column;
    return PARSED_REJECT;
}

static parsed_t refuse_open(record_t *record, size_t column) {
    record->reason = "the quote that is opened here is never closed";
    record->field = NULL;
    record->column = (uint32_t)column;
    return PARSED_REJECT;
}

static parsed_t refuse_value(delimited_t *reader, record_t *record) {
    const field_t *field = reader->refused;
    if (reader->refused_text)
        typed_misfit(field, reader->refused_text, reader->refused_length, reader->reason);
    else
        snprintf(
            reader->reason, sizeof reader->reason,
            "'%.80s' is no point: a latitude from -90 to 90 and a longitude from -180 to 180 were expected",
            field->name);
    record->reason = reader->reason;
    record->field = NULL;
    record->column = reader->split->spans[reader->refused_column].at + 1;
    return PARSED_REJECT;
}

/* How many bytes the document of a record of this length can take. */
static inline size_t needed_for(const delimited_t *reader, size_t length) {
    return reader->worst_bytes + reader->plan.worst_times * length;
}

static inline parsed_t made(const delimited_t *reader, record_t *record, const uint8_t *out,
                            const uint8_t *end) {
    record->document_length = (uint32_t)(end - out);
    assert(record->document_length <= needed_for(reader, record->length));
    return __builtin_expect(reader->failed, 0) ? PARSED_MEMORY : PARSED_DOCUMENT;
}

static bool want_split(delimited_t *reader) {
    return reader->split || (reader->split = calloc(1, sizeof *reader->split));
}

static inline bool may_be_header(const delimited_t *reader, const uint8_t *text, uint32_t first_field) {
    const uint64_t lengths = reader->header_start[*text];
    return lengths && ((lengths >> (first_field < LONGEST_START ? first_field : LONGEST_START) & 1) ||
                       (first_field && text[first_field - 1] == ' '));
}

/* PARSED_DOCUMENT: the line is an ordinary record. After a line without a line end there is nothing that could be read
 * wrongly, and the line may be a header that is still being written. */
static __attribute__((noinline)) parsed_t look_for_header(delimited_t *reader, record_t *record,
                                                          const uint8_t *text) {
    static const char odd[] = "it begins as a header does, but is not the header that the file is read by",
                      other[] = "it is a header, and its columns are not those that the file is read by";
    if (!want_split(reader))
        return PARSED_MEMORY;
    const dialect_line_t line =
        dialect_line(reader->schema, reader->dialect, reader->split, text, record->length);
    const bool by_words = reader->schema->header == HEADER_WORDS;
    record->field = NULL;
    record->column = 1;
    switch (line) {
    case DIALECT_HEADER:
        return PARSED_HEADER;
    case DIALECT_OTHER_HEADER:
        record->reason = other;
        return record->line_end ? PARSED_OTHER_HEADER : by_words ? PARSED_REJECT : PARSED_DOCUMENT;
    case DIALECT_ODD_LINE:
        record->reason = odd;
        return PARSED_REJECT;
    case DIALECT_MEMORY:
        return PARSED_MEMORY;
    case DIALECT_RECORD:
        break;
    }
    return PARSED_DOCUMENT;
}

/* For quotes, surplus fields, wrong numbers of fields, or a caller that wants the shape. */
static parsed_t parse_carefully(delimited_t *reader, uint8_t *out, record_t *record, int64_t id,
                                shape_t *shape) {
    const uint8_t *text = reader->text + record->offset;
    const dialect_t *dialect = reader->dialect;
    if (!want_split(reader))
        return PARSED_MEMORY;
    split_t *split = reader->split;
    if (!split_record(split, reader->schema, dialect->delimiter, text, record->length))
        return PARSED_MEMORY;
    size_t columns = dialect->columns;
    if (split->open)
        return refuse_open(record, split->open);
    if (split->too_many || split->count < columns ||
        (split->count > columns && dialect->surplus_column < 0)) {
        bool more = split->count > columns;
        return refuse(reader, record, more ? split->spans[columns].at + 1 : record->length + 1, split->count);
    }
    if (split->count > columns) {
        size_t left = (size_t)dialect->surplus_column;
        split_merge(split, text, left, columns - left - 1);
    }
    if (shape) {
        *shape = (shape_t){.quoted = split->quoted, .backslash = split->backslash};
        shape_set_line_end(shape, text + record->length, record->line_end);
    }
    bounds_t bounds = {.spans = split->spans};
    reader->refused = NULL;
    const uint8_t *after = encode(reader, &bounds, FIELDS_SPANS, out, id, reader->high, shape);
    return reader->refused ? refuse_value(reader, record) : made(reader, record, out, after);
}

/* Are all quotes of the record around whole fields? Then no field contains a quote, and the ends are right. */
static bool quotes_enclose(const delimited_t *reader, const bounds_t *bounds, uint32_t quotes) {
    uint8_t quote = (uint8_t)reader->schema->quote;
    const uint8_t *text = bounds->record;
    uint32_t enclosing = 0;
    for (size_t i = 0; i < reader->dialect->columns; i++) {
        const uint8_t *end = bounds->base + bounds->ends[i];
        enclosing += end - text > 1 && *text == quote && end[-1] == quote;
        text = end + 1;
    }
    return 2 * enclosing == quotes;
}

static inline void pass_row(delimited_t *reader, const record_t *record) {
    reader->row++;
    reader->line++;
    if (__builtin_expect(reader->quotes && reader->schema->multiline, 0))
        reader->line += (uint32_t)lines_count(reader->text + record->offset, record->length);
    reader->at = record->offset + record->length + record->line_end;
}

/* Leaves the record for a call with more room; a record that is too large is rejected instead. */
static __attribute__((noinline)) parsed_t ask_for_room(delimited_t *reader, record_t *record, size_t needed) {
    const uint32_t end = record->offset + record->length;
    if (needed > RECORD_MOST_NEEDED) {
        pass_row(reader, record);
        reader->file_start = false;
        return record_refuse_large(record);
    }
    /* a part of the line end: restored as it was */
    const bool carriage = end < reader->length && reader->text[end] == '\r';
    reader->scan.ends[reader->scan.rows[reader->row] - 1] += carriage;
    record->needed = needed;
    return PARSED_FULL;
}

parsed_t delimited_next(delimited_t *reader, uint8_t *out, size_t room, record_t *record, shape_t *shape) {
    scan_t *scan = &reader->scan;
    if (__builtin_expect(reader->row == scan->row_count, 0)) {
        int more = reader->planned ? scan_on(reader) : -1;
        if (more <= 0)
            return more ? PARSED_MEMORY : PARSED_END;
    }
    size_t first = reader->row ? scan->rows[reader->row - 1] : 0, last = scan->rows[reader->row] - 1;
    uint32_t start = reader->at, end = scan->ends[last];
    record->offset = start;
    record->line = reader->line;
    record->line_end = end < reader->length;
    bool carriage = end > start && reader->text[end - 1] == '\r';
    scan->ends[last] = end -= carriage;
    record->line_end = (uint8_t)(record->line_end + carriage);
    uint32_t length = record->length = end - start;
    const size_t needed = needed_for(reader, length);
    if (__builtin_expect(room < needed || needed > RECORD_MOST_NEEDED, 0))
        return ask_for_room(reader, record, needed);
    pass_row(reader, record);
    if (__builtin_expect(length == 0, 0))
        return PARSED_BLANK;
    const uint8_t *text = reader->text + start;
    if (__builtin_expect(reader->file_start && reader->schema->header == HEADER_YES, 0)) {
        reader->file_start = false; /* the first line that is not blank, whatever it contains */
        return PARSED_HEADER;
    }
    if (__builtin_expect(may_be_header(reader, text, scan->ends[first] - start), 0)) {
        const parsed_t parsed = look_for_header(reader, record, text);
        if (parsed != PARSED_DOCUMENT)
            return parsed;
    }
    int64_t id = reader->id_base + start;
    bounds_t bounds = {.record = text, .base = reader->text, .ends = scan->ends + first};
    bool plain = !shape && last - first + 1 == reader->plain;
    uint32_t quotes = reader->quotes ? scan->row_quotes[reader->row - 1] -
                                           (reader->row > 1 ? scan->row_quotes[reader->row - 2] : 0)
                                     : 0;
    if (__builtin_expect(!plain || (quotes && !quotes_enclose(reader, &bounds, quotes)), 0))
        return parse_carefully(reader, out, record, id, shape);
    const uint8_t *after;
    if (__builtin_expect(quotes > 0, 0))
        after = encode(reader, &bounds, FIELDS_QUOTED, out, id, reader->high, NULL);
    else if (reader->plan.simple)
        after = encode(reader, &bounds, FIELDS_SIMPLE, out, id, reader->high, NULL);
    else
        after = encode(reader, &bounds, FIELDS_BETWEEN, out, id, reader->high, NULL);
    return made(reader, record, out, after);
}
