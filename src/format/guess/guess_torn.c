/* Text that knows no quotes, as many exports of tables divided by tabs, and has some all the same ("Rome, and lines later
 * Brave"): read with quotes, whole records vanish in a field, and all seems well. Texts of several lines may look like
 * that, too. But then a quote stands nowhere else: who encloses texts encloses those that hold a quote. And a text seldom
 * has tabs in each of its lines, as many as the columns take. */
#include "format/guess/guess_inner.h"
#include "format/guess/structure/guess_study.h"

#include <inttypes.h>
#include <string.h>

static bool is_typed(const span_t *span) {
    return span->length && guess_is_typed(span->text, span->length);
}

/* Without quotes. */
static bool cut_line(guess_t *guess, const schema_t *schema, const uint8_t *text, size_t length, err_t *err) {
    length -= length && text[length - 1] == '\r';
    return split_record(guess->split, schema, guess->structure.way.delimiter, text, length) ||
           err_memory(err, length);
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
    size_t lines;
    bool torn;
} lines_t;

/* opened: the columns before it are no part of the text in quotes. */
static void add_line(lines_t *lines, const split_t *split, size_t columns, size_t opened) {
    lines->torn &= split->count == columns;
    for (size_t i = 0; lines->torn && i < columns; i++) {
        const bool typed = is_typed(&split->spans[i]);
        lines->torn &= i >= opened || !lines->lines || !lines->typed[i] || typed;
        lines->typed[i] = typed && (lines->typed[i] || !lines->lines);
    }
    lines->lines++;
}

/* Do the lines of the record look like records? */
static bool look_at_lines(guess_t *guess, const guess_line_t *line, bool *torn, err_t *err) {
    static _Thread_local lines_t lines;
    const uint8_t *at = line->text, *const end = line->text + line->length,
                  *feed = memchr(at, '\n', line->length);
    way_t way = guess->structure.way;
    schema_t schema;
    if (!cut_line(guess, guess->schema, at, line->length, err))
        return false;
    const size_t columns = guess->structure.columns,
                 opened = opened_column(guess->split, (size_t)(feed - at));
    way.quote = 0;
    guess_schema(&schema, &way);
    lines.lines = 0;
    lines.torn = split_is_sound(guess->split) && guess->split->count == columns;
    while (lines.torn && feed) {
        feed = memchr(at, '\n', (size_t)(end - at));
        const uint8_t *const stop = feed ? feed : end;
        if (!cut_line(guess, &schema, at, (size_t)(stop - at), err))
            return false;
        add_line(&lines, guess->split, columns, opened);
        at = stop + 1;
    }
    const bool seldom = way.delimiter == '\t' || way.delimiter == '|'; /* a text has these */
    bool typed = false;
    for (size_t i = 0; lines.torn && i < columns; i++)
        typed |= lines.typed[i];
    *torn = lines.torn && (seldom || typed);
    guess->torn.sure |= *torn && seldom;
    return true;
}

bool guess_torn_look(guess_t *guess, const guess_line_t *line, err_t *err) {
    bool is_torn;
    if (guess->structure.columns < 2)
        return true;
    if (!look_at_lines(guess, line, &is_torn, err))
        return false;
    guess->torn.torn += is_torn;
    return true;
}

void guess_torn_count(guess_t *guess) {
    const char quote = guess->structure.way.quote;
    for (size_t i = 0; i < guess->split->count; i++) {
        const span_t *span = &guess->split->spans[i];
        guess->torn.loose += span->length && span->length == span->raw_length &&
                             memchr(span->text, quote, span->length) != NULL;
    }
}

bool guess_find_torn(const guess_t *guess, err_t *err) {
    const guess_torn_t *torn = &guess->torn;
    return !torn->torn || !(torn->loose || torn->sure) ||
           err_set(err, STATUS_INPUT,
                   "%.1000s: some of its quotes are ordinary characters%s, %" PRIu64
                   " of its records go over several lines, each of which looks like a record itself. Give "
                   "--format with quote: none, or with quote: '%c' if they do",
                   guess->name, torn->loose ? "; if others enclose texts" : ", or, if they enclose texts",
                   torn->torn, guess->structure.way.quote);
}
