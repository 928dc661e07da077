/* A result as a page that needs nothing else: no script, no font, no picture from anywhere. Everything that is not ours
 * goes through page_words, so that nothing in data, names or files is markup. Written when a command ends. */
#include "base/chars.h"
#include "base/clock.h"
#include "builtin/builtin.h"
#include "report/inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* ---- words ---- */

static const struct {
    char character;
    const char *entity;
} entities[] = {{'&', "&amp;"},  {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"},
                {'\'', "&#39;"}, {'\n', " "},   {'\r', " "},   {'\t', " "}};

static void put_character(text_t *page, const uint8_t *at, size_t length) {
    char piece[ESCAPE_PIECE];
    for (size_t i = 0; length == 1 && i < sizeof entities / sizeof *entities; i++) {
        if (*at == (uint8_t)entities[i].character) {
            text_append(page, entities[i].entity);
            return;
        }
    }
    if (!length || utf8_is_control(at, length))
        text_append(page, "\xEF\xBF\xBD");
    else if (length == 3 && escape_shown(at, length, piece) && *piece == '\\') /* from right to left */
        text_append(page, piece);
    else
        text_append_bytes(page, (const char *)at, length);
}

void page_words(text_t *page, const char *words) {
    const uint8_t *at = (const uint8_t *)words, *end = at + strlen(words);
    while (at < end) {
        const size_t length = utf8_character(at, (size_t)(end - at));
        put_character(page, at, length);
        at += length ? length : 1;
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

enum { NARROW_COLUMNS = 3, WIDE_COLUMNS = 7, WIDER_COLUMNS = 10 };

static void put_heads(text_t *page, const table_t *table) {
    text_append(page, "<thead role=\"rowgroup\"><tr role=\"row\">");
    for (size_t i = 0; i < table->columns; i++) {
        const char *unit = table->numbers[i] ? figure_unit(table->column[i].key) : "";
        if (!table->used[i])
            continue;
        text_print(page, "<th role=\"columnheader\" scope=\"col\"%s>",
                   table->numbers[i] ? " class=\"n\"" : "");
        page_words(page, table->titles[i]);
        if (*unit && !strstr(table->titles[i], unit))
            text_print(page, " <small>%s</small>", unit);
        text_append(page, "</th>");
    }
    text_append(page, "</tr></thead>\n");
}

static void put_bar(text_t *page, double share) {
    text_print(page,
               "<svg class=\"bar\" aria-hidden=\"true\" focusable=\"false\"><rect class=\"bar-all\" "
               "width=\"100%%\" height=\"100%%\"/><rect class=\"bar-part\" width=\"%.2f%%\" "
               "height=\"100%%\"/></svg>",
               100 * fmin(fmax(share, 0), 1));
}

/* The first cell of a row is its head. On a phone a wide table becomes blocks, in which each cell has its label. */
static void put_cell(text_t *page, const table_t *table, size_t row, size_t column) {
    const cell_t *cell = table_cell(table, row, column);
    const double most = table->column[column].most, end = most < 0 ? table_most(table, column) : most;
    text_print(page,
               column ? "<td role=\"cell\"%s data-label=\""
                      : "<th role=\"rowheader\" scope=\"row\"%s data-label=\"",
               table->numbers[column] ? " class=\"n\"" : "");
    page_words(page, table->titles[column]);
    put_element(page, "\">", cell->words, "");
    if (end > 0 && !isnan(cell->number))
        put_bar(page, cell->number / end);
    text_append(page, column ? "</td>" : "</th>");
}

static void put_table(text_t *page, const table_t *table, const char *title) {
    size_t used = 0;
    for (size_t i = 0; i < table->columns; i++)
        used += table->used[i];
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
            if (table->used[i])
                put_cell(page, table, row, i);
        text_append(page, "</tr>\n");
    }
    text_append(page, "</tbody>\n</table></div>\n");
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
            chart_put(to, document, view, &table);
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
    text_append(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" FILE_MARK_PAGE
                      "\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "style-src 'unsafe-inline'\">\n<meta name=\"viewport\" "
                      "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
                      "content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
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
    put_figure(&page, result, "<p class=\"line\">The same again:</p>\n<pre><code>", "-again",
               "</code></pre>\n");
    text_append(&page, "</main>\n</body>\n</html>\n");
    *length = page.length;
    return text_take_or_end(&page);
}

bool result_check_page(const char *path, err_t *err) {
    const char *dot = strrchr(path, '.');
    if (!dot || (strcasecmp(dot, ".html") != 0 && strcasecmp(dot, ".htm") != 0))
        return err_set(err, STATUS_USAGE,
                       "--report: '%.200s' does not end with .html; a page needs such a name. For a program: "
                       "tipple ... --json > FILE",
                       path);
    return file_check(path, err);
}

bool result_write_page(const result_t *result, const char *path, err_t *err) {
    size_t length;
    char *text = page_print(result, &length);
    const bool ok = file_write(path, text, length, err);
    free(text);
    return ok;
}
