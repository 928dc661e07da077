#include "cli/options/cli.h"
#include "base/out.h"
#include "cli/print/query_figures.h"
#include "cli/print/query_print.h"
#include "query/suite/expected.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- CSV ---- */

static void print_csv_text(const char *text) {
    out_print("\"");
    for (size_t length; (length = strcspn(text, "\"")), text[length]; text += length + 1)
        out_print("%.*s\"\"", (int)length, text);
    out_print("%s\"", text);
}

void query_print_csv(const query_result_t *result) {
    out_print("query,with,reads,clients,parallel,n,failures");
    for (const query_figure_t *figure = query_figures; figure->name; figure++)
        out_print(",%s", figure->name);
    out_print("\n");
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        char ranges[16];
        print_csv_text(measure->work->query->name);
        out_print(",");
        print_csv_text(measure->work->with);
        out_print(",%s,%u,%s,%" PRIu64 ",%" PRIu64, measure->work->reads ? measure->work->reads : "",
                  measure->clients, query_parallel_name(measure, ranges), measure->hist->moments.count,
                  measure->failures);
        for (const query_figure_t *figure = query_figures; figure->name; figure++) {
            double value = figure->of(measure);
            if (isnan(value))
                out_print(",");
            else
                out_print(",%.6g", value);
        }
        out_print("\n");
    }
}

/* ---- JSON ---- */

static void print_result(const measure_t *measure) {
    char digest[EXPECTED_DIGEST];
    if (!measure->answered || measure->work->count > 1) {
        out_print(",\"result\":null");
        return;
    }
    char *json = bson_read_list_json(measure->answer.documents);
    expected_digest(measure->answer.documents, false, digest);
    out_print(",\"digest\":\"%s\",\"result_complete\":%s,\"result\":%s", digest,
              measure->answer.more ? "false" : "true", json ? json : "null");
    free(json);
}

static void print_watch_json(const measure_t *measure) {
    static const watch_figures_t none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const watch_figures_t *seen = measure->watched.seconds > 0 ? &measure->watched.figures : &none;
    out_print(",\"beside\":{\"seconds\":%.6f", measure->watched.seconds);
    cli_json_figure("user", seen->user);
    cli_json_figure("sys", seen->sys);
    cli_json_figure("iowait", seen->iowait);
    cli_json_figure("idle", seen->idle);
    cli_json_figure("server_cores", seen->server_cores);
    cli_json_figure("documents_examined", seen->examined);
    cli_json_figure("bytes_into_cache", seen->cached_bytes);
    out_print("}");
}

/* null: it was not measured then, or failed now. */
static void print_compared(const measure_t *measure, const earlier_list_t *earlier) {
    ratio_t ratio;
    const earlier_t *then = query_compare(measure, earlier, &ratio);
    if (!then || measure->failures) {
        out_print(",\"compared\":null");
        return;
    }
    out_print(",\"compared\":{\"it_is\":\"%s\"", compare_verdict(&ratio));
    cli_json_figure("then_ms", then->ms.mean);
    cli_json_figure("ratio", ratio.times);
    cli_json_figure("low", ratio.low);
    cli_json_figure("high", ratio.high);
    out_print("}");
}

static void print_measure_json(const measure_t *measure, const earlier_list_t *earlier) {
    const work_t *work = measure->work;
    char ranges[16];
    out_print("{\"name\":");
    out_json(work->query->name);
    cli_json_text("with", work->with);
    cli_json_text("reads", work->reads);
    out_print(",\"clients\":%u", measure->clients);
    cli_json_text("parallel", query_parallel_name(measure, ranges));
    out_print(",\"ranges\":%u", work->parallel ? parallel_ranges(work->parallel) : 1);
    cli_json_text("whole_because", work->parallel && parallel_ranges(work->parallel) == 1
                                       ? parallel_why(work->parallel)
                                       : NULL);
    out_print(",\"n\":%" PRIu64 ",\"failures\":%" PRIu64, measure->hist->moments.count, measure->failures);
    cli_json_text("failure", measure->failures ? measure->failure : NULL);
    cli_json_text("difference", measure->difference[0] ? measure->difference : NULL);
    for (const query_figure_t *figure = query_figures; figure->name; figure++)
        cli_json_figure(figure->name, figure->of(measure));
    if (earlier)
        print_compared(measure, earlier);
    print_watch_json(measure);
    print_result(measure);
    out_print("}");
}

void query_print_json(const query_result_t *result, const earlier_list_t *earlier, int status) {
    const watch_storage_t *storage = &result->storage;
    out_print("{\"schema\":1,\"command\":\"query\",\"status\":%d", status);
    cli_json_text("suite", result->measures.suite ? result->measures.suite->name : NULL);
    cli_json_text("namespace", result->namespace);
    cli_json_text("configuration", result->configuration);
    cli_json_figure("documents", storage->documents);
    cli_json_figure("data_bytes_on_disk", storage->data_bytes);
    cli_json_figure("index_bytes_on_disk", storage->index_bytes);
    cli_json_figure("load_seconds", result->load_seconds);
    cli_json_text("while_ended", result->beside_ended ? result->beside_words : NULL);
    out_print(",\"queries\":[");
    for (size_t i = 0; i < result->measures.count; i++) {
        out_print(i ? ",\n" : "\n");
        print_measure_json(&result->measures.items[i], earlier);
    }
    out_print("]}\n");
}
