/* chart: what all pictures share: a frame with axes and grid, points, and legends. Internal to src/report. Positions
 * are percent of the frame; a path is in a frame of 1000 x 1000 that is stretched over it. */
#ifndef TIPPLE_REPORT_CHART_H
#define TIPPLE_REPORT_CHART_H

#include "report/markup.h"
#include "report/scale.h"

#include <bson/bson.h>

typedef struct {
    double low_x, high_x, low_y, high_y; /* NAN: there are no points */
    size_t points;
} chart_extent_t;

/* Adds the points of a series; a point without a known y counts only for x. */
void chart_extend(chart_extent_t *extent, const bson_t *series);

/* for (chart_points(&at, series); chart_next_point(&at, &x, &y);) */
void chart_points(bson_iter_t *at, const bson_t *series);
bool chart_next_point(bson_iter_t *at, double *x, double *y);

/* Begins the frame: title, description, grid and the labels of y. kind: its CSS class. */
void chart_begin(markup_t *out, const char *kind, int height, const char *title, const char *description);
void chart_grid_y(markup_t *out, const scale_t *scale, const char *unit);
void chart_tick_x(markup_t *out, double place, const char *label, bool minor);
void chart_end(markup_t *out);

/* The names of the axes, before the frame. */
void chart_axes(markup_t *out, const char *x, const char *y);

/* A line through points whose positions are 0 to 1, from the lower left; NAN breaks the line. */
typedef struct {
    markup_t *out;
    bool pen;           /* the pen is down */
    double first, last; /* of the current stretch: x */
    size_t points;
} chart_path_t;
void chart_path_begin(chart_path_t *path, markup_t *out, const char *kind, size_t style);
void chart_path_to(chart_path_t *path, double x, double y);
void chart_path_end(chart_path_t *path);
void chart_dot(markup_t *out, size_t style, double x, double y);

/* begins, fills and ends a list of colours */
void chart_legend_begin(markup_t *out);
void chart_legend_series(markup_t *out, size_t style, const char *name);
void chart_legend_patch(markup_t *out, const char *kind, const char *name);
void chart_legend_end(markup_t *out);

#endif
