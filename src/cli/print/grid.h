/* grid: a table of texts for a person. Each column is as wide as its longest text; a column without any text is left
 * out. Main thread. */
#ifndef TIPPLE_CLI_PRINT_GRID_H
#define TIPPLE_CLI_PRINT_GRID_H

#include <stdbool.h>
#include <stddef.h>

enum { GRID_CELL = 160, GRID_COLUMNS = 24 };

/* Zeroed but for columns and left: which of them begin at the left. */
typedef struct {
    char (*cells)[GRID_COLUMNS][GRID_CELL];
    size_t rows, room, columns;
    bool left[GRID_COLUMNS];
} grid_t;

/* A new row, with empty cells: fill it in before the next one comes. */
char (*grid_row(grid_t *grid))[GRID_CELL];

#define GRID_PUT(row, column, ...) snprintf((row)[column], GRID_CELL, __VA_ARGS__)

/* Three digits that count; "-": there is no figure. */
void grid_figure(char out[GRID_CELL], double value);

/* Prints it and frees its rows. */
void grid_print(grid_t *grid);
void grid_free(grid_t *grid);

#endif
