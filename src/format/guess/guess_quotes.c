/* Whether quotes are ordinary characters, and how quotes in quotes are escaped. guess_find_structure decides by the
 * beginning of a text. Then each record of the sample is checked once (guess_quotes_look, and guess_escapes_look if it holds
 * a backslash). At the end guess_find_quotes asks, or keeps the way. It asks for these reasons:
 *
 *     torn       each line of a record of several lines looks like a record itself (torn_lines). The record is a reject.
 *                The guess asks if no other value of the column is in quotes, if tabs or | divide, or if a value without
 *                quotes holds a quote (a program that encloses texts encloses those that hold one)
 *     needless   some texts are in quotes for no reason, and neither commas nor semicolons divide. Programs that write these
 *                two put texts into quotes where they have to; with another sign, or none, many leave a quote as it is
 *     odd        most records have something after the quote that ends a text
 *     blank      a text in quotes stands after a blank, where a quote is an ordinary character */
#include "format/cut/delimiter.h"
#include "format/guess/guess_inner.h"
#include "format/guess/guess_options.h"
#include "format/guess/structure/torn_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* True if the text has a sign that divides other files: some programs put such texts into quotes, too. */
static bool has_sign(const span_t *span) {
    for (size_t i = 0; i < span->length; i++)
        if (strchr(",;|\t", span->text[i]) && span->text[i])
            return true;
    return false;
}

/* True if blanks stand before what looks like a text in quotes: a whole one, or one torn at a delimiter within its quotes. */
static bool is_behind_blank(const span_t *span, char quote) {
    const uint8_t *text = span->text, *const end = span->text + span->length;
    while (text < end && delimiter_is_blank(*text))
        text++;
    size_t length = (size_t)(end - text);
    while (length && delimiter_is_blank(text[length - 1]))
        length--;
    if (text == span->text || !length || span->length != span->raw_length || *text != (uint8_t)quote)
        return false;
    const uint8_t *second = memchr(text + 1, quote, length - 1);
    return !second || second == text + length - 1;
}

/* Notes the quotes of the record that is split. names: it is the header, whose quotes say nothing about the columns. */
static void look_at_fields(guess_t *guess, bool torn, bool names) {
    const char quote = guess->structure.way.quote;
    guess_quotes_t *quotes = &guess->quotes;
    for (size_t i = 0; i < guess->split->count && i < guess->structure.columns; i++) {
        const span_t *span = &guess->split->spans[i];
        const bool enclosed = span->length != span->raw_length;
        if (!quotes->blank.in && is_behind_blank(span, quote)) {
            quotes->blank.in = guess->here;
            guess_shown(quotes->blank.text, sizeof quotes->blank.text, (const char *)span->text,
                        span->length);
        }
        quotes->loose += span->length && !enclosed && memchr(span->text, quote, span->length) != NULL;
        if (!enclosed || torn)
            continue;
        quotes->any = true;
        guess->columns[i].enclosed |= !names;
        if (names || !span->length)
            continue;
        guess->columns[i].in_quotes++;
        quotes->needless |= !has_sign(span);
        quotes->needed |=
            split_needs_quotes(guess->split, guess->schema, guess->structure.way.delimiter, span);
    }
}

static bool look(guess_t *guess, const guess_line_t *line, bool names, bool *torn, err_t *err) {
    torn_field_t field;
    torn_lines_t is = TORN_NOT;
    if (memchr(line->text, '\n', line->length)) {
        is = torn_lines(guess->split, guess->schema, guess->structure.way.delimiter, guess->structure.columns,
                        line->text, line->length, &field);
        if (is == TORN_MEMORY)
            return err_memory(err, line->length);
        if (!guess_split_line(guess, line, err))
            return false;
    }
    *torn = is != TORN_NOT;
    if (*torn)
        guess->columns[field.column].torn = true;
    guess->quotes.torn += *torn;
    guess->quotes.sure |= is == TORN_SURELY;
    look_at_fields(guess, *torn, names);
    return true;
}

bool guess_quotes_look(guess_t *guess, const guess_line_t *line, bool *torn, err_t *err) {
    const char quote = guess->structure.way.quote;
    *torn = false;
    return !quote || !memchr(line->text, quote, line->length) || look(guess, line, false, torn, err);
}

static bool divides_commonly(const guess_t *guess) {
    const char delimiter = guess->structure.way.delimiter;
    return (delimiter == ',' || delimiter == ';') && guess->structure.columns > 1;
}

void guess_quotes_plain(guess_t *guess, const span_t *span) {
    if (!guess->quotes.plain && span->length == span->raw_length && !divides_commonly(guess))
        guess->quotes.plain = has_sign(span);
}

static bool are_uncommon(const guess_t *guess) {
    return !divides_commonly(guess) || guess->quotes.loose > guess->quotes.odd;
}

bool guess_is_of_no_quotes(const guess_t *guess) {
    return guess->structure.way.quote && !guess->options.quote && !guess->quotes.any && are_uncommon(guess);
}

/* `"Heroes"` among `So` and `12" mixes`: some texts are in quotes, and none needs them, not even for a sign that divides other
 * files. */
static bool are_needless(const guess_t *guess) {
    const guess_quotes_t *quotes = &guess->quotes;
    bool some = false, most = false;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        some |= guess->columns[i].in_quotes > 0;
        most |= guess->columns[i].in_quotes * 2 > guess->columns[i].column.values;
    }
    return are_uncommon(guess) && some && !most && !quotes->needed &&
           (quotes->needless || quotes->plain || quotes->loose);
}

/* True if a torn record is a question: see `torn` above. */
static bool are_alone(const guess_t *guess) {
    for (size_t i = 0; i < guess->structure.columns; i++)
        if (guess->columns[i].torn && !guess->columns[i].enclosed)
            return true;
    return guess->quotes.loose || guess->quotes.sure;
}

bool guess_find_quotes(guess_t *guess, err_t *err) {
    const guess_quotes_t *quotes = &guess->quotes;
    const char quote = guess->structure.way.quote;
    const guess_line_t first = {guess->first, guess->first_length};
    const char *in = guess->name, *otherwise = NULL;
    char why[300];
    bool of_first;
    if (quotes->conflict)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: in some of its quoted texts a backslash stands before a quote that goes on, "
                       "and in some before the quote that ends them: both cannot be read at once. Give "
                       "--format with escape: double, backslash or backslashes; records that it cannot read "
                       "are rejected",
                       guess->name);
    if (quote && memchr(first.text, quote, first.length) &&
        (!guess_split_line(guess, &first, err) || !look(guess, &first, true, &of_first, err)))
        return false;
    if (quotes->blank.in) {
        in = quotes->blank.in;
        otherwise = "take those blanks out";
        snprintf(why, sizeof why, "some stand after a blank ('%s'), where a quote encloses nothing",
                 quotes->blank.text);
    } else if (quotes->odd * 2 > guess->records) {
        otherwise = "take out what stands there, or give a --format (escape, quote)";
        snprintf(why, sizeof why,
                 "in %" PRIu64 " of the %" PRIu64
                 " records that were looked at something follows the quote that ends a text, be it a blank",
                 quotes->odd, guess->records);
    } else if (!guess->options.quote && quotes->torn && are_alone(guess)) {
        otherwise = "a --format with multiline: yes";
        snprintf(why, sizeof why,
                 "%" PRIu64 " of its records %s over several lines, each of which looks like a record itself",
                 quotes->torn, quotes->torn == 1 ? "goes" : "go");
    } else if (!guess->options.quote && quote && are_needless(guess)) {
        otherwise = quote == '"' ? "--with quote=double" : "--with quote=single";
        snprintf(why, sizeof why, "some values have quotes that they do not need, and most have none");
    }
    return !otherwise || err_set(err, STATUS_INPUT,
                                 "%.1000s: its quotes may enclose texts, or be ordinary characters: %s. Give "
                                 "--with quote=none if they are a part of the texts; else %s",
                                 in, why, otherwise);
}

/* ---- how quotes in quotes are escaped: most files have few such quotes, and perhaps none at the beginning ---- */

static void set_escape(way_t *way, escape_t escape) {
    way->backslash = escape != ESCAPE_DOUBLE;
    way->backslashes = escape == ESCAPE_BACKSLASHES;
}

typedef struct {
    enum { READS_NOT, READS_TORN, READS_ODD, READS_WELL } is;
    size_t length;
} reading_t;

/* Rates the record that is split: torn if it has not all columns, odd if a field begins with a quote and is not in quotes. */
static void read_fields(const guess_t *guess, reading_t *reading) {
    const split_t *split = guess->split;
    if (split->count != guess->structure.columns || !split_is_sound(split)) {
        reading->is = READS_TORN;
        return;
    }
    reading->is = READS_WELL;
    for (size_t i = 0; i < split->count; i++) {
        const span_t *span = &split->spans[i];
        if (span->length && span->length == span->raw_length &&
            span->text[0] == (uint8_t)guess->structure.way.quote)
            reading->is = READS_ODD;
    }
}

/* Reads the record with this escape. */
static bool read_as(guess_t *guess, escape_t escape, const guess_text_t *from, reading_t *reading,
                    err_t *err) {
    way_t way = guess->structure.way;
    schema_t schema;
    const uint8_t *at = from->at;
    guess_line_t line;
    *reading = (reading_t){READS_NOT, 0};
    set_escape(&way, escape);
    guess_schema(&schema, &way);
    schema.comment = guess->schema->comment;
    if (!guess_next(&schema, &at, from->end, from->last, &line)) /* its quotes end nowhere in the sample */
        return true;
    if (!split_record(guess->split, &schema, way.delimiter, line.text, line.length))
        return err_memory(err, line.length);
    reading->length = line.length;
    read_fields(guess, reading);
    return true;
}

bool guess_escapes_look(guess_t *guess, const guess_text_t *from, bool *again, err_t *err) {
    guess_quotes_t *quotes = &guess->quotes;
    way_t *way = &guess->structure.way;
    const escape_t now = way->backslashes ? ESCAPE_BACKSLASHES
                         : way->backslash ? ESCAPE_BACKSLASH
                                          : ESCAPE_DOUBLE;
    reading_t readings[ESCAPES];
    escape_t better = ESCAPES;
    bool lost = false;
    *again = false;
    for (int i = 0; i < ESCAPES; i++)
        if (!read_as(guess, (escape_t)i, from, &readings[i], err))
            return false;
    for (int i = ESCAPES; i-- > 0;) {
        const bool gains = readings[i].is == READS_WELL && readings[now].is != READS_WELL,
                   alike = readings[i].is == readings[now].is && readings[i].length == readings[now].length;
        lost |= gains && quotes->impossible[i];
        /* what was read before this record must stay the same */
        quotes->impossible[i] |= !gains && !alike;
        if (gains && !quotes->impossible[i])
            better = (escape_t)i;
    }
    if (better == ESCAPES) {
        quotes->conflict |= lost;
        return true;
    }
    quotes->impossible[now] = *again = true;
    set_escape(way, better);
    guess->schema->escape_backslash = way->backslash;
    guess->schema->escape_backslashes = way->backslashes;
    const bool fitted = !guess->first_misfits;
    if (!guess_cut_first(guess, err))
        return false;
    quotes->conflict |= fitted && guess->first_misfits;
    return true;
}
