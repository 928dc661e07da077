/* inner: what the files of src/report share: views as they are kept, and the tables that are made of them. */
#ifndef TIPPLE_REPORT_INNER_H
#define TIPPLE_REPORT_INNER_H

#include "base/text.h"
#include "report/result.h"

typedef enum { VIEW_LINE, VIEW_COMMAND, VIEW_FIGURES, VIEW_TABLE, VIEW_CHART } view_kind_t;

typedef struct {
    char *key, *title;
    double most;
    bool wide, least;
} view_column_t;

/* All texts are its own; of those that it has not, NULL. */
struct result_view {
    view_kind_t kind;
    unsigned shown;
    char *words, *command; /* of a line */
    char *title, *note, *list, *bands;
    view_column_t *columns;
    size_t count;
};

/* A cell: its words, "" for none, and its number, NAN for a text. */
typedef struct {
    char *words;
    double number;
} cell_t;

/* The cells of a view's list, row by row. */
typedef struct {
    const result_view_t *view;
    cell_t *cells;
    size_t rows, columns;
    bool *used, *numbers; /* by column: something is known in it; all of that are numbers */
} table_t;

table_t table_make(const result_t *result, const result_view_t *view);
void table_free(table_t *table);
static inline const cell_t *table_cell(const table_t *table, size_t row, size_t column) {
    return &table->cells[row * table->columns + column];
}

/* The value at a path, as people read it: "6,521,004", "10.7 s", "12.3 %"; "" where there is none, "-" where it is not
 * known. bare: without the unit that a column's title says. free. */
char *figure_words(const bson_t *document, const char *path, bool bare);
/* That unit: "%"; "": words of this key are whole without one. */
const char *figure_unit(const char *key);
/* A number on an axis, whose ticks are round: "1.2M", "20 s", "1:30". */
enum { FIGURE_ROOM = 64 };
const char *figure_short(char out[FIGURE_ROOM], double value, const char *key);
/* Is it measured in seconds? Then an axis has ticks as a clock has. */
bool figure_is_time(const char *key);

/* chart.c: the picture alone. */
void chart_put(text_t *page, const result_t *result, const result_view_t *view);
/* page.c: the whole page, which the caller frees; words of ours, and any words, escaped. */
char *page_print(const result_t *result, size_t *length);
void page_put(text_t *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_words(text_t *page, const char *words);

/* file.c: a file is a page of ours, and may be replaced, if its first FILE_MARK bytes have this line. */
enum { FILE_MARK = 256 };
#define FILE_MARK_PAGE "<meta name=\"generator\" content=\"tipple\">"
/* Can a file be made there? Status 1 if not, or if something stands there that is no page of ours. */
bool file_check(const char *path, err_t *err);
/* False: status 8, and what was there is unchanged. */
bool file_write(const char *path, const char *text, size_t length, err_t *err);

#endif
