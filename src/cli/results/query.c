/* What queries took: every measurement, a suite's own tables, what the machine did meanwhile, and the answers. */
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "cli/results/results.h"
#include "query/suite/typed_query.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 256, SIDE_ROOM = 160, MOST_COLUMNS = 23, ANSWER_DOCUMENTS = 3, ANSWER_BYTES = 240 };

/* ---- figures of a measurement: NAN where it was made too rarely to tell ---- */

/* How a mean scatters comes after it. */
typedef enum { MEAN, MEAN_SD, MIN, P50, P95, P99, MAX, DOCS, DOCS_SD, OPS, FIGURES } figure_t;

static const char *const figure_names[FIGURES] = {"mean_ms",        "sd_ms",         "min_ms", "p50_ms",
                                                  "p95_ms",         "p99_ms",        "max_ms", "docs_per_ms",
                                                  "docs_per_ms_sd", "ops_per_second"};

static bool has_any(const measure_t *measure) {
    return !measure->failures && measure->hist->moments.count > 0;
}

static double of_hist(const measure_t *measure, double share) {
    return query_tells(measure, share) ? hist_quantile_ns(measure->hist, share) / 1e6 : NAN;
}

static double figure(const measure_t *measure, figure_t which) {
    const hist_t *hist = measure->hist;
    if (which == P50 || which == P95 || which == P99)
        return of_hist(measure, which == P50 ? 0.5 : which == P95 ? 0.95 : 0.99);
    if (!has_any(measure) || (which == OPS && measure->elapsed_ns <= 0))
        return NAN;
    const double figures[] = {[MEAN] = hist->moments.mean / 1e6,
                              [MEAN_SD] = moments_sd(&hist->moments) / 1e6,
                              [MIN] = (double)hist->least_ns / 1e6,
                              [MAX] = (double)hist->most_ns / 1e6,
                              [DOCS] = measure->per_ms.mean,
                              [DOCS_SD] = moments_sd(&measure->per_ms),
                              [OPS] = (double)hist->moments.count * 1e9 / (double)measure->elapsed_ns};
    return figures[which];
}

static figure_t figure_of(const char *name) {
    figure_t which = MEAN;
    while (strcmp(figure_names[which], name) != 0)
        which++;
    return which;
}

/* ---- the document ---- */

typedef struct {
    const query_result_t *query;
    const bson_t *then; /* or NULL */
} told_t;

/* "greenness year=2014, 4 clients": what distinguishes the measurement. */
static const char *name_of(const measure_t *measure, char out[NAME_ROOM]) {
    const work_t *work = measure->work;
    int used = snprintf(out, NAME_ROOM, "%s%s%s", work->query->name, *work->with ? " " : "", work->with);
    if (work->reads && used < NAME_ROOM)
        used += snprintf(out + used, NAME_ROOM - (size_t)used, ", %.20s", work->reads);
    if (measure->clients != 1 && used < NAME_ROOM)
        snprintf(out + used, NAME_ROOM - (size_t)used, ", %u client%s", measure->clients,
                 units_s(measure->clients));
    return out;
}

static void put_answer(bson_t *to, const measure_t *measure) {
    const bool one = measure->answered && measure->work->count <= 1;
    const bson_t *shown = one ? measure->answer.documents : NULL;
    result_put(to, AS_TEXT("digest", one ? measure->digest : NULL),
               AS_FLAG_IF("result_complete", one, !measure->answer.more));
    shown ? BSON_APPEND_ARRAY(to, "result", shown) : BSON_APPEND_NULL(to, "result");
}

static void put_beside(bson_t *to, const void *of, size_t at) {
    static const watch_figures_t none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const measure_t *measure = (const measure_t *)of + at;
    const watch_figures_t *seen = measure->watched.seconds > 0 ? &measure->watched.figures : &none;
    result_put(to, AS_NUMBER("seconds", measure->watched.seconds, 6), AS_FIGURE("user", seen->user),
               AS_FIGURE("sys", seen->sys), AS_FIGURE("iowait", seen->iowait), AS_FIGURE("idle", seen->idle),
               AS_FIGURE("server_cores", seen->server_cores), AS_FIGURE("documents_examined", seen->examined),
               AS_FIGURE("bytes_into_cache", seen->cached_bytes));
}

static double ratio(double now, double then, const char *obstacle) {
    return obstacle || !(then > 0) ? NAN : now / then;
}

/* null: it was not measured then. */
static void put_compared(bson_t *to, const void *of, size_t at) {
    const told_t *told = of;
    const measure_t *measure = &told->query->measures.items[at];
    compared_t then;
    if (!compare_find(told->then, measure, &then))
        return;
    result_put(to, AS_TEXT("obstacle", then.obstacle), AS_FIGURE("then_p50_ms", then.p50_ms),
               AS_FIGURE("then_p99_ms", then.p99_ms),
               AS_FIGURE("p50_ratio", ratio(figure(measure, P50), then.p50_ms, then.obstacle)),
               AS_FIGURE("p99_ratio", ratio(figure(measure, P99), then.p99_ms, then.obstacle)));
}

static void put_explained(bson_t *to, const void *of, size_t at) {
    const explained_t *told = &((const work_t *)of + at)->explained;
    if (told->asked)
        result_put(to, AS_FIGURE("returned", told->returned), AS_FIGURE("keys_examined", told->keys),
                   AS_FIGURE("documents_examined", told->documents), AS_FIGURE("shards", told->shards),
                   AS_FIGURE("ms", told->ms), AS_FIGURE("ms_of_a_shard", told->shard_ms));
}

static const char *published(const query_result_t *query, const suite_table_t *table,
                             const measure_t *measure);

/* By the name of the figure: what the suite's tables have next to it. */
static void put_published(bson_t *to, const void *of, size_t at) {
    const told_t *told = of;
    const suite_t *suite = told->query->measures.suite;
    for (size_t i = 0; i < suite->table_count; i++) {
        const char *text = published(told->query, &suite->tables[i], &told->query->measures.items[at]);
        if (text && !bson_has_field(to, suite->tables[i].show))
            result_put(to, AS_TEXT(suite->tables[i].show, text));
    }
}

/* For views: the first documents of the answer, shortened; of several measurements of a question the first one's. */
static void put_beginning(bson_t *to, const measure_t *measure) {
    bson_iter_t at;
    bson_t document;
    text_t text = {.length = 0};
    size_t shown = 0;
    for (bson_iter_init(&at, measure->answer.documents);
         shown < ANSWER_DOCUMENTS && bson_read_next(&at, &document); shown++) {
        char *json = ejson_print_concealed(&document, NULL);
        text_print(&text, "%s%s", shown ? "  " : "", json ? json : "");
        free(json);
    }
    text_cut(&text, ANSWER_BYTES);
    char *beginning = text_take_or_end(&text);
    BSON_APPEND_UTF8(to, "-begins", beginning); /* its secrets are hidden */
    free(beginning);
}

static bool is_same_question(const measure_t *one, const measure_t *other) {
    return one->work->query == other->work->query && strcmp(one->work->with, other->work->with) == 0;
}

static bool has_answer(const query_result_t *query, size_t at) {
    const measure_t *measure = &query->measures.items[at];
    return measure->answer.documents && measure->answered && measure->work->count <= 1 &&
           !(at && is_same_question(&measure[-1], measure));
}

static void put_measure(bson_t *to, const void *of, size_t at) {
    const told_t *told = of;
    const measure_t *measure = &told->query->measures.items[at];
    const work_t *work = measure->work;
    const bool failed = measure->failures != 0, nothing = !failed && measure_of_nothing(measure);
    char name[NAME_ROOM];
    result_put(to, AS_TEXT("name", work->query->name), AS_TEXT("with", work->with),
               AS_TEXT("question", work->question), AS_TEXT("reads", work->reads),
               AS_COUNT("clients", measure->clients), AS_COUNT("n", measure->hist->moments.count),
               AS_COUNT("returned", measure->returned), AS_COUNT("empty", measure->empty),
               AS_FLAG("nothing_found", measure_of_nothing(measure)), AS_COUNT("failures", measure->failures),
               AS_TEXT("failure", failed ? measure->failure : NULL),
               AS_TEXT("difference", measure->difference[0] ? measure->difference : NULL));
    for (figure_t i = MEAN; i < FIGURES; i++)
        result_put(to, AS_FIGURE(figure_names[i], figure(measure, i)));
    if (told->then)
        result_put(to, AS_INNER("compared", put_compared, told, at));
    result_put(to, AS_INNER("beside", put_beside, measure, 0), AS_INNER("published", put_published, told, at),
               AS_INNER("explained", put_explained, work, 0));
    put_answer(to, measure);
    result_put(to, AS_TEXT("-name", name_of(measure, name)),
               AS_TEXT("-remark", failed    ? "failed"
                                  : nothing ? "empty"
                                            : NULL));
    compared_t then;
    if (told->then) {
        compare_find(told->then, measure, &then);
        result_put(to, AS_TEXT("-obstacle", then.obstacle));
    }
    if (has_answer(told->query, at))
        put_beginning(to, measure);
}

static void put_published_figure(bson_t *to, const yaml_item_t *column) {
    char *name = text_concealed(column->key);
    result_put(to, AS_TEXT(name, column->text));
    free(name);
}

/* ROW: {COLUMN: figure}: these names are words of the suite, which may hold anything. */
static void put_published_rows(bson_t *to, const void *of, size_t at) {
    (void)at;
    for (const yaml_item_t *row = ((const yaml_item_t *)of)->first; row; row = row->next) {
        bson_t columns;
        char *name = text_concealed(row->key);
        bson_append_document_begin(to, name, -1, &columns);
        for (const yaml_item_t *column = row->first; column; column = column->next)
            put_published_figure(&columns, column);
        bson_append_document_end(to, &columns);
        free(name);
    }
}

/* All of it, also of what was not measured now. */
static void put_published_table(bson_t *to, const void *of, size_t at) {
    const suite_table_t *table = &((const suite_t *)of)->tables[at];
    if (table->published)
        result_put(to, AS_TEXT("table", table->title), AS_TEXT("rows", table->rows),
                   AS_TEXT("columns", table->columns), AS_TEXT("show", table->show),
                   AS_INNER("figures", put_published_rows, table->published, 0));
}

static void put_figures(bson_t *to, const query_result_t *query, const bson_t *then) {
    const watch_storage_t *storage = &query->storage;
    const measures_t *measures = &query->measures;
    const told_t told = {query, then};
    result_put(to, AS_TEXT("suite", measures->suite ? measures->suite->name : NULL),
               AS_TEXT("namespace", query->namespace), AS_TEXT("configuration", query->configuration),
               AS_FIGURE("documents", storage->documents),
               AS_FIGURE("data_bytes_on_disk", storage->data_bytes),
               AS_FIGURE("index_bytes_on_disk", storage->index_bytes),
               AS_FIGURE("load_seconds", query->load_seconds),
               AS_TEXT("format", query->format[0] ? query->format : NULL),
               AS_FLAG("other_format", query->other_format),
               AS_TEXT("while_ended", query->beside_ended ? query->beside_words : NULL),
               AS_LIST("queries", measures->count, put_measure, &told),
               AS_LIST("published", measures->suite ? measures->suite->table_count : 0, put_published_table,
                       measures->suite));
    result_put(to, AS_TEXT("-target", query->where), AS_FIGURE("-seconds", query->seconds),
               AS_FIGURE("-document_bytes", storage->average_bytes),
               AS_COUNT("-measurements", measures->count));
}

/* ---- a suite's own tables: one figure of each measurement, arranged by two things ---- */

/* The words that distinguish a measurement on one side of a table. */
static void side_of(const measure_t *measure, const char *side, char out[SIDE_ROOM]) {
    bson_iter_t value;
    out[0] = 0;
    if (strcmp(side, "query") == 0)
        snprintf(out, SIDE_ROOM, "%s", measure->work->query->name);
    else if (strcmp(side, "clients") == 0)
        snprintf(out, SIDE_ROOM, "%u", measure->clients);
    else if (strcmp(side, "reads") == 0)
        snprintf(out, SIDE_ROOM, "%s", measure->work->reads ? measure->work->reads : "");
    else if (bson_iter_init_find(&value, measure->work->each, side))
        snprintf(out, SIDE_ROOM, "%s", bson_iter_utf8(&value, NULL));
}

/* A table has one figure in a place: of what is no side of it, the first choice. */
static bool is_first_choice(const suite_table_t *table, const measure_t *first, const measure_t *measure) {
    const bool clients = strcmp(table->rows, "clients") == 0 || strcmp(table->columns, "clients") == 0,
               reads = strcmp(table->rows, "reads") == 0 || strcmp(table->columns, "reads") == 0;
    return (clients || first->clients == measure->clients) &&
           (reads || first->work->reads == measure->work->reads);
}

static bool in_table(const suite_table_t *table, const measure_t *measure, char row[SIDE_ROOM],
                     char column[SIDE_ROOM]) {
    bool wanted = !table->queries;
    for (const yaml_item_t *name = table->queries ? table->queries->first : NULL; name; name = name->next)
        wanted = wanted || suite_has_tag(measure->work->query, name->text);
    side_of(measure, table->rows, row);
    side_of(measure, table->columns, column);
    return wanted && *row && *column;
}

static const char *published(const query_result_t *query, const suite_table_t *table,
                             const measure_t *measure) {
    char row[SIDE_ROOM], column[SIDE_ROOM];
    if (!table->published || !in_table(table, measure, row, column) ||
        !is_first_choice(table, query->measures.items, measure))
        return NULL;
    const yaml_item_t *rows = yaml_item_get(table->published, row);
    const yaml_item_t *text = rows ? yaml_item_get(rows, column) : NULL;
    return text ? text->text : NULL;
}

/* A column of measured figures, or of published ones. Its key in a row is its number: names are words of the suite. */
typedef struct {
    char name[SIDE_ROOM], title[SIDE_ROOM + 16], key[16];
    bool published;
} side_t;

typedef struct {
    const query_result_t *query;
    const suite_table_t *table;
    side_t columns[MOST_COLUMNS];
    size_t count;
    char (*rows)[SIDE_ROOM];
    size_t row_count;
    size_t same, outside; /* measurements whose place has another one; for which there is no column */
} pivot_t;

static bool is_published(const suite_table_t *table, const char *column) {
    for (const yaml_item_t *row = table->published ? table->published->first : NULL; row; row = row->next)
        if (yaml_item_get(row, column))
            return true;
    return false;
}

static size_t find_column(const pivot_t *pivot, const char *name, bool published) {
    size_t at = 0;
    while (at < pivot->count &&
           (pivot->columns[at].published != published || strcmp(pivot->columns[at].name, name) != 0))
        at++;
    return at;
}

static void add_column(pivot_t *pivot, const char *name, bool published, bool alone) {
    if (find_column(pivot, name, published) < pivot->count || pivot->count == MOST_COLUMNS)
        return;
    side_t *column = &pivot->columns[pivot->count];
    *column = (side_t){.published = published};
    snprintf(column->name, sizeof column->name, "%s", name);
    snprintf(column->title, sizeof column->title, "%s%s", published && !alone ? "" : name,
             !published ? ""
             : alone    ? ", published"
                        : "published");
    snprintf(column->key, sizeof column->key, "c%zu", pivot->count++);
}

static void add_row(pivot_t *pivot, const char *name) {
    for (size_t i = 0; i < pivot->row_count; i++)
        if (strcmp(pivot->rows[i], name) == 0)
            return;
    pivot->rows = bson_realloc(pivot->rows, (pivot->row_count + 1) * sizeof *pivot->rows);
    snprintf(pivot->rows[pivot->row_count++], SIDE_ROOM, "%s", name);
}

/* The measurement in a place, the first one; NULL: none. */
static const measure_t *measured_at(pivot_t *pivot, const char *row, const char *column) {
    const measures_t *measures = &pivot->query->measures;
    char own_row[SIDE_ROOM], own_column[SIDE_ROOM];
    const measure_t *found = NULL;
    for (size_t i = 0; i < measures->count; i++) {
        const measure_t *measure = &measures->items[i];
        if (!in_table(pivot->table, measure, own_row, own_column) || strcmp(own_row, row) != 0 ||
            strcmp(own_column, column) != 0 || !is_first_choice(pivot->table, measures->items, measure))
            continue;
        pivot->same += found != NULL;
        found = found ? found : measure;
    }
    return found;
}

/* "47.3 σ 2.10" */
static void put_measured(bson_t *to, const char *key, const char *show, const measure_t *measure) {
    const figure_t which = figure_of(show);
    const bool scatters = (which == MEAN || which == DOCS) && !isnan(figure(measure, which + 1));
    bson_t own = BSON_INITIALIZER;
    result_put(&own, AS_FIGURE("-value_ms", figure(measure, which)),
               AS_FIGURE("-deviation_ms", scatters ? figure(measure, which + 1) : NAN));
    char *value = result_figure(&own, "-value_ms"), *deviation = result_figure(&own, "-deviation_ms");
    text_t words = {.length = 0};
    text_print(&words, "%s%s%s", value, scatters ? " σ " : "", scatters ? deviation : "");
    char *cell = text_take_or_end(&words);
    result_put(to, AS_TEXT(key, measure->failures             ? "failed"
                                : measure_of_nothing(measure) ? "nothing found"
                                                              : cell));
    free(cell);
    free(value);
    free(deviation);
    bson_destroy(&own);
}

static void put_pivot_row(bson_t *to, const void *of, size_t at) {
    pivot_t *pivot = (pivot_t *)of;
    const char *row = pivot->rows[at];
    const yaml_item_t *published =
        pivot->table->published ? yaml_item_get(pivot->table->published, row) : NULL;
    result_put(to, AS_TEXT("-row", row));
    for (size_t i = 0; i < pivot->count; i++) {
        const side_t *column = &pivot->columns[i];
        const measure_t *measure = column->published ? NULL : measured_at(pivot, row, column->name);
        const yaml_item_t *text =
            published && column->published ? yaml_item_get(published, column->name) : NULL;
        if (measure)
            put_measured(to, column->key, pivot->table->show, measure);
        else if (text)
            result_put(to, AS_TEXT(column->key, text->text));
    }
}

/* Sides in the order in which they come; what was published is next to what was measured, or else last. */
static size_t find_sides(pivot_t *pivot) {
    const measures_t *measures = &pivot->query->measures;
    char row[SIDE_ROOM], column[SIDE_ROOM];
    size_t filled = 0;
    for (size_t i = 0; i < measures->count; i++) {
        if (!in_table(pivot->table, &measures->items[i], row, column))
            continue;
        if (!is_first_choice(pivot->table, measures->items, &measures->items[i])) {
            pivot->same++;
            continue;
        }
        add_row(pivot, row);
        add_column(pivot, column, false, false);
        if (is_published(pivot->table, column))
            add_column(pivot, column, true, false);
        pivot->outside += find_column(pivot, column, false) == pivot->count;
        filled++;
    }
    const yaml_item_t *rows = filled ? pivot->table->published : NULL;
    for (const yaml_item_t *at = rows ? rows->first : NULL; at; at = at->next) {
        add_row(pivot, at->key);
        for (const yaml_item_t *text = at->first; text; text = text->next)
            add_column(pivot, text->key, true, true);
    }
    return filled;
}

static void add_suite_table(result_t *result, const query_result_t *query, const suite_table_t *table,
                            size_t number) {
    pivot_t pivot = {.query = query, .table = table};
    result_column_t columns[MOST_COLUMNS + 1] = {{.key = "-row", .title = table->rows}};
    char list[32];
    const size_t filled = find_sides(&pivot);
    snprintf(list, sizeof list, "-table%zu", number);
    if (filled > 1 || (filled && table->published)) {
        result_put(&result->document, AS_LIST(list, pivot.row_count, put_pivot_row, &pivot));
        for (size_t i = 0; i < pivot.count; i++)
            columns[i + 1] = (result_column_t){.key = pivot.columns[i].key, .title = pivot.columns[i].title};
        result_table(result, SHOW_USUAL, list, table->title, NULL, columns, pivot.count + 1);
        if (pivot.same)
            result_line(result, SHOW_NORMAL, "of measurements that are in one place here, the first");
        if (pivot.outside)
            result_words(result, SHOW_NORMAL,
                         "%zu more figures, for which there are too many columns; --json has them",
                         pivot.outside);
    }
    bson_free(pivot.rows);
}

/* ---- the other tables ---- */

static bool differ(const query_result_t *query, bool clients) {
    const measure_t *first = query->measures.items;
    bool differs = clients ? first->clients != 1 : first->work->reads != NULL;
    for (size_t i = 1; i < query->measures.count; i++)
        differs = differs ||
                  (clients ? first[i].clients != first->clients : first[i].work->reads != first->work->reads);
    return differs;
}

static void add_measures(result_t *result, const query_spec_t *spec, const query_result_t *query) {
    result_table(
        result, SHOW_USUAL, "queries", "Measurements",
        spec->rate > 0 ? "Latency of a request from when it was due (--rate) to its last document. There is "
                         "no figure of one that failed, or was made too rarely to tell."
                       : "Latency of a request from being sent to its last document. There is no figure of "
                         "one that failed, or was made too rarely to tell.",
        RESULT_COLUMNS(COLUMN("name", "query"), COLUMN("with", ""),
                       COLUMN(differ(query, false) ? "reads" : "-none", "reads"),
                       COLUMN(differ(query, true) ? "clients" : "-none", "clients"), COLUMN("n", "n"),
                       COLUMN("-remark", ""), COLUMN("mean_ms", "mean ms"), COLUMN("sd_ms", "σ"),
                       COLUMN("min_ms", "min"), COLUMN("p50_ms", "p50", .most = BAR_LARGEST),
                       COLUMN("p95_ms", "p95"), COLUMN("p99_ms", "p99"), COLUMN("max_ms", "max"),
                       COLUMN("docs_per_ms", "docs/ms"), COLUMN("ops_per_second", "ops/s")));
}

static void add_tables(result_t *result, const query_spec_t *spec, const query_result_t *query) {
    const suite_t *suite = query->measures.suite;
    add_measures(result, spec, query);
    for (size_t i = 0; i < suite->table_count; i++)
        add_suite_table(result, query, &suite->tables[i], i);
    result_table(result, SHOW_USUAL, "-explained",
                 "What the server says of these finds (keys and documents that it "
                 "looked at)",
                 NULL,
                 RESULT_COLUMNS(COLUMN("-name", "explained"), COLUMN("explained.returned", "n"),
                                COLUMN("explained.keys_examined", "keys"),
                                COLUMN("explained.documents_examined", "documents"),
                                COLUMN("explained.shards", "shards"), COLUMN("explained.ms", "ms"),
                                COLUMN("explained.ms_of_a_shard", "ms of a shard")));
    result_table(result, SHOW_DETAIL, "-watched",
                 "While it ran (this host's CPU; the servers' counters, all rounds "
                 "together)",
                 NULL,
                 RESULT_COLUMNS(COLUMN("-name", "query"), COLUMN("beside.seconds", "seconds"),
                                COLUMN("beside.user", "user %"), COLUMN("beside.sys", "sys %"),
                                COLUMN("beside.iowait", "iowait %"), COLUMN("beside.idle", "idle %"),
                                COLUMN("beside.server_cores", "server cores"),
                                COLUMN("beside.documents_examined", "examined"),
                                COLUMN("beside.bytes_into_cache", "read into cache")));
}

static void put_without_answer(bson_t *list, const char *key, const bson_t *item) {
    bson_t copy = BSON_INITIALIZER;
    bson_copy_to_excluding_noinit(item, &copy, "result", NULL);
    BSON_APPEND_DOCUMENT(list, key, &copy);
    bson_destroy(&copy);
}

/* Lists for views: what has an inner document, or an answer. The kernel counts CPU in steps of 10 ms: of a short time it
 * tells nothing. */
static void put_for_views(bson_t *to, const query_result_t *query) {
    static const double LEAST_WATCHED_SECONDS = 0.25;
    bson_t explained = BSON_INITIALIZER, watched = BSON_INITIALIZER, answers = BSON_INITIALIZER, item;
    const struct {
        const char *name;
        bson_t *list;
    } lists[] = {{"-explained", &explained}, {"-watched", &watched}, {"-answers", &answers}};
    const work_t *last = NULL;
    for (size_t i = 0; result_item(to, "queries", i, &item); i++) {
        const measure_t *measure = &query->measures.items[i];
        const bool wanted[] = {measure->work->explained.asked && measure->work != last,
                               !measure->failures && measure->watched.seconds >= LEAST_WATCHED_SECONDS,
                               has_answer(query, i)};
        last = measure->work;
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
            char key[16];
            snprintf(key, sizeof key, "%u", bson_count_keys(lists[k].list));
            if (wanted[k])
                put_without_answer(lists[k].list, key, &item);
        }
    }
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        BSON_APPEND_ARRAY(to, lists[k].name, lists[k].list);
        bson_destroy(lists[k].list);
    }
}

/* ---- lines ---- */

/* Of requests to which nothing came back; of fewer clients it is said already. */
static void add_emptiness(result_t *result, const measure_t *measure, const char *name, bool first) {
    if (measure->failures || !measure->empty || !first)
        return;
    if (measure_of_nothing(measure))
        result_words(result, SHOW_USUAL | SHOW_CARE,
                     "%s: nothing came back, so its times are not those of an answer", name);
    else
        result_words(result, SHOW_USUAL | SHOW_CARE, "%s: nothing came back to %.0f %% of its requests", name,
                     100 * (double)measure->empty / (double)measure->hist->moments.count);
}

static void add_remarks(result_t *result, const query_result_t *query) {
    for (size_t i = 0; i < query->measures.count; i++) {
        const measure_t *measure = &query->measures.items[i];
        const bool failed = measure->failures != 0;
        char name[NAME_ROOM];
        snprintf(name, sizeof name, "%s%s%s", measure->work->query->name, *measure->work->with ? " " : "",
                 measure->work->with);
        if (failed || measure->difference[0])
            result_words(result, SHOW_ALWAYS | SHOW_CARE, "%s%s%s", name,
                         failed ? " failed, its figures are left out: " : ": not the expected answer: ",
                         failed ? measure->failure : measure->difference);
        add_emptiness(result, measure, name, !i || measure[-1].work != measure->work);
    }
    if (query->beside_ended)
        result_line(result, SHOW_PAGE | SHOW_CARE,
                    "the command of --while ended {while_ended} before the measurements did: "
                    "they are of times with and without it");
}

static void answer(result_t *result, const query_result_t *query, int status, const err_t *err) {
    const measures_t *measures = &query->measures;
    size_t slowest = measures->count;
    uint64_t requests = 0;
    for (size_t i = 0; i < measures->count; i++) {
        const measure_t *measure = &measures->items[i];
        requests += measure->hist->moments.count;
        if (has_any(measure) &&
            (slowest == measures->count || figure(measure, MEAN) > figure(&measures->items[slowest], MEAN)))
            slowest = i;
    }
    const bool any = slowest < measures->count;
    char name[NAME_ROOM];
    result_put(&result->document, AS_COUNT("-requests", requests),
               AS_TEXT("-slowest", any ? name_of(&measures->items[slowest], name) : NULL),
               AS_FIGURE("-slowest_ms", any ? figure(&measures->items[slowest], MEAN) : NAN));
    const char *words =
        any ? "{-measurements|measurement} of {-requests|request}; the slowest is {-slowest}, with "
              "{-slowest_ms} on average"
            : "nothing was measured";
    result_answer(result, "How long do the queries take?", status, err, words, words);
}

static void add_page(result_t *result) {
    result_table(result, SHOW_PAGE, "-answers", "Answers", "Their first documents, shortened.",
                 RESULT_COLUMNS(COLUMN("-name", "query"), COLUMN("returned", "documents"),
                                COLUMN("-begins", "begins with")));
    result_figures(
        result, SHOW_PAGE, "The collection", NULL,
        RESULT_COLUMNS(COLUMN("documents", "documents"), COLUMN("data_bytes_on_disk", "data on disk"),
                       COLUMN("index_bytes_on_disk", "indexes on disk"),
                       COLUMN("-document_bytes", "document, on average"),
                       COLUMN("load_seconds", "its loads took"), COLUMN("-measurements", "measurements"),
                       COLUMN("format", "loaded as format"), COLUMN("suite", "suite"),
                       COLUMN("configuration", "configuration")));
}

result_t *results_query(const query_spec_t *spec, const query_result_t *query, const bson_t *then, int status,
                        const err_t *err) {
    result_t *result = result_new("query");
    const bool measured = query->configuration[0] && query->measures.count;
    put_figures(&result->document, query, then);
    put_for_views(&result->document, query);
    answer(result, query, status, err);
    if (measured) {
        result_line(result, SHOW_NORMAL,
                    isnan(query->storage.documents)
                        ? "{namespace}  {configuration}" /* of a view nobody knows */
                        : "{namespace}  {documents|document}  {configuration}");
        result_line(result, SHOW_VERBOSE,
                    "data on disk {data_bytes_on_disk}, indexes on disk "
                    "{index_bytes_on_disk}; its loads took {load_seconds}");
        add_tables(result, spec, query);
        add_remarks(result, query);
    }
    if (then)
        result_table(result, SHOW_USUAL, "queries", "Compared with the earlier run", NULL,
                     RESULT_COLUMNS(COLUMN("-name", "compared"), COLUMN("compared.then_p50_ms", "then p50"),
                                    COLUMN("p50_ms", "now p50"), COLUMN("compared.p50_ratio", "ratio"),
                                    COLUMN("compared.then_p99_ms", "then p99"), COLUMN("p99_ms", "now p99"),
                                    COLUMN("compared.p99_ratio", "ratio"), COLUMN("-obstacle", "")));
    add_page(result);
    return result;
}

/* ---- what is printed as it is ---- */

static void print_json(const bson_t *document) {
    char *json = ejson_print_concealed(document, NULL);
    out_bytes(json ? json : "", json ? strlen(json) : 0);
    free(json);
}

void results_print_answers(const query_result_t *query, bool named) {
    for (size_t i = 0; i < query->measures.count; i++) {
        const measure_t *measure = &query->measures.items[i];
        bson_iter_t at;
        bson_t document;
        if (!has_answer(query, i))
            continue;
        if (named)
            out_print("%s%s%s\n", measure->work->query->name, *measure->work->with ? " " : "",
                      measure->work->with);
        for (bson_iter_init(&at, measure->answer.documents); bson_iter_next(&at);) {
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

void results_print_plans(const query_result_t *query) {
    for (size_t i = 0; i < query->measures.work_count; i++) {
        const work_t *work = &query->measures.works[i];
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
    if (query->measures.work_count)
        out_print(
            "\nThis is what would be sent. The server's plan is not asked for: of a find `explain: yes` in a "
            "suite\ntells how many keys and documents the server looks at, and explain() of mongosh the "
            "rest.\n");
}
