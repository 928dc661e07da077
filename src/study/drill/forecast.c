/* Forecasts: how long something takes for many documents, from how long it took for few. Arithmetic only, and its
 * words.
 *
 *   FORECAST_CONSTANT   seconds = fixed
 *   FORECAST_LINE       seconds = fixed + each * n
 *   FORECAST_SORT       seconds = fixed + each * n * log2(n)
 *
 * Measurements vary by a share of their size, so errors are weighted as shares: the line is fitted to seconds / work
 * over 1 / work, where work is n or n * log2(n). The interval is that of one more measurement. */
#include "base/numbers.h"
#include "study/drill/drill.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

static double work_of(forecast_shape_t shape, double documents) {
    const double n = fmax(documents, 1);
    return shape == FORECAST_SORT ? n * fmax(log2(n), 1) : n;
}

/* Half of the interval of one more measurement. squares: the sum of the points' squared errors. away: by what share the
 * variance grows because the measurement lies far from the points; 0 for a mean. NAN: too few points. */
static double interval(double squares, size_t freedom, size_t count, double away) {
    /* the quantiles of 97.5 % of Student's t, by the degrees of freedom */
    static const double t[FORECAST_MOST_POINTS] = {NAN,         12.70620474, 4.30265273,
                                                   3.182446305, 2.776445105, 2.570581836};
    return t[freedom] * sqrt(squares / (double)freedom * (1 + 1 / (double)count + away));
}

/* No time is negative. */
static forecast_t around(double mid, double wide) {
    return (forecast_t){isnan(wide) ? NAN : fmax(mid - wide, 0), mid, mid + wide};
}

/* One more of such values, times this factor. */
static forecast_t of_mean(const double *values, size_t count, double times) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return around(mean * times, interval(squares, count - 1, count, 0) * times);
}

/* Fits y = each + fixed * z, where y is seconds / work, and z is 1 / work. No cost is negative: a line that begins
 * below zero is replaced by one through zero, and a line that falls by a constant. But a line may fall by chance, so
 * the upper end of the constant is at least that of the line. */
static forecast_t of_line(const double *seconds, const double *y, const double *z, size_t count,
                          double work) {
    double z_mean = 0, y_mean = 0, zz = 0, zy = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        z_mean += z[i] / (double)count;
        y_mean += y[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        zz += (z[i] - z_mean) * (z[i] - z_mean);
        zy += (z[i] - z_mean) * (y[i] - y_mean);
    }
    /* below this, doubles cannot distinguish them: all points have the same size */
    const bool one_size = count < 2 || zz <= z_mean * z_mean * 1e-20;
    if (one_size || zy <= 0)
        return of_mean(y, count, work);
    const double fixed = zy / zz, each = y_mean - fixed * z_mean, away = 1 / work - z_mean;
    for (size_t i = 0; i < count; i++)
        squares += (y[i] - each - fixed * z[i]) * (y[i] - each - fixed * z[i]);
    const forecast_t line =
        around(fixed + each * work, interval(squares, count - 2, count, away * away / zz) * work);
    if (each > 0)
        return line;
    forecast_t constant = of_mean(seconds, count, 1);
    constant.high = fmax(constant.high, line.high);
    return constant;
}

forecast_t forecast_of(const forecast_point_t *points, size_t count, forecast_shape_t shape,
                       double documents) {
    double seconds[FORECAST_MOST_POINTS], y[FORECAST_MOST_POINTS], z[FORECAST_MOST_POINTS];
    assert(count <= FORECAST_MOST_POINTS);
    for (size_t i = 0; i < count; i++) {
        seconds[i] = points[i].seconds;
        z[i] = 1 / work_of(shape, points[i].documents);
        y[i] = seconds[i] * z[i];
    }
    return !count                       ? FORECAST_UNKNOWN
           : shape == FORECAST_CONSTANT ? of_mean(seconds, count, 1)
                                        : of_line(seconds, y, z, count, work_of(shape, documents));
}

const char *forecast_spell(char out[FORECAST_SPELLED], const forecast_t *forecast) {
    char mid[UNITS_MAX], low[UNITS_MAX], high[UNITS_MAX];
    units_time(mid, forecast->mid);
    if (isnan(forecast->low))
        snprintf(out, FORECAST_SPELLED, "%s", mid);
    else
        snprintf(out, FORECAST_SPELLED, "%s (%s to %s)", mid, units_time(low, forecast->low),
                 units_time(high, forecast->high));
    return out;
}

forecast_t forecast_sum(const forecast_t *parts, size_t count) {
    double below = 0, above = 0, mid = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(parts[i].mid))
            continue;
        known++;
        mid += parts[i].mid;
        below += (parts[i].mid - parts[i].low) * (parts[i].mid - parts[i].low);
        above += (parts[i].high - parts[i].mid) * (parts[i].high - parts[i].mid);
    }
    return known ? (forecast_t){mid - sqrt(below), mid, mid + sqrt(above)} : FORECAST_UNKNOWN;
}

double forecast_error_percent(const forecast_t *forecast, double seconds) {
    return seconds > 0 ? (forecast->mid - seconds) / seconds * 100 : NAN;
}
