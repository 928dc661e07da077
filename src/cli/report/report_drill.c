#include "cli/report/report_drill.h"
#include "base/numbers.h"
#include "cli/print/drill_print.h"
#include "cli/report/report_load.h"
#include "cli/report/reporting.h"
#include "report/scale.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdio.h>

static double seconds(int64_t ns) {
    return (double)ns / 1e9;
}

/* ---- the sentence ---- */

/* " (1:10 to 1:30)"; nothing where no interval is known. */
static const char *interval(char out[3 * SCALE_TEXT], const forecast_t *forecast) {
    char low[SCALE_TEXT], high[SCALE_TEXT];
    out[0] = '\0';
    if (!isnan(forecast->low) && !isnan(forecast->high))
        snprintf(out, 3 * SCALE_TEXT, " (%s to %s)", scale_value(low, forecast->low, "s"),
                 scale_value(high, forecast->high, "s"));
    return out;
}

static void say_finished(report_t *report, const drill_pass_t *pass, int status) {
    const char *what;
    const double share = drill_share(pass, &what);
    char took[SCALE_TEXT], predicted[SCALE_TEXT], span[3 * SCALE_TEXT];
    scale_value(took, seconds(pass->verified_ns), "s");
    scale_value(predicted, pass->verified.mid, "s");
    if (pass->difference[0])
        report_say(report, status, "Loaded and verified in %s, but %s.", took, pass->difference);
    else
        report_say(report, status, "From nothing to verified in %s; %s %.0f %%%s%s%s.", took, what, share,
                   isnan(pass->verified.mid) ? "" : "; predicted was ",
                   isnan(pass->verified.mid) ? "" : predicted,
                   isnan(pass->verified.mid) ? "" : interval(span, &pass->verified));
}

static void say(report_t *report, const drill_result_t *result, int status, const err_t *err) {
    const drill_pass_t *pass = &result->pass;
    char predicted[SCALE_TEXT], span[3 * SCALE_TEXT], documents[SCALE_TEXT];
    if (pass->finished) {
        say_finished(report, pass, status);
    } else if (status != STATUS_MISSED && reporting_is_trouble(status)) {
        char *trouble = reporting_trouble(status, seconds(result->took_ns), err);
        report_say(report, status, "%s.", trouble);
        bson_free(trouble);
    } else if (!isnan(pass->verified.mid)) {
        report_say(report, status, "Predicted: from nothing to verified in %s%s, for %s%s document%s.",
                   scale_value(predicted, pass->verified.mid, "s"), interval(span, &pass->verified),
                   result->exact ? "" : "about ", scale_value(documents, result->all_documents, "documents"),
                   units_s((uint64_t)result->all_documents));
    } else {
        report_say(report, status, "Nothing was drilled.");
    }
}

/* ---- figures ---- */

static void add_result(report_t *report, const drill_result_t *result, const bson_t *document) {
    const drill_pass_t *pass = &result->pass;
    const bool finished = pass->finished, begun = drill_has_begun(pass);
    bson_t drill = BSON_INITIALIZER;
    result_item(document, "drills", 0, &drill);
    report_begin(report, REPORT_FIGURES, "Result", NULL);
    reporting_figure(report, &drill, "from nothing to verified", "verified_seconds", "s");
    reporting_figure(report, &drill, "predicted", "predicted_verified.seconds", "s");
    report_figure(report, "predicted was off by",
                  finished ? forecast_error_percent(&pass->verified, seconds(pass->verified_ns)) : NAN, "%");
    report_figure(report, "to the first answer", finished ? seconds(pass->took_ns) : NAN, "s");
    reporting_figure(report, document,
                     !result->exact    ? "documents in the files, about"
                     : result->drilled ? "documents in the files"
                                       : "documents predicted for",
                     "documents", "documents");
    reporting_figure(report, &drill, "documents loaded", "load.loaded", "documents");
    reporting_figure(report, &drill, "documents a second", "load.docs_per_second", "documents/s");
    report_figure(report, "documents verified", begun ? (double)pass->documents : NAN, "documents");
    report_figure(report, "documents that are wrong", begun ? (double)pass->wrong : NAN, "documents");
    if (begun && pass->load.limited_by[0])
        report_figure_text(report, "the load was limited by", pass->load.limited_by);
    report_end(report);
}

/* ---- one pass ---- */

static void add_phases(report_t *report, const drill_result_t *result, const drill_pass_t *pass) {
    report_begin(report, REPORT_TIMELINE, "Phases",
                 "Measured, and below it what samples had predicted, with its 95 % interval.");
    drill_phase_t order[DRILL_PHASES];
    const size_t count = drill_phases_told(result, order);
    for (size_t i = 0; i < count; i++) {
        const drill_span_t *span = &pass->phases[order[i]];
        report_phase(report, &(report_phase_t){.name = drill_phase_name(order[i]),
                                               .began = span->came ? seconds(span->began_ns) : NAN,
                                               .took = span->came ? seconds(span->took_ns) : NAN,
                                               .predicted = span->predicted.mid,
                                               .low = span->predicted.low,
                                               .high = span->predicted.high});
    }
    report_end(report);
}

static void put_row(report_t *report, const char *name, const forecast_t *predicted, double took,
                    double whole) {
    report_row(report);
    report_word(report, name);
    report_number(report, took);
    report_number(report, predicted->mid);
    report_number(report, predicted->low);
    report_number(report, predicted->high);
    report_number(report, forecast_error_percent(predicted, took));
    report_number(report, 100 * took / whole);
}

/* The same as a table, with the error of what was predicted. */
static void add_errors(report_t *report, const drill_result_t *result, const drill_pass_t *pass) {
    const double whole = drill_has_begun(pass) ? seconds(pass->took_ns) : NAN;
    report_begin(report, REPORT_BARS, "Measured and predicted", NULL);
    report_column(report, "phase", "");
    report_column(report, "measured", "s");
    report_column(report, "predicted", "s");
    report_column(report, "from", "s");
    report_column(report, "to", "s");
    report_column(report, "off by", "%");
    report_bar_column(report, "share", "%", 100);
    drill_phase_t order[DRILL_PHASES];
    const size_t count = drill_phases_told(result, order);
    for (size_t i = 0; i < count; i++) {
        const drill_span_t *span = &pass->phases[order[i]];
        put_row(report, drill_phase_name(order[i]), &span->predicted,
                span->came ? seconds(span->took_ns) : NAN, whole);
    }
    put_row(report, "whole", &pass->predicted, pass->finished ? whole : NAN, whole);
    report_end(report);
}

static void add_pass(report_t *report, const drill_result_t *result, const drill_pass_t *pass) {
    add_phases(report, result, pass);
    add_errors(report, result, pass);
    if (pass->phases[DRILL_LOAD].came && pass->load.course.point_count > 1)
        report_load_course(report, &pass->load.course, &pass->load.flushes);
}

/* ---- what it is made of, and beside ---- */

static void add_samples(report_t *report, const drill_result_t *result) {
    report_begin(report, REPORT_TABLE, "Samples",
                 "The first records of the files, loaded and all that follows; from these it was predicted.");
    report_column(report, "records", "");
    report_column(report, "documents", "documents");
    report_column(report, "load", "s");
    report_column(report, "index build", "s");
    report_column(report, "verify", "s");
    report_column(report, "first query", "s");
    for (size_t i = 0; i < result->sample_count; i++) {
        const drill_sample_t *sample = &result->samples[i];
        report_row(report);
        report_number(report, (double)sample->read);
        report_number(report, (double)sample->documents);
        report_number(report, sample->seconds[DRILL_LOAD]);
        report_number(report, sample->seconds[DRILL_INDEXES]);
        report_number(report, sample->seconds[DRILL_VERIFY]);
        report_number(report, sample->seconds[DRILL_QUERY]);
    }
    report_end(report);
}

static void add_settings(report_t *report, const drill_spec_t *spec, const drill_result_t *result) {
    char query[1400];
    report_set_text(report, "format", spec->load.format);
    report_set_text(report, "collection", result->collection);
    report_set_flag(report, "in a scratch collection", result->scratch);
    report_set_text(report, "first query", first_query_name(&result->query, query));
    report_set_text(report, "server", result->version);
    report_set_text(report, "shard key", result->shard_key[0] ? result->shard_key : NULL);
    report_set_number(report, "threads",
                      result->pass.load.threads ? result->pass.load.threads : spec->load.threads);
    report_set_number(report, "batch", spec->load.batch);
}

report_t *report_drill(const drill_spec_t *spec, const drill_result_t *result, const bson_t *document,
                       int status, const err_t *err) {
    report_t *report = report_new("drill");
    report_head(report, result->namespace, result->where,
                result->drilled ? "tipple drill" : "tipple drill, predicted only");
    say(report, result, status, err);
    add_result(report, result, document);
    if (result->drilled || result->sample_count)
        add_pass(report, result, &result->pass);
    if (result->sample_count)
        add_samples(report, result);
    add_settings(report, spec, result);
    return report;
}
