#include "cli/print/drill_print.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "cli/options/cli.h"
#include "cli/options/shell_quote.h"
#include "cli/print/grid.h"
#include "cli/print/load_figures.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the line to paste ---- */

char *drill_load_line(const drill_result_t *result) {
    const load_spec_t *load = &result->load;
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

/* ---- for a person ---- */

static void put_forecast(char cell[GRID_CELL], const forecast_t *forecast) {
    if (!isnan(forecast->mid))
        forecast_spell(cell, forecast);
}

static void put_measured(char (*row)[GRID_CELL], const forecast_t *forecast, int64_t took_ns,
                         int64_t all_ns) {
    char took[UNITS_MAX];
    const double error = forecast_error_percent(forecast, (double)took_ns / 1e9);
    GRID_PUT(row, 2, "%s", units_time(took, took_ns));
    if (!isnan(error))
        GRID_PUT(row, 3, "%+.0f%%", error);
    GRID_PUT(row, 4, "%.0f%%", 100 * (double)took_ns / (double)(all_ns ? all_ns : 1));
}

bool drill_has_begun(const drill_pass_t *pass) {
    return pass->reached != DRILL_PHASES;
}

static bool comes_before(const drill_span_t *one, const drill_span_t *other) {
    return one->came && (!other->came || one->began_ns < other->began_ns);
}

size_t drill_phases_told(const drill_result_t *result, drill_phase_t order[DRILL_PHASES]) {
    const drill_pass_t *pass = &result->pass;
    size_t count = 0;
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++) {
        const drill_span_t *span = &pass->phases[i];
        if ((!span->came && isnan(span->predicted.mid)) || (i == DRILL_PLACE && !result->cluster))
            continue;
        size_t at = count++;
        for (; at && comes_before(span, &pass->phases[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return count;
}

static void print_phases(const drill_result_t *result) {
    const drill_pass_t *pass = &result->pass;
    drill_phase_t order[DRILL_PHASES];
    const size_t count = drill_phases_told(result, order);
    grid_t grid = {.columns = 5, .left = {[0] = true}};
    char(*row)[GRID_CELL] = grid_row(&grid);
    GRID_PUT(row, 0, "phase");
    if (!isnan(pass->predicted.mid))
        GRID_PUT(row, 1, "predicted");
    if (result->drilled) {
        GRID_PUT(row, 2, "measured");
        if (!isnan(pass->predicted.mid))
            GRID_PUT(row, 3, "error");
        GRID_PUT(row, 4, "share");
    }
    for (size_t i = 0; i < count; i++) {
        const drill_span_t *span = &pass->phases[order[i]];
        row = grid_row(&grid);
        GRID_PUT(row, 0, "%s", drill_phase_name(order[i]));
        put_forecast(row[1], &span->predicted);
        if (span->came)
            put_measured(row, &span->predicted, span->took_ns, pass->took_ns);
    }
    row = grid_row(&grid);
    GRID_PUT(row, 0, "whole");
    put_forecast(row[1], &pass->predicted);
    if (pass->reached != DRILL_PHASES)
        put_measured(row, pass->finished ? &pass->predicted : &(forecast_t){NAN, NAN, NAN}, pass->took_ns,
                     pass->took_ns);
    grid_print(&grid);
}

static void print_loaded(const drill_pass_t *pass, const bson_t *document) {
    const load_result_t *load = &pass->load;
    char documents[UNITS_MAX], bytes[UNITS_MAX], rate[UNITS_MAX], answered[UNITS_MAX];
    if (!pass->phases[DRILL_LOAD].came)
        return;
    out_print("loaded %s document%s, %s of BSON, %s docs/s, %u thread%s, batches of %u   limited by: %s\n",
              units_count(documents, load->counts.loaded), units_s(load->counts.loaded),
              units_size(bytes, load->bytes_bson),
              units_rate(rate, bson_read_number(document, "load.docs_per_second")), load->threads,
              units_s(load->threads), load->batch, load->limited_by);
    for (size_t i = 0; i < load->index_count; i++)
        out_print("index %s built in %s\n", load->indexes[i].keys,
                  units_time(answered, load->indexes[i].took_ns));
    if (load->counts.rejected)
        out_print("%s record%s rejected\n", units_count(documents, load->counts.rejected),
                  load->counts.rejected == 1 ? " was" : "s were");
    if (!isnan(pass->answer.seconds))
        out_print("the first query took %s itself; %s document%s came back\n",
                  units_seconds(answered, pass->answer.seconds),
                  units_count(documents, pass->answer.returned), units_s(pass->answer.returned));
}

double drill_share(const drill_pass_t *pass, const char **what) {
    const bool indexes = pass->load.index_count > 0;
    const int64_t part = pass->phases[indexes ? DRILL_INDEXES : DRILL_LOAD].took_ns;
    *what = indexes ? "indexes were" : "the load was";
    return 100 * (double)part / (double)(pass->verified_ns ? pass->verified_ns : 1);
}

static void print_sentence(const drill_result_t *result) {
    const drill_pass_t *pass = &result->pass;
    char took[UNITS_MAX], later[UNITS_MAX], name[1400];
    const char *what;
    const double share = drill_share(pass, &what);
    if (pass->difference[0]) {
        out_print("loaded and verified in %s, but %s\n", units_time(took, pass->verified_ns),
                  pass->difference);
        return;
    }
    out_print("from nothing to verified in %s; %s %.0f %%; %s was answered %s later\n",
              units_time(took, pass->verified_ns), what, share, first_query_name(&result->query, name),
              units_time(later, pass->took_ns - pass->verified_ns));
}

static void print_predicted(const drill_result_t *result) {
    char cell[GRID_CELL] = "", documents[UNITS_MAX];
    put_forecast(cell, &result->pass.verified);
    out_print("predicted: from nothing to verified in %s, for %s document%s\n", cell,
              units_about(documents, result->all_documents, result->exact),
              units_s((uint64_t)result->all_documents));
}

static void print_within(const drill_result_t *result, double within) {
    double seconds;
    char wanted[UNITS_MAX], needed[UNITS_MAX];
    const bool is = drill_is_within(result, within, &seconds);
    if (within > 0 && !isnan(seconds))
        out_print("within %s: %s (%s%s)\n", units_seconds(wanted, within), is ? "yes" : "no",
                  result->pass.finished ? "" : "predicted: up to ", units_seconds(needed, seconds));
}

void drill_print_table(const drill_spec_t *spec, const drill_result_t *result, const bson_t *document,
                       double within) {
    char documents[UNITS_MAX];
    bson_t drill;
    out_print("%s at %s, MongoDB %s", result->collection, result->where, result->version);
    if (!isnan(result->all_documents))
        out_print("   %s document%s", units_about(documents, result->all_documents, result->exact),
                  units_s((uint64_t)result->all_documents));
    out_print("%s\n\n", result->scratch ? "   scratch: the target is not touched" : "");
    print_phases(result);
    if (result_item(document, "drills", 0, &drill))
        print_loaded(&result->pass, &drill);
    out_print("\n");
    if (spec->scale || spec->predict_only)
        out_print(
            "a sample does not see what hours bring: a cache that fills up, long checkpoints, members that "
            "fall behind\n");
    if (result->pass.finished)
        print_sentence(result);
    else if (!result->drilled)
        print_predicted(result);
    print_within(result, within);
}

/* ---- the history ---- */

static bool is_of_a_kind(const bson_t *one, const bson_t *other) {
    static const char *const same[] = {"namespace", "mode", "format"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (strcmp(bson_read_text(one, same[i]), bson_read_text(other, same[i])) != 0)
            return false;
    return true;
}

void drill_read_history(FILE *file, const bson_t *document, bson_t *earlier) {
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

bool drill_write_history(FILE *file, const bson_t *document) {
    bson_t whole = BSON_INITIALIZER;
    BSON_APPEND_DATE_TIME(&whole, "when", clock_wall_ms());
    char *json = bson_concat(&whole, document) ? ejson_print(&whole, true, NULL) : NULL;
    const bool ok =
        json && fseek(file, 0, SEEK_END) == 0 && fprintf(file, "%s\n", json) > 0 && fflush(file) == 0;
    free(json);
    bson_destroy(&whole);
    return ok;
}

void drill_print_change(const bson_t *earlier, const bson_t *document) {
    const char *const rate = "drills.0.load.docs_per_second", *const verified = "drills.0.verified_seconds";
    const double before = bson_read_number(earlier, rate), took = bson_read_number(earlier, verified);
    const time_t when = (time_t)(bson_read_number(earlier, "when") / 1000);
    char day[32] = "", rate_text[UNITS_MAX], took_text[UNITS_MAX];
    struct tm local;
    if (isnan(before) || isnan(took))
        return;
    if (localtime_r(&when, &local))
        strftime(day, sizeof day, "%Y-%m-%d %H:%M", &local);
    out_print("the drill of %s: %s docs/s, verified in %s; now %+.0f%% docs/s, %+.0f%% time\n", day,
              units_rate(rate_text, before), units_seconds(took_text, took),
              (bson_read_number(document, rate) / before - 1) * 100,
              (bson_read_number(document, verified) / took - 1) * 100);
}

/* ---- for programs ---- */

static void put_forecast_of(bson_t *to, const void *forecasts, size_t at) {
    const forecast_t *forecast = (const forecast_t *)forecasts + at;
    if (!isnan(forecast->mid))
        result_put(to, AS_NUMBER("seconds", forecast->mid, 6), AS_NUMBER("low", forecast->low, 6),
                   AS_NUMBER("high", forecast->high, 6));
}

static void put_span(bson_t *to, const void *spans, size_t at) {
    const drill_span_t *span = (const drill_span_t *)spans + at;
    const double took = span->came ? (double)span->took_ns / 1e9 : NAN;
    if (!span->came && isnan(span->predicted.mid))
        return;
    result_put(to, AS_TEXT("phase", drill_phase_name((drill_phase_t)at)),
               AS_NUMBER("began_seconds", span->came ? (double)span->began_ns / 1e9 : NAN, 6),
               AS_NUMBER("seconds", took, 6), AS_INNER("predicted", put_forecast_of, &span->predicted, 0),
               AS_NUMBER("error_percent", forecast_error_percent(&span->predicted, took), 1));
}

static void put_load(bson_t *to, const void *of, size_t at) {
    const drill_pass_t *pass = (const drill_pass_t *)of + at;
    const load_result_t *load = &pass->load;
    const counts_t *counts = &load->counts;
    if (drill_has_begun(pass))
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
            AS_LIST("indexes", load->index_count, load_put_index, load->indexes));
}

static void put_pass(bson_t *to, const void *passes, size_t at) {
    const drill_pass_t *pass = (const drill_pass_t *)passes + at;
    const bool began = drill_has_begun(pass);
    const double took = began ? (double)pass->took_ns / 1e9 : NAN,
                 verified = pass->finished ? (double)pass->verified_ns / 1e9 : NAN;
    result_put(
        to, AS_FLAG("finished", pass->finished), AS_NUMBER("seconds", took, 6),
        AS_NUMBER("verified_seconds", verified, 6),
        AS_INNER("predicted", put_forecast_of, &pass->predicted, 0),
        AS_INNER("predicted_verified", put_forecast_of, &pass->verified, 0),
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
               AS_INNER("seconds", put_seconds, sample->seconds, 0));
}

void drill_make_result(bson_t *to, const drill_spec_t *spec, const drill_result_t *result, double within) {
    char name[1400];
    double seconds;
    const bool is_within = drill_is_within(result, within, &seconds);
    result_put(to,
               AS_TEXT("mode", spec->scale          ? "scale"
                               : spec->predict_only ? "predict"
                               : result->scratch    ? "scratch"
                                                    : "real"),
               AS_TEXT("namespace", result->namespace), AS_TEXT("collection", result->collection),
               AS_TEXT("target", result->where), AS_TEXT("server", result->version),
               AS_TEXT("version", TIPPLE_VERSION), AS_TEXT("format", result->format),
               AS_TEXT("query", first_query_name(&result->query, name)),
               AS_NUMBER("documents", result->all_documents, 0), AS_FLAG("documents_exact", result->exact),
               AS_SECONDS("seconds", result->took_ns),
               AS_LIST("samples", result->sample_count, put_sample, result->samples),
               AS_LIST("drills", result->drilled || result->sample_count, put_pass, &result->pass),
               AS_NUMBER("within_seconds", within > 0 ? within : NAN, 3),
               AS_FLAG_IF("is_within", within > 0 && !isnan(seconds), is_within));
}
