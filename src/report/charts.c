#include "report/charts.h"
#include "base/chars.h"
#include "base/numbers.h"
#include "report/chart.h"
#include "report/reading.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TALL = 240, MANY_POINTS = 40 };

static void put_nothing(markup_t *out) {
    markup_put(out, "<p class=\"nothing\">There is nothing to show.</p>\n");
}

/* "time in s": the unit is left out if the ticks already have it. */
static void name_axis(char out[128], const bson_t *axis) {
    const char *name = reading_text(axis, "name"), *unit = reading_text(axis, "unit");
    const size_t length = strlen(unit);
    if (length > 2 && strcmp(unit + length - 2, "/s") == 0)
        snprintf(out, 128, "%.80s a second", name);
    else
        snprintf(out, 128, "%.100s", name);
}

/* ---- lines over time ---- */

enum { MOST_X_TICKS = 8, MOST_Y_TICKS = 5, BAND_NAME = 40 };
static const double WIDE_LETTER = 1.05, PHONE_LETTER = 2.1, /* of a band's name: percent of the width */
    NEAR_THE_END = 0.86;                                    /* where a phone has no room beside "max" */

static void put_band(markup_t *out, const bson_t *band, const scale_t *x, size_t number) {
    const double from = 100 * scale_place(x, reading_number(band, "from")),
                 to = 100 * scale_place(x, reading_number(band, "to"));
    const double width = fmax(to - from, 0.15);
    if (strcmp(reading_text(band, "kind"), "phase") != 0) {
        markup_print(out, "<rect class=\"band\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"0\" height=\"100%%\"/>\n",
                     from, width);
        return;
    }
    markup_print(
        out,
        "<svg class=\"phase\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"-26\" height=\"18\"><rect class=\"phase%zu\" "
        "width=\"100%%\" height=\"100%%\"/>",
        from, width, number % 2);
    const double letters = fmin((double)utf8_columns(reading_text(band, "name")), BAND_NAME);
    if (width >= WIDE_LETTER * letters + 1) {
        markup_print(out, "<text%s x=\"50%%\" y=\"9\" dy=\".32em\">",
                     width >= PHONE_LETTER * letters + 1 ? "" : " class=\"minor\"");
        markup_text_short(out, reading_text(band, "name"), BAND_NAME);
        markup_put(out, "</text>");
    }
    markup_print(out, "</svg><line class=\"border\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"-26\" y2=\"100%%\"/>\n",
                 from, from);
}

/* Phases are adjacent; their tints alternate. */
static bool put_bands(markup_t *out, const bson_t *bands, const scale_t *x, bool phases) {
    bson_t band;
    bson_iter_t at;
    size_t number = 0;
    for (reading_begin(&at, bands); reading_next(&at, &band);)
        if ((strcmp(reading_text(&band, "kind"), "phase") == 0) == phases)
            put_band(out, &band, x, number++);
    return number > 0;
}

static void extend_by_bands(chart_extent_t *extent, const bson_t *bands) {
    bson_t band;
    bson_iter_t at;
    for (reading_begin(&at, bands); reading_next(&at, &band);) {
        extent->low_x = fmin(extent->low_x, reading_number(&band, "from"));
        extent->high_x = fmax(extent->high_x, reading_number(&band, "to"));
    }
}

static void put_line(markup_t *out, const bson_t *series, const scale_t *x_scale, const scale_t *y_scale,
                     size_t style) {
    chart_path_t path;
    bson_iter_t at;
    double x, y;
    chart_path_begin(&path, out, "line", style);
    for (chart_points(&at, series); chart_next_point(&at, &x, &y);)
        chart_path_to(&path, scale_place(x_scale, x), isnan(y) ? NAN : scale_place(y_scale, y));
    chart_path_end(&path);
    if (path.points > 1)
        return;
    for (chart_points(&at, series); chart_next_point(&at, &x, &y);)
        if (!isnan(y))
            chart_dot(out, style, scale_place(x_scale, x), scale_place(y_scale, y));
}

/* Fills the space below the only line. */
static void put_area(markup_t *out, const bson_t *series, const scale_t *x_scale, const scale_t *y_scale) {
    chart_path_t path;
    bson_iter_t at;
    double x, y, last = NAN;
    chart_path_begin(&path, out, "area", 0);
    for (chart_points(&at, series); chart_next_point(&at, &x, &y);) {
        if (isnan(last))
            chart_path_to(&path, scale_place(x_scale, x), 0);
        last = scale_place(x_scale, x);
        chart_path_to(&path, last, isnan(y) ? 0 : scale_place(y_scale, y));
    }
    chart_path_to(&path, last, 0);
    chart_path_end(&path);
}

static void describe(char out[256], const chart_extent_t *extent, const char *x_unit, const char *y_unit) {
    char from[SCALE_TEXT], to[SCALE_TEXT], least[SCALE_TEXT], most[SCALE_TEXT];
    snprintf(out, 256, "%zu point%s, %s to %s; the least is %s, the most %s.", extent->points,
             units_s(extent->points), scale_value(from, extent->low_x, x_unit),
             scale_value(to, extent->high_x, x_unit), scale_value(least, extent->low_y, y_unit),
             scale_value(most, extent->high_y, y_unit));
}

static void put_legend(markup_t *out, const bson_t *list, const bson_t *bands) {
    bson_t item;
    bson_iter_t at;
    size_t style = 0;
    char other[64] = "";
    chart_legend_begin(out);
    for (reading_begin(&at, list); reading_next(&at, &item);)
        chart_legend_series(out, style++, reading_text(&item, "name"));
    for (reading_begin(&at, bands); reading_next(&at, &item);)
        if (strcmp(reading_text(&item, "kind"), "phase") != 0)
            snprintf(other, sizeof other, "%.63s", reading_text(&item, "kind"));
    if (*other)
        chart_legend_patch(out, "band", other);
    chart_legend_end(out);
}

void charts_lines(markup_t *out, const bson_t *section) {
    bson_t x_axis, y_axis, list, series, bands;
    bson_iter_t at;
    chart_extent_t extent = {.points = 0};
    char text[256], x_name[128], y_name[128], label[SCALE_TEXT];
    size_t style = 0;
    reading_inner(section, "x", &x_axis);
    reading_inner(section, "y", &y_axis);
    reading_inner(section, "series", &list);
    reading_inner(section, "bands", &bands);
    for (reading_begin(&at, &list); reading_next(&at, &series);)
        chart_extend(&extent, &series);
    if (!extent.points) {
        put_nothing(out);
        return;
    }
    const char *x_unit = reading_text(&x_axis, "unit"), *y_unit = reading_text(&y_axis, "unit");
    describe(text, &extent, x_unit, y_unit);
    extend_by_bands(&extent, &bands);
    const scale_t x = scale_exact(fmin(0, extent.low_x), extent.high_x, MOST_X_TICKS, x_unit),
                  y = scale_linear(fmin(0, extent.low_y), extent.high_y, MOST_Y_TICKS, y_unit);
    name_axis(x_name, &x_axis);
    name_axis(y_name, &y_axis);
    put_legend(out, &list, &bands);
    chart_axes(out, x_name, y_name);
    chart_begin(out, "with-phases", TALL, reading_text(section, "title"), text);
    put_bands(out, &bands, &x, false);
    chart_grid_y(out, &y, y_unit);
    put_bands(out, &bands, &x, true);
    for (size_t i = 0; i < x.count; i++)
        chart_tick_x(out, scale_place(&x, x.ticks[i]), scale_short(label, x.ticks[i], x_unit), i % 2 == 1);
    if (reading_count(&list) == 1)
        for (reading_begin(&at, &list); reading_next(&at, &series);)
            put_area(out, &series, &x, &y);
    for (reading_begin(&at, &list); reading_next(&at, &series);)
        put_line(out, &series, &x, &y, style++);
    chart_end(out);
}

/* ---- latency by percentile: each step to the right leaves a tenth of what was beyond the step before ---- */

static const double LOG_FROM_RATIO = 20, BEYOND = 0.3;

static double depth(double percentile) {
    return percentile >= 100 ? INFINITY : percentile > 0 ? -log10(1 - percentile / 100) : 0;
}

/* The maximum is drawn a little beyond the highest percentile that is given. */
static double deepest(const bson_t *list) {
    bson_t series;
    bson_iter_t at, each;
    double x, y, found = 1;
    for (reading_begin(&at, list); reading_next(&at, &series);)
        for (chart_points(&each, &series); chart_next_point(&each, &x, &y);)
            if (isfinite(depth(x)))
                found = fmax(found, depth(x));
    return found + BEYOND;
}

static void put_percentiles(markup_t *out, const bson_t *series, double depth_of_all, const scale_t *scale,
                            size_t style) {
    chart_path_t path;
    bson_iter_t at;
    double x, y;
    chart_path_begin(&path, out, "line", style);
    for (chart_points(&at, series); chart_next_point(&at, &x, &y);)
        chart_path_to(&path, fmin(depth(x) / depth_of_all, 1), isnan(y) ? NAN : scale_place(scale, y));
    chart_path_end(&path);
    if (path.points > MANY_POINTS)
        return;
    for (chart_points(&at, series); chart_next_point(&at, &x, &y);)
        if (!isnan(y))
            chart_dot(out, style, fmin(depth(x) / depth_of_all, 1), scale_place(scale, y));
}

static void put_percent_ticks(markup_t *out, double depth_of_all) {
    static const struct {
        double percentile;
        const char *label;
    } ticks[] = {{0, "0"},         {50, "50 %"},       {90, "90 %"},        {99, "99 %"},
                 {99.9, "99.9 %"}, {99.99, "99.99 %"}, {99.999, "99.999 %"}};
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        const double place = depth(ticks[i].percentile) / depth_of_all;
        if (place > 1 - BEYOND / depth_of_all / 2)
            break;
        markup_print(out, "<line class=\"grid\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"100%%\"/>",
                     100 * place, 100 * place);
        chart_tick_x(out, place, ticks[i].label, i == 1 || place > NEAR_THE_END);
    }
    chart_tick_x(out, 1, "max", false);
}

void charts_percentiles(markup_t *out, const bson_t *section) {
    bson_t y_axis, list, series, none = BSON_INITIALIZER;
    bson_iter_t at;
    chart_extent_t extent = {.points = 0};
    char text[256];
    size_t style = 0;
    reading_inner(section, "y", &y_axis);
    reading_inner(section, "series", &list);
    for (reading_begin(&at, &list); reading_next(&at, &series);)
        chart_extend(&extent, &series);
    if (!extent.points || isnan(extent.high_y)) {
        put_nothing(out);
        return;
    }
    const char *unit = reading_text(&y_axis, "unit");
    const bool wide = extent.low_y > 0 && extent.high_y > LOG_FROM_RATIO * extent.low_y;
    const scale_t scale = wide ? scale_log(extent.low_y * 0.9, extent.high_y * 1.1, MOST_Y_TICKS + 2)
                               : scale_linear(0, extent.high_y, MOST_Y_TICKS, unit);
    const double all = deepest(&list);
    describe(text, &extent, "%", unit);
    put_legend(out, &list, &none);
    chart_axes(out, "percentile", wide ? "time (logarithmic)" : "time");
    chart_begin(out, "plain", TALL, reading_text(section, "title"), text);
    chart_grid_y(out, &scale, unit);
    put_percent_ticks(out, all);
    for (reading_begin(&at, &list); reading_next(&at, &series);)
        put_percentiles(out, &series, all, &scale, style++);
    chart_end(out);
}

/* ---- timeline ---- */

/* Predictions are drawn one after the other, like the phases, from the beginning of the first. */
static void put_phase(markup_t *out, const bson_t *phase, double end, double expected) {
    const double began = reading_number(phase, "began"), took = reading_number(phase, "took"),
                 predicted = reading_number(phase, "predicted"), low = reading_number(phase, "low"),
                 high = reading_number(phase, "high");
    char text[SCALE_TEXT], from[SCALE_TEXT], to[SCALE_TEXT];
    markup_put(out, "<li><p><span>");
    markup_text(out, reading_text(phase, "name"));
    markup_put(out, "</span> <span class=\"took\"><b>");
    markup_text(out, scale_value(text, took, "s"));
    markup_put(out, "</b>");
    if (!isnan(predicted)) {
        markup_put(out, ", predicted ");
        markup_text(out, scale_value(text, predicted, "s"));
    }
    if (!isnan(low) && !isnan(high)) {
        markup_put(out, " (");
        markup_text(out, scale_value(from, low, "s"));
        markup_put(out, " to ");
        markup_text(out, scale_value(to, high, "s"));
        markup_put(out, ")");
    }
    const bool two = !isnan(predicted);
    markup_print(out,
                 "</span></p><svg class=\"spans\" aria-hidden=\"true\" focusable=\"false\" width=\"100%%\" "
                 "height=\"%d\"><line class=\"grid\" x1=\"0\" x2=\"100%%\" y1=\"50%%\" y2=\"50%%\"/>",
                 two ? 22 : 10);
    if (!isnan(began) && !isnan(took) && end > 0)
        markup_print(
            out, "<rect class=\"measured\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"0\" height=\"10\" rx=\"1\"/>",
            100 * began / end, fmax(100 * took / end, 0.3));
    if (two && end > 0) {
        markup_print(
            out, "<rect class=\"predicted\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"13\" height=\"8\" rx=\"1\"/>",
            100 * expected / end, fmax(100 * predicted / end, 0.3));
        if (!isnan(low) && !isnan(high))
            markup_print(out,
                         "<line class=\"whisker\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"17\" y2=\"17\"/><line "
                         "class=\"whisker\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"13\" y2=\"21\"/><line "
                         "class=\"whisker\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"13\" y2=\"21\"/>",
                         100 * (expected + low) / end, 100 * (expected + high) / end,
                         100 * (expected + low) / end, 100 * (expected + low) / end,
                         100 * (expected + high) / end, 100 * (expected + high) / end);
    }
    markup_put(out, "</svg></li>\n");
}

void charts_timeline(markup_t *out, const bson_t *section) {
    bson_t list, phase;
    bson_iter_t at;
    double end = 0, expected = 0, predicted_all = 0;
    bool predictions = false, intervals = false;
    reading_inner(section, "items", &list);
    for (reading_begin(&at, &list); reading_next(&at, &phase);) {
        const double predicted = reading_number(&phase, "predicted"), high = reading_number(&phase, "high");
        end = fmax(end, reading_number(&phase, "began") + reading_number(&phase, "took"));
        end = fmax(end, predicted_all + fmax(predicted, high));
        predicted_all += isnan(predicted) ? 0 : predicted;
        predictions = predictions || !isnan(predicted);
        intervals = intervals || !isnan(high);
    }
    if (bson_empty(&list)) {
        put_nothing(out);
        return;
    }
    end = isfinite(end) ? end : 0;
    if (predictions) {
        chart_legend_begin(out);
        chart_legend_patch(out, "measured", "measured");
        chart_legend_patch(out, "predicted", intervals ? "predicted, with its interval" : "predicted");
        chart_legend_end(out);
    }
    markup_put(out, "<ol class=\"timeline\">\n");
    for (reading_begin(&at, &list); reading_next(&at, &phase);) {
        const double predicted = reading_number(&phase, "predicted");
        put_phase(out, &phase, end, isnan(predicted) ? reading_number(&phase, "began") : expected);
        expected += isnan(predicted) ? 0 : predicted;
    }
    markup_put(out, "</ol>\n");
}

/* ---- many rows as columns ---- */

enum { LOW = 120 };

static void put_column_chart(markup_t *out, const bson_t *rows, size_t column, const char *name,
                             const char *unit, double most) {
    bson_t row;
    bson_iter_t at, cell;
    const double count = (double)reading_count(rows);
    double largest = 0, least = INFINITY;
    size_t number = 0;
    char text[160], low[SCALE_TEXT], high[SCALE_TEXT];
    for (int pass = 0; pass < 2; pass++) {
        const scale_t scale = scale_linear(0, most > 0 && largest > most / 2 ? most : largest, 3, unit);
        if (pass) {
            snprintf(text, sizeof text, "%.0f of them; the least is %s, the most %s.", count,
                     scale_value(low, isfinite(least) ? least : NAN, unit), scale_value(high, largest, unit));
            markup_put(out, "<p class=\"axes\"><span>↑ ");
            markup_text(out, name);
            markup_put(out, "</span><span>");
            markup_text(out, text);
            markup_put(out, "</span></p>");
            chart_begin(out, "columns", LOW, name, text);
            chart_grid_y(out, &scale, unit);
        }
        for (reading_begin(&at, rows); reading_next(&at, &row);) {
            bson_iter_init(&cell, &row);
            for (size_t i = 0; bson_iter_next(&cell); i++) {
                const double value = reading_value(&cell);
                if (i != column || isnan(value))
                    continue;
                if (pass) {
                    const double height = 100 * scale_place(&scale, value);
                    markup_print(out,
                                 "<rect class=\"column\" x=\"%.3f%%\" width=\"%.3f%%\" y=\"%.2f%%\" "
                                 "height=\"%.2f%%\"/>",
                                 100 * (double)number / count, 80 / count, 100 - height, height);
                }
                largest = fmax(largest, value);
                least = fmin(least, value);
            }
            number++;
        }
        number = 0;
        if (pass)
            chart_end(out);
    }
}

void charts_columns(markup_t *out, const bson_t *section) {
    bson_t columns, column, rows;
    bson_iter_t at;
    size_t number = 0;
    reading_inner(section, "columns", &columns);
    reading_inner(section, "rows", &rows);
    for (reading_begin(&at, &columns); reading_next(&at, &column); number++)
        if (reading_has(&column, "most"))
            put_column_chart(out, &rows, number, reading_text(&column, "name"), reading_text(&column, "unit"),
                             reading_number(&column, "most"));
}
