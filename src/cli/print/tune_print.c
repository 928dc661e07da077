#include "cli/print/tune_print.h"
#include "base/numbers/units.h"
#include "base/out.h"
#include "cli/options/cli.h"
#include "cli/options/shell_quote.h"
#include "cli/print/grid.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the line to paste ---- */

/* Only what was told or found is said: what a load finds out by itself it will find out again. */
static char *load_line(const tune_spec_t *spec, const tune_result_t *result, size_t setting) {
    const matrix_setting_t *chosen = matrix_setting(result->matrix, setting);
    const choice_t *choice = &result->choices[chosen->choice];
    const load_spec_t *load = &spec->load;
    const clustered_t clustered = result->lists.clustered_count > 1 ? choice->clustered : load->clustered;
    const char *compressor = result->lists.compressor_count > 1 ? choice->compressor : load->compressor;
    char number[16];
    text_t line = {.length = 0};
    text_append(&line, "tipple load");
    shell_quote_option(&line, "--format", load->format);
    shell_quote_uri(&line, load->uri, choice->routers, choice->wire, choice_uri_concern(choice));
    snprintf(number, sizeof number, "%u", chosen->threads);
    shell_quote_option(&line, "--threads", number);
    snprintf(number, sizeof number, "%u", chosen->batch);
    shell_quote_option(&line, "--batch", number);
    if (clustered != CLUSTERED_DEFAULT)
        shell_quote_word(&line, clustered == CLUSTERED_YES ? "--clustered" : "--no-clustered");
    if (compressor)
        shell_quote_option(&line, "--compressor", compressor);
    if (choice_is_unsafe(choice))
        shell_quote_word(&line, "--unsafe");
    shell_quote_rest(&line, load, choice->direct);
    return text_take_or_end(&line);
}

/* ---- for a person ---- */

static double percent_of(const matrix_setting_t *setting) {
    return (setting->high - setting->mean) / setting->mean * 100;
}

typedef void print_setting_fn(const tune_result_t *result, size_t setting, char out[GRID_CELL]);

static void print_rate(const tune_result_t *result, size_t at, char out[GRID_CELL]) {
    const matrix_setting_t *setting = matrix_setting(result->matrix, at);
    const matrix_verdict_t *verdict = &result->verdict;
    const bool dropped = setting->state == MATRIX_DROPPED;
    char rate[UNITS_MAX], interval[32] = "";
    if (!setting->trials) {
        snprintf(out, GRID_CELL, "-");
        return;
    }
    if (!isnan(setting->high))
        snprintf(interval, sizeof interval, " ±%.0f%%", percent_of(setting));
    snprintf(out, GRID_CELL, "%s%s%s%s%s%s", at == verdict->best ? "best " : "",
             at == verdict->cheapest ? "cheapest " : "", dropped ? "(" : "", units_rate(rate, setting->mean),
             interval, dropped ? ")" : "");
}

static void print_limit(const tune_result_t *result, size_t at, char out[GRID_CELL]) {
    snprintf(out, GRID_CELL, "%s",
             result->figures[at].trials ? tune_limit_name(tune_limit(result, at)) : "-");
}

/* Threads down, batches across, the settings of one choice. */
static void print_matrix(const tune_result_t *result, uint32_t choice, const char *title,
                         print_setting_fn *print) {
    const choice_lists_t *lists = &result->lists;
    const size_t batches = lists->batch_count < GRID_COLUMNS - 1 ? lists->batch_count : GRID_COLUMNS - 1;
    grid_t grid = {.columns = batches + 1};
    char(*row)[GRID_CELL] = grid_row(&grid);
    GRID_PUT(row, 0, "%s", title);
    for (size_t i = 0; i < batches; i++)
        GRID_PUT(row, i + 1, "batch %u", lists->batches[i]);
    for (size_t i = 0; i < lists->thread_count; i++) {
        row = grid_row(&grid);
        GRID_PUT(row, 0, "%u thread%s", lists->threads[i], lists->threads[i] == 1 ? "" : "s");
        for (size_t j = 0; j < batches; j++)
            print(result, (choice * lists->thread_count + i) * lists->batch_count + j, row[j + 1]);
    }
    grid_print(&grid);
}

/* What held it back, and what that is told by. */
static void print_limits(const tune_result_t *result, size_t at, const bson_t *figures) {
    const struct {
        double value, of;
        const char *format;
    } parts[] = {
        {result->cluster ? NAN : bson_read_number(figures, "server_cores"), result->server_cpus,
         "server: %.1f of %.0f CPUs"},
        {bson_read_number(figures, "host_busy") * 100, 0, "this host: %.0f%% of its CPUs"},
        {bson_read_number(figures, "network") * 100, 0, "its fullest network link: %.0f%%"},
    };
    const char *before = " (";
    out_print("      limited by: %s", tune_limit_name(tune_limit(result, at)));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (isnan(parts[i].value))
            continue;
        out_print("%s", before);
        out_print(parts[i].format, parts[i].value, parts[i].of);
        before = "; ";
    }
    out_print("%s\n", *before == ';' ? ")" : "");
}

static void print_figures(const tune_result_t *result, const char *word, size_t at, const bson_t *document) {
    const matrix_setting_t *setting = matrix_setting(result->matrix, at);
    char rate[UNITS_MAX], low[UNITS_MAX], high[UNITS_MAX], name[CHOICE_NAME];
    bson_t figures;
    if (!bson_read_field(document, word, &figures))
        return;
    choice_name(&result->lists, &result->choices[setting->choice], name);
    out_print(
        "%s: %u thread%s x batch %u%s%s   %s docs/s (%s to %s), %u trial%s   client CPU %.2f us a doc\n",
        word, setting->threads, units_s(setting->threads), setting->batch, *name ? ", " : "", name,
        units_rate(rate, setting->mean), units_rate(low, setting->low), units_rate(high, setting->high),
        setting->trials, units_s(setting->trials), bson_read_number(&figures, "client_cpu_us_per_doc"));
    print_limits(result, at, &figures);
    if (result->figures[at].retries)
        out_print("      %" PRIu64
                  " batch%s sent again: servers were away for a moment, so think little of it\n",
                  result->figures[at].retries, result->figures[at].retries == 1 ? " was" : "es were");
}

static void print_verdict(const tune_result_t *result, const bson_t *document) {
    const matrix_verdict_t *verdict = &result->verdict;
    const matrix_share_t share = matrix_share(result->matrix, verdict->cheapest);
    const choice_t *choice = &result->choices[matrix_setting(result->matrix, verdict->cheapest)->choice];
    print_figures(result, "best", verdict->best, document);
    if (verdict->cheapest == verdict->best) {
        out_print("cheapest: the same: nothing cheaper is within %.0f%% of it\n", TUNE_NEARLY * 100);
    } else {
        print_figures(result, "cheapest", verdict->cheapest, document);
        out_print("      %.0f%% of the best's docs/s (%.0f%% to %.0f%%)\n", share.times * 100,
                  share.low * 100, share.high * 100);
    }
    out_print(
        "load with the cheapest: of all settings that may be within %.0f%% of the best, it has the fewest "
        "threads, then the smallest batch, and so takes least from others\n",
        TUNE_NEARLY * 100);
    if (result->verdict.budget_spent)
        out_print(
            "the budget ended before all intervals were narrow enough; a higher --budget narrows them\n");
    out_print("\n%s\n", bson_read_text(document, "load"));
    if (choice_is_unsafe(choice))
        out_print(
            "(--unsafe, and w=%s in the URI: documents that are counted as loaded can be lost when a server "
            "dies)\n",
            choice->concern);
}

void tune_print_table(const tune_result_t *result, const bson_t *document) {
    const matrix_verdict_t *verdict = &result->verdict;
    char records[UNITS_MAX], took[UNITS_MAX], name[CHOICE_NAME];
    out_print("%s at %s   %s record%s a trial   %u trial%s in %s\n", result->namespace, result->where,
              units_count(records, result->records), units_s(result->records), verdict->trials,
              units_s(verdict->trials), units_time(took, result->took_ns));
    for (uint32_t i = 0; i < result->choice_count; i++) {
        choice_name(&result->lists, &result->choices[i], name);
        out_print(*name ? "\n%s\n" : "\n%s", name);
        print_matrix(result, i, "docs/s", print_rate);
        out_print("\n");
        print_matrix(result, i, "limited by", print_limit);
    }
    out_print("\n");
    if (verdict->dropped)
        out_print(
            "(in brackets: tried a few times only, and given up as more than %.0f%% slower than the best)\n",
            TUNE_NEARLY * 100);
    if (!result->checkpoints)
        out_print("no checkpoints between trials: this user, or this target, may not (fsync)\n");
    if (verdict->best != MATRIX_DONE)
        print_verdict(result, document);
}

/* ---- for programs ---- */

static void put_setting(bson_t *to, const void *of, size_t at) {
    static const char *const states[] = {
        [MATRIX_OPEN] = "open", [MATRIX_SETTLED] = "settled", [MATRIX_DROPPED] = "dropped"};
    const tune_result_t *result = of;
    if (at == MATRIX_DONE)
        return;
    const matrix_setting_t *setting = matrix_setting(result->matrix, at);
    const choice_t *choice = &result->choices[setting->choice];
    const tune_figures_t *figures = &result->figures[at];
    const double seconds = figures->trials ? figures->seconds : NAN;
    result_put(
        to, AS_COUNT("threads", setting->threads), AS_COUNT("batch", setting->batch),
        AS_TEXT("clustered", choice->clustered == CLUSTERED_DEFAULT ? NULL
                             : choice->clustered == CLUSTERED_YES   ? "yes"
                                                                    : "no"),
        AS_TEXT("compressor", choice->compressor), AS_TEXT("wire_compressor", choice->wire),
        AS_TEXT("write_concern", choice->concern), AS_FLAG("direct", choice->direct),
        AS_COUNT("routers", choice->routers), AS_TEXT("state", states[setting->state]),
        AS_COUNT("trials", setting->trials), AS_COUNT("documents", figures->documents),
        AS_NUMBER("docs_per_second", setting->mean, 1), AS_NUMBER("low", setting->low, 1),
        AS_NUMBER("high", setting->high, 1),
        AS_NUMBER("client_cpu_us_per_doc", figures->client_cores * 1e6 / (double)figures->documents, 4),
        AS_NUMBER("client_cores", figures->client_cores / seconds, 3),
        AS_NUMBER("server_cores", figures->server_cores / seconds, 3),
        AS_NUMBER("host_busy", figures->host_busy / seconds, 3),
        AS_NUMBER("network", figures->network / seconds, 3), AS_COUNT("retries", figures->retries),
        AS_TEXT("limit", tune_limit_name(tune_limit(result, at))),
        AS_TEXT("limited_by", figures->trials ? figures->limited_by : NULL));
}

void tune_make_result(bson_t *to, const tune_spec_t *spec, const tune_result_t *result) {
    const matrix_verdict_t *verdict = &result->verdict;
    const size_t settings = result->matrix ? matrix_count(result->matrix) : 0;
    char *line = verdict->cheapest == MATRIX_DONE ? NULL : load_line(spec, result, verdict->cheapest);
    result_put(to, AS_TEXT("namespace", result->namespace), AS_TEXT("target", result->where),
               AS_TEXT("scratch", result->scratch), AS_TEXT("format", result->format),
               AS_COUNT("sample", result->sample), AS_COUNT("records", result->records),
               AS_COUNT("trials", verdict->trials), AS_COUNT("rounds", verdict->rounds),
               AS_SECONDS("seconds", result->took_ns), AS_SECONDS("budget_seconds", spec->budget_ns),
               AS_FLAG("budget_spent", verdict->budget_spent), AS_NUMBER("precision", spec->precision, 4),
               AS_FLAG("checkpoints", result->checkpoints), AS_COUNT("settled", verdict->settled),
               AS_COUNT("dropped", verdict->dropped), AS_COUNT("untried", verdict->untried),
               AS_LIST("settings", settings, put_setting, result),
               AS_INNER("best", put_setting, result, verdict->best),
               AS_INNER("cheapest", put_setting, result, verdict->cheapest), AS_TEXT("load", line));
    free(line);
}
