/* What queries took: every measurement, a suite's own tables, what the machine did meanwhile, and the answers. */
#include "base/document.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/results/results.h"
#include "query/suite/typed_query.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 256, SIDE_ROOM = 160 };

/* ---- views ---- */

static const result_view_t views[] = {
    LINE(SHOW_NORMAL, "-measured", "{namespace}  {-documents}{configuration}"),
    LINE(SHOW_VERBOSE, "-measured",
         "data on disk {data_bytes_on_disk}, indexes on disk {index_bytes_on_disk}; its loads took "
         "{load_seconds}"),
    TABLE(SHOW_ALWAYS, "-measured", "queries", "Measurements",
          "Latency of a request from {-from} to its last document. There is no figure of one that failed, or "
          "was made too rarely to tell.",
          COLUMN("-name", "query"), COLUMN("n", "n"), COLUMN("-remark", ""), COLUMN("mean_ms", "mean ms"),
          COLUMN("sd_ms", "σ"), COLUMN("min_ms", "min"), COLUMN("p50_ms", "p50", .most = BAR_LARGEST),
          COLUMN("p95_ms", "p95"), COLUMN("p99_ms", "p99"), COLUMN("max_ms", "max"),
          COLUMN("docs_per_ms", "docs/ms"), COLUMN("ops_per_second", "ops/s"),
          COLUMN("published.-text", "published")),
    TABLE(SHOW_USUAL, NULL, "queries",
          "What the server says of these finds (keys and documents that it looked at)", NULL,
          COLUMN("-name", "explained"), COLUMN("explained.returned", "n"),
          COLUMN("explained.keys_examined", "keys"), COLUMN("explained.documents_examined", "documents"),
          COLUMN("explained.shards", "shards"), COLUMN("explained.ms", "ms"),
          COLUMN("explained.ms_of_a_shard", "ms of a shard")),
    TABLE(SHOW_DETAIL, NULL, "queries",
          "While it ran (this host's CPU; the servers' counters, all rounds together)", NULL,
          COLUMN("-name", "query"), COLUMN("-watched.seconds", "seconds"), COLUMN("-watched.user", "user %"),
          COLUMN("-watched.sys", "sys %"), COLUMN("-watched.iowait", "iowait %"),
          COLUMN("-watched.idle", "idle %"), COLUMN("-watched.server_cores", "server cores"),
          COLUMN("-watched.documents_examined", "examined"),
          COLUMN("-watched.bytes_into_cache", "read into cache")),
    LINE(SHOW_ALWAYS | SHOW_CARE, "failures", "{-question} failed, its figures are left out: {failure}",
         .each = "queries"),
    LINE(SHOW_ALWAYS | SHOW_CARE, "difference", "{-question}: not the expected answer: {difference}",
         .each = "queries"),
    LINE(SHOW_USUAL | SHOW_CARE, "-nothing",
         "{-question}: nothing came back, so its times are not those of an answer", .each = "queries"),
    LINE(SHOW_USUAL | SHOW_CARE, "-empty_percent",
         "{-question}: nothing came back to {-empty_percent} of its requests", .each = "queries"),
    LINE(SHOW_PAGE | SHOW_CARE, "while_ended",
         "the command of --while ended {while_ended} before the measurements did: they are of times with and "
         "without it"),
    TABLE(SHOW_USUAL, "-compared", "queries", "Compared with the earlier run", NULL,
          COLUMN("-name", "compared"), COLUMN("compared.then_p50_ms", "then p50"),
          COLUMN("p50_ms", "now p50"), COLUMN("compared.p50_ratio", "ratio"),
          COLUMN("compared.then_p99_ms", "then p99"), COLUMN("p99_ms", "now p99"),
          COLUMN("compared.p99_ratio", "ratio"), COLUMN("-obstacle", "")),
    {0}};

/* ---- figures of a measurement: NAN where it was made too rarely to tell ---- */

static bool has_any(const measure_t *measure) {
    return !measure->failures && measure->hist->moments.count > 0;
}

static double quantile_ms(const measure_t *measure, double share) {
    return query_tells(measure, share) ? hist_quantile_ns(measure->hist, share) / 1e6 : NAN;
}

static void put_times(bson_t *to, const measure_t *measure) {
    const hist_t *hist = measure->hist;
    const double ms = has_any(measure) ? 1e-6 : NAN, any = has_any(measure) ? 1 : NAN,
                 seconds = measure->elapsed_ns > 0 ? (double)measure->elapsed_ns / 1e9 : NAN;
    result_put(
        to, AS_NUMBER("mean_ms", ms * hist->moments.mean),
        AS_NUMBER("sd_ms", ms * moments_sd(&hist->moments)), AS_NUMBER("min_ms", ms * (double)hist->least_ns),
        AS_NUMBER("p50_ms", quantile_ms(measure, 0.5)), AS_NUMBER("p95_ms", quantile_ms(measure, 0.95)),
        AS_NUMBER("p99_ms", quantile_ms(measure, 0.99)), AS_NUMBER("max_ms", ms * (double)hist->most_ns),
        AS_NUMBER("docs_per_ms", any * measure->per_ms.mean),
        AS_NUMBER("docs_per_ms_sd", any * moments_sd(&measure->per_ms)),
        AS_NUMBER("ops_per_second", any * (double)hist->moments.count / seconds));
}

/* ---- a measurement ---- */

typedef struct {
    const query_result_t *query;
    const bson_t *then; /* or NULL */
} told_t;

/* "greenness year=2014, 4 clients": what distinguishes a measurement; clients 0: the question alone. */
static const char *name_of(const work_t *work, unsigned clients, char out[NAME_ROOM]) {
    int used = snprintf(out, NAME_ROOM, "%s%s%s", work->query->name, *work->with ? " " : "", work->with);
    if (clients && work->reads && used < NAME_ROOM)
        used += snprintf(out + used, NAME_ROOM - (size_t)used, ", %.20s", work->reads);
    if (clients > 1 && used < NAME_ROOM)
        snprintf(out + used, NAME_ROOM - (size_t)used, ", %u clients", clients);
    return out;
}

static void put_beside(bson_t *to, const void *of, size_t at) {
    static const watch_figures_t none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const watch_sum_t *watched = &((const measure_t *)of)[at].watched;
    const watch_figures_t *seen = watched->seconds > 0 ? &watched->figures : &none;
    result_put(to, OF(watched, seconds), OF(seen, user), OF(seen, sys), OF(seen, iowait), OF(seen, idle),
               OF(seen, server_cores), AS_NUMBER("documents_examined", seen->examined),
               AS_NUMBER("bytes_into_cache", seen->cached_bytes));
}

/* For views: the kernel counts CPU in steps of 10 ms, which of a short time tell nothing. */
static void put_watched(bson_t *to, const void *of, size_t at) {
    static const double LEAST_SECONDS = 0.1;
    if (((const measure_t *)of)[at].watched.seconds >= LEAST_SECONDS)
        put_beside(to, of, at);
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
    result_put(to, AS_TEXT("obstacle", then.obstacle), AS_NUMBER("then_p50_ms", then.p50_ms),
               AS_NUMBER("then_p99_ms", then.p99_ms),
               AS_NUMBER("p50_ratio", ratio(quantile_ms(measure, 0.5), then.p50_ms, then.obstacle)),
               AS_NUMBER("p99_ratio", ratio(quantile_ms(measure, 0.99), then.p99_ms, then.obstacle)));
}

static void put_explained(bson_t *to, const void *of, size_t at) {
    const explained_t *told = &((const work_t *)of + at)->explained;
    if (told->asked)
        result_put(to, OF(told, returned), AS_NUMBER("keys_examined", told->keys),
                   AS_NUMBER("documents_examined", told->documents), OF(told, shards), OF(told, ms),
                   AS_NUMBER("ms_of_a_shard", told->shard_ms));
}

/* ---- what a suite has as published: a figure of each measurement, found by two things ---- */

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

static bool in_table(const suite_table_t *table, const measure_t *measure, char row[SIDE_ROOM],
                     char column[SIDE_ROOM]) {
    bool wanted = !table->queries;
    for (const yaml_item_t *name = table->queries ? table->queries->first : NULL; name; name = name->next)
        wanted = wanted || suite_has_tag(measure->work->query, name->text);
    side_of(measure, table->rows, row);
    side_of(measure, table->columns, column);
    return wanted && *row && *column;
}

/* By the name of the figure: what the suite's tables have next to it. */
static void put_published(bson_t *to, const void *of, size_t at) {
    const measures_t *measures = of;
    const measure_t *measure = &measures->items[at];
    const suite_t *suite = measures->suite;
    char row[SIDE_ROOM], column[SIDE_ROOM];
    for (const suite_table_t *table = suite->tables; table < suite->tables + suite->table_count; table++) {
        if (!table->published || !in_table(table, measure, row, column) || bson_has_field(to, table->show))
            continue;
        const yaml_item_t *columns = yaml_item_get(table->published, row),
                          *text = columns ? yaml_item_get(columns, column) : NULL;
        char *name = text_concealed(table->show);
        if (text)
            result_put(to, AS_TEXT(name, text->text), AS_TEXT("-text", text->text));
        free(name);
    }
}

/* ROW: {COLUMN: figure}: these names are words of the suite, which may hold anything. */
static void put_published_rows(bson_t *to, const void *of, size_t depth) {
    for (const yaml_item_t *item = ((const yaml_item_t *)of)->first; item; item = item->next) {
        char *name = text_concealed(item->key);
        if (depth)
            result_put(to, AS_INNER(name, put_published_rows, item, depth - 1));
        else
            result_put(to, AS_TEXT(name, item->text));
        free(name);
    }
}

/* All of it, also of what was not measured now. */
static void put_published_table(bson_t *to, const void *of, size_t at) {
    const suite_table_t *table = &((const suite_t *)of)->tables[at];
    if (table->published)
        result_put(to, AS_TEXT("table", table->title), OF(table, rows), OF(table, columns), OF(table, show),
                   AS_INNER("figures", put_published_rows, table->published, 1));
}

/* ---- measurements ---- */

/* Of several measurements of a question, the first one. */
static bool is_first(const measures_t *measures, size_t at) {
    const work_t *work = measures->items[at].work, *before = at ? measures->items[at - 1].work : NULL;
    return !at || work->query != before->query || strcmp(work->with, before->with) != 0;
}

static bool has_answer(const measures_t *measures, size_t at) {
    const measure_t *measure = &measures->items[at];
    return measure->answer.documents && measure->answered && measure->work->count <= 1 &&
           is_first(measures, at);
}

static void put_measure(bson_t *to, const void *of, size_t at) {
    const told_t *told = of;
    const measures_t *measures = &told->query->measures;
    const measure_t *measure = &measures->items[at];
    const work_t *work = measure->work;
    const bool nothing = measure_of_nothing(measure), one = measure->answered && work->count <= 1;
    const double n = (double)measure->hist->moments.count;
    char name[NAME_ROOM], question[NAME_ROOM];
    compared_t then;
    result_put(to, AS_TEXT("name", work->query->name), OF(work, with), OF(work, question), OF(work, reads),
               OF(measure, clients), AS_COUNT("n", measure->hist->moments.count), OF(measure, returned),
               OF(measure, empty), AS_FLAG("nothing_found", nothing), OF(measure, failures),
               AS_TEXT("failure", measure->failures ? measure->failure : NULL),
               AS_WORDS("difference", measure->difference));
    put_times(to, measure);
    if (told->then)
        result_put(to, AS_INNER("compared", put_compared, told, at),
                   AS_TEXT("-obstacle", compare_find(told->then, measure, &then) ? then.obstacle : "new"));
    result_put(to, AS_INNER("beside", put_beside, measure, 0), AS_INNER("-watched", put_watched, measure, 0),
               AS_INNER("published", put_published, measures, at),
               AS_INNER("explained", put_explained, work, 0), AS_TEXT("digest", one ? measure->digest : NULL),
               AS_FLAG_IF("result_complete", one, !measure->answer.more));
    if (one && measure->answer.documents)
        BSON_APPEND_ARRAY(to, "result", measure->answer.documents);
    else
        BSON_APPEND_NULL(to, "result");
    result_put(to, AS_TEXT("-name", name_of(work, measure->clients, name)),
               AS_TEXT("-question", name_of(work, 0, question)),
               AS_TEXT("-remark", measure->failures ? "failed"
                                  : nothing         ? "empty"
                                                    : NULL));
    if (!measure->failures && is_first(measures, at)) /* of others it is said already */
        result_put(to, AS_FLAG("-nothing", nothing),
                   AS_NUMBER("-empty_percent", nothing ? NAN : round(100 * (double)measure->empty / n)));
}

/* ---- the result ---- */

static void put_figures(bson_t *to, const query_spec_t *spec, const query_result_t *query,
                        const bson_t *then) {
    const watch_storage_t *storage = &query->storage;
    const measures_t *measures = &query->measures;
    const size_t tables = measures->suite ? measures->suite->table_count : 0;
    const bool measured = query->configuration[0] && measures->count;
    const told_t told = {query, then};
    uint64_t requests = 0;
    for (size_t i = 0; i < measures->count; i++)
        requests += measures->items[i].hist->moments.count;
    result_put(to, AS_TEXT("suite", measures->suite ? measures->suite->name : NULL), OF(query, namespace),
               OF(query, configuration), OF(storage, documents),
               AS_NUMBER("data_bytes_on_disk", storage->data_bytes),
               AS_NUMBER("index_bytes_on_disk", storage->index_bytes), OF(query, load_seconds),
               AS_WORDS("format", query->format), OF(query, other_format),
               AS_TEXT("while_ended", query->beside_ended ? query->beside_words : NULL),
               AS_LIST("queries", measures->count, put_measure, &told),
               AS_LIST("published", tables, put_published_table, measures->suite),
               AS_TEXT("-target", query->where), AS_FLAG("-measured", measured),
               AS_FLAG("-compared", then != NULL), AS_COUNT("-requests", requests),
               AS_COUNT("-measurements", measures->count),
               AS_TEXT("-from", spec->rate > 0 ? "when it was due (--rate)" : "being sent"));
    if (!isnan(storage->documents)) /* of a view nobody knows */
        result_put_words(to, "-documents", "{documents|document}  ");
}

static const measure_t *find_slowest(const measures_t *measures) {
    const measure_t *slowest = NULL;
    for (const measure_t *each = measures->items; each && each < measures->items + measures->count; each++)
        if (has_any(each) && (!slowest || each->hist->moments.mean > slowest->hist->moments.mean))
            slowest = each;
    return slowest;
}

result_t *results_query(const query_spec_t *spec, const query_result_t *query, const bson_t *then, int status,
                        const err_t *err) {
    result_t *result = result_new("query");
    const measure_t *slowest = find_slowest(&query->measures);
    const char *words = "nothing was measured";
    char name[NAME_ROOM];
    result->views = views;
    put_figures(&result->document, spec, query, then);
    if (slowest) {
        words = "{-measurements|measurement} of {-requests|request}; the slowest is {-slowest}, with "
                "{-slowest_ms} "
                "on average";
        result_put(&result->document, AS_TEXT("-slowest", name_of(slowest->work, slowest->clients, name)),
                   AS_NUMBER("-slowest_ms", slowest->hist->moments.mean / 1e6));
    }
    result_answer(result, "How long do the queries take?", status, err, words, words);
    return result;
}

/* ---- what is printed as it is ---- */

static void print_json(const bson_t *document, const char *end) {
    char *json = ejson_print_concealed(document, NULL);
    out_bytes(json ? json : "", json ? strlen(json) : 0);
    out_bytes(end, strlen(end));
    free(json);
}

void results_print_answers(const query_result_t *query, bool named) {
    for (size_t i = 0; i < query->measures.count; i++) {
        const measure_t *measure = &query->measures.items[i];
        char name[NAME_ROOM];
        bson_iter_t at;
        bson_t document;
        if (!has_answer(&query->measures, i))
            continue;
        if (named)
            out_print("%s\n", name_of(measure->work, 0, name));
        for (bson_iter_init(&at, measure->answer.documents); bson_read_next(&at, &document);)
            print_json(&document, "\n");
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
        char name[NAME_ROOM];
        out_print(i ? "\n%s on %s.%s%s\n" : "%s on %s.%s%s\n", name_of(work, 0, name), request->database,
                  request->collection, work->count > 1 ? ", one of several, drawn by chance:" : "");
        out_print("  %s  ", request->kind == QUERY_PIPELINE     ? "pipeline"
                            : request->kind == QUERY_MAP_REDUCE ? "command"
                                                                : "filter");
        print_json(request->body, "\n  options  ");
        print_json(request->options, "\n");
    }
    if (query->measures.work_count)
        out_print(
            "\nThis is what would be sent. The server's plan is not asked for: of a find `explain: yes` in a "
            "suite\nsays how many keys and documents the server looks at, and explain() of mongosh the "
            "rest.\n");
}
