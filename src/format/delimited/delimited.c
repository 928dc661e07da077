#include "base/chars.h"
#include "format/cut/ends.h"
#include "format/delimited/delimited_inner.h"
#include "format/guess/structure/torn_lines.h"
#include "format/record/underline.h"
#include "format/values/calendar.h"
#include "format/values/convert.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* The ends of fields are found one window at a time, so that they are still in the first-level cache when they are
 * used. */
enum { WINDOW = 16 * 1024, OVER = 64 /* scanned beyond a window at most, but for one record */ };

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
    bool json = false;
    for (size_t i = 0; i < schema->field_count; i++)
        json |= schema->fields[i].type == TYPE_JSON;
    if ((json && !(reader->values = values_new())) || !reader->scan.ends || !reader->scan.rows ||
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
    values_free(reader->values);
    free(reader);
}

uint64_t delimited_bad_values(const delimited_t *reader) {
    return reader->bad_values;
}

uint64_t delimited_bad_of(const delimited_t *reader, size_t field) {
    return reader->bad_of[field];
}

passed_over_t delimited_passed_over(const delimited_t *reader) {
    return reader->passed;
}

void delimited_from(delimited_t *reader, const char *file) {
    reader->file = file;
    reader->file_length = strlen(file);
}

void delimited_begin(delimited_t *reader, const dialect_t *dialect, const uint8_t *text, uint32_t length,
                     bool file_start, bool with_id, int64_t id_base) {
    reader->dialect = dialect;
    if (reader->planned != dialect->serial) {
        plan_free(&reader->plan);
        reader->planned = plan_compile(reader->schema, dialect, &reader->plan) ? dialect->serial : 0;
        delimited_learn_header(reader);
    }
    reader->worst_bytes = reader->plan.worst_bytes + reader->file_length * reader->plan.file_times;
    const bool may_refuse = reader->schema->bad_value == BAD_VALUE_REJECT;
    reader->plain = may_refuse || schema_is_wide(reader->schema) ? SIZE_MAX : dialect->columns;
    reader->refused = NULL;
    reader->text = text;
    reader->length = length;
    reader->at = reader->scanned = file_start ? (uint32_t)lines_bom(text, length) : 0;
    reader->line = 0;
    reader->row = 0;
    reader->scan.end_count = reader->scan.row_count = 0;
    reader->scan.quote_count = 0;
    reader->high = reader->quotes = reader->scan.high = reader->scan.quotes = false;
    reader->file_start = file_start;
    reader->skip_left = file_start ? reader->schema->skip : 0;
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

/* Is it a trimmed text that is in quotes, where those keep their blanks? */
__attribute__((always_inline)) static inline bool keeps_blanks(const delimited_t *reader,
                                                               const bounds_t *bounds, fields_t fields,
                                                               const op_t *op, const uint8_t *text) {
    return fields >= FIELDS_QUOTED && __builtin_expect(op->exact, 0) &&
           delimited_is_quoted(reader, bounds, fields, op->column, text);
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
        double number;
        if (!simple && op->code >= OP_OPEN) {
            if (op->code <= OP_CLOSE)
                out = delimited_put_group(out, op, &group);
            else if (op->code >= OP_CONSTANT)
                out = delimited_put_given(reader, out, op);
            else
                out = op->code == OP_FIRST  ? delimited_put_first(reader, bounds, fields, high, out, op)
                      : op->code == OP_JOIN ? delimited_put_joined(reader, bounds, fields, high, out, op)
                                            : delimited_put_point(reader, bounds, fields, out, op);
            continue;
        }
        if (simple) {
            const uint8_t *stop = bounds->base + *ends++;
            text = next;
            length = (size_t)(stop - text);
            next = stop + 1;
        } else {
            const span_t span = delimited_text_of(reader, bounds, fields, op->column);
            text = span.text;
            length = span.length;
        }
        if (!simple && (op->null_kinds & NULLS_OTHER)) {
            const bool trimmed = op->code == OP_TRIMMED && !keeps_blanks(reader, bounds, fields, op, text);
            for (; trimmed && length && text[length - 1] == ' '; length--)
                ;
            for (; trimmed && length && text[0] == ' '; text++, length--)
                ;
            out = delimited_put_unusual(reader, out, op, text, length, high, shape);
            continue;
        }
        switch (op->code) {
        case OP_INT:
        case OP_LONG:
            if (__builtin_expect(convert_digits(text, length, &digits), 1)) {
                out = delimited_put_int(out, op, (int64_t)digits, simple);
                continue;
            }
            break;
        case OP_EXACT:
        case OP_EXACT_LONG:
            if (__builtin_expect(convert_digits(text, length, &digits) && (*text != '0' || length == 1), 1)) {
                out = delimited_put_exact(out, op, (int64_t)digits);
                continue;
            }
            break;
        case OP_NUMBER:
            if (convert_kept(text, length, op->divide, &number) &&
                !delimited_is_inexact(&reader->schema->fields[op->field], text, length)) {
                out = bsonw_double(delimited_put_head(out, op, simple), number);
                continue;
            }
            break;
        case OP_ISO_DATE:
            if (__builtin_expect(length == 10 && calendar_iso(text, &ms), 1)) {
                out = bsonw_int64(delimited_put_head(out, op, simple), ms);
                continue;
            }
            break;
        case OP_TRIMMED:
            if (!keeps_blanks(reader, bounds, fields, op, text)) {
                while (length && text[length - 1] == ' ')
                    length--;
                while (length && text[0] == ' ')
                    text++, length--;
            }
            /* fall through */
        case OP_TEXT:
            if (__builtin_expect(length == 0 || high || (length == 4 && (op->null_kinds & NULLS_WORD)), 0))
                break; /* empty, perhaps NULL, perhaps not UTF-8 */
            out = bsonw_string(delimited_put_head(out, op, simple), text, length);
            continue;
        }
        out = delimited_put_unusual(reader, out, op, text, length, high, shape);
    }
    *out++ = 0;
    bsonw_int32(start, (int32_t)(out - start));
    return out;
}

static parsed_t refuse(delimited_t *reader, record_t *record, uint32_t column, size_t got) {
    const size_t columns = reader->dialect->columns;
    const bool empty =
        got == columns + 1 && !reader->split->too_many && !reader->split->spans[columns].raw_length;
    snprintf(reader->reason, sizeof reader->reason, "it has %zu field%s where %zu were expected%s", got,
             got == 1 ? "" : "s", columns, empty ? ", the last one empty: it ends in a delimiter" : "");
    record->reason = reader->reason;
    record->field = NULL;
    record->column = column;
    return PARSED_REJECT;
}

static parsed_t refuse_quote(record_t *record, const split_t *split, bool guessed) {
    record->reason =
        split->open ? "the quote that is opened here is never closed"
        : guessed
            ? "the quoted text that begins here is not followed by a delimiter, and the format is guessed: "
              "put it into quotes as the others are, quotes in it doubled; or, if all such texts are written "
              "in "
              "another way, load anew with a --format that says so (escape, quote)"
            : "the quoted text that begins here is not followed by a delimiter";
    record->field = NULL;
    record->column = (uint32_t)(split->open ? split->open : split->torn);
    return PARSED_REJECT;
}

static parsed_t refuse_needless(record_t *record, const span_t *span) {
    record->reason =
        "the text that begins here is in quotes that it does not need, so they may be a part of it. If they "
        "are, load all anew "
        "with --drop and --with quote=none; if not, give a --format without quoted: needed, and --retry";
    record->field = NULL;
    record->column = span->at + 1;
    return PARSED_REJECT;
}

/* Of CR CR LF the first CR would become a part of the last value, unnoticed: a value that is in quotes ends with one. Nobody has
 * said so of a format that is guessed, which refuses a file of such lines as well. */
static parsed_t refuse_carriage(record_t *record) {
    record->reason =
        "its line ends with a CR (byte 0d) too many, which would become a part of its last value, "
        "and the format is guessed: take the CR out, or give a --format if it belongs there";
    record->field = NULL;
    record->column = record->length;
    return PARSED_REJECT;
}

/* A line of signs below names, wherever it stands: nobody has said of a format that is guessed that such are values. */
static __attribute__((noinline)) parsed_t look_for_underline(delimited_t *reader, record_t *record,
                                                             const uint8_t *text) {
    if (!delimited_want_split(reader))
        return PARSED_MEMORY;
    const underline_t is =
        underline_look(reader->split, reader->schema, reader->dialect->delimiter, text, record->length);
    if (is != UNDERLINE_IS)
        return is == UNDERLINE_MEMORY ? PARSED_MEMORY : PARSED_DOCUMENT;
    record->reason =
        "it is made of - = _ + only, as some programs underline the names of columns, and the format is "
        "guessed: if it is a record, load all anew with --drop and a --format";
    record->field = NULL;
    record->column = 1;
    return PARSED_REJECT;
}

static parsed_t refuse_backslash(record_t *record) {
    record->reason =
        "its line ends with a backslash, so that its last text may go on in the next one, as databases write "
        "it, and the "
        "format is guessed: put that text into one line, or give a --format if the backslash is its end";
    record->field = NULL;
    record->column = record->length;
    return PARSED_REJECT;
}

static parsed_t refuse_value(delimited_t *reader, record_t *record) {
    const field_t *field = reader->refused;
    if (reader->refused_text)
        value_misfit(field, reader->refused_text, reader->refused_length, reader->reason);
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

static inline bool may_be_header(const delimited_t *reader, const uint8_t *text, uint32_t first_field) {
    const uint64_t lengths = reader->header_start[*text];
    return lengths &&
           ((lengths >> (first_field < DELIMITED_LONGEST_START ? first_field : DELIMITED_LONGEST_START) &
             1) ||
            (first_field && text[first_field - 1] == ' '));
}

/* Of a record that is split. */
static parsed_t parse_spans(delimited_t *reader, uint8_t *out, record_t *record, int64_t id, shape_t *shape) {
    const bounds_t bounds = {.spans = reader->split->spans};
    reader->refused = NULL;
    const uint8_t *after = encode(reader, &bounds, FIELDS_SPANS, out, id, reader->high, shape);
    return reader->refused ? refuse_value(reader, record) : made(reader, record, out, after);
}

/* A record of several lines. PARSED_DOCUMENT: it is one. */
static __attribute__((noinline)) parsed_t look_at_lines(delimited_t *reader, record_t *record) {
    const dialect_t *dialect = reader->dialect;
    torn_field_t field;
    if (!delimited_want_split(reader))
        return PARSED_MEMORY;
    switch (torn_lines(reader->split, reader->schema, dialect->delimiter, dialect->columns,
                       reader->text + record->offset, record->length, &field)) {
    case TORN_MEMORY:
        return PARSED_MEMORY;
    case TORN_NOT:
        return PARSED_DOCUMENT;
    default:
        record->reason = "the quote that opens here goes around lines that look like records themselves. If "
                         "they are some, take "
                         "it out of the input, and load that with --reload-changed; if it is a text of "
                         "several lines, give a "
                         "--format with multiline: yes";
        record->field = NULL;
        record->column = field.at + 1;
        return PARSED_REJECT;
    }
}

/* Where the lines of a record, or its last byte, may tell that it is none. PARSED_DOCUMENT: they do not. */
static inline parsed_t look_at_row(delimited_t *reader, record_t *record, const uint8_t *text) {
    if (__builtin_expect(text[record->length - 1] == '\r', 0) && reader->schema->guessed)
        return refuse_carriage(record);
    if (__builtin_expect(text[record->length - 1] == '\\', 0) && reader->backslash_on &&
        split_ends_escaped(text, record->length))
        return refuse_backslash(record);
    if (__builtin_expect(reader->schema->guessed && underline_may_be(reader->schema, *text), 0)) {
        const parsed_t parsed = look_for_underline(reader, record, text);
        if (parsed != PARSED_DOCUMENT)
            return parsed;
    }
    return __builtin_expect(reader->line - record->line > 1 && !reader->schema->any_lines, 0)
               ? look_at_lines(reader, record)
               : PARSED_DOCUMENT;
}

/* For odd quotes, surplus fields, wrong numbers of fields, or a caller that wants the shape. */
static parsed_t parse_carefully(delimited_t *reader, uint8_t *out, record_t *record, int64_t id,
                                shape_t *shape) {
    const uint8_t *text = reader->text + record->offset;
    const dialect_t *dialect = reader->dialect;
    if (!delimited_want_split(reader))
        return PARSED_MEMORY;
    split_t *split = reader->split;
    if (!split_record(split, reader->schema, dialect->delimiter, text, record->length))
        return PARSED_MEMORY;
    size_t columns = dialect->columns;
    if (!split_is_sound(split))
        return refuse_quote(record, split, reader->schema->guessed);
    const span_t *needless =
        reader->schema->quoted_needed ? split_find_needless(split, reader->schema, dialect->delimiter) : NULL;
    if (needless)
        return refuse_needless(record, needless);
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
        shape_clear(shape, reader->schema->field_count);
        shape->quoted = split->quoted;
        shape->backslash = split->backslash;
    }
    return parse_spans(reader, out, record, id, shape);
}

/* Are all quotes of the record around whole fields, and is nothing escaped in them? Then the ends are right. */
static bool quotes_enclose(const delimited_t *reader, const bounds_t *bounds, uint32_t quotes) {
    uint8_t quote = (uint8_t)reader->schema->quote;
    const uint8_t *text = bounds->record;
    const uint32_t end_of_record = bounds->ends[reader->dialect->columns - 1];
    if (reader->schema->escape_backslashes &&
        memchr(text, '\\', (size_t)(bounds->base + end_of_record - text)))
        return false;
    uint32_t enclosing = 0;
    for (size_t i = 0; i < reader->dialect->columns; i++) {
        const uint8_t *end = bounds->base + bounds->ends[i];
        enclosing += end - text > 1 && *text == quote && end[-1] == quote;
        text = end + 1;
    }
    return 2 * enclosing == quotes;
}

/* The same, but for doubled quotes within such fields: then the record is split. */
static bool has_doubled_quotes(delimited_t *reader, const bounds_t *bounds, uint32_t quotes) {
    return delimited_want_split(reader) &&
           split_at_ends(reader->split, reader->schema, bounds->base, bounds->record, bounds->ends,
                         reader->dialect->columns, quotes);
}

/* Mostly none: cheaper than lines_count, which is for long texts. */
static uint32_t line_ends_within(const uint8_t *text, size_t length) {
    const uint8_t *const end = text + length;
    uint32_t lines = 0;
    for (; (text = memchr(text, '\n', (size_t)(end - text))); text++)
        lines++;
    return lines;
}

static inline void pass_row(delimited_t *reader, const record_t *record) {
    reader->row++;
    reader->line++;
    if (__builtin_expect(reader->quotes && reader->schema->multiline, 0))
        reader->line += line_ends_within(reader->text + record->offset, record->length);
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
        if (delimited_skip(reader, record))
            return PARSED_SKIPPED;
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
    if (__builtin_expect(reader->file_start && reader->schema->header == HEADER_YES, 0) &&
        !schema_is_comment(reader->schema, *text)) {
        reader->file_start = false; /* the first line that is not blank, whatever it contains */
        return PARSED_HEADER;
    }
    if (__builtin_expect(may_be_header(reader, text, scan->ends[first] - start), 0)) {
        const parsed_t parsed = delimited_look_for_header(reader, record, text);
        if (parsed != PARSED_DOCUMENT)
            return parsed;
    }
    if (reader->doubts) {
        const parsed_t parsed = look_at_row(reader, record, text);
        if (__builtin_expect(parsed != PARSED_DOCUMENT, 0))
            return parsed;
    }
    int64_t id = reader->id_base + start;
    bounds_t bounds = {.record = text, .base = reader->text, .ends = scan->ends + first};
    bool plain = !shape && last - first + 1 == reader->plain;
    uint32_t quotes = reader->quotes ? scan->row_quotes[reader->row - 1] -
                                           (reader->row > 1 ? scan->row_quotes[reader->row - 2] : 0)
                                     : 0;
    const bool doubt = reader->schema->quoted_needed;
    if (__builtin_expect(!plain || (quotes && (doubt || !quotes_enclose(reader, &bounds, quotes))), 0))
        return plain && !doubt && has_doubled_quotes(reader, &bounds, quotes)
                   ? parse_spans(reader, out, record, id, NULL)
                   : parse_carefully(reader, out, record, id, shape);
    const uint8_t *after;
    if (__builtin_expect(quotes > 0, 0))
        after = encode(reader, &bounds, FIELDS_QUOTED, out, id, reader->high, NULL);
    else if (reader->plan.simple)
        after = encode(reader, &bounds, FIELDS_SIMPLE, out, id, reader->high, NULL);
    else
        after = encode(reader, &bounds, FIELDS_BETWEEN, out, id, reader->high, NULL);
    return made(reader, record, out, after);
}
