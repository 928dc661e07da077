/* The picture of a page: a line over time, with bands of time. Its frame is as wide as the page: places along it are
 * percent, and the line is drawn in 1000 x 1000, stretched over the frame. */
#include "base/chars.h"
#include "report/inner.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TALL = 240, MOST_X_TICKS = 8, MOST_Y_TICKS = 5, MOST_TICKS = 24, BAND_NAME = 40 };

/* ---- axes ---- */

typedef struct {
    double low, high, step;
    const char *key;
} axis_t;

/* The smallest step of 1, 2 or 5 times a power of ten, or of a clock, that makes at most `most` ticks. */
static double step_of(double span, int most, bool time) {
    static const double clock_steps[] = {1,   2,   5,    10,   15,   20,   30,    60,    120,   300,
                                         600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400},
                        parts[] = {1, 2, 5, 10};
    for (size_t i = 0; time && span > most && i < sizeof clock_steps / sizeof *clock_steps; i++)
        if (span / clock_steps[i] <= most)
            return clock_steps[i];
    const double power = pow(10, floor(log10(span / most)));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (span / (power * parts[i]) <= most * (1 + 1e-9))
            return power * parts[i];
    return power * 20;
}

/* From 0. An axis without an end is given one; `round` moves it to a tick. */
static axis_t make_axis(double high, int most, const char *key, bool round) {
    axis_t axis = {.high = high > 0 && high < 1e18 ? high : 1, .key = key};
    axis.step = step_of(axis.high, most, figure_is_time(key));
    if (round)
        axis.high = ceil(axis.high / axis.step - 1e-9) * axis.step;
    return axis;
}

static double place(const axis_t *axis, double value) {
    return fmin(fmax((value - axis->low) / (axis->high - axis->low), 0), 1);
}

static void put_grid(text_t *page, const axis_t *y) {
    char label[FIGURE_ROOM];
    for (int i = 0; i < MOST_TICKS && i * y->step <= y->high * (1 + 1e-9); i++) {
        const double at = 100 - 100 * place(y, i * y->step);
        page_put(page, "<line class=\"%s\" x1=\"0\" x2=\"100%%\" y1=\"%.2f%%\" y2=\"%.2f%%\"/>",
                 i ? "grid" : "base", at, at);
        page_put(page, "<text class=\"y\" x=\"-8\" y=\"%.2f%%\" dy=\".32em\">%s</text>\n", at,
                 figure_short(label, i * y->step, y->key));
    }
}

/* On a phone every other label is left out. */
static void put_ticks(text_t *page, const axis_t *x) {
    char label[FIGURE_ROOM];
    for (int i = 0; i < MOST_TICKS && i * x->step <= x->high * (1 + 1e-9); i++)
        page_put(page, "<text class=\"x%s\" x=\"%.2f%%\" y=\"100%%\" dy=\"20\">%s</text>\n",
                 i % 2 ? " minor" : "", 100 * place(x, i * x->step),
                 figure_short(label, i * x->step, x->key));
}

/* ---- bands ---- */

static const double WIDE_LETTER = 1.05, PHONE_LETTER = 2.1; /* of a band's name: percent of the width */

static void put_name(text_t *page, const char *name, double width) {
    const double letters = (double)utf8_columns(name);
    if (letters > BAND_NAME || width < WIDE_LETTER * letters + 1)
        return;
    page_put(page, "<text%s x=\"50%%\" y=\"9\" dy=\".32em\">",
             width >= PHONE_LETTER * letters + 1 ? "" : " class=\"minor\"");
    page_words(page, name);
    text_append(page, "</text>");
}

/* Phases follow one another, above the frame, with alternating tints; all others lie below the line. */
static void put_band(text_t *page, const bson_t *band, const axis_t *x, size_t number) {
    const double from = 100 * place(x, bson_read_number(band, "from_seconds")),
                 width = fmax(100 * place(x, bson_read_number(band, "to_seconds")) - from, 0.15);
    if (strcmp(bson_read_text(band, "kind"), "phase") != 0) {
        page_put(page, "<rect class=\"band\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"0\" height=\"100%%\"/>\n",
                 from, width);
        return;
    }
    page_put(page,
             "<svg class=\"phase\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"-26\" height=\"18\"><rect "
             "class=\"phase%zu\" width=\"100%%\" height=\"100%%\"/>",
             from, width, number % 2);
    put_name(page, bson_read_text(band, "name"), width);
    page_put(page, "</svg><line class=\"border\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"-26\" y2=\"100%%\"/>\n",
             from, from);
}

static void put_bands(text_t *page, const result_t *result, const result_view_t *view, const axis_t *x) {
    bson_t band;
    for (size_t i = 0; view->bands && result_item(&result->document, view->bands, i, &band); i++)
        put_band(page, &band, x, i);
}

/* ---- the line ---- */

static void put_path(text_t *page, const table_t *table, const axis_t *x, const axis_t *y, bool area) {
    page_put(page,
             "<svg class=\"stretch\" width=\"100%%\" height=\"100%%\" viewBox=\"0 0 1000 1000\" "
             "preserveAspectRatio=\"none\"><path class=\"%s\" d=\"",
             area ? "area" : "line");
    for (size_t row = 0; row < table->rows; row++) {
        const double across = 1000 * place(x, table_cell(table, row, 0)->number),
                     up = 1000 - 1000 * place(y, table_cell(table, row, 1)->number);
        if (area && !row)
            page_put(page, "M%.1f,1000", across);
        page_put(page, "%s%.1f,%.1f", row || area ? "L" : "M", across, up);
        if (area && row + 1 == table->rows)
            page_put(page, "L%.1f,1000", across);
    }
    text_append(page, "\"/></svg>\n");
}

static double most_of(const table_t *table, size_t column) {
    double most = 0;
    for (size_t row = 0; row < table->rows; row++)
        most = fmax(most, table_cell(table, row, column)->number);
    return most;
}

void chart_put(text_t *page, const result_t *result, const result_view_t *view) {
    table_t table = table_make(result, view);
    bson_t band;
    double end = most_of(&table, 0);
    const char *other = "";
    for (size_t i = 0; view->bands && result_item(&result->document, view->bands, i, &band); i++) {
        end = fmax(end, bson_read_number(&band, "to_seconds"));
        other = strcmp(bson_read_text(&band, "kind"), "phase") == 0 ? other : bson_read_text(&band, "kind");
    }
    const axis_t x = make_axis(end, MOST_X_TICKS, view->columns[0].key, false),
                 y = make_axis(most_of(&table, 1), MOST_Y_TICKS, view->columns[1].key, true);
    text_append(page, "<p class=\"axes\"><span>↑ ");
    page_words(page, view->columns[1].title);
    if (*other) {
        text_append(page, " <svg class=\"key\" aria-hidden=\"true\" focusable=\"false\" width=\"16\" "
                          "height=\"12\"><rect class=\"band\" width=\"16\" height=\"12\"/></svg> ");
        page_words(page, other);
    }
    text_append(page, "</span><span>");
    page_words(page, view->columns[0].title);
    page_put(page,
             " →</span></p>\n<div class=\"frame with-phases\"><svg role=\"img\" width=\"100%%\" "
             "height=\"%d\"><title>",
             TALL);
    page_words(page, view->title);
    page_put(page, "</title><desc>%zu points; the figures are in the table below.</desc>\n", table.rows);
    put_grid(page, &y);
    put_bands(page, result, view, &x);
    put_ticks(page, &x);
    put_path(page, &table, &x, &y, true);
    put_path(page, &table, &x, &y, false);
    text_append(page, "</svg></div>\n");
    table_free(&table);
}
