/* Whether quotes are ordinary characters. guess_find_structure decides by the beginning of a text. Then each record of the sample
 * is checked once (guess_quotes_look). At the end guess_find_quotes asks, or keeps the way. It asks for these reasons:
 *
 *     mixed      texts stand in other quotes than the rest, or in quotes that a blank follows or that enclose nothing, or hold a
 *                quote after a backslash
 *     cut off    the text ends within one, if they enclose texts
 *     blank      a text in quotes stands after a blank, where a quote is an ordinary character
 *     odd        most records have something after the quote that ends a text
 *     torn       each line of a record of several lines looks like a record itself (torn_lines). The record is a reject
 *     needless   some texts are in quotes, none needs them, and neither commas nor semicolons divide. Programs that write these
 *                two put texts into quotes where they have to; with another sign, or none, many leave a quote as it is */
#include "format/guess/guess_inner.h"
#include "format/guess/structure/torn_lines.h"
#include "format/values/blanks.h"

#include <string.h>

/* True if blanks stand before a quote. */
static bool is_after_blank(const span_t *span, char quote) {
    const uint8_t *text = span->text;
    size_t length = span->length;
    blanks_trim(&text, &length);
    return text > span->text && length > 1 && span->length == span->raw_length && *text == (uint8_t)quote;
}

void guess_note_quotes(guess_t *guess, bool names) {
    const char quote = guess->schema.quote;
    guess_quotes_t *quotes = &guess->quotes;
    for (size_t i = 0; i < guess->split.count && i < guess->structure.columns; i++) {
        const span_t *span = &guess->split.spans[i];
        const bool enclosed = span->length != span->raw_length;
        if (!quotes->blank && is_after_blank(span, quote))
            quotes->blank = guess->here;
        quotes->loose |= span->length && !enclosed && memchr(span->text, quote, span->length) != NULL;
        quotes->any |= enclosed;
        if (names || !enclosed || !span->length)
            continue;
        guess->columns[i].in_quotes++;
        quotes->needed |=
            split_needs_quotes(&guess->split, &guess->schema, guess->schema.delimiters[0], span);
    }
}

bool guess_quotes_look(guess_t *guess, const guess_line_t *line, uint32_t *torn, err_t *err) {
    const char quote = guess->schema.quote;
    *torn = 0;
    if (!quote || !memchr(line->text, quote, line->length))
        return true;
    if (memchr(line->text, '\n', line->length) &&
        (!torn_lines(&guess->split, &guess->schema, guess->schema.delimiters[0], guess->structure.columns,
                     line->text, line->length, torn) ||
         !guess_split_line(guess, line, err)))
        return err_memory(err, line->length);
    guess->quotes.torn += *torn > 0;
    if (!*torn)
        guess_note_quotes(guess, false);
    return true;
}

static bool are_uncommon(const guess_t *guess) {
    const char delimiter = guess->schema.delimiters[0];
    return (delimiter != ',' && delimiter != ';') || guess->structure.columns == 1 || guess->quotes.loose;
}

bool guess_is_of_no_quotes(const guess_t *guess) {
    return guess->schema.quote && !guess->options.quote && !guess->quotes.any && are_uncommon(guess);
}

/* `"Heroes"` among `So` and `12" mixes` */
static bool are_needless(const guess_t *guess) {
    bool some = false, most = false;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        some |= guess->columns[i].in_quotes > 0;
        most |= guess->columns[i].in_quotes * 2 > guess->columns[i].column.values;
    }
    return are_uncommon(guess) && some && !most && !guess->quotes.needed;
}

bool guess_find_quotes(guess_t *guess, err_t *err) {
    const guess_quotes_t *quotes = &guess->quotes;
    const char quote = guess->schema.quote;
    const struct {
        bool is;
        const char *why, *otherwise;
    } reasons[] = {
        {guess->structure.unsure_quotes && !guess->options.quote,
         "some stand in other quotes than the rest, are followed by a blank, enclose nothing, or hold a "
         "quote after a backslash",
         "--with quote=double or --with quote=single"},
        {quotes->cut_off, "the last one opens a text that the file does not end; it may have been cut off",
         "--with quote=double or --with quote=single"},
        {quotes->blank, "some stand after a blank, where a quote encloses nothing", "take those blanks out"},
        {quotes->odd * 2 > guess->records,
         "in most records something follows the quote that ends a text, be it a blank",
         "take out what stands there, or give a --format (escape, quote)"},
        {quotes->torn && !guess->options.quote,
         "some go around several lines, each of which looks like a record itself",
         "a --format with multiline: yes, which reads these records, or --with quote=double (or single), "
         "which rejects them"},
        {quote && !guess->options.quote && are_needless(guess),
         "some values have quotes that they do not need, and most have none",
         quote == '"' ? "--with quote=double" : "--with quote=single"},
    };
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (reasons[i].is)
            return err_set(err, STATUS_INPUT,
                           "%.1000s: its quotes may enclose texts, or be ordinary characters: %s. Give "
                           "--with quote=none if they are a part of the texts; else %s",
                           quotes->blank ? quotes->blank : guess->name, reasons[i].why, reasons[i].otherwise);
    return true;
}
