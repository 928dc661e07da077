/* What a tune found: every setting, and of the best and the cheapest what held them back. */
#include "base/numbers.h"
#include "base/text.h"
#include "cli/options/shell_quote.h"
#include "cli/results/results.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The line to paste: only what was given or found; what a load finds out by itself it will find out again. */
static char *load_line(const tune_spec_t *spec, const tune_result_t *tune, size_t at) {
    const tune_setting_t *setting = &tune->settings[at];
    const load_spec_t *load = &spec->load;
    text_t line = {.length = 0};
    text_append(&line, "tipple load");
    shell_quote_option(&line, "--format", load->format);
    shell_quote_uri(&line, load->uri);
    for (size_t i = 0; i < tune->list_count; i++) {
        char option[32];
        snprintf(option, sizeof option, "--%s", tune->lists[i].option);
        if (setting->values[i])
            shell_quote_option(&line, option, setting->values[i]);
    }
    if (load->create)
        shell_quote_option(&line, "--create", load->create);
    shell_quote_rest(&line, load, load->direct);
    return text_take_or_end(&line);
}

/* ---- figures ---- */

static const char *remark(const tune_result_t *tune, size_t at) {
    const matrix_setting_t *tried = matrix_setting(tune->matrix, at);
    const matrix_verdict_t *verdict = &tune->verdict;
    return at == verdict->best              ? (at == verdict->cheapest ? "best and cheapest" : "best")
           : at == verdict->cheapest        ? "cheapest"
           : tried->state == MATRIX_SMALL   ? "too small"
           : tried->state == MATRIX_DROPPED ? "given up"
           : !tried->trials                 ? "not tried"
                                            : "";
}

/* "server 3.1 of 4 CPUs" is said of one server alone. */
static void put_for_views(bson_t *to, const tune_result_t *tune, size_t at, bool known) {
    const matrix_setting_t *tried = matrix_setting(tune->matrix, at);
    const tune_setting_t *setting = &tune->settings[at];
    char name[TUNE_NAME], low[UNITS_MAX], high[UNITS_MAX], range[2 * UNITS_MAX + 8] = "", key[40];
    if (known)
        snprintf(range, sizeof range, "%s to %s", units_rate(low, tried->rates[0]),
                 units_rate(high, tried->rates[tried->trials - 1]));
    result_put(to, AS_TEXT("-name", tune_name(tune, at, name)), AS_TEXT("-remark", remark(tune, at)),
               AS_TEXT("-range", range), AS_COUNT_IF("-trials", known, tried->trials));
    for (size_t i = 0; i < tune->list_count; i++) {
        snprintf(key, sizeof key, "-of_%s", tune->lists[i].option);
        result_put(to, AS_TEXT(key, setting->values[i]));
    }
}

static void put_setting(bson_t *to, const void *of, size_t at) {
    static const char *const states[] = {[MATRIX_OPEN] = "open",
                                         [MATRIX_SETTLED] = "settled",
                                         [MATRIX_DROPPED] = "dropped",
                                         [MATRIX_SMALL] = "too small"};
    const tune_result_t *tune = of;
    if (at == MATRIX_DONE)
        return;
    const matrix_setting_t *tried = matrix_setting(tune->matrix, at);
    const load_spec_t *load = &tune->settings[at].load;
    const tune_figures_t *figures = &tune->settings[at].figures;
    const bool known = tried->trials && tried->state != MATRIX_SMALL;
    const double seconds = known ? figures->seconds : NAN,
                 documents = known ? (double)figures->documents : NAN;
    result_put(to, AS_COUNT("threads", load->threads), AS_COUNT("batch", load->batch),
               AS_TEXT("clustered", load_spec_clustered(load)), AS_TEXT("compressor", load->compressor),
               AS_COUNT("memory", load->memory), AS_FLAG("direct", load->direct),
               AS_TEXT("state", states[tried->state]), AS_COUNT("trials", tried->trials),
               AS_COUNT("documents", figures->documents),
               AS_NUMBER("docs_per_second", known ? matrix_median(tried) : NAN, 1),
               AS_NUMBER("low", known ? tried->rates[0] : NAN, 1),
               AS_NUMBER("high", known ? tried->rates[tried->trials - 1] : NAN, 1),
               AS_NUMBER("bytes_per_document", figures->bytes / documents, 2),
               AS_NUMBER("client_cpu_us_per_doc", figures->client_cores * 1e6 / documents, 4),
               AS_NUMBER("client_cores", figures->client_cores / seconds, 3),
               AS_NUMBER("server_cores", figures->server_cores / seconds, 3),
               AS_NUMBER("host_busy", figures->host_busy / seconds, 3),
               AS_NUMBER("network", figures->network / seconds, 3), AS_COUNT("retries", figures->retries),
               AS_TEXT("limit", known ? tune_limit_name(tune_limit(tune, at)) : NULL),
               AS_TEXT("limited_by", known ? figures->limited_by : NULL));
    put_for_views(to, tune, at, known);
}

static void put_figures(bson_t *to, const tune_spec_t *spec, const tune_result_t *tune) {
    const matrix_verdict_t *verdict = &tune->verdict;
    char *line = verdict->cheapest == MATRIX_DONE ? NULL : load_line(spec, tune, verdict->cheapest);
    result_put(to, AS_TEXT("namespace", tune->namespace), AS_TEXT("target", tune->where),
               AS_TEXT("scratch", tune->scratch), AS_TEXT("format", tune->format),
               AS_COUNT("records", tune->records), AS_COUNT("trials", verdict->trials),
               AS_COUNT("rounds", verdict->rounds), AS_SECONDS("seconds", tune->took_ns),
               AS_SECONDS("budget_seconds", spec->budget_ns), AS_FLAG("budget_spent", verdict->budget_spent),
               AS_FLAG("checkpoints", tune->checkpoints), AS_COUNT("settled", verdict->settled),
               AS_COUNT("dropped", verdict->dropped), AS_COUNT("too_small", verdict->small),
               AS_COUNT("untried", verdict->untried),
               AS_LIST("settings", tune->matrix ? tune->count : 0, put_setting, tune),
               AS_INNER("best", put_setting, tune, verdict->best),
               AS_INNER("cheapest", put_setting, tune, verdict->cheapest), AS_TEXT("load", line),
               AS_FIGURE("-server_cpus", tune->cluster ? NAN : tune->server_cpus),
               AS_COUNT("-most_trials", MATRIX_TRIALS), AS_FIGURE("-nearly_percent", 100 * MATRIX_NEARLY));
    free(line);
}

/* ---- views ---- */

static void add_settings(result_t *result, const tune_result_t *tune) {
    static const result_column_t measured[] = {
        COLUMN("docs_per_second", "docs/s", .most = BAR_LARGEST),
        COLUMN("-range", "range"),
        COLUMN("-trials", "trials"),
        COLUMN("bytes_per_document", "bytes/doc"),
        COLUMN("limit", "limited by"),
        COLUMN("-remark", ""),
        COLUMN("client_cores", "client cores", .wide = true),
        COLUMN("server_cores", "server cores", .wide = true),
        COLUMN("host_busy", "this host's CPUs busy", .wide = true),
        COLUMN("client_cpu_us_per_doc", "client CPU a document", .wide = true)};
    enum { MEASURED = sizeof measured / sizeof *measured };
    result_column_t columns[TUNE_LISTS + MEASURED];
    char keys[TUNE_LISTS][40];
    size_t count = 0;
    for (; count < tune->list_count; count++) {
        snprintf(keys[count], sizeof keys[count], "-of_%s", tune->lists[count].option);
        columns[count] = (result_column_t){.key = keys[count], .title = tune->lists[count].option};
    }
    memcpy(columns + count, measured, sizeof measured);
    result_table(result, SHOW_USUAL, "settings", "Settings",
                 "Documents a second: the median of the trials, then the slowest and "
                 "the fastest of them. Bytes a document: data and indexes on disk.",
                 columns, count + MEASURED);
}

/* What held it back, and by which figures. */
static void add_held(result_t *result, const tune_result_t *tune, const char *which, size_t at) {
    const struct {
        const char *key, *words;
    } parts[] = {{"server_cores", tune->cluster ? "" : "server: {%s.server_cores} of {-server_cpus} CPUs"},
                 {"host_busy", "this host: {%s.host_busy} of its CPUs"},
                 {"network", "its fullest network link: {%s.network}"}};
    const uint64_t retries = tune->settings[at].figures.retries;
    const char *before = " (";
    text_t words = {.length = 0};
    text_print(&words,
               "%s: {%s.-name}   {%s.docs_per_second}   client CPU {%s.client_cpu_us_per_doc} a document",
               which, which, which, which);
    char *line = text_take_or_end(&words);
    result_line(result, SHOW_USUAL, line);
    free(line);
    text_print(&words, "    limited by: {%s.limit}", which);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char path[40];
        snprintf(path, sizeof path, "%s.%s", which, parts[i].key);
        if (isnan(bson_read_number(&result->document, path)) || !*parts[i].words)
            continue;
        const char *key = strstr(parts[i].words, "%s");
        text_print(&words, "%s%.*s%s%s", before, (int)(key - parts[i].words), parts[i].words, which, key + 2);
        before = "; ";
    }
    text_append(&words, *before == ';' ? ")" : "");
    line = text_take_or_end(&words);
    result_line(result, SHOW_NORMAL, line);
    free(line);
    if (!retries)
        return;
    text_print(
        &words,
        "    {%s.retries|batch was|batches were} sent again while a server was away: do not trust this "
        "figure",
        which);
    line = text_take_or_end(&words);
    result_line(result, SHOW_USUAL | SHOW_CARE, line);
    free(line);
}

static void add_views(result_t *result, const tune_result_t *tune) {
    const matrix_verdict_t *verdict = &tune->verdict;
    result_line(result, SHOW_NORMAL,
                "{namespace} at {target}   {records|record} a trial   {trials|trial} in {seconds}");
    add_settings(result, tune);
    if (!tune->checkpoints)
        result_line(result, SHOW_USUAL,
                    "no checkpoints, and so no bytes a document: this user, or this target, may not "
                    "(fsync)");
    if (verdict->best == MATRIX_DONE)
        return;
    add_held(result, tune, "best", verdict->best);
    if (verdict->cheapest != verdict->best)
        add_held(result, tune, "cheapest", verdict->cheapest);
    if (verdict->budget_spent)
        result_line(result, SHOW_USUAL,
                    "the budget ended before all settings were tried {-most_trials} times: a "
                    "higher --budget tries more");
    result_command(
        result, SHOW_USUAL,
        "load with the cheapest: within {-nearly_percent} of the best with the fewest threads, then the "
        "smallest batch",
        bson_read_text(&result->document, "load"));
    result_figures(
        result, SHOW_PAGE, "Result", NULL,
        RESULT_COLUMNS(COLUMN("cheapest.docs_per_second", "the cheapest setting"),
                       COLUMN("best.docs_per_second", "the best"),
                       COLUMN("cheapest.bytes_per_document", "a document on disk"), COLUMN("seconds", "took"),
                       COLUMN("trials", "trials"), COLUMN("records", "records a trial"),
                       COLUMN("scratch", "scratch collection"), COLUMN("budget_spent", "budget spent"),
                       COLUMN("checkpoints", "checkpoints between trials")));
}

result_t *results_tune(const tune_spec_t *spec, const tune_result_t *tune, int status, const err_t *err) {
    const bool decided = tune->matrix && tune->verdict.best != MATRIX_DONE;
    const char *found =
        tune->verdict.best == tune->verdict.cheapest
            ? "the cheapest setting that is nearly as fast as the best is {cheapest.-name} at "
              "{cheapest.docs_per_second}, limited by {cheapest.limit}; nothing else is faster"
            : "the cheapest setting that is nearly as fast as the best is {cheapest.-name} at "
              "{cheapest.docs_per_second}, limited by {cheapest.limit}; the best is {best.-name} at "
              "{best.docs_per_second}";
    result_t *result = result_new("tune");
    put_figures(&result->document, spec, tune);
    result_answer(result, "Which threads and batch size are best?", status, err,
                  decided ? found : "nothing was found", decided ? found : "nothing was found");
    if (tune->matrix)
        add_views(result, tune);
    return result;
}
