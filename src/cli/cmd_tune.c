/* tune: the command, and what it found: every setting, and of the best and the cheapest what held them back. */
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "cli/options/cli.h"
#include "format/guess/guess.h"
#include "study/tune/tune.h"
#include "study/tune/tuned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    load_options_t load;
    tune_spec_t spec;
} values_t;

static values_t values;

/* ---- options that may have several values ---- */

static bool take_value(void *into, const char *word, err_t *err) {
    tune_list_t *list = into;
    load_spec_t ignored;
    if (list->count == TUNE_VALUES)
        return err_set(err, STATUS_USAGE, "--%s: more than %d of them", list->row->name, TUNE_VALUES);
    char *kept = strdup(word); /* for the life of the process */
    list->values[list->count] = kept;
    return kept ? option_set(list->row, kept, &ignored, err) && ++list->count : err_memory(err, 1);
}

/* One value of --shard-key or --create may hold commas: several of them are given one by one. */
static bool take_values(const option_t *row, const char *text, err_t *err) {
    tune_spec_t *spec = &values.spec;
    size_t at = 0;
    if (!option_no_password("a value", text, err)) /* before it is cut into words */
        return false;
    while (at < spec->list_count && strcmp(spec->lists[at].row->name, row->name) != 0)
        at++;
    if (at == spec->list_count)
        spec->lists[spec->list_count++].row = row;
    return strstr("shard-key create", row->name)
               ? take_value(&spec->lists[at], text, err)
               : cli_read_words(row->name, text, TUNE_VALUES, take_value, &spec->lists[at], err);
}

static const option_t options[] = {
    OPTION("threads", COUNT32, load.spec.threads, .group = GROUP_SPEED, .letter = 'j', .argument = "N,...",
           .least = 1, .most = LOAD_MOST_THREADS, .tried = true,
           .help =
               "Loader threads (default: 1, 2, 4 ... to four a CPU, 8 to 32; on a cluster to four a shard)."),
    OPTION("batch", COUNT32, load.spec.batch, .letter = 'b', .argument = "N,...", .least = 1,
           .most = LOAD_MOST_BATCH, .tried = true,
           .help = "Documents in a batch (default 100,300,1000,3000)."),
    OPTION("direct", FLAG, load.spec.direct, .argument = "true,...", .offers = "true false", .tried = true,
           .help = "Send each batch to its shard's primary, past the routers: true, or true,false."),
    OPTION("sample", COUNT, spec.sample, .group = GROUP_MEASURED, .argument = "N", .least = 1, .typed = true,
           .help = "Records a trial, the first ones of the files (default: as many as load in two seconds)."),
    OPTION("budget", TIME, spec.budget_ns, .argument = "TIME",
           .help = "How long it may take (default 10m). It ends when it is settled."),
    {.name = NULL},
};

/* ---- views ---- */

static const result_view_t views[] = {
    LINE(SHOW_NORMAL, NULL,
         "{namespace} at {target}   {trials|trial} in {seconds}, of up to {records|record}"),
    TABLE(SHOW_ALWAYS, NULL, "settings", "Settings",
          "Documents a second in an average turn, and the range in which that lies with 98 %. "
          "Bytes a document: data and indexes on disk.",
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
    LINE(SHOW_USUAL, "uncompared", "{uncompared}"),
    LINE(SHOW_USUAL, "-set", "{cheapest.name}{-set}"),
    LINE(SHOW_USUAL, "-unsettled",
         "not settled: a setting may be faster than that by more than {-surely_percent}, or too little is "
         "known "
         "of it; a higher --budget tries more"),
    LINE(SHOW_USUAL, "load",
         "the cheapest within {-nearly_percent} of the best (fewest threads, then smallest batch):",
         .command = "load"),
    {0}};

static const char UNCOMPARED[] =
    "only one setting has a figure, so nothing was compared and nothing is kept: name several --threads or "
    "--batch, larger files or a higher --budget";

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

static const struct {
    const char *name, *remark;
} states[] = {[MATRIX_UNTRIED] = {"untried", "not tried"},
              [MATRIX_CLOSE] = {"close", "close"},
              [MATRIX_DROPPED] = {"dropped", "given up"},
              [MATRIX_SMALL] = {"too small", "too small"}};

static const char *remark(const tune_result_t *tune, size_t at) {
    const matrix_verdict_t *verdict = &tune->verdict;
    if (at == verdict->best && !verdict->compared)
        return "not compared";
    return at == verdict->best       ? (at == verdict->cheapest ? "best, cheapest" : "best")
           : at == verdict->cheapest ? "cheapest"
                                     : states[tune->matrix.settings[at].state].remark;
}

/* ", not distinguishable from 2 x 300 and 4 x 1000": the other settings of the set, in the order of cost. */
static void put_set(bson_t *to, const tune_result_t *tune) {
    enum { NAMED = 5 };
    text_t words = {.length = 0};
    const size_t others = tune->verdict.close - 1;
    size_t named = 0;
    for (size_t i = 0; i < tune->count && named < NAMED; i++) {
        char name[TUNE_NAME];
        if (i == tune->verdict.cheapest || tune->matrix.settings[i].state != MATRIX_CLOSE)
            continue;
        text_print(&words, "%s%s",
                   !named               ? ", not distinguishable from "
                   : named + 1 < others ? ", "
                                        : " and ",
                   tune_name(tune, i, name));
        named++;
    }
    if (others > named)
        text_print(&words, " and %zu more", others - named);
    if (!others && tune->verdict.dropped)
        text_print(&words, ", faster than all others that were tried");
    result_take(to, "-set", text_take_or_end(&words));
}

static void put_setting(bson_t *to, const void *of, size_t at) {
    const tune_result_t *tune = of;
    if (at == MATRIX_DONE)
        return;
    const matrix_figure_t figure = matrix_figure(&tune->matrix, at);
    const tune_setting_t *setting = &tune->settings[at];
    const load_spec_t *load = &setting->load;
    const tune_figures_t *figures = &setting->figures;
    const bool known = !isnan(figure.rate), ranged = !isnan(figure.low);
    const double seconds = known ? figures->seconds : NAN,
                 documents = known ? (double)figures->documents : NAN;
    char name[TUNE_NAME], least[UNITS_MAX], most[UNITS_MAX], range[2 * UNITS_MAX + 8] = "";
    if (ranged)
        snprintf(range, sizeof range, "%s to %s", units_rate(least, figure.low),
                 units_rate(most, figure.high));
    result_put(to, AS_TEXT("name", tune_name(tune, at, name)), OF(load, threads), OF(load, batch),
               AS_TEXT("clustered", load_spec_clustered(load)), OF(load, compressor), OF(load, memory),
               OF(load, direct), AS_TEXT("state", states[tune->matrix.settings[at].state].name),
               AS_COUNT("trials", figure.trials), OF(figures, documents),
               AS_NUMBER("docs_per_second", figure.rate), AS_NUMBER("low", figure.low),
               AS_NUMBER("high", figure.high), AS_NUMBER("bytes_per_document", figures->bytes / documents),
               AS_NUMBER("client_cpu_us_per_doc", figures->client_cores * 1e6 / documents),
               AS_NUMBER("client_cores", figures->client_cores / seconds),
               AS_NUMBER("server_cores", figures->server_cores / seconds),
               AS_NUMBER("host_busy", figures->host_busy / seconds), OF(figures, retries),
               OF(figures, disturbed), AS_TEXT("limit", known ? tune_limit(tune, at) : NULL),
               AS_TEXT("limited_by", known ? figures->limited_by : NULL),
               AS_TEXT("-remark", remark(tune, at)), AS_TEXT("-range", range),
               AS_COUNT_IF("-trials", known, figure.trials));
}

static void put_figures(bson_t *to, const tune_spec_t *spec, const tune_result_t *tune) {
    const matrix_verdict_t *verdict = &tune->verdict;
    const study_t *study = &tune->study;
    result_put(
        to, OF(study, namespace), AS_TEXT("target", study->where), AS_TEXT("scratch", study->collection),
        OF(study, format), OF(tune, records), OF(verdict, trials), AS_COUNT("rounds", verdict->turns),
        AS_SECONDS("seconds", tune->took_ns), AS_SECONDS("budget_seconds", spec->budget_ns),
        OF(tune, budget_spent), OF(tune, checkpoints), OF(verdict, settled), OF(verdict, close),
        OF(verdict, dropped), AS_COUNT("too_small", verdict->small), OF(verdict, untried),
        AS_LIST("settings", tune->matrix.count, put_setting, tune),
        AS_TEXT("uncompared", verdict->close && !verdict->compared ? UNCOMPARED : NULL),
        AS_INNER("best", put_setting, tune, verdict->compared ? verdict->best : MATRIX_DONE),
        AS_INNER("cheapest", put_setting, tune, verdict->compared ? verdict->cheapest : MATRIX_DONE),
        AS_NUMBER("-nearly_percent", 100 * MATRIX_NEARLY), AS_NUMBER("-surely_percent", 100 * MATRIX_SURELY),
        AS_FLAG("-unsettled", verdict->compared && !verdict->settled));
    if (verdict->compared)
        put_set(to, tune);
    result_take(to, "load",
                verdict->compared ? load_line(&spec->load, tune, &tune->settings[verdict->cheapest]) : NULL);
}

static result_t *make_result(const tune_spec_t *spec, const tune_result_t *tune, int status,
                             const err_t *err) {
    const char *found = !tune->verdict.close ? "nothing was found"
                        : !tune->verdict.compared
                            ? "{uncompared}"
                            : "{cheapest.name} (threads x batch) at {cheapest.docs_per_second}, limited "
                              "by {cheapest.limit}{-set}";
    result_t *result = result_new("tune", tune->matrix.count ? views : NULL);
    put_figures(&result->document, spec, tune);
    result_answer(result, "Which threads and batch size are best?", status, err, found, found);
    return result;
}

/* ---- the command ---- */

static void init(void) {
    tune_spec_init(&values.spec);
    values.spec.lists[TUNE_THREADS].row = &options[0];
    values.spec.lists[TUNE_BATCH].row = &options[1];
    values.load.spec = values.spec.load;
}

static void keep(const tune_result_t *tune) {
    const size_t at = tune->verdict.cheapest;
    const tuned_found_t found = {&tune->settings[at].load, tune->study.format,
                                 matrix_figure(&tune->matrix, at), tune->verdict.settled};
    err_t why;
    if (tuned_keep(values.spec.load.uri, &found, &why))
        log_note("kept for `tipple load --threads auto --batch auto`: the cheapest setting");
    else
        log_warn("the cheapest setting is not kept for `tipple load --threads auto --batch auto`: %s",
                 why.text);
}

static int find(run_t *run, err_t *err) {
    static tune_result_t tune;
    if (!cli_takes_inputs(run, "the target to tune for", err))
        return (int)err->status;
    values.spec.load = values.load.spec;
    const bool ok = tune_run(&values.spec, &tune, err);
    const int status = ok ? STATUS_OK : (int)err->status;
    result_t *result = make_result(&values.spec, &tune, status, err);
    const int ended = cli_end(run, result, tune.warmed && (run->json || tune.matrix.count), status, err);
    if (ok && tune.verdict.compared)
        keep(&tune);
    tune_free_result(&tune);
    return ended;
}

const command_t command_tune = {
    .name = "tune",
    .group = COMMANDS_SPEED,
    .arguments = "FILE|DIRECTORY|PATTERN...",
    .about = "find the best threads and batch size",
    .help = "Loads the files for some seconds, again and again, into a scratch collection, and prints "
            "documents a second and bytes a document of each setting, which of them are the fastest, as far "
            "as trials show it, and the cheapest of these. The target is not touched.\n\n"
            "Options may have several values, with commas, or given again (--shard-key, --create); all "
            "combinations are tried in turns, for at least two seconds and four batches a thread, and those "
            "that are close more often, until it is settled which are the fastest. The scratch collection "
            "(DATABASE.COLLECTION.tipple.tune.ID) is like the target where no "
            "option says otherwise, and is dropped. `--threads auto --batch auto` of `tipple load` and "
            "`tipple drill` take the cheapest setting, for the same target and compressor on this host.",
    .examples = "  tipple tune -f mot --uri mongodb://HOST/mot.results test_result_2023.csv\n"
                "  tipple tune -f mot --uri \"$URI\" *.gz --threads 4,8 --compressor snappy,zstd",
    .options = options,
    .takes = TAKEN_BY_TUNE,
    .with = WITH_JSON | WITH_REPORT,
    .values = &values,
    .init = init,
    .take_values = take_values,
    .body = find,
};
