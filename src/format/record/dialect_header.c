/* A header's columns by their names, and the sentences about those that are missing or not known. */
#include "base/chars/escape.h"
#include "base/log.h"
#include "format/record/dialect_inner.h"

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
    if (split->count > SCHEMA_MOST_FIELDS * 2)
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
