#include "cli/print/drill_print.h"
#include "base/out.h"
#include "base/numbers/units.h"
#include "cli/options/cli.h"
#include "cli/print/drill_history.h"
#include "cli/print/grid.h"
#include "cli/options/shell_quote.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the line to paste ---- */

char *drill_load_line(const drill_result_t *result) {
    const load_spec_t *load = &result->load;
    text_t line = {.length = 0};
    text_append(&line, "tipple load");
    shell_quote_option(&line, "--format", load->format);
    shell_quote_uri(&line, load->uri, 0, NULL, NULL);
    if (load->clustered != CLUSTERED_DEFAULT)
        shell_quote_word(&line, load->clustered == CLUSTERED_YES ? "--clustered" : "--no-clustered");
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
    char mid[UNITS_MAX], low[UNITS_MAX], high[UNITS_MAX];
    if (isnan(forecast->mid))
        return;
    if (isnan(forecast->low))
        snprintf(cell, GRID_CELL, "%s", units_seconds(mid, forecast->mid));
    else
        snprintf(cell, GRID_CELL, "%s (%s to %s)", units_seconds(mid, forecast->mid),
                 units_seconds(low, forecast->low), units_seconds(high, forecast->high));
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

static bool is_shown(const drill_result_t *result, const drill_span_t *span, drill_phase_t phase) {
    return (span->came || !isnan(span->predicted.mid)) && (phase != DRILL_PLACE || result->cluster);
}

/* As they came; those that did not at the end. */
static size_t order_phases(const drill_pass_t *pass, drill_phase_t order[DRILL_PHASES]) {
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++) {
        size_t at = i;
        while (at && pass->phases[i].came && pass->phases[order[at - 1]].came &&
               pass->phases[order[at - 1]].began_ns > pass->phases[i].began_ns) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    return DRILL_PHASES;
}

static void print_pass(const drill_result_t *result, const drill_pass_t *pass) {
    drill_phase_t order[DRILL_PHASES];
    const size_t count = order_phases(pass, order);
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
        if (!is_shown(result, span, order[i]))
            continue;
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

static void print_loaded(const drill_pass_t *pass) {
    const load_result_t *load = &pass->load;
    char documents[UNITS_MAX], bytes[UNITS_MAX], rate[UNITS_MAX], answered[UNITS_MAX];
    const int64_t loading_ns = pass->phases[DRILL_LOAD].took_ns;
    if (!pass->phases[DRILL_LOAD].came)
        return;
    out_print("loaded %s documents, %s of BSON, %s docs/s, %u threads, batches of %u   limited by: %s\n",
              units_count(documents, load->counts.loaded), units_size(bytes, load->bytes_bson),
              units_rate(rate, (double)load->counts.loaded * 1e9 / (double)(loading_ns ? loading_ns : 1)),
              load->threads, load->batch, load->limited_by);
    for (size_t i = 0; i < load->index_count; i++)
        out_print("index %s built in %s\n", load->indexes[i].keys,
                  units_time(answered, load->indexes[i].took_ns));
    if (load->counts.rejected)
        out_print("%s records were rejected\n", units_count(documents, load->counts.rejected));
    if (!isnan(pass->answer.seconds))
        out_print("the first query took %s itself; %s document%s came back\n",
                  units_seconds(answered, pass->answer.seconds),
                  units_count(documents, pass->answer.returned), pass->answer.returned == 1 ? "" : "s");
}

static const char *way_of(const drill_result_t *result, const drill_pass_t *pass) {
    return result->pass_count < 2 ? "" : pass->indexes_first ? "indexes before: " : "indexes after: ";
}

/* What took the time: indexes where they are built by themselves, else the load. */
static void print_sentence(const drill_result_t *result, const drill_pass_t *pass) {
    char took[UNITS_MAX], later[UNITS_MAX], name[1400];
    const bool indexes = pass->load.index_count && !pass->indexes_first;
    const int64_t part = pass->phases[indexes ? DRILL_INDEXES : DRILL_LOAD].took_ns;
    if (pass->difference[0]) {
        out_print("%sloaded and looked at in %s, but %s\n", way_of(result, pass),
                  units_time(took, pass->verified_ns), pass->difference);
        return;
    }
    out_print("%sfrom nothing to verified in %s; %s %.0f %%; %s was answered %s later\n",
              way_of(result, pass), units_time(took, pass->verified_ns),
              indexes ? "indexes were" : "the load was",
              100 * (double)part / (double)(pass->verified_ns ? pass->verified_ns : 1),
              first_query_name(&result->query, name), units_time(later, pass->took_ns - pass->verified_ns));
}

static void print_predicted(const drill_result_t *result, const drill_pass_t *pass) {
    char cell[GRID_CELL] = "", documents[UNITS_MAX];
    put_forecast(cell, &pass->verified);
    out_print("%spredicted: from nothing to verified in %s, for %s documents%s\n", way_of(result, pass), cell,
              units_count(documents, (uint64_t)result->all_documents),
              result->exact ? "" : " (as far as can be told)");
}

static void print_quicker(const drill_result_t *result) {
    const drill_pass_t *quick = drill_quicker(result);
    if (!quick || quick->difference[0])
        return;
    const drill_pass_t *slow = quick == &result->passes[0] ? &result->passes[1] : &result->passes[0];
    const bool measured = quick->finished && slow->finished;
    const double times = measured ? (double)slow->verified_ns / (double)quick->verified_ns
                                  : slow->verified.mid / quick->verified.mid;
    if (!isnan(times) && !slow->difference[0])
        out_print("indexes %s the load: %s, the other way takes %.2f times as long\n",
                  quick->indexes_first ? "before" : "after",
                  measured ? "quicker" : "quicker, it is predicted", times);
}

/* Beside the last drill of its kind. */
static void print_change(const drill_result_t *result, const drill_pass_t *pass) {
    const drills_entry_t *earlier = &pass->earlier;
    const double rate =
        (double)pass->load.counts.loaded * 1e9 / (double)(pass->phases[DRILL_LOAD].took_ns + 1);
    char day[32], before[UNITS_MAX], verified[UNITS_MAX];
    if (!pass->compared)
        return;
    out_print("%sthe drill of %s: %s docs/s, verified in %s; now %+.0f%% docs/s, %+.0f%% time\n",
              way_of(result, pass), drill_history_day(day, earlier->when_ms),
              units_rate(before, drills_rate(earlier)), units_seconds(verified, earlier->verified),
              (rate / drills_rate(earlier) - 1) * 100,
              ((double)pass->verified_ns / 1e9 / earlier->verified - 1) * 100);
}

void drill_print_table(const drill_spec_t *spec, const drill_result_t *result) {
    char documents[UNITS_MAX];
    out_print("%s at %s, MongoDB %s", result->collection, result->where, result->version);
    if (!isnan(result->all_documents))
        out_print("   %s documents", units_count(documents, (uint64_t)result->all_documents));
    out_print("%s\n", result->scratch ? "   scratch: the target is not touched" : "");
    for (size_t i = 0; i < result->pass_count; i++) {
        const drill_pass_t *pass = &result->passes[i];
        if (result->drilled && pass->reached == DRILL_PHASES)
            continue;
        out_print("\n%s%s",
                  result->pass_count < 2 ? ""
                  : pass->indexes_first  ? "indexes before the load"
                                         : "indexes after the load",
                  result->pass_count < 2 ? "" : "\n");
        print_pass(result, pass);
        print_loaded(pass);
    }
    out_print("\n");
    if (spec->scale || spec->predict_only)
        out_print(
            "a sample does not see what hours bring: a cache that fills up, long checkpoints, members that "
            "fall behind\n");
    for (size_t i = 0; i < result->pass_count; i++)
        print_change(result, &result->passes[i]);
    print_quicker(result);
    for (size_t i = 0; i < result->pass_count; i++) {
        const drill_pass_t *pass = &result->passes[i];
        if (pass->finished)
            print_sentence(result, pass);
        else if (!result->drilled)
            print_predicted(result, pass);
    }
}

/* ---- for programs ---- */

static void print_json_forecast(const char *name, const forecast_t *forecast) {
    out_print(",\"%s\":", name);
    if (isnan(forecast->mid)) {
        out_print("null");
        return;
    }
    out_print("{\"seconds\":%.6f", forecast->mid);
    cli_json_number("low", forecast->low, 6);
    cli_json_number("high", forecast->high, 6);
    out_print("}");
}

static void print_json_span(drill_phase_t phase, const drill_span_t *span, bool *first) {
    const double took = span->came ? (double)span->took_ns / 1e9 : NAN;
    if (!span->came && isnan(span->predicted.mid))
        return;
    out_print("%s{\"phase\":\"%s\"", *first ? "" : ",", drill_phase_name(phase));
    *first = false;
    cli_json_number("began_seconds", span->came ? (double)span->began_ns / 1e9 : NAN, 6);
    cli_json_number("seconds", took, 6);
    print_json_forecast("predicted", &span->predicted);
    cli_json_number("error_percent", span->came ? forecast_error_percent(&span->predicted, took) : NAN, 1);
    out_print("}");
}

static void print_json_load(const load_result_t *load, double seconds_loading) {
    const counts_t *counts = &load->counts;
    out_print(",\"load\":{\"read\":%" PRIu64 ",\"loaded\":%" PRIu64 ",\"already_there\":%" PRIu64
              ",\"rejected\":%" PRIu64 ",\"filtered\":%" PRIu64 ",\"bytes_read\":%" PRIu64
              ",\"bytes_bson\":%" PRIu64,
              counts->read, counts->loaded, counts->already_there, counts->rejected, counts->filtered,
              load->bytes_read, load->bytes_bson);
    cli_json_number("docs_per_second", (double)counts->loaded / seconds_loading, 0);
    out_print(",\"threads\":%u,\"batch\":%u,\"batches\":%" PRIu64 ",\"retries\":%" PRIu64
              ",\"client_cpu_seconds\":%.6f,\"clustered\":%s",
              load->threads, load->batch, load->batches, load->retries, (double)load->cpu_ns / 1e9,
              load->clustered ? "true" : "false");
    cli_json_text("limited_by", load->limited_by);
    out_print(",\"indexes\":[");
    for (size_t i = 0; i < load->index_count; i++) {
        out_print("%s{\"keys\":", i ? "," : "");
        out_json(load->indexes[i].keys);
        out_print(",\"seconds\":%.6f}", (double)load->indexes[i].took_ns / 1e9);
    }
    out_print("]}");
}

static void print_json_pass(const drill_pass_t *pass) {
    const bool began = pass->reached != DRILL_PHASES;
    bool first = true;
    out_print("{\"indexes\":\"%s\",\"finished\":%s", pass->indexes_first ? "before" : "after",
              pass->finished ? "true" : "false");
    cli_json_number("seconds", began ? (double)pass->took_ns / 1e9 : NAN, 6);
    cli_json_number("verified_seconds", pass->finished ? (double)pass->verified_ns / 1e9 : NAN, 6);
    print_json_forecast("predicted", &pass->predicted);
    print_json_forecast("predicted_verified", &pass->verified);
    cli_json_number(
        "error_percent",
        pass->finished ? forecast_error_percent(&pass->predicted, (double)pass->took_ns / 1e9) : NAN, 1);
    out_print(",\"phases\":[");
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++)
        print_json_span(i, &pass->phases[i], &first);
    out_print("]");
    if (began)
        print_json_load(&pass->load, (double)pass->phases[DRILL_LOAD].took_ns / 1e9);
    else
        out_print(",\"load\":null");
    out_print(",\"verified\":%" PRIu64 ",\"differences\":%" PRIu64 ",\"difference\":", pass->documents,
              pass->wrong);
    if (pass->difference[0])
        out_json(pass->difference);
    else
        out_print("null");
    cli_json_number("query_seconds", began ? pass->answer.seconds : NAN, 6);
    out_print(",\"query_returned\":%" PRIu64 ",\"earlier\":", pass->answer.returned);
    if (pass->compared)
        drill_history_print_json_entry(&pass->earlier);
    else
        out_print("null");
    out_print("}");
}

static void print_json_sample(const drill_sample_t *sample) {
    out_print("{\"indexes\":\"%s\",\"asked\":%" PRIu64 ",\"read\":%" PRIu64 ",\"documents\":%" PRIu64
              ",\"bytes\":%" PRIu64 ",\"seconds\":{",
              sample->indexes_first ? "before" : "after", sample->asked, sample->read, sample->documents,
              sample->bytes);
    bool first = true;
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++) {
        if (isnan(sample->seconds[i]))
            continue;
        out_print("%s\"%s\":%.6f", first ? "" : ",", drill_phase_name(i), sample->seconds[i]);
        first = false;
    }
    out_print("}}");
}

void drill_print_json(const drill_spec_t *spec, const drill_result_t *result, int status) {
    char name[1400];
    out_print("{\"schema\":1,\"command\":\"drill\",\"status\":%d", status);
    cli_json_text("mode", spec->scale          ? "scale"
                          : spec->predict_only ? "predict"
                          : result->scratch    ? "scratch"
                                               : "real");
    cli_json_text("namespace", result->namespace);
    cli_json_text("collection", result->collection);
    cli_json_text("target", result->where);
    cli_json_text("server", result->version);
    cli_json_text("version", TIPPLE_VERSION);
    cli_json_text("format", result->format);
    cli_json_text("indexes", drill_indexes_name(spec->indexes));
    cli_json_text("query", first_query_name(&result->query, name));
    cli_json_number("documents", result->all_documents, 0);
    out_print(",\"documents_exact\":%s", result->exact ? "true" : "false");
    cli_json_number("seconds", (double)result->took_ns / 1e9, 6);
    out_print(",\"samples\":[");
    for (size_t i = 0; i < result->sample_count; i++) {
        out_print("%s", i ? "," : "");
        print_json_sample(&result->samples[i]);
    }
    out_print("],\"drills\":[");
    for (size_t i = 0; i < result->pass_count; i++) {
        out_print("%s", i ? "," : "");
        print_json_pass(&result->passes[i]);
    }
    out_print("]}\n");
}
