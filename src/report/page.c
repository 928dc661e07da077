/* A result as a page that needs nothing else: no script, no font, no picture from anywhere. Everything that is not ours
 * goes through page_words, so that nothing in data, names or files is markup. Written when a command ends. */
#include "base/chars.h"
#include "base/clock.h"
#include "builtin/builtin.h"
#include "report/inner.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

/* ---- words ---- */

void page_put(text_t *page, const char *format, ...) {
    va_list list;
    va_start(list, format);
    text_print_list(page, format, list);
    va_end(list);
}

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
    if (*words && strcmp(words, "-") != 0)
        put_element(page, begin, words, end);
    free(words);
}

/* A command line: no line ends after the dashes of an option. */
static void put_command(text_t *page, const char *text) {
    text_append(page, "<pre><code>");
    while (*text) {
        const size_t length = strcspn(text, " "), blanks = strspn(text + length, " ");
        char *word = bson_strndup(text, length + blanks);
        put_element(page, *text == '-' ? "<span>" : "", word, *text == '-' ? "</span>" : "");
        bson_free(word);
        text += length + blanks;
    }
    text_append(page, "</code></pre>\n");
}

/* ---- tables ---- */

enum { NARROW_COLUMNS = 3, WIDE_COLUMNS = 7, WIDER_COLUMNS = 10 };

static void put_heads(text_t *page, const table_t *table) {
    text_append(page, "<thead role=\"rowgroup\"><tr role=\"row\">");
    for (size_t i = 0; i < table->columns; i++) {
        const view_column_t *column = &table->view->columns[i];
        const char *unit = table->numbers[i] ? figure_unit(column->key) : "";
        if (!table->used[i])
            continue;
        page_put(page, "<th role=\"columnheader\" scope=\"col\"%s>", table->numbers[i] ? " class=\"n\"" : "");
        page_words(page, column->title);
        if (*unit && !strstr(column->title, unit))
            page_put(page, " <small>%s</small>", unit);
        text_append(page, "</th>");
    }
    text_append(page, "</tr></thead>\n");
}

static double bar_end(const table_t *table, size_t column) {
    double most = table->view->columns[column].most;
    for (size_t row = 0; row < table->rows && table->view->columns[column].most < 0; row++)
        most = fmax(most, table_cell(table, row, column)->number);
    return most;
}

static void put_bar(text_t *page, double share) {
    page_put(page,
             "<svg class=\"bar\" aria-hidden=\"true\" focusable=\"false\"><rect class=\"bar-all\" "
             "width=\"100%%\" height=\"100%%\"/><rect class=\"bar-part\" width=\"%.2f%%\" "
             "height=\"100%%\"/></svg>",
             100 * fmin(fmax(share, 0), 1));
}

/* The first cell of a row is its head. On a phone a wide table becomes blocks, in which each cell has its label. */
static void put_cell(text_t *page, const table_t *table, size_t row, size_t column, double most) {
    const cell_t *cell = table_cell(table, row, column);
    page_put(page,
             column ? "<td role=\"cell\"%s data-label=\""
                    : "<th role=\"rowheader\" scope=\"row\"%s data-label=\"",
             table->numbers[column] ? " class=\"n\"" : "");
    page_words(page, table->view->columns[column].title);
    put_element(page, "\">", cell->words, "");
    if (most > 0 && !isnan(cell->number))
        put_bar(page, cell->number / most);
    text_append(page, column ? "</td>" : "</th>");
}

static void put_table(text_t *page, const result_t *result, const result_view_t *view) {
    table_t table = table_make(result, view);
    size_t used = 0;
    for (size_t i = 0; i < table.columns; i++)
        used += table.used[i];
    page_put(page, "<div class=\"scroll\"><table role=\"table\"%s>\n",
             used > WIDER_COLUMNS    ? " class=\"wider widest\""
             : used > WIDE_COLUMNS   ? " class=\"wider\""
             : used > NARROW_COLUMNS ? " class=\"wide\""
                                     : "");
    put_element(page, "<caption>", view->title, "</caption>\n");
    put_heads(page, &table);
    text_append(page, "<tbody role=\"rowgroup\">\n");
    for (size_t row = 0; row < table.rows; row++) {
        text_append(page, "<tr role=\"row\">");
        for (size_t i = 0; i < table.columns; i++)
            if (table.used[i])
                put_cell(page, &table, row, i, bar_end(&table, i));
        text_append(page, "</tr>\n");
    }
    text_append(page, "</tbody>\n</table></div>\n");
    table_free(&table);
}

/* ---- the other views ---- */

static void put_figures(text_t *page, const result_t *result, const result_view_t *view) {
    text_append(page, "<dl>\n");
    for (size_t i = 0; i < view->count; i++) {
        char *words = figure_words(&result->document, view->columns[i].key, false);
        if (*words && strcmp(words, "-") != 0) {
            page_put(page, "<div%s><dt>", utf8_columns(words) > 24 ? " class=\"words\"" : "");
            page_words(page, view->columns[i].title);
            put_element(page, "</dt><dd>", words, "</dd></div>\n");
        }
        free(words);
    }
    text_append(page, "</dl>\n");
}

static void put_chart(text_t *page, const result_t *result, const result_view_t *view) {
    chart_put(page, result, view);
    text_append(page, "<details><summary>The figures</summary>\n");
    put_table(page, result, view);
    text_append(page, "</details>\n");
}

typedef void put_view_t(text_t *page, const result_t *result, const result_view_t *view);

/* Of a view with a title. */
static const struct {
    const char *name;
    put_view_t *put;
} sections[] = {[VIEW_FIGURES] = {"figures", put_figures},
                [VIEW_TABLE] = {"table", put_table},
                [VIEW_CHART] = {"chart", put_chart}};

static void put_section(text_t *page, const result_t *result, const result_view_t *view) {
    page_put(page, "<section class=\"%s\">\n", sections[view->kind].name);
    put_element(page, "<h2>", view->title, "</h2>\n");
    if (view->note)
        put_element(page, "<p class=\"note\">", view->note, "</p>\n");
    sections[view->kind].put(page, result, view);
    text_append(page, "</section>\n");
}

static void put_line(text_t *page, const result_view_t *view) {
    put_element(page, view->shown & SHOW_CARE ? "<p class=\"line care\">" : "<p class=\"line\">", view->words,
                "</p>\n");
    if (view->command)
        put_command(page, view->command);
}

/* ---- the page ---- */

static void put_outcome(text_t *page, int status) {
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
    size_t i = 0;
    while (i < sizeof outcomes / sizeof *outcomes && outcomes[i].status != status)
        i++;
    if (i < sizeof outcomes / sizeof *outcomes)
        page_put(page, "<span class=\"outcome %s\">%s</span>", outcomes[i].kind, outcomes[i].words);
    else
        page_put(page, "<span class=\"outcome bad\">failed, exit status %d</span>", status);
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
    page_put(page, "<header>\n<p class=\"title\"><span>tipple %s</span>", result->command);
    put_outcome(page, result->status);
    put_element(page, "</p>\n<h1>", result->question, "</h1>\n");
    put_element(page, "<p class=\"sentence\">", result->answer, "</p>\n<ul class=\"facts\">");
    put_figure(page, result, "<li>", "namespace", "</li>");
    put_figure(page, result, "<li>", bson_has_field(&result->document, "target") ? "target" : "-target",
               "</li>");
    page_put(page, "<li>%s</li><li>tipple %s</li></ul>\n", when, TIPPLE_VERSION);
}

static void put_lines(text_t *page, const result_t *result, size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
        if (result->views[i].shown & SHOW_PAGE && result->views[i].kind <= VIEW_COMMAND)
            put_line(page, &result->views[i]);
}

/* Lines stand below the answer; those after the last section, at the end of the page. */
char *page_print(const result_t *result, size_t *length) {
    text_t page = {.length = 0};
    size_t end = result->count;
    while (end && result->views[end - 1].kind <= VIEW_COMMAND)
        end--;
    end = end ? end : result->count;
    put_head(&page, result);
    text_append(&page, "<body>\n");
    put_masthead(&page, result);
    put_lines(&page, result, 0, end);
    text_append(&page, "</header>\n<main>\n");
    for (size_t i = 0; i < end; i++)
        if (result->views[i].shown & SHOW_PAGE && result->views[i].kind > VIEW_COMMAND)
            put_section(&page, result, &result->views[i]);
    put_lines(&page, result, end, result->count);
    text_append(&page, "</main>\n</body>\n</html>\n");
    *length = page.length;
    return text_take_or_end(&page);
}

bool result_check_page(const char *path, err_t *err) {
    const char *dot = strrchr(path, '.');
    struct stat found;
    if (dot && strcasecmp(dot, ".json") == 0)
        return err_set(
            err, STATUS_USAGE,
            "--report: '%s' would not be a page; for a program, give --json, and keep what it prints "
            "(tipple ... --json > FILE)",
            path);
    if (!dot || (strcasecmp(dot, ".html") != 0 && strcasecmp(dot, ".htm") != 0))
        return err_set(err, STATUS_USAGE,
                       "--report: '%s' does not end with .html; name a file that does, for a page", path);
    if (lstat(path, &found) != 0 && errno == ENAMETOOLONG)
        return err_set(err, STATUS_USAGE,
                       "--report: %.80s... is too long a name for a file: name a shorter one", path);
    return file_check(path, err);
}

bool result_write_page(const result_t *result, const char *path, err_t *err) {
    size_t length;
    char *text = page_print(result, &length);
    const bool ok = file_write(path, text, length, err);
    free(text);
    return ok;
}
