/* What a tune found: every setting, and of the best and the cheapest what held them back. */
#include "base/numbers.h"
#include "base/text.h"
#include "cli/results/results.h"
#include "format/guess/guess.h"
#include "load/spec/retry_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- views ---- */

static const result_view_t views[] = {
    LINE(SHOW_NORMAL, NULL,
         "{namespace} at {target}   {trials|trial} in {seconds}, of up to {records|record}"),
    TABLE(SHOW_ALWAYS, NULL, "settings", "Settings",
          "Documents a second: the median of the trials, then the slowest and the fastest of them. Bytes a "
          "document: data and indexes on disk.",
          COLUMN("name", "threads x batch"), COLUMN("docs_per_second", "docs/s", .most = BAR_LARGEST),
          COLUMN("-range", "range"), COLUMN("bytes_per_document", "bytes/doc"), COLUMN("limit", "limited by"),
          COLUMN("-remark", ""), COLUMN("-trials", "trials", .wide = true),
          COLUMN("client_cores", "client cores", .wide = true),
          COLUMN("server_cores", "server cores", .wide = true),
          COLUMN("host_busy", "this host's CPUs busy", .wide = true),
          COLUMN("client_cpu_us_per_doc", "client CPU a document", .wide = true)),
    LINE(SHOW_USUAL, "!checkpoints",
         "no checkpoints, and so no bytes a document: this user, or this target, may not (fsync)"),
    LINE(SHOW_USUAL | SHOW_CARE, "disturbed",
         "{name}: the server paused or was away in {disturbed|trial|trials}; the first is left out",
         .each = "settings"),
    LINE(
        SHOW_USUAL, "-spent",
        "the budget ended before all settings were tried {-most_trials} times: a higher --budget tries more"),
    LINE(SHOW_USUAL, "load",
         "the cheapest within {-nearly_percent} of the best (fewest threads, then smallest batch):",
         .command = "load"),
    {0}};

/* ---- figures ---- */

/* The line to paste: only what was given or found; what a load finds out by itself it will find out again. */
static char *load_line(const load_spec_t *load, const tune_result_t *tune, const tune_setting_t *setting) {
    err_t ignored;
    char *needed = retry_options(load, tune->study.namespace, &ignored);
    text_t line = {.length = 0};
    text_print(&line, "tipple load%s", needed ? needed : "");
    free(needed);
    for (size_t i = 0; i < tune->list_count; i++) {
        const option_t *row = tune->lists[i].row;
        char option[32];
        snprintf(option, sizeof option, "--%s", row->name);
        if (row->kind != OPTION_FLAG)
            shell_quote_option(&line, option, setting->values[i]);
        else if (setting->values[i][0] == 't')
            shell_quote_word(&line, option);
    }
    if (!load->format)
        guess_options_quote(&line, &load->guess);
    for (size_t i = 0; i < load->input_count; i++)
        shell_quote_word(&line, load->inputs[i]);
    return text_take_or_end(&line);
}

static const char *remark(const tune_result_t *tune, size_t at) {
    const matrix_setting_t *tried = &tune->matrix.settings[at];
    const matrix_verdict_t *verdict = &tune->verdict;
    return at == verdict->best              ? (at == verdict->cheapest ? "best, cheapest" : "best")
           : at == verdict->cheapest        ? "cheapest"
           : tried->state == MATRIX_SMALL   ? "too small"
           : tried->state == MATRIX_DROPPED ? "given up"
           : !tried->trials                 ? "not tried"
                                            : "";
}

static void put_setting(bson_t *to, const void *of, size_t at) {
    static const char *const states[] = {[MATRIX_OPEN] = "open",
                                         [MATRIX_SETTLED] = "settled",
                                         [MATRIX_DROPPED] = "dropped",
                                         [MATRIX_SMALL] = "too small"};
    const tune_result_t *tune = of;
    if (at == MATRIX_DONE)
        return;
    const matrix_setting_t *tried = &tune->matrix.settings[at];
    const tune_setting_t *setting = &tune->settings[at];
    const load_spec_t *load = &setting->load;
    const tune_figures_t *figures = &setting->figures;
    const bool known = !isnan(matrix_median(tried));
    const double seconds = known ? figures->seconds : NAN,
                 documents = known ? (double)figures->documents : NAN;
    const double low = known ? tried->rates[0] : NAN, high = known ? tried->rates[tried->trials - 1] : NAN;
    char name[TUNE_NAME], least[UNITS_MAX], most[UNITS_MAX], range[2 * UNITS_MAX + 8] = "";
    if (known)
        snprintf(range, sizeof range, "%s to %s", units_rate(least, low), units_rate(most, high));
    result_put(
        to, AS_TEXT("name", tune_name(tune, at, name)), OF(load, threads), OF(load, batch),
        AS_TEXT("clustered", load_spec_clustered(load)), OF(load, compressor), OF(load, memory),
        OF(load, direct), AS_TEXT("state", states[tried->state]), OF(tried, trials), OF(figures, documents),
        AS_NUMBER("docs_per_second", matrix_median(tried)), AS_NUMBER("low", low), AS_NUMBER("high", high),
        AS_NUMBER("bytes_per_document", figures->bytes / documents),
        AS_NUMBER("client_cpu_us_per_doc", figures->client_cores * 1e6 / documents),
        AS_NUMBER("client_cores", figures->client_cores / seconds),
        AS_NUMBER("server_cores", figures->server_cores / seconds),
        AS_NUMBER("host_busy", figures->host_busy / seconds), OF(figures, retries), OF(figures, disturbed),
        AS_TEXT("limit", known ? tune_limit(tune, at) : NULL),
        AS_TEXT("limited_by", known ? figures->limited_by : NULL), AS_TEXT("-remark", remark(tune, at)),
        AS_TEXT("-range", range), AS_COUNT_IF("-trials", known, tried->trials));
}

static void put_figures(bson_t *to, const tune_spec_t *spec, const tune_result_t *tune) {
    const matrix_verdict_t *verdict = &tune->verdict;
    const study_t *study = &tune->study;
    const bool decided = tune->matrix.count && verdict->best != MATRIX_DONE;
    result_put(to, OF(study, namespace), AS_TEXT("target", study->where),
               AS_TEXT("scratch", study->collection), OF(study, format), OF(tune, records),
               OF(verdict, trials), OF(verdict, rounds), AS_SECONDS("seconds", tune->took_ns),
               AS_SECONDS("budget_seconds", spec->budget_ns), OF(tune, budget_spent), OF(tune, checkpoints),
               OF(verdict, settled), OF(verdict, dropped), AS_COUNT("too_small", verdict->small),
               OF(verdict, untried), AS_LIST("settings", tune->matrix.count, put_setting, tune),
               AS_INNER("best", put_setting, tune, verdict->best),
               AS_INNER("cheapest", put_setting, tune, verdict->cheapest),
               AS_COUNT("-most_trials", MATRIX_TRIALS), AS_NUMBER("-nearly_percent", 100 * MATRIX_NEARLY),
               AS_FLAG("-spent", decided && tune->budget_spent));
    result_take(to, "load",
                decided ? load_line(&spec->load, tune, &tune->settings[verdict->cheapest]) : NULL);
}

result_t *results_tune(const tune_spec_t *spec, const tune_result_t *tune, int status, const err_t *err) {
    const bool decided = tune->matrix.count && tune->verdict.best != MATRIX_DONE;
    const char *found =
        !decided ? "nothing was found"
                 : "the cheapest setting (threads x batch) that is nearly as fast as the best is "
                   "{cheapest.name} at {cheapest.docs_per_second}, limited by {cheapest.limit}; {-best}";
    result_t *result = result_new("tune", tune->matrix.count ? views : NULL);
    put_figures(&result->document, spec, tune);
    result_put_words(&result->document, "-best",
                     tune->verdict.best == tune->verdict.cheapest
                         ? "nothing else is faster"
                         : "the best is {best.name} at {best.docs_per_second}");
    result_answer(result, "Which threads and batch size are best?", status, err, found, found);
    return result;
}
