#include "base/choose.h"
#include "base/log.h"
#include "cli/options/guess_rows.h"
#include "cli/options/load_rows.h"
#include "cli/print/drill_history.h"
#include "cli/print/drill_print.h"
#include "cli/report/report_drill.h"
#include "cli/report/reporting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    drill_spec_t spec;
    const char *uri_file, *report;
    texts_list_t indexes, filters, types;
    bool json, clustered, not_clustered, history;
} values_t;

static bool read_indexes(void *values, const char *text, err_t *err) {
    static const char *const words[] = {"after", "before", "both"};
    const int chosen = choose_word("indexes", text, words, sizeof words / sizeof *words, err);
    if (chosen >= 0)
        ((values_t *)values)->spec.indexes = (drill_indexes_t)chosen;
    return chosen >= 0;
}

#define AT(name) .offset = offsetof(values_t, name)

#define GROUP_REHEARSED "What is rehearsed"

static const option_t options[] = {
    CLI_URI_AT(values_t, spec.load.uri,
               "The target: mongodb://HOST/DATABASE.COLLECTION. Unless --drop names it, the drill is in "
               "DATABASE.COLLECTION.tipple.drill."),
    LOAD_ROW_URI_FILE(values_t),
    {.name = "drop",
     .destroys = true,
     .argument = "DATABASE.COLLECTION",
     .kind = OPTION_TEXT,
     AT(spec.drop),
     .help = "Drop the target itself and load it again. The name must be the URI's own, written once more. "
             "What other files had been loaded into it is gone then."},
    {.name = "index",
     .argument = "KEYS",
     .kind = OPTION_LIST,
     AT(indexes),
     .help = "An index to build, such as 'd:1,k:1' or 'st:hashed'. May be given several times. Without "
             "it: those that the target has."},
    {.name = "indexes",
     .argument = "after|before|both",
     .kind = OPTION_CUSTOM,
     .custom = read_indexes,
     .help = "Build indexes after the load (the default), before it, or do it all twice and compare."},
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
    {.name = "compressor",
     .argument = "NAME",
     .offers = "none snappy zlib zstd",
     .kind = OPTION_CUSTOM,
     AT(spec.load),
     .custom = load_rows_compressor,
     .help = "As for load. Without it: as the target is, where it exists."},
    {.name = "patience",
     .argument = "TIME",
     .kind = OPTION_TIME,
     AT(spec.load.patience_ns),
     .environment = "TIPPLE_PATIENCE",
     .help = "How long a server may be away before the drill stops (default 30s)."},
    LOAD_ROW_FORMAT(values_t, spec.load.format),
    GUESS_ROWS(values_t, spec.load.guess, types),
    {.name = "filter", .argument = "EXPR", .kind = OPTION_LIST, AT(filters), .help = "As for load."},
    LOAD_ROW_MAX_RECORD(values_t, spec.load.max_record, "As for load (default 16M)."),
    {.name = "max-rejects",
     .argument = "N|P%",
     .kind = OPTION_CUSTOM,
     AT(spec.load),
     .custom = load_rows_max_rejects,
     .help = "As for load (default 1000)."},
    {.name = "rejects",
     .argument = "FILE",
     .kind = OPTION_TEXT,
     AT(spec.load.rejects),
     .help = "Where rejected records are kept (default: as for load where the target itself is drilled, else "
             "nowhere)."},
    {.name = "query",
     .group = GROUP_REHEARSED,
     .argument = "SUITE[:NAME]",
     .offers = "@queries",
     .kind = OPTION_TEXT,
     AT(spec.query),
     .help =
         "The first query: one of `tipple query --list`, or of a file of your own (default: the first one "
         "of the format's own suite that needs nothing else; or else one document by its _id)."},
    {.name = "predict-only",
     .kind = OPTION_FLAG,
     AT(spec.predict_only),
     .help = "Only predict: load samples, and say what the whole would take."},
    {.name = "no-predict", .kind = OPTION_FLAG, AT(spec.no_predict), .help = "Predict nothing: no samples."},
    {.name = "scale",
     .argument = "[N]",
     .kind = OPTION_COUNT_MAYBE,
     AT(spec.scale),
     .least = 1,
     .most = 1000000000000000,
     .help =
         "Drill with samples only, more sizes of them and more often, and say what N documents would take "
         "(default: what the files hold)."},
    {.name = "sample",
     .argument = "N",
     .kind = OPTION_COUNT,
     AT(spec.sample),
     .least = 1,
     .help = "Records of the largest sample (default: what loads in two seconds, 20k to 1m)."},
    {.name = "history",
     .kind = OPTION_FLAG,
     AT(history),
     .help = "List the drills of the target that came to their ends, each compared with the one before."},
    {.name = "threads",
     .group = GROUP_SPEED,
     .letter = 'j',
     .argument = "N",
     .kind = OPTION_COUNT32,
     AT(spec.load.threads),
     .least = 1,
     .most = LIMITS_MOST_THREADS,
     .help = "As for load, and for verify."},
    {.name = "batch",
     .letter = 'b',
     .argument = "N",
     .kind = OPTION_COUNT32,
     AT(spec.load.batch),
     .least = 1,
     .most = LIMITS_MOST_BATCH,
     .help = "As for load (default 1000)."},
    LOAD_ROW_BATCH_BYTES(values_t, spec.load.batch_bytes, "As for load (default 2M)."),
    LOAD_ROW_MEMORY(values_t, spec.load.memory, "As for load, and for verify (default 256M)."),
    {.name = "direct", .kind = OPTION_FLAG, AT(spec.load.direct), .help = "As for load: past the routers."},
    {.name = "unsafe", .kind = OPTION_FLAG, AT(spec.load.unsafe), .help = "As for load."},
    CLI_JSON(values_t),
    CLI_REPORT(values_t),
    {.name = NULL},
};

static const apart_t apart[] = {
    {"history", "report", "lists drills, and makes none"},
    {"clustered", "no-clustered", "is the contrary of --no-clustered"},
    {"no-predict", "predict-only scale sample", "predicts nothing"},
    {"predict-only", "drop query rejects", "loads samples alone, into a scratch collection"},
    {"scale", "drop query rejects", "loads samples alone, into a scratch collection"},
    {.option = NULL},
};

static bool check(values_t *values, char **inputs, int count, err_t *err) {
    drill_spec_t *spec = &values->spec;
    load_spec_t *load = &spec->load;
    if (values->uri_file && !cli_read_uri_file(values->uri_file, &load->uri, err))
        return false;
    if (!load->uri)
        return err_set(err, STATUS_USAGE,
                       "--uri is missing: the target to drill for, such as --uri "
                       "mongodb://127.0.0.1/mot.results (or set TIPPLE_URI)");
    if (values->history)
        return !count || err_set(err, STATUS_USAGE, "--history drills nothing: leave '%s' out", inputs[0]);
    if (!guess_options_check(&load->guess, values->types.items, values->types.count, load->format, err))
        return false;
    if (!count)
        return err_set(err, STATUS_USAGE, "no files: name those that would be loaded again");
    if (values->clustered || values->not_clustered)
        load->clustered = values->clustered ? CLUSTERED_YES : CLUSTERED_NO;
    load->inputs = inputs;
    load->input_count = (size_t)count;
    load->indexes = values->indexes.items;
    load->index_count = values->indexes.count;
    load->filters = values->filters.items;
    load->filter_count = values->filters.count;
    return true;
}

/* A drill drops first: it is not what goes on. */
static void tell_how_to_go_on(const drill_result_t *result) {
    if (!drill_left_open(result))
        return;
    char *line = drill_load_line(result);
    log_warn("%s is not whole. This resumes from here (a drill would drop it again):\n%s", result->namespace,
             line);
    free(line);
}

static int drill(void *context, char **inputs, int count, const again_t *again, err_t *err) {
    values_t *values = context;
    static drill_result_t result;
    if (!check(values, inputs, count, err) || (values->report && !report_check_path(values->report, err)))
        return (int)err->status;
    if (values->history)
        return drill_history(values->spec.load.uri, values->spec.load.patience_ns, values->json, err);
    values->spec.load.watch_flushes = values->report != NULL;
    const bool ok = drill_run(&values->spec, &result, err);
    int status = (int)err->status;
    bson_t document = BSON_INITIALIZER;
    drill_make_result(&document, &values->spec, &result);
    if (values->report && status != STATUS_USAGE)
        status = reporting_end(report_drill(&values->spec, &result, &document, status, err), values->report,
                               again, values->spec.load.uri, status, err);
    if (values->json && (result.drilled || result.sample_count))
        result_print("drill", status, &document);
    else if (!values->json && (result.drilled || ok))
        drill_print_table(&values->spec, &result, &document);
    bson_destroy(&document);
    tell_how_to_go_on(&result);
    drill_free_result(&result);
    return cli_finish(status, err);
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.json = false};
    drill_spec_init(&values.spec);
    return reporting_run(command, argc, argv, &values, drill, err);
}

const command_t command_drill = {
    .name = "drill",
    .group = COMMANDS_SPEED,
    .arguments = "FILE|DIRECTORY|PATTERN...",
    .about = "rehearse a reload after a disaster",
    .help = "Drops, creates, places, loads, indexes, verifies and asks a first query, as after a "
            "disaster, and tells what each took, next to what samples of the files had predicted. All "
            "of it is done in a scratch collection; the target is touched only if --drop names it "
            "once more.\n\n"
            "The scratch collection is next to the target (DATABASE.COLLECTION.tipple.drill), and is "
            "dropped at the end, after Ctrl-C too. Exit status 7: what was loaded is not what the "
            "files make.",
    .examples =
        "  tipple drill --format mot --uri mongodb://127.0.0.1/mot.results data/*.csv --index d:1,k:1\n"
        "  tipple drill -f mot --uri \"$URI\" data/*.csv --index k:1 --indexes both   # which way is "
        "quicker?\n"
        "  tipple drill -f mot --uri \"$URI\" data/*.csv --scale                      # only predict\n"
        "  tipple drill -f mot --uri \"$URI\" data/*.csv --drop mot.results           # the target itself",
    .needs_driver = true,
    .options = options,
    .apart = apart,
    .run = run,
};
