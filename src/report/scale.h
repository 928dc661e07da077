/* scale: numbers as people read them, by their unit, and axes: ends and ticks at round numbers. Any thread.
 */
#ifndef TIPPLE_REPORT_SCALE_H
#define TIPPLE_REPORT_SCALE_H

#include <stdbool.h>
#include <stddef.h>

enum { SCALE_TEXT = 48, SCALE_MOST_TICKS = 12 };

/* "6,521,004", "412 MB/s", "350k/s", "10.7 s", "1.73 ms", "12.3 %": in a table or a sentence; "–" for NAN. */
const char *scale_value(char out[SCALE_TEXT], double value, const char *unit);

/* For an axis: "1.2M", "300k", "2 GB", "1:30". */
const char *scale_short(char out[SCALE_TEXT], double value, const char *unit);

/* A number rounded to three digits that count: 265275 is 265000. */
double scale_three(double value);

/* The word that stands behind a value of this unit and is not part of scale_value: "documents"; or "". */
const char *scale_word(const char *unit);

typedef struct {
    double low, high;
    bool log;
    double ticks[SCALE_MOST_TICKS];
    size_t count;
} scale_t;

/* From 0, or for time from low, to a round number at or above high; at most so many ticks. Times step as
 * clocks do. */
scale_t scale_linear(double low, double high, size_t most, const char *unit);
/* The same, but ends where the data do. */
scale_t scale_exact(double low, double high, size_t most, const char *unit);
/* Ends as they are. Ticks at 1, 2 and 5 of each power of ten; where these are too many at 1 and 3, or 1. */
scale_t scale_log(double low, double high, size_t most);

/* 0 to 1 along the axis; clamped. */
double scale_place(const scale_t *scale, double value);

#endif
