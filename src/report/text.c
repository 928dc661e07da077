/* A result at the terminal: lines that are wrapped at words, and tables. Runs at the end of a command. */
#include "base/chars.h"
#include "base/log.h"
#include "report/inner.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_WIDTH = 80, LEAST_WIDTH = 20, INDENT = 4, MOST_ROWS = 24, GAP = 2 };

typedef struct {
    size_t width;
    bool colours, after_table;
} screen_t;

static screen_t find_screen(void) {
    const char *columns = getenv("COLUMNS"), *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    const bool terminal = isatty(STDOUT_FILENO);
    struct winsize size;
    size_t width = columns ? strtoul(columns, NULL, 10) : 0;
    if (!width && terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    return (screen_t){.width = width >= LEAST_WIDTH ? width : USUAL_WIDTH,
                      .colours = terminal && !(no_colour && *no_colour) && term && strcmp(term, "dumb") != 0};
}

static void colour(const screen_t *screen, const char *code) {
    if (screen->colours)
        out_bytes(code, strlen(code));
}

static const char BOLD[] = "\x1b[1m", YELLOW[] = "\x1b[33m", PLAIN[] = "\x1b[0m";

/* ---- lines ---- */

/* Blanks between words stay, except where a line ends. used: columns before the words. */
static void print_wrapped(const char *words, size_t width, size_t used, size_t indent) {
    while (*words) {
        const size_t gap = strspn(words, " "), length = strcspn(words + gap, " ");
        char *word = bson_strndup(words + gap, length);
        const size_t columns = utf8_columns(word);
        if (used > indent && used + gap + columns > width) {
            out_print("\n%*s%s", (int)indent, "", word);
            used = indent + columns;
        } else {
            out_print("%*s%s", (int)gap, "", word);
            used += gap + columns;
        }
        bson_free(word);
        words += gap + length;
    }
}

static void print_line(const screen_t *screen, const bson_t *document, const result_view_t *view) {
    char *words = result_fill(document, view->words),
         *command = view->command ? figure_words(document, view->command, false) : NULL;
    if (view->shown & SHOW_CARE)
        colour(screen, YELLOW);
    print_wrapped(words, screen->width, 0, INDENT);
    if (view->shown & SHOW_CARE)
        colour(screen, PLAIN);
    out_print("\n");
    if (command && *command) {
        out_lines(command);
        out_print("\n");
    }
    free(words);
    free(command);
}

/* ---- tables ---- */

static void set_width(const table_t *table, size_t rows, size_t column) {
    head_t *head = &table->heads[column];
    if (!head->used || head->column->wide)
        return;
    head->width = utf8_columns(head->title);
    for (size_t row = 0; row < rows; row++) {
        const size_t has = utf8_columns(table_cell(table, row, column)->words);
        head->width = has > head->width ? has : head->width;
    }
}

static void print_cell(const char *words, size_t width, bool right, size_t *due) {
    const size_t pad = width - utf8_columns(words);
    *due += right ? pad : 0;
    if (*words) { /* blanks are printed only when something follows */
        out_print("%*s%s", (int)*due, "", words);
        *due = 0;
    }
    *due += GAP + (right ? 0 : pad);
}

/* Columns from..to, after the first one, which names the row. A text that is too long for the last one is wrapped there. */
static void print_band(const screen_t *screen, const table_t *table, size_t rows, size_t from, size_t to) {
    for (size_t row = 0; row <= rows; row++) {
        size_t due = 0, at = 0;
        if (!row)
            colour(screen, BOLD);
        for (size_t i = 0; i < to; i++) {
            const head_t *head = &table->heads[i];
            const char *words = row ? table_cell(table, row - 1, i)->words : head->title;
            if (!head->width || (i && i < from))
                continue;
            if (i + 1 == to && !head->numbers && at + head->width > screen->width) {
                out_print("%*s", (int)due, "");
                print_wrapped(words, screen->width, at, at);
            } else {
                print_cell(words, head->width, head->numbers, &due);
            }
            at += head->width + GAP;
        }
        if (!row)
            colour(screen, PLAIN);
        out_print("\n");
    }
}

/* A table that is wider than the terminal is printed in bands, each with the first column. */
static void print_table(screen_t *screen, const bson_t *document, const result_view_t *view) {
    table_t table = table_make(document, view);
    const size_t rows = view->shown & SHOW_WHOLE || table.rows < MOST_ROWS ? table.rows : MOST_ROWS;
    size_t from = 1;
    for (size_t i = 0; i < table.columns; i++)
        set_width(&table, rows, i);
    if (table.rows && view->title) {
        char *title = result_fill(document, view->title);
        out_print("\n");
        print_wrapped(title, screen->width, 0, INDENT);
        out_print("\n");
        free(title);
    }
    screen->after_table = table.rows ? view->title != NULL : screen->after_table;
    while (table.rows && (from == 1 || from < table.columns)) {
        size_t used = table.heads->width, to = from;
        for (; to < table.columns; to++) {
            used += table.heads[to].width ? table.heads[to].width + GAP : 0;
            if (to > from && used > screen->width)
                break;
        }
        print_band(screen, &table, rows, from, to);
        from = to;
    }
    if (table.rows > rows)
        out_print("and %zu more (all of them: --json)\n", table.rows - rows);
    table_free(&table);
}

static void print_view(void *to, const bson_t *document, const result_view_t *view) {
    screen_t *screen = to;
    if (view->list) {
        print_table(screen, document, view);
        return;
    }
    if (screen->after_table)
        out_print("\n");
    screen->after_table = false;
    print_line(screen, document, view);
}

void result_print_text(const result_t *result) {
    screen_t screen = find_screen();
    const unsigned levels = log_level() < LOG_NORMAL    ? SHOW_QUIET
                            : log_level() == LOG_NORMAL ? SHOW_QUIET | SHOW_NORMAL
                                                        : SHOW_QUIET | SHOW_NORMAL | SHOW_VERBOSE;
    for (const result_view_t *view = result->views; view && view->shown; view++)
        if (view->shown & levels)
            view_show(result, view, print_view, &screen);
}
