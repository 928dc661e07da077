#include "cli/print/grid.h"
#include "base/chars.h"
#include "base/conceal.h"
#include "base/log.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cell as a person may see it. */
static void make_fit(char cell[GRID_CELL]) {
    char shown[GRID_CELL];
    escape_text(shown, sizeof shown, cell, strlen(cell));
    strcpy(cell, conceal(shown, sizeof shown));
}

char (*grid_row(grid_t *grid))[GRID_CELL] {
    if (!GROW(grid->cells, grid->room, grid->rows + 1, NULL))
        err_end_without_memory((grid->rows + 1) * sizeof *grid->cells); /* everything else is done */
    memset(grid->cells[grid->rows], 0, sizeof *grid->cells);
    return grid->cells[grid->rows++];
}

void grid_figure(char out[GRID_CELL], double value) {
    const double size = fabs(value);
    if (isnan(value))
        snprintf(out, GRID_CELL, "-");
    else
        snprintf(out, GRID_CELL, "%.*f",
                 size >= 100 || size == 0 ? 0
                 : size >= 10             ? 1
                 : size >= 1              ? 2
                                          : 3,
                 value);
}

void grid_print(grid_t *grid) {
    int widths[GRID_COLUMNS] = {0};
    for (size_t row = 0; row < grid->rows; row++)
        for (size_t i = 0; i < grid->columns; i++)
            make_fit(grid->cells[row][i]);
    for (size_t row = 0; row < grid->rows; row++)
        for (size_t i = 0; i < grid->columns; i++)
            if ((int)utf8_columns(grid->cells[row][i]) > widths[i])
                widths[i] = (int)utf8_columns(grid->cells[row][i]);
    for (size_t row = 0; row < grid->rows; row++) {
        int due = 0; /* blanks that only come when something follows */
        for (size_t i = 0; i < grid->columns; i++) {
            const char *cell = grid->cells[row][i];
            int pad = widths[i] - (int)utf8_columns(cell);
            if (!widths[i])
                continue;
            due += grid->left[i] ? 0 : pad;
            if (*cell) {
                out_print("%*s%s", due, "", cell);
                due = 0;
            } else {
                due += grid->left[i] ? 0 : (int)utf8_columns(cell);
            }
            due += (grid->left[i] ? pad : 0) + 2;
        }
        out_print("\n");
    }
    free(grid->cells);
    *grid = (grid_t){.rows = 0};
}

void grid_free(grid_t *grid) {
    free(grid->cells);
    *grid = (grid_t){.rows = 0};
}
