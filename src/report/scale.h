/* scale: prints numbers as people read them, by their unit, and makes axes whose ends and ticks are round numbers. Any
 * thread. */
#ifndef TIPPLE_REPORT_SCALE_H
#define TIPPLE_REPORT_SCALE_H

#include <stdbool.h>
#include <stddef.h>

enum { SCALE_TEXT = 48, SCALE_MOST_TICKS = 12 };

/* "6,521,004", "412 MB/s", "350k/s", "10.7 s", "1.73 ms", "12.3 %": in a table or a sentence; "–" for NAN. */
const char *scale_value(char out[SCALE_TEXT], double value, const char *unit);

/* For an axis: "1.2M", "300k", "2 GB", "1:30". */
const char *scale_short(char out[SCALE_TEXT], double value, const char *unit);

/* The word after a value of this unit that scale_value does not print: "documents"; or "". */
const char *scale_word(const char *unit);

typedef struct {
    double low, high;
    bool log;
    double ticks[SCALE_MOST_TICKS];
    size_t count;
} scale_t;

/* From 0 (for time: from low) to a round number at or above high; at most `most` ticks. Steps of time are those of a
 * clock. */
scale_t scale_linear(double low, double high, size_t most, const char *unit);
/* The same, but it ends where the data end. */
scale_t scale_exact(double low, double high, size_t most, const char *unit);
/* The ends are kept. Ticks are at 1, 2 and 5 of each power of ten; if these are too many, at 1 and 3, or at 1. */
scale_t scale_log(double low, double high, size_t most);

/* The position along the axis, 0 to 1; clamped. */
double scale_place(const scale_t *scale, double value);

#endif
