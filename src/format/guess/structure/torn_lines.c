#include "format/guess/structure/torn_lines.h"
#include "format/guess/structure/guess_study.h"

#include <string.h>

enum {
    LONGEST_NUMBER = 40,
    SELDOM = 5, /* one line in this number may have another number of fields */
};

/* True for digits without letters, except those of an exponent: 00012, +5, 1e3, 10:15, 12 %. */
static bool is_of_digits(const uint8_t *text, size_t length) {
    size_t digits = 0;
    for (size_t i = 0; i < length; i++) {
        const uint8_t letter = text[i] | 0x20;
        if (letter >= 'a' && letter <= 'z' && !(letter == 'e' && digits))
            return false;
        digits += text[i] >= '0' && text[i] <= '9';
    }
    return digits > 0 && length <= LONGEST_NUMBER;
}

static value_is_t classify(const span_t *span) {
    const value_is_t is = guess_classify(span->text, span->length);
    return is == IS_TEXT && is_of_digits(span->text, span->length) ? IS_TYPED : is;
}

/* The first column whose field goes on in another line. */
static size_t opened_column(const split_t *split, size_t first_line) {
    size_t column = 0;
    while (column + 1 < split->count &&
           split->spans[column].at + split->spans[column].raw_length <= first_line)
        column++;
    return column;
}

typedef struct {
    size_t typed[SCHEMA_MOST_FIELDS],
        texts[SCHEMA_MOST_FIELDS]; /* values of a type, and texts; null values are neither */
    size_t count, odd;             /* those with another number of fields */
    bool prose;                    /* a blank stands next to a delimiter, as after the commas of a sentence */
} lines_t;

static bool has_columns(const split_t *split, const schema_t *schema, size_t columns) {
    return split->count == columns ||
           (schema->surplus_field >= 0 && split->count > columns && !split->too_many);
}

static bool is_blank_at(const span_t *span, size_t at) {
    return at < span->length && span->text[at] == ' ';
}

static void add_line(lines_t *lines, const split_t *split, size_t columns) {
    for (size_t i = 0; i < columns; i++) {
        const span_t *span = &split->spans[i];
        lines->prose |=
            (i && is_blank_at(span, 0)) || (i + 1 < columns && is_blank_at(span, span->length - 1));
        if (!lines->count)
            lines->typed[i] = lines->texts[i] = 0;
        const value_is_t is = classify(&split->spans[i]);
        lines->typed[i] += is == IS_TYPED;
        lines->texts[i] += is == IS_TEXT;
    }
    lines->count++;
}

/* True if the lines look like rows of a table. Either a column holds only numbers and dates; with two columns in more than one
 * line, since the first line includes the fields before the text. Or the lines look like no sentence: each has the same number
 * of commas, and no blank after them. One comma in each of two lines is weak evidence: there a number above a text speaks
 * against rows. */
static bool are_rows(const lines_t *lines, size_t columns) {
    bool mixed = false;
    for (size_t i = 0; i < columns; i++) {
        if (lines->typed[i] > (columns == 2) && !lines->texts[i])
            return true;
        mixed |= lines->typed[i] && lines->texts[i];
    }
    return !lines->prose && !lines->odd && !(columns == 2 && lines->count == 2 && mixed);
}

/* Adds one line. *odd: it has another number of fields than a record, both with quotes and with quotes as ordinary characters.
 * False: out of memory. */
static bool look_at_line(lines_t *lines, split_t *split, const schema_t alone[2], char delimiter,
                         size_t columns, const uint8_t *line, size_t length, bool *odd) {
    *odd = true;
    for (size_t i = 0; *odd && i < 2; i++) {
        if (!split_record(split, &alone[i], delimiter, line, length))
            return false;
        *odd = !split_is_sound(split) || !has_columns(split, &alone[i], columns);
    }
    lines->odd += *odd;
    if (!*odd)
        add_line(lines, split, columns);
    return true;
}

torn_lines_t torn_lines(split_t *split, const schema_t *schema, char delimiter, size_t columns,
                        const uint8_t *record, size_t length, torn_field_t *field) {
    static _Thread_local lines_t lines;
    schema_t alone[2] = {*schema, *schema};
    length -= length && record[length - 1] == '\r';
    const uint8_t *line = record, *const end = record + length, *feed = memchr(record, '\n', length);
    if (columns < 2 || columns > SCHEMA_MOST_FIELDS)
        return TORN_NOT;
    if (!split_record(split, schema, delimiter, record, length))
        return TORN_MEMORY;
    field->column = opened_column(split, (size_t)(feed - record));
    field->at = split->spans[field->column].at;
    lines.count = lines.odd = 0;
    lines.prose = false;
    alone[0].multiline = alone[1].multiline = false;
    alone[1].quote = 0;
    bool fits = split_is_sound(split) && has_columns(split, schema, columns);
    while (fits && feed) {
        feed = memchr(line, '\n', (size_t)(end - line));
        size_t left = (size_t)((feed ? feed : end) - line);
        left -= left && line[left - 1] == '\r';
        const bool none = !left || (lines.count && schema_is_comment(schema, *line)); /* no record */
        bool odd = false;
        if (!none && !look_at_line(&lines, split, alone, delimiter, columns, line, left, &odd))
            return TORN_MEMORY;
        fits = !odd || (lines.count && feed && lines.odd <= lines.count + SELDOM);
        line = feed ? feed + 1 : end;
    }
    if (!fits || lines.count < 2 || lines.odd > 1 + lines.count / SELDOM)
        return TORN_NOT;
    return delimiter == '\t' || delimiter == '|' ? TORN_SURELY
           : are_rows(&lines, columns)           ? TORN_MAYBE
                                                 : TORN_NOT;
}
