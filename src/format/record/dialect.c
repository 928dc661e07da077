#include "format/record/dialect.h"
#include "base/chars.h"
#include "base/log.h"
#include "format/cut/ends.h"
#include "format/cut/split.h"
#include "format/types.h"
#include "format/values/values.h"

#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BSON_FIRST = 8 };

/* Lines of which the first one is read. Where memory was out, what is found in them counts for nothing. */
typedef struct {
    const schema_t *schema;
    const uint8_t *at, *end;
    const uint8_t *next; /* after the first line */
    dialect_line_t line; /* that line, */
    split_t *split;      /* and its fields, by the last delimiter that was tried; 0: there is no line */
    bool failed;         /* memory was out */
    const char *name;    /* of a file: its name, */
    uint64_t number;     /* and which line of it the first one is, from 1 */
    const dialect_head_t *head;
} lines_t;

/* ---- the columns of a dialect ---- */

static void clear_columns(dialect_t *dialect) {
    memset(dialect->field_of, 0xFF, sizeof dialect->field_of);
    memset(dialect->column_of, 0xFF, sizeof dialect->column_of);
    dialect->columns = 0;
    dialect->surplus_column = -1;
}

/* Of two columns of one field, the first one is the field's. */
static void add_column(const schema_t *schema, dialect_t *dialect, size_t field) {
    const uint16_t column = dialect->columns++;
    dialect->field_of[column] = (uint16_t)field;
    if (field == DIALECT_NO_FIELD || dialect->column_of[field] != DIALECT_NO_FIELD)
        return;
    dialect->column_of[field] = column;
    if ((int)field == schema->surplus_field)
        dialect->surplus_column = column;
}

static void set_hash(const schema_t *schema, dialect_t *dialect) {
    dialect->bad_value = schema->bad_value;
    const uint64_t format =
        XXH3_64bits_withSeed(schema->digest, strlen(schema->digest), (unsigned char)dialect->delimiter);
    const uint64_t hash =
        XXH3_64bits_withSeed(dialect->field_of, dialect->columns * sizeof *dialect->field_of, format);
    dialect->hash = hash ? hash : 1;
}

static void use_layout(const schema_t *schema, dialect_t *dialect, const layout_t *layout) {
    clear_columns(dialect);
    for (size_t i = 0; i < layout->count; i++)
        add_column(schema, dialect, layout->fields[i]);
}

void dialect_print(const dialect_t *dialect, text_t *out) {
    text_print(out, "delimiter=%02x columns=", (unsigned char)dialect->delimiter);
    for (size_t i = 0; i < dialect->columns; i++)
        text_print(out, dialect->field_of[i] == DIALECT_NO_FIELD ? "%s-" : "%s%u", i ? "," : "",
                   dialect->field_of[i]);
}

bool dialect_read(const schema_t *schema, const char *line, dialect_t *dialect) {
    unsigned delimiter;
    int used = 0;
    memset(dialect, 0, sizeof *dialect);
    clear_columns(dialect);
    if (sscanf(line, "delimiter=%2x columns=%n", &delimiter, &used) != 1 || !used || delimiter > 127)
        return false;
    dialect->delimiter = (char)delimiter;
    for (const char *at = line + used; *at && *at != ' ' && *at != '\n';) {
        const bool none = *at == '-';
        char *end = (char *)at + 1;
        const size_t field = none                    ? DIALECT_NO_FIELD
                             : isdigit((uint8_t)*at) ? strtoul(at, &end, 10)
                                                     : SIZE_MAX;
        if (dialect->columns == SCHEMA_MOST_FIELDS * 2 || !strchr(", \n", *end) ||
            (!none && (field >= schema->field_count || dialect->column_of[field] != DIALECT_NO_FIELD)))
            return false;
        add_column(schema, dialect, field);
        at = end + (*end == ',');
    }
    set_hash(schema, dialect);
    return dialect->columns > 0 || schema->kind != RECORDS_DELIMITED;
}

/* ---- columns by their names ---- */

/* The field of the column of this name; DIALECT_NO_FIELD: the format does not know it. */
static size_t field_named(const schema_t *schema, const span_t *span) {
    const uint8_t *text = span->text;
    size_t length = span->length;
    blanks_trim(&text, &length);
    for (size_t i = 0; i < schema->field_count; i++)
        if (texts_find(&schema->fields[i].columns, schema->encoding, text, length, true) >= 0)
            return i;
    return DIALECT_NO_FIELD;
}

/* Takes the spans for names, and makes them the columns of a dialect. Returns how many the format knows. */
static size_t name_columns(const schema_t *schema, const split_t *split, dialect_t *dialect) {
    _Static_assert(SPLIT_MOST == sizeof dialect->field_of / sizeof *dialect->field_of, "they have room");
    size_t known = 0;
    clear_columns(dialect);
    for (size_t i = 0; i < split->count; i++) {
        add_column(schema, dialect, field_named(schema, &split->spans[i]));
        known += dialect->field_of[i] != DIALECT_NO_FIELD;
    }
    return known;
}

/* The first field that needs a column, and has none; NULL: there is no such field. guessed: only those need one that the load names
 * elsewhere. */
static const field_t *missing_field(const schema_t *schema, const dialect_t *dialect, bool guessed) {
    for (size_t i = 0; i < schema->field_count; i++)
        if (dialect->column_of[i] == DIALECT_NO_FIELD &&
            (guessed ? schema->fields[i].needed : !schema->fields[i].optional))
            return &schema->fields[i];
    return NULL;
}

/* ---- lines ---- */

size_t dialect_begin(const schema_t *schema, const uint8_t *text, size_t length) {
    size_t at = lines_bom(text, length);
    for (uint32_t i = 0; i < schema->skip; i++) {
        const uint8_t *feed = at < length ? memchr(text + at, '\n', length - at) : NULL;
        if (!feed)
            return length;
        at = (size_t)(feed - text) + 1;
    }
    return at;
}

bool dialect_next_line(const schema_t *schema, char delimiter, const uint8_t **at, const uint8_t *end,
                       bool whole, dialect_line_t *line) {
    while (*at < end) {
        const size_t left = (size_t)(end - *at), found = ends_find(schema, delimiter, *at, left, whole),
                     length = found ? found : left;
        const bool feed = found && (*at)[length - 1] == '\n',
                   carriage = length > feed && (*at)[length - feed - 1] == '\r';
        *line = (dialect_line_t){*at, length - feed - carriage, feed, found > 0};
        *at += length;
        if (line->length && !schema_is_comment(schema, line->text[0]))
            return true;
    }
    return false;
}

bool dialect_first_line(const schema_t *schema, const uint8_t *text, size_t length, bool whole,
                        size_t *begins, size_t *ends) {
    const size_t count = schema->kind == RECORDS_DELIMITED && schema->multiline ? schema->delimiter_count : 1,
                 from = dialect_begin(schema, text, length);
    size_t most = 0;
    dialect_line_t line;
    *begins = *ends = length;
    if (schema->kind == RECORDS_BSON) { /* which has no lines; its first bytes say all */
        *begins = 0;
        return length >= BSON_FIRST || (whole && length);
    }
    for (size_t d = 0; d < count; d++) {
        const uint8_t *at = text + from;
        if (!dialect_next_line(schema, schema->delimiters[d], &at, text + length, whole, &line))
            return false;
        *begins = (size_t)(line.text - text);
        if (!line.ended)
            return false;
        most = (size_t)(at - text) > most ? (size_t)(at - text) : most;
    }
    *ends = most - 1;
    return true;
}

static void split_by(lines_t *lines, char delimiter) {
    lines->next = lines->at;
    lines->split->count = 0;
    if (dialect_next_line(lines->schema, delimiter, &lines->next, lines->end, true, &lines->line))
        lines->failed |=
            !split_record(lines->split, lines->schema, delimiter, lines->line.text, lines->line.length);
}

bool dialect_is_underline(const schema_t *schema, char delimiter, const uint8_t *line, size_t length) {
    enum { LEAST = 3 };
    size_t signs = 0;
    bool two = false;
    for (size_t i = 0; i < length; i++) {
        const uint8_t byte = line[i];
        const bool sign = byte == '-' || byte == '=' || byte == '_';
        signs += sign;
        two |= sign && i && line[i - 1] == byte;
        if (!sign && byte != '+' && byte != (uint8_t)delimiter && byte != (uint8_t)schema->quote &&
            !delimiter_is_blank(byte) &&
            !(schema->wide.length && memchr(schema->wide.text, byte, schema->wide.length)))
            return false;
    }
    return signs >= LEAST && two;
}

/* ---- headers ---- */

/* True if the first field is a word that headers of the format begin with. */
static bool begins_as_header(const schema_t *schema, const split_t *split) {
    return split->count &&
           words_find(&schema->header_words, schema->encoding, split->spans->text, split->spans->length) >= 0;
}

/* Reads the line as a header, by the delimiter by which the format knows the most of its columns. They become the dialect's.
 * Returns how many it knows, and 1 more; 0: the line is no header. */
static size_t read_names(lines_t *lines, dialect_t *dialect) {
    const schema_t *schema = lines->schema;
    size_t most = 0;
    for (size_t d = 0; d < schema->delimiter_count; d++) {
        split_by(lines, schema->delimiters[d]);
        const bool may_be = schema->header == HEADER_YES || begins_as_header(schema, lines->split);
        const size_t known = may_be ? 1 + name_columns(schema, lines->split, dialect) : 0;
        if (known <= most)
            continue;
        most = known;
        dialect->delimiter = schema->delimiters[d];
    }
    if (most && schema->delimiter_count > 1) {
        split_by(lines, dialect->delimiter);
        name_columns(schema, lines->split, dialect);
    }
    return most;
}

enum { SHOWN = 124, NAME_SHOWN = 44, NAMES_SHOWN = 400 };

/* The beginning of a text, none of which a terminal obeys. */
static const char *show(const uint8_t *text, size_t length, char *out, size_t room) {
    escape_text(out, room - 3, (const char *)text, length);
    return length < room - 3 ? out : strcat(out, "...");
}

/* The names of the columns. unknown: only those that the format does not know. Returns how many there are. */
static size_t list_columns(const split_t *split, const dialect_t *unknown, char out[NAMES_SHOWN]) {
    text_t names = {0};
    size_t count = 0;
    for (size_t i = 0; i < split->count; i++)
        if (!unknown || unknown->field_of[i] == DIALECT_NO_FIELD) {
            text_append(&names, count++ ? "," : "");
            text_append_bytes(&names, (const char *)split->spans[i].text, split->spans[i].length);
        }
    show((const uint8_t *)names.bytes, names.length, out, NAMES_SHOWN);
    text_free(&names);
    return count;
}

/* The names of the format's columns. */
static void list_fields(const schema_t *schema, char out[NAMES_SHOWN]) {
    text_t names = {0};
    for (size_t i = 0; i < schema->field_count; i++)
        text_print(&names, i ? ",%s" : "%s", schema->fields[i].columns.items[0].text);
    show((const uint8_t *)names.bytes, names.length, out, NAMES_SHOWN);
    text_free(&names);
}

/* Checks that no column has two names. `unknown`: of those that the format does not know, each needs one. */
static bool check_twice(const lines_t *lines, const dialect_t *dialect, bool unknown, err_t *err) {
    const span_t *const spans = lines->split->spans;
    char name[NAME_SHOWN];
    for (size_t i = 0; i < lines->split->count; i++) {
        const uint16_t field = dialect->field_of[i];
        bool twice = field != DIALECT_NO_FIELD && dialect->column_of[field] != i;
        for (size_t j = 0; field == DIALECT_NO_FIELD && unknown && j < i; j++)
            twice |= encoding_same(lines->schema->encoding, (const char *)spans[j].text, spans[j].length,
                                   spans[i].text, spans[i].length, true);
        if (twice)
            return err_set(err, STATUS_INPUT, "the header names the column '%s' twice",
                           show(spans[i].text, spans[i].length, name, NAME_SHOWN));
        if (field == DIALECT_NO_FIELD && unknown && !spans[i].length)
            return err_set(
                err, STATUS_INPUT,
                "column %zu of the header has no name, and no earlier file has such a column: give "
                "it one",
                i + 1);
    }
    return true;
}

/* A header that shares at most half of the names of the shorter one is of another kind of file; columns that stay left out do not
 * count. */
static bool check_guessed(const lines_t *lines, size_t known, size_t unknown, err_t *err) {
    const schema_t *schema = lines->schema;
    char has[NAMES_SHOWN], wanted[NAMES_SHOWN];
    const size_t columns = known + unknown;
    const size_t fewer = columns < schema->field_count ? columns : schema->field_count;
    if (2 * known > fewer)
        return true;
    list_columns(lines->split, NULL, has);
    list_fields(schema, wanted);
    return err_set(
        err, STATUS_INPUT,
        "the header shares %zu of %zu names with the guessed format, so it is another kind of file "
        "(has: %s; the format has: %s)",
        known, fewer, has, wanted);
}

/* Counts the columns that the format neither knows nor leaves out in all files, and appends the names of all that it does not
 * know. */
static size_t find_unknown(const lines_t *lines, const dialect_t *dialect, text_t *names) {
    const schema_t *schema = lines->schema;
    size_t count = 0;
    for (size_t i = 0; i < lines->split->count; i++) {
        const uint8_t *text = lines->split->spans[i].text;
        size_t length = lines->split->spans[i].length;
        blanks_trim(&text, &length);
        if (dialect->field_of[i] != DIALECT_NO_FIELD)
            continue;
        count += !schema_leaves_out(schema, schema->encoding, text, length);
        if (names) {
            encoding_append(names, schema->encoding, text, length);
            text_append_bytes(names, "", 1);
        }
    }
    return count;
}

/* Do the header's columns fit the format? Those that it does not know are left out, with a warning. */
static bool check_names(const lines_t *lines, const dialect_t *dialect, err_t *err) {
    const schema_t *schema = lines->schema;
    const split_t *split = lines->split;
    const new_columns_t usual = schema->guessed ? NEW_COLUMNS_REFUSE : NEW_COLUMNS_IGNORE,
                        wanted = schema->new_columns ? schema->new_columns : usual;
    char names[NAMES_SHOWN];
    if (split->count == SPLIT_MOST)
        return err_set(err, STATUS_INPUT, "the header has %d columns or more, which is too many", SPLIT_MOST);
    const field_t *const missing = missing_field(schema, dialect, schema->guessed);
    const size_t unknown = find_unknown(lines, dialect, missing ? NULL : lines->head->unknown),
                 count = list_columns(split, missing ? NULL : dialect, names);
    if (!check_twice(lines, dialect, unknown && wanted != NEW_COLUMNS_IGNORE, err))
        return false;
    if (missing)
        return err_set(err, STATUS_INPUT, "no column '%s' (has: %s)%s", missing->columns.items[0].text, names,
                       schema->guessed ? ", which --id, the filter or the shard key needs" : "");
    if (schema->guessed && !check_guessed(lines, split->count - count, unknown, err))
        return false;
    if (unknown && wanted != NEW_COLUMNS_IGNORE)
        return err_set(err, STATUS_INPUT, "the %s has no column for %s%s",
                       schema->guessed ? "guessed format" : "format", names,
                       schema->new_columns == NEW_COLUMNS_REFUSE ? " (--new-columns refuse)" : "");
    if (count && !lines->head->quiet)
        log_warn("%s:%" PRIu64 ": %zu column%s not known to the format %s and left out: %s", lines->name,
                 lines->number, count, count == 1 ? " is" : "s are", schema->name, names);
    return true;
}

/* True if the first line is the format's header_line, by whose order the columns are known. */
static bool is_header_line(const lines_t *lines, err_t *err) {
    char wanted[SHOWN], has[SHOWN];
    const schema_text_t *header = &lines->schema->header_line;
    return encoding_same(lines->schema->encoding, header->text, header->length, lines->line.text,
                         lines->line.length, false) ||
           err_set(err, STATUS_INPUT,
                   "its first line is not the header of the format %s, by whose order the columns are read: "
                   "wanted %s, has %s",
                   lines->schema->name,
                   show((const uint8_t *)header->text, header->length, wanted, sizeof wanted),
                   show(lines->line.text, lines->line.length, has, sizeof has));
}

enum { VALUE_MOST = 64, VALUE_SLACK = 8 /* which value_read reads */ };

/* True if the value is of its field's type. */
static bool is_of_type(const schema_t *schema, const field_t *field, const span_t *value) {
    uint8_t padded[VALUE_MOST + VALUE_SLACK] = {0}, read[TYPES_VALUE], type;
    value_text_t text = {field, padded, value->length, schema->encoding, .values = NULL};
    if (value->length > VALUE_MOST)
        return false;
    memcpy(padded, value->text, value->length);
    return value_read(&text, &type, read) != NULL;
}

/* Where no file has a header. False: the first line seems to be one, since no value of it is of its column's type. A line with
 * another number of fields is rejected as a record. */
static bool is_no_header(const lines_t *lines, const dialect_t *dialect, err_t *err) {
    const schema_t *schema = lines->schema;
    size_t typed = 0, fitting = 0;
    char has[SHOWN];
    for (size_t i = 0; lines->split->count == dialect->columns && i < dialect->columns; i++) {
        const span_t *value = &lines->split->spans[i];
        const field_t *field = &schema->fields[dialect->field_of[i]];
        if (!value->length || !(value_types[field->type].flags & VALUE_FORMED) ||
            words_find(&field->nulls, schema->encoding, value->text, value->length) >= 0)
            continue;
        typed++;
        fitting += is_of_type(schema, field, value);
    }
    return !typed || fitting ||
           err_set(err, STATUS_INPUT,
                   "its first line seems to be a header, and by the format %s no file has one: no value in "
                   "%s is of its column's type. Take that line away, or, if it is a record, give a --format "
                   "with header: no",
                   schema->name, show(lines->line.text, lines->line.length, has, sizeof has));
}

/* ---- without a header ---- */

static const layout_t *layout_of(const schema_t *schema, size_t columns) {
    for (size_t i = 0; i < schema->layout_count; i++)
        if (schema->layouts[i].count == columns)
            return &schema->layouts[i];
    return NULL;
}

/* The delimiter and layout of the first record that has closed quotes and as many fields as a layout; of several delimiters by
 * which it has, the one of the most fields, since a delimiter that is nowhere in the text fits a layout of one column. What
 * the file grows by changes nothing. */
static void choose_layout(lines_t *lines, dialect_t *dialect) {
    const schema_t *schema = lines->schema;
    const layout_t *chosen = NULL;
    for (int n = 0; !chosen && n < DIALECT_SAMPLE_LINES; n++) {
        for (size_t d = schema->delimiter_count; d-- > 0;) {
            split_by(lines, schema->delimiters[d]);
            const layout_t *layout = layout_of(schema, lines->split->count);
            if (!layout || !split_is_sound(lines->split) || (chosen && chosen->count > layout->count))
                continue;
            chosen = layout;
            dialect->delimiter = schema->delimiters[d];
        }
        lines->at = lines->next;
    }
    use_layout(schema, dialect, chosen ? chosen : &schema->layouts[0]);
}

/* What the first line says. False: it is a header that does not fit. */
static bool read_first_line(lines_t *lines, dialect_t *dialect, err_t *err) {
    const schema_t *schema = lines->schema;
    if (schema->header == HEADER_YES || schema->header == HEADER_WORDS)
        dialect->header = read_names(lines, dialect) > 0;
    if (schema->header_refused && !is_no_header(lines, dialect, err))
        return false;
    if (schema->header != HEADER_LINE && !dialect->header) {
        choose_layout(lines, dialect);
        return true;
    }
    dialect->header = true;
    dialect->header_length = lines->line.length;
    dialect->header_hash = XXH3_64bits(lines->line.text, lines->line.length);
    dialect->header_first = lines->line.text[0];
    return schema->header == HEADER_LINE ? is_header_line(lines, err) : check_names(lines, dialect, err);
}

/* ---- files ---- */

/* A file of another kind or encoding would be a reject on each of its lines, or be read wrongly. Whether documents of BSON are
 * whole, their reader sees. */
static bool check_kind(const schema_t *schema, const uint8_t *text, size_t length, bool utf16,
                       dialect_t *dialect, err_t *err) {
    enum { FIRST = 4 };
    char shown[4 * FIRST + 4];
    if (!encoding_keeps_utf8(schema->encoding) && (utf16 || lines_bom(text, length)))
        return err_set(err, STATUS_INPUT,
                       "its text is %s, and by the format %s it is %s; give a --format without 'encoding'",
                       utf16 ? "UTF-16" : "UTF-8, as its byte-order mark says", schema->name,
                       encoding_names[schema->encoding]);
    if (schema->kind == RECORDS_BSON)
        return length < FIRST || bson_length_may_be(bson_length(text)) ||
               err_set(err, STATUS_INPUT,
                       "is no BSON: it begins with %s, and not with the length of a document",
                       show(text, FIRST, shown, sizeof shown));
    if (bson_span_begins(text, length))
        return err_set(err, STATUS_INPUT, "holds BSON documents: give --format bson, or none");
    const size_t at = json_span_begins(text, length);
    dialect->array = schema->kind == RECORDS_JSON && at < length && text[at] == '[';
    return schema->kind != RECORDS_JSON || dialect->array || at == length || text[at] == '{' ||
           err_set(err, STATUS_INPUT, "is no JSON: it begins with %s, and not with { or [",
                   show(text + at, 1, shown, sizeof shown));
}

/* Without a first line: can its columns be known, or does it need none, as an empty file does? `skipped`: all lines that are to
 * be skipped are there. */
static bool check_missing_line(const schema_t *schema, const dialect_head_t *head, bool skipped, err_t *err) {
    const bool names = schema->header == HEADER_YES || schema->header == HEADER_LINE,
               one_way = schema->delimiter_count == 1 && schema->layout_count == 1;
    return (head->more ? skipped && schema->header == HEADER_NO && one_way
                       : !schema->skip || !names || !ends_last_byte(head->text, head->length)) ||
           err_set(err, STATUS_INPUT,
                   "its columns are not known, because its first line that is neither empty, nor a comment, "
                   "nor skipped by the format %s is not there, does not begin within 256 KiB, or is longer "
                   "than 16 MiB: take lines before it away, shorten it, or give a --format (skip)",
                   schema->name);
}

static bool sniff_delimited(const schema_t *schema, const dialect_head_t *head, const char *name,
                            dialect_t *dialect, err_t *err) {
    lines_t lines = {.schema = schema,
                     .at = head->text + dialect_begin(schema, head->text, head->length),
                     .end = head->text + head->length,
                     .split = calloc(1, sizeof *lines.split),
                     .name = name,
                     .number = 1,
                     .head = head};
    if (!lines.split)
        return err_memory(err, sizeof *lines.split);
    const bool skipped = lines.at < lines.end || !schema->skip;
    dialect->delimiter = schema->delimiters[0];
    use_layout(schema, dialect, &schema->layouts[0]);
    split_by(&lines, dialect->delimiter);
    if (lines.split->count)
        lines.number += lines_count(head->text, (size_t)(lines.line.text - head->text));
    bool ok = lines.split->count ? read_first_line(&lines, dialect, err)
                                 : check_missing_line(schema, head, skipped, err);
    if (lines.failed)
        ok = err_memory(err, head->length);
    else if (!ok)
        err_where(err, "%.1000s:%" PRIu64, name, lines.number);
    split_free(lines.split);
    free(lines.split);
    return ok;
}

/* Keeps the dialect of a header whose columns the format knows, as each file with another column is to be reported. */
static void keep_before(const schema_t *schema, const dialect_head_t *head, const dialect_t *dialect) {
    dialect_before_t *before = head->before;
    size_t begins, ends, known = 0;
    while (known < dialect->columns && dialect->field_of[known] != DIALECT_NO_FIELD)
        known++;
    before->length = 0;
    if (!dialect->header || known < dialect->columns ||
        !dialect_first_line(schema, head->text, head->length, false, &begins, &ends) ||
        ends >= sizeof before->text)
        return;
    before->length = ends + 1;
    memcpy(before->text, head->text, before->length);
    memcpy(&before->dialect, dialect, sizeof *dialect);
}

static bool find_columns(const schema_t *schema, const dialect_head_t *head, const char *name,
                         dialect_t *dialect, err_t *err) {
    const dialect_before_t *before = head->before;
    if (before && before->length && before->length <= head->length &&
        memcmp(before->text, head->text, before->length) == 0) {
        memcpy(dialect, &before->dialect, sizeof *dialect);
        return true;
    }
    const bool ok = sniff_delimited(schema, head, name, dialect, err);
    if (ok && before)
        keep_before(schema, head, dialect);
    return ok;
}

bool dialect_sniff_head(const schema_t *schema, const dialect_head_t *head, const char *name,
                        dialect_t *dialect, err_t *err) {
    const uint8_t *text = head->text;
    const size_t length = head->length + (schema_any_fields(schema) ? head->begun : 0);
    memset(dialect, 0, sizeof *dialect);
    clear_columns(dialect);
    const bool ok =
        (check_kind(schema, text, length, head->utf16, dialect, err) || err_where(err, "%.1000s", name)) &&
        (schema->kind != RECORDS_DELIMITED || find_columns(schema, head, name, dialect, err));
    set_hash(schema, dialect);
    return ok;
}

bool dialect_sniff(const schema_t *schema, const uint8_t *text, size_t length, const char *name,
                   dialect_t *dialect, err_t *err) {
    return dialect_sniff_head(schema, &(dialect_head_t){.text = text, .length = length, .quiet = true}, name,
                              dialect, err);
}

bool dialect_may_refuse(const schema_t *schema) {
    return schema_any_fields(schema) ||
           (schema->kind == RECORDS_DELIMITED && (schema->header != HEADER_NO || schema->header_refused ||
                                                  !encoding_keeps_utf8(schema->encoding)));
}

/* ---- what a later line is ---- */

/* True if a column's name holds the character for quotes. */
static bool is_quote_in_name(const schema_t *schema) {
    for (size_t i = 0; i < schema->field_count; i++)
        for (size_t j = 0; j < schema->fields[i].columns.count; j++)
            if (memchr(schema->fields[i].columns.items[j].text, schema->quote,
                       schema->fields[i].columns.items[j].length))
                return true;
    return false;
}

/* False if the line's first field surely is no column's name. */
static bool may_be_named(const schema_t *schema, char delimiter, const uint8_t *line, size_t length) {
    const bool quoted = schema->quote && length && *line == (uint8_t)schema->quote;
    const uint8_t *end = quoted ? memchr(line + 1, schema->quote, length - 1)
                                : delimiter_find(schema, delimiter, line, length, 0);
    if (quoted && (!end || end[-1] == '\\' || (end + 1 < line + length && end[1] != delimiter)))
        return is_quote_in_name(schema);
    span_t first = {.text = line + quoted, .length = (uint32_t)((end ? end : line + length) - line - quoted)};
    return schema_is_wide(schema) || field_named(schema, &first) != DIALECT_NO_FIELD;
}

parsed_t dialect_line(const schema_t *schema, const dialect_t *dialect, split_t *split, const uint8_t *line,
                      size_t length, const char **reason) {
    const bool yes = schema->header == HEADER_YES;
    dialect_t named;
    if (schema->header == HEADER_NO ||
        (yes && dialect->columns < 2)) /* a value may be its only column's name */
        return PARSED_DOCUMENT;
    const size_t bom = lines_bom(line, length); /* of a second file that was appended to the first */
    line += bom;
    length -= bom;
    if (dialect->header_length && length == dialect->header_length &&
        XXH3_64bits(line, length) == dialect->header_hash)
        return PARSED_HEADER;
    if (schema->header == HEADER_LINE || (yes && !may_be_named(schema, dialect->delimiter, line, length)))
        return PARSED_DOCUMENT;
    lines_t lines = {.schema = schema, .at = line, .end = line + length, .split = split};
    const size_t known = read_names(&lines, &named);
    if (lines.failed)
        return PARSED_MEMORY;
    if (known < (yes ? 3 : 1))
        return PARSED_DOCUMENT;
    set_hash(schema, &named);
    if (named.hash == dialect->hash)
        return PARSED_HEADER;
    if (yes && missing_field(schema, &named, false))
        return PARSED_DOCUMENT;
    *reason = known > 2 ? "it is a header, and its columns are not those that the file is read by"
                        : "it begins as a header does, but is not the header that the file is read by";
    return known > 2 ? PARSED_OTHER_HEADER : PARSED_REJECT;
}

/* ---- what may not be one record ---- */

/* Databases that write nothing as \N write a line end within a text as a backslash and a line end. A format that was guessed
 * cannot say so. */
static bool may_go_on(const schema_t *schema) {
    for (size_t i = 0; i < schema->field_count; i++)
        if (words_find(&schema->fields[i].nulls, ENCODING_NONE, (const uint8_t *)"\\N", 2) >= 0)
            return true;
    return false;
}

/* What a format that was guessed cannot say is refused. A CR of CR CR LF would become a part of the last value, unnoticed (a
 * value in quotes ends with one). A line of signs below names is an underline, wherever it stands. */
static parsed_t doubt_guessed(const schema_t *schema, char delimiter, const uint8_t *text, record_t *record) {
    const uint8_t last = text[record->length - 1];
    if (last == '\r' || (last == '\\' && may_go_on(schema) && split_backslashes(text, record->length) % 2))
        return record_refuse(
            record, record->length,
            "its line ends with a CR (byte 0d) too many, or with a backslash, after which its text may go on "
            "in the next line, and the format is guessed: take the CR out, make one line of both lines, or "
            "give a --format");
    if (dialect_is_underline(schema, delimiter, text, record->length))
        return record_refuse(record, 1,
                             "it is made of - = _ + only, as some programs underline the names of columns, "
                             "and the format is guessed: if it is a record, give a --format");
    return PARSED_DOCUMENT;
}

parsed_t dialect_doubt(const schema_t *schema, const dialect_t *dialect, split_t *split, const uint8_t *text,
                       bool lines, record_t *record) {
    const parsed_t is =
        schema->guessed ? doubt_guessed(schema, dialect->delimiter, text, record) : PARSED_DOCUMENT;
    uint32_t torn;
    if (is != PARSED_DOCUMENT || !lines)
        return is;
    if (!split_torn_lines(split, schema, dialect->delimiter, dialect->columns, text, record->length, &torn))
        return PARSED_MEMORY;
    if (torn)
        return record_refuse(
            record, torn,
            "the quote that opens here goes around lines that look like records themselves. If they are, "
            "take it out of the input; if it is one text, give a --format with multiline: yes");
    return PARSED_DOCUMENT;
}
