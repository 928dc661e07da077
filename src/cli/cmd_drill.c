/* drill: the command, its collections, and what each phase took, next to what was predicted of it; and a line of that for a
 * history. */
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "base/yaml_tree.h"
#include "builtin/builtin.h"
#include "cli/options/cli.h"
#include "input/manifest.h"
#include "load/spec/progress.h"
#include "report/load_figures.h"
#include "server/bson_read.h"
#include "server/server.h"
#include "study/drill/drill.h"
#include "study/tune/tuned.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* ---- views ---- */

static const result_view_t views[] = {
    LINE(SHOW_NORMAL, NULL, "{collection} at {target}, MongoDB {server}   {-documents}"),
    LINE(SHOW_USUAL, NULL, "scratch: the target is not touched"),
    PARTS(SHOW_USUAL, "drills", "whole", "phases", "Phases",
          "Predicted from samples, with the 95 % interval in brackets.", COLUMN("phase", "phase"),
          COLUMN("predicted.-words", "predicted"), COLUMN("began_seconds", "began", .wide = true),
          COLUMN("seconds", "measured", .most = BAR_LARGEST), COLUMN("error_percent", "error")),
    LINE(SHOW_USUAL, "load.loaded",
         "loaded {load.loaded|document}, {load.bytes_bson} of BSON, {load.docs_per_second}, "
         "{load.threads|thread}, batches of {load.batch}",
         .each = "drills"),
    LINE(SHOW_USUAL, "load.loaded", "limited by: {load.limited_by}", .each = "drills"),
    LINE(SHOW_USUAL, NULL, "index {keys} built in {seconds}", .each = "drills.0.load.indexes"),
    LINE(SHOW_USUAL | SHOW_CARE, "load.rejected", "{load.rejected|record was|records were} rejected",
         .each = "drills"),
    LINE(
        SHOW_USUAL, "drills.0.query_seconds",
        "the first query, {query}, took {drills.0.query_seconds} itself: {drills.0.query_returned|document}"),
    LINE(SHOW_USUAL, "-sampled",
         "a sample does not see what hours bring: a full cache, long checkpoints, secondaries that lag"),
    LINE(SHOW_QUIET, "-sentence", "{-sentence}"),
    LINE(SHOW_USUAL, "-within", "{-within}"),
    TABLE(SHOW_PAGE, NULL, "samples", "Samples",
          "The first records of the files, loaded and all that follows; from these it was predicted.",
          COLUMN("read", "records"), COLUMN("documents", "documents"), COLUMN("seconds.load", "load"),
          COLUMN("seconds.indexes", "index build"), COLUMN("seconds.verify", "verify"),
          COLUMN("seconds.first query", "first query")),
    CLI_COURSE,
    {0}};

/* ---- figures ---- */

static bool ended_well(int status) {
    return status == STATUS_OK || status == STATUS_SOME_REJECTED || status == STATUS_MISSED;
}

static double seconds_of(bool known, int64_t ns) {
    return known ? (double)ns / 1e9 : NAN;
}

static void put_forecast(bson_t *to, const void *forecasts, size_t at) {
    const forecast_t *forecast = (const forecast_t *)forecasts + at;
    char words[FORECAST_SPELLED];
    if (!isnan(forecast->mid))
        result_put(to, AS_NUMBER("seconds", forecast->mid), AS_NUMBER("low", forecast->low),
                   AS_NUMBER("high", forecast->high), AS_TEXT("-words", forecast_spell(words, forecast)));
}

static void put_span(bson_t *to, const void *spans, size_t at) {
    const drill_span_t *span = (const drill_span_t *)spans + at;
    const double took = seconds_of(span->came, span->took_ns);
    if (!span->came && isnan(span->predicted.mid))
        return;
    result_put(to, AS_TEXT("phase", drill_phase_name((drill_phase_t)at)),
               AS_NUMBER("began_seconds", seconds_of(span->came, span->began_ns)), AS_NUMBER("seconds", took),
               AS_INNER("predicted", put_forecast, &span->predicted, 0),
               AS_NUMBER("error_percent", forecast_error_percent(&span->predicted, took)));
}

static void put_load(bson_t *to, const void *of, size_t at) {
    const drill_pass_t *pass = (const drill_pass_t *)of + at;
    const load_result_t *load = &pass->load;
    const counts_t *counts = &load->counts;
    if (pass->doing)
        result_put(to, OF(counts, read), AS_COUNT("loaded", counts->of[FATE_LOADED]),
                   AS_COUNT("already_there", counts->of[FATE_THERE]),
                   AS_COUNT("rejected", counts->of[FATE_REJECTED]),
                   AS_COUNT("filtered", counts->of[FATE_FILTERED]), OF(load, bytes_read),
                   OF(load, bytes_bson),
                   AS_NUMBER("docs_per_second",
                             result_rate(counts->of[FATE_LOADED], pass->phases[DRILL_LOAD].took_ns)),
                   OF(load, threads), OF(load, batch), OF(load, batches), OF(load, retries),
                   AS_SECONDS("client_cpu_seconds", load->cpu_ns), OF(load, clustered), OF(load, limited_by),
                   load_figures_indexes(load));
}

static void put_pass(bson_t *to, const void *passes, size_t at) {
    const drill_pass_t *pass = (const drill_pass_t *)passes + at;
    const double took = seconds_of(pass->doing, pass->took_ns);
    result_put(
        to, OF(pass, finished), AS_NUMBER("seconds", took),
        AS_NUMBER("verified_seconds", seconds_of(pass->finished, pass->verified_ns)),
        AS_INNER("predicted", put_forecast, &pass->predicted, 0),
        AS_INNER("predicted_verified", put_forecast, &pass->verified, 0),
        AS_NUMBER("error_percent", pass->finished ? forecast_error_percent(&pass->predicted, took) : NAN),
        AS_LIST("phases", DRILL_PHASES, put_span, pass->phases), AS_INNER("load", put_load, pass, 0),
        AS_COUNT("verified", pass->documents), AS_COUNT("differences", pass->wrong),
        AS_WORDS("difference", pass->difference), OF(pass, query_seconds), OF(pass, query_returned));
}

static void put_seconds(bson_t *to, const void *seconds, size_t at) {
    (void)at;
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++)
        if (!isnan(((const double *)seconds)[i]))
            result_put(to, AS_NUMBER(drill_phase_name(i), ((const double *)seconds)[i]));
}

static void put_sample(bson_t *to, const void *samples, size_t at) {
    const drill_sample_t *sample = (const drill_sample_t *)samples + at;
    result_put(to, OF(sample, asked), OF(sample, read), OF(sample, documents), OF(sample, bytes),
               AS_INNER("seconds", put_seconds, sample->seconds, 0));
}

/* Of drills that failed nothing is known. */
static void put_within(bson_t *to, const drill_result_t *drills, size_t count, double within, int status) {
    const double needed = drill_needs(drills, count);
    const bool known = within > 0 && !isnan(needed) && ended_well(status);
    result_put(to, AS_NUMBER("within_seconds", within > 0 ? within : NAN),
               AS_FLAG_IF("is_within", known, needed <= within), AS_NUMBER("-needed_seconds", needed));
    if (known)
        result_put_words(to, "-within",
                         isnan(drill_measured(drills, count))
                             ? "within {within_seconds}: {is_within} (predicted: up to {-needed_seconds})"
                             : "within {within_seconds}: {is_within} ({-needed_seconds})");
}

static void put_figures(bson_t *to, const drill_spec_t *spec, const drill_result_t *drill, double within,
                        int status) {
    const drill_pass_t *pass = &drill->pass;
    const study_t *study = &drill->study;
    result_put(to, AS_TEXT("mode", spec->predict_only ? "predict" : "scratch"), OF(study, namespace),
               OF(study, collection), AS_TEXT("target", study->where), AS_TEXT("server", study->version),
               AS_TEXT("version", TIPPLE_VERSION), OF(study, format),
               AS_TEXT("query", spec->query ? spec->query : "one document"),
               AS_NUMBER("documents", drill->all_documents), AS_FLAG("documents_exact", drill->exact),
               AS_SECONDS("seconds", drill->took_ns),
               AS_LIST("samples", drill->sample_count, put_sample, drill->samples),
               AS_LIST("drills", drill->drilled || drill->sample_count, put_pass, pass),
               AS_NUMBER("-later_seconds", seconds_of(pass->finished, pass->took_ns - pass->verified_ns)),
               AS_TEXT("-about", drill->exact ? "" : "about "), AS_FLAG("-sampled", spec->predict_only));
    put_within(to, drill, 1, within, status);
    cli_put_course(to, &pass->load.course);
    result_put_words(to, "-documents", isnan(drill->all_documents) ? "" : "{-about}{documents|document}");
}

static const char *sentence(const drill_pass_t *pass) {
    return pass->finished && pass->difference[0]
               ? "loaded and verified in {drills.0.verified_seconds}, but {drills.0.difference}"
           : pass->finished ? "from nothing to verified in {drills.0.verified_seconds}; the first query was "
                              "answered {-later_seconds} later"
           : isnan(pass->verified.mid) ? "nothing was drilled"
                                       : "predicted: from nothing to verified in "
                                         "{drills.0.predicted_verified.-words}, for {-documents}";
}

static bool write_history(FILE *file, const result_t *result) {
    bson_t whole = BSON_INITIALIZER;
    BSON_APPEND_DATE_TIME(&whole, "when", clock_wall_ms());
    result_copy(&whole, result);
    char *json = ejson_print(&whole, true, NULL);
    const bool ok = json && fprintf(file, "%s\n", json) > 0 && fflush(file) == 0;
    free(json);
    bson_destroy(&whole);
    return ok;
}

static result_t *make_result(const drill_spec_t *spec, const drill_result_t *drill, double within,
                             FILE *history, int status, const err_t *err) {
    const drill_pass_t *pass = &drill->pass;
    const bool ended = pass->finished || status == STATUS_MISSED;
    result_t *result = result_new("drill", views);
    put_figures(&result->document, spec, drill, within, status);
    if (pass->finished || !drill->drilled)
        result_put_words(&result->document, "-sentence", sentence(pass));
    result_answer(result, "How long does a reload take?", ended ? STATUS_OK : status, err, sentence(pass),
                  "");
    result->status = status;
    if (history && pass->finished && !write_history(history, result)) /* the drill itself has succeeded */
        log_warn("this drill is not in the history: %s", strerror(errno));
    return result;
}

/* ---- several collections ---- */

static const result_view_t views_of_all[] = {
    PARTS(SHOW_USUAL, NULL, "all", "collections", "Collections",
          "From nothing to verified, one after the other.", COLUMN("namespace", "collection"),
          COLUMN("predicted_verified.-words", "predicted"),
          COLUMN("verified_seconds", "measured", .most = BAR_LARGEST),
          COLUMN("error_percent", "error", .wide = true), COLUMN("seconds.load", "load"),
          COLUMN("seconds.indexes", "indexes"), COLUMN("seconds.verify", "verify"),
          COLUMN("seconds.first query", "first query", .wide = true)),
    LINE(SHOW_QUIET, "-sentence", "{-sentence}"),
    LINE(SHOW_USUAL, "-within", "{-within}"),
    {0}};

static void put_verified(bson_t *to, const drill_result_t *drills, size_t count) {
    const forecast_t predicted = drill_predicted(drills, count);
    const double measured = drill_measured(drills, count);
    result_put(to, AS_INNER("predicted_verified", put_forecast, &predicted, 0),
               AS_NUMBER("verified_seconds", measured),
               AS_NUMBER("error_percent", forecast_error_percent(&predicted, measured)));
}

static void put_collection(bson_t *to, const void *drills, size_t at) {
    const drill_result_t *drill = (const drill_result_t *)drills + at;
    double seconds[DRILL_PHASES];
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++)
        seconds[i] = seconds_of(drill->pass.phases[i].came, drill->pass.phases[i].took_ns);
    result_put(to, AS_TEXT("namespace", drill->study.namespace));
    put_verified(to, drill, 1);
    result_put(to, AS_TEXT("format", drill->study.format), AS_NUMBER("documents", drill->all_documents),
               AS_INNER("seconds", put_seconds, seconds, 0));
}

static result_t *make_result_of_all(const drill_result_t *drills, size_t count, double within, int status,
                                    const err_t *err) {
    const char *said =
        !isnan(drill_measured(drills, count))
            ? "from nothing to verified in {verified_seconds}, for {-count|collection}"
        : isnan(drill_predicted(drills, count).mid)
            ? "not all collections were drilled"
            : "predicted: from nothing to verified in {predicted_verified.-words}, for {-count|collection}";
    result_t *result = result_new("drill", views_of_all);
    result_put(&result->document, AS_LIST("collections", count, put_collection, drills),
               AS_COUNT("-count", count));
    put_verified(&result->document, drills, count);
    put_within(&result->document, drills, count, within, status);
    if (ended_well(status))
        result_put_words(&result->document, "-sentence", said);
    result_answer(result, "How long does a reload take?", status == STATUS_MISSED ? STATUS_OK : status, err,
                  said, "");
    result->status = status;
    return result;
}

/* ---- the collections ---- */

/* One to drill: as the command line has it, or one of --targets. */
typedef struct {
    values_t values;
    run_t run;  /* with these values and files */
    char *name; /* of --targets: DATABASE.COLLECTION */
    char *uri;
} target_t;

typedef struct {
    yaml_tree_t *tree; /* of --targets */
    target_t *items;
    drill_result_t *drills; /* of each of them */
    size_t count, room;
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

static bool add_target(targets_t *targets, const run_t *run, const yaml_item_t *item, const char *name,
                       err_t *err) {
    if (!GROW(targets->items, targets->room, targets->count + 1, err))
        return false;
    target_t *target = &targets->items[targets->count++];
    *target = (target_t){.values = values, .run = *run};
    if (!item)
        return true;
    for (const yaml_item_t *key = item->first; key; key = key->next)
        if (strcmp(key->key, "collection") != 0 && !set(targets->tree, key, target, err))
            return false;
    target->name = strdup(name);
    target->uri = address_with_collection(values.load.spec.uri, name, err);
    target->values.load.spec.uri = target->uri;
    target->run.words = target->values.load.inputs.items;
    target->run.count = (int)target->values.load.inputs.count;
    target->run.report = NULL; /* there is one of all */
    return target->uri && (target->name || err_memory(err, strlen(name)));
}

/* Every collection of a dump, under the name that it has there. */
static bool add_dump(targets_t *targets, const run_t *run, const yaml_item_t *item, err_t *err) {
    const yaml_item_t *files = item->kind == YAML_ITEM_MAP ? yaml_item_get(item, "files") : NULL;
    const manifest_options_t lists = {.lists = true};
    manifest_t manifest = {.count = 0};
    bool ok = true, dumped = files && files->kind == YAML_ITEM_SCALAR;
    if (dumped && !manifest_build(&manifest, (char *[]){(char *)files->text}, 1, &lists, err))
        return false;
    for (size_t i = 0; i < manifest.count; i++)
        dumped &= manifest.files[i].collection != NULL;
    for (size_t i = 0; ok && dumped && i < manifest.count; i++)
        ok = add_target(targets, run, item, manifest.files[i].collection, err);
    manifest_free(&manifest);
    return ok &&
           (dumped || yaml_tree_complain(targets->tree, item, err,
                                         "a collection is a map with collection: DATABASE.COLLECTION and "
                                         "files: FILE, or a list of files; only a dump names its own"));
}

static bool read_targets(targets_t *targets, const run_t *run, const yaml_item_t *item, err_t *err) {
    for (; item; item = item->next) {
        const yaml_item_t *name = item->kind == YAML_ITEM_MAP ? yaml_item_get(item, "collection") : NULL;
        if (name && name->kind != YAML_ITEM_SCALAR)
            return yaml_tree_complain(targets->tree, name, err, "a text is needed here: DATABASE.COLLECTION");
        if (!(name ? add_target(targets, run, item, name->text, err) : add_dump(targets, run, item, err)))
            return false;
    }
    return true;
}

/* The items of --targets. */
static const yaml_item_t *open_targets(targets_t *targets, const run_t *run, err_t *err) {
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
    return root->first;
}

static bool check(target_t *target, err_t *err) {
    load_spec_t *load = &target->values.load.spec;
    if (!cli_takes_inputs(&target->run, "the target to drill for", err) ||
        !drill_check_query(target->values.spec.query, err))
        return false;
    target->values.spec.load = *load;
    return tuned_choose(&target->values.spec.load, err);
}

/* Everything is read and checked before the first drill. */
static bool prepare(targets_t *targets, const run_t *run, err_t *err) {
    const yaml_item_t *item = values.targets ? open_targets(targets, run, err) : NULL;
    if (values.targets && !item)
        return false;
    if (!(item ? read_targets(targets, run, item, err) : add_target(targets, run, NULL, NULL, err)))
        return false;
    if (!(targets->drills = calloc(targets->count, sizeof *targets->drills)))
        return err_memory(err, targets->count * sizeof *targets->drills);
    for (size_t i = 0; i < targets->count; i++) {
        target_t *target = &targets->items[i];
        target->run.values = &target->values;
        if (!check(target, err))
            return target->uri ? err_where(err, "%s", target->name) : false;
    }
    return !run->report || result_check_page(run->report, err);
}

static void free_targets(targets_t *targets) {
    err_t ignored; /* of drills that were not begun */
    for (size_t i = 0; values.targets && i < targets->count; i++) {
        if (targets->drills)
            drill_close(&targets->drills[i], false, &ignored);
        options_free(load_options, &targets->items[i].values);
        if (targets->items[i].uri) /* there may be a password in it */
            explicit_bzero(targets->items[i].uri, strlen(targets->items[i].uri));
        free(targets->items[i].uri);
        free(targets->items[i].name);
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

/* A mistake in the last of several is found before the first is drilled. */
static bool open_all(targets_t *targets, err_t *err) {
    for (size_t i = 0; i < targets->count; i++)
        if (!drill_open(&targets->items[i].values.spec, &targets->drills[i], err))
            return err_where(err, "%s", targets->items[i].name);
    return true;
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
        const bool ok = (several || drill_open(spec, drill, err)) && drill_run(spec, drill, err);
        int one = answer(drill, 1, alone, (int)err->status, err);
        one = cli_end(&target->run, make_result(spec, drill, alone, history, one, err),
                      drill->drilled || (run->json ? drill->sample_count > 0 : ok), one, err);
        status = one == STATUS_OK ? status : one;
        if (several) /* it may have failed before a server was asked */
            snprintf(drill->study.namespace, sizeof drill->study.namespace, "%s", target->name);
    }
    if (!several)
        return status;
    status = answer(drills, count, within, status, err);
    return cli_end(run, make_result_of_all(drills, count, within, status, err), true, status, err);
}

static int rehearse(run_t *run, err_t *err) {
    targets_t targets = {.count = 0};
    FILE *history = NULL;
    bool ok = prepare(&targets, run, err);
    if (ok && values.history && !(history = fopen(values.history, "ae")))
        ok = err_set(err, err_status_of(errno), "--history %s cannot be opened: %s", values.history,
                     strerror(errno));
    ok = ok && (!values.targets || open_all(&targets, err));
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
