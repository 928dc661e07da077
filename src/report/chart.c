#include "report/chart.h"
#include "report/charts.h"
#include "report/reading.h"

#include <math.h>

/* ---- points ---- */

void chart_points(bson_iter_t *at, const bson_t *series) {
    bson_t points;
    reading_inner(series, "points", &points);
    reading_begin(at, &points);
}

bool chart_next_point(bson_iter_t *at, double *x, double *y) {
    bson_t point;
    bson_iter_t value;
    do {
        if (!reading_next(at, &point))
            return false;
        *x = *y = NAN;
        if (bson_iter_init(&value, &point) && bson_iter_next(&value)) {
            *x = reading_value(&value);
            if (bson_iter_next(&value))
                *y = reading_value(&value);
        }
    } while (isnan(*x));
    return true;
}

void chart_extend(chart_extent_t *extent, const bson_t *series) {
    bson_iter_t at;
    double x, y;
    if (!extent->points)
        *extent = (chart_extent_t){NAN, NAN, NAN, NAN, 0};
    for (chart_points(&at, series); chart_next_point(&at, &x, &y);) {
        extent->points++;
        extent->low_x = fmin(extent->low_x, x); /* fmin and fmax ignore a NAN */
        extent->high_x = fmax(extent->high_x, x);
        extent->low_y = fmin(extent->low_y, y);
        extent->high_y = fmax(extent->high_y, y);
    }
}

/* ---- frame ---- */

void chart_axes(markup_t *out, const char *x, const char *y) {
    markup_put(out, "<p class=\"axes\"><span>↑ ");
    markup_text(out, y);
    markup_put(out, "</span><span>");
    markup_text(out, x);
    markup_put(out, " →</span></p>\n");
}

void chart_begin(markup_t *out, const char *kind, int height, const char *title, const char *description) {
    markup_print(out, "<div class=\"frame %s\"><svg role=\"img\" width=\"100%%\" height=\"%d\"><title>", kind,
                 height);
    markup_text(out, title);
    markup_put(out, "</title><desc>");
    markup_text(out, description);
    markup_put(out, "</desc>\n");
}

void chart_end(markup_t *out) {
    markup_put(out, "</svg></div>\n");
}

void chart_grid_y(markup_t *out, const scale_t *scale, const char *unit) {
    char label[SCALE_TEXT];
    for (size_t i = 0; i < scale->count; i++) {
        const double y = 100 - 100 * scale_place(scale, scale->ticks[i]);
        markup_print(out, "<line class=\"%s\" x1=\"0\" x2=\"100%%\" y1=\"%.2f%%\" y2=\"%.2f%%\"/>",
                     scale->ticks[i] == 0 ? "base" : "grid", y, y);
        markup_print(out, "<text class=\"y\" x=\"-8\" y=\"%.2f%%\" dy=\".32em\">", y);
        markup_text(out, scale_short(label, scale->ticks[i], unit));
        markup_put(out, "</text>\n");
    }
}

void chart_tick_x(markup_t *out, double place, const char *label, bool minor) {
    markup_print(out, "<text class=\"x%s\" x=\"%.2f%%\" y=\"100%%\" dy=\"20\">", minor ? " minor" : "",
                 100 * place);
    markup_text(out, label);
    markup_put(out, "</text>\n");
}

/* ---- lines ---- */

void chart_path_begin(chart_path_t *path, markup_t *out, const char *kind, size_t style) {
    *path = (chart_path_t){.out = out};
    markup_print(out,
                 "<svg class=\"stretch\" width=\"100%%\" height=\"100%%\" viewBox=\"0 0 1000 1000\" "
                 "preserveAspectRatio=\"none\"><path class=\"%s s%zu\" d=\"",
                 kind, style % CHARTS_STYLES);
}

void chart_path_to(chart_path_t *path, double x, double y) {
    if (isnan(x) || isnan(y)) {
        path->pen = false;
        return;
    }
    markup_print(path->out, "%s%.1f,%.1f", path->pen ? "L" : "M", 1000 * x, 1000 - 1000 * y);
    path->first = path->pen ? path->first : x;
    path->last = x;
    path->pen = true;
    path->points++;
}

void chart_path_end(chart_path_t *path) {
    markup_put(path->out, "\"/></svg>\n");
}

void chart_dot(markup_t *out, size_t style, double x, double y) {
    markup_print(out, "<circle class=\"dot s%zu\" cx=\"%.2f%%\" cy=\"%.2f%%\" r=\"3\"/>",
                 style % CHARTS_STYLES, 100 * x, 100 - 100 * y);
}

/* ---- legends ---- */

void chart_legend_begin(markup_t *out) {
    markup_put(out, "<ul class=\"legend\">\n");
}

void chart_legend_series(markup_t *out, size_t style, const char *name) {
    markup_print(out,
                 "<li><svg aria-hidden=\"true\" focusable=\"false\" width=\"28\" height=\"12\"><path "
                 "class=\"line s%zu\" d=\"M1,6L27,6\"/></svg>",
                 style % CHARTS_STYLES);
    markup_text(out, name);
    markup_put(out, "</li>\n");
}

void chart_legend_patch(markup_t *out, const char *kind, const char *name) {
    markup_print(out,
                 "<li><svg aria-hidden=\"true\" focusable=\"false\" width=\"16\" height=\"12\"><rect "
                 "class=\"%s\" x=\"1\" y=\"1\" width=\"14\" height=\"10\"/></svg>",
                 kind);
    markup_text(out, name);
    markup_put(out, "</li>\n");
}

void chart_legend_end(markup_t *out) {
    markup_put(out, "</ul>\n");
}
