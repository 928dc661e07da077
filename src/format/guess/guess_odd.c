/* Lines far behind the first ones that are not as the structure was found to be, though they have as many fields: by them the text may
 * be meant in another way. */
#include "format/guess/guess_inner.h"

#include <string.h>

/* The first one is kept. */
static void see(const guess_t *guess, guess_seen_t *seen, const uint8_t *text, size_t length) {
    if (seen->in)
        return;
    seen->in = guess->here;
    seen->length = length < sizeof seen->text ? length : sizeof seen->text;
    memcpy(seen->text, text, seen->length);
}

bool guess_odd_look(guess_t *guess, const guess_line_t *line, err_t *err) {
    const way_t *way = &guess->structure.way;
    bool elsewhere;
    for (size_t i = 0; way->quote && i < guess->split->count; i++) {
        const span_t *span = &guess->split->spans[i];
        if (guess_is_behind_blank(span, way->quote))
            see(guess, &guess->odd.behind_blank, span->text, span->length);
    }
    if (!way->blanks || guess->options.delimiter) /* what a person says divides needs no places */
        return true;
    if (!guess_places_add(&guess->odd.places, line, guess->split, &elsewhere, err))
        return false;
    if (elsewhere)
        see(guess, &guess->odd.gap, line->text, line->length);
    return true;
}

bool guess_find_odd(const guess_t *guess, err_t *err) {
    const guess_seen_t *quote = &guess->odd.behind_blank, *gap = &guess->odd.gap;
    if (quote->in)
        return guess_refuse_behind_blank(quote->in, quote->text, quote->length, err);
    return !gap->in || guess_refuse_gap(gap->in, 0, gap->text, gap->length, err);
}
