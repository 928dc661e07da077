/* A header's columns by their names, the line that a header has to be, and the sentences about what does not fit. */
#include "base/chars.h"
#include "base/log.h"
#include "format/record/dialect_inner.h"
#include "format/schema/schema.h"
#include "format/types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS_SHOWN = 13 };

/* A header's column as a person reads it: its first characters, none of which a terminal obeys. */
static const char *show(const span_t *span, size_t most, char *out, size_t room) {
    size_t length = span->length < most ? span->length : most;
    for (int i = 0; i < 3 && length < span->length && (span->text[length] & 0xC0) == 0x80; i++)
        length--; /* a character is not torn */
    return escape_text(out, room, (const char *)span->text, length);
}

enum { UNKNOWN_NAMED = 5, UNKNOWN_SHOWN = 80, UNKNOWN_ROOM = UNKNOWN_NAMED * (4 * UNKNOWN_SHOWN + 5) + 8 };

/* How many columns the format does not know, and the names of the first few. */
static size_t list_unknown(const split_t *split, const dialect_t *dialect, char names[UNKNOWN_ROOM]) {
    char *end = names, shown[4 * UNKNOWN_SHOWN + 1];
    size_t unknown = 0;
    *end = '\0';
    for (size_t i = 0; i < split->count; i++) {
        if (dialect->field_of[i] != DIALECT_NO_FIELD)
            continue;
        if (unknown++ < UNKNOWN_NAMED)
            end += sprintf(end, "%s'%s'", end > names ? ", " : "",
                           show(&split->spans[i], UNKNOWN_SHOWN, shown, sizeof shown));
    }
    if (unknown > UNKNOWN_NAMED)
        strcpy(end, ", ...");
    return unknown;
}

void dialect_warn_unknown(const schema_t *schema, const split_t *split, const dialect_t *dialect,
                          const char *name, uint64_t number) {
    char names[UNKNOWN_ROOM];
    const size_t unknown = list_unknown(split, dialect, names);
    if (unknown)
        log_warn("%s:%" PRIu64 ": %zu column%s not known to the format %s and left out: %s", name, number,
                 unknown, unknown == 1 ? " is" : "s are", schema->name, names);
}

/* Nobody has left a column out of a format that was guessed: there its file does not fit. */
static bool knows_all(const schema_t *schema, const split_t *split, const dialect_t *dialect,
                      const char *name, uint64_t number, err_t *err) {
    char names[UNKNOWN_ROOM];
    return !schema->guessed || !list_unknown(split, dialect, names) ||
           err_set(err, STATUS_INPUT, "%s:%" PRIu64 ": the guessed format has no column for %s", name, number,
                   names);
}

/* The header's columns, the first few, as a person reads them. */
static void list_columns(const split_t *split, char *out, size_t room) {
    enum { SHOWN = 40 };
    char shown[4 * SHOWN + 1];
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < split->count && i < COLUMNS_SHOWN; i++) {
        const span_t *span = &split->spans[i];
        const int wrote = i + 1 == COLUMNS_SHOWN ? snprintf(out + used, room - used, ",...")
                                                 : snprintf(out + used, room - used, "%s%s%s", i ? "," : "",
                                                            show(span, SHOWN, shown, sizeof shown),
                                                            span->length > SHOWN ? "..." : "");
        used += wrote > 0 && (size_t)wrote < room - used ? (size_t)wrote : 0;
    }
}

/* All of the line is one column, and there is something in it that often lies between columns. */
static bool looks_undivided(const split_t *split) {
    const span_t *span = &split->spans[0];
    for (const char *at = ",;|\t"; split->count == 1 && *at; at++)
        if (memchr(span->text, *at, span->length))
            return true;
    return false;
}

static bool misses_column(const split_t *split, const field_t *field, const char *name, uint64_t number,
                          err_t *err) {
    char columns[400];
    list_columns(split, columns, sizeof columns);
    return err_set(err, STATUS_INPUT, "%s:%" PRIu64 ": no column '%s' (has: %s%s)", name, number,
                   field->columns.items[0].text, columns,
                   looks_undivided(split) ? " - another delimiter?" : "");
}

/* Of what is no header: where CR alone ends the lines, the whole file is one. */
static bool has_no_cr(const dialect_text_t *line, const char *name, err_t *err) {
    return !memchr(line->text, '\r', line->length) ||
           err_set(err, STATUS_INPUT,
                   "%s:%" PRIu64
                   ": the header has a CR (byte 0d) within it, but only LF and CR LF end a line here; make "
                   "each CR alone an LF first (tr '\\r' '\\n'), or pipe that in and name the input '-'",
                   name, line->number);
}

bool dialect_read_header(const schema_t *schema, split_t *split, const dialect_text_t *line, const char *name,
                         dialect_t *dialect, err_t *err) {
    if (!split_record(split, schema, dialect->delimiter, line->text, line->length))
        return err_memory(err, line->length);
    _Static_assert(SPLIT_MOST >= SCHEMA_MOST_FIELDS * 2, "all columns of a header are found");
    if (split->too_many || split->count > SCHEMA_MOST_FIELDS * 2)
        return has_no_cr(line, name, err) &&
               err_set(err, STATUS_INPUT,
                       "%s:%" PRIu64 ": the header has more than %d columns, which is too many", name,
                       line->number, SCHEMA_MOST_FIELDS * 2);
    dialect_clear_columns(dialect);
    dialect->columns = (uint16_t)split->count;
    for (size_t i = 0; i < split->count; i++) {
        const span_t *span = &split->spans[i];
        int field = dialect_field_of_column(schema, span);
        if (field < 0)
            continue;
        char shown[256];
        if (dialect->column_of[field] != DIALECT_NO_FIELD)
            return err_set(err, STATUS_INPUT, "%s:%" PRIu64 ":%u: the header names the column '%s' twice",
                           name, line->number, span->at + 1, show(span, 80, shown, sizeof shown));
        dialect_set_column(schema, dialect, i, (size_t)field);
    }
    for (size_t i = 0; i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i];
        if (dialect->column_of[i] == DIALECT_NO_FIELD && !field->optional)
            return has_no_cr(line, name, err) && misses_column(split, field, name, line->number, err);
    }
    return knows_all(schema, split, dialect, name, line->number, err);
}

/* ---- the columns by their place ---- */

enum { LINE_SHOWN = 120 };

/* The line's first characters, which end in ... if there are more. */
static const char *show_line(const dialect_text_t *line, char *out, size_t room) {
    const size_t most = line->length < LINE_SHOWN + 8 ? line->length : LINE_SHOWN + 8;
    show(&(const span_t){.text = line->text, .length = (uint32_t)most}, LINE_SHOWN, out, room - 3);
    return line->length > LINE_SHOWN ? strcat(out, "...") : out;
}

bool dialect_is_header_line(const schema_t *schema, const dialect_text_t *line, const char *name,
                            err_t *err) {
    char wanted[4 * LINE_SHOWN + 8], has[4 * LINE_SHOWN + 8];
    const schema_text_t *header = &schema->header_line;
    if (dialect_is_word(schema, header, line->text, line->length, false))
        return true;
    const dialect_text_t other = {(const uint8_t *)header->text, header->length, 0};
    return err_set(err, STATUS_INPUT,
                   "%s:%" PRIu64 ": its first line is not the header of the format %s, by whose order the "
                   "columns are read: wanted %s, has %s",
                   name, line->number, schema->name, show_line(&other, wanted, sizeof wanted),
                   show_line(line, has, sizeof has));
}

enum { VALUE_MOST = 64, VALUE_SLACK = 8 /* which value_read reads */ };

/* Is the value of the field's type, however it is written? */
static bool is_of_type(const schema_t *schema, const field_t *field, const span_t *value) {
    uint8_t text[VALUE_MOST + VALUE_SLACK] = {0}, read[TYPES_VALUE], type;
    field_t loose = *field;
    size_t length = value->length;
    while (length > VALUE_MOST && value->text[length - 1] == ' ')
        length--;
    if (length > VALUE_MOST)
        return false;
    memcpy(text, value->text, length);
    loose.exact = false;
    return value_read(&loose, NULL, schema->encoding, text, length, &type, read) != NULL;
}

static bool has_type(const field_t *field) {
    return field->type != TYPE_TEXT && field->type != TYPE_TRIMMED && field->type != TYPE_BINARY &&
           field->type != TYPE_JSON && !field->array.length;
}

bool dialect_is_no_header(const schema_t *schema, split_t *split, const dialect_text_t *line,
                          const char *name, const dialect_t *dialect, err_t *err) {
    size_t typed = 0, fitting = 0;
    if (!split_record(split, schema, dialect->delimiter, line->text, line->length))
        return err_memory(err, line->length);
    if (split->count != dialect->columns)
        return true; /* as a record it will be rejected, and named */
    for (size_t i = 0; i < split->count; i++) {
        const span_t *value = &split->spans[i];
        if (dialect->field_of[i] == DIALECT_NO_FIELD || !value->length)
            continue;
        const field_t *field = &schema->fields[dialect->field_of[i]];
        if (!has_type(field) || words_find(&field->nulls, schema->encoding, value->text, value->length) >= 0)
            continue;
        typed++;
        fitting += is_of_type(schema, field, value);
    }
    char has[4 * LINE_SHOWN + 8];
    return !typed || fitting ||
           err_set(
               err, STATUS_INPUT,
               "%s:%" PRIu64 ": its first line seems to be a header, and by the format %s no file has one: "
               "no value in %s is of its column's type. Take that line away, or, if it is a record, give a "
               "--format with header: no",
               name, line->number, schema->name, show_line(line, has, sizeof has));
}
