#include "cli/print/query_print.h"
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "cli/options/cli.h"
#include "cli/print/grid.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures ---- */

static double ms(double ns) {
    return ns / 1e6;
}

static double of_hist(const measure_t *measure, double share) {
    return query_tells(measure, share) ? ms(hist_quantile_ns(measure->hist, share)) : NAN;
}

static bool has_any(const measure_t *measure) {
    return !measure->failures && measure->hist->moments.count > 0;
}

static double mean_ms(const measure_t *measure) {
    return has_any(measure) ? ms(measure->hist->moments.mean) : NAN;
}

static double sd_ms(const measure_t *measure) {
    return has_any(measure) ? ms(moments_sd(&measure->hist->moments)) : NAN;
}

static double min_ms(const measure_t *measure) {
    return has_any(measure) ? ms((double)measure->hist->least_ns) : NAN;
}

static double max_ms(const measure_t *measure) {
    return has_any(measure) ? ms((double)measure->hist->most_ns) : NAN;
}

static double p50_ms(const measure_t *measure) {
    return of_hist(measure, 0.5);
}

static double p95_ms(const measure_t *measure) {
    return of_hist(measure, 0.95);
}

static double p99_ms(const measure_t *measure) {
    return of_hist(measure, 0.99);
}

static double docs_per_ms(const measure_t *measure) {
    return has_any(measure) ? measure->per_ms.mean : NAN;
}

static double docs_per_ms_sd(const measure_t *measure) {
    return has_any(measure) ? moments_sd(&measure->per_ms) : NAN;
}

static double ops_per_second(const measure_t *measure) {
    return has_any(measure) && measure->elapsed_ns > 0
               ? (double)measure->hist->moments.count * 1e9 / (double)measure->elapsed_ns
               : NAN;
}

const query_figure_t query_figures[] = {
    {"mean_ms", "mean ms", mean_ms, sd_ms},
    {"sd_ms", "σ", sd_ms, NULL},
    {"min_ms", "min", min_ms, NULL},
    {"p50_ms", "p50", p50_ms, NULL},
    {"p95_ms", "p95", p95_ms, NULL},
    {"p99_ms", "p99", p99_ms, NULL},
    {"max_ms", "max", max_ms, NULL},
    {"docs_per_ms", "docs/ms", docs_per_ms, docs_per_ms_sd},
    {"docs_per_ms_sd", "σ", docs_per_ms_sd, NULL},
    {"ops_per_second", "ops/s", ops_per_second, NULL},
    {NULL, NULL, NULL, NULL},
};

double query_figure(const measure_t *measure, const char *name) {
    for (const query_figure_t *figure = query_figures; figure->name; figure++)
        if (strcmp(figure->name, name) == 0)
            return figure->of(measure);
    return NAN;
}

const char *query_emptiness(const measure_t *measure, char out[QUERY_EMPTINESS]) {
    if (measure->failures || !measure->empty)
        return NULL;
    if (measure_of_nothing(measure))
        return "nothing came back, so its times are not those of an answer";
    snprintf(out, QUERY_EMPTINESS, "nothing came back to %.0f %% of its requests",
             100 * (double)measure->empty / (double)measure->hist->moments.count);
    return out;
}

double query_ratio(const measure_t *measure, const compared_t *then, const char *figure) {
    const double was = strcmp(figure, "p99_ms") == 0 ? then->p99_ms : then->p50_ms;
    return then->obstacle || !(was > 0) ? NAN : query_figure(measure, figure) / was;
}

/* ---- a suite's own tables: one figure of each measurement, arranged by two things ---- */

/* The words that distinguish a measurement on one side of a table. */
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

/* Next to the measured figure, or in a column of its own. */
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

/* Each measurement in its place; false: another one is there, or there is no room. */
static bool put_one(drawn_t *drawn, const query_result_t *result, const query_figure_t *figure,
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

static void print_drawn(drawn_t *drawn) {
    out_print("\n%s\n", drawn->table->title);
    grid_print(&drawn->grid);
    if (drawn->behind)
        out_print("of measurements that are in one place here, the first\n");
    if (drawn->outside)
        out_print("%zu more figures, for which there are too many columns; --json has them\n",
                  drawn->outside);
}

static void print_suite_table(const query_result_t *result, const suite_table_t *table) {
    drawn_t drawn = {.table = table, .grid = {.columns = 1, .left = {true}}};
    char row[GRID_CELL], column[GRID_CELL];
    const query_figure_t *figure = query_figures;
    size_t filled = 0;
    while (strcmp(figure->name, table->show) != 0)
        figure++;
    GRID_PUT(grid_row(&drawn.grid), 0, "%s", table->rows);
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        filled +=
            in_table(table, measure, row, column) && put_one(&drawn, result, figure, measure, row, column);
    }
    if (filled)
        put_published(&drawn);
    if (filled > 1 || (filled && table->published))
        print_drawn(&drawn);
    grid_free(&drawn.grid);
}

/* ---- the table of everything ---- */

static bool differ(const query_result_t *result, const char *what) {
    const measure_t *first = result->measures.items;
    for (size_t i = 1; i < result->measures.count; i++) {
        const measure_t *other = &result->measures.items[i];
        if (strcmp(what, "clients") == 0 ? other->clients != first->clients
                                         : other->work->reads != first->work->reads)
            return true;
    }
    return false;
}

static void print_measures(const query_result_t *result) {
    static const char *const shown[] = {"mean_ms", "sd_ms",  "min_ms",      "p50_ms",        "p95_ms",
                                        "p99_ms",  "max_ms", "docs_per_ms", "ops_per_second"};
    bool clients = differ(result, "clients") || result->measures.items[0].clients != 1;
    bool reads = differ(result, "reads") || result->measures.items[0].work->reads;
    grid_t grid = {.columns = 5 + sizeof shown / sizeof *shown, .left = {true, true, true}};
    char(*row)[GRID_CELL] = grid_row(&grid);
    GRID_PUT(row, 0, "query");
    GRID_PUT(row, 2, "%s", reads ? "reads" : "");
    GRID_PUT(row, 3, "%s", clients ? "clients" : "");
    GRID_PUT(row, 4, "n");
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
        for (const query_figure_t *figure = query_figures; figure->name; figure++)
            if (strcmp(figure->name, shown[k]) == 0)
                GRID_PUT(row, 5 + k, "%s", figure->title);
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        row = grid_row(&grid);
        GRID_PUT(row, 0, "%s", measure->work->query->name);
        GRID_PUT(row, 1, "%s", measure->work->with);
        if (reads)
            GRID_PUT(row, 2, "%s", measure->work->reads ? measure->work->reads : "");
        if (clients)
            GRID_PUT(row, 3, "%u", measure->clients);
        if (measure->failures)
            GRID_PUT(row, 4, "failed");
        else
            GRID_PUT(row, 4, "%" PRIu64 "%s", measure->hist->moments.count,
                     measure_of_nothing(measure) ? " empty" : "");
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
            grid_figure(row[5 + k], query_figure(measure, shown[k]));
    }
    grid_print(&grid);
}

/* ---- the study's table: what the machine did meanwhile ---- */

static void print_share(char out[GRID_CELL], double share) {
    if (isnan(share))
        snprintf(out, GRID_CELL, "-");
    else
        snprintf(out, GRID_CELL, "%.0f", share * 100);
}

static void print_ns(char out[GRID_CELL], double ns) {
    char time[UNITS_MAX];
    snprintf(out, GRID_CELL, "%s", units_seconds(time, ns / 1e9));
}

static const double LEAST_WATCHED_SECONDS = 0.25;

static void print_watched(const query_result_t *result) {
    const watch_storage_t *storage = &result->storage;
    grid_t grid = {.columns = 13, .left = {true, true}};
    char(*row)[GRID_CELL] = grid_row(&grid);
    static const char *const titles[] = {"configuration", "query",        "disk GB",  "load",
                                         "query time",    "user %",       "sys %",    "iowait %",
                                         "idle %",        "server cores", "examined", "read into cache"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        GRID_PUT(row, i, "%s", titles[i]);
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        const watch_figures_t *seen = &measure->watched.figures;
        char text[UNITS_MAX];
        if (measure->failures || !(measure->watched.seconds > 0))
            continue;
        row = grid_row(&grid);
        GRID_PUT(row, 0, "%s", result->configuration);
        GRID_PUT(row, 1, "%s %s", measure->work->query->name, measure->work->with);
        if (isnan(storage->data_bytes))
            GRID_PUT(row, 2, "-");
        else
            GRID_PUT(row, 2, "%.3g", (storage->data_bytes + storage->index_bytes) / 1e9);
        print_ns(row[3], result->load_seconds * 1e9);
        if (!measure->hist->moments.count) /* interrupted in its first request */
            GRID_PUT(row, 4, "-");
        else if (measure->hist->moments.mean < 10e6) /* a time of people's would be 0 ms */
            GRID_PUT(row, 4, "%.3g ms", measure->hist->moments.mean / 1e6);
        else
            print_ns(row[4], measure->hist->moments.mean);
        /* the kernel counts in steps of 10 ms: of a short time they tell nothing */
        bool long_enough = measure->watched.seconds >= LEAST_WATCHED_SECONDS;
        print_share(row[5], long_enough ? seen->user : NAN);
        print_share(row[6], long_enough ? seen->sys : NAN);
        print_share(row[7], long_enough ? seen->iowait : NAN);
        print_share(row[8], long_enough ? seen->idle : NAN);
        grid_figure(row[9], long_enough ? seen->server_cores : NAN);
        GRID_PUT(row, 10, "%s", units_told(text, seen->examined));
        GRID_PUT(row, 11, "%s", units_bytes(text, seen->cached_bytes));
    }
    if (grid.rows > 1) {
        out_print("\nwhile it ran (this host's CPU; the servers' counters, all rounds together)\n");
        grid_print(&grid);
    }
    grid_free(&grid);
}

/* ---- what the server says of its finds ---- */

static void print_explained(const query_result_t *result) {
    static const char *const titles[] = {"explained", "",       "n",  "keys",
                                         "documents", "shards", "ms", "ms of a shard"};
    enum { COLUMNS = sizeof titles / sizeof *titles };
    grid_t grid = {.columns = COLUMNS, .left = {true, true}};
    char(*row)[GRID_CELL] = grid_row(&grid);
    for (size_t i = 0; i < COLUMNS; i++)
        GRID_PUT(row, i, "%s", titles[i]);
    for (size_t i = 0; i < result->measures.work_count; i++) {
        const work_t *work = &result->measures.works[i];
        const explained_t *told = &work->explained;
        const double figures[] = {told->returned, told->keys, told->documents,
                                  told->shards,   told->ms,   told->shard_ms};
        if (!told->asked)
            continue;
        row = grid_row(&grid);
        GRID_PUT(row, 0, "%s", work->query->name);
        GRID_PUT(row, 1, "%s", work->with);
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
            char count[UNITS_MAX];
            GRID_PUT(row, 2 + k, "%s", units_told(count, figures[k]));
        }
    }
    if (grid.rows > 1) {
        out_print("\nwhat the server says of these finds (keys and documents that it looked at)\n");
        grid_print(&grid);
    }
    grid_free(&grid);
}

static void print_remarks(const query_result_t *result) {
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        const work_t *work = measure->work;
        const char *space = *work->with ? " " : "";
        const bool failed = measure->failures != 0;
        char empty[QUERY_EMPTINESS];
        if (failed || measure->difference[0])
            out_print("%s%s%s%s%s\n", work->query->name, space, work->with,
                      failed ? " failed, its figures are left out: " : ": not the expected answer: ",
                      failed ? measure->failure : measure->difference);
        const char *emptiness = query_emptiness(measure, empty);
        if (emptiness && !(i && measure[-1].work == work)) /* told of fewer clients already */
            out_print("%s%s%s: %s\n", work->query->name, space, work->with, emptiness);
    }
}

/* "mot.results  300,000 documents  6.0.5 standalone, clustered" */
static void print_target(const query_result_t *result) {
    char documents[UNITS_MAX];
    out_print("%s  ", result->namespace);
    if (!isnan(result->storage.documents)) /* of a view nobody knows */
        out_print("%s document%s  ", units_told(documents, result->storage.documents),
                  result->storage.documents == 1 ? "" : "s");
    out_print("%s\n\n", result->configuration);
}

void query_print_table(const query_result_t *result) {
    if (!result->measures.count)
        return;
    print_target(result);
    print_measures(result);
    for (size_t i = 0; i < result->measures.suite->table_count; i++)
        print_suite_table(result, &result->measures.suite->tables[i]);
    print_explained(result);
    if (log_level() >= LOG_VERBOSE)
        print_watched(result);
    print_remarks(result);
}

/* ---- the others ---- */

static bool same_question(const measure_t *one, const measure_t *other) {
    return one->work->query == other->work->query && strcmp(one->work->with, other->work->with) == 0;
}

static void print_json(const bson_t *document) {
    char *json = ejson_print_concealed(document, NULL);
    out_bytes(json ? json : "", json ? strlen(json) : 0);
    free(json);
}

void query_print_answers(const query_result_t *result, bool named) {
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        bson_iter_t at;
        bson_t document;
        /* of several that differ only in how they were sent, the first one's */
        if (!measure->answered || measure->work->count > 1 || (i && same_question(&measure[-1], measure)))
            continue;
        if (named)
            out_print("%s%s%s\n", measure->work->query->name, *measure->work->with ? " " : "",
                      measure->work->with);
        bson_iter_init(&at, measure->answer.documents);
        while (bson_iter_next(&at)) {
            if (!bson_read_document(&at, &document))
                continue;
            print_json(&document);
            out_print("\n");
        }
        if (measure->answer.more)
            out_print("... and more: %" PRIu64 " documents in all\n", measure->answer.count);
        if (named)
            out_print("\n");
    }
}

void query_print_plans(const query_result_t *result) {
    for (size_t i = 0; i < result->measures.work_count; i++) {
        const work_t *work = &result->measures.works[i];
        const request_t *request = work->requests;
        out_print(i ? "\n%s%s%s on %s.%s%s\n" : "%s%s%s on %s.%s%s\n", work->query->name,
                  *work->with ? " " : "", work->with, request->database, request->collection,
                  work->count > 1 ? ", one of several, drawn by chance:" : "");
        out_print("  %s  ", request->kind == QUERY_PIPELINE     ? "pipeline"
                            : request->kind == QUERY_MAP_REDUCE ? "command"
                                                                : "filter");
        print_json(request->body);
        out_print("\n  options  ");
        print_json(request->options);
        out_print("\n");
    }
    if (result->measures.work_count)
        out_print(
            "\nThis is what would be sent. The server's plan is not asked for: of a find `explain: yes` in a "
            "suite\ntells how many keys and documents the server looks at, and explain() of mongosh the "
            "rest.\n");
}

void query_print_comparison(const query_result_t *result, const bson_t *then) {
    grid_t grid = {.columns = 8, .left = {true}};
    char(*row)[GRID_CELL] = grid_row(&grid);
    static const char *const titles[] = {"compared", "then p50", "now p50", "ratio",
                                         "then p99", "now p99",  "ratio",   ""};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        GRID_PUT(row, i, "%s", titles[i]);
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        const work_t *work = measure->work;
        compared_t before;
        compare_find(then, measure, &before);
        row = grid_row(&grid);
        GRID_PUT(row, 0, "%s%s%s", work->query->name, *work->with ? " " : "", work->with);
        grid_figure(row[1], before.p50_ms);
        grid_figure(row[2], query_figure(measure, "p50_ms"));
        grid_figure(row[3], query_ratio(measure, &before, "p50_ms"));
        grid_figure(row[4], before.p99_ms);
        grid_figure(row[5], query_figure(measure, "p99_ms"));
        grid_figure(row[6], query_ratio(measure, &before, "p99_ms"));
        GRID_PUT(row, 7, "%s", before.obstacle ? before.obstacle : "");
    }
    out_print("\n");
    grid_print(&grid);
}
