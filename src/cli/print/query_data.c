#include "base/document.h"
#include "base/text.h"
#include "cli/print/query_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the document ---- */

typedef struct {
    const query_result_t *result;
    const bson_t *then; /* or NULL */
} told_t;

static void put_answer(bson_t *to, const measure_t *measure) {
    const bool one = measure->answered && measure->work->count <= 1;
    result_put(to, AS_TEXT("digest", one ? measure->digest : NULL),
               AS_FLAG_IF("result_complete", one, !measure->answer.more));
    one ? BSON_APPEND_ARRAY(to, "result", measure->answer.documents) : BSON_APPEND_NULL(to, "result");
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

/* null: it was not measured then. */
static void put_compared(bson_t *to, const void *of, size_t at) {
    const told_t *told = of;
    const measure_t *measure = &told->result->measures.items[at];
    compared_t then;
    if (!compare_find(told->then, measure, &then))
        return;
    result_put(to, AS_TEXT("obstacle", then.obstacle), AS_FIGURE("then_p50_ms", then.p50_ms),
               AS_FIGURE("then_p99_ms", then.p99_ms));
    result_put(to, AS_FIGURE("p50_ratio", query_ratio(measure, &then, "p50_ms")),
               AS_FIGURE("p99_ratio", query_ratio(measure, &then, "p99_ms")));
}

static void put_explained(bson_t *to, const void *of, size_t at) {
    const explained_t *told = &((const work_t *)of + at)->explained;
    if (told->asked)
        result_put(to, AS_FIGURE("returned", told->returned), AS_FIGURE("keys_examined", told->keys),
                   AS_FIGURE("documents_examined", told->documents), AS_FIGURE("shards", told->shards),
                   AS_FIGURE("ms", told->ms), AS_FIGURE("ms_of_a_shard", told->shard_ms));
}

/* By the name of the figure: what the suite's tables have beside it. */
static void put_published(bson_t *to, const void *of, size_t at) {
    const told_t *told = of;
    const suite_t *suite = told->result->measures.suite;
    for (size_t i = 0; i < suite->table_count; i++) {
        const suite_table_t *table = &suite->tables[i];
        const char *figure = query_published(told->result, table, &told->result->measures.items[at]);
        if (figure && !bson_has_field(to, table->show))
            result_put(to, AS_TEXT(table->show, figure));
    }
}

static void put_measure(bson_t *to, const void *of, size_t at) {
    const told_t *told = of;
    const measure_t *measure = &told->result->measures.items[at];
    const work_t *work = measure->work;
    result_put(to, AS_TEXT("name", work->query->name), AS_TEXT("with", work->with),
               AS_TEXT("question", work->question), AS_TEXT("reads", work->reads),
               AS_COUNT("clients", measure->clients), AS_COUNT("n", measure->hist->moments.count),
               AS_COUNT("returned", measure->returned), AS_COUNT("empty", measure->empty),
               AS_FLAG("nothing_found", measure_of_nothing(measure)), AS_COUNT("failures", measure->failures),
               AS_TEXT("failure", measure->failures ? measure->failure : NULL),
               AS_TEXT("difference", measure->difference[0] ? measure->difference : NULL));
    for (const query_figure_t *figure = query_figures; figure->name; figure++)
        result_put(to, AS_FIGURE(figure->name, figure->of(measure)));
    if (told->then)
        result_put(to, AS_INNER("compared", put_compared, told, at));
    result_put(to, AS_INNER("beside", put_beside, measure, 0), AS_INNER("published", put_published, told, at),
               AS_INNER("explained", put_explained, work, 0));
    put_answer(to, measure);
}

static void put_published_figure(bson_t *to, const yaml_item_t *figure) {
    char *name = text_concealed(figure->key);
    result_put(to, AS_TEXT(name, figure->text));
    free(name);
}

/* ROW: {COLUMN: figure}: these names are words of the suite, which may hold anything. */
static void put_published_rows(bson_t *to, const void *of, size_t at) {
    (void)at;
    for (const yaml_item_t *row = ((const yaml_item_t *)of)->first; row; row = row->next) {
        bson_t columns;
        char *name = text_concealed(row->key);
        bson_append_document_begin(to, name, -1, &columns);
        for (const yaml_item_t *figure = row->first; figure; figure = figure->next)
            put_published_figure(&columns, figure);
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

void query_make_result(bson_t *to, const query_result_t *result, const bson_t *then) {
    const watch_storage_t *storage = &result->storage;
    const told_t told = {result, then};
    result_put(to, AS_TEXT("suite", result->measures.suite ? result->measures.suite->name : NULL),
               AS_TEXT("namespace", result->namespace), AS_TEXT("configuration", result->configuration),
               AS_FIGURE("documents", storage->documents),
               AS_FIGURE("data_bytes_on_disk", storage->data_bytes),
               AS_FIGURE("index_bytes_on_disk", storage->index_bytes),
               AS_FIGURE("load_seconds", result->load_seconds),
               AS_TEXT("format", result->format[0] ? result->format : NULL),
               AS_FLAG("other_format", result->other_format),
               AS_TEXT("while_ended", result->beside_ended ? result->beside_words : NULL),
               AS_LIST("queries", result->measures.count, put_measure, &told),
               AS_LIST("published", result->measures.suite ? result->measures.suite->table_count : 0,
                       put_published_table, result->measures.suite));
}
