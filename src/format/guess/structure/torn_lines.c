#include "format/guess/structure/torn_lines.h"
#include "format/guess/structure/guess_study.h"

#include <string.h>

static bool is_typed(const span_t *span) {
    return span->length && guess_is_typed(span->text, span->length);
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
    bool typed[SCHEMA_MOST_FIELDS]; /* in all lines so far */
    size_t count;
    bool torn;
} lines_t;

/* opened: the columns before it are no part of the text in quotes. */
static void add_line(lines_t *lines, const split_t *split, size_t columns, size_t opened) {
    lines->torn &= split->count == columns;
    for (size_t i = 0; lines->torn && i < columns; i++) {
        const bool typed = is_typed(&split->spans[i]);
        lines->torn &= i >= opened || !lines->count || !lines->typed[i] || typed;
        lines->typed[i] = typed && (lines->typed[i] || !lines->count);
    }
    lines->count++;
}

torn_lines_t torn_lines(split_t *split, const schema_t *schema, char delimiter, size_t columns,
                        const uint8_t *record, size_t length, uint32_t *at) {
    static _Thread_local lines_t lines;
    length -= length && record[length - 1] == '\r';
    const uint8_t *line = record, *const end = record + length, *feed = memchr(record, '\n', length);
    if (columns < 2 || columns > SCHEMA_MOST_FIELDS)
        return TORN_NOT;
    if (!split_record(split, schema, delimiter, record, length))
        return TORN_MEMORY;
    const size_t opened = opened_column(split, (size_t)(feed - record));
    *at = split->spans[opened].at;
    lines.count = 0;
    lines.torn = split_is_sound(split) && split->count == columns;
    schema_t bare = *schema;
    bare.quote = 0;
    bare.multiline = false;
    while (lines.torn && feed) {
        feed = memchr(line, '\n', (size_t)(end - line));
        size_t left = (size_t)((feed ? feed : end) - line);
        left -= left && line[left - 1] == '\r';
        if (!split_record(split, &bare, delimiter, line, left))
            return TORN_MEMORY;
        add_line(&lines, split, columns, opened);
        line = feed ? feed + 1 : end;
    }
    bool typed = false;
    for (size_t i = 0; lines.torn && i < columns; i++)
        typed |= lines.typed[i];
    return !lines.torn                             ? TORN_NOT
           : delimiter == '\t' || delimiter == '|' ? TORN_SURELY
           : typed                                 ? TORN_MAYBE
                                                   : TORN_NOT;
}
