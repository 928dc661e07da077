#include "cli/report/report_query.h"
#include "base/document.h"
#include "base/numbers.h"
#include "base/text.h"
#include "cli/print/query_print.h"
#include "cli/report/reporting.h"
#include "query/suite/typed_query.h"
#include "report/scale.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SERIES = 5, ANSWER_DOCUMENTS = 3, ANSWER_BYTES = 240, NAME_BYTES = 256 };

/* "greenness year=2014, 4 clients": what distinguishes the measurement. */
static const char *name_of(const measure_t *measure, char out[NAME_BYTES]) {
    const work_t *work = measure->work;
    int used = snprintf(out, NAME_BYTES, "%s%s%s", work->query->name, *work->with ? " " : "", work->with);
    if (work->reads)
        used += snprintf(out + used, NAME_BYTES - (size_t)used, ", %.20s", work->reads);
    if (measure->clients != 1)
        snprintf(out + used, NAME_BYTES - (size_t)used, ", %u clients", measure->clients);
    return out;
}

/* ---- the sentence ---- */

static void say(report_t *report, const query_result_t *result, int status, const err_t *err) {
    const measures_t *measures = &result->measures;
    const measure_t *slowest = NULL;
    char name[NAME_BYTES], took[SCALE_TEXT];
    uint64_t requests = 0;
    for (size_t i = 0; i < measures->count; i++) {
        const measure_t *measure = &measures->items[i];
        requests += measure->hist->moments.count;
        if (!measure->failures && measure->hist->moments.count &&
            (!slowest || measure->hist->moments.mean > slowest->hist->moments.mean))
            slowest = measure;
    }
    char *trouble = reporting_is_trouble(status) ? reporting_trouble(status, result->seconds, err) : NULL;
    if (!slowest)
        report_say(report, status, "%s%sNothing was measured.", trouble ? trouble : "", trouble ? ". " : "");
    else
        report_say(report, status,
                   "%s%s%zu measurement%s of %" PRIu64 " request%s; the slowest is %s, with %s on average.",
                   trouble ? trouble : "",
                   !trouble               ? ""
                   : measures->count == 1 ? ". There is "
                                          : ". There are ",
                   measures->count, units_s(measures->count), requests, units_s(requests),
                   name_of(slowest, name), scale_value(took, slowest->hist->moments.mean / 1e6, "ms"));
    bson_free(trouble);
}

/* ---- figures ---- */

static void add_result(report_t *report, const query_result_t *result) {
    const watch_storage_t *storage = &result->storage;
    report_begin(report, REPORT_FIGURES, "The collection", NULL);
    report_figure(report, "documents", storage->documents, "documents");
    report_figure(report, "data on disk", storage->data_bytes, "bytes");
    report_figure(report, "indexes on disk", storage->index_bytes, "bytes");
    report_figure(report, "document, on average", storage->average_bytes, "bytes");
    report_figure(report, "its loads took", result->load_seconds, "s");
    report_figure(report, "measurements", (double)result->measures.count, "measurements");
    if (result->failed)
        report_figure(report, "failed", (double)result->failed, "measurements");
    if (result->different)
        report_figure(report, "not the expected answer", (double)result->different, "measurements");
    if (result->nothing)
        report_figure(report, "found nothing", (double)result->nothing, "measurements");
    if (result->format[0])
        report_figure_text(report, "loaded as format", result->format);
    report_figure_text(report, "configuration", result->configuration);
    report_end(report);
}

/* ---- measurements ---- */

static void add_measures(report_t *report, const query_spec_t *spec, const query_result_t *result) {
    static const struct {
        const char *figure, *title, *unit;
    } columns[] = {{"p50_ms", "p50", "ms"},
                   {"p95_ms", "p95", "ms"},
                   {"p99_ms", "p99", "ms"},
                   {"mean_ms", "mean", "ms"},
                   {"sd_ms", "deviation", "ms"},
                   {"min_ms", "least", "ms"},
                   {"max_ms", "most", "ms"},
                   {"ops_per_second", "requests a second", "requests/s"},
                   {"docs_per_ms", "documents a ms", ""}};
    report_begin(report, REPORT_BARS, "Measurements",
                 spec->rate > 0 ? "Latency of a request from when it was due (--rate) to its last document. "
                                  "There is no figure of one "
                                  "that failed, or was made too rarely to tell."
                                : "Latency of a request from being sent to its last document. There is no "
                                  "figure of one that failed, "
                                  "or was made too rarely to tell.");
    report_column(report, "query", "");
    report_column(report, "requests", "");
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        if (k == 0)
            report_bar_column(report, columns[k].title, columns[k].unit, 0);
        else
            report_column(report, columns[k].title, columns[k].unit);
    }
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        char name[NAME_BYTES];
        report_row(report);
        report_word(report, name_of(measure, name));
        report_number(report, (double)measure->hist->moments.count);
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            report_number(report, query_figure(measure, columns[k].figure));
    }
    report_end(report);
}

static void add_remark(report_t *report, bool *any, const char *name, const char *what) {
    if (!*any) {
        report_begin(report, REPORT_TABLE, "Remarks", NULL);
        report_column(report, "query", "");
        report_column(report, "what", "");
        *any = true;
    }
    report_row(report);
    report_word(report, name);
    report_word(report, what);
}

static void add_remarks(report_t *report, const query_result_t *result) {
    char name[NAME_BYTES], ended[160];
    bool any = false;
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        char empty[QUERY_EMPTINESS];
        const char *emptiness = query_emptiness(measure, empty);
        name_of(measure, name);
        if (measure->failures || measure->difference[0])
            add_remark(report, &any, name, measure->failures ? measure->failure : measure->difference);
        if (emptiness)
            add_remark(report, &any, name, emptiness);
    }
    if (result->beside_ended) {
        snprintf(ended, sizeof ended,
                 "its command ended %s before the measurements did: they are of times with and without it",
                 result->beside_words);
        add_remark(report, &any, "--while", ended);
    }
    if (any)
        report_end(report);
}

/* ---- latencies: a few of them on each picture ---- */

static bool has_latencies(const measure_t *measure) {
    return !measure->failures && measure->hist->moments.count > 1;
}

static void add_latencies(report_t *report, const query_result_t *result) {
    const measures_t *measures = &result->measures;
    size_t series = 0;
    char name[NAME_BYTES];
    for (size_t i = 0; i < measures->count; i++) {
        if (!has_latencies(&measures->items[i]))
            continue;
        if (series % MOST_SERIES == 0) {
            if (series)
                report_end(report);
            report_begin(report, REPORT_PERCENTILES,
                         series ? "Latency by percentile, further ones" : "Latency by percentile", NULL);
            report_axes(report, "percentile", "%", "latency", "ms");
        }
        reporting_latencies(report, measures->items[i].hist, name_of(&measures->items[i], name));
        series++;
    }
    if (series)
        report_end(report);
}

/* ---- beside ---- */

static void add_watched(report_t *report, const query_result_t *result) {
    bool any = false;
    for (size_t i = 0; i < result->measures.count; i++)
        any = any || result->measures.items[i].watched.seconds > 0;
    if (!any)
        return;
    report_begin(report, REPORT_TABLE, "What the machine and the servers did meanwhile",
                 "This host's CPU; the servers' own counters, all rounds together.");
    report_column(report, "query", "");
    report_column(report, "measured for", "s");
    report_column(report, "user", "%");
    report_column(report, "system", "%");
    report_column(report, "waiting for disks", "%");
    report_column(report, "idle", "%");
    report_column(report, "server cores", "cores");
    report_column(report, "documents examined", "documents");
    report_column(report, "read into cache", "bytes");
    for (size_t i = 0; i < result->measures.count; i++) {
        const measure_t *measure = &result->measures.items[i];
        const watch_figures_t *seen = &measure->watched.figures;
        char name[NAME_BYTES];
        if (!(measure->watched.seconds > 0))
            continue;
        report_row(report);
        report_word(report, name_of(measure, name));
        report_number(report, measure->watched.seconds);
        report_number(report, 100 * seen->user);
        report_number(report, 100 * seen->sys);
        report_number(report, 100 * seen->iowait);
        report_number(report, 100 * seen->idle);
        report_number(report, seen->server_cores);
        report_number(report, seen->examined);
        report_number(report, seen->cached_bytes);
    }
    report_end(report);
}

/* ---- answers: the first documents, shortened ---- */

static bool same_question(const measure_t *one, const measure_t *other) {
    return one->work->query == other->work->query && strcmp(one->work->with, other->work->with) == 0;
}

static void add_answer(report_t *report, const measure_t *measure) {
    bson_iter_t at;
    bson_t document;
    char name[NAME_BYTES];
    size_t shown = 0;
    text_t text = {.length = 0};
    for (bson_iter_init(&at, measure->answer.documents);
         shown < ANSWER_DOCUMENTS && bson_read_next(&at, &document); shown++) {
        char *json = ejson_print_concealed(&document, NULL);
        text_print(&text, "%s%s", shown ? "  " : "", json ? json : "");
        free(json);
    }
    text_cut(&text, ANSWER_BYTES);
    char *answer = text_take_or_end(&text);
    snprintf(name, sizeof name, "%s%s%s", measure->work->query->name, *measure->work->with ? " " : "",
             measure->work->with);
    report_row(report);
    report_word(report, name);
    report_number(report, (double)measure->answer.count);
    report_shown(report, answer);
    free(answer);
}

static void add_answers(report_t *report, const query_result_t *result) {
    const measures_t *measures = &result->measures;
    bool any = false;
    for (size_t i = 0; i < measures->count; i++) {
        const measure_t *measure = &measures->items[i];
        if (!measure->answered || measure->work->count > 1 || (i && same_question(&measure[-1], measure)))
            continue;
        if (!any) {
            report_begin(report, REPORT_TABLE, "Answers", "Their first documents, shortened.");
            report_column(report, "query", "");
            report_column(report, "documents", "");
            report_column(report, "begins with", "");
        }
        any = true;
        add_answer(report, measure);
    }
    if (any)
        report_end(report);
}

static void add_settings(report_t *report, const query_spec_t *spec) {
    if (spec->suite)
        report_set_text(report, typed_query_is(spec->suite) ? "query" : "suite", spec->suite);
    report_set_number(report, "rounds", spec->repeats);
    report_set_number(report, "warm-up rounds", spec->warmups);
    if (spec->rate > 0)
        report_set_number(report, "requests a second", spec->rate);
    if (spec->duration_ns)
        report_set_number(report, "seconds a measurement", (double)spec->duration_ns / 1e9);
}

report_t *report_query(const query_spec_t *spec, const query_result_t *result, int status, const err_t *err) {
    report_t *report = report_new("query");
    report_head(report, result->namespace, result->where, "tipple query");
    if (result->configuration[0]) {
        say(report, result, status, err);
        add_result(report, result);
    } else { /* it did not come so far */
        char *trouble = reporting_trouble(status, result->seconds, err);
        report_say(report, status, "%s", trouble);
        bson_free(trouble);
    }
    if (result->configuration[0] && result->measures.count) {
        add_remarks(report, result);
        add_measures(report, spec, result);
        add_latencies(report, result);
        add_watched(report, result);
        add_answers(report, result);
    }
    add_settings(report, spec);
    return report;
}
