#include "base/choose.h"
#include "base/numbers/units.h"
#include "cli/options/guess_rows.h"
#include "cli/options/load_rows.h"
#include "cli/print/storage_print.h"
#include "cli/print/tune_print.h"
#include "cli/report/report_storage.h"
#include "cli/report/report_tune.h"
#include "cli/report/reporting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    tune_spec_t spec;
    const char *uri_file, *report;
    texts_list_t filters, types;
    bool json, clustered, not_clustered, both_clustered, direct, both_direct;
    bool storage, short_keys[2];
    size_t key_count;
    const char *cold;
} values_t;

/* ---- options that are lists ---- */

static bool read_numbers(const char *option, const char *text, uint32_t most, uint32_t *numbers,
                         size_t *count, err_t *err) {
    char word[32];
    *count = 0;
    for (const char *at = text; cli_next_word(&at, word, sizeof word);) {
        uint64_t number;
        if (!units_parse_count(word, &number) || number < 1 || number > most)
            return err_set(err, STATUS_USAGE, "--%s: '%s' is not a number from 1 to %u; write it like 1,2,4",
                           option, word, most);
        if (*count == CHOICES_LISTED)
            return err_set(err, STATUS_USAGE, "--%s: more than %d of them", option, CHOICES_LISTED);
        for (size_t i = 0; i < *count; i++)
            if (numbers[i] == number)
                return err_set(err, STATUS_USAGE, "--%s: %s is named twice", option, word);
        numbers[(*count)++] = (uint32_t)number;
    }
    return *count > 0 || err_set(err, STATUS_USAGE, "--%s needs a number", option);
}

static bool read_threads(void *values, const char *text, err_t *err) {
    choice_lists_t *lists = &((values_t *)values)->spec.lists;
    return read_numbers("threads", text, LIMITS_MOST_THREADS, lists->threads, &lists->thread_count, err);
}

static bool read_batches(void *values, const char *text, err_t *err) {
    choice_lists_t *lists = &((values_t *)values)->spec.lists;
    return read_numbers("batch", text, LIMITS_MOST_BATCH, lists->batches, &lists->batch_count, err);
}

static bool read_routers(void *values, const char *text, err_t *err) {
    choice_lists_t *lists = &((values_t *)values)->spec.lists;
    return read_numbers("routers", text, 64, lists->routers, &lists->router_count, err);
}

static bool read_names(const char *option, const char *text, const char *const *known, size_t known_count,
                       const char **names, size_t *count, err_t *err) {
    char word[32];
    *count = 0;
    for (const char *at = text; cli_next_word(&at, word, sizeof word);) {
        const int chosen = choose_word(option, word, known, known_count, err);
        if (chosen < 0)
            return false;
        for (size_t i = 0; i < *count; i++)
            if (names[i] == known[chosen])
                return err_set(err, STATUS_USAGE, "--%s: %s is named twice", option, word);
        names[(*count)++] = known[chosen];
    }
    return *count > 0 || err_set(err, STATUS_USAGE, "--%s needs a value", option);
}

static const char *const block_compressors[] = {"none", "snappy", "zlib", "zstd"};
static const char *const wire_compressors[] = {"none", "snappy", "zlib", "zstd"};

static bool read_compressors(void *values, const char *text, err_t *err) {
    choice_lists_t *lists = &((values_t *)values)->spec.lists;
    return read_names("compressor", text, block_compressors,
                      sizeof block_compressors / sizeof *block_compressors, lists->compressors,
                      &lists->compressor_count, err);
}

static bool read_wires(void *values, const char *text, err_t *err) {
    choice_lists_t *lists = &((values_t *)values)->spec.lists;
    return read_names("wire-compressor", text, wire_compressors,
                      sizeof wire_compressors / sizeof *wire_compressors, lists->wires, &lists->wire_count,
                      err);
}

/* Texts that outlive the options: they are the settings' own. */
static bool read_concerns(void *values, const char *text, err_t *err) {
    static const char *const known[] = {"majority", "1", "2", "3", "4", "5", "6", "7"};
    choice_lists_t *lists = &((values_t *)values)->spec.lists;
    return read_names("write-concern", text, known, sizeof known / sizeof *known, lists->concerns,
                      &lists->concern_count, err);
}

static bool read_keys(void *values, const char *text, err_t *err) {
    static const char *const kinds[] = {"long", "short"};
    values_t *all = values;
    const char *names[CHOICES_LISTED];
    if (!read_names("keys", text, kinds, 2, names, &all->key_count, err))
        return false;
    for (size_t i = 0; i < all->key_count; i++)
        all->short_keys[i] = names[i] == kinds[1];
    return true;
}

static bool read_precision(void *values, const char *text, err_t *err) {
    double percent;
    if (!units_parse_percent(text, &percent) || percent < 0.1 || percent > 100)
        return err_set(err, STATUS_USAGE,
                       "--precision: '%s' is not a share from 0.1%% to 100%%; write it like 5%%", text);
    ((values_t *)values)->spec.precision = percent / 100;
    return true;
}

#define AT(name) .offset = offsetof(values_t, name)

#define GROUP_TRIED "What is tried"

static const option_t options[] = {
    CLI_URI_AT(values_t, spec.load.uri,
               "The target: mongodb://HOST/DATABASE.COLLECTION. Trials are made in "
               "DATABASE.COLLECTION.tipple.tune."),
    LOAD_ROW_URI_FILE(values_t),
    {.name = "patience",
     .argument = "TIME",
     .kind = OPTION_TIME,
     AT(spec.load.patience_ns),
     .environment = "TIPPLE_PATIENCE",
     .help = "How long a server may be away before tuning stops (default 30s)."},
    LOAD_ROW_FORMAT(values_t, spec.load.format),
    GUESS_ROWS(values_t, spec.load.guess, types),
    {.name = "filter", .argument = "EXPR", .kind = OPTION_LIST, AT(filters), .help = "As for load."},
    {.name = "sample",
     .argument = "N",
     .kind = OPTION_COUNT,
     AT(spec.sample),
     .least = 1,
     .help = "Records a trial: the first so many of the files (default 200k, fewer where a trial would take "
             "longer than two seconds, or the budget would not last)."},
    {.name = "threads",
     .group = GROUP_TRIED,
     .letter = 'j',
     .argument = "N,N,...",
     .kind = OPTION_CUSTOM,
     .custom = read_threads,
     .help = "Numbers of loader threads to try (default: 1, 2, 4 ... up to four a CPU of this host, 8 to 32; "
             "on a cluster up to four a shard)."},
    {.name = "batch",
     .letter = 'b',
     .argument = "N,N,...",
     .kind = OPTION_CUSTOM,
     .custom = read_batches,
     .help = "Batch sizes to try, in documents (default 100,300,1000,3000)."},
    {.name = "storage",
     .kind = OPTION_FLAG,
     AT(storage),
     .help = "Choose the storage instead: block compressors, clustered or plain, long or short keys; what is "
             "taken on disk, and how long a look at every document takes."},
    {.name = "keys",
     .argument = "long,short",
     .kind = OPTION_CUSTOM,
     .custom = read_keys,
     .help = "With --storage: the format's own keys, keys of a letter or two, or both (default: both, where "
             "the format's own are not as short)."},
    {.name = "compressor",
     .argument = "NAME,...",
     .offers = "none snappy zlib zstd",
     .kind = OPTION_CUSTOM,
     .custom = read_compressors,
     .help = "The collection's block compressors to try: none, snappy, zlib, zstd (default: as for load)."},
    {.name = "wire-compressor",
     .argument = "NAME,...",
     .offers = "none snappy zlib zstd",
     .kind = OPTION_CUSTOM,
     .custom = read_wires,
     .help = "Compressors of the connection to try: none, snappy, zlib, zstd (default: as the URI says)."},
    {.name = "write-concern",
     .argument = "W,...",
     .offers = "majority",
     .kind = OPTION_CUSTOM,
     .custom = read_concerns,
     .help = "Write concerns to try: majority, which loads have and which is safe, or 1 to 7 members. With "
             "these, documents that are counted as loaded can be lost, and load needs --unsafe."},
    {.name = "shard-key",
     .argument = "KEY",
     .kind = OPTION_TEXT,
     AT(spec.load.shard_key),
     .help = "As for load. Without it: as the target is sharded, where it exists."},
    {.name = "clustered",
     .kind = OPTION_FLAG,
     AT(clustered),
     .help = "As for load. Without it: as the target is, where it exists."},
    {.name = "no-clustered", .kind = OPTION_FLAG, AT(not_clustered), .help = "As for load."},
    {.name = "both-clustered",
     .kind = OPTION_FLAG,
     AT(both_clustered),
     .help = "Try clustered and plain collections."},
    {.name = "direct", .kind = OPTION_FLAG, AT(direct), .help = "As for load: past the routers."},
    {.name = "both-direct",
     .kind = OPTION_FLAG,
     AT(both_direct),
     .help = "Try through the routers and past them."},
    {.name = "routers",
     .argument = "N,N,...",
     .kind = OPTION_CUSTOM,
     .custom = read_routers,
     .help = "Numbers of routers to try: the first so many of the URI (default: all of them)."},
    {.name = "budget",
     .group = GROUP_MEASURED,
     .argument = "TIME",
     .kind = OPTION_TIME,
     AT(spec.budget_ns),
     .help = "How long all trials may take together (default 3m)."},
    {.name = "precision",
     .argument = "P%",
     .kind = OPTION_CUSTOM,
     .custom = read_precision,
     .help = "A setting is tried until the 95 % confidence interval of its mean is this narrow, to either "
             "side (default 5%)."},
    {.name = "cold",
     .argument = "COMMAND",
     .kind = OPTION_TEXT,
     AT(cold),
     .help =
         "With --storage: run this in each trial before one more look at every document, to empty caches: "
         "one that restarts the server, for example. Without it nothing is told of scans from disk."},
    {.name = "seed",
     .argument = "S",
     .kind = OPTION_COUNT,
     AT(spec.seed),
     .help = "The order of trials is the same for the same seed (default 1)."},
    LOAD_ROW_BATCH_BYTES(values_t, spec.load.batch_bytes, "As for load (default 2M)."),
    LOAD_ROW_MEMORY(values_t, spec.load.memory, "As for load (default 256M)."),
    CLI_JSON(values_t),
    CLI_REPORT(values_t),
    {.name = NULL},
};

/* ---- the command ---- */

static const apart_t apart[] = {
    {"both-clustered", "clustered no-clustered", "tries both ways"},
    {"clustered", "no-clustered", "is the contrary of --no-clustered"},
    {"both-direct", "direct", "tries both ways"},
    {.option = NULL},
};

static bool check(values_t *values, char **inputs, int count, err_t *err) {
    tune_spec_t *spec = &values->spec;
    load_spec_t *load = &spec->load;
    if (values->uri_file && !cli_read_uri_file(values->uri_file, &load->uri, err))
        return false;
    if (!load->uri)
        return err_set(
            err, STATUS_USAGE,
            "--uri is missing: the target to tune for, such as --uri mongodb://127.0.0.1/mot.results (or set "
            "TIPPLE_URI)");
    if (!guess_options_check(&load->guess, values->types.items, values->types.count, load->format, err))
        return false;
    if (!count)
        return err_set(err, STATUS_USAGE, "no files: name some of those that will be loaded");
    if (values->clustered || values->not_clustered)
        load->clustered = values->clustered ? CLUSTERED_YES : CLUSTERED_NO;
    load->direct = values->direct;
    choice_lists_t *lists = &spec->lists;
    if (values->both_clustered) {
        lists->clustered[lists->clustered_count++] = CLUSTERED_YES;
        lists->clustered[lists->clustered_count++] = CLUSTERED_NO;
    }
    if (values->both_direct) {
        lists->direct[lists->direct_count++] = false;
        lists->direct[lists->direct_count++] = true;
    }
    if (lists->compressor_count == 1) /* said, not tried: the line to paste says it, too */
        load->compressor = lists->compressors[0];
    load->inputs = inputs;
    load->input_count = (size_t)count;
    load->filters = values->filters.items;
    load->filter_count = values->filters.count;
    return true;
}

/* What the one study varies, and the other does not. */
static bool check_kind(const values_t *values, err_t *err) {
    const choice_lists_t *lists = &values->spec.lists;
    const struct {
        bool given, of_storage;
        const char *what;
    } others[] = {{lists->thread_count > 1, false, "a list of --threads"},
                  {lists->batch_count > 1, false, "a list of --batch"},
                  {lists->wire_count > 0, false, "--wire-compressor"},
                  {lists->router_count > 0, false, "--routers"},
                  {lists->concern_count > 0, false, "--write-concern"},
                  {values->both_direct, false, "--both-direct"},
                  {values->key_count > 0, true, "--keys"},
                  {values->cold != NULL, true, "--cold"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given && values->storage && !others[i].of_storage)
            return err_set(
                err, STATUS_USAGE,
                "%s does not go with --storage, which tries block compressors, clustered or plain, and "
                "keys: leave one of them out",
                others[i].what);
        else if (others[i].given && !values->storage && others[i].of_storage)
            return err_set(err, STATUS_USAGE, "%s goes with --storage", others[i].what);
    return true;
}

static int run_storage(const values_t *values, const again_t *again, err_t *err) {
    static storage_result_t result;
    const tune_spec_t *tune = &values->spec;
    const choice_lists_t *given = &tune->lists;
    storage_spec_t spec = {.load = tune->load,
                           .sample = tune->sample,
                           .budget_ns = tune->budget_ns,
                           .precision = tune->precision,
                           .seed = tune->seed,
                           .cold = values->cold};
    storage_lists_t *lists = &spec.lists;
    memcpy(lists->compressors, given->compressors, sizeof lists->compressors);
    lists->compressor_count = given->compressor_count;
    memcpy(lists->clustered, given->clustered, sizeof lists->clustered);
    lists->clustered_count = given->clustered_count;
    memcpy(lists->short_keys, values->short_keys, sizeof lists->short_keys);
    lists->key_count = values->key_count;
    if (tune->load.clustered != CLUSTERED_DEFAULT)
        lists->clustered[lists->clustered_count++] = tune->load.clustered;
    spec.load.threads = given->thread_count ? given->threads[0] : 0;
    spec.load.batch = given->batch_count ? given->batches[0] : LOAD_BATCH;
    bool ok = storage_run(&spec, &result, err);
    int status = ok ? STATUS_OK : (int)err->status;
    bson_t document = BSON_INITIALIZER;
    storage_make_result(&document, &spec, &result);
    if (values->report && status != STATUS_USAGE)
        status = reporting_end(report_storage(&spec, &result, &document, status, err), values->report, again,
                               spec.load.uri, status, err);
    if (values->json && result.warmed)
        result_print("tune", status, &document);
    else if (result.warmed && result.counts.trials)
        storage_print_table(&spec, &result, &document);
    bson_destroy(&document);
    storage_free_result(&result);
    return cli_finish(status, err);
}

static int tune(void *context, char **inputs, int count, const again_t *again, err_t *err) {
    values_t *values = context;
    static tune_result_t result;
    if (!check(values, inputs, count, err) || !check_kind(values, err) ||
        (values->report && !report_check_path(values->report, err)))
        return (int)err->status;
    if (values->storage)
        return run_storage(values, again, err);
    bool ok = tune_run(&values->spec, &result, err);
    int status = ok ? STATUS_OK : (int)err->status;
    bson_t document = BSON_INITIALIZER;
    tune_make_result(&document, &values->spec, &result);
    if (values->report && status != STATUS_USAGE)
        status = reporting_end(report_tune(&values->spec, &result, &document, status, err), values->report,
                               again, values->spec.load.uri, status, err);
    if (values->json && result.warmed)
        result_print("tune", status, &document);
    else if (result.warmed && result.verdict.trials)
        tune_print_table(&result, &document);
    bson_destroy(&document);
    if (ok)
        tune_keep(&values->spec, &result);
    tune_free_result(&result);
    return cli_finish(status, err);
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.json = false};
    tune_spec_init(&values.spec);
    return reporting_run(command, argc, argv, &values, tune, err);
}

const command_t command_tune = {
    .name = "tune",
    .group = COMMANDS_SPEED,
    .arguments = "FILE|DIRECTORY|PATTERN...",
    .about = "find the best threads and batch size, or storage",
    .help = "Loads a sample of the files again and again into a scratch collection, with other "
            "threads and batch sizes each time, and prints documents a second of each, with its "
            "interval, the best, and the cheapest setting that is within 3 % of the best as far as "
            "the trials tell. The target is not touched.\n\n"
            "Trials take turns in an order drawn anew each round. The scratch collection "
            "(DATABASE.COLLECTION.tipple.tune) is made as the target would be, and is dropped after "
            "every trial and at the end, after Ctrl-C too. The cheapest setting is kept on this host "
            "for `tipple load --threads auto --batch auto`.\n\n"
            "With --storage it tries block compressors, clustered and plain collections, long and "
            "short keys instead, and prints what each takes on disk, how fast it loads, and how long "
            "a look at every document takes.",
    .examples =
        "  tipple tune --format mot --uri mongodb://127.0.0.1/mot.results test_result_2023.csv\n"
        "  tipple tune -f mot --uri \"$URI\" data/*.gz --budget 10m --precision 2%\n"
        "  tipple tune -f mot --uri \"$URI\" data/*.gz --threads 4,8,16 --compressor snappy,zstd\n"
        "  tipple tune -f mot --uri \"$URI\" data/*.gz --both-direct --routers 1,2,4   # on a cluster\n"
        "  tipple tune -f obd --uri \"$URI\" trips.csv --storage\n"
        "  tipple tune -f obd --uri \"$URI\" trips.csv --storage --compressor zstd --clustered --keys long",
    .needs_driver = true,
    .options = options,
    .apart = apart,
    .run = run,
};
