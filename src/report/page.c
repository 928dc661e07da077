/* A result as a page that needs nothing else: no script, no font, no picture from anywhere. Everything that is not ours
 * goes through page_words, so that nothing in data, names or files is markup. Written when a command ends. */
#include "base/chars.h"
#include "base/clock.h"
#include "builtin/builtin.h"
#include "report/inner.h"
#include "server/bson_read.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A file is a page of ours, and may be replaced, if its first bytes have this line. */
enum { FILE_MARK = 256 };
#define FILE_MARK_PAGE "<meta name=\"generator\" content=\"tipple\">"

/* ---- words ---- */

void page_words(text_t *page, const char *words) {
    static const char *const entities[128] = {
        ['&'] = "&amp;",  ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;",
        ['\''] = "&#39;", ['\n'] = " ",   ['\r'] = " ",   ['\t'] = " "};
    const uint8_t *at = (const uint8_t *)words, *end = at + strlen(words);
    while (at < end) {
        char piece[ESCAPE_PIECE];
        const char *entity = *at < COUNT(entities) ? entities[*at] : NULL;
        at += escape_shown(at, (size_t)(end - at), piece);
        text_append(page, entity ? entity : piece);
    }
}

static void put_element(text_t *page, const char *begin, const char *words, const char *end) {
    text_append(page, begin);
    page_words(page, words);
    text_append(page, end);
}

/* Of a figure; nothing where it is not known. */
static void put_figure(text_t *page, const result_t *result, const char *begin, const char *key,
                       const char *end) {
    char *words = figure_words(&result->document, key, false);
    if (figure_known(words))
        put_element(page, begin, words, end);
    free(words);
}

/* ---- tables ---- */

/* The column's largest value, at least 0. */
static double most_of(const table_t *table, size_t column) {
    double most = 0;
    for (size_t row = 0; row < table->rows; row++)
        most = fmax(most, table_cell(table, row, column)->number);
    return most;
}

enum { NARROW_COLUMNS = 3, WIDE_COLUMNS = 7, WIDER_COLUMNS = 10 };

static void put_heads(text_t *page, const table_t *table) {
    text_append(page, "<thead role=\"rowgroup\"><tr role=\"row\">");
    for (size_t i = 0; i < table->columns; i++) {
        const head_t *head = &table->heads[i];
        const char *unit = head->numbers ? figure_unit(head->column->key) : "";
        if (!head->used)
            continue;
        text_print(page, "<th role=\"columnheader\" scope=\"col\"%s>", head->numbers ? " class=\"n\"" : "");
        page_words(page, head->title);
        if (*unit && !strstr(head->title, unit))
            text_print(page, " <small>%s</small>", unit);
        text_append(page, "</th>");
    }
    text_append(page, "</tr></thead>\n");
}

static void put_bar(text_t *page, double share) {
    text_print(
        page,
        "<svg class=\"bar\" aria-hidden=\"true\" focusable=\"false\"><rect class=\"bar-all\" width=\"100%%\" "
        "height=\"100%%\"/><rect class=\"bar-part\" width=\"%.2f%%\" height=\"100%%\"/></svg>",
        100 * fmin(fmax(share, 0), 1));
}

/* The first cell of a row is its head. On a phone a wide table becomes blocks, in which each cell has its label. */
static void put_cell(text_t *page, const table_t *table, size_t row, size_t column) {
    const cell_t *cell = table_cell(table, row, column);
    const head_t *head = &table->heads[column];
    const double most = head->column->most, end = most < 0 ? most_of(table, column) : most;
    text_print(page,
               column ? "<td role=\"cell\"%s data-label=\""
                      : "<th role=\"rowheader\" scope=\"row\"%s data-label=\"",
               head->numbers ? " class=\"n\"" : "");
    page_words(page, head->title);
    put_element(page, "\">", cell->words, "");
    if (end > 0 && !isnan(cell->number))
        put_bar(page, cell->number / end);
    text_append(page, column ? "</td>" : "</th>");
}

static void put_table(text_t *page, const table_t *table, const char *title) {
    size_t used = 0;
    for (size_t i = 0; i < table->columns; i++)
        used += table->heads[i].used;
    text_print(page, "<div class=\"scroll\"><table role=\"table\"%s>\n",
               used > WIDER_COLUMNS    ? " class=\"wider widest\""
               : used > WIDE_COLUMNS   ? " class=\"wider\""
               : used > NARROW_COLUMNS ? " class=\"wide\""
                                       : "");
    put_element(page, "<caption>", title, "</caption>\n");
    put_heads(page, table);
    text_append(page, "<tbody role=\"rowgroup\">\n");
    for (size_t row = 0; row < table->rows; row++) {
        text_append(page, "<tr role=\"row\">");
        for (size_t i = 0; i < table->columns; i++)
            if (table->heads[i].used)
                put_cell(page, table, row, i);
        text_append(page, "</tr>\n");
    }
    text_append(page, "</tbody>\n</table></div>\n");
}

/* ---- the chart ---- */

/* A line over time, with bands of time. Its frame is as wide as the page: places along it are percent, and the line is
 * drawn in 100 x 100, stretched over the frame. */
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

/* What is not known breaks the line; a point between two breaks is a dot. */
static void put_curve(text_t *page, const table_t *table, size_t column, const axis_t *x, const axis_t *y) {
    bool begun = false;
    text_print(page, "<path class=\"line%s\" d=\"", table->heads[column].column->dashed ? " dashed" : "");
    for (size_t row = 0; row < table->rows; row++) {
        const double value = table_cell(table, row, column)->number;
        if (!isnan(value))
            text_print(page, begun ? "L%.2f,%.2f" : "M%.2f,%.2fh0",
                       place(x, table_cell(table, row, 0)->number), 100 - place(y, value));
        begun = !isnan(value);
    }
    text_append(page, "\"/>");
}

static void put_chart(text_t *page, const bson_t *document, const result_view_t *view, const table_t *table,
                      const char *title) {
    const axis_t x = make_axis(most_of(table, 0), MOST_X_TICKS, view->columns[0].key);
    size_t lines = 2; /* the columns 1 to lines - 1 */
    double most = most_of(table, 1);
    for (; lines < table->columns && view->columns[lines].dashed; lines++)
        most = fmax(most, most_of(table, lines));
    axis_t y = make_axis(most, MOST_Y_TICKS, view->columns[1].key);
    y.high = ceil(y.high / y.step - 1e-9) * y.step;
    text_append(page, "<p class=\"axes\"><span>↑ ");
    page_words(page, table->heads[1].title);
    for (size_t i = 2; i < lines; i++)
        put_element(page, ", dashed: ", table->heads[i].title, "");
    text_append(page, "</span><span>");
    page_words(page, table->heads->title);
    text_print(page,
               " →</span></p>\n<div class=\"frame\"><svg role=\"img\" width=\"100%%\" height=\"%d\"><title>",
               TALL);
    page_words(page, title);
    text_print(page, "</title><desc>%zu points; the figures are in the table below.</desc>\n", table->rows);
    put_axes(page, &x, &y);
    put_bands(page, document, view->bands, &x);
    text_append(page, "<svg class=\"stretch\" width=\"100%\" height=\"100%\" viewBox=\"0 0 100 100\" "
                      "preserveAspectRatio=\"none\">");
    for (size_t i = 1; i < lines; i++)
        put_curve(page, table, i, &x, &y);
    text_append(page, "</svg>\n</svg></div>\n");
}

/* ---- views ---- */

static void put_line(void *to, const bson_t *document, const result_view_t *view) {
    char *words = result_fill(document, view->words),
         *command = view->command ? figure_words(document, view->command, false) : NULL;
    put_element(to, view->shown & SHOW_CARE ? "<p class=\"line care\">" : "<p class=\"line\">", words,
                "</p>\n");
    if (command)
        put_element(to, "<pre><code>", command, "</code></pre>\n");
    free(words);
    free(command);
}

static void put_section(void *to, const bson_t *document, const result_view_t *view) {
    table_t table = table_make(document, view);
    char *title = result_fill(document, view->title ? view->title : ""),
         *note = result_fill(document, view->words ? view->words : "");
    if (table.rows) {
        text_print(to, "<section class=\"%s\">\n", view->bands ? "chart" : "table");
        put_element(to, "<h2>", title, "</h2>\n");
        if (*note)
            put_element(to, "<p class=\"note\">", note, "</p>\n");
        if (view->bands) {
            put_chart(to, document, view, &table, title);
            text_append(to, "<details><summary>The figures</summary>\n");
        }
        put_table(to, &table, title);
        text_append(to, view->bands ? "</details>\n</section>\n" : "</section>\n");
    }
    free(title);
    free(note);
    table_free(&table);
}

static void put_views(text_t *page, const result_t *result, bool sections) {
    for (const result_view_t *view = result->views; view && view->shown; view++)
        if (view->shown & SHOW_PAGE && sections == (view->list != NULL))
            view_show(result, view, sections ? put_section : put_line, page);
}

/* All single figures of the document. */
static void put_figures(text_t *page, const bson_t *document) {
    bson_iter_t at;
    text_append(page, "<section class=\"figures\">\n<h2>All figures</h2>\n<p class=\"note\">Under the names "
                      "that they have in --json.</p>\n<dl>\n");
    for (bson_iter_init(&at, document); bson_iter_next(&at);) {
        const char *key = bson_iter_key(&at);
        char *words = *key == '-' ? NULL : figure_words(document, key, false);
        if (words && figure_known(words)) {
            put_element(page, "<div><dt>", key, "</dt>");
            put_element(page, "<dd>", words, "</dd></div>\n");
        }
        free(words);
    }
    text_append(page, "</dl>\n</section>\n");
}

/* ---- the page ---- */

static void put_outcome(text_t *page, int status) {
    if (result_is_trouble(status))
        text_print(page, "<span class=\"outcome bad\">exit status %d</span>", status);
    else
        text_append(page, status == STATUS_OK
                              ? "<span class=\"outcome good\">done</span>"
                              : "<span class=\"outcome fair\">done, some records rejected</span>");
}

static void put_head(text_t *page, const result_t *result) {
    text_append(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" FILE_MARK_PAGE
        "\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
        "name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
    put_element(page, "<title>", result->question, "");
    put_figure(page, result, " · ", "namespace", "");
    text_append(page, "</title>\n<style>\n");
    text_append(page, builtin_find(builtin_styles, "report")->text);
    text_append(page, "</style>\n</head>\n");
}

static void put_masthead(text_t *page, const result_t *result) {
    const time_t now = (time_t)(clock_wall_ms() / 1000);
    struct tm utc;
    char when[40] = "";
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &utc);
    text_print(page, "<header>\n<p class=\"title\"><span>tipple %s</span>", result->command);
    put_outcome(page, result->status);
    put_element(page, "</p>\n<h1>", result->question, "</h1>\n");
    put_element(page, "<p class=\"sentence\">", result->answer, "</p>\n<ul class=\"facts\">");
    put_figure(page, result, "<li>", "namespace", "</li>");
    put_figure(page, result, "<li>", "target", "</li>");
    put_figure(page, result, "<li>", "-target", "</li>");
    text_print(page, "<li>%s</li><li>tipple %s</li></ul>\n", when, TIPPLE_VERSION);
}

/* Lines stand below the answer. */
char *page_print(const result_t *result, size_t *length) {
    text_t page = {.length = 0};
    put_head(&page, result);
    text_append(&page, "<body>\n");
    put_masthead(&page, result);
    put_views(&page, result, false);
    text_append(&page, "</header>\n<main>\n");
    put_views(&page, result, true);
    put_figures(&page, &result->document);
    text_append(&page, "</main>\n</body>\n</html>\n");
    *length = page.length;
    return text_take_or_end(&page);
}

/* ---- the file ---- */

/* It is written whole or not at all: under another name in the same folder, synced to disk, then renamed. After a kill
 * the old file is there, and perhaps a part of the new one under the other name. */

/* Only a missing file, an empty file or an earlier page may be replaced. Anything else belongs to the user, and may
 * even be what this command reads or writes. */
static bool may_replace(const char *place, const char *path, err_t *err) {
    char head[FILE_MARK + 1] = "";
    struct stat found;
    if (stat(place, &found) != 0)
        return true; /* why it cannot be written is found then */
    const bool is_file = S_ISREG(found.st_mode);
    FILE *file = is_file ? fopen(place, "re") : NULL;
    const size_t length = file ? fread(head, 1, FILE_MARK, file) : 0;
    const int why = is_file && (!file || ferror(file)) ? errno : 0;
    const bool ours = file && !why && (!length || strstr(head, FILE_MARK_PAGE));
    if (file)
        fclose(file);
    return ours || err_set(err, why ? err_status_of(why) : STATUS_USAGE,
                           "--report: %.200s stays as it is: %s; name another file", path,
                           why ? strerror(why) : "it is no report of tipple");
}

/* Opens PLACE.123.part. If the path is a link, the file that it names is replaced, and the link stays. -1: err says why not. */
static int open_part(const char *path, char place[PATH_MAX], char part[PATH_MAX], err_t *err) {
    int file = -1;
    if (!realpath(path, place))
        snprintf(place, PATH_MAX, "%s", path);
    if (!may_replace(place, path, err))
        return -1;
    errno = ENAMETOOLONG;
    if (snprintf(part, PATH_MAX, "%s.%ld.part", place, (long)getpid()) < PATH_MAX) {
        unlink(part); /* left by a killed process with the same number */
        file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (file < 0)
        err_set(err, err_status_of(errno),
                "--report: %.200s cannot be written: %s; name a file in a folder that you may write to", path,
                strerror(errno));
    return file;
}

bool result_check_page(const char *path, err_t *err) {
    const char *dot = strrchr(path, '.');
    char place[PATH_MAX], part[PATH_MAX];
    if (!dot || (strcasecmp(dot, ".html") != 0 && strcasecmp(dot, ".htm") != 0))
        return err_set(
            err, STATUS_USAGE,
            "--report: '%.200s' does not end with .html, as a page has to. For a program: --json > FILE",
            path);
    const int file = open_part(path, place, part, err);
    if (file < 0)
        return false;
    close(file);
    unlink(part);
    return true;
}

/* With the permissions of the file that it replaces. */
static bool write_part(FILE *stream, const char *place, const char *text, size_t length) {
    struct stat before;
    return (stat(place, &before) != 0 || fchmod(fileno(stream), before.st_mode & 07777) == 0) &&
           fwrite(text, 1, length, stream) == length && fflush(stream) == 0 && fsync(fileno(stream)) == 0;
}

bool result_write_page(const result_t *result, const char *path, err_t *err) {
    size_t length;
    char place[PATH_MAX], part[PATH_MAX];
    const int file = open_part(path, place, part, err);
    if (file < 0) {
        err->status = err->status == STATUS_INTERRUPTED ? STATUS_INTERRUPTED : STATUS_HOST;
        return false;
    }
    char *text = page_print(result, &length);
    FILE *stream = fdopen(file, "w");
    const bool ok = stream && write_part(stream, place, text, length) && rename(part, place) == 0;
    if (!ok) {
        err_set(err, errno == EINTR ? STATUS_INTERRUPTED : STATUS_HOST,
                "the report %s could not be written: %s; what was there before is as it was", path,
                strerror(errno));
        unlink(part);
    }
    if (stream)
        fclose(stream);
    free(text);
    return ok;
}
