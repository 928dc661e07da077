#include "base/log.h"
#include "cli/options/cli.h"
#include "cli/results/results.h"
#include "load/spec/limits.h"
#include "study/tune/tuned.h"

#include <stdio.h>
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
           .least = 1, .most = LIMITS_MOST_THREADS, .tried = true,
           .help =
               "Loader threads (default: 1, 2, 4 ... to four a CPU, 8 to 32; on a cluster to four a shard)."),
    OPTION("batch", COUNT32, load.spec.batch, .letter = 'b', .argument = "N,...", .least = 1,
           .most = LIMITS_MOST_BATCH, .tried = true,
           .help = "Documents in a batch (default 100,300,1000,3000)."),
    OPTION("direct", FLAG, load.spec.direct, .argument = "true,...", .offers = "true false", .tried = true,
           .help = "Send each batch to its shard's primary, past the routers: true, or true,false."),
    OPTION("sample", COUNT, spec.sample, .group = GROUP_MEASURED, .argument = "N", .least = 1, .typed = true,
           .help = "Records a trial, the first ones of the files (default: as many as load in two seconds)."),
    OPTION("budget", TIME, spec.budget_ns, .argument = "TIME", .help = "How long it may take (default 3m)."),
    {.name = NULL},
};

static void init(void) {
    tune_spec_init(&values.spec);
    values.spec.lists[TUNE_THREADS].row = &options[0];
    values.spec.lists[TUNE_BATCH].row = &options[1];
    values.load.spec = values.spec.load;
}

/* ---- the command ---- */

static int find(run_t *run, err_t *err) {
    static tune_result_t tune;
    err_t why;
    if (!cli_takes_inputs(run, "the target to tune for", err))
        return (int)err->status;
    values.spec.load = values.load.spec;
    const bool ok = tune_run(&values.spec, &tune, err);
    const int status = ok ? STATUS_OK : (int)err->status;
    result_t *result = results_tune(&values.spec, &tune, status, err);
    const int ended = cli_end(run, result, tune.warmed && (run->json || tune.matrix.count), status, err);
    const size_t at = tune.verdict.cheapest;
    if (ok && tuned_write(values.spec.load.uri, &tune.settings[at].load, tune.study.format,
                          matrix_median(&tune.matrix.settings[at]), &why))
        log_note("kept for `tipple load --threads auto --batch auto`: the cheapest setting");
    else if (ok)
        log_warn("the cheapest setting is not kept for `tipple load --threads auto --batch auto`: %s",
                 why.text);
    tune_free_result(&tune);
    return ended;
}

const command_t command_tune = {
    .name = "tune",
    .group = COMMANDS_SPEED,
    .arguments = "FILE|DIRECTORY|PATTERN...",
    .about = "find the best threads and batch size",
    .help = "Loads the files for some seconds, again and again, into a scratch collection, and prints "
            "documents a second and bytes a document of each setting, the best, and the cheapest within 3 % "
            "of it. The target is not touched.\n\n"
            "Options may have several values, with commas, or given again (--shard-key, --create); all "
            "combinations are tried, each up to five times, for at least two seconds and four batches a "
            "thread. The scratch collection (DATABASE.COLLECTION.tipple.tune.ID) is like the target where no "
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
