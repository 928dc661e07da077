#include "base/log.h"
#include "base/numbers.h"
#include "base/yaml_tree.h"
#include "builtin/builtin.h"
#include "cli/results/results.h"
#include "load/spec/progress.h"
#include "server/server.h"
#include "study/tune/tuned.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    load_options_t load;
    drill_spec_t spec;
    const char *targets, *history;
    int64_t within_ns; /* 0: not asked */
} values_t;

static values_t values;

static const option_t options[] = {
    OPTION(
        "query", TEXT, spec.query, .group = GROUP_REHEARSED, .argument = "SUITE:NAME",
        .offers = "@suites @files",
        .help =
            "The first query: of a suite of `tipple query --list` or of your own (default: any document)."),
    OPTION("targets", TEXT, targets, .argument = "FILE", .offers = "@files",
           .help = "Drill several collections, one after the other. FILE is YAML: a list of maps, each with "
                   "collection: DATABASE.COLLECTION, files: FILE or a list, query, and options of a load by "
                   "name. The URI names the server alone."),
    OPTION("predict-only", FLAG, spec.predict_only,
           .help = "Only predict: load samples, and say what the whole would take."),
    OPTION("no-predict", FLAG, spec.no_predict, .help = "Predict nothing: no samples."),
    OPTION("sample", COUNT, spec.sample, .argument = "N", .least = 1, .typed = true,
           .help = "Records of the largest sample (default: what loads in two seconds, 20k to 1m)."),
    OPTION("within", TIME, within_ns, .argument = "TIME", .least = 1,
           .help = "Is everything there, verified, within this time? Prints yes or no; no is status 6. With "
                   "--predict-only, the upper end of the prediction decides."),
    OPTION("history", TEXT, history, .argument = "FILE",
           .help = "Append the result of each collection as a line of JSON to this file."),
    {.name = NULL},
};

static const apart_t apart[] = {
    {"no-predict", "predict-only sample", "predicts nothing"},
    {"predict-only", "rejects history", "loads samples alone"},
    {"targets", "index filter type with rejects",
     "drills several collections, and its file has this option for each of them"},
    {.option = NULL},
};

/* ---- the collections ---- */

/* One to drill: as the command line has it, or an item of --targets. */
typedef struct {
    values_t values;
    run_t run;        /* with these values and files */
    const char *name; /* of --targets: DATABASE.COLLECTION */
    char *uri;
} target_t;

typedef struct {
    yaml_tree_t *tree; /* of --targets */
    target_t *items;
    drill_result_t *drills; /* of each of them */
    size_t count;
} targets_t;

/* The option of a key. NULL: there is none; the server is the same for all. */
static const option_t *find_row(const char *key) {
    if (strcmp(key, "query") == 0)
        return &options[0];
    if (strcmp(key, "files") == 0)
        return load_options_find("input", TAKEN_BY_LIBRARY);
    return strncmp(key, "uri", 3) == 0 ? NULL : load_options_find(key, TAKEN_BY_DRILL);
}

/* Sets a key, once for each item of its list. */
static bool set(const yaml_tree_t *tree, const yaml_item_t *item, target_t *target, err_t *err) {
    const option_t *row = find_row(item->key);
    const bool is_list = item->kind == YAML_ITEM_LIST;
    err_t why;
    if (!row)
        return yaml_tree_complain(
            tree, item, err,
            "'%s' is none of collection, files, query, and what a drill takes of the options of a load",
            item->key);
    if (is_list && row->kind != OPTION_LIST && row->kind != OPTION_CUSTOM)
        return yaml_tree_complain(tree, item, err, "'%s' has one value", item->key);
    for (const yaml_item_t *one = is_list ? item->first : item; one; one = is_list ? one->next : NULL) {
        if (one->kind != YAML_ITEM_SCALAR)
            return yaml_tree_complain(tree, one, err, "a text is needed here, or a list of texts");
        if (!option_set(row, one->text, &target->values, &why))
            return yaml_tree_complain(tree, one, err, "%s", why.text);
    }
    return true;
}

static bool read_target(const yaml_tree_t *tree, const yaml_item_t *item, target_t *target, err_t *err) {
    const yaml_item_t *name = item->kind == YAML_ITEM_MAP ? yaml_item_get(item, "collection") : NULL;
    if (!name || name->kind != YAML_ITEM_SCALAR)
        return yaml_tree_complain(
            tree, item, err,
            "a collection is a map with collection: DATABASE.COLLECTION and files: FILE, or a list of files");
    for (const yaml_item_t *key = item->first; key; key = key->next)
        if (key != name && !set(tree, key, target, err))
            return false;
    target->name = name->text;
    target->uri = address_with_collection(values.load.spec.uri, name->text, err);
    target->values.load.spec.uri = target->uri;
    target->run.words = target->values.load.inputs.items;
    target->run.count = (int)target->values.load.inputs.count;
    return target->uri != NULL;
}

/* The items of --targets, of which there are *count. */
static const yaml_item_t *open_targets(targets_t *targets, const run_t *run, size_t *count, err_t *err) {
    char *database = values.load.spec.uri ? address_of_database(values.load.spec.uri) : NULL;
    const bool is_server = database != NULL;
    opened_t file;
    free(database);
    if (!is_server || run->count)
        return err_set(err, STATUS_USAGE,
                       "--targets names the collections and their files: give no files, and with --uri the "
                       "server alone, such as mongodb://127.0.0.1"),
               NULL;
    if (!builtin_read("targets", values.targets, &file, err))
        return NULL;
    targets->tree = yaml_tree_parse(file.text, file.length, values.targets, err);
    free(file.text);
    const yaml_item_t *root = targets->tree ? yaml_tree_root(targets->tree) : NULL;
    if (!root)
        return NULL;
    if (root->kind != YAML_ITEM_LIST || !root->count)
        return yaml_tree_complain(targets->tree, root, err,
                                  "the file is a list of collections, and this is none"),
               NULL;
    *count = root->count;
    return root->first;
}

static bool check(target_t *target, err_t *err) {
    load_spec_t *load = &target->values.load.spec;
    load->watch_flushes = target->run.report != NULL;
    if (!cli_takes_inputs(&target->run, "the target to drill for", err) ||
        !drill_check_query(target->values.spec.query, err))
        return false;
    target->values.spec.load = *load;
    return tuned_choose(&target->values.spec.load, err);
}

/* Everything is read and checked before the first drill. */
static bool prepare(targets_t *targets, const run_t *run, err_t *err) {
    size_t count = 1;
    const yaml_item_t *item = values.targets ? open_targets(targets, run, &count, err) : NULL;
    if (values.targets && !item)
        return false;
    targets->items = calloc(count, sizeof *targets->items);
    targets->drills = calloc(count, sizeof *targets->drills);
    if (!targets->items || !targets->drills)
        return err_memory(err, count * sizeof *targets->drills);
    for (; targets->count < count; item = item ? item->next : NULL) {
        target_t *target = &targets->items[targets->count++];
        *target = (target_t){.values = values, .run = *run};
        target->run.values = &target->values;
        if (item)
            target->run.report = NULL; /* there is one of all */
        if ((item && !read_target(targets->tree, item, target, err)) || !check(target, err))
            return target->uri ? err_where(err, "%s", target->name) : false;
    }
    return !run->report || result_check_page(run->report, err);
}

static void free_targets(targets_t *targets) {
    for (size_t i = 0; values.targets && i < targets->count; i++) {
        options_free(load_options, &targets->items[i].values);
        if (targets->items[i].uri) /* there may be a password in it */
            explicit_bzero(targets->items[i].uri, strlen(targets->items[i].uri));
        free(targets->items[i].uri);
    }
    yaml_tree_destroy(targets->tree);
    free(targets->items);
    free(targets->drills);
}

/* ---- the drills ---- */

/* Only drills that ended well can miss --within. */
static int answer(const drill_result_t *drills, size_t count, double within, int status, err_t *err) {
    char wanted[UNITS_MAX], needed[UNITS_MAX];
    const double seconds = drill_needs(drills, count);
    if (within <= 0 || result_is_trouble(status) || seconds <= within)
        return status;
    err_set(err, STATUS_MISSED, "it %s %s from nothing to verified, and --within allows %s",
            isnan(drill_measured(drills, count)) ? "may take" : "took", units_time(needed, seconds),
            units_time(wanted, within));
    return STATUS_MISSED;
}

/* One after the other, until one fails; and, of several, the result of all. */
static int drill_all(run_t *run, targets_t *targets, FILE *history, err_t *err) {
    const double within = (double)values.within_ns / 1e9;
    const bool several = values.targets != NULL;
    drill_result_t *drills = targets->drills;
    int status = STATUS_OK;
    size_t count = 0;
    while (!result_is_trouble(status) && count < targets->count) {
        const target_t *target = &targets->items[count];
        const drill_spec_t *spec = &target->values.spec;
        drill_result_t *drill = &drills[count++];
        const double alone = several ? 0 : within;
        if (several)
            metrics_of(target->name);
        if (several && !run->json)
            out_print("collection %zu of %zu: %s\n", count, targets->count, target->name);
        const bool ok = drill_run(spec, drill, err);
        int one = answer(drill, 1, alone, (int)err->status, err);
        one = cli_end(&target->run, results_drill(spec, drill, alone, history, one, err),
                      drill->drilled || (run->json ? drill->sample_count > 0 : ok), one, err);
        status = one == STATUS_OK ? status : one;
        if (several) /* it may have failed before a server was asked */
            snprintf(drill->study.namespace, sizeof drill->study.namespace, "%s", target->name);
    }
    if (!several)
        return status;
    status = answer(drills, count, within, status, err);
    return cli_end(run, results_drills(drills, count, within, status, err), true, status, err);
}

static int rehearse(run_t *run, err_t *err) {
    targets_t targets = {.count = 0};
    FILE *history = NULL;
    bool ok = prepare(&targets, run, err);
    if (ok && values.history && !(history = fopen(values.history, "ae")))
        ok = err_set(err, err_status_of(errno), "--history %s cannot be opened: %s", values.history,
                     strerror(errno));
    const int status = ok ? drill_all(run, &targets, history, err) : (int)err->status;
    if (history)
        fclose(history);
    free_targets(&targets);
    return status;
}

const command_t command_drill = {
    .name = "drill",
    .group = COMMANDS_SPEED,
    .arguments = "[FILE|DIRECTORY|PATTERN...]",
    .about = "rehearse a reload after a disaster",
    .help = "Creates, places, loads, indexes, verifies and asks a first query, as after a disaster, and "
            "prints what each took, next to what samples of the files had predicted. All of it is done in a "
            "scratch collection (DATABASE.COLLECTION.tipple.drill.ID), which is like the target where no "
            "option says otherwise, and is dropped, after Ctrl-C too. The target is never touched. Exit "
            "status 7: what was loaded is not what the files make, or the first query's answer is not the "
            "expected one; 6: it took longer than --within allows.",
    .examples = "  tipple drill -f mot --uri mongodb://HOST/mot.results *.csv --index d:1,k:1\n"
                "  tipple drill -f mot --uri \"$URI\" *.csv --within 4h --history drills.json\n"
                "  tipple drill --uri \"$URI\" --targets all.yaml --predict-only",
    .options = options,
    .takes = TAKEN_BY_DRILL,
    .with = WITH_JSON | WITH_REPORT | WITH_METRICS,
    .apart = apart,
    .values = &values,
    .body = rehearse,
};
