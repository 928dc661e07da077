/* forecast: how long something takes for many documents, from how long it took for few: a line through points
 * of a sample, and the interval in which one more measurement would lie. Arithmetic only.
 *
 *   FORECAST_CONSTANT   seconds = fixed
 *   FORECAST_LINE       seconds = fixed + each * n
 *   FORECAST_SORT       seconds = fixed + each * n * log2(n)
 *
 * Measurements scatter by a share of what they took, so a point weighs as much as its share counts: the line
 * is fitted to seconds / work over 1 / work, where work is n or n * log2(n). Nothing costs less than nothing:
 * a line that begins below zero goes through zero instead, one that falls is a constant. But a line that
 * falls may have done so by chance: how high it may be after all is the constant's upper end. */
#ifndef TIPPLE_STUDY_DRILL_FORECAST_H
#define TIPPLE_STUDY_DRILL_FORECAST_H

#include <stddef.h>

typedef enum { FORECAST_CONSTANT, FORECAST_LINE, FORECAST_SORT } forecast_shape_t;

typedef struct {
    double documents, seconds;
} forecast_point_t;

typedef struct {
    forecast_shape_t shape; /* as asked for; the constant that it may have become has each 0 */
    double fixed, each;
    size_t points;
    double
        scatter; /* standard deviation of a point; a share of the work where each is not 0. NAN: not known */
    double freedom;        /* degrees of it */
    double center, spread; /* of 1 / work: the mean, and the sum of squares around it; 0: through zero */
    /* of the line that fell, and slowed down to a constant: how far it scatters. 0: there was none */
    double fell_fixed, fell_each, fell_scatter;
} forecast_line_t;

/* Of no points: nothing is known. */
forecast_line_t forecast_fit(const forecast_point_t *points, size_t count, forecast_shape_t shape);

/* Seconds. All NAN: nothing is known; low and high NAN: the points are too few to tell how they scatter. */
typedef struct {
    double low, mid, high; /* 95 % */
} forecast_t;
forecast_t forecast_at(const forecast_line_t *line, double documents);

/* One after the other: their deviations are added as those of independent things. A part that is not known is
 * left out, one whose scatter is not known makes the interval unknown. */
forecast_t forecast_sum(const forecast_t *parts, size_t count);

/* How far off it was, in percent of what was measured: above 0 it was too long. NAN: nothing to tell. */
double forecast_error_percent(const forecast_t *forecast, double seconds);

#endif
