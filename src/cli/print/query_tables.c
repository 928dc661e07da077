#include "cli/print/query_tables.h"
#include "base/out.h"
#include "cli/print/grid.h"
#include "cli/print/query_figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What tells a measurement from others on one side of a table. */
static void side_of(const measure_t *measure, const char *side, char out[GRID_CELL]) {
    bson_iter_t value;
    out[0] = 0;
    if (strcmp(side, "query") == 0) {
        snprintf(out, GRID_CELL, "%s", measure->work->query->name);
    } else if (strcmp(side, "clients") == 0) {
        snprintf(out, GRID_CELL, "%u", measure->clients);
    } else if (strcmp(side, "reads") == 0) {
        snprintf(out, GRID_CELL, "%s", measure->work->reads ? measure->work->reads : "");
    } else if (bson_iter_init_find(&value, measure->work->each, side)) {
        snprintf(out, GRID_CELL, "%s", bson_iter_utf8(&value, NULL));
    }
}

/* A table has one figure in a place: of what is no side of it, the first choice. */
static bool is_first_choice(const suite_table_t *table, const measure_t *first, const measure_t *measure) {
    const struct {
        const char *side;
        bool same;
    } choices[] = {{"clients", first->clients == measure->clients},
                   {"reads", first->work->reads == measure->work->reads}};
    bool chosen = true;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        chosen = chosen && (choices[i].same || strcmp(table->rows, choices[i].side) == 0 ||
                            strcmp(table->columns, choices[i].side) == 0);
    return chosen;
}

static bool in_table(const suite_table_t *table, const measure_t *measure, char row[GRID_CELL],
                     char column[GRID_CELL]) {
    bool wanted = !table->queries;
    for (const yaml_item_t *name = table->queries ? table->queries->first : NULL; name; name = name->next)
        wanted = wanted || suite_has_tag(measure->work->query, name->text);
    side_of(measure, table->rows, row);
    side_of(measure, table->columns, column);
    return wanted && *row && *column;
}

typedef struct {
    const suite_table_t *table;
    grid_t grid;
    bool published
        [GRID_COLUMNS];     /* what stands there was published; of the column before it, or of no other */
    size_t behind, outside; /* measurements whose place has another one; for which there is no column */
} drawn_t;

static size_t row_of(drawn_t *drawn, const char *name) {
    for (size_t i = 1; i < drawn->grid.rows; i++)
        if (strcmp(drawn->grid.cells[i][0], name) == 0)
            return i;
    GRID_PUT(grid_row(&drawn->grid), 0, "%s", name);
    return drawn->grid.rows - 1;
}

static bool is_published(const suite_table_t *table, const char *column) {
    for (const yaml_item_t *row = table->published ? table->published->first : NULL; row; row = row->next)
        if (yaml_item_get(row, column))
            return true;
    return false;
}

/* 0: there is no room for it. */
static size_t add_column(drawn_t *drawn, bool published, const char *title) {
    grid_t *grid = &drawn->grid;
    if (grid->columns == GRID_COLUMNS)
        return 0;
    GRID_PUT(grid->cells[0], grid->columns, "%s", title);
    drawn->published[grid->columns] = published;
    return grid->columns++;
}

/* The column of measured figures with this name; made when there is none, with one for what was published. */
static size_t column_of(drawn_t *drawn, const char *name) {
    for (size_t i = 1; i < drawn->grid.columns; i++)
        if (!drawn->published[i] && strcmp(drawn->grid.cells[0][i], name) == 0)
            return i;
    const size_t column = add_column(drawn, false, name);
    if (column && is_published(drawn->table, name))
        add_column(drawn, true, "published");
    return column;
}

/* Beside what was measured, or in a column of its own. */
static size_t published_column_of(drawn_t *drawn, const char *name) {
    char title[GRID_CELL];
    snprintf(title, sizeof title, "%.140s, published", name);
    for (size_t i = 1; i < drawn->grid.columns; i++)
        if (drawn->published[i] ? strcmp(drawn->grid.cells[0][i], title) == 0
                                : strcmp(drawn->grid.cells[0][i], name) == 0)
            return drawn->published[i] ? i : i + 1 < drawn->grid.columns ? i + 1 : 0;
    return add_column(drawn, true, title);
}

static void put_published(drawn_t *drawn) {
    const yaml_item_t *rows = drawn->table->published;
    for (const yaml_item_t *row = rows ? rows->first : NULL; row; row = row->next)
        for (const yaml_item_t *figure = row->first; figure; figure = figure->next) {
            const size_t y = row_of(drawn, row->key), x = published_column_of(drawn, figure->key);
            if (x)
                GRID_PUT(drawn->grid.cells[y], x, "%.150s", figure->text);
        }
}

static void put_measured(char cell[GRID_CELL], const query_figure_t *figure, const measure_t *measure) {
    char value[GRID_CELL], deviation[GRID_CELL];
    grid_figure(value, figure->of(measure));
    grid_figure(deviation, figure->deviation ? figure->deviation(measure) : NAN);
    const bool scatters = strcmp(deviation, "-") != 0;
    snprintf(cell, GRID_CELL, "%.40s%s%.40s", measure->failures ? "failed" : value, scatters ? " σ " : "",
             scatters ? deviation : "");
    if (!measure->failures && measure_of_nothing(measure))
        snprintf(cell, GRID_CELL, "nothing found");
}

/* ---- the same for programs ---- */

const char *query_published(const query_result_t *result, const suite_table_t *table,
                            const measure_t *measure) {
    char row[GRID_CELL], column[GRID_CELL];
    if (!table->published || !in_table(table, measure, row, column) ||
        !is_first_choice(table, result->measures.items, measure))
        return NULL;
    const yaml_item_t *figures = yaml_item_get(table->published, row);
    const yaml_item_t *figure = figures ? yaml_item_get(figures, column) : NULL;
    return figure ? figure->text : NULL;
}

/* ---- the table ---- */

/* Each measurement in its place; false: another one is there, or there is no room. */
static bool put(drawn_t *drawn, const query_result_t *result, const query_figure_t *figure,
                const measure_t *measure, const char *row, const char *column) {
    if (!is_first_choice(drawn->table, result->measures.items, measure)) {
        drawn->behind++;
        return false;
    }
    const size_t x = column_of(drawn, column), y = row_of(drawn, row);
    if (!x || drawn->grid.cells[y][x][0]) {
        *(x ? &drawn->behind : &drawn->outside) += 1;
        return false;
    }
    put_measured(drawn->grid.cells[y][x], figure, measure);
    return true;
}

static void print(drawn_t *drawn) {
    out_print("\n%s\n", drawn->table->title);
    grid_print(&drawn->grid);
    if (drawn->behind)
        out_print("of measurements that are in one place here, the first\n");
    if (drawn->outside)
        out_print("%zu more figures, for which there are too many columns; --json has them\n",
                  drawn->outside);
}

void query_print_suite_table(const query_result_t *result, const suite_table_t *table) {
    drawn_t drawn = {.table = table, .grid = {.columns = 1, .left = {true}}};
    char row[GRID_CELL], column[GRID_CELL];
    const query_figure_t *figure = query_figures;
    size_t filled = 0;
    while (strcmp(figure->name, table->show) != 0)
        figure++;
    GRID_PUT(grid_row(&drawn.grid), 0, "%s", table->rows);
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        filled += in_table(table, measure, row, column) && put(&drawn, result, figure, measure, row, column);
    }
    if (filled)
        put_published(&drawn);
    if (filled > 1 || (filled && table->published))
        print(&drawn);
    grid_free(&drawn.grid);
}
