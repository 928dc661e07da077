#include "base/numbers.h"
#include "base/stop.h"
#include "cli/each_collection.h"
#include "cli/options/cli.h"
#include "cli/results/results.h"
#include "server/collection.h"
#include "study/tune/tuned.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    load_options_t load;
    const char *report;
    bool yes, json;
} values_t;

#define AT(name) .offset = offsetof(values_t, name)

static const option_t options[] = {
    {.name = "yes",
     .group = GROUP_COLLECTION,
     .destroys = true,
     .letter = 'y',
     .kind = OPTION_FLAG,
     AT(yes),
     .help = "Do not ask."},
    CLI_JSON(values_t),
    CLI_REPORT(values_t),
    {.name = NULL},
};

static const apart_t apart[] = {
    {"append", "drop", "keeps the documents that --drop would drop"},
    {"retry", "drop", "adds to a collection that --drop would drop"},
    {"retry", "copies input-name skip-bad-files reload-changed",
     "takes the records of a reject file, and reads no input"},
    {.option = NULL},
};

/* Of a command that loads several collections. */
static bool check_each(const values_t *values, err_t *err) {
    return results_no_page(values->report, err) &&
           (!values->load.spec.rejects ||
            err_set(
                err, STATUS_USAGE,
                "--rejects names one file, and the URI no collection: leave the option out, and the rejects "
                "of each are kept in DATABASE.COLLECTION.rejects"));
}

static bool check(values_t *values, char **inputs, int count, err_t *err) {
    load_spec_t *spec = &values->load.spec;
    if (!spec->uri)
        return err_set(err, STATUS_USAGE,
                       "--uri is missing: where to load into, such as --uri mongodb://127.0.0.1/mot.results "
                       "(or set TIPPLE_URI)");
    if (!load_options_settle(&values->load, spec->format, err))
        return false;
    if (!count && !spec->retry)
        return err_set(err, STATUS_USAGE,
                       "nothing to load: give files, directories, patterns, or - for stdin");
    if (count && spec->retry)
        return err_set(err, STATUS_USAGE, "--retry takes its records from the reject file; leave '%s' out",
                       inputs[0]);
    if (values->report && spec->rejects && result_is_same_file(values->report, spec->rejects))
        return err_set(err, STATUS_USAGE, "--report and --rejects name the same file: %s", values->report);
    if (spec->retry && spec->reload_missing)
        return err_set(
            err, STATUS_USAGE,
            "--retry loads what was fixed in a reject file, and --reload-missing reads the inputs: "
            "give --reload-missing with the inputs first, then --retry");
    if (spec->retry && spec->limit != UINT64_MAX)
        return err_set(
            err, STATUS_USAGE,
            "--retry loads all that was fixed, and knows no --limit; leave the option out, or give a copy "
            "of the reject file without the other entries");
    return true;
}

static bool choose(load_spec_t *spec, err_t *err) {
    const bool threads = spec->threads == OPTION_AUTO, batch = spec->batch == OPTION_AUTO;
    return (!threads && !batch) || tuned_choose(spec, threads, batch, err);
}

/* What --drop would drop. */
static bool look_at_doomed(const values_t *values, char *name, size_t size, uint64_t *documents, err_t *err) {
    const server_options_t wanted = {
        .uri = values->load.spec.uri, .patience_ns = values->load.spec.patience_ns, .connections = 1};
    collection_t place = {.exists = false};
    server_t *server = server_connect(&wanted, err);
    mongoc_client_t *client = server ? server_take(server, err) : NULL;
    const bool ok = client && collection_look(server, client, &place, err);
    if (ok)
        snprintf(name, size, "%s", server_namespace(server));
    *documents = place.count;
    if (client)
        server_give(server, client);
    server_destroy(server);
    return ok;
}

static bool confirm_drop(const values_t *values, size_t collections, err_t *err) {
    if (!values->load.spec.drop || values->yes || values->load.spec.dry_run)
        return true;
    char name[300], count[UNITS_MAX], question[sizeof name + 200];
    uint64_t documents;
    if (!cli_may_ask("--drop destroys what is in the collection", err) ||
        (!collections && !look_at_doomed(values, name, sizeof name, &documents, err)))
        return false;
    if (collections)
        snprintf(question, sizeof question,
                 "Drop %zu collection%s, each with all of its documents and its catalog, then load?",
                 collections, units_s(collections));
    else
        snprintf(question, sizeof question, "Drop %s with its %s document%s and its catalog, then load?",
                 name, units_count(count, documents), units_s(documents));
    return cli_ask(question, err);
}

typedef struct {
    values_t *values;
    const again_t *again;
} order_t;

static int load_one(void *context, const char *uri, char **inputs, int count, err_t *err) {
    const order_t *order = context;
    values_t *values = order->values;
    load_spec_t spec = values->load.spec;
    spec.uri = uri;
    spec.inputs = inputs;
    spec.input_count = (size_t)count;
    static load_result_t load;
    load = (load_result_t){.files = 0}; /* of a load that was not begun */
    const bool ok = choose(&spec, err) && load_run(&spec, &load, err);
    int status = ok && err->status != STATUS_SOME_REJECTED ? STATUS_OK : (int)err->status;
    const bool began =
        ok || load.counts.read || (status != STATUS_USAGE && load.namespace[0] && load.bytes_text);
    result_t *result = results_load(&spec, &load, status, err);
    if (values->report && status != STATUS_USAGE)
        status = results_page(result, values->report, order->again, uri, status, err);
    if (values->json && (ok || load.namespace[0]))
        result_print_json(result, status);
    else if (!values->json && began)
        result_print_text(result);
    result_free(result);
    load_result_free(&load);
    return cli_finish(status, err);
}

static int load(void *context, char **inputs, int count, const again_t *again, err_t *err) {
    values_t *values = context;
    order_t order = {.values = values, .again = again};
    each_collection_t each = {.list = {0}, .drops = values->load.spec.drop};
    int status;
    if (!check(values, inputs, count, err) || (values->report && !result_check_page(values->report, err)))
        return (int)err->status;
    values->load.spec.watch_flushes = values->report != NULL;
    if (each_collection_find(&each, values->load.spec.uri, inputs, count, err) &&
        (!each.list.count || check_each(values, err)) && confirm_drop(values, each.list.count, err)) {
        stop_goes_on();
        status = each_collection_run(&each, values->load.spec.uri, inputs, count, values->json, load_one,
                                     &order, err);
    } else {
        status = (int)err->status;
    }
    each_collection_free(&each);
    return status;
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.yes = false};
    load_options_init(&values.load);
    return results_run(command, argc, argv, &values, load, err);
}

const command_t command_load = {
    .name = "load",
    .group = COMMANDS_LOAD,
    .arguments = "FILE|DIRECTORY|PATTERN|-...",
    .about = "load files into a collection",
    .help = "Reads delimited text, fixed-width records, JSON, BSON and dumps of mongodump (plain, .gz, "
            ".zst, .xz, .bz2, .zip, .tar, directories, stdin) and inserts a document for each record. "
            "Without --format the format is recognised, and kept in the collection's catalog. Run the "
            "same command again at any time: it completes what is missing, and loads nothing twice. "
            "Afterwards read = loaded + already there + rejected + filtered.",
    .examples = "  tipple load orders.csv --uri mongodb://HOST/shop.orders     # any records\n"
                "  tipple load dump --uri mongodb://HOST                       # a mongodump\n"
                "  tipple load -f mot --uri \"$URI\" data/*.csv.gz --index k:1   # a known format\n"
                "  zcat big.gz | tipple load -f ./my.yaml --uri \"$URI\" -       # from a pipe\n"
                "  tipple load --retry shop.orders.rejects --uri \"$URI\"        # after a fix\n"
                "  # no header, semicolons, own _ids, a cluster, at most 20,000 docs a second\n"
                "  tipple load s.txt --uri mongodb://ROUTER/shop.sales --with header=no \\\n"
                "      --with 'delimiter=;' --id column_1 --shard-key _id:hashed --max-rate 20k",
    .needs_driver = true,
    .options = options,
    .takes = TAKEN_BY_LOAD,
    .load_at = offsetof(values_t, load),
    .apart = apart,
    .run = run,
};
