#include "base/numbers.h"
#include "base/stop.h"
#include "cli/options/cli.h"
#include "cli/results/results.h"
#include "load/before/uri_target.h"
#include "study/tune/tuned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* all of its options are those of load_options */
static load_options_t values;

static const apart_t apart[] = {
    {"append", "drop", "keeps the documents that --drop would drop"},
    {"retry", "drop", "adds to a collection that --drop would drop"},
    {"retry", "copies input-name limit skip-bad-files reload-changed reload-missing",
     "takes the records of a reject file, and reads no input"},
    {.option = NULL},
};

static bool check(const run_t *run, err_t *err) {
    const load_spec_t *spec = &values.spec;
    if (!cli_takes_inputs(run, "where to load into", err))
        return false;
    if (run->count && spec->retry)
        return err_set(err, STATUS_USAGE, "--retry takes its records from the reject file; leave '%s' out",
                       run->words[0]);
    return true;
}

/* Loads of several collections have a reject file each. */
static bool may_load(const run_t *run, size_t collections, err_t *err) {
    char question[400], several[40];
    char *target = collections ? NULL : uri_target(values.spec.uri);
    snprintf(several, sizeof several, "%zu collection%s", collections, units_s(collections));
    snprintf(question, sizeof question, "Drop %.300s with all documents and catalogs, then load?",
             collections ? several
             : target    ? target
                         : "the collection");
    free(target);
    stop_goes_on();
    if (collections && values.spec.rejects)
        return err_set(err, STATUS_USAGE,
                       "--rejects names one file, and the URI no collection: leave the option out, and the "
                       "rejects of each are kept in DATABASE.COLLECTION.rejects");
    return !values.spec.drop || values.spec.dry_run ||
           cli_confirm(run, "--drop destroys what is in the collection", question, err);
}

static int load_one(const run_t *run, const char *uri, char **inputs, int count, err_t *err) {
    load_spec_t spec = values.spec;
    spec.uri = uri;
    spec.inputs = inputs;
    spec.input_count = (size_t)count;
    static load_result_t load;
    load = (load_result_t){.files = 0}; /* of a load that was not begun */
    const bool ok = tuned_choose(&spec, err) && load_run(&spec, &load, err);
    const int status = ok && err->status != STATUS_SOME_REJECTED ? STATUS_OK : (int)err->status;
    const bool began =
        ok || load.counts.read || (status != STATUS_USAGE && load.namespace[0] && load.bytes_text);
    result_t *result = results_load(&spec, &load, status, err);
    const int ended = cli_end(run, result, began || (run->json && load.namespace[0]), status, err);
    load_result_free(&load);
    return ended;
}

static int load(run_t *run, err_t *err) {
    values.spec.watch_flushes = run->report != NULL;
    return check(run, err) ? each_collection(run, may_load, load_one, err) : (int)err->status;
}

const command_t command_load = {
    .name = "load",
    .group = COMMANDS_LOAD,
    .arguments = "FILE|DIRECTORY|PATTERN|-...",
    .about = "load files into a collection",
    .help = "Reads delimited text, fixed-width records, JSON, BSON and dumps of mongodump (plain, .gz, .zst, "
            ".xz, .bz2, .zip, .tar, directories, stdin) and inserts a document for each record. Without "
            "--format the format is recognised, and kept in the collection's catalog. Run the same command "
            "again at any time: it completes what is missing, and loads nothing twice. Afterwards read = "
            "loaded + already there + rejected + filtered.",
    .examples = "  tipple load orders.csv --uri mongodb://HOST/shop.orders     # any records\n"
                "  tipple load dump --uri mongodb://HOST                       # a mongodump\n"
                "  tipple load -f mot --uri \"$URI\" data/*.csv.gz --index k:1   # a known format\n"
                "  zcat big.gz | tipple load -f ./my.yaml --uri \"$URI\" -       # from a pipe\n"
                "  tipple load --retry shop.orders.rejects --uri \"$URI\"        # after a fix\n"
                "  # no header, semicolons, own _ids, a cluster, at most 20,000 docs a second\n"
                "  tipple load s.txt --uri mongodb://ROUTER/shop.sales --with header=no \\\n"
                "      --with 'delimiter=;' --id column_1 --shard-key _id:hashed --max-rate 20k",
    .takes = TAKEN_BY_LOAD,
    .with = WITH_JSON | WITH_REPORT | WITH_YES | WITH_METRICS,
    .apart = apart,
    .values = &values,
    .body = load,
};
