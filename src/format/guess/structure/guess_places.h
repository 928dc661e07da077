/* guess_places: where the words of lines stand whose columns blanks divide. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_PLACES_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_PLACES_H

#include "base/err.h"
#include "format/cut/split.h"
#include "format/guess/structure/guess_cut.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t at, end;
    bool wide; /* several blanks before it */
} place_t;

/* Has a line several blanks in a row, but for those at its begin and end? */
bool guess_has_gap(const uint8_t *text, size_t length);

/* Of the last lines. Begins as zeros. */
typedef struct {
    place_t *rows; /* GUESS_PLACES_KEPT times columns */
    size_t columns, count;
    bool gaps; /* a line has several blanks in a row */
} guess_places_t;

enum { GUESS_PLACES_KEPT = 50 };

/* Other lines follow, which need not be like those before. */
void guess_places_anew(guess_places_t *places);
void guess_places_free(guess_places_t *places);

/* Keeps those of the line that is split. False: out of memory. */
bool guess_places_keep(guess_places_t *places, const split_t *split, err_t *err);
/* Does a word of the line that is split stand where fewer than half of the lines that are kept have theirs of this column, and
 * has it one blank where most have several, or several where most have one? but: this one of them is not compared;
 * GUESS_PLACES_KEPT: all are. */
bool guess_places_odd(const guess_places_t *places, const split_t *split, size_t but);
/* Both; *elsewhere: it has several blanks, and is odd beside lines enough. */
bool guess_places_add(guess_places_t *places, const guess_line_t *line, const split_t *split, bool *elsewhere,
                      err_t *err);

#endif
