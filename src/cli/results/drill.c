/* What a drill took, phase by phase, next to what was predicted of it; and a line of it for a history. */
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/results/results.h"
#include "server/bson_read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- views ---- */

static const result_view_t views[] = {
    LINE(SHOW_NORMAL, NULL, "{collection} at {target}, MongoDB {server}   {-documents}"),
    LINE(SHOW_USUAL, NULL, "scratch: the target is not touched"),
    PARTS(SHOW_USUAL, "drills", "whole", "phases", "Phases",
          "Predicted from samples, with the 95 % interval in brackets.", COLUMN("phase", "phase"),
          COLUMN("predicted.-words", "predicted"), COLUMN("began_seconds", "began", .wide = true),
          COLUMN("seconds", "measured", .most = BAR_LARGEST), COLUMN("error_percent", "error")),
    LINE(SHOW_USUAL, "load.loaded",
         "loaded {load.loaded|document}, {load.bytes_bson} of BSON, {load.docs_per_second}, "
         "{load.threads|thread}, batches of {load.batch}",
         .each = "drills"),
    LINE(SHOW_USUAL, "load.loaded", "limited by: {load.limited_by}", .each = "drills"),
    LINE(SHOW_USUAL, NULL, "index {keys} built in {seconds}", .each = "drills.0.load.indexes"),
    LINE(SHOW_USUAL | SHOW_CARE, "load.rejected", "{load.rejected|record was|records were} rejected",
         .each = "drills"),
    LINE(
        SHOW_USUAL, "drills.0.query_seconds",
        "the first query, {query}, took {drills.0.query_seconds} itself: {drills.0.query_returned|document}"),
    LINE(SHOW_USUAL, "-sampled",
         "a sample does not see what hours bring: a full cache, long checkpoints, secondaries that lag"),
    LINE(SHOW_QUIET, "-sentence", "{-sentence}"),
    LINE(SHOW_USUAL, "-within", "{-within}"),
    TABLE(SHOW_PAGE, NULL, "samples", "Samples",
          "The first records of the files, loaded and all that follows; from these it was predicted.",
          COLUMN("read", "records"), COLUMN("documents", "documents"), COLUMN("seconds.load", "load"),
          COLUMN("seconds.indexes", "index build"), COLUMN("seconds.verify", "verify"),
          COLUMN("seconds.first query", "first query")),
    RESULTS_COURSE,
    {0}};

/* ---- figures ---- */

static bool ended_well(int status) {
    return status == STATUS_OK || status == STATUS_SOME_REJECTED || status == STATUS_MISSED;
}

static double seconds_of(bool known, int64_t ns) {
    return known ? (double)ns / 1e9 : NAN;
}

static void put_forecast(bson_t *to, const void *forecasts, size_t at) {
    const forecast_t *forecast = (const forecast_t *)forecasts + at;
    char words[FORECAST_SPELLED];
    if (!isnan(forecast->mid))
        result_put(to, AS_NUMBER("seconds", forecast->mid), AS_NUMBER("low", forecast->low),
                   AS_NUMBER("high", forecast->high), AS_TEXT("-words", forecast_spell(words, forecast)));
}

static void put_span(bson_t *to, const void *spans, size_t at) {
    const drill_span_t *span = (const drill_span_t *)spans + at;
    const double took = seconds_of(span->came, span->took_ns);
    if (!span->came && isnan(span->predicted.mid))
        return;
    result_put(to, AS_TEXT("phase", drill_phase_name((drill_phase_t)at)),
               AS_NUMBER("began_seconds", seconds_of(span->came, span->began_ns)), AS_NUMBER("seconds", took),
               AS_INNER("predicted", put_forecast, &span->predicted, 0),
               AS_NUMBER("error_percent", forecast_error_percent(&span->predicted, took)));
}

static void put_load(bson_t *to, const void *of, size_t at) {
    const drill_pass_t *pass = (const drill_pass_t *)of + at;
    const load_result_t *load = &pass->load;
    const counts_t *counts = &load->counts;
    if (pass->doing)
        result_put(
            to, OF(counts, read), OF(counts, loaded), OF(counts, already_there), OF(counts, rejected),
            OF(counts, filtered), OF(load, bytes_read), OF(load, bytes_bson),
            AS_NUMBER("docs_per_second", result_rate(counts->loaded, pass->phases[DRILL_LOAD].took_ns)),
            OF(load, threads), OF(load, batch), OF(load, batches), OF(load, retries),
            AS_SECONDS("client_cpu_seconds", load->cpu_ns), OF(load, clustered), OF(load, limited_by),
            results_indexes(load));
}

static void put_pass(bson_t *to, const void *passes, size_t at) {
    const drill_pass_t *pass = (const drill_pass_t *)passes + at;
    const double took = seconds_of(pass->doing, pass->took_ns);
    result_put(
        to, OF(pass, finished), AS_NUMBER("seconds", took),
        AS_NUMBER("verified_seconds", seconds_of(pass->finished, pass->verified_ns)),
        AS_INNER("predicted", put_forecast, &pass->predicted, 0),
        AS_INNER("predicted_verified", put_forecast, &pass->verified, 0),
        AS_NUMBER("error_percent", pass->finished ? forecast_error_percent(&pass->predicted, took) : NAN),
        AS_LIST("phases", DRILL_PHASES, put_span, pass->phases), AS_INNER("load", put_load, pass, 0),
        AS_COUNT("verified", pass->documents), AS_COUNT("differences", pass->wrong),
        AS_WORDS("difference", pass->difference), OF(pass, query_seconds), OF(pass, query_returned));
}

static void put_seconds(bson_t *to, const void *seconds, size_t at) {
    (void)at;
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++)
        if (!isnan(((const double *)seconds)[i]))
            result_put(to, AS_NUMBER(drill_phase_name(i), ((const double *)seconds)[i]));
}

static void put_sample(bson_t *to, const void *samples, size_t at) {
    const drill_sample_t *sample = (const drill_sample_t *)samples + at;
    result_put(to, OF(sample, asked), OF(sample, read), OF(sample, documents), OF(sample, bytes),
               AS_INNER("seconds", put_seconds, sample->seconds, 0));
}

/* Of drills that failed nothing is known. */
static void put_within(bson_t *to, const drill_result_t *drills, size_t count, double within, int status) {
    const double needed = drill_needs(drills, count);
    const bool known = within > 0 && !isnan(needed) && ended_well(status);
    result_put(to, AS_NUMBER("within_seconds", within > 0 ? within : NAN),
               AS_FLAG_IF("is_within", known, needed <= within), AS_NUMBER("-needed_seconds", needed));
    if (known)
        result_put_words(to, "-within",
                         isnan(drill_measured(drills, count))
                             ? "within {within_seconds}: {is_within} (predicted: up to {-needed_seconds})"
                             : "within {within_seconds}: {is_within} ({-needed_seconds})");
}

static void put_figures(bson_t *to, const drill_spec_t *spec, const drill_result_t *drill, double within,
                        int status) {
    const drill_pass_t *pass = &drill->pass;
    const study_t *study = &drill->study;
    result_put(to, AS_TEXT("mode", spec->predict_only ? "predict" : "scratch"), OF(study, namespace),
               OF(study, collection), AS_TEXT("target", study->where), AS_TEXT("server", study->version),
               AS_TEXT("version", TIPPLE_VERSION), OF(study, format),
               AS_TEXT("query", spec->query ? spec->query : "one document"),
               AS_NUMBER("documents", drill->all_documents), AS_FLAG("documents_exact", drill->exact),
               AS_SECONDS("seconds", drill->took_ns),
               AS_LIST("samples", drill->sample_count, put_sample, drill->samples),
               AS_LIST("drills", drill->drilled || drill->sample_count, put_pass, pass),
               AS_NUMBER("-later_seconds", seconds_of(pass->finished, pass->took_ns - pass->verified_ns)),
               AS_TEXT("-about", drill->exact ? "" : "about "), AS_FLAG("-sampled", spec->predict_only));
    put_within(to, drill, 1, within, status);
    results_put_course(to, &pass->load.course, &pass->load.flushes);
    result_put_words(to, "-documents", isnan(drill->all_documents) ? "" : "{-about}{documents|document}");
}

static const char *sentence(const drill_pass_t *pass) {
    return pass->finished && pass->difference[0]
               ? "loaded and verified in {drills.0.verified_seconds}, but {drills.0.difference}"
           : pass->finished ? "from nothing to verified in {drills.0.verified_seconds}; the first query was "
                              "answered {-later_seconds} later"
           : isnan(pass->verified.mid) ? "nothing was drilled"
                                       : "predicted: from nothing to verified in "
                                         "{drills.0.predicted_verified.-words}, for {-documents}";
}

static bool write_history(FILE *file, const result_t *result) {
    bson_t whole = BSON_INITIALIZER;
    BSON_APPEND_DATE_TIME(&whole, "when", clock_wall_ms());
    result_copy(&whole, result);
    char *json = ejson_print(&whole, true, NULL);
    const bool ok = json && fprintf(file, "%s\n", json) > 0 && fflush(file) == 0;
    free(json);
    bson_destroy(&whole);
    return ok;
}

result_t *results_drill(const drill_spec_t *spec, const drill_result_t *drill, double within, FILE *history,
                        int status, const err_t *err) {
    const drill_pass_t *pass = &drill->pass;
    const bool ended = pass->finished || status == STATUS_MISSED;
    result_t *result = result_new("drill", views);
    put_figures(&result->document, spec, drill, within, status);
    if (pass->finished || !drill->drilled)
        result_put_words(&result->document, "-sentence", sentence(pass));
    result_answer(result, "How long does a reload take?", ended ? STATUS_OK : status, err, sentence(pass),
                  "");
    result->status = status;
    if (history && pass->finished && !write_history(history, result)) /* the drill itself has succeeded */
        log_warn("this drill is not in the history: %s", strerror(errno));
    return result;
}

/* ---- several collections ---- */

static const result_view_t views_of_all[] = {
    PARTS(SHOW_USUAL, NULL, "all", "collections", "Collections",
          "From nothing to verified, one after the other.", COLUMN("namespace", "collection"),
          COLUMN("predicted_verified.-words", "predicted"),
          COLUMN("verified_seconds", "measured", .most = BAR_LARGEST),
          COLUMN("error_percent", "error", .wide = true), COLUMN("seconds.load", "load"),
          COLUMN("seconds.indexes", "indexes"), COLUMN("seconds.verify", "verify"),
          COLUMN("seconds.first query", "first query", .wide = true)),
    LINE(SHOW_QUIET, "-sentence", "{-sentence}"),
    LINE(SHOW_USUAL, "-within", "{-within}"),
    {0}};

static void put_verified(bson_t *to, const drill_result_t *drills, size_t count) {
    const forecast_t predicted = drill_predicted(drills, count);
    const double measured = drill_measured(drills, count);
    result_put(to, AS_INNER("predicted_verified", put_forecast, &predicted, 0),
               AS_NUMBER("verified_seconds", measured),
               AS_NUMBER("error_percent", forecast_error_percent(&predicted, measured)));
}

static void put_collection(bson_t *to, const void *drills, size_t at) {
    const drill_result_t *drill = (const drill_result_t *)drills + at;
    double seconds[DRILL_PHASES];
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++)
        seconds[i] = seconds_of(drill->pass.phases[i].came, drill->pass.phases[i].took_ns);
    result_put(to, AS_TEXT("namespace", drill->study.namespace));
    put_verified(to, drill, 1);
    result_put(to, AS_TEXT("format", drill->study.format), AS_NUMBER("documents", drill->all_documents),
               AS_INNER("seconds", put_seconds, seconds, 0));
}

result_t *results_drills(const drill_result_t *drills, size_t count, double within, int status,
                         const err_t *err) {
    const char *said =
        !isnan(drill_measured(drills, count))
            ? "from nothing to verified in {verified_seconds}, for {-count|collection}"
        : isnan(drill_predicted(drills, count).mid)
            ? "not all collections were drilled"
            : "predicted: from nothing to verified in {predicted_verified.-words}, for {-count|collection}";
    result_t *result = result_new("drill", views_of_all);
    result_put(&result->document, AS_LIST("collections", count, put_collection, drills),
               AS_COUNT("-count", count));
    put_verified(&result->document, drills, count);
    put_within(&result->document, drills, count, within, status);
    if (ended_well(status))
        result_put_words(&result->document, "-sentence", said);
    result_answer(result, "How long does a reload take?", status == STATUS_MISSED ? STATUS_OK : status, err,
                  said, "");
    result->status = status;
    return result;
}
