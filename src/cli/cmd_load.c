#include "base/numbers/units.h"
#include "base/stop.h"
#include "cli/each_collection.h"
#include "cli/options/guess_rows.h"
#include "cli/options/load_rows.h"
#include "cli/print/load_figures.h"
#include "cli/print/load_print.h"
#include "cli/report/report_load.h"
#include "cli/report/reporting.h"
#include "report/file.h"
#include "server/collection.h"
#include "server/send/existing.h"
#include "server/server_errors.h"
#include "study/tune/tuned.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    load_spec_t spec;
    const char *uri_file, *report;
    texts_list_t indexes, filters, types;
    bool yes, json, clustered, not_clustered;
} values_t;

static bool read_max_rate(void *values, const char *text, err_t *err) {
    load_spec_t *spec = &((values_t *)values)->spec;
    if ((spec->max_rate_auto = strcmp(text, "auto") == 0)) {
        spec->max_rate = 0;
        return true;
    }
    if (!units_parse_rate(text, &spec->max_rate, &spec->max_rate_bytes))
        return err_set(
            err, STATUS_USAGE,
            "--max-rate: '%s' is neither auto, nor documents a second, like 50k, nor, with a B at its end, "
            "bytes a second, like 20MB",
            text);
    return spec->max_rate ||
           err_set(err, STATUS_USAGE, "--max-rate: at %s nothing would ever be loaded", text);
}

static bool read_existing(void *context, const char *text, err_t *err) {
    existing_t existing;
    values_t *values = context;
    if (!*text || !existing_named(text, &existing))
        return err_set(err, STATUS_USAGE, "--existing: '%s' is none of reject, keep and replace", text);
    values->spec.existing = existing_names[existing];
    return true;
}

#define AT(name) .offset = offsetof(values_t, name)

#define GROUP_AGAIN "Loading again"

static const option_t options[] = {
    CLI_URI_AT(values_t, spec.uri,
               "The target: mongodb://HOST/DATABASE.COLLECTION, with any option a MongoDB URI can have."),
    LOAD_ROW_URI_FILE(values_t),
    {.name = "id",
     .once = true,
     .argument = "FIELD,...",
     .kind = OPTION_TEXT,
     AT(spec.id),
     .help = "The _id of a document is the value of this field, or of several; _id: the one that the "
             "document brings. Otherwise it is the place of the record."},
    {.name = "existing",
     .argument = "MODE",
     .offers = "reject keep replace",
     .kind = OPTION_CUSTOM,
     .custom = read_existing,
     .help =
         "With --id, or documents that bring their _id: if another document has a record's _id, reject "
         "makes it a reject (the default), keep leaves what is there, replace puts the record's document in "
         "its place. The catalog keeps it."},
    {.name = "index",
     .argument = "KEYS",
     .kind = OPTION_LIST,
     AT(indexes),
     .help = "Build an index after the load, such as 'd:1,k:1' or 'st:hashed'. With options: "
             "'email:1;unique;sparse;name=mail', 'at:1;expire=3600', and at last partial={...}, a "
             "filter as JSON. May be given several times."},
    {.name = "drop",
     .destroys = true,
     .kind = OPTION_FLAG,
     AT(spec.drop),
     .help = "Drop the collection and its catalog first. It asks on a terminal; needs --yes elsewhere."},
    {.name = "yes", .destroys = true, .letter = 'y', .kind = OPTION_FLAG, AT(yes), .help = "Do not ask."},
    {.name = "append",
     .kind = OPTION_FLAG,
     AT(spec.append),
     .help = "Load into a collection that holds documents which tipple did not load. They stay as they are, "
             "but for those that --existing replace replaces. The catalog keeps it: later loads need no "
             "--append."},
    {.name = "shard-key",
     .argument = "KEY",
     .kind = OPTION_TEXT,
     AT(spec.shard_key),
     .help =
         "On a cluster: shard a new collection on this key, such as st:hashed (default _id); none: do not "
         "shard it."},
    {.name = "clustered",
     .kind = OPTION_FLAG,
     AT(clustered),
     .help = "Make the collection clustered on _id (the default where the server can, from 5.3 on, and the "
             "_ids are places of records)."},
    {.name = "no-clustered",
     .kind = OPTION_FLAG,
     AT(not_clustered),
     .help = "Make a plain collection with an index on _id."},
    {.name = "compressor",
     .argument = "NAME",
     .offers = "none snappy zlib zstd",
     .kind = OPTION_CUSTOM,
     AT(spec),
     .custom = load_rows_compressor,
     .help =
         "The collection's block compressor: none, snappy, zlib or zstd (default: the server's own choice)."},
    LOAD_ROW_FORMAT(values_t, spec.format),
    {.name = "filter",
     .argument = "EXPR",
     .kind = OPTION_LIST,
     AT(filters),
     .help = "Load only records that pass, such as 'testType==NT && m>=100000'; several must all hold. The "
             "rest is counted as filtered."},
    {.name = "limit",
     .argument = "N",
     .kind = OPTION_COUNT,
     AT(spec.limit),
     .help = "Stop after the first N records."},
    {.name = "dry-run",
     .kind = OPTION_FLAG,
     AT(spec.dry_run),
     .help = "Connect, read and parse everything, write nothing."},
    {.name = "input-name",
     .argument = "NAME",
     .kind = OPTION_TEXT,
     AT(spec.input_name),
     .help = "A name for what comes from stdin, so that an interrupted load of it can be completed, and a "
             "second one loads nothing. Other data need another name."},
    LOAD_ROW_COPIES(
        values_t, spec.copies,
        "Load each input so many times (default 1), as if there were N equal files: each copy has "
        "_ids of its own."),
    GUESS_ROWS(values_t, spec.guess, types),
    GUESS_ROW_BAD_VALUE(values_t, spec.guess),
    {.name = "max-rejects",
     .argument = "N|P%",
     .kind = OPTION_CUSTOM,
     AT(spec),
     .custom = load_rows_max_rejects,
     .help = "Stop when more records than this are rejected (default 1000; with --retry, no limit)."},
    {.name = "rejects",
     .argument = "FILE",
     .kind = OPTION_TEXT,
     AT(spec.rejects),
     .help = "Where rejected records are kept (default DATABASE.COLLECTION.rejects). FILE.2 and so on "
             "while another load has it."},
    {.name = "skip-bad-files",
     .kind = OPTION_FLAG,
     AT(spec.skip_bad_files),
     .help = "Leave out files that do not fit the format, name them, and end with status 2. Without it "
             "nothing is written when one does not fit."},
    LOAD_ROW_MAX_RECORD(values_t, spec.max_record, "Records longer than this are rejected (default 16M)."),
    {.name = "retry",
     .once = true,
     .group = GROUP_AGAIN,
     .argument = "FILE",
     .kind = OPTION_TEXT,
     AT(spec.retry),
     .help = "Load the fixed records of a reject file, each under the _id of its first position. The file is "
             "only read."},
    {.name = "reload-changed",
     .kind = OPTION_FLAG,
     AT(spec.reload_changed),
     .help = "Of inputs that have changed since they were loaded, remove the documents and load them again. "
             "Inputs that have only grown are loaded on without it."},
    {.name = "reload-missing",
     .kind = OPTION_FLAG,
     AT(spec.reload_missing),
     .help =
         "Documents of these inputs were deleted or lost: read the inputs again from their beginning, and "
         "load the records whose documents are not there."},
    {.name = "same-collection",
     .kind = OPTION_FLAG,
     AT(spec.same_collection),
     .help = "The collection has another UUID than when it was loaded (it was resharded, moved or restored), "
             "and has lost nothing: what was loaded is read back, and what is missing is sent."},
    {.name = "threads",
     .group = GROUP_SPEED,
     .letter = 'j',
     .argument = "N|auto",
     .kind = OPTION_COUNT32_AUTO,
     AT(spec.threads),
     .least = 1,
     .most = LIMITS_MOST_THREADS,
     .help = "Loader threads, each with a connection of its own (default: twice the CPUs, 4 to 16). "
             "With auto: as the last `tipple tune` of this target on this host found best."},
    {.name = "batch",
     .letter = 'b',
     .argument = "N|auto",
     .kind = OPTION_COUNT32_AUTO,
     AT(spec.batch),
     .least = 1,
     .most = LIMITS_MOST_BATCH,
     .help = "Documents in a batch (default 1000). With auto: as for --threads."},
    LOAD_ROW_BATCH_BYTES(values_t, spec.batch_bytes,
                         "Bytes in a batch: it is sent when either is reached (default 2M)."),
    LOAD_ROW_MEMORY(values_t, spec.memory, "Memory for text and batches on their way (default 256M)."),
    {.name = "direct",
     .kind = OPTION_FLAG,
     AT(spec.direct),
     .help = "Send each batch straight to its shard's primary, past the routers. Refused where a shard would "
             "not notice that a chunk has moved away."},
    {.name = "max-rate",
     .argument = "N|SIZE|auto",
     .kind = OPTION_CUSTOM,
     .custom = read_max_rate,
     .help =
         "Send no more than this in a second: documents, such as 50k, or with a B at its end bytes of "
         "documents, such as 20MB. auto: batches of 100 documents, one at a time, and fewer while they take "
         "longer than usual."},
    {.name = "unsafe",
     .kind = OPTION_FLAG,
     AT(spec.unsafe),
     .help = "Write with the URI's own write concern. Faster on replica sets; an election can lose what was "
             "counted. No effect on --retry."},
    {.name = "patience",
     .argument = "TIME",
     .kind = OPTION_TIME,
     AT(spec.patience_ns),
     .environment = "TIPPLE_PATIENCE",
     .help = "How long a server may be away before the load stops (default 30s)."},
    CLI_JSON(values_t),
    CLI_REPORT(values_t),
    {.name = NULL},
};

static const apart_t apart[] = {
    {"append", "drop", "keeps the documents that --drop would drop"},
    {"retry", "drop", "adds to a collection that --drop would drop"},
    {"retry", "copies input-name skip-bad-files reload-changed",
     "takes the records of a reject file, and reads no input"},
    {"clustered", "no-clustered", "is the contrary of --no-clustered"},
    {.option = NULL},
};

/* Of a command that loads several collections. */
static bool check_each(const values_t *values, err_t *err) {
    return reporting_of_none(values->report, err) &&
           (!values->spec.rejects ||
            err_set(
                err, STATUS_USAGE,
                "--rejects names one file, and the URI no collection: leave the option out, and the rejects "
                "of each are kept in DATABASE.COLLECTION.rejects"));
}

static bool check(values_t *values, char **inputs, int count, err_t *err) {
    load_spec_t *spec = &values->spec;
    if (values->uri_file && !cli_read_uri_file(values->uri_file, &spec->uri, err))
        return false;
    if (!spec->uri)
        return err_set(err, STATUS_USAGE,
                       "--uri is missing: where to load into, such as --uri mongodb://127.0.0.1/mot.results "
                       "(or set TIPPLE_URI)");
    if (!guess_options_check(&spec->guess, values->types.items, values->types.count, spec->format, err))
        return false;
    if (!count && !spec->retry)
        return err_set(err, STATUS_USAGE,
                       "nothing to load: give files, directories, patterns, or - for stdin");
    if (count && spec->retry)
        return err_set(err, STATUS_USAGE, "--retry takes its records from the reject file; leave '%s' out",
                       inputs[0]);
    if (values->report && spec->rejects && file_is_same(values->report, spec->rejects))
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
    spec->clustered = values->clustered       ? CLUSTERED_YES
                      : values->not_clustered ? CLUSTERED_NO
                                              : CLUSTERED_DEFAULT;
    spec->indexes = values->indexes.items;
    spec->index_count = values->indexes.count;
    spec->filters = values->filters.items;
    spec->filter_count = values->filters.count;
    return true;
}

static bool choose(load_spec_t *spec, err_t *err) {
    const bool threads = spec->threads == CLI_AUTO, batch = spec->batch == CLI_AUTO;
    return (!threads && !batch) || tuned_choose(spec, threads, batch, err);
}

/* What --drop would drop. */
static bool look_at_doomed(const values_t *values, char *name, size_t size, uint64_t *documents, err_t *err) {
    const server_options_t wanted = {
        .uri = values->spec.uri, .patience_ns = values->spec.patience_ns, .connections = 1};
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
    if (!values->spec.drop || values->yes || values->spec.dry_run)
        return true;
    char name[300], count[UNITS_MAX], question[sizeof name + 200];
    uint64_t documents;
    if (!cli_may_ask(values->yes, "--drop destroys what is in the collection", err) ||
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
    load_spec_t spec = values->spec;
    spec.uri = uri;
    spec.inputs = inputs;
    spec.input_count = (size_t)count;
    static load_result_t result;
    result = (load_result_t){.files = 0}; /* of a load that was not begun */
    bool ok = choose(&spec, err) && load_run(&spec, &result, err);
    int status = ok && err->status != STATUS_SOME_REJECTED ? STATUS_OK : (int)err->status;
    bson_t document = BSON_INITIALIZER;
    load_make_result(&document, &result);
    if (values->report && status != STATUS_USAGE)
        status = reporting_end(report_load(&spec, &result, &document, status, err), values->report,
                               order->again, uri, status, err);
    bool began =
        ok || result.counts.read || (status != STATUS_USAGE && result.namespace[0] && result.bytes_text);
    if (values->json && (ok || result.namespace[0]))
        result_print("load", status, &document);
    else if (!values->json && began)
        load_print(&spec, &result, status, &document);
    bson_destroy(&document);
    load_result_free(&result);
    return cli_finish(status, err);
}

static int load(void *context, char **inputs, int count, const again_t *again, err_t *err) {
    values_t *values = context;
    order_t order = {.values = values, .again = again};
    each_collection_t each = {.list = {0}, .drops = values->spec.drop};
    int status;
    if (!check(values, inputs, count, err) || (values->report && !report_check_path(values->report, err)))
        return (int)err->status;
    values->spec.watch_flushes = values->report != NULL;
    if (each_collection_find(&each, values->spec.uri, inputs, count, err) &&
        (!each.list.count || check_each(values, err)) && confirm_drop(values, each.list.count, err)) {
        stop_goes_on();
        status =
            each_collection_run(&each, values->spec.uri, inputs, count, values->json, load_one, &order, err);
    } else {
        status = (int)err->status;
    }
    each_collection_free(&each);
    return status;
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.yes = false};
    load_spec_init(&values.spec);
    return reporting_run(command, argc, argv, &values, load, err);
}

const command_t command_load = {
    .name = "load",
    .group = COMMANDS_LOAD,
    .arguments = "FILE|DIRECTORY|PATTERN|-...",
    .about = "load files into a collection",
    .help = "Reads delimited text, JSON, BSON, dumps of mongodump and fixed-width records (plain, "
            ".gz, .zst, .xz, .bz2, .zip, .tar, directories of them, stdin) and inserts a document for "
            "each record. Without --format the format is recognised, told and kept with the data. Run "
            "the same command again at any time: what is there is not loaded twice, and what an "
            "interrupted load left out is completed.\n\n"
            "The _id of a document is made of its record's position, and the catalog of the load is "
            "kept with the data (DATABASE.COLLECTION.tipple.files). Afterwards read = loaded + "
            "already there + rejected + filtered. The format that was recognised is in the catalog, "
            "too: later loads, --retry and `tipple verify` read the same.",
    .examples =
        "  tipple load orders.csv --uri mongodb://127.0.0.1/shop.orders          # any file of records\n"
        "  tipple load dump --uri mongodb://127.0.0.1                            # a whole dump of "
        "mongodump\n"
        "  tipple load data/*.csv.gz --uri mongodb://127.0.0.1/shop.orders --id orderId --index 'at:1'\n"
        "  tipple load --format mot --uri mongodb://127.0.0.1/mot.results test_result_2023.csv\n"
        "  zcat big.gz | tipple load -f mot --uri \"$URI\" -                   # from a pipe\n"
        "  tipple load -f ./my.yaml --uri \"$URI\" --filter 'y==NT' my.csv     # a format of your own\n"
        "  tipple load -f mot --uri \"$URI\" --retry mot.results.rejects       # after fixing the rejects",
    .needs_driver = true,
    .options = options,
    .apart = apart,
    .run = run,
};
