/* Records of delimited formats: finds their lines and fields, and says of what is no record what it is. The ends of fields
 * are found one window at a time, so that they are still in the first-level cache when they are used. A record without
 * quotes, or with quotes around whole fields only, is encoded from these ends; any other is split first (split.h). */
#include "base/chars.h"
#include "base/text.h"
#include "format/cut/ends.h"
#include "format/cut/split.h"
#include "format/engine/encode.h"
#include "format/engine/program.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WINDOW = 16 * 1024,
    OVER = 64, /* scanned beyond a window at most, except for one record */
};

struct delimited {
    engine_t engine;
    uint64_t planned; /* the hash of the dialect for which the program was compiled */

    size_t row;  /* the index of the next record in scan.rows */
    scan_t scan; /* into the arrays below */
    uint32_t rows[WINDOW + OVER + 2], row_quotes[WINDOW + OVER + 2];
    size_t ends_room;
    uint32_t skip_left; /* lines at the file's start that are still to be skipped */

    bool may_begin[256]; /* a header or a comment, by its first byte */
    split_t split;
    size_t plain;       /* a record with this many fields needs no care; SIZE_MAX: there is none */
    size_t worst_bytes; /* the program's, and for the name of the file */
};

void delimited_destroy(delimited_t *reader) {
    if (!reader)
        return;
    free(reader->scan.ends);
    split_free(&reader->split);
    engine_free(&reader->engine);
    free(reader);
}

/* ---- which lines may be no records ---- */

/* Marks the first byte of a header's first field. */
static void mark_words(delimited_t *reader, const texts_t *words) {
    for (size_t i = 0; i < words->count; i++)
        if (words->items[i].length)
            reader->may_begin[(uint8_t)words->items[i].text[0]] = true;
}

/* Which bytes a header, a comment or a byte order mark begins with. Any column may be the first in a header, in upper or lower
 * case and after blanks; in an encoding, letters outside of ASCII have other bytes. */
static void mark_beginnings(delimited_t *reader, const schema_t *schema) {
    bool *may_begin = reader->may_begin;
    if (schema->header == HEADER_YES)
        for (size_t i = 0; i < schema->field_count; i++)
            mark_words(reader, &schema->fields[i].columns);
    mark_words(reader, &schema->header_words);
    for (int lower = 'a'; lower <= 'z'; lower++)
        may_begin[lower] = may_begin[lower - 'a' + 'A'] |= may_begin[lower];
    if (schema->header != HEADER_NO) {
        may_begin[(uint8_t)schema->quote] = may_begin[' '] = may_begin[0xEF] = true;
        may_begin['\t'] |= schema->blanks;
        for (int byte = 0x80; byte <= 0xFF; byte++)
            may_begin[byte] |= schema->encoding != ENCODING_NONE;
    }
    if (schema->comment)
        may_begin[(uint8_t)schema->comment] = true;
}

/* A line that begins as comments do. What continues in other lines, which may be records, is not taken for one. If the sign was
 * guessed, there may be no comments: then after the header neither is what has as many fields as a record. */
static parsed_t look_at_comment(delimited_t *reader, record_t *record, const uint8_t *text) {
    const schema_t *schema = reader->engine.schema;
    const dialect_t *dialect = reader->engine.dialect;
    const bool before =
        reader->engine.in->file_start && (schema->header == HEADER_YES || schema->header == HEADER_LINE);
    bool may_be_record = memchr(text, '\n', record->length);
    if (schema->guessed && !before && dialect->columns > 1) {
        if (!split_record(&reader->split, schema, dialect->delimiter, text, record->length))
            return PARSED_MEMORY;
        may_be_record |= reader->split.count == dialect->columns;
    }
    if (may_be_record)
        return record_refuse(
            record, 1, "it begins as a comment does, but it has the fields of a record or holds a line end");
    reader->engine.bad->passed.comments++;
    return PARSED_COMMENT;
}

/* PARSED_DOCUMENT: the line is an ordinary record. After a line without a line end there is nothing that could be read
 * wrongly, and the line may be a header that is still being written. */
static __attribute__((noinline)) parsed_t look_for_header(delimited_t *reader, record_t *record,
                                                          const uint8_t *text) {
    const schema_t *schema = reader->engine.schema;
    record->field = NULL;
    record->column = 1;
    if (schema_is_comment(schema, *text))
        return look_at_comment(reader, record, text);
    const parsed_t is =
        dialect_line(schema, reader->engine.dialect, &reader->split, text, record->length, &record->reason);
    if (is == PARSED_HEADER)
        reader->engine.in->file_start = false;
    return is == PARSED_OTHER_HEADER && !record->line_end ? PARSED_REJECT : is;
}

/* ---- scanning ---- */

delimited_t *delimited_new(const schema_t *schema, bad_values_t *bad, record_text_t *in) {
    delimited_t *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->scan.rows = reader->rows;
    reader->scan.row_quotes = reader->row_quotes;
    mark_beginnings(reader, schema);
    if (engine_init(&reader->engine, schema, bad, in))
        return reader;
    delimited_destroy(reader);
    return NULL;
}

void delimited_begin(delimited_t *reader, const dialect_t *dialect) {
    engine_t *engine = &reader->engine;
    const record_text_t *const in = engine->in;
    const schema_t *schema = engine->schema;
    engine->dialect = dialect;
    if (reader->planned != dialect->hash) {
        program_free(&engine->program);
        reader->planned = program_compile(schema, dialect, &engine->program) ? dialect->hash : 0;
    }
    reader->may_begin[dialect->header_first] |= dialect->header;
    reader->worst_bytes =
        engine->program.record.bytes + (in->file ? strlen(in->file) : 0) * engine->program.file_times;
    reader->plain = in->bad_value == BAD_VALUE_REJECT || schema_is_wide(schema) ? SIZE_MAX : dialect->columns;
    reader->row = reader->scan.row_count = 0;
    reader->skip_left = in->file_start ? schema->skip : 0;
}

/* The next of the lines that the format skips, before anything is scanned. False: there is none. */
static bool skip_line(delimited_t *reader, record_t *record) {
    const uint8_t *text = reader->engine.in->text + reader->engine.in->at;
    const uint32_t left = reader->engine.in->length - reader->engine.in->at;
    if (!reader->skip_left || !left)
        return false;
    const uint8_t *feed = memchr(text, '\n', left);
    const uint32_t length = feed ? (uint32_t)(feed - text) + 1 : left;
    *record = record_at(reader->engine.in, length);
    reader->engine.in->line++;
    reader->engine.in->at += length;
    reader->skip_left--;
    reader->engine.bad->passed.skipped++;
    return true;
}

/* Scans a window from the next record on, or as many as that record is long. 0: there are no more records; -1: out of
 * memory. */
static int scan_on(delimited_t *reader) {
    const uint32_t length = reader->engine.in->length;
    scan_t *scan = &reader->scan;
    scan->end_count = scan->row_count = reader->row = 0;
    scan->quote_count = 0;
    scan->high = scan->quotes = false;
    for (uint32_t at = reader->engine.in->at; !scan->row_count && at < length;) {
        const uint32_t to = length - at > WINDOW ? at + WINDOW : length;
        if (!GROW(scan->ends, reader->ends_room, scan->end_count + WINDOW + OVER + SCAN_SLACK, NULL))
            return -1;
        at = ends_scan(reader->engine.schema, reader->engine.dialect->delimiter, reader->engine.in->text,
                       length, reader->engine.in->at, at, to, scan);
    }
    if (!scan->row_count && reader->engine.in->at < length) {
        /* the file's last line has no line end */
        scan->ends[scan->end_count++] = length;
        scan->row_quotes[0] = scan->quote_count;
        scan->rows[scan->row_count++] = (uint32_t)scan->end_count;
    }
    return scan->row_count > 0;
}

/* ---- records ---- */

/* How many bytes the document of a record of this length can take. */
static inline size_t needed_for(const delimited_t *reader, size_t length) {
    return reader->worst_bytes + reader->engine.program.times * length;
}

/* One record as a document. `kind` must be a constant. */
INLINED parsed_t put_document(delimited_t *reader, const spans_t *spans, spans_kind_t kind, uint8_t *out,
                              record_t *record, shape_t *shape) {
    engine_t *engine = &reader->engine;
    uint8_t *at = out + 4;
    engine->high = reader->scan.high;
    engine->record = record;
    if (reader->engine.in->with_id)
        at = bsonw_id(at, reader->engine.in->id_base + record->offset);
    at = put_close(encode(engine, &engine->program.record, spans, kind, at, shape), out);
    record->document_length = (uint32_t)(at - out);
    assert(record->document_length <= needed_for(reader, record->length));
    return __builtin_expect(engine->failed, 0) ? PARSED_MEMORY : PARSED_DOCUMENT;
}

/* Of a record that is split. */
static parsed_t parse_spans(delimited_t *reader, uint8_t *out, record_t *record, shape_t *shape) {
    const spans_t spans = {.split = reader->split.spans};
    engine_t *engine = &reader->engine;
    engine->refused = 0;
    const parsed_t parsed = put_document(reader, &spans, SPANS_SPLIT, out, record, shape);
    return engine->refused ? record_refuse(record, spans.split[engine->refused - 1].at + 1, engine->reason)
                           : parsed;
}

static parsed_t refuse_columns(delimited_t *reader, record_t *record) {
    const split_t *split = &reader->split;
    const size_t columns = reader->engine.dialect->columns, got = split->count;
    snprintf(reader->engine.reason, sizeof reader->engine.reason,
             "it has %s%zu field%s where %zu were expected", got == SPLIT_MOST ? "at least " : "", got,
             got == 1 ? "" : "s", columns);
    return record_refuse(record, got > columns ? split->spans[columns].at + 1 : record->length + 1,
                         reader->engine.reason);
}

/* For odd quotes, surplus fields, wrong numbers of fields, or a caller that wants the shape. */
static parsed_t parse_carefully(delimited_t *reader, uint8_t *out, record_t *record, shape_t *shape) {
    const uint8_t *text = reader->engine.in->text + record->offset;
    const schema_t *schema = reader->engine.schema;
    const dialect_t *dialect = reader->engine.dialect;
    const size_t columns = dialect->columns;
    split_t *split = &reader->split;
    if (!split_record(split, schema, dialect->delimiter, text, record->length))
        return PARSED_MEMORY;
    if (!split_is_sound(split))
        return record_refuse(
            record, (uint32_t)(split->open ? split->open : split->torn),
            split->open ? "the quote that is opened here is never closed"
                        : "the quoted text that begins here is not between two delimiters: double the "
                          "quotes in it, or give a --format (escape, quote)");
    const span_t *needless =
        schema->quoted_needed ? split_find_needless(split, schema, dialect->delimiter) : NULL;
    if (needless)
        return record_refuse(
            record, needless->at + 1,
            "the text that begins here is in quotes that it does not need, so they may be a part of it: load "
            "all anew with --drop and --with quote=none, or give a --format without quoted: needed");
    if (split->count < columns || split->count == SPLIT_MOST ||
        (split->count > columns && dialect->surplus_column < 0))
        return refuse_columns(reader, record);
    if (split->count > columns) {
        const size_t left = (size_t)dialect->surplus_column;
        split_merge(split, text, left, columns - left - 1);
    }
    if (shape) {
        memset(shape->choice, 0, schema->field_count * sizeof *shape->choice);
        shape->quoted = split->quoted;
        shape->backslash = split->backslash;
        shape->carriage = record->line_end && text[record->length] == '\r';
    }
    return parse_spans(reader, out, record, shape);
}

static inline void pass_row(delimited_t *reader, const record_t *record) {
    record_text_t *const in = reader->engine.in;
    const uint8_t *text = in->text + record->offset, *const end = text + record->length;
    reader->row++;
    in->line++;
    if (__builtin_expect(reader->scan.quotes && reader->engine.schema->multiline, 0))
        for (; (text = memchr(text, '\n', (size_t)(end - text))); text++)
            in->line++;
    in->at = record->offset + record->length + record->line_end;
}

/* Leaves the record for a call with more room; a record that is too large is rejected instead. */
static __attribute__((noinline)) parsed_t ask_for_room(delimited_t *reader, record_t *record, size_t needed) {
    if (needed > RECORD_MOST_NEEDED) {
        pass_row(reader, record);
        reader->engine.in->file_start = false;
        return record_refuse_large(record);
    }
    record->needed = needed;
    return PARSED_FULL;
}

parsed_t delimited_next(delimited_t *reader, uint8_t *out, size_t room, record_t *record, shape_t *shape) {
    const schema_t *schema = reader->engine.schema;
    record_text_t *const in = reader->engine.in;
    scan_t *scan = &reader->scan;
    if (__builtin_expect(reader->row == scan->row_count, 0)) {
        if (skip_line(reader, record))
            return PARSED_SKIPPED;
        int more = reader->planned ? scan_on(reader) : -1;
        if (more <= 0)
            return more ? PARSED_MEMORY : PARSED_END;
    }
    size_t first = reader->row ? scan->rows[reader->row - 1] : 0, last = scan->rows[reader->row] - 1;
    uint32_t start = in->at, end = scan->ends[last];
    record->offset = start;
    record->line = in->line;
    record->line_end = end < in->length;
    bool carriage = end > start && in->text[end - 1] == '\r';
    end -= carriage;
    record->line_end = (uint8_t)(record->line_end + carriage);
    uint32_t length = record->length = end - start;
    const size_t needed = needed_for(reader, length);
    if (__builtin_expect(room < needed || needed > RECORD_MOST_NEEDED, 0))
        return ask_for_room(reader, record, needed);
    pass_row(reader, record);
    scan->ends[last] = end;
    if (__builtin_expect(length == 0, 0))
        return PARSED_BLANK;
    const uint8_t *text = in->text + start;
    if (__builtin_expect(in->file_start && schema->header == HEADER_YES, 0) &&
        !schema_is_comment(schema, *text)) {
        in->file_start = false; /* the first line that is not blank, whatever it contains */
        return PARSED_HEADER;
    }
    parsed_t parsed = PARSED_DOCUMENT;
    if (__builtin_expect(reader->may_begin[*text], 0))
        parsed = look_for_header(reader, record, text);
    const bool lines = in->line - record->line > 1 && !schema->any_lines;
    if ((schema->guessed || __builtin_expect(lines, 0)) && parsed == PARSED_DOCUMENT)
        parsed = dialect_doubt(schema, reader->engine.dialect, &reader->split, text, lines, record);
    if (__builtin_expect(parsed != PARSED_DOCUMENT, 0))
        return parsed;
    const spans_t spans = {.record = text, .base = in->text, .ends = scan->ends + first};
    const bool plain = !shape && last - first + 1 == reader->plain, doubt = schema->quoted_needed;
    const uint32_t quotes =
        reader->scan.quotes
            ? scan->row_quotes[reader->row - 1] - (reader->row > 1 ? scan->row_quotes[reader->row - 2] : 0)
            : 0;
    const size_t columns = reader->engine.dialect->columns;
    if (__builtin_expect(!plain || quotes, 0)) /* most quotes are around fields, or doubled in those */
        return plain && !doubt &&
                       split_at_ends(&reader->split, schema, spans.base, text, spans.ends, columns, quotes)
                   ? parse_spans(reader, out, record, NULL)
                   : parse_carefully(reader, out, record, shape);
    return reader->engine.program.simple ? put_document(reader, &spans, SPANS_SIMPLE, out, record, NULL)
                                         : put_document(reader, &spans, SPANS_BETWEEN, out, record, NULL);
}
