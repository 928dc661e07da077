#include "cli/report/report_tune.h"
#include "cli/report/reporting.h"
#include "cli/print/tune_print.h"
#include "report/scale.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double seconds(int64_t ns) {
    return (double)ns / 1e9;
}

/* "4 threads x batch 1000, zstd" */
static const char *name_setting(const tune_result_t *result, size_t at, char out[CHOICE_NAME + 64]) {
    const matrix_setting_t *setting = matrix_setting(result->matrix, at);
    char choice[CHOICE_NAME];
    choice_name(&result->lists, &result->choices[setting->choice], choice);
    snprintf(out, CHOICE_NAME + 64, "%u thread%s x batch %u%s%s", setting->threads,
             setting->threads == 1 ? "" : "s", setting->batch, *choice ? ", " : "", choice);
    return out;
}

static bool is_decided(const tune_result_t *result) {
    return result->matrix && result->verdict.best != MATRIX_DONE && result->verdict.cheapest != MATRIX_DONE;
}

static void say(report_t *report, const tune_result_t *result, int status, const err_t *err) {
    const matrix_verdict_t *verdict = &result->verdict;
    char best[CHOICE_NAME + 64], cheapest[CHOICE_NAME + 64], best_rate[SCALE_TEXT], cheapest_rate[SCALE_TEXT];
    char *trouble =
        reporting_is_trouble(status) ? reporting_trouble(status, seconds(result->took_ns), err) : NULL;
    if (!is_decided(result)) {
        report_say(report, status, "%s%sNothing was found: no setting was tried twice.",
                   trouble ? trouble : "", trouble ? ". " : "");
    } else {
        scale_value(best_rate, matrix_setting(result->matrix, verdict->best)->mean, "documents/s");
        scale_value(cheapest_rate, matrix_setting(result->matrix, verdict->cheapest)->mean, "documents/s");
        report_say(
            report, status,
            "%s%sThe cheapest setting that is nearly as fast as the best is %s at %s, limited by %s%s%s%s%s.",
            trouble ? trouble : "", trouble ? ". As far as it came: " : "",
            name_setting(result, verdict->cheapest, cheapest), cheapest_rate,
            tune_limit_name(tune_limit(result, verdict->cheapest)),
            verdict->best == verdict->cheapest ? "; nothing else is faster" : "; the best is ",
            verdict->best == verdict->cheapest ? "" : name_setting(result, verdict->best, best),
            verdict->best == verdict->cheapest ? "" : " at ",
            verdict->best == verdict->cheapest ? "" : best_rate);
    }
    bson_free(trouble);
}

static void add_result(report_t *report, const tune_spec_t *spec, const tune_result_t *result) {
    const matrix_verdict_t *verdict = &result->verdict;
    const bool decided = is_decided(result);
    const double cheapest = decided ? matrix_setting(result->matrix, verdict->cheapest)->mean : NAN,
                 best = decided ? matrix_setting(result->matrix, verdict->best)->mean : NAN;
    report_begin(report, REPORT_FIGURES, "Result", NULL);
    report_figure(report, "documents a second of the cheapest setting", cheapest, "documents/s");
    report_figure(report, "the best's documents a second", best, "documents/s");
    report_figure(report, "the cheapest setting, of the best", 100 * cheapest / best, "%");
    report_figure(report, "took", seconds(result->took_ns), "s");
    report_figure(report, "trials", verdict->trials, "trials");
    report_figure(report, "records a trial", (double)result->records, "records");
    report_end(report);
    if (decided) {
        char *line = tune_print_line(spec, result, verdict->cheapest);
        report_begin(report, REPORT_TEXT, "To load with the cheapest setting", NULL);
        report_line(report, line);
        report_end(report);
        free(line);
    }
}

/* ---- a map for each choice ---- */

static void add_setting(report_t *report, const tune_result_t *result, size_t at) {
    static const char *const states[] = {
        [MATRIX_OPEN] = "open", [MATRIX_SETTLED] = "settled", [MATRIX_DROPPED] = "dropped"};
    const matrix_setting_t *setting = matrix_setting(result->matrix, at);
    char threads[16], batch[16];
    snprintf(threads, sizeof threads, "%u", setting->threads);
    snprintf(batch, sizeof batch, "%u", setting->batch);
    report_cell(
        report,
        &(report_cell_t){.row = threads,
                         .column = batch,
                         .value = setting->mean,
                         .low = setting->low,
                         .high = setting->high,
                         .state = setting->trials ? states[setting->state] : "untried",
                         .note = result->figures[at].trials ? tune_limit_name(tune_limit(result, at)) : NULL,
                         .best = at == result->verdict.best,
                         .cheapest = at == result->verdict.cheapest});
}

/* Documents a second of every setting, threads down and batches across. */
static void add_map(report_t *report, const tune_result_t *result, uint32_t choice) {
    char name[CHOICE_NAME], title[CHOICE_NAME + 32];
    choice_name(&result->lists, &result->choices[choice], name);
    snprintf(title, sizeof title, "Documents a second%s%s", *name ? ": " : "", name);
    report_begin(
        report, REPORT_HEAT, title,
        "Means of the trials and their 95 % confidence intervals; threads down, documents a batch across.");
    report_heat(report, "threads", "documents a batch", "documents", "documents/s");
    for (size_t at = 0; at < matrix_count(result->matrix); at++)
        if (matrix_setting(result->matrix, at)->choice == choice)
            add_setting(report, result, at);
    report_end(report);
}

/* Of the settings of one choice, what held each back: the same grid in words. */
static void add_limits(report_t *report, const tune_result_t *result, uint32_t choice) {
    const choice_lists_t *lists = &result->lists;
    char name[CHOICE_NAME], title[CHOICE_NAME + 32], label[32];
    choice_name(lists, &result->choices[choice], name);
    snprintf(title, sizeof title, "What limited each%s%s", *name ? ": " : "", name);
    report_begin(report, REPORT_TABLE, title, NULL);
    report_column(report, "threads", "");
    for (size_t i = 0; i < lists->batch_count; i++) {
        snprintf(label, sizeof label, "batch %u", lists->batches[i]);
        report_column(report, label, "");
    }
    for (size_t i = 0; i < lists->thread_count; i++) {
        snprintf(label, sizeof label, "%u", lists->threads[i]);
        report_row(report);
        report_word(report, label);
        for (size_t j = 0; j < lists->batch_count; j++) {
            const size_t at = (choice * lists->thread_count + i) * lists->batch_count + j;
            report_word(report, result->figures[at].trials ? tune_limit_name(tune_limit(result, at)) : "–");
        }
    }
    report_end(report);
}

static void add_verdict(report_t *report, const tune_result_t *result) {
    const size_t shown[] = {result->verdict.cheapest, result->verdict.best};
    static const char *const words[] = {"cheapest", "best"};
    report_begin(report, REPORT_TABLE, "Cheapest and best setting", NULL);
    report_column(report, "which", "");
    report_column(report, "setting", "");
    report_column(report, "documents a second", "documents/s");
    report_column(report, "from", "documents/s");
    report_column(report, "to", "documents/s");
    report_column(report, "trials", "");
    report_column(report, "client CPU a document", "us");
    report_column(report, "client cores", "cores");
    report_column(report, "server cores", "cores");
    report_column(report, "this host's CPUs busy", "%");
    report_column(report, "limited by", "");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const matrix_setting_t *setting = matrix_setting(result->matrix, shown[i]);
        const tune_figures_t *figures = &result->figures[shown[i]];
        char name[CHOICE_NAME + 64];
        report_row(report);
        report_word(report, words[i]);
        report_word(report, name_setting(result, shown[i], name));
        report_number(report, setting->mean);
        report_number(report, setting->low);
        report_number(report, setting->high);
        report_number(report, setting->trials);
        report_number(report, figures->client_cores * 1e6 / (double)figures->documents);
        report_number(report, figures->client_cores / figures->seconds);
        report_number(report, result->cluster ? NAN : figures->server_cores / figures->seconds);
        report_number(report, 100 * figures->host_busy / figures->seconds);
        report_word(report, tune_limit_name(tune_limit(result, shown[i])));
    }
    report_end(report);
}

static void add_settings(report_t *report, const tune_spec_t *spec, const tune_result_t *result) {
    report_set_text(report, "format", spec->load.format);
    report_set_number(report, "budget seconds", seconds(spec->budget_ns));
    report_set_number(report, "precision, percent", spec->precision * 100);
    report_set_number(report, "seed", (double)spec->seed);
    report_set_flag(report, "budget spent", result->verdict.budget_spent);
    report_set_flag(report, "checkpoints between trials", result->checkpoints);
    report_set_text(report, "scratch collection", result->scratch);
    report_set_text(report, "shard key", spec->load.shard_key);
}

report_t *report_tune(const tune_spec_t *spec, const tune_result_t *result, int status, const err_t *err) {
    report_t *report = report_new("tune");
    report_head(report, result->namespace, result->where, "tipple tune");
    say(report, result, status, err);
    add_result(report, spec, result);
    for (uint32_t i = 0; result->matrix && i < result->choice_count; i++) {
        add_map(report, result, i);
        add_limits(report, result, i);
    }
    if (is_decided(result))
        add_verdict(report, result);
    add_settings(report, spec, result);
    return report;
}
