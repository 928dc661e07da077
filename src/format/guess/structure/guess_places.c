#include "format/guess/structure/guess_places.h"
#include "format/cut/delimiter.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_COMPARED = 10 };

place_t guess_place_of(const split_t *split, size_t column) {
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

static bool is_elsewhere(const guess_places_t *places, const split_t *split, size_t compared) {
    bool elsewhere = false, gaps = false;
    for (size_t j = 0; j < places->columns; j++) {
        const place_t one = guess_place_of(split, j);
        size_t there = 0, as_wide = 0;
        for (size_t i = 0; i < compared; i++) {
            const place_t other = places->rows[i * places->columns + j];
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
    const size_t compared = places->count < GUESS_PLACES_KEPT ? places->count : GUESS_PLACES_KEPT;
    if (!places->rows) {
        places->columns = split->count;
        if (!(places->rows = calloc(GUESS_PLACES_KEPT * places->columns, sizeof *places->rows)))
            return err_memory(err, GUESS_PLACES_KEPT * places->columns * sizeof *places->rows);
    }
    const bool gap = guess_has_gap(line->text, line->length);
    places->gaps |= gap;
    *elsewhere = gap && compared >= LEAST_COMPARED && is_elsewhere(places, split, compared);
    place_t *row = places->rows + places->count++ % GUESS_PLACES_KEPT * places->columns;
    for (size_t j = 0; j < places->columns; j++)
        row[j] = guess_place_of(split, j);
    return true;
}
