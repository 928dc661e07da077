/* table: a table of a page. On a narrow screen, a table with many columns becomes blocks: one line for each cell, with
 * its column's name. Columns beyond TABLE_COLUMNS are left out. */
#ifndef TIPPLE_REPORT_TABLE_H
#define TIPPLE_REPORT_TABLE_H

#include "report/markup.h"

#include <stdbool.h>

enum { TABLE_COLUMNS = 24 };

typedef struct {
    const char *name, *unit;
    bool numbers; /* aligned to the right */
    double most;  /* of a bar; NAN: no bar is drawn */
} table_column_t;

typedef struct {
    markup_t *out;
    table_column_t columns[TABLE_COLUMNS];
    size_t count, at;
    bool row_open;
} table_t;

void table_begin(table_t *table, markup_t *out, const char *caption, const table_column_t *columns,
                 size_t count);
void table_row(table_t *table);
void table_text(table_t *table, const char *text);
void table_number(table_t *table, double value); /* in its column's unit */
void table_end(table_t *table);

#endif
