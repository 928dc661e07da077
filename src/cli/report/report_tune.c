#include "cli/report/report_tune.h"
#include "cli/report/reporting.h"
#include "report/scale.h"
#include "server/bson_read.h"

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

static void add_result(report_t *report, const tune_result_t *result, const bson_t *document) {
    char note[300];
    snprintf(note, sizeof note,
             "The cheapest has the fewest threads, and then the smallest batch, of those that are nearly as "
             "fast as the "
             "best: within %.0f %% of it, as far as the trials can tell. Where trials differ much from each "
             "other, its "
             "mean may be lower than that.",
             100 * TUNE_NEARLY);
    report_begin(report, REPORT_FIGURES, "Result", is_decided(result) ? note : NULL);
    reporting_figure(report, document, "documents a second of the cheapest setting",
                     "cheapest.docs_per_second", "documents/s");
    reporting_figure(report, document, "the best's documents a second", "best.docs_per_second",
                     "documents/s");
    report_figure(report, "the cheapest setting, of the best",
                  100 * bson_read_number(document, "cheapest.docs_per_second") /
                      bson_read_number(document, "best.docs_per_second"),
                  "%");
    reporting_figure(report, document, "took", "seconds", "s");
    reporting_figure(report, document, "trials", "trials", "trials");
    reporting_figure(report, document, "records a trial", "records", "records");
    report_end(report);
    if (is_decided(result)) {
        report_begin(report, REPORT_TEXT, "To load with the cheapest setting", NULL);
        report_line(report, bson_read_text(document, "load"));
        report_end(report);
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
    report_begin(report, REPORT_HEAT, title,
                 "Means of the trials and, behind ±, their 95 % confidence intervals; threads down, "
                 "documents a batch across. A "
                 "setting without ± was tried only once, which is too little to be the best or the cheapest, "
                 "however fast it was.");
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

static void add_verdict(report_t *report, const tune_result_t *result, const bson_t *document) {
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
        static const char *const figures[] = {"docs_per_second",       "low",         "high", "trials",
                                              "client_cpu_us_per_doc", "client_cores"};
        char name[CHOICE_NAME + 64];
        bson_t setting;
        if (!bson_read_field(document, words[i], &setting))
            continue;
        report_row(report);
        report_word(report, words[i]);
        report_word(report, name_setting(result, shown[i], name));
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
            report_number(report, bson_read_number(&setting, figures[k]));
        report_number(report, result->cluster ? NAN : bson_read_number(&setting, "server_cores"));
        report_number(report, 100 * bson_read_number(&setting, "host_busy"));
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

report_t *report_tune(const tune_spec_t *spec, const tune_result_t *result, const bson_t *document,
                      int status, const err_t *err) {
    report_t *report = report_new("tune");
    report_head(report, result->namespace, result->where, "tipple tune");
    say(report, result, status, err);
    add_result(report, result, document);
    for (uint32_t i = 0; result->matrix && i < result->choice_count; i++) {
        add_map(report, result, i);
        add_limits(report, result, i);
    }
    if (is_decided(result))
        add_verdict(report, result, document);
    add_settings(report, spec, result);
    return report;
}
