/* Are quotes ordinary characters? Where a record looks torn (torn_lines), it may be a text of several lines all the same: it is a
 * reject, and a person has to say. But if no other value of its column is in quotes, or a quote stands in a value that is in
 * none, they surely are: who encloses texts encloses those that hold a quote. Then nothing is read by them. */
#include "format/guess/guess_inner.h"
#include "format/guess/guess_options.h"
#include "format/guess/structure/torn_lines.h"

#include <inttypes.h>
#include <string.h>

enum { LEAST_EXPLAINED = 3 }; /* texts in quotes */

/* What programs put a text into quotes for, though it need not be in them: a bit for each. */
enum { HAS_COMMA = 1, HAS_BLANK = 2, HAS_APOSTROPHE = 4, HAS_WIDE = 8, HAS_KINDS = 16 };

static unsigned look_at_bytes(const span_t *span) {
    unsigned has = 0;
    for (size_t i = 0; i < span->length; i++) {
        const char byte = (char)span->text[i];
        if (byte == ',' || byte == ';' || byte == '|' || byte == '\t')
            has |= HAS_COMMA;
        else if (byte == ' ')
            has |= HAS_BLANK;
        else if (byte == '\'')
            has |= HAS_APOSTROPHE;
        else if (span->text[i] >= 0x80)
            has |= HAS_WIDE;
    }
    return has;
}

/* Of the record that is split. torn: its quotes are in doubt. Those of names do not tell of their columns. */
static void count_quotes(guess_t *guess, bool torn, bool names) {
    const char quote = guess->structure.way.quote;
    for (size_t i = 0; i < guess->split->count && i < guess->structure.columns; i++) {
        const span_t *span = &guess->split->spans[i];
        const bool enclosed = span->length != span->raw_length;
        guess->torn.loose += span->length && !enclosed && memchr(span->text, quote, span->length) != NULL;
        if (!enclosed || torn)
            continue;
        guess->torn.quotes = true;
        guess->columns[i].enclosed |= !names;
        if (names || !span->length)
            continue;
        guess->columns[i].in_quotes++;
        guess->torn.quoted_with |= 1u << look_at_bytes(span);
        guess->torn.needed |=
            split_needs_quotes(guess->split, guess->schema, guess->structure.way.delimiter, span);
    }
}

static bool split_again(guess_t *guess, const guess_line_t *line, err_t *err) {
    return split_record(guess->split, guess->schema, guess->structure.way.delimiter, line->text,
                        line->length) ||
           err_memory(err, line->length);
}

static bool look(guess_t *guess, const guess_line_t *line, bool names, bool *torn, err_t *err) {
    torn_field_t field;
    torn_lines_t is = TORN_NOT;
    if (memchr(line->text, '\n', line->length)) {
        is = torn_lines(guess->split, guess->schema, guess->structure.way.delimiter, guess->structure.columns,
                        line->text, line->length, &field);
        if (is == TORN_MEMORY)
            return err_memory(err, line->length);
        if (!split_again(guess, line, err))
            return false;
    }
    *torn = is != TORN_NOT;
    if (*torn)
        guess->columns[field.column].torn = true;
    guess->torn.torn += *torn;
    guess->torn.sure |= is == TORN_SURELY;
    count_quotes(guess, *torn, names);
    return true;
}

void guess_torn_plain(guess_t *guess, const span_t *span) {
    if (span->length == span->raw_length)
        guess->torn.plain_with |= look_at_bytes(span);
}

bool guess_torn_look(guess_t *guess, const guess_line_t *line, bool *torn, err_t *err) {
    *torn = false;
    return !memchr(line->text, guess->structure.way.quote, line->length) ||
           look(guess, line, false, torn, err);
}

/* Who encloses the texts of a column encloses others of it, too. */
static bool are_enclosed(const guess_t *guess) {
    for (size_t i = 0; i < guess->structure.columns; i++)
        if (guess->columns[i].torn && !guess->columns[i].enclosed)
            return false;
    return true;
}

/* Is there in each text in quotes what no text without has, for which a program may have put it into quotes? One or two may have
 * it by chance, but for a comma: sheets are often written so. */
static bool are_explained(const guess_t *guess, uint64_t quoted) {
    const guess_torn_t *torn = &guess->torn;
    for (unsigned has = 0; has < HAS_KINDS; has++) {
        const unsigned own = has & ~torn->plain_with;
        if (torn->quoted_with >> has & 1 && !(own & HAS_COMMA) && (!own || quoted < LEAST_EXPLAINED))
            return false;
    }
    return !torn->loose;
}

/* By commas and semicolons programs divide text that they put into quotes, if they have to. By another sign, or none, many put
 * none into quotes; and so do those that leave `12" mixes` as it is. */
static bool are_uncommon(const guess_t *guess) {
    const char delimiter = guess->structure.way.delimiter;
    return (delimiter != ',' && delimiter != ';') || guess->structure.columns == 1 ||
           guess->torn.loose > guess->torn.odd;
}

bool guess_is_of_no_quotes(const guess_t *guess) {
    return guess->structure.way.quote && !guess->options.quote && !guess->torn.quotes && are_uncommon(guess);
}

/* `"Heroes"` among `So` and `12" mixes`. */
static bool are_doubtful(const guess_t *guess) {
    uint64_t quoted = 0;
    bool most = false;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        quoted += guess->columns[i].in_quotes;
        most |= guess->columns[i].in_quotes * 2 > guess->columns[i].column.values;
    }
    return are_uncommon(guess) && guess->torn.quoted_with && !most && !guess->torn.needed &&
           !are_explained(guess, quoted);
}

static bool refuse_odd(const guess_t *guess, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%.1000s: in %" PRIu64 " of the %" PRIu64
                   " records that were looked at a text begins with a quote, and something stands behind the "
                   "quote that ends it, be it a blank: take that out, or give --format (escape, quote)",
                   guess->name, guess->torn.odd, guess->records);
}

static bool refuse_doubtful(const guess_t *guess, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: some of its values are in quotes that they do not need, and most of the same columns "
        "are not: the quotes may be parts of the values. Give --with quote=none if they are, else --with "
        "quote=%s",
        guess->name, guess_options_quote_word(guess->structure.way.quote));
}

bool guess_find_torn(guess_t *guess, err_t *err) {
    const guess_torn_t *torn = &guess->torn;
    const char quote = guess->structure.way.quote;
    const guess_line_t first = {guess->first, guess->first_length};
    bool of_first;
    if (quote && memchr(first.text, quote, first.length) &&
        (!split_again(guess, &first, err) || !look(guess, &first, true, &of_first, err)))
        return false;
    if (torn->odd * 2 > guess->records)
        return refuse_odd(guess, err);
    if (guess->options.quote)
        return true;
    if (!torn->torn || (are_enclosed(guess) && !torn->loose && !torn->sure))
        return !quote || !are_doubtful(guess) || refuse_doubtful(guess, err);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: some of its quotes are ordinary characters%s, %" PRIu64
                   " of its records %s over several lines, each of which looks like a record itself. Give "
                   "--with quote=none, or a --format with multiline: yes if they do",
                   guess->name, torn->loose ? "; if others enclose texts" : ", or, if they enclose texts",
                   torn->torn, torn->torn == 1 ? "goes" : "go");
}

/* ---- lines far behind the first ones that are not as the structure was found to be, though they have as many fields: by them
 * the text may be meant in another way ---- */

/* The first one is kept. */
static void see(const guess_t *guess, guess_seen_t *seen, const uint8_t *text, size_t length) {
    if (seen->in)
        return;
    seen->in = guess->here;
    seen->length = length < sizeof seen->text ? length : sizeof seen->text;
    memcpy(seen->text, text, seen->length);
}

void guess_odd_look(guess_t *guess) {
    const way_t *way = &guess->structure.way;
    for (size_t i = 0; way->quote && i < guess->split->count; i++) {
        const span_t *span = &guess->split->spans[i];
        if (guess_is_behind_blank(span, way->quote))
            see(guess, &guess->behind_blank, span->text, span->length);
    }
}

bool guess_find_odd(const guess_t *guess, err_t *err) {
    const guess_seen_t *quote = &guess->behind_blank;
    return !quote->in || guess_refuse_behind_blank(quote->in, quote->text, quote->length, err);
}
