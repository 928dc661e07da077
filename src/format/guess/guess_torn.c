/* Are quotes ordinary characters? Where a record looks torn (torn_lines), it may be a text of several lines all the same. But
 * then a quote stands nowhere else: who encloses texts encloses those that hold a quote. */
#include "format/guess/guess_inner.h"
#include "format/guess/structure/torn_lines.h"

#include <inttypes.h>
#include <string.h>

bool guess_torn_look(guess_t *guess, const guess_line_t *line, err_t *err) {
    uint32_t at;
    const torn_lines_t is = torn_lines(guess->split, guess->schema, guess->structure.way.delimiter,
                                       guess->structure.columns, line->text, line->length, &at);
    guess->torn.torn += is == TORN_MAYBE || is == TORN_SURELY;
    guess->torn.sure |= is == TORN_SURELY;
    return is != TORN_MEMORY || err_memory(err, line->length);
}

void guess_torn_count(guess_t *guess) {
    const char quote = guess->structure.way.quote;
    for (size_t i = 0; i < guess->split->count; i++) {
        const span_t *span = &guess->split->spans[i];
        guess->torn.loose += span->length && span->length == span->raw_length &&
                             memchr(span->text, quote, span->length) != NULL;
        guess->torn.enclosed |= span->length != span->raw_length;
    }
}

/* Records that look torn are none if others are in quotes, too, and none holds a quote that is not. */
bool guess_find_torn(guess_t *guess, err_t *err) {
    const guess_torn_t *torn = &guess->torn;
    const char quote = guess->structure.way.quote;
    const guess_line_t first = {guess->first, guess->first_length};
    const bool quoted = quote && memchr(first.text, quote, first.length);
    if (quoted && memchr(first.text, '\n', first.length)) {
        if (!guess_torn_look(guess, &first, err))
            return false;
    } else {
        guess->torn.enclosed |= quoted;
    }
    return !torn->torn || (torn->enclosed && !torn->loose && !torn->sure) ||
           err_set(err, STATUS_INPUT,
                   "%.1000s: some of its quotes are ordinary characters%s, %" PRIu64
                   " of its records go over several lines, each of which looks like a record itself. Give "
                   "--format with quote: none, or with quote: '%c' and multiline: yes if they do",
                   guess->name, torn->loose ? "; if others enclose texts" : ", or, if they enclose texts",
                   torn->torn, quote);
}
