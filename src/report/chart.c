/* The picture of a page: a line over time, with bands of time. Its frame is as wide as the page: places along it are
 * percent, and the line is drawn in 100 x 100, stretched over the frame. */
#include "report/inner.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdlib.h>

enum { TALL = 240, MOST_X_TICKS = 8, MOST_Y_TICKS = 5 };

typedef struct {
    double high, step;
    const char *key;
} axis_t;

/* The smallest step of 1, 2 or 5 times a power of ten, or of a clock, that makes at most `most` ticks. */
static double step_of(double span, int most, bool time) {
    static const double clock_steps[] = {1,   2,   5,    10,   15,   20,   30,    60,    120,   300,
                                         600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400},
                        parts[] = {1, 2, 5, 10};
    for (size_t i = 0; time && span > most && i < COUNT(clock_steps); i++)
        if (span / clock_steps[i] <= most)
            return clock_steps[i];
    const double power = pow(10, floor(log10(span / most)));
    for (size_t i = 0; i < COUNT(parts); i++)
        if (span / (power * parts[i]) <= most * (1 + 1e-9))
            return power * parts[i];
    return power * 20;
}

/* From 0. An axis without an end is given one. */
static axis_t make_axis(double high, int most, const char *key) {
    axis_t axis = {.high = high > 0 && high < 1e18 ? high : 1, .key = key};
    axis.step = step_of(axis.high, most, figure_is_time(key));
    return axis;
}

/* In percent. */
static double place(const axis_t *axis, double value) {
    return 100 * fmin(fmax(value / axis->high, 0), 1);
}

static void put_label(text_t *page, const axis_t *axis, int tick, const char *attributes, double at,
                      const char *more) {
    text_print(page, "<text %s=\"%.2f%%\" %s>", attributes, at, more);
    if (tick)
        figure_put(page, tick * axis->step, axis->key, true);
    else
        text_append(page, "0");
    text_append(page, "</text>\n");
}

/* On a phone every other label of time is left out. */
static void put_axes(text_t *page, const axis_t *x, const axis_t *y) {
    for (int i = 0; i * y->step <= y->high * (1 + 1e-9); i++) {
        const double at = 100 - place(y, i * y->step);
        text_print(page, "<line class=\"%s\" x1=\"0\" x2=\"100%%\" y1=\"%.2f%%\" y2=\"%.2f%%\"/>",
                   i ? "grid" : "base", at, at);
        put_label(page, y, i, "class=\"y\" x=\"-8\" y", at, "dy=\".32em\"");
    }
    for (int i = 0; i * x->step <= x->high * (1 + 1e-9); i++)
        put_label(page, x, i, i % 2 ? "class=\"x minor\" x" : "class=\"x\" x", place(x, i * x->step),
                  "y=\"100%\" dy=\"20\"");
}

static void put_bands(text_t *page, const bson_t *document, const char *list, const axis_t *x) {
    bson_iter_t bands;
    bson_t band;
    if (!bson_read_list(document, list, &bands))
        return;
    while (bson_read_next(&bands, &band)) {
        const double from = place(x, bson_read_number(&band, "-from_seconds")),
                     to = place(x, bson_read_number(&band, "-to_seconds"));
        if (from < 100)
            text_print(page,
                       "<rect class=\"band\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"0\" height=\"100%%\"/>\n",
                       from, fmax(to - from, 0.15));
    }
}

static void put_line(text_t *page, const table_t *table, const axis_t *x, const axis_t *y) {
    text_append(page, "<svg class=\"stretch\" width=\"100%\" height=\"100%\" viewBox=\"0 0 100 100\" "
                      "preserveAspectRatio=\"none\"><polyline class=\"line\" points=\"");
    for (size_t row = 0; row < table->rows; row++)
        text_print(page, "%s%.2f,%.2f", row ? " " : "", place(x, table_cell(table, row, 0)->number),
                   100 - place(y, table_cell(table, row, 1)->number));
    text_append(page, "\"/></svg>\n");
}

void chart_put(text_t *page, const bson_t *document, const result_view_t *view, const table_t *table) {
    const axis_t x = make_axis(table_most(table, 0), MOST_X_TICKS, view->columns[0].key);
    axis_t y = make_axis(table_most(table, 1), MOST_Y_TICKS, view->columns[1].key);
    y.high = ceil(y.high / y.step - 1e-9) * y.step;
    text_append(page, "<p class=\"axes\"><span>↑ ");
    page_words(page, table->titles[1]);
    text_append(page, "</span><span>");
    page_words(page, table->titles[0]);
    text_print(page,
               " →</span></p>\n<div class=\"frame\"><svg role=\"img\" width=\"100%%\" "
               "height=\"%d\"><title>",
               TALL);
    page_words(page, view->title);
    text_print(page, "</title><desc>%zu points; the figures are in the table below.</desc>\n", table->rows);
    put_axes(page, &x, &y);
    put_bands(page, document, view->bands, &x);
    put_line(page, table, &x, &y);
    text_append(page, "</svg></div>\n");
}
