/* heat: the picture of a grid of cells, such as threads x batch: the fuller the colour, the larger the value. */
#include "report/chart.h"
#include "report/charts.h"
#include "report/reading.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LABELS = 32, LEVELS = 7, CELL = 64, DENSE_COLUMNS = 6, CROWDED_COLUMNS = 10 };

/* In the order in which they appear. */
typedef struct {
    const char *texts[MOST_LABELS];
    size_t count;
} labels_t;

static size_t label_of(labels_t *labels, const char *text) {
    for (size_t i = 0; i < labels->count; i++)
        if (strcmp(labels->texts[i], text) == 0)
            return i;
    if (labels->count == MOST_LABELS)
        return MOST_LABELS;
    labels->texts[labels->count] = text;
    return labels->count++;
}

typedef struct {
    labels_t rows, columns;
    double least, most;
    const char *unit;
} map_t;

static void put_cell_text(markup_t *out, const char *kind, double x, double y, const char *text) {
    markup_print(out, "<text class=\"%s\" x=\"%.2f%%\" y=\"%.0f\" dy=\".32em\">", kind, x, y);
    markup_text(out, text);
    markup_put(out, "</text>");
}

static void put_cell(markup_t *out, const bson_t *cell, map_t *map) {
    const size_t row = label_of(&map->rows, reading_text(cell, "row")),
                 column = label_of(&map->columns, reading_text(cell, "column"));
    const double value = reading_number(cell, "value"), low = reading_number(cell, "low"),
                 high = reading_number(cell, "high");
    const bool dropped = strcmp(reading_text(cell, "state"), "dropped") == 0,
               best = reading_flag(cell, "best"), cheapest = reading_flag(cell, "cheapest");
    if (row == MOST_LABELS || column == MOST_LABELS)
        return;
    const double width = 100 / (double)map->columns.count, x = width * (double)column,
                 top = CELL * (double)row;
    const double share = map->most > map->least ? (value - map->least) / (map->most - map->least) : 1;
    const size_t level = share >= 1 ? LEVELS - 1 : share > 0 ? (size_t)(share * LEVELS) : 0;
    char text[SCALE_TEXT];
    markup_put(out, "<g class=\"cell ");
    if (isnan(value))
        markup_put(out, "untried\">");
    else
        markup_print(out, "h%zu%s\">", level, dropped ? " dropped" : "");
    markup_print(out, "<rect x=\"%.2f%%\" y=\"%.0f\" width=\"%.2f%%\" height=\"%d\"/>", x, top, width, CELL);
    if (dropped) /* crossed out, so that it can be seen without colours */
        markup_print(out, "<line class=\"cross\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%.0f\" y2=\"%.0f\"/>", x,
                     x + width, top + CELL, top);
    if (best || cheapest)
        markup_print(out,
                     "<svg x=\"%.2f%%\" y=\"%.0f\" width=\"%.2f%%\" height=\"%d\"><rect class=\"ring %s\" "
                     "x=\"0\" y=\"0\" width=\"100%%\" height=\"100%%\"/></svg>",
                     x, top, width, CELL, cheapest ? "cheapest" : "best");
    const double middle = x + width / 2;
    const bool marked = best || cheapest, interval = !isnan(low) && !isnan(high) && value > 0;
    const double line = top + CELL / 2.0 - (marked ? 8 : 0) - (interval ? 8 : 0);
    put_cell_text(out, "rate", middle, line,
                  isnan(value) ? "–" : scale_short(text, value < 1000 ? value : scale_three(value), ""));
    if (interval) {
        snprintf(text, sizeof text, "±%.*f %%", (high - low) / value < 0.02 ? 1 : 0,
                 50 * (high - low) / value);
        put_cell_text(out, "interval", middle, line + 16, text);
    }
    if (marked)
        put_cell_text(out, "mark", middle, line + (interval ? 32 : 16),
                      best && cheapest ? "best, cheapest"
                      : best           ? "best"
                                       : "cheapest");
    markup_put(out, "</g>\n");
}

static void put_legend(markup_t *out, const map_t *map, bool dropped) {
    char low[SCALE_TEXT], high[SCALE_TEXT];
    chart_legend_begin(out);
    markup_put(out, "<li>");
    markup_text(out, scale_value(low, map->least, map->unit));
    markup_put(out, " <svg aria-hidden=\"true\" focusable=\"false\" width=\"112\" height=\"12\">");
    for (int i = 0; i < LEVELS; i++)
        markup_print(out, "<rect class=\"h%d\" x=\"%d\" width=\"16\" height=\"12\"/>", i, 16 * i);
    markup_put(out, "</svg> ");
    markup_text(out, scale_value(high, map->most, map->unit));
    markup_put(out, "</li>\n");
    chart_legend_patch(out, "ring cheapest", "the cheapest that is nearly as fast as the best");
    chart_legend_patch(out, "ring best", "the best of those tried more than once");
    if (dropped)
        markup_put(out, "<li><svg aria-hidden=\"true\" focusable=\"false\" width=\"22\" height=\"14\"><rect "
                        "class=\"struck\" width=\"22\" height=\"14\"/><line class=\"cross\" x1=\"0\" "
                        "x2=\"22\" y1=\"14\" y2=\"0\"/></svg>given up early</li>\n");
    chart_legend_end(out);
}

static void name_rows(markup_t *out, const map_t *map) {
    for (size_t i = 0; i < map->rows.count; i++) {
        markup_print(out, "<text class=\"y\" x=\"-8\" y=\"%.0f\" dy=\".32em\">", CELL * ((double)i + 0.5));
        markup_text_short(out, map->rows.texts[i], 8);
        markup_put(out, "</text>\n");
    }
    for (size_t i = 0; i < map->columns.count; i++) {
        markup_print(out, "<text class=\"x%s\" x=\"%.2f%%\" y=\"100%%\" dy=\"20\">",
                     map->columns.count > DENSE_COLUMNS && i % 3 ? " minor" : "",
                     100 * ((double)i + 0.5) / (double)map->columns.count);
        markup_text_short(out, map->columns.texts[i], 8);
        markup_put(out, "</text>\n");
    }
}

void charts_heat(markup_t *out, const bson_t *section) {
    bson_t list, cell, row, column, value;
    bson_iter_t at;
    map_t map = {.least = NAN, .most = NAN};
    bool dropped = false;
    char text[200], low[SCALE_TEXT], high[SCALE_TEXT];
    reading_inner(section, "items", &list);
    reading_inner(section, "row", &row);
    reading_inner(section, "column", &column);
    reading_inner(section, "value", &value);
    map.unit = reading_text(&value, "unit");
    for (reading_begin(&at, &list); reading_next(&at, &cell);) {
        label_of(&map.rows, reading_text(&cell, "row"));
        label_of(&map.columns, reading_text(&cell, "column"));
        map.least = fmin(map.least, reading_number(&cell, "value"));
        map.most = fmax(map.most, reading_number(&cell, "value"));
        dropped = dropped || strcmp(reading_text(&cell, "state"), "dropped") == 0;
    }
    if (!map.rows.count || isnan(map.most)) {
        markup_put(out, "<p class=\"nothing\">Nothing was measured.</p>\n");
        return;
    }
    snprintf(text, sizeof text, "%zu by %zu cells, from %s to %s.", map.rows.count, map.columns.count,
             scale_value(low, map.least, map.unit), scale_value(high, map.most, map.unit));
    put_legend(out, &map, dropped);
    chart_axes(out, reading_text(&column, "name"), reading_text(&row, "name"));
    chart_begin(out,
                map.columns.count > CROWDED_COLUMNS ? "heat crowded"
                : map.columns.count > DENSE_COLUMNS ? "heat dense"
                                                    : "heat",
                CELL * (int)map.rows.count, reading_text(section, "title"), text);
    for (int marked = 0; marked < 2; marked++) /* rings are drawn above neighbouring cells */
        for (reading_begin(&at, &list); reading_next(&at, &cell);)
            if ((reading_flag(&cell, "best") || reading_flag(&cell, "cheapest")) == (marked == 1))
                put_cell(out, &cell, &map);
    name_rows(out, &map);
    chart_end(out);
}
