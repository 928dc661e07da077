#include "base/log.h"
#include "base/numbers.h"
#include "cli/results/results.h"
#include "study/tune/tuned.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    load_options_t load;
    drill_spec_t spec;
    const char *history;
    int64_t within_ns; /* 0: not asked */
} values_t;

static values_t values;

static const option_t options[] = {
    OPTION("drop", TEXT, spec.drop, .group = GROUP_COLLECTION, .argument = "DATABASE.COLLECTION",
           .destroys = true,
           .help =
               "Drop the target itself and load it again. The name must be the URI's own, written once more. "
               "What other files had been loaded into it is gone then."),
    OPTION(
        "query", TEXT, spec.query, .group = GROUP_REHEARSED, .argument = "SUITE[:NAME]",
        .offers = "@suites @files",
        .help =
            "The first query: one of `tipple query --list`, or of a file of your own (default: the first one "
            "of the format's own suite that needs nothing else; or else one document by its _id)."),
    OPTION("predict-only", FLAG, spec.predict_only,
           .help = "Only predict: load samples, and say what the whole would take."),
    OPTION("no-predict", FLAG, spec.no_predict, .help = "Predict nothing: no samples."),
    OPTION("scale", COUNT, spec.scale, .argument = "N", .least = 1, .most = 1000000000000000,
           .help = "Drill with samples only, more sizes of them and more often, and say what N documents "
                   "would take."),
    OPTION("sample", COUNT, spec.sample, .argument = "N", .least = 1, .typed = true,
           .help = "Records of the largest sample (default: what loads in two seconds, 20k to 1m)."),
    OPTION("within", TIME, within_ns, .argument = "TIME", .least = 1,
           .help =
               "Is the collection there, verified, within this time? Prints yes or no; no is status 6. With "
               "--scale or --predict-only, the upper end of the prediction decides."),
    OPTION("history", TEXT, history, .argument = "FILE",
           .help = "Append the result as a line of JSON to this file."),
    {.name = NULL},
};

static const apart_t apart[] = {
    {"no-predict", "predict-only scale sample", "predicts nothing"},
    {"predict-only", "drop query rejects", "loads samples alone, into a scratch collection"},
    {"scale", "drop query rejects", "loads samples alone, into a scratch collection"},
    {.option = NULL},
};

static bool check(const run_t *run, err_t *err) {
    values.load.spec.watch_flushes = run->report != NULL;
    if (!cli_takes_inputs(run, "the target to drill for", err))
        return false;
    values.spec.load = values.load.spec;
    return tuned_choose(&values.spec.load, err);
}

/* A drill drops first: it is not what goes on. */
static void tell_how_to_go_on(const drill_result_t *result) {
    if (!drill_left_open(result))
        return;
    char *line = paste_load(&result->load, "");
    log_warn("%s is not whole. This resumes from here (a drill would drop it again):\n%s", result->namespace,
             line);
    free(line);
}

static bool open_history(FILE **history, err_t *err) {
    *history = values.history ? fopen(values.history, "a+e") : NULL;
    return !values.history || *history ||
           err_set(err, err_status_of(errno), "--history %s cannot be opened: %s", values.history,
                   strerror(errno));
}

/* Only a drill that ended well can miss --within. */
static int answer(const drill_result_t *result, double within, int status, err_t *err) {
    double seconds;
    char wanted[UNITS_MAX], needed[UNITS_MAX];
    if (within <= 0 || (status != STATUS_OK && status != STATUS_SOME_REJECTED) ||
        drill_is_within(result, within, &seconds))
        return status;
    err_set(err, STATUS_MISSED, "it %s %s from nothing to verified, and --within allows %s",
            result->pass.finished ? "took" : "may take", units_time(needed, seconds),
            units_time(wanted, within));
    return STATUS_MISSED;
}

static int rehearse(run_t *run, err_t *err) {
    static drill_result_t drill;
    FILE *history = NULL;
    const double within = (double)values.within_ns / 1e9;
    if (!check(run, err) || !open_history(&history, err))
        return (int)err->status;
    const bool ok = drill_run(&values.spec, &drill, err);
    int status = answer(&drill, within, (int)err->status, err);
    result_t *result = results_drill(&values.spec, &drill, within, history, status, err);
    status = cli_end(run, result, drill.drilled || (run->json ? drill.sample_count > 0 : ok), status, err);
    if (history)
        fclose(history);
    if (status != STATUS_USAGE) /* that is: nothing was touched */
        tell_how_to_go_on(&drill);
    drill_free_result(&drill);
    return status;
}

static void init(void) {
    drill_spec_init(&values.spec);
    values.load.spec = values.spec.load;
}

const command_t command_drill = {
    .name = "drill",
    .group = COMMANDS_SPEED,
    .arguments = "FILE|DIRECTORY|PATTERN...",
    .about = "rehearse a reload after a disaster",
    .help = "Drops, creates, places, loads, indexes, verifies and asks a first query, as after a "
            "disaster, and prints what each took, next to what samples of the files had predicted. All "
            "of it is done in a scratch collection (DATABASE.COLLECTION.tipple.drill.ID), which is "
            "clustered, compressed, sharded and indexed as the target where no option says otherwise, "
            "and dropped at the end, after Ctrl-C too. The target is touched only if --drop names it "
            "once more. Exit status 7: what was loaded is not what the files make; 6: it took longer "
            "than --within allows.",
    .examples = "  tipple drill -f mot --uri mongodb://HOST/mot.results *.csv --index d:1,k:1\n"
                "  tipple drill -f mot --uri \"$URI\" *.csv --within 4h --history drills.json\n"
                "  tipple drill -f mot --uri \"$URI\" *.csv --scale 2g          # only predict\n"
                "  tipple drill -f mot --uri \"$URI\" *.csv --drop mot.results  # the target itself",
    .options = options,
    .takes = TAKEN_BY_DRILL,
    .with = WITH_JSON | WITH_REPORT | WITH_METRICS,
    .apart = apart,
    .values = &values,
    .init = init,
    .body = rehearse,
};
