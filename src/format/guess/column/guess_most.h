/* guess_most: how most of those values of a column are written that are numbers, dates or booleans, whatever the others are. One
 * that is written otherwise says nothing, wherever it stands. */
#ifndef TIPPLE_FORMAT_GUESS_COLUMN_GUESS_MOST_H
#define TIPPLE_FORMAT_GUESS_COLUMN_GUESS_MOST_H

#include "format/guess/column/guess_column.h"

typedef struct {
    uint64_t of_style[STYLES], of_pair[PAIRS], of_iso, of_date[GUESS_MOST_PATTERNS]; /* values that are so */
    uint64_t of_point, of_comma;                  /* numbers, but with no other decimal mark */
    uint8_t fraction, grouped, wide, lossy, huge; /* of numbers, as in a column */
    date_set_t iso_seen;
} most_t;

void guess_most_add(most_t *most, const uint8_t *text, size_t length);
/* The column becomes one of values that are written as most of these are. Where no value is such, it stays as it is. decimal: where
 * numbers have either mark, a person says this one; 0: says none. */
void guess_most_take_numbers(const most_t *most, char decimal, column_t *column);
void guess_most_take_dates(const most_t *most, column_t *column);
void guess_most_take_booleans(const most_t *most, column_t *column);

#endif
