#include "cli/options/cli.h"
#include "cli/results/results.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    load_options_t load;
    tune_spec_t spec;
} values_t;

static values_t values;

/* ---- options that may have a list ---- */

/* threads and batch come first */
static const char *const listed[] = {"threads", "batch", "compressor", "memory"};

static void init(void) {
    tune_spec_t *spec = &values.spec;
    tune_spec_init(spec);
    values.load.spec = spec->load;
    spec->list_count = sizeof listed / sizeof *listed;
    for (size_t i = 0; i < spec->list_count; i++) {
        const option_t *row =
            load_options_find(listed[i], TAKEN_BY_LIBRARY); /* whose numbers are never auto */
        spec->lists[i] = (tune_list_t){.option = row->name, .row = row};
    }
}

static bool take_value(void *into, const char *word, err_t *err) {
    tune_list_t *list = into;
    load_spec_t ignored;
    if (!option_set(list->row, word, &ignored, err))
        return false;
    snprintf(list->values[list->count++], TUNE_VALUE, "%s", word);
    return true;
}

/* at: the option's tune_list_t. */
static bool read_list(void *at, const char *text, err_t *err) {
    tune_list_t *list = at;
    list->count = 0;
    return cli_read_words(list->option, text, TUNE_VALUES, take_value, list, err);
}

static const option_t options[] = {
    OPTION("sample", COUNT, spec.sample, .group = GROUP_TRIED, .argument = "N", .least = 1, .typed = true,
           .help =
               "Records a trial: the first N of the files (default: what loads in two to three seconds)."),
    OPTION(
        "threads", CUSTOM, spec.lists[0], .group = GROUP_TRIED, .letter = 'j', .argument = "N,N,...",
        .custom = read_list,
        .help =
            "Numbers of loader threads to try (default: 1, 2, 4 ... up to four a CPU of this host, 8 to 32; "
            "on a cluster up to four a shard)."),
    OPTION("batch", CUSTOM, spec.lists[1], .letter = 'b', .argument = "N,N,...", .custom = read_list,
           .help = "Batch sizes to try, in documents (default 100,300,1000,3000)."),
    OPTION("compressor", CUSTOM, spec.lists[2], .argument = "NAME,...", .offers = "none snappy zlib zstd",
           .custom = read_list,
           .help =
               "The collection's block compressors to try: none, snappy, zlib, zstd (default: as for load)."),
    OPTION("memory", CUSTOM, spec.lists[3], .argument = "SIZE,...", .custom = read_list,
           .help = "Memory sizes to try (default: as for load)."),
    OPTION("budget", TIME, spec.budget_ns, .group = GROUP_MEASURED, .argument = "TIME",
           .help = "How long all trials may take together (default 3m)."),
    {.name = NULL},
};

/* ---- the command ---- */

static int find(run_t *run, err_t *err) {
    static tune_result_t tune;
    if (!cli_takes_inputs(run, "the target to tune for", err))
        return (int)err->status;
    values.spec.load = values.load.spec;
    const bool ok = tune_run(&values.spec, &tune, err);
    const int status = ok ? STATUS_OK : (int)err->status;
    result_t *result = results_tune(&values.spec, &tune, status, err);
    const int ended = cli_end(run, result, tune.warmed && (run->json || tune.matrix), status, err);
    if (ok)
        tune_keep(&values.spec, &tune);
    tune_free_result(&tune);
    return ended;
}

const command_t command_tune = {
    .name = "tune",
    .group = COMMANDS_SPEED,
    .arguments = "FILE|DIRECTORY|PATTERN...",
    .about = "find the best threads and batch size",
    .help =
        "Loads a sample of the files again and again into a scratch collection, with other values of the "
        "listed options each time, and prints documents a second and bytes a document of each setting, the "
        "best, and the cheapest within 3 % of the best. The target is not touched.\n\n"
        "The settings are all combinations of the lists. A trial takes at least two seconds, and four "
        "batches "
        "for each thread; each setting is tried up to five times. The scratch collection "
        "(DATABASE.COLLECTION.tipple.tune.ID) is clustered, compressed and sharded as the target where no "
        "option says otherwise, and dropped after each trial, after Ctrl-C too. The cheapest setting is kept "
        "on this host for `tipple "
        "load --threads auto --batch auto`, and for `tipple drill`.",
    .examples = "  tipple tune -f mot --uri mongodb://HOST/mot.results test_result_2023.csv\n"
                "  tipple tune -f mot --uri \"$URI\" data/*.gz --budget 10m\n"
                "  tipple tune -f mot --uri \"$URI\" *.gz --threads 4,8 --compressor snappy,zstd",
    .options = options,
    .takes = TAKEN_BY_TUNE,
    .with = WITH_JSON | WITH_REPORT,
    .values = &values,
    .init = init,
    .body = find,
};
