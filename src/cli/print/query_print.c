#include "cli/print/query_print.h"
#include "base/conceal_bson.h"
#include "base/log.h"
#include "base/numbers/units.h"
#include "base/out.h"
#include "base/text.h"
#include "cli/options/cli.h"
#include "cli/print/grid.h"
#include "cli/print/query_figures.h"
#include "cli/print/query_tables.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        query_print_suite_table(result, &result->measures.suite->tables[i]);
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
    char *json = conceal_bson_print(document);
    out_bytes(json ? json : "", json ? strlen(json) : 0);
    free(json);
}

void query_print_answers(const query_result_t *result) {
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        bson_iter_t at;
        bson_t document;
        /* of several that differ only in how they were sent, the first one's */
        if (!measure->answered || measure->work->count > 1 || (i && same_question(&measure[-1], measure)))
            continue;
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
        GRID_PUT(row, 7, "%s", before.hinders ? before.hinders : "");
    }
    out_print("\n");
    grid_print(&grid);
}
