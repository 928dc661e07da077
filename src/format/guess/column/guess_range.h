/* guess_range: how large a column's numbers are, and how they are written: is another number like them? One that is not may
 * head the column: a year above measures, a whole number above fractions. */
#ifndef TIPPLE_FORMAT_GUESS_COLUMN_GUESS_RANGE_H
#define TIPPLE_FORMAT_GUESS_COLUMN_GUESS_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins as zeros. */
typedef struct {
    uint64_t values, numbers; /* that are no null values; and are numbers */
    uint64_t fractions, years;
    uint64_t unsure; /* whose mark may be a decimal or a thousands mark */
    double most;     /* without their signs */
} range_t;

void guess_range_add(range_t *range, const uint8_t *text, size_t length);

/* Is it a number as none of the column is? False where it is no number, or the column has no values. */
bool guess_range_is_unlike(const range_t *range, const uint8_t *text, size_t length);

/* Is less than half of the column a year, and most of it numbers? */
bool guess_range_has_few_years(const range_t *range);

/* How large a number is, without its sign; -1: the text is none. */
double guess_range_size(const uint8_t *text, size_t length);

#endif
