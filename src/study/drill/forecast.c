#include "study/drill/forecast.h"
#include "base/numbers.h"
#include "study/student.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* For a two-sided interval of 95 %. */
static const double PROBABILITY = 0.975;

static double work_of(forecast_shape_t shape, double documents) {
    const double n = fmax(documents, 1);
    return shape == FORECAST_SORT ? n * fmax(log2(n), 1) : n;
}

static double deviation(double squares, double freedom) {
    return freedom > 0 ? sqrt(squares / freedom) : NAN;
}

/* share: seconds / work is the same for all; else seconds are. */
static forecast_line_t fit_mean(const forecast_point_t *points, size_t count, forecast_shape_t shape,
                                bool share) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += points[i].seconds / (share ? work_of(shape, points[i].documents) : 1) / (double)count;
    for (size_t i = 0; i < count; i++) {
        const double off = points[i].seconds / (share ? work_of(shape, points[i].documents) : 1) - mean;
        squares += off * off;
    }
    const double freedom = (double)count - 1;
    return (forecast_line_t){.shape = shape,
                             .fixed = share ? 0 : mean,
                             .each = share ? mean : 0,
                             .points = count,
                             .scatter = deviation(squares, freedom),
                             .freedom = freedom};
}

/* y = each + fixed * z, where y is seconds / work, and z is 1 / work. */
static forecast_line_t fit_line(const forecast_point_t *points, size_t count, forecast_shape_t shape) {
    double z_mean = 0, y_mean = 0, zz = 0, zy = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        const double z = 1 / work_of(shape, points[i].documents);
        z_mean += z / (double)count;
        y_mean += points[i].seconds * z / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        const double z = 1 / work_of(shape, points[i].documents);
        zz += (z - z_mean) * (z - z_mean);
        zy += (z - z_mean) * (points[i].seconds * z - y_mean);
    }
    /* below this, doubles cannot distinguish them: all points have the same size */
    const bool one_size = zz <= z_mean * z_mean * 1e-20;
    const double fixed = one_size ? 0 : zy / zz, each = y_mean - fixed * z_mean;
    if (fixed <= 0)
        return fit_mean(points, count, shape, true);
    for (size_t i = 0; i < count; i++) {
        const double z = 1 / work_of(shape, points[i].documents);
        const double off = points[i].seconds * z - each - fixed * z;
        squares += off * off;
    }
    if (each <= 0) {
        forecast_line_t line = fit_mean(points, count, shape, false);
        line.fell_fixed = fixed;
        line.fell_each = each;
        line.fell_scatter = deviation(squares, (double)count - 2);
        line.center = z_mean;
        line.spread = zz;
        return line;
    }
    return (forecast_line_t){.shape = shape,
                             .fixed = fixed,
                             .each = each,
                             .points = count,
                             .scatter = deviation(squares, (double)count - 2),
                             .freedom = (double)count - 2,
                             .center = z_mean,
                             .spread = zz};
}

forecast_line_t forecast_fit(const forecast_point_t *points, size_t count, forecast_shape_t shape) {
    if (!count)
        return (forecast_line_t){.shape = shape, .fixed = NAN, .scatter = NAN};
    return shape == FORECAST_CONSTANT ? fit_mean(points, count, shape, false)
                                      : fit_line(points, count, shape);
}

/* How far one more measurement may be from a line through `points`, at this amount of work. */
static double doubt(const forecast_line_t *line, double freedom, double scatter, double work) {
    const double away = line->spread > 0 ? 1 / work - line->center : 0;
    return student_quantile(PROBABILITY, freedom) * scatter * work *
           sqrt(1 + 1 / (double)line->points + (line->spread > 0 ? away * away / line->spread : 0));
}

/* The upper end of a line that fell; 0: it did not fall. */
static double fallen_high(const forecast_line_t *line, double documents) {
    const double work = work_of(line->shape, documents);
    if (!(line->fell_scatter > 0))
        return 0;
    return line->fell_fixed + line->fell_each * work +
           doubt(line, (double)line->points - 2, line->fell_scatter, work);
}

forecast_t forecast_at(const forecast_line_t *line, double documents) {
    if (!line->points)
        return (forecast_t){NAN, NAN, NAN};
    const double work = line->each > 0 ? work_of(line->shape, documents) : 1;
    const double mid = line->fixed + line->each * (line->each > 0 ? work : 0);
    if (isnan(line->scatter))
        return (forecast_t){NAN, mid, NAN};
    if (line->each > 0) {
        const double wide = doubt(line, line->freedom, line->scatter, work);
        return (forecast_t){fmax(mid - wide, 0), mid, mid + wide};
    }
    const double wide =
        student_quantile(PROBABILITY, line->freedom) * line->scatter * sqrt(1 + 1 / (double)line->points);
    return (forecast_t){fmax(mid - wide, 0), mid, fmax(mid + wide, fallen_high(line, documents))};
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
    if (!known)
        return (forecast_t){NAN, NAN, NAN};
    return (forecast_t){mid - sqrt(below), mid, mid + sqrt(above)};
}

double forecast_error_percent(const forecast_t *forecast, double seconds) {
    return seconds > 0 ? (forecast->mid - seconds) / seconds * 100 : NAN;
}
