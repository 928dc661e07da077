#include "cli/query_print.h"
#include "base/units.h"
#include "cli/cli.h"
#include "query/expected.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 96, COLUMNS = 16 };

/* ---- figures of a measurement: NAN where there are too few ---- */

typedef double figure_fn(const measure_t *measure);

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

static const struct {
    const char *name, *title;
    figure_fn *of, *deviation;
} figures[] = {
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
};
enum { FIGURES = sizeof figures / sizeof *figures };

/* Three digits that count; "-": too few to tell. */
static void print_figure(char out[CELL], double value) {
    double size = fabs(value);
    if (isnan(value))
        snprintf(out, CELL, "-");
    else
        snprintf(out, CELL, "%.*f", size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3, value);
}

static const char *parallel_name(const measure_t *measure, char out[16]) {
    const work_t *work = measure->work;
    return work->query->kind == QUERY_PIPELINE ? measure_parallel_name(work->ranges, out) : "off";
}

/* ---- aligned columns ---- */

typedef struct {
    char (*cells)[COLUMNS][CELL];
    size_t rows, room, columns;
    bool left[COLUMNS];
} grid_t;

static char (*grid_row(grid_t *grid))[CELL] {
    if (grid->rows == grid->room) {
        size_t room = grid->room ? grid->room * 2 : 32;
        void *more = realloc(grid->cells, room * sizeof *grid->cells);
        if (!more)
            abort(); /* a few kilobytes, at the end of everything */
        grid->cells = more;
        grid->room = room;
    }
    memset(grid->cells[grid->rows], 0, sizeof *grid->cells);
    return grid->cells[grid->rows++];
}

/* As a terminal shows it: bytes that continue a letter take no place. */
static int width_of(const char *text) {
    int width = 0;
    for (; *text; text++)
        width += (*text & 0xC0) != 0x80;
    return width;
}

static void grid_print(grid_t *grid) {
    int widths[COLUMNS] = {0};
    for (size_t row = 0; row < grid->rows; row++)
        for (size_t i = 0; i < grid->columns; i++)
            if (width_of(grid->cells[row][i]) > widths[i])
                widths[i] = width_of(grid->cells[row][i]);
    for (size_t row = 0; row < grid->rows; row++) {
        int due = 0; /* blanks that only come when something follows */
        for (size_t i = 0; i < grid->columns; i++) {
            const char *cell = grid->cells[row][i];
            int pad = widths[i] - width_of(cell);
            if (!widths[i])
                continue;
            due += grid->left[i] ? 0 : pad;
            if (*cell) {
                printf("%*s%s", due, "", cell);
                due = 0;
            } else {
                due += grid->left[i] ? 0 : width_of(cell);
            }
            due += (grid->left[i] ? pad : 0) + 2;
        }
        putchar('\n');
    }
    free(grid->cells);
    *grid = (grid_t){.rows = 0};
}

#define PUT(row, column, ...) snprintf((row)[column], CELL, __VA_ARGS__)

/* ---- the table of everything ---- */

static bool differ(const query_result_t *result, const char *what) {
    const measure_t *first = result->measures.items;
    for (size_t i = 1; i < result->measures.count; i++) {
        const measure_t *other = &result->measures.items[i];
        if (strcmp(what, "clients") == 0 ? other->clients != first->clients
            : strcmp(what, "reads") == 0 ? other->work->reads != first->work->reads
                                         : other->work->ranges != first->work->ranges)
            return true;
    }
    return false;
}

static void print_measures(const query_result_t *result) {
    static const char *const shown[] = {"mean_ms", "sd_ms",  "min_ms",      "p50_ms",        "p95_ms",
                                        "p99_ms",  "max_ms", "docs_per_ms", "ops_per_second"};
    bool clients = differ(result, "clients") || result->measures.items[0].clients != 1;
    bool reads = differ(result, "reads") || result->measures.items[0].work->reads;
    bool parallel = differ(result, "parallel") || result->measures.items[0].work->ranges != PARALLEL_OFF;
    grid_t grid = {.columns = 6 + sizeof shown / sizeof *shown, .left = {true, true, true}};
    char(*row)[CELL] = grid_row(&grid);
    PUT(row, 0, "query");
    PUT(row, 2, "%s", reads ? "reads" : "");
    PUT(row, 3, "%s", clients ? "clients" : "");
    PUT(row, 4, "%s", parallel ? "parallel" : "");
    PUT(row, 5, "n");
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
        for (size_t f = 0; f < FIGURES; f++)
            if (strcmp(figures[f].name, shown[k]) == 0)
                PUT(row, 6 + k, "%s", figures[f].title);
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        char ranges[16];
        row = grid_row(&grid);
        PUT(row, 0, "%s", measure->work->query->name);
        PUT(row, 1, "%.90s", measure->work->with);
        if (reads)
            PUT(row, 2, "%s", measure->work->reads ? measure->work->reads : "");
        if (clients)
            PUT(row, 3, "%u", measure->clients);
        if (parallel && measure->work->parallel && measure->work->ranges == PARALLEL_AUTO)
            PUT(row, 4, "auto: %u", parallel_ranges(measure->work->parallel));
        else if (parallel)
            PUT(row, 4, "%s", parallel_name(measure, ranges));
        if (measure->failures)
            PUT(row, 5, "failed");
        else
            PUT(row, 5, "%" PRIu64, measure->hist->moments.count);
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
            for (size_t f = 0; f < FIGURES; f++)
                if (strcmp(figures[f].name, shown[k]) == 0)
                    print_figure(row[6 + k], figures[f].of(measure));
    }
    grid_print(&grid);
}

/* ---- the suite's own tables ---- */

/* What tells a measurement from others on one side of a table. */
static void side_of(const measure_t *measure, const char *side, char out[CELL]) {
    bson_iter_t value;
    char ranges[16];
    out[0] = 0;
    if (strcmp(side, "query") == 0) {
        snprintf(out, CELL, "%s", measure->work->query->name);
    } else if (strcmp(side, "clients") == 0) {
        snprintf(out, CELL, "%u", measure->clients);
    } else if (strcmp(side, "parallel") == 0) {
        snprintf(out, CELL, "%s", parallel_name(measure, ranges));
    } else if (strcmp(side, "reads") == 0) {
        snprintf(out, CELL, "%s", measure->work->reads ? measure->work->reads : "");
    } else if (bson_iter_init_find(&value, &measure->work->each, side)) {
        const char *at = measure->work->with;
        size_t length = strlen(side);
        while (*at && !(strncmp(at, side, length) == 0 && at[length] == '=')) {
            at += strcspn(at, " ");
            at += *at == ' ';
        }
        if (*at)
            snprintf(out, CELL, "%.*s", (int)strcspn(at + length + 1, " "), at + length + 1);
    }
}

/* A table has one figure in a place: of what is no side of it, the first choice. */
static bool is_first_choice(const suite_table_t *table, const measure_t *first, const measure_t *measure) {
    const struct {
        const char *side;
        bool same;
    } choices[] = {{"clients", first->clients == measure->clients},
                   {"parallel", first->work->ranges == measure->work->ranges ||
                                    first->work->query->kind != measure->work->query->kind},
                   {"reads", first->work->reads == measure->work->reads}};
    bool chosen = true;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        chosen = chosen && (choices[i].same || strcmp(table->rows, choices[i].side) == 0 ||
                            strcmp(table->columns, choices[i].side) == 0);
    return chosen;
}

static bool in_table(const suite_table_t *table, const measure_t *measure, char row[CELL],
                     char column[CELL]) {
    bool wanted = !table->queries;
    for (const ynode_t *name = table->queries ? table->queries->first : NULL; name; name = name->next)
        wanted = wanted || suite_has_tag(measure->work->query, name->text);
    side_of(measure, table->rows, row);
    side_of(measure, table->columns, column);
    return wanted && *row && *column;
}

/* A place with this name in the first row or column; made when there is none. */
static size_t place_of(grid_t *grid, const char *name, bool column) {
    size_t count = column ? grid->columns : grid->rows;
    for (size_t i = 1; i < count; i++)
        if (strcmp(column ? grid->cells[0][i] : grid->cells[i][0], name) == 0)
            return i;
    if (column) {
        if (grid->columns == COLUMNS)
            return 0;
        PUT(grid->cells[0], grid->columns, "%s", name);
        return grid->columns++;
    }
    char(*row)[CELL] = grid_row(grid);
    PUT(row, 0, "%s", name);
    return grid->rows - 1;
}

static void print_suite_table(const query_result_t *result, const suite_table_t *table) {
    grid_t grid = {.columns = 1, .left = {true}};
    char row[CELL], column[CELL];
    size_t f = 0, filled = 0;
    while (strcmp(figures[f].name, table->show) != 0)
        f++;
    PUT(grid_row(&grid), 0, "%s", table->rows);
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        if (!in_table(table, measure, row, column) ||
            !is_first_choice(table, result->measures.items, measure))
            continue;
        size_t x = place_of(&grid, column, true), y = place_of(&grid, row, false);
        char value[CELL], deviation[CELL];
        if (!x)
            continue;
        print_figure(value, figures[f].of(measure));
        print_figure(deviation, figures[f].deviation ? figures[f].deviation(measure) : NAN);
        PUT(grid.cells[y], x, "%.40s%s%.40s", measure->failures ? "failed" : value,
            strcmp(deviation, "-") == 0 ? "" : " σ ", strcmp(deviation, "-") == 0 ? "" : deviation);
        filled++;
    }
    if (filled > 1) {
        printf("\n%s\n", table->title);
        grid_print(&grid);
    }
    free(grid.cells);
}

/* ---- the study's table: what the machine did meanwhile ---- */

static void print_share(char out[CELL], double share) {
    if (isnan(share))
        snprintf(out, CELL, "-");
    else
        snprintf(out, CELL, "%.0f", share * 100);
}

static void print_ns(char out[CELL], double ns) {
    char time[UNITS_MAX];
    snprintf(out, CELL, "%s", isnan(ns) ? "-" : units_time(time, (int64_t)ns));
}

static void print_watched(const query_result_t *result) {
    const watch_storage_t *storage = &result->storage;
    grid_t grid = {.columns = 13, .left = {true, true}};
    char(*row)[CELL] = grid_row(&grid);
    static const char *const titles[] = {"configuration", "query",        "disk GB",  "load",
                                         "query time",    "user %",       "sys %",    "iowait %",
                                         "idle %",        "server cores", "examined", "read into cache"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        PUT(row, i, "%s", titles[i]);
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        const watch_figures_t *seen = &measure->watched.figures;
        char text[UNITS_MAX], ranges[16], named[CELL] = "";
        if (measure->failures || !(measure->watched.seconds > 0))
            continue;
        row = grid_row(&grid);
        if (measure->work->ranges != PARALLEL_OFF)
            snprintf(named, sizeof named, ", parallel %s", parallel_name(measure, ranges));
        PUT(row, 0, "%.60s%.30s", result->configuration, named);
        PUT(row, 1, "%s %.60s", measure->work->query->name, measure->work->with);
        PUT(row, 2, "%.3g", (storage->data_bytes + storage->index_bytes) / 1e9);
        print_ns(row[3], result->load_seconds * 1e9);
        print_ns(row[4], measure->hist->moments.mean);
        print_share(row[5], seen->user);
        print_share(row[6], seen->sys);
        print_share(row[7], seen->iowait);
        print_share(row[8], seen->idle);
        print_figure(row[9], seen->server_cores);
        PUT(row, 10, "%s", isnan(seen->examined) ? "-" : units_count(text, (uint64_t)seen->examined));
        PUT(row, 11, "%s", isnan(seen->cached_bytes) ? "-" : units_size(text, (uint64_t)seen->cached_bytes));
    }
    if (grid.rows > 1) {
        printf("\nbeside it (this host's CPU; the servers' counters, all rounds together)\n");
        grid_print(&grid);
    }
    free(grid.cells);
}

static void print_remarks(const query_result_t *result) {
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        const work_t *work = measure->work;
        const char *space = *work->with ? " " : "";
        if (measure->failures)
            printf("%s%s%s failed, its figures are left out: %s\n", work->query->name, space, work->with,
                   measure->failure);
        else if (measure->difference[0])
            printf("%s%s%s: not the expected answer: %s\n", work->query->name, space, work->with,
                   measure->difference);
        if (work->parallel && parallel_ranges(work->parallel) == 1)
            printf("%s%s%s runs whole: %s\n", work->query->name, space, work->with,
                   parallel_why(work->parallel));
        else if (work->parallel && !parallel_snapshot(work->parallel))
            printf("%s%s%s: its ranges do not see one moment: not exact under writes\n", work->query->name,
                   space, work->with);
        if (work->parallel && parallel_ranges(work->parallel) > 1 && parallel_rounds(work->parallel))
            printf("%s%s%s: sums of doubles are the plain run's to within rounding\n", work->query->name,
                   space, work->with);
    }
}

void query_print_table(const query_result_t *result) {
    if (!result->measures.count)
        return;
    print_measures(result);
    for (size_t i = 0; i < result->measures.suite->table_count; i++)
        print_suite_table(result, &result->measures.suite->tables[i]);
    print_watched(result);
    print_remarks(result);
}

/* ---- CSV ---- */

static void print_csv_text(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

void query_print_csv(const query_result_t *result) {
    printf("query,with,reads,clients,parallel,n,failures");
    for (size_t f = 0; f < FIGURES; f++)
        printf(",%s", figures[f].name);
    printf("\n");
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        char ranges[16];
        print_csv_text(measure->work->query->name);
        putchar(',');
        print_csv_text(measure->work->with);
        printf(",%s,%u,%s,%" PRIu64 ",%" PRIu64, measure->work->reads ? measure->work->reads : "",
               measure->clients, parallel_name(measure, ranges), measure->hist->moments.count,
               measure->failures);
        for (size_t f = 0; f < FIGURES; f++) {
            double value = figures[f].of(measure);
            if (isnan(value))
                putchar(',');
            else
                printf(",%.6g", value);
        }
        putchar('\n');
    }
}

/* ---- JSON ---- */

static void print_number(const char *name, double value) {
    if (isnan(value) || isinf(value))
        printf(",\"%s\":null", name);
    else
        printf(",\"%s\":%.9g", name, value);
}

static void print_text(const char *name, const char *text) {
    printf(",\"%s\":", name);
    if (text)
        cli_print_json_text(text);
    else
        printf("null");
}

static void print_result(const measure_t *measure) {
    char digest[EXPECTED_DIGEST];
    if (!measure->answered || measure->work->count > 1) {
        printf(",\"result\":null");
        return;
    }
    char *json = bson_array_as_json(&measure->answer.documents, NULL);
    bson_free(json);
    bson_t holder = BSON_INITIALIZER;
    bson_append_array(&holder, "", 0, &measure->answer.documents);
    json = bson_as_relaxed_extended_json(&holder, NULL);
    size_t length = json ? strlen(json) : 0;
    expected_digest(&measure->answer.documents, false, digest);
    printf(",\"digest\":\"%s\",\"result_complete\":%s,\"result\":%.*s", digest,
           measure->answer.more ? "false" : "true", length > 9 ? (int)length - 9 : 4,
           length > 9 ? json + 7 : "null"); /* { "" : [ ... ] } */
    bson_free(json);
    bson_destroy(&holder);
}

static void print_watch_json(const measure_t *measure) {
    const watch_figures_t *seen = &measure->watched.figures;
    printf(",\"beside\":{\"seconds\":%.6f", measure->watched.seconds);
    print_number("user", seen->user);
    print_number("sys", seen->sys);
    print_number("iowait", seen->iowait);
    print_number("idle", seen->idle);
    print_number("server_cores", seen->server_cores);
    print_number("documents_examined", seen->examined);
    print_number("bytes_into_cache", seen->cached_bytes);
    printf("}");
}

static void print_measure_json(const measure_t *measure) {
    const work_t *work = measure->work;
    char ranges[16];
    printf("{\"name\":");
    cli_print_json_text(work->query->name);
    print_text("with", work->with);
    print_text("reads", work->reads);
    printf(",\"clients\":%u", measure->clients);
    print_text("parallel", parallel_name(measure, ranges));
    printf(",\"ranges\":%u", work->parallel ? parallel_ranges(work->parallel) : 1);
    print_text("whole_because",
               work->parallel && parallel_ranges(work->parallel) == 1 ? parallel_why(work->parallel) : NULL);
    printf(",\"n\":%" PRIu64 ",\"failures\":%" PRIu64, measure->hist->moments.count, measure->failures);
    print_text("failure", measure->failures ? measure->failure : NULL);
    print_text("difference", measure->difference[0] ? measure->difference : NULL);
    for (size_t f = 0; f < FIGURES; f++)
        print_number(figures[f].name, figures[f].of(measure));
    print_watch_json(measure);
    print_result(measure);
    printf("}");
}

void query_print_json(const query_result_t *result, int status) {
    const watch_storage_t *storage = &result->storage;
    printf("{\"schema\":1,\"command\":\"query\",\"status\":%d", status);
    print_text("suite", result->measures.suite ? result->measures.suite->name : NULL);
    print_text("namespace", result->namespace);
    print_text("configuration", result->configuration);
    print_number("documents", storage->documents);
    print_number("data_bytes_on_disk", storage->data_bytes);
    print_number("index_bytes_on_disk", storage->index_bytes);
    print_number("load_seconds", result->load_seconds);
    print_text("while_ended", result->beside_ended ? result->beside_words : NULL);
    printf(",\"queries\":[");
    for (size_t i = 0; i < result->measures.count; i++) {
        printf(i ? ",\n" : "\n");
        print_measure_json(&result->measures.items[i]);
    }
    printf("]}\n");
}

/* ---- the others ---- */

static bool same_question(const measure_t *one, const measure_t *other) {
    return one->work->query == other->work->query && strcmp(one->work->with, other->work->with) == 0;
}

void query_print_answers(const query_result_t *result) {
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        bson_iter_t at;
        uint32_t length;
        const uint8_t *bytes;
        bson_t document;
        /* of several that differ only in how they were sent, the first one's */
        if (!measure->answered || measure->work->count > 1 || (i && same_question(&measure[-1], measure)))
            continue;
        printf("%s%s%s\n", measure->work->query->name, *measure->work->with ? " " : "", measure->work->with);
        bson_iter_init(&at, &measure->answer.documents);
        while (bson_iter_next(&at)) {
            bson_iter_document(&at, &length, &bytes);
            if (!bson_init_static(&document, bytes, length))
                continue;
            char *json = bson_as_relaxed_extended_json(&document, NULL);
            printf("%s\n", json ? json : "");
            bson_free(json);
        }
        if (measure->answer.more)
            printf("... and more: %" PRIu64 " documents in all\n", measure->answer.count);
        putchar('\n');
    }
}

void query_print_plans(const query_result_t *result) {
    for (size_t i = 0; i < result->measures.work_count; i++) {
        const work_t *work = &result->measures.works[i];
        const request_t *request = work->requests;
        char *body = request ? bson_as_relaxed_extended_json(&request->body, NULL) : NULL;
        char *options = request ? bson_as_relaxed_extended_json(&request->options, NULL) : NULL;
        printf("%s%s%s%s on %s.%s%s\n", i ? "\n" : "", work->query->name, *work->with ? " " : "", work->with,
               request->database, request->collection,
               work->count > 1 ? ", one of several, drawn by chance:" : "");
        printf("  %s  %s\n  options  %s\n", request->kind == QUERY_PIPELINE ? "pipeline" : "filter", body,
               options);
        if (work->parallel)
            parallel_explain(work->parallel, stdout);
        bson_free(body);
        bson_free(options);
    }
}

void query_print_comparison(const query_result_t *result, const earlier_list_t *earlier) {
    grid_t grid = {.columns = 7, .left = {true}};
    char(*row)[CELL] = grid_row(&grid);
    static const char *const titles[] = {"compared", "then ms", "now ms", "ratio", "from", "to", "it is"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        PUT(row, i, "%s", titles[i]);
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        const work_t *work = measure->work;
        char ranges[16];
        const earlier_t *then =
            compare_find(earlier, work->query->name, work->with, work->reads ? work->reads : "",
                         parallel_name(measure, ranges), measure->clients);
        row = grid_row(&grid);
        PUT(row, 0, "%s%s%.60s", work->query->name, *work->with ? " " : "", work->with);
        if (!then || measure->failures) {
            PUT(row, 6, "%s", then ? "failed now" : "new");
            continue;
        }
        ratio_t ratio = compare_means(
            then->ms, (sample_t){measure->hist->moments.count, mean_ms(measure), sd_ms(measure)});
        print_figure(row[1], then->ms.mean);
        print_figure(row[2], mean_ms(measure));
        print_figure(row[3], ratio.times);
        print_figure(row[4], ratio.low);
        print_figure(row[5], ratio.high);
        PUT(row, 6, "%s",
            isnan(ratio.low)  ? "not known: too few"
            : !ratio.differs  ? "noise"
            : ratio.times < 1 ? "faster"
                              : "slower");
    }
    printf("\n");
    grid_print(&grid);
}
