/* forecast: predicts how long something takes for many documents from how long it took for few: a line through the
 * points of a sample, and the interval in which one more measurement would lie. Arithmetic only, and its words.
 *
 *   FORECAST_CONSTANT   seconds = fixed
 *   FORECAST_LINE       seconds = fixed + each * n
 *   FORECAST_SORT       seconds = fixed + each * n * log2(n)
 *
 * Measurements vary by a share of their size, so errors are weighted as shares: the line is fitted to seconds / work
 * over 1 / work, where work is n or n * log2(n). No cost is negative: a line that begins below zero is replaced by one
 * through zero, and a line that falls by a constant. But a line may have fallen by chance: the constant's upper end
 * then says how high it may really be. */
#ifndef TIPPLE_STUDY_DRILL_FORECAST_H
#define TIPPLE_STUDY_DRILL_FORECAST_H

#include <stddef.h>

typedef enum { FORECAST_CONSTANT, FORECAST_LINE, FORECAST_SORT } forecast_shape_t;

typedef struct {
    double documents, seconds;
} forecast_point_t;

typedef struct {
    forecast_shape_t shape; /* as requested; a line that was replaced by a constant has each 0 */
    double fixed, each;
    size_t points;
    /* standard deviation of a point; a share of the work if each is not 0. NAN: not known */
    double scatter;
    double freedom;        /* of that deviation */
    double center, spread; /* of 1 / work: the mean, and the sum of squares around it; 0: through zero */
    /* of a line that fell and was replaced by a constant: its own numbers. 0: it did not fall */
    double fell_fixed, fell_each, fell_scatter;
} forecast_line_t;

/* Without points, nothing is known. */
forecast_line_t forecast_fit(const forecast_point_t *points, size_t count, forecast_shape_t shape);

/* In seconds. All NAN: nothing is known. Only low and high NAN: there are too few points for an interval. */
typedef struct {
    double low, mid, high; /* 95 % */
} forecast_t;
forecast_t forecast_at(const forecast_line_t *line, double documents);

/* "5 min (4 min to 6 min)", without the interval where it is not known. */
enum { FORECAST_SPELLED = 96 };
const char *forecast_spell(char out[FORECAST_SPELLED], const forecast_t *forecast);

/* The sum of phases that follow one another; their deviations are added as independent ones. A part that is not known
 * is left out; a part without an interval makes the interval of the sum unknown. */
forecast_t forecast_sum(const forecast_t *parts, size_t count);

/* The error in percent of what was measured; above 0: the forecast was too long. NAN: nothing to compare. */
double forecast_error_percent(const forecast_t *forecast, double seconds);

#endif
