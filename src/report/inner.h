/* inner: what the files of src/report share: figures in words, and tables that are made of them. */
#ifndef TIPPLE_REPORT_INNER_H
#define TIPPLE_REPORT_INNER_H

#include "base/text.h"
#include "report/result.h"

/* Shows the view in the result's document, or in each document of its list, wherever its `when` holds. */
typedef void show_view_t(void *to, const bson_t *document, const result_view_t *view);
void view_show(const result_t *result, const result_view_t *view, show_view_t *show, void *to);

/* A cell: its words, "" for none, and its number, NAN for a text. */
typedef struct {
    char *words;
    double number;
} cell_t;

typedef struct {
    const result_column_t *column; /* of the view */
    char *title;
    bool used, numbers; /* something is known; all of that are numbers */
    size_t width;       /* at a terminal; 0: it is not shown there */
} head_t;

/* The cells of a view's list, row by row. */
typedef struct {
    head_t *heads;
    cell_t *cells;
    size_t rows, columns;
} table_t;

table_t table_make(const bson_t *document, const result_view_t *view);
void table_free(table_t *table);
static inline const cell_t *table_cell(const table_t *table, size_t row, size_t column) {
    return &table->cells[row * table->columns + column];
}

/* The value at a path, as people read it: "6,521,004", "10.7 s", "12.3 %"; "" for none, "-" for one that is not
 * known. bare: without the unit that a column's title says. free. */
char *figure_words(const bson_t *document, const char *path, bool bare);
void figure_put(text_t *out, double value, const char *key, bool bare);
static inline bool figure_known(const char *words) {
    return words[0] && (words[0] != '-' || words[1]);
}
/* That unit: "%"; "": words of this key are whole without one. */
const char *figure_unit(const char *key);
/* Is it measured in seconds? Then an axis has ticks as a clock has. */
bool figure_is_time(const char *key);

/* page.c: the whole page, which the caller frees; and any words, escaped. */
char *page_print(const result_t *result, size_t *length);
void page_words(text_t *page, const char *words);

#endif
