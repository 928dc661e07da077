#include "format/record/dialect.h"
#include "base/chars.h"
#include "base/log.h"
#include "format/cut/bson_length.h"
#include "format/cut/bson_walk.h"
#include "format/cut/delimiter.h"
#include "format/cut/ends.h"
#include "format/cut/split.h"
#include "format/types.h"
#include "format/values/blanks.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

enum { BSON_FIRST = 8 };

/* A line, or a record of several lines. */
typedef struct {
    const uint8_t *text;
    size_t length; /* without its end */
    bool ended;    /* its end is in the text */
} line_t;

/* The beginning of a file, which is being read. */
typedef struct {
    const schema_t *schema;
    const char *name; /* the file's */
    const uint8_t *first, *end;
    split_t *split;
    line_t line;     /* its first one, */
    uint64_t number; /* and the number of that, from 1 */
} sniff_t;

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

size_t dialect_print(const dialect_t *dialect, char *out, size_t room) {
    int used = snprintf(out, room, "delimiter=%02x columns=", (unsigned char)dialect->delimiter);
    for (size_t i = 0; i < dialect->columns && used > 0 && (size_t)used < room; i++) {
        const uint16_t field = dialect->field_of[i];
        const char *const comma = i ? "," : "";
        used += field == DIALECT_NO_FIELD ? snprintf(out + used, room - (size_t)used, "%s-", comma)
                                          : snprintf(out + used, room - (size_t)used, "%s%u", comma, field);
    }
    return used > 0 && (size_t)used < room ? (size_t)used : 0;
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
        const size_t length = strcspn(at, ", \n"), digits = strspn(at, "0123456789");
        const bool none = length == 1 && *at == '-';
        const size_t field = none ? DIALECT_NO_FIELD : strtoul(at, NULL, 10);
        if (dialect->columns == SCHEMA_MOST_FIELDS * 2 ||
            (!none && (!length || length > 4 || digits != length || field >= schema->field_count ||
                       dialect->column_of[field] != DIALECT_NO_FIELD)))
            return false;
        add_column(schema, dialect, field);
        at += length + (at[length] == ',');
    }
    set_hash(schema, dialect);
    return dialect->columns > 0 || schema->kind != RECORDS_DELIMITED;
}

/* ---- columns by their names ---- */

/* True if the text is this name of a column, as a file in the format's encoding spells it, with letters of ASCII in any case. */
static bool is_name(const schema_t *schema, const schema_text_t *name, const uint8_t *text, size_t length) {
    const encoding_t encoding = schema->encoding;
    if (name->length == length && (!length || (encoding_keeps_utf8(encoding) &&
                                               strncasecmp(name->text, (const char *)text, length) == 0)))
        return true;
    return encoding && length &&
           encoding_begins(encoding, (const uint8_t *)name->text, name->length, text, length, true) == length;
}

/* The field of the column of this name; DIALECT_NO_FIELD: the format does not know it. */
static size_t field_named(const schema_t *schema, const span_t *span) {
    const uint8_t *text = span->text;
    size_t length = span->length;
    blanks_trim(&text, &length);
    for (size_t i = 0; i < schema->field_count; i++) {
        const texts_t *names = &schema->fields[i].columns;
        for (size_t j = 0; j < names->count; j++)
            if (is_name(schema, &names->items[j], text, length))
                return i;
    }
    return DIALECT_NO_FIELD;
}

/* Takes the spans for names, and makes them the columns of a dialect. Returns how many the format knows. */
static size_t name_columns(const schema_t *schema, const split_t *split, dialect_t *dialect) {
    _Static_assert(SPLIT_MOST == SCHEMA_MOST_FIELDS * 2, "there is room for all columns of a header");
    size_t known = 0;
    clear_columns(dialect);
    for (size_t i = 0; i < split->count; i++) {
        add_column(schema, dialect, field_named(schema, &split->spans[i]));
        known += dialect->field_of[i] != DIALECT_NO_FIELD;
    }
    return known;
}

/* The first field that needs a column, and has none; NULL: there is no such field. */
static const field_t *missing_field(const schema_t *schema, const dialect_t *dialect) {
    for (size_t i = 0; i < schema->field_count; i++)
        if (dialect->column_of[i] == DIALECT_NO_FIELD && !schema->fields[i].optional)
            return &schema->fields[i];
    return NULL;
}

static bool begins_with_word(const schema_t *schema, const split_t *split) {
    const span_t *span = &split->spans[0];
    return words_find(&schema->header_words, schema->encoding, span->text, span->length) >= 0;
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

/* The next line that is neither blank nor a comment; false at the end of the text. whole: nothing follows the text. */
static bool next_line(const schema_t *schema, char delimiter, const uint8_t **at, const uint8_t *end,
                      bool whole, line_t *line) {
    while (*at < end) {
        const size_t left = (size_t)(end - *at), found = ends_find(schema, delimiter, *at, left, whole),
                     length = found ? found : left;
        const bool feed = found && (*at)[length - 1] == '\n',
                   carriage = length > feed && (*at)[length - feed - 1] == '\r';
        *line = (line_t){*at, length - feed - carriage, feed};
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
    line_t line;
    *begins = *ends = length;
    if (schema->kind == RECORDS_BSON) { /* which has no lines; its first bytes say all */
        *begins = 0;
        *ends = length < BSON_FIRST ? length : BSON_FIRST;
        return length >= BSON_FIRST || (whole && length);
    }
    for (size_t d = 0; d < count; d++) {
        const uint8_t *at = text + from;
        if (!next_line(schema, schema->delimiters[d], &at, text + length, whole, &line))
            return false;
        *begins = (size_t)(line.text - text);
        if (!line.ended)
            return false;
        most = (size_t)(at - text) > most ? (size_t)(at - text) : most;
    }
    *ends = most - 1;
    return true;
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

/* ---- sentences about a first line ---- */

enum { SHOWN = 120, SHOWN_ROOM = 4 * SHOWN + 4, NAMED = 12, NAME_SHOWN = 40, LIST_ROOM = 2400 };

/* The first characters of a text, none of which a terminal obeys; ... if it has more. */
static const char *show(const uint8_t *text, size_t length, size_t most, char out[SHOWN_ROOM]) {
    size_t shown = length < most ? length : most;
    for (int i = 0; i < 3 && shown < length && (text[shown] & 0xC0) == 0x80; i++)
        shown--; /* a character is not torn */
    escape_text(out, SHOWN_ROOM - 3, (const char *)text, shown);
    return shown < length ? strcat(out, "...") : out;
}

/* The names of the first columns. unknown: only those that the format does not know. Returns how many there are. */
static size_t list_columns(const split_t *split, const dialect_t *unknown, char out[LIST_ROOM]) {
    char shown[SHOWN_ROOM];
    size_t count = 0, used = 0;
    for (size_t i = 0; i < split->count; i++) {
        const span_t *span = &split->spans[i];
        if (unknown && unknown->field_of[i] != DIALECT_NO_FIELD)
            continue;
        if (count++ <= NAMED)
            used +=
                (size_t)snprintf(out + used, LIST_ROOM - used, "%s%s", count > 1 ? "," : "",
                                 count > NAMED ? "..." : show(span->text, span->length, NAME_SHOWN, shown));
    }
    return count;
}

/* ---- headers ---- */

/* Finds the header's columns by their names. False: it does not fit the format. warns: columns that the format does not know are
 * left out, with one line that names them. */
static bool read_header(sniff_t *sniff, bool warns, dialect_t *dialect, err_t *err) {
    const schema_t *schema = sniff->schema;
    const split_t *split = sniff->split;
    char shown[SHOWN_ROOM], names[LIST_ROOM];
    if (!split_record(sniff->split, schema, dialect->delimiter, sniff->line.text, sniff->line.length))
        return err_memory(err, sniff->line.length);
    if (split->too_many)
        return err_set(err, STATUS_INPUT,
                       "%s:%" PRIu64 ": the header has more than %d columns, which is too many", sniff->name,
                       sniff->number, SPLIT_MOST);
    name_columns(schema, split, dialect);
    for (size_t i = 0; i < split->count; i++) {
        const span_t *span = &split->spans[i];
        const uint16_t field = dialect->field_of[i];
        if (field != DIALECT_NO_FIELD && dialect->column_of[field] != i)
            return err_set(err, STATUS_INPUT, "%s:%" PRIu64 ":%u: the header names the column '%s' twice",
                           sniff->name, sniff->number, span->at + 1,
                           show(span->text, span->length, NAME_SHOWN, shown));
    }
    const field_t *const missing = missing_field(schema, dialect);
    const size_t count = list_columns(split, missing ? NULL : dialect, names);
    if (missing)
        return err_set(err, STATUS_INPUT, "%s:%" PRIu64 ": no column '%s' (has: %s)", sniff->name,
                       sniff->number, missing->columns.items[0].text, names);
    if (count && schema->guessed) /* no user has left a column out of it */
        return err_set(err, STATUS_INPUT, "%s:%" PRIu64 ": the guessed format has no column for %s",
                       sniff->name, sniff->number, names);
    if (count && warns)
        log_warn("%s:%" PRIu64 ": %zu column%s not known to the format %s and left out: %s", sniff->name,
                 sniff->number, count, count == 1 ? " is" : "s are", schema->name, names);
    return true;
}

/* True if the first line is the format's header_line, by whose order the columns are known. */
static bool is_header_line(const sniff_t *sniff, err_t *err) {
    char wanted[SHOWN_ROOM], has[SHOWN_ROOM];
    const schema_text_t *header = &sniff->schema->header_line;
    return words_find(&(texts_t){header, 1}, sniff->schema->encoding, sniff->line.text, sniff->line.length) ==
               0 ||
           err_set(err, STATUS_INPUT,
                   "%s:%" PRIu64 ": its first line is not the header of the format %s, by whose order the "
                   "columns are read: wanted %s, has %s",
                   sniff->name, sniff->number, sniff->schema->name,
                   show((const uint8_t *)header->text, header->length, SHOWN, wanted),
                   show(sniff->line.text, sniff->line.length, SHOWN, has));
}

enum { VALUE_MOST = 64, VALUE_SLACK = 8 /* which value_read reads */ };

/* True if the value is of its field's type. */
static bool is_of_type(const schema_t *schema, const field_t *field, const span_t *value) {
    uint8_t text[VALUE_MOST + VALUE_SLACK] = {0}, read[TYPES_VALUE], type;
    if (value->length > VALUE_MOST)
        return false;
    memcpy(text, value->text, value->length);
    return value_read(field, NULL, schema->encoding, text, value->length, &type, read) != NULL;
}

/* Where no file has a header. False: the first line seems to be one, since no value of it is of its column's type. A line with
 * another number of fields is rejected as a record. */
static bool is_no_header(sniff_t *sniff, const dialect_t *dialect, err_t *err) {
    const schema_t *schema = sniff->schema;
    size_t typed = 0, fitting = 0;
    char has[SHOWN_ROOM];
    if (!split_record(sniff->split, schema, dialect->delimiter, sniff->line.text, sniff->line.length))
        return err_memory(err, sniff->line.length);
    for (size_t i = 0; sniff->split->count == dialect->columns && i < dialect->columns; i++) {
        const span_t *value = &sniff->split->spans[i];
        const field_t *field = &schema->fields[dialect->field_of[i]];
        if (!value->length || field->type == TYPE_TEXT || field->type == TYPE_TRIMMED ||
            field->type == TYPE_BINARY || field->type == TYPE_JSON ||
            words_find(&field->nulls, schema->encoding, value->text, value->length) >= 0)
            continue;
        typed++;
        fitting += is_of_type(schema, field, value);
    }
    return !typed || fitting ||
           err_set(err, STATUS_INPUT,
                   "%s:%" PRIu64 ": its first line seems to be a header, and by the format %s no file has "
                   "one: no value in %s is of its column's type. Take that line away, or, if it is a record, "
                   "give a --format with header: no",
                   sniff->name, sniff->number, schema->name,
                   show(sniff->line.text, sniff->line.length, SHOWN, has));
}

/* Is the first line a header? Of several delimiters it has the one by which the format knows the most of its columns. False: out
 * of memory. */
static bool find_header(sniff_t *sniff, dialect_t *dialect) {
    const schema_t *schema = sniff->schema;
    const bool words = schema->header == HEADER_WORDS;
    size_t most = 0;
    dialect->delimiter = schema->delimiters[0];
    dialect->header = schema->header == HEADER_YES || schema->header == HEADER_LINE;
    for (size_t d = 0; (words || schema->header == HEADER_YES) && d < schema->delimiter_count; d++) {
        const char delimiter = schema->delimiters[d];
        const uint8_t *at = sniff->first;
        next_line(schema, delimiter, &at, sniff->end, true, &sniff->line);
        if (!split_record(sniff->split, schema, delimiter, sniff->line.text, sniff->line.length))
            return false;
        if (words && !begins_with_word(schema, sniff->split))
            continue;
        const size_t known =
            1 + (schema->delimiter_count > 1 ? name_columns(schema, sniff->split, dialect) : 0);
        dialect->header = true;
        dialect->delimiter = known > most ? delimiter : dialect->delimiter;
        most = known > most ? known : most;
    }
    return true;
}

/* What the first line says. False: it is a header that does not fit. */
static bool read_first_line(sniff_t *sniff, bool warns, dialect_t *dialect, err_t *err) {
    const schema_t *schema = sniff->schema;
    const uint8_t *at = sniff->first;
    if (!find_header(sniff, dialect))
        return err_memory(err, (size_t)(sniff->end - sniff->first));
    next_line(schema, dialect->delimiter, &at, sniff->end, true, &sniff->line);
    if (!dialect->header)
        return schema->header != HEADER_REFUSE || is_no_header(sniff, dialect, err);
    dialect->header_length = sniff->line.length;
    dialect->header_hash = XXH3_64bits(sniff->line.text, sniff->line.length);
    dialect->header_first = sniff->line.text[0];
    if (schema->header != HEADER_LINE)
        return read_header(sniff, warns, dialect, err);
    use_layout(schema, dialect, &schema->layouts[0]);
    return is_header_line(sniff, err);
}

/* Without a header: the delimiter and layout of the first record that has closed quotes and as many fields as a layout; of
 * several delimiters by which it has, the one of the most fields, since a delimiter that is nowhere in the text fits a layout
 * of one column. What the file grows by changes nothing. False: out of memory. */
static bool choose_layout(const sniff_t *sniff, dialect_t *dialect) {
    const schema_t *schema = sniff->schema;
    const layout_t *chosen = NULL;
    const uint8_t *at = sniff->first;
    line_t line;
    dialect->delimiter = schema->delimiters[0];
    for (int n = 0; !chosen && n < DIALECT_SAMPLE_LINES; n++) {
        const uint8_t *const begin = at;
        for (size_t d = schema->delimiter_count; d-- > 0;) {
            const char delimiter = schema->delimiters[d];
            at = begin;
            const bool any = next_line(schema, delimiter, &at, sniff->end, true, &line);
            if (any && !split_record(sniff->split, schema, delimiter, line.text, line.length))
                return false;
            for (size_t i = 0; any && split_is_sound(sniff->split) && i < schema->layout_count; i++) {
                const layout_t *layout = &schema->layouts[i];
                if (layout->count != sniff->split->count || (chosen && chosen->count > layout->count))
                    continue;
                chosen = layout;
                dialect->delimiter = delimiter;
            }
        }
    }
    use_layout(schema, dialect, chosen ? chosen : &schema->layouts[0]);
    return true;
}

/* ---- files ---- */

/* A file of another kind would be a reject on each of its lines. */
static bool check_json(const uint8_t *text, size_t length, const char *name, dialect_t *dialect, err_t *err) {
    const size_t at = json_span_begins(text, length);
    char shown[SHOWN_ROOM];
    dialect->array = at < length && text[at] == '[';
    return at == length || text[at] == '{' || text[at] == '[' ||
           err_set(err, STATUS_INPUT, "%s: is no JSON: it begins with %s, and not with { or [", name,
                   show(text + at, 1, 1, shown));
}

/* The sentence for what is no BSON where that is expected. Always false. */
static bool refuse_bson(const char *name, const uint8_t *text, size_t length, err_t *err) {
    char shown[16];
    for (size_t i = 0, used = 0; i < 5 && i < length; i++)
        used += (size_t)snprintf(shown + used, sizeof shown - used, i ? " %02X" : "%02X", text[i]);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: is no BSON: it begins with the bytes %s, and not with the length of a document, "
                   "%d to %d, and the type of its first element",
                   name, shown, BSON_LENGTH_LEAST, BSON_LENGTH_MOST);
}

/* Is it BSON where that is wanted, and nowhere else? Whether its documents are whole, its reader sees. */
static bool check_bson(const schema_t *schema, const uint8_t *text, size_t length, const char *name,
                       err_t *err) {
    if (schema->kind != RECORDS_BSON)
        return !bson_span_begins(text, length) ||
               err_set(err, STATUS_INPUT, "%.1000s: holds BSON documents: give --format bson, or none", name);
    const bool may_be = length < 4 || bson_length_may_be(bson_length(text));
    return (may_be && (length < 5 || !text[4] || bson_walk_knows(text[4]))) ||
           bson_span_begins_broken(text, length) || refuse_bson(name, text, length, err);
}

bool dialect_may_be_encoded(const schema_t *schema, const uint8_t *text, size_t length, bool utf16,
                            const char *name, err_t *err) {
    return encoding_keeps_utf8(schema->encoding) || (!utf16 && !lines_bom(text, length)) ||
           err_set(err, STATUS_INPUT,
                   "%s:1: its text is %s, and by the format %s it is %s; give a --format without 'encoding'",
                   name, utf16 ? "UTF-16" : "UTF-8, as its byte-order mark says", schema->name,
                   encoding_names[schema->encoding]);
}

/* Without a first line: can its columns be known, or does it need none, as an empty file does? */
static bool check_missing_line(const sniff_t *sniff, const dialect_head_t *head, err_t *err) {
    const schema_t *schema = sniff->schema;
    const uint8_t *at = sniff->first;
    line_t begun;
    const bool names = schema->header == HEADER_YES || schema->header == HEADER_LINE,
               all = !head->more && !(schema->skip && names && ends_last_byte(head->text, head->length)),
               any = next_line(schema, schema->delimiters[0], &at, sniff->end + head->begun, true, &begun),
               one_way = schema->delimiter_count == 1 && schema->layout_count == 1;
    return all ||
           (head->more && (sniff->first < sniff->end || !schema->skip) && !header_may_be(schema->header) &&
            (any || one_way)) ||
           err_set(err, STATUS_INPUT,
                   "%s:1: its columns are not known, because its first line that is neither empty, nor a "
                   "comment, nor skipped by the format %s is not there, does not begin within 256 KiB, or is "
                   "longer than 16 MiB: take lines before it away, shorten it, or give a --format (skip)",
                   sniff->name, schema->name);
}

/* Without zeros in its spans: they are many, and a small file has few bytes. */
static split_t *new_split(void) {
    split_t *split = malloc(sizeof *split);
    if (split)
        memset((uint8_t *)split + sizeof split->spans, 0, sizeof *split - sizeof split->spans);
    return split;
}

static bool sniff_delimited(const schema_t *schema, const dialect_head_t *head, const char *name, bool warns,
                            dialect_t *dialect, err_t *err) {
    const uint8_t *at = head->text + dialect_begin(schema, head->text, head->length);
    sniff_t sniff = {.schema = schema, .name = name, .first = at, .end = head->text + head->length};
    dialect->delimiter = schema->delimiters[0];
    use_layout(schema, dialect, &schema->layouts[0]);
    if (!next_line(schema, dialect->delimiter, &at, sniff.end, true, &sniff.line))
        return check_missing_line(&sniff, head, err);
    sniff.number = 1 + lines_count(head->text, (size_t)(sniff.line.text - head->text));
    if (!(sniff.split = new_split()))
        return err_memory(err, sizeof *sniff.split);
    const bool ok = read_first_line(&sniff, warns, dialect, err) &&
                    (dialect->header || choose_layout(&sniff, dialect) || err_memory(err, head->length));
    split_free(sniff.split);
    free(sniff.split);
    return ok;
}

static bool sniff(const schema_t *schema, const dialect_head_t *head, const char *name, bool warns,
                  dialect_t *dialect, err_t *err) {
    const uint8_t *text = head->text;
    const size_t length = head->length + (schema_any_fields(schema) ? head->begun : 0);
    memset(dialect, 0, sizeof *dialect);
    clear_columns(dialect);
    const bool ok =
        dialect_may_be_encoded(schema, text, length, head->utf16, name, err) &&
        check_bson(schema, text, length, name, err) &&
        (schema->kind != RECORDS_JSON || check_json(text, length, name, dialect, err)) &&
        (schema->kind != RECORDS_DELIMITED || sniff_delimited(schema, head, name, warns, dialect, err));
    set_hash(schema, dialect);
    return ok;
}

bool dialect_sniff(const schema_t *schema, const uint8_t *text, size_t length, const char *name,
                   dialect_t *dialect, err_t *err) {
    return sniff(schema, &(dialect_head_t){.text = text, .length = length}, name, false, dialect, err);
}

bool dialect_sniff_head(const schema_t *schema, const dialect_head_t *head, const char *name,
                        dialect_t *dialect, err_t *err) {
    return sniff(schema, head, name, true, dialect, err);
}

bool dialect_may_refuse(const schema_t *schema) {
    return schema_any_fields(schema) ||
           (schema->kind == RECORDS_DELIMITED &&
            (schema->header != HEADER_NO || !encoding_keeps_utf8(schema->encoding)));
}

/* ---- what a later line is ---- */

/* True if the line's first field names a column, or must be split to find out. */
static bool may_be_named(const schema_t *schema, char delimiter, const uint8_t *line, size_t length) {
    const uint8_t *end = delimiter_find(schema, delimiter, line, length, 0);
    span_t first = {.text = line, .length = (uint32_t)(end ? (size_t)(end - line) : length)};
    return (schema->quote && memchr(line, schema->quote, first.length)) || schema_is_wide(schema) ||
           field_named(schema, &first) != DIALECT_NO_FIELD;
}

/* Splits the line as a header of the format. *is: it begins as one does. Where the first line is always a header, the file's
 * delimiter is known, and a mere record may hold the name of a column. False: out of memory. */
static bool split_header(const schema_t *schema, char *delimiter, split_t *split, const uint8_t *line,
                         size_t length, bool *is) {
    *is = false;
    if (schema->header == HEADER_YES) {
        if (!may_be_named(schema, *delimiter, line, length))
            return true;
        const bool ok = split_record(split, schema, *delimiter, line, length);
        *is = split->count > 1 && field_named(schema, &split->spans[0]) != DIALECT_NO_FIELD;
        return ok;
    }
    for (size_t d = 0; !*is && d < schema->delimiter_count; d++) {
        if (!split_record(split, schema, schema->delimiters[d], line, length))
            return false;
        *is = begins_with_word(schema, split);
        *delimiter = schema->delimiters[d];
    }
    return true;
}

dialect_line_t dialect_line(const schema_t *schema, const dialect_t *dialect, split_t *split,
                            const uint8_t *line, size_t length) {
    const bool yes = schema->header == HEADER_YES;
    char delimiter = dialect->delimiter;
    bool is;
    dialect_t named;
    if (!header_may_be(schema->header) ||
        (yes && dialect->columns < 2)) /* a value may be its only column's name */
        return DIALECT_RECORD;
    const size_t bom = lines_bom(line, length); /* of a file that stands after another one in this one */
    line += bom;
    length -= bom;
    if (dialect->header_length && length == dialect->header_length &&
        XXH3_64bits(line, length) == dialect->header_hash)
        return DIALECT_HEADER;
    if (schema->header == HEADER_LINE)
        return DIALECT_RECORD;
    if (!split_header(schema, &delimiter, split, line, length, &is))
        return DIALECT_MEMORY;
    const size_t known = is ? name_columns(schema, split, &named) : 0;
    if (!is || (yes && known < 2))
        return DIALECT_RECORD;
    if (!split->too_many && named.columns == dialect->columns &&
        memcmp(named.field_of, dialect->field_of, sizeof named.field_of) == 0 &&
        (delimiter == dialect->delimiter || named.columns == 1))
        return DIALECT_HEADER;
    if (yes)
        return missing_field(schema, &named) ? DIALECT_RECORD : DIALECT_OTHER_HEADER;
    return known > 1 ? DIALECT_OTHER_HEADER : DIALECT_ODD_LINE;
}

/* ---- a shelf of dialects ---- */

typedef struct dialect_kept {
    struct dialect_kept *next;
    dialect_t dialect;
} kept_t;

void dialect_shelf_free(dialect_shelf_t *shelf) {
    for (kept_t *kept; (kept = shelf->first); free(kept))
        shelf->first = kept->next;
}

const dialect_t *dialect_shelf_keep(dialect_shelf_t *shelf, const dialect_t *dialect) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all shelves, which are seldom used */
    pthread_mutex_lock(&lock);
    kept_t *kept = shelf->first;
    while (kept && memcmp(dialect, &kept->dialect, sizeof *dialect) !=
                       0) // NOLINT(bugprone-suspicious-memory-comparison)
        kept = kept->next;
    if (!kept && (kept = malloc(sizeof *kept))) {
        memcpy(&kept->dialect, dialect, sizeof *dialect); /* padding too: it is zero in all of them */
        kept->next = shelf->first;
        shelf->first = kept;
    }
    pthread_mutex_unlock(&lock);
    return kept ? &kept->dialect : NULL;
}
