/* A result at the terminal: lines that are wrapped at words, and tables. Runs at the end of a command. */
#include "base/chars.h"
#include "base/log.h"
#include "report/inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_WIDTH = 80, LEAST_WIDTH = 20, INDENT = 4, MOST_ROWS = 24, GAP = 2 };

typedef struct {
    size_t width;
    bool colours;
} screen_t;

static screen_t find_screen(void) {
    const char *columns = getenv("COLUMNS"), *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    const bool terminal = isatty(STDOUT_FILENO);
    struct winsize size;
    size_t width = columns ? strtoul(columns, NULL, 10) : 0;
    if (!width && terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    return (screen_t){width >= LEAST_WIDTH ? width : USUAL_WIDTH,
                      terminal && !(no_colour && *no_colour) && term && strcmp(term, "dumb") != 0};
}

static void colour(const screen_t *screen, const char *code) {
    if (screen->colours)
        out_bytes(code, strlen(code));
}

static const char BOLD[] = "\x1b[1m", YELLOW[] = "\x1b[33m", PLAIN[] = "\x1b[0m";

/* ---- lines ---- */

/* Blanks between words stay, except where a line ends. */
static void print_wrapped(const char *words, size_t width) {
    size_t used = 0;
    while (*words) {
        const size_t gap = strspn(words, " "), length = strcspn(words + gap, " ");
        char *word = bson_strndup(words + gap, length);
        const size_t columns = utf8_columns(word);
        if (used > INDENT && used + gap + columns > width) {
            out_print("\n%*s%s", INDENT, "", word);
            used = INDENT + columns;
        } else {
            out_print("%*s%s", (int)gap, "", word);
            used += gap + columns;
        }
        bson_free(word);
        words += gap + length;
    }
    out_print("\n");
}

static void print_line(const screen_t *screen, const result_view_t *view) {
    if (view->shown & SHOW_CARE)
        colour(screen, YELLOW);
    print_wrapped(view->words, screen->width);
    if (view->shown & SHOW_CARE)
        colour(screen, PLAIN);
    if (view->command)
        out_print("%s\n", view->command);
}

/* ---- tables ---- */

typedef struct {
    const table_t *table;
    size_t *rows, count; /* that are shown, in order */
    size_t *widths;      /* 0: the column is not shown */
} shown_t;

static void measure(shown_t *shown) {
    const table_t *table = shown->table;
    for (size_t i = 0; i < table->columns; i++) {
        const view_column_t *column = &table->view->columns[i];
        if (!table->used[i] || column->wide)
            continue;
        size_t width = utf8_columns(column->title);
        for (size_t row = 0; row < shown->count; row++) {
            const size_t has = utf8_columns(table_cell(table, shown->rows[row], i)->words);
            width = has > width ? has : width;
        }
        shown->widths[i] = width ? width : 1;
    }
}

/* Insertion sort: of at most some hundred shards. */
static void choose_rows(shown_t *shown) {
    const table_t *table = shown->table;
    size_t by = SIZE_MAX;
    for (size_t i = 0; i < table->columns; i++)
        by = table->view->columns[i].least ? i : by;
    for (size_t row = 0; row < table->rows; row++) {
        size_t at = row;
        for (; by != SIZE_MAX && table->rows > MOST_ROWS && at &&
               table_cell(table, row, by)->number < table_cell(table, shown->rows[at - 1], by)->number;
             at--)
            shown->rows[at] = shown->rows[at - 1];
        shown->rows[at] = row;
    }
    shown->count = table->rows > MOST_ROWS ? MOST_ROWS : table->rows;
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

/* Columns from..to, after the first one, which names the row. */
static void print_band(const screen_t *screen, const shown_t *shown, size_t from, size_t to) {
    const table_t *table = shown->table;
    for (size_t row = 0; row <= shown->count; row++) {
        size_t due = 0;
        if (!row)
            colour(screen, BOLD);
        for (size_t i = 0; i < to; i++)
            if (shown->widths[i] && (!i || i >= from))
                print_cell(row ? table_cell(table, shown->rows[row - 1], i)->words
                               : table->view->columns[i].title,
                           shown->widths[i], table->numbers[i], &due);
        if (!row)
            colour(screen, PLAIN);
        out_print("\n");
    }
}

/* A table that is wider than the terminal is printed in bands, each with the first column. */
static void print_bands(const screen_t *screen, const shown_t *shown) {
    const size_t columns = shown->table->columns;
    size_t from = 1;
    do {
        size_t used = shown->widths[0], to = from;
        for (; to < columns; to++) {
            used += shown->widths[to] ? shown->widths[to] + GAP : 0;
            if (to > from && used > screen->width)
                break;
        }
        print_band(screen, shown, from, to);
        from = to;
    } while (from < columns);
}

static void print_table(const screen_t *screen, const result_t *result, const result_view_t *view) {
    table_t table = table_make(result, view);
    shown_t shown = {.table = &table,
                     .rows = bson_malloc0((table.rows + 1) * sizeof(size_t)),
                     .widths = bson_malloc0((table.columns + 1) * sizeof(size_t))};
    choose_rows(&shown);
    measure(&shown);
    if (*view->title) {
        out_print("\n");
        print_wrapped(view->title, screen->width);
    }
    if (shown.count)
        print_bands(screen, &shown);
    if (shown.count < table.rows)
        out_print("and %zu more (all of them: --json)\n", table.rows - shown.count);
    bson_free(shown.rows);
    bson_free(shown.widths);
    table_free(&table);
}

void result_print_text(const result_t *result) {
    const screen_t screen = find_screen();
    const unsigned levels = log_level() < LOG_NORMAL    ? SHOW_QUIET
                            : log_level() == LOG_NORMAL ? SHOW_QUIET | SHOW_NORMAL
                                                        : SHOW_QUIET | SHOW_NORMAL | SHOW_VERBOSE;
    bool after_table = false;
    for (size_t i = 0; i < result->count; i++) {
        const result_view_t *view = &result->views[i];
        if (!(view->shown & levels))
            continue;
        const bool table = view->kind == VIEW_TABLE;
        if (after_table && !table)
            out_print("\n");
        after_table = table && *view->title;
        if (table)
            print_table(&screen, result, view);
        else
            print_line(&screen, view);
    }
}
