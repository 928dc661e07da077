#include "report/html.h"
#include "builtin/builtin.h"
#include "report/charts.h"
#include "report/file.h"
#include "report/reading.h"
#include "report/report.h"
#include "report/scale.h"
#include "report/table.h"
#include "report/words.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 24 };

/* ---- figures ---- */

static void put_setting(markup_t *out, const bson_iter_t *at) {
    char text[SCALE_TEXT];
    if (BSON_ITER_HOLDS_UTF8(at))
        markup_text(out, bson_iter_utf8(at, NULL));
    else if (BSON_ITER_HOLDS_BOOL(at))
        markup_put(out, bson_iter_bool(at) ? "yes" : "no");
    else
        markup_text(out, scale_value(text, reading_value(at), ""));
}

static void draw_figures(markup_t *out, const bson_t *section) {
    bson_t list, item;
    bson_iter_t at, value;
    char text[SCALE_TEXT];
    reading_inner(section, "items", &list);
    markup_put(out, "<dl class=\"figures\">\n");
    for (reading_begin(&at, &list); reading_next(&at, &item);) {
        const char *unit = reading_text(&item, "unit");
        const bool words = bson_iter_init_find(&value, &item, "value") && BSON_ITER_HOLDS_UTF8(&value);
        markup_print(out, "<div%s><dt>", words ? " class=\"words\"" : "");
        markup_text(out, reading_text(&item, "name"));
        markup_put(out, "</dt><dd>");
        markup_text(out, words ? bson_iter_utf8(&value, NULL)
                               : scale_value(text, reading_number(&item, "value"), unit));
        markup_put(out, "</dd></div>\n");
    }
    markup_put(out, "</dl>\n");
}

/* ---- tables and bars ---- */

/* The largest number in a column. */
static double largest_in(const bson_t *rows, size_t column) {
    bson_t row;
    bson_iter_t at, cell;
    double largest = 0;
    for (reading_begin(&at, rows); reading_next(&at, &row);) {
        bson_iter_init(&cell, &row);
        for (size_t i = 0; bson_iter_next(&cell); i++)
            if (i == column && reading_value(&cell) > largest)
                largest = reading_value(&cell);
    }
    return largest;
}

/* Does the column have no text? It may be empty. */
static bool is_numbers(const bson_t *rows, size_t column) {
    bson_t row;
    bson_iter_t at, cell;
    for (reading_begin(&at, rows); reading_next(&at, &row);) {
        bson_iter_init(&cell, &row);
        for (size_t i = 0; bson_iter_next(&cell); i++)
            if (i == column && BSON_ITER_HOLDS_UTF8(&cell))
                return false;
    }
    return !bson_empty(rows);
}

static void put_rows(markup_t *out, const bson_t *section, bool bars) {
    table_column_t columns[TABLE_COLUMNS];
    table_t table;
    bson_t list, rows, item;
    bson_iter_t at, cell;
    size_t count = 0;
    reading_inner(section, "columns", &list);
    reading_inner(section, "rows", &rows);
    for (reading_begin(&at, &list); count < TABLE_COLUMNS && reading_next(&at, &item); count++) {
        const double most = reading_has(&item, "most") && bars ? reading_number(&item, "most") : NAN;
        columns[count] = (table_column_t){.name = reading_text(&item, "name"),
                                          .unit = reading_text(&item, "unit"),
                                          .numbers = is_numbers(&rows, count),
                                          .most = most == 0 ? largest_in(&rows, count) : most};
    }
    table_begin(&table, out, reading_text(section, "title"), columns, count);
    for (reading_begin(&at, &rows); reading_next(&at, &item);) {
        table_row(&table);
        for (bson_iter_init(&cell, &item); bson_iter_next(&cell);) {
            if (BSON_ITER_HOLDS_UTF8(&cell))
                table_text(&table, bson_iter_utf8(&cell, NULL));
            else
                table_number(&table, reading_value(&cell));
        }
    }
    table_end(&table);
}

static void draw_table(markup_t *out, const bson_t *section) {
    put_rows(out, section, true);
}

/* ---- texts ---- */

/* A command line: an option is not broken after its dashes. */
static void put_code(markup_t *out, const char *text) {
    markup_put(out, "<code>");
    while (*text) {
        const size_t length = strcspn(text, " "), spaces = strspn(text + length, " ");
        char *word = bson_strndup(text, length + spaces);
        if (*text == '-')
            markup_put(out, "<span>");
        markup_text(out, word);
        if (*text == '-')
            markup_put(out, "</span>");
        bson_free(word);
        text += length + spaces;
    }
    markup_put(out, "</code>");
}

static void draw_text(markup_t *out, const bson_t *section) {
    bson_t list;
    bson_iter_t at;
    reading_inner(section, "items", &list);
    markup_put(out, "<pre>");
    for (bson_iter_init(&at, &list); bson_iter_next(&at);) {
        if (!BSON_ITER_HOLDS_UTF8(&at))
            continue;
        put_code(out, bson_iter_utf8(&at, NULL));
        markup_put(out, "\n");
    }
    markup_put(out, "</pre>\n");
}

/* ---- the figures behind a picture ---- */

static void data_series(markup_t *out, const bson_t *section) {
    bson_t x, y, list, series, points, point;
    bson_iter_t at, each, value;
    reading_inner(section, "x", &x);
    reading_inner(section, "y", &y);
    reading_inner(section, "series", &list);
    for (reading_begin(&at, &list); reading_next(&at, &series);) {
        const table_column_t columns[] = {{.name = reading_text(&x, "name"),
                                           .unit = reading_text(&x, "unit"),
                                           .numbers = true,
                                           .most = NAN},
                                          {.name = reading_text(&y, "name"),
                                           .unit = reading_text(&y, "unit"),
                                           .numbers = true,
                                           .most = NAN}};
        table_t table;
        table_begin(&table, out, reading_text(&series, "name"), columns, 2);
        reading_inner(&series, "points", &points);
        for (reading_begin(&each, &points); reading_next(&each, &point);) {
            table_row(&table);
            for (bson_iter_init(&value, &point); bson_iter_next(&value);)
                table_number(&table, reading_value(&value));
        }
        table_end(&table);
    }
}

static void data_items(markup_t *out, const bson_t *section, const char *list_name,
                       const table_column_t *columns, const char *const *fields, size_t count) {
    bson_t list, item;
    bson_iter_t at, value;
    table_t table;
    reading_inner(section, list_name, &list);
    if (bson_empty(&list))
        return;
    table_begin(&table, out, reading_text(section, "title"), columns, count);
    for (reading_begin(&at, &list); reading_next(&at, &item);) {
        table_row(&table);
        for (size_t i = 0; i < count; i++) {
            if (columns[i].numbers)
                table_number(&table, reading_number(&item, fields[i]));
            else if (bson_iter_init_find(&value, &item, fields[i]) && BSON_ITER_HOLDS_BOOL(&value))
                table_text(&table, bson_iter_bool(&value) ? fields[i] : "");
            else
                table_text(&table, reading_text(&item, fields[i]));
        }
    }
    table_end(&table);
}

#define TEXT_COLUMN(title)                                                                                   \
    { .name = (title), .unit = "", .most = NAN }
#define NUMBER_COLUMN(title, unit_)                                                                          \
    { .name = (title), .unit = (unit_), .numbers = true, .most = NAN }

static void data_lines(markup_t *out, const bson_t *section) {
    static const char *const fields[] = {"name", "kind", "from", "to"};
    static const table_column_t columns[] = {TEXT_COLUMN("name"), TEXT_COLUMN("kind"),
                                             NUMBER_COLUMN("from", "s"), NUMBER_COLUMN("to", "s")};
    data_series(out, section);
    data_items(out, section, "bands", columns, fields, 4);
}

static void data_timeline(markup_t *out, const bson_t *section) {
    static const char *const fields[] = {"name", "began", "took", "predicted", "low", "high"};
    static const table_column_t columns[] = {TEXT_COLUMN("phase"),       NUMBER_COLUMN("began", "s"),
                                             NUMBER_COLUMN("took", "s"), NUMBER_COLUMN("predicted", "s"),
                                             NUMBER_COLUMN("from", "s"), NUMBER_COLUMN("to", "s")};
    data_items(out, section, "items", columns, fields, sizeof fields / sizeof *fields);
}

/* ---- sections ---- */

/* If there are too many rows to read one by one, the section begins with a picture. */
static bool has_many_rows(const bson_t *section) {
    bson_t rows;
    reading_inner(section, "rows", &rows);
    return reading_count(&rows) > MOST_ROWS;
}

static void draw_bars(markup_t *out, const bson_t *section) {
    if (has_many_rows(section))
        charts_columns(out, section);
    else
        put_rows(out, section, true);
}

static void data_bars(markup_t *out, const bson_t *section) {
    put_rows(out, section, false);
}

static bool always(const bson_t *section) {
    return section != NULL;
}

typedef void part_fn(markup_t *out, const bson_t *section);

static const struct {
    part_fn *draw;
    part_fn *data; /* the figures of a picture; NULL: it is not a picture */
    bool (*is_picture)(const bson_t *section);
} kinds[REPORT_KINDS] = {[REPORT_FIGURES] = {draw_figures, NULL, NULL},
                         [REPORT_TABLE] = {draw_table, NULL, NULL},
                         [REPORT_BARS] = {draw_bars, data_bars, has_many_rows},
                         [REPORT_LINES] = {charts_lines, data_lines, always},
                         [REPORT_PERCENTILES] = {charts_percentiles, data_series, always},
                         [REPORT_TIMELINE] = {charts_timeline, data_timeline, always},
                         [REPORT_TEXT] = {draw_text, NULL, NULL}};

static void put_section(markup_t *out, const bson_t *section) {
    const char *word = reading_text(section, "kind");
    size_t kind = 0;
    while (kind < REPORT_KINDS && strcmp(report_kinds[kind], word) != 0)
        kind++;
    if (kind == REPORT_KINDS)
        return;
    markup_print(out, "<section class=\"kind-%s\">\n<h2>", report_kinds[kind]);
    markup_text(out, reading_text(section, "title"));
    markup_put(out, "</h2>\n");
    if (*reading_text(section, "note")) {
        markup_put(out, "<p class=\"note\">");
        markup_text(out, reading_text(section, "note"));
        markup_put(out, "</p>\n");
    }
    kinds[kind].draw(out, section);
    if (kinds[kind].data && kinds[kind].is_picture(section)) {
        markup_put(out, "<details><summary>The figures</summary>\n");
        kinds[kind].data(out, section);
        markup_put(out, "</details>\n");
    }
    markup_put(out, "</section>\n");
}

/* ---- the page ---- */

static void put_head(markup_t *out, const bson_t *document) {
    markup_put(out,
               "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" FILE_MARK_PAGE "\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
               "'unsafe-inline'\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n"
               "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    markup_text(out, reading_text(document, "title"));
    markup_put(out, " · ");
    markup_text(out, reading_text(document, "target"));
    markup_put(out, "</title>\n<style>\n");
    markup_put(out, builtin_find(builtin_styles, "report")->text);
    markup_put(out, "</style>\n</head>\n");
}

static const struct {
    int status;
    const char *kind, *words;
} outcomes[] = {{STATUS_OK, "good", "done"},
                {STATUS_SOME_REJECTED, "fair", "done, some records rejected"},
                {STATUS_MISSED, "bad", "a threshold was missed"},
                {STATUS_DIFFERENT, "bad", "a difference was found"},
                {STATUS_INTERRUPTED, "bad", "interrupted"},
                {STATUS_TERMINATED, "bad", "interrupted"},
                {STATUS_HUNG_UP, "bad", "interrupted"}};

static void put_outcome(markup_t *out, double status) {
    size_t i = 0;
    while (i < sizeof outcomes / sizeof *outcomes && outcomes[i].status != status)
        i++;
    if (i < sizeof outcomes / sizeof *outcomes)
        markup_print(out, "<span class=\"outcome %s\">%s</span>", outcomes[i].kind, outcomes[i].words);
    else if (!isnan(status))
        markup_print(out, "<span class=\"outcome bad\">failed, exit status %.0f</span>", status);
}

/* "2026-11-20T22:13:53Z" as "2026-11-20 22:13:53 UTC"; any other text is unchanged. */
static void put_when(markup_t *out, const char *when) {
    if (strlen(when) == 20 && when[10] == 'T' && when[19] == 'Z') {
        char day[11], hour[9];
        memcpy(day, when, 10);
        memcpy(hour, when + 11, 8);
        day[10] = hour[8] = 0;
        markup_text(out, day);
        markup_put(out, " ");
        markup_text(out, hour);
        markup_put(out, " UTC");
    } else {
        markup_text(out, when);
    }
}

static void put_masthead(markup_t *out, const bson_t *document) {
    markup_put(out, "<header>\n<p class=\"title\"><span>");
    markup_text(out, reading_text(document, "title"));
    markup_put(out, "</span>");
    put_outcome(out, reading_number(document, "status"));
    markup_put(out, "</p>\n<h1>");
    markup_text(out, reading_text(document, "target"));
    markup_put(out, "</h1>\n<p class=\"sentence\">");
    markup_text(out, reading_text(document, "sentence"));
    markup_put(out, "</p>\n<ul class=\"facts\">");
    if (*reading_text(document, "where")) { /* empty: the command failed before it connected */
        markup_put(out, "<li>");
        markup_text(out, reading_text(document, "where"));
        markup_put(out, "</li>");
    }
    markup_put(out, "<li>");
    put_when(out, reading_text(document, "when"));
    markup_put(out, "</li><li>tipple ");
    markup_text(out, reading_text(document, "version"));
    markup_put(out, "</li></ul>\n</header>\n");
}

static void put_settings(markup_t *out, const bson_t *document) {
    bson_t settings;
    bson_iter_t at;
    reading_inner(document, "settings", &settings);
    const char *again = reading_text(&settings, "again");
    markup_put(out, "<section class=\"settings\">\n<h2>Settings</h2>\n<dl>\n");
    for (bson_iter_init(&at, &settings); bson_iter_next(&at);) {
        if (strcmp(bson_iter_key(&at), "again") == 0)
            continue;
        markup_put(out, "<div><dt>");
        markup_text(out, bson_iter_key(&at));
        markup_put(out, "</dt><dd>");
        put_setting(out, &at);
        markup_put(out, "</dd></div>\n");
    }
    markup_put(out, "</dl>\n");
    if (*again) {
        markup_put(out, "<h3>Again</h3>\n<pre>");
        put_code(out, again);
        markup_put(out, "</pre>\n");
    }
    markup_put(out, "</section>\n");
}

char *html_print(const bson_t *document, size_t *length) {
    markup_t out = {.text.length = 0};
    bson_t sections, section;
    bson_iter_t at;
    put_head(&out, document);
    markup_put(&out, "<body>\n");
    put_masthead(&out, document);
    markup_put(&out, "<main>\n");
    reading_inner(document, "sections", &sections);
    for (reading_begin(&at, &sections); reading_next(&at, &section);)
        put_section(&out, &section);
    put_settings(&out, document);
    words_put(&out, document);
    markup_put(&out, "</main>\n</body>\n</html>\n");
    return markup_take(&out, length);
}
