/* What a drill took, phase by phase, next to what was predicted of it; and the history of earlier ones. */
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/options/shell_quote.h"
#include "cli/results/results.h"
#include "server/bson_read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

char *results_drill_load_line(const drill_result_t *drill) {
    const load_spec_t *load = &drill->load;
    text_t line = {.length = 0};
    text_append(&line, "tipple load");
    shell_quote_option(&line, "--format", load->format);
    shell_quote_uri(&line, load->uri);
    if (load->create)
        shell_quote_option(&line, "--create", load->create);
    if (load->compressor)
        shell_quote_option(&line, "--compressor", load->compressor);
    for (size_t i = 0; i < load->index_count; i++)
        shell_quote_option(&line, "--index", load->indexes[i]);
    if (load->rejects)
        shell_quote_option(&line, "--rejects", load->rejects);
    shell_quote_rest(&line, load, load->direct);
    return text_take_or_end(&line);
}

/* ---- figures ---- */

static double seconds_of(bool known, int64_t ns) {
    return known ? (double)ns / 1e9 : NAN;
}

static bool has_begun(const drill_pass_t *pass) {
    return pass->reached != DRILL_PHASES;
}

static void put_forecast(bson_t *to, const void *forecasts, size_t at) {
    const forecast_t *forecast = (const forecast_t *)forecasts + at;
    char words[FORECAST_SPELLED];
    if (!isnan(forecast->mid))
        result_put(to, AS_NUMBER("seconds", forecast->mid, 6), AS_NUMBER("low", forecast->low, 6),
                   AS_NUMBER("high", forecast->high, 6), AS_TEXT("-words", forecast_spell(words, forecast)));
}

static void put_span(bson_t *to, const void *spans, size_t at) {
    const drill_span_t *span = (const drill_span_t *)spans + at;
    const double took = seconds_of(span->came, span->took_ns);
    if (!span->came && isnan(span->predicted.mid))
        return;
    result_put(to, AS_TEXT("phase", drill_phase_name((drill_phase_t)at)),
               AS_NUMBER("began_seconds", seconds_of(span->came, span->began_ns), 6),
               AS_NUMBER("seconds", took, 6), AS_INNER("predicted", put_forecast, &span->predicted, 0),
               AS_NUMBER("error_percent", forecast_error_percent(&span->predicted, took), 1));
}

static void put_load(bson_t *to, const void *of, size_t at) {
    const drill_pass_t *pass = (const drill_pass_t *)of + at;
    const load_result_t *load = &pass->load;
    const counts_t *counts = &load->counts;
    if (has_begun(pass))
        result_put(
            to, AS_COUNT("read", counts->read), AS_COUNT("loaded", counts->loaded),
            AS_COUNT("already_there", counts->already_there), AS_COUNT("rejected", counts->rejected),
            AS_COUNT("filtered", counts->filtered), AS_COUNT("bytes_read", load->bytes_read),
            AS_COUNT("bytes_bson", load->bytes_bson),
            AS_NUMBER("docs_per_second", result_rate(counts->loaded, pass->phases[DRILL_LOAD].took_ns), 0),
            AS_COUNT("threads", load->threads), AS_COUNT("batch", load->batch),
            AS_COUNT("batches", load->batches), AS_COUNT("retries", load->retries),
            AS_SECONDS("client_cpu_seconds", load->cpu_ns), AS_FLAG("clustered", load->clustered),
            AS_TEXT("limited_by", load->limited_by),
            AS_LIST("indexes", load->index_count, results_put_index, load->indexes));
}

static void put_pass(bson_t *to, const void *passes, size_t at) {
    const drill_pass_t *pass = (const drill_pass_t *)passes + at;
    const bool began = has_begun(pass);
    const double took = seconds_of(began, pass->took_ns);
    result_put(
        to, AS_FLAG("finished", pass->finished), AS_NUMBER("seconds", took, 6),
        AS_NUMBER("verified_seconds", seconds_of(pass->finished, pass->verified_ns), 6),
        AS_INNER("predicted", put_forecast, &pass->predicted, 0),
        AS_INNER("predicted_verified", put_forecast, &pass->verified, 0),
        AS_NUMBER("error_percent", pass->finished ? forecast_error_percent(&pass->predicted, took) : NAN, 1),
        AS_LIST("phases", DRILL_PHASES, put_span, pass->phases), AS_INNER("load", put_load, pass, 0),
        AS_COUNT("verified", pass->documents), AS_COUNT("differences", pass->wrong),
        AS_TEXT("difference", pass->difference[0] ? pass->difference : NULL),
        AS_NUMBER("query_seconds", began ? pass->answer.seconds : NAN, 6),
        AS_COUNT("query_returned", pass->answer.returned));
}

static void put_seconds(bson_t *to, const void *seconds, size_t at) {
    (void)at;
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++)
        if (!isnan(((const double *)seconds)[i]))
            result_put(to, AS_NUMBER(drill_phase_name(i), ((const double *)seconds)[i], 6));
}

static void put_sample(bson_t *to, const void *samples, size_t at) {
    const drill_sample_t *sample = (const drill_sample_t *)samples + at;
    result_put(to, AS_COUNT("asked", sample->asked), AS_COUNT("read", sample->read),
               AS_COUNT("documents", sample->documents), AS_COUNT("bytes", sample->bytes),
               AS_INNER("seconds", put_seconds, sample->seconds, 0),
               AS_NUMBER("-load_seconds", sample->seconds[DRILL_LOAD], 6),
               AS_NUMBER("-index_seconds", sample->seconds[DRILL_INDEXES], 6),
               AS_NUMBER("-verify_seconds", sample->seconds[DRILL_VERIFY], 6),
               AS_NUMBER("-query_seconds", sample->seconds[DRILL_QUERY], 6));
}

/* ---- the phases, in the order in which they came ---- */

static bool comes_before(const drill_span_t *one, const drill_span_t *other) {
    return one->came && (!other->came || one->began_ns < other->began_ns);
}

static size_t order_phases(const drill_result_t *drill, drill_phase_t order[DRILL_PHASES]) {
    const drill_pass_t *pass = &drill->pass;
    size_t count = 0;
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++) {
        const drill_span_t *span = &pass->phases[i];
        if ((!span->came && isnan(span->predicted.mid)) || (i == DRILL_PLACE && !drill->cluster))
            continue;
        size_t at = count++;
        for (; at && comes_before(span, &pass->phases[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return count;
}

typedef struct {
    const char *name;
    const forecast_t *predicted;
    double began, took, share;
} row_t;

static void put_row(bson_t *to, const void *rows, size_t at) {
    const row_t *row = (const row_t *)rows + at;
    result_put(to, AS_TEXT("phase", row->name), AS_INNER("predicted", put_forecast, row->predicted, 0),
               AS_NUMBER("began_seconds", row->began, 6), AS_NUMBER("seconds", row->took, 6),
               AS_NUMBER("error_percent", forecast_error_percent(row->predicted, row->took), 1),
               AS_NUMBER("-share_percent", row->share, 0));
}

static void put_rows(bson_t *to, const drill_result_t *drill) {
    static const forecast_t none = {NAN, NAN, NAN};
    const drill_pass_t *pass = &drill->pass;
    drill_phase_t order[DRILL_PHASES];
    row_t rows[DRILL_PHASES + 1];
    const size_t count = order_phases(drill, order);
    const double whole = seconds_of(has_begun(pass), pass->took_ns);
    for (size_t i = 0; i < count; i++) {
        const drill_span_t *span = &pass->phases[order[i]];
        const double took = seconds_of(span->came, span->took_ns);
        rows[i] = (row_t){drill_phase_name(order[i]), &span->predicted,
                          seconds_of(span->came, span->began_ns), took, 100 * took / whole};
    }
    rows[count] = (row_t){"whole", has_begun(pass) && !pass->finished ? &none : &pass->predicted, NAN, whole,
                          100 * whole / whole};
    result_put(to, AS_LIST("-phases", count + 1, put_row, rows));
}

static void put_figures(bson_t *to, const drill_spec_t *spec, const drill_result_t *drill, double within) {
    const drill_pass_t *pass = &drill->pass;
    const bool indexes = pass->load.index_count > 0;
    const int64_t part = pass->phases[indexes ? DRILL_INDEXES : DRILL_LOAD].took_ns;
    char name[1400];
    double needed;
    const bool is_within = drill_is_within(drill, within, &needed);
    result_put(to,
               AS_TEXT("mode", spec->scale          ? "scale"
                               : spec->predict_only ? "predict"
                               : drill->scratch     ? "scratch"
                                                    : "real"),
               AS_TEXT("namespace", drill->namespace), AS_TEXT("collection", drill->collection),
               AS_TEXT("target", drill->where), AS_TEXT("server", drill->version),
               AS_TEXT("version", TIPPLE_VERSION), AS_TEXT("format", drill->format),
               AS_TEXT("query", first_query_name(&drill->query, name)),
               AS_NUMBER("documents", drill->all_documents, 0), AS_FLAG("documents_exact", drill->exact),
               AS_SECONDS("seconds", drill->took_ns),
               AS_LIST("samples", drill->sample_count, put_sample, drill->samples),
               AS_LIST("drills", drill->drilled || drill->sample_count, put_pass, pass),
               AS_NUMBER("within_seconds", within > 0 ? within : NAN, 3),
               AS_FLAG_IF("is_within", within > 0 && !isnan(needed), is_within));
    result_put(to, AS_NUMBER("-needed_seconds", needed, 6),
               AS_NUMBER("-later_seconds", seconds_of(pass->finished, pass->took_ns - pass->verified_ns), 6),
               AS_NUMBER("-part_percent",
                         pass->verified_ns ? 100 * (double)part / (double)pass->verified_ns : NAN, 0),
               AS_TEXT("-about", drill->exact ? "" : "about "));
    put_rows(to, drill);
}

/* ---- views ---- */

static void add_phases(result_t *result) {
    result_table(result, SHOW_USUAL, "-phases", "Phases", "What samples had predicted has its 95 % interval.",
                 RESULT_COLUMNS(COLUMN("phase", "phase"), COLUMN("predicted.-words", "predicted"),
                                COLUMN("began_seconds", "began", .wide = true), COLUMN("seconds", "measured"),
                                COLUMN("error_percent", "error"),
                                COLUMN("-share_percent", "share %", .most = 100)));
}

static void add_loaded(result_t *result, const drill_pass_t *pass) {
    const load_result_t *load = &pass->load;
    if (!pass->phases[DRILL_LOAD].came)
        return;
    result_line(result, SHOW_USUAL,
                "loaded {drills.0.load.loaded|document}, {drills.0.load.bytes_bson} of BSON, "
                "{drills.0.load.docs_per_second}, {drills.0.load.threads|thread}, batches of "
                "{drills.0.load.batch}");
    result_line(result, SHOW_USUAL, "limited by: {drills.0.load.limited_by}");
    results_add_indexes(result, "drills.0.load.indexes");
    if (load->counts.rejected)
        result_line(result, SHOW_USUAL | SHOW_CARE,
                    "{drills.0.load.rejected|record was|records were} rejected");
    if (!isnan(pass->answer.seconds))
        result_line(result, SHOW_USUAL,
                    "the first query took {drills.0.query_seconds} itself; "
                    "{drills.0.query_returned|document} came back");
}

static const char *sentence(const drill_result_t *drill) {
    const drill_pass_t *pass = &drill->pass;
    if (pass->finished && pass->difference[0])
        return "loaded and verified in {drills.0.verified_seconds}, but {drills.0.difference}";
    if (pass->finished)
        return pass->load.index_count
                   ? "from nothing to verified in {drills.0.verified_seconds}; indexes were "
                     "{-part_percent}; {query} was answered {-later_seconds} later"
                   : "from nothing to verified in {drills.0.verified_seconds}; the load was "
                     "{-part_percent}; {query} was answered {-later_seconds} later";
    return isnan(pass->verified.mid)
               ? "nothing was drilled"
               : "predicted: from nothing to verified in {drills.0.predicted_verified.-words}, for "
                 "{-about}{documents|document}";
}

static void add_within(result_t *result, const drill_result_t *drill, double within) {
    double needed;
    const bool is = drill_is_within(drill, within, &needed);
    if (within > 0 && !isnan(needed))
        result_line(result, SHOW_USUAL,
                    drill->pass.finished ? is ? "within {within_seconds}: yes ({-needed_seconds})"
                                              : "within {within_seconds}: no ({-needed_seconds})"
                    : is                 ? "within {within_seconds}: yes (predicted: up to {-needed_seconds})"
                         : "within {within_seconds}: no (predicted: up to {-needed_seconds})");
}

static void add_figures(result_t *result, const drill_result_t *drill) {
    result_figures(result, SHOW_PAGE, "Result", NULL,
                   RESULT_COLUMNS(COLUMN("drills.0.verified_seconds", "from nothing to verified"),
                                  COLUMN("drills.0.predicted_verified.-words", "predicted"),
                                  COLUMN("documents", !drill->exact    ? "documents in the files, about"
                                                      : drill->drilled ? "documents in the files"
                                                                       : "documents predicted for"),
                                  COLUMN("drills.0.load.loaded", "documents loaded"),
                                  COLUMN("drills.0.load.docs_per_second", "documents a second"),
                                  COLUMN("drills.0.verified", "documents verified"),
                                  COLUMN("drills.0.differences", "documents that are wrong"),
                                  COLUMN("collection", "collection"), COLUMN("server", "server"),
                                  COLUMN("query", "first query")));
    result_table(result, SHOW_PAGE, "samples", "Samples",
                 "The first records of the files, loaded and all that follows; from "
                 "these it was predicted.",
                 RESULT_COLUMNS(COLUMN("read", "records"), COLUMN("documents", "documents"),
                                COLUMN("-load_seconds", "load"), COLUMN("-index_seconds", "index build"),
                                COLUMN("-verify_seconds", "verify"),
                                COLUMN("-query_seconds", "first query")));
}

/* ---- the history ---- */

static bool is_of_a_kind(const bson_t *one, const bson_t *other) {
    static const char *const same[] = {"namespace", "mode", "format"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (strcmp(bson_read_text(one, same[i]), bson_read_text(other, same[i])) != 0)
            return false;
    return true;
}

/* The last one of the same collection; empty: there is none. */
static void read_history(FILE *file, const bson_t *document, bson_t *earlier) {
    char *line = NULL;
    size_t room = 0;
    bson_init(earlier);
    rewind(file);
    for (ssize_t length; (length = getline(&line, &room, file)) > 0;) {
        bson_t drill;
        if (!bson_init_from_json(&drill, line, length, NULL))
            continue;
        if (is_of_a_kind(&drill, document)) {
            bson_destroy(earlier);
            bson_copy_to(&drill, earlier);
        }
        bson_destroy(&drill);
    }
    free(line);
}

static bool write_history(FILE *file, const result_t *result) {
    bson_t whole = BSON_INITIALIZER;
    BSON_APPEND_DATE_TIME(&whole, "when", clock_wall_ms());
    result_copy(&whole, result);
    char *json = ejson_print(&whole, true, NULL);
    const bool ok =
        json && fseek(file, 0, SEEK_END) == 0 && fprintf(file, "%s\n", json) > 0 && fflush(file) == 0;
    free(json);
    bson_destroy(&whole);
    return ok;
}

static void add_change(result_t *result, const bson_t *earlier) {
    static const char rate[] = "drills.0.load.docs_per_second", verified[] = "drills.0.verified_seconds";
    const double before = bson_read_number(earlier, rate), took = bson_read_number(earlier, verified);
    const time_t when = (time_t)(bson_read_number(earlier, "when") / 1000);
    char day[32] = "";
    struct tm local;
    if (isnan(before) || isnan(took))
        return;
    if (localtime_r(&when, &local))
        strftime(day, sizeof day, "%Y-%m-%d %H:%M", &local);
    result_put(
        &result->document, AS_TEXT("-then", day), AS_NUMBER("-then_docs_per_second", before, 0),
        AS_NUMBER("-then_seconds", took, 6),
        AS_FIGURE("-rate_change_percent", (bson_read_number(&result->document, rate) / before - 1) * 100),
        AS_FIGURE("-time_change_percent", (bson_read_number(&result->document, verified) / took - 1) * 100));
    result_line(result, SHOW_USUAL,
                "the drill of {-then}: {-then_docs_per_second}, verified in {-then_seconds}; now "
                "{-rate_change_percent} docs/s, {-time_change_percent} time");
}

/* The drill itself has succeeded: if it cannot be recorded, this is only a warning. */
static void add_history(result_t *result, FILE *history) {
    bson_t earlier;
    read_history(history, &result->document, &earlier);
    add_change(result, &earlier);
    if (!write_history(history, result))
        log_warn("this drill is not in the history: %s", strerror(errno));
    bson_destroy(&earlier);
}

result_t *results_drill(const drill_spec_t *spec, const drill_result_t *drill, double within, FILE *history,
                        int status, const err_t *err) {
    const drill_pass_t *pass = &drill->pass;
    const bool ended = pass->finished || status == STATUS_MISSED;
    result_t *result = result_new("drill");
    put_figures(&result->document, spec, drill, within);
    result_answer(result, "How long does a reload take?", ended ? STATUS_OK : status, err, sentence(drill),
                  "");
    result->status = status;
    result_line(result, SHOW_NORMAL,
                isnan(drill->all_documents)
                    ? "{collection} at {target}, MongoDB {server}"
                    : "{collection} at {target}, MongoDB {server}   {-about}{documents|document}");
    if (drill->scratch)
        result_line(result, SHOW_USUAL, "scratch: the target is not touched");
    if (drill->drilled || drill->sample_count)
        add_phases(result);
    add_loaded(result, pass);
    if (spec->scale || spec->predict_only)
        result_line(result, SHOW_USUAL,
                    "a sample does not see what hours bring: a cache that fills up, long checkpoints, "
                    "members that fall behind");
    if (pass->finished || !drill->drilled)
        result_line(result, SHOW_QUIET, sentence(drill));
    add_within(result, drill, within);
    if (history && pass->finished)
        add_history(result, history);
    add_figures(result, drill);
    if (pass->phases[DRILL_LOAD].came)
        results_add_course(result, &pass->load.course, &pass->load.flushes);
    return result;
}
