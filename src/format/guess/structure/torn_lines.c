#include "format/guess/structure/torn_lines.h"
#include "format/guess/structure/guess_study.h"

#include <string.h>

enum {
    LONGEST_NUMBER = 40,
    SELDOM = 5, /* one in so many lines may have another number of fields */
};

/* Digits, and no letters but those of an exponent: 00012, +5, 1e3, 10:15, 12 %. */
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

/* The column that the first quote opens which goes on in another line: all fields before it end in the first line. */
static size_t opened_column(const split_t *split, size_t first_line) {
    size_t column = 0;
    while (column + 1 < split->count &&
           split->spans[column].at + split->spans[column].raw_length <= first_line)
        column++;
    return column;
}

typedef struct {
    size_t typed[SCHEMA_MOST_FIELDS],
        texts[SCHEMA_MOST_FIELDS]; /* values that are, or are not; nothing is neither */
    size_t count, odd;             /* those with another number of fields */
    bool prose;                    /* a blank stands beside a delimiter, as behind the commas of a sentence */
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

static bool too_many_odd(const lines_t *lines) {
    return lines->odd > 1 + lines->count / SELDOM;
}

/* A column holds a number or a date in all lines that have something in it. Of two columns, in more than one: the first line
 * of a text has what stands before it. */
static bool has_typed(const lines_t *lines, size_t columns) {
    for (size_t i = 0; i < columns; i++)
        if (lines->typed[i] > (columns == 2) && !lines->texts[i])
            return true;
    return false;
}

/* One line for itself, as a record: with the quotes that enclose fields in it, or all quotes as ordinary characters. */
typedef struct {
    schema_t quoted, bare;
} alone_t;

static void make_alone(alone_t *alone, const schema_t *schema) {
    alone->quoted = alone->bare = *schema;
    alone->quoted.multiline = alone->bare.multiline = false;
    alone->bare.quote = 0;
}

static bool has_mixed(const lines_t *lines, size_t columns) {
    for (size_t i = 0; i < columns; i++)
        if (lines->typed[i] && lines->texts[i])
            return true;
    return false;
}

/* Among texts only: no sentence has as many commas in each of its lines, and no blank behind them. One comma in each of two
 * lines is little: there a number above a text says that they are not alike. */
static bool are_rows_of_texts(const lines_t *lines, size_t columns) {
    const bool few = columns == 2 && lines->count == 2;
    return !lines->prose && !lines->odd && !(few && has_mixed(lines, columns));
}

/* Adds one line; *odd: it has not as many fields as a record. False: out of memory. */
static bool look_at_line(lines_t *lines, split_t *split, const alone_t *alone, char delimiter, size_t columns,
                         const uint8_t *line, size_t length, bool *odd) {
    if (!split_record(split, &alone->quoted, delimiter, line, length))
        return false;
    *odd = !split_is_sound(split) || !has_columns(split, &alone->quoted, columns);
    if (*odd) {
        if (!split_record(split, &alone->bare, delimiter, line, length))
            return false;
        *odd = !has_columns(split, &alone->bare, columns);
    }
    lines->odd += *odd;
    if (!*odd)
        add_line(lines, split, columns);
    return true;
}

torn_lines_t torn_lines(split_t *split, const schema_t *schema, char delimiter, size_t columns,
                        const uint8_t *record, size_t length, torn_field_t *field) {
    static _Thread_local lines_t lines;
    alone_t alone;
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
    make_alone(&alone, schema);
    bool fits = split_is_sound(split) && has_columns(split, schema, columns);
    while (fits && feed) {
        feed = memchr(line, '\n', (size_t)(end - line));
        size_t left = (size_t)((feed ? feed : end) - line);
        left -= left && line[left - 1] == '\r';
        const bool none = !left || (lines.count && schema_is_comment(schema, *line)); /* no record */
        bool odd = false;
        if (!none && !look_at_line(&lines, split, &alone, delimiter, columns, line, left, &odd))
            return TORN_MEMORY;
        fits = !odd || (lines.count && feed && lines.odd <= lines.count + SELDOM);
        line = feed ? feed + 1 : end;
    }
    return !fits || lines.count < 2 || too_many_odd(&lines)                   ? TORN_NOT
           : delimiter == '\t' || delimiter == '|'                            ? TORN_SURELY
           : has_typed(&lines, columns) || are_rows_of_texts(&lines, columns) ? TORN_MAYBE
                                                                              : TORN_NOT;
}
