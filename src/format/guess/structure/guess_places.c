#include "format/guess/structure/guess_places.h"
#include "format/cut/delimiter.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_COMPARED = 10 };

static place_t place_of(const split_t *split, size_t column) {
    const span_t *span = &split->spans[column], *before = column ? span - 1 : span;
    return (place_t){span->at, span->at + span->raw_length,
                     column && span->at > before->at + before->raw_length + 1};
}

bool guess_has_gap(const uint8_t *text, size_t length) {
    size_t at = 0;
    while (at < length && delimiter_is_blank(text[at]))
        at++;
    while (length && delimiter_is_blank(text[length - 1]))
        length--;
    return at < length && memmem(text + at, length - at, "  ", 2) != NULL;
}

void guess_places_anew(guess_places_t *places) {
    places->count = 0;
}

void guess_places_free(guess_places_t *places) {
    free(places->rows);
    *places = (guess_places_t){.rows = NULL};
}

bool guess_places_keep(guess_places_t *places, const split_t *split, err_t *err) {
    if (!places->rows) {
        places->columns = split->count;
        if (!(places->rows = calloc(GUESS_PLACES_KEPT * places->columns, sizeof *places->rows)))
            return err_memory(err, GUESS_PLACES_KEPT * places->columns * sizeof *places->rows);
    }
    place_t *row = places->rows + places->count++ % GUESS_PLACES_KEPT * places->columns;
    for (size_t j = 0; j < places->columns; j++)
        row[j] = place_of(split, j);
    return true;
}

static size_t count_kept(const guess_places_t *places) {
    return places->count < GUESS_PLACES_KEPT ? places->count : GUESS_PLACES_KEPT;
}

bool guess_places_odd(const guess_places_t *places, const split_t *split, size_t but) {
    const size_t kept = count_kept(places), compared = kept - (but < kept);
    bool elsewhere = false, gaps = false;
    for (size_t j = 0; j < places->columns; j++) {
        const place_t one = place_of(split, j);
        size_t there = 0, as_wide = 0;
        for (size_t i = 0; i < kept; i++) {
            const place_t other = places->rows[i * places->columns + j];
            if (i == but)
                continue;
            /* a number in front may have become longer */
            there += one.at <= other.end && other.at <= one.end;
            as_wide += one.wide == other.wide;
        }
        elsewhere |= 2 * there < compared;
        gaps |= 2 * as_wide < compared;
    }
    return elsewhere && gaps;
}

bool guess_places_add(guess_places_t *places, const guess_line_t *line, const split_t *split, bool *elsewhere,
                      err_t *err) {
    const bool gap = guess_has_gap(line->text, line->length);
    places->gaps |= gap;
    *elsewhere =
        gap && count_kept(places) >= LEAST_COMPARED && guess_places_odd(places, split, GUESS_PLACES_KEPT);
    return guess_places_keep(places, split, err);
}
