#include "cli/cli.h"
#include "cli/query_figures.h"
#include "cli/query_print.h"
#include "query/expected.h"
#include "target/inner.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    for (const query_figure_t *figure = query_figures; figure->name; figure++)
        printf(",%s", figure->name);
    printf("\n");
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        char ranges[16];
        print_csv_text(measure->work->query->name);
        putchar(',');
        print_csv_text(measure->work->with);
        printf(",%s,%u,%s,%" PRIu64 ",%" PRIu64, measure->work->reads ? measure->work->reads : "",
               measure->clients, query_parallel_name(measure, ranges), measure->hist->moments.count,
               measure->failures);
        for (const query_figure_t *figure = query_figures; figure->name; figure++) {
            double value = figure->of(measure);
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
    char *json = inner_list_json(measure->answer.documents);
    expected_digest(measure->answer.documents, false, digest);
    printf(",\"digest\":\"%s\",\"result_complete\":%s,\"result\":%s", digest,
           measure->answer.more ? "false" : "true", json ? json : "null");
    bson_free(json);
}

static void print_watch_json(const measure_t *measure) {
    static const watch_figures_t none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const watch_figures_t *seen = measure->watched.seconds > 0 ? &measure->watched.figures : &none;
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
    print_text("parallel", query_parallel_name(measure, ranges));
    printf(",\"ranges\":%u", work->parallel ? parallel_ranges(work->parallel) : 1);
    print_text("whole_because",
               work->parallel && parallel_ranges(work->parallel) == 1 ? parallel_why(work->parallel) : NULL);
    printf(",\"n\":%" PRIu64 ",\"failures\":%" PRIu64, measure->hist->moments.count, measure->failures);
    print_text("failure", measure->failures ? measure->failure : NULL);
    print_text("difference", measure->difference[0] ? measure->difference : NULL);
    for (const query_figure_t *figure = query_figures; figure->name; figure++)
        print_number(figure->name, figure->of(measure));
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
