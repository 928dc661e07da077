#include "base/log.h"
#include "base/numbers/units.h"
#include "base/out.h"
#include "base/shell_word.h"
#include "base/stop.h"
#include "cli/options/guess_rows.h"
#include "cli/options/load_rows.h"
#include "cli/print/load_figures.h"
#include "cli/report/report_load.h"
#include "cli/report/reporting.h"
#include "format/bad_values.h"
#include "report/file.h"
#include "server/bson_read.h"
#include "server/server_errors.h"
#include "study/tune/autotune.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    load_spec_t spec;
    const char *uri_file, *report;
    texts_list_t indexes, filters, types;
    bool yes, json, clustered, not_clustered;
    uint32_t reject_codes[MOST_LISTED];
} values_t;

static bool read_max_rate(void *values, const char *text, err_t *err) {
    load_spec_t *spec = &((values_t *)values)->spec;
    if (!units_parse_rate(text, &spec->max_rate, &spec->max_rate_bytes))
        return err_set(
            err, STATUS_USAGE,
            "--max-rate: '%s' is neither documents a second, like 50k, nor, with a B at its end, bytes "
            "a second, like 20MB",
            text);
    return spec->max_rate ||
           err_set(err, STATUS_USAGE, "--max-rate: at %s nothing would ever be loaded", text);
}

static bool read_reject_code(void *context, const char *text, err_t *err) {
    values_t *values = context;
    uint64_t code;
    if (!units_parse_count(text, &code) || !code || code > INT32_MAX)
        return err_set(err, STATUS_USAGE, "--reject-code: '%s' is not the number of a server's error", text);
    const code_row_t *row = code_row((int)code);
    if (code == CODE_DUPLICATE_KEY || (row && row->class != CODE_OF_DOCUMENT))
        return err_set(
            err, STATUS_USAGE,
            "--reject-code: %s says something of the server, never of a document: records would be "
            "given up that nothing is wrong with",
            text);
    if (values->spec.reject_code_count == MOST_LISTED)
        return err_set(err, STATUS_USAGE, "--reject-code: more than %d codes", MOST_LISTED);
    values->reject_codes[values->spec.reject_code_count++] = (uint32_t)code;
    return true;
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

static const option_t options[] = {
    {.name = "uri",
     .argument = "URI",
     .kind = OPTION_TEXT,
     AT(spec.uri),
     .environment = "TIPPLE_URI",
     .help = "The target: mongodb://HOST/DATABASE.COLLECTION, with any option a MongoDB URI can have."},
    LOAD_ROW_URI_FILE(values_t),
    LOAD_ROW_FORMAT(values_t, spec.format),
    GUESS_ROWS(values_t, spec.guess, types),
    {.name = "threads",
     .letter = 'j',
     .argument = "N|auto",
     .kind = OPTION_COUNT32_AUTO,
     AT(spec.threads),
     .least = 1,
     .most = LIMITS_MOST_THREADS,
     .help =
         "Loader threads, each with a connection of its own (default: twice the CPUs, 4 to 16). auto: as the "
         "last `tipple tune` of this target on this host found best, or a short one that is made first."},
    {.name = "batch",
     .letter = 'b',
     .argument = "N|auto",
     .kind = OPTION_COUNT32_AUTO,
     AT(spec.batch),
     .least = 1,
     .most = LIMITS_MOST_BATCH,
     .help = "Documents in a batch (default 1000). auto: as for --threads."},
    LOAD_ROW_BATCH_BYTES(values_t, spec.batch_bytes,
                         "Bytes in a batch: it is sent when either is reached (default 2M)."),
    LOAD_ROW_MEMORY(values_t, spec.memory, "Memory for text and batches on their way (default 256M)."),
    LOAD_ROW_MAX_RECORD(values_t, spec.max_record, "Records longer than this are rejected (default 16M)."),
    LOAD_ROW_VALIDATE(values_t, spec.validate, LOAD_VALIDATE_WORDS),
    {.name = "clustered",
     .kind = OPTION_FLAG,
     AT(clustered),
     .help = "Make the collection clustered on _id (the default where the server can, from 5.3 on, and the "
             "_ids are places of records)."},
    {.name = "no-clustered",
     .kind = OPTION_FLAG,
     AT(not_clustered),
     .help = "Make a plain collection with an index on _id."},
    {.name = "id",
     .argument = "FIELD,...",
     .kind = OPTION_TEXT,
     AT(spec.id),
     .help =
         "The _id of a document is the value of this field, or of several; _id: the one that the document "
         "brings (found out by itself). Otherwise it is the place of the record."},
    {.name = "existing",
     .argument = "MODE",
     .kind = OPTION_CUSTOM,
     .custom = read_existing,
     .help =
         "With --id, or documents that bring their _id: if another document has a record's _id, reject "
         "makes it a reject (the default), keep leaves what is there, replace puts the record's document in "
         "its place. The catalog keeps it."},
    {.name = "shard-key",
     .argument = "KEY",
     .kind = OPTION_TEXT,
     AT(spec.shard_key),
     .help =
         "On a cluster: shard a new collection on this key, such as st:hashed (default _id); none: do not "
         "shard it."},
    {.name = "direct",
     .kind = OPTION_FLAG,
     AT(spec.direct),
     .help = "Send each batch straight to its shard's primary, past the routers. Refused where a shard would "
             "not notice that a chunk has moved away."},
    {.name = "compressor",
     .argument = "NAME",
     .kind = OPTION_CUSTOM,
     AT(spec),
     .custom = load_rows_compressor,
     .help =
         "The collection's block compressor: none, snappy, zlib or zstd (default: the server's own choice)."},
    {.name = "index",
     .argument = "KEYS",
     .kind = OPTION_LIST,
     AT(indexes),
     .help = "Build an index after the load, such as 'd:1,k:1' or 'st:hashed', or with options: "
             "'email:1;unique;sparse;name=mail', 'at:1;expire=3600', and at last partial={...}, a filter as "
             "JSON; "
             "may be given several times."},
    {.name = "drop",
     .kind = OPTION_FLAG,
     AT(spec.drop),
     .help = "Drop the collection and its catalog first. Asks on a terminal; needs --yes elsewhere."},
    {.name = "append",
     .kind = OPTION_FLAG,
     AT(spec.append),
     .help = "Load into a collection that holds documents which tipple did not load. They stay as they are. "
             "The catalog keeps it: later loads need no --append."},
    {.name = "yes", .letter = 'y', .kind = OPTION_FLAG, AT(yes), .help = "Do not ask."},
    {.name = "skip-bad-files",
     .kind = OPTION_FLAG,
     AT(spec.skip_bad_files),
     .help = "Leave out files that do not fit the format, name them, and end with status 2. Without it "
             "nothing is "
             "written when one does not fit."},
    {.name = "limit",
     .argument = "N",
     .kind = OPTION_COUNT,
     AT(spec.limit),
     .help = "Stop after the first N records."},
    {.name = "filter",
     .argument = "EXPR",
     .kind = OPTION_LIST,
     AT(filters),
     .help = "Load only records that pass, such as 'testType==NT && m>=100000'; several must all hold. The "
             "rest is counted as filtered."},
    {.name = "max-rejects",
     .argument = "N|P%",
     .kind = OPTION_CUSTOM,
     AT(spec),
     .custom = load_rows_max_rejects,
     .help = "Stop when more records than this are rejected (default 1000)."},
    {.name = "rejects",
     .argument = "FILE",
     .kind = OPTION_TEXT,
     AT(spec.rejects),
     .help = "Where rejected records are kept (default DATABASE.COLLECTION.rejects); FILE.2 and so on while "
             "another "
             "load has it."},
    {.name = "reject-code",
     .argument = "N",
     .kind = OPTION_CUSTOM,
     .custom = read_reject_code,
     .help =
         "When the server refuses a document with this error code, the record is a reject. Codes that are "
         "known "
         "to be a document's fault need not be named; any other ends the load. May be given several times."},
    {.name = "retry",
     .argument = "FILE",
     .kind = OPTION_TEXT,
     AT(spec.retry),
     .help = "Load the fixed records of a reject file, each under the _id of its first position. The file is "
             "only "
             "read."},
    {.name = "same-collection",
     .kind = OPTION_FLAG,
     AT(spec.same_collection),
     .help = "The collection has another UUID than when it was loaded (it was resharded, moved or restored), "
             "and has "
             "lost nothing: what was loaded is read back, and what is missing is sent."},
    {.name = "reload-changed",
     .kind = OPTION_FLAG,
     AT(spec.reload_changed),
     .help = "Of inputs that have changed since they were loaded, remove the documents and load them again. "
             "Inputs "
             "that have only grown are loaded on without it."},
    {.name = "input-name",
     .argument = "NAME",
     .kind = OPTION_TEXT,
     AT(spec.input_name),
     .help = "A name for what comes from stdin, so that an interrupted load of it can be completed, and a "
             "second one loads nothing. Other data need another name."},
    {.name = "max-rate",
     .argument = "N|SIZE",
     .kind = OPTION_CUSTOM,
     .custom = read_max_rate,
     .help = "Send no more than this in a second: documents, such as 50k, or with a B at its end bytes of "
             "documents, "
             "such as 20MB."},
    {.name = "polite",
     .kind = OPTION_FLAG,
     AT(spec.polite),
     .help =
         "Watch the servers' caches, queues, replication, disks and CPU, and slow down before others suffer. "
         "Batches are of 100 documents at most then."},
    {.name = "patience",
     .argument = "TIME",
     .kind = OPTION_TIME,
     AT(spec.patience_ns),
     .environment = "TIPPLE_PATIENCE",
     .help = "How long a server may be away before the load stops (default 30s)."},
    {.name = "unsafe",
     .kind = OPTION_FLAG,
     AT(spec.unsafe),
     .help = "Write with the URI's own write concern. Faster on replica sets; an election can lose what was "
             "counted. No effect on --retry."},
    {.name = "dry-run",
     .kind = OPTION_FLAG,
     AT(spec.dry_run),
     .help = "Connect, read and parse everything, write nothing."},
    {.name = "json", .kind = OPTION_FLAG, AT(json), .help = "Print the result as JSON."},
    CLI_REPORT(values_t),
    {.name = NULL},
};

static bool check(values_t *values, char **inputs, int count, err_t *err) {
    load_spec_t *spec = &values->spec;
    if (values->uri_file && !cli_read_uri_file(values->uri_file, &spec->uri, err))
        return false;
    if (!spec->uri)
        return err_set(err, STATUS_USAGE,
                       "--uri is missing: where to load into, such as --uri mongodb://127.0.0.1/mot.results "
                       "(or set TIPPLE_URI)");
    if (!guess_rows_check(&spec->guess, &values->types, spec->format, err))
        return false;
    if (!count && !spec->retry)
        return err_set(err, STATUS_USAGE,
                       "nothing to load: give files, directories, patterns, or - for stdin");
    if (count && spec->retry)
        return err_set(err, STATUS_USAGE, "--retry takes its records from the reject file; leave '%s' out",
                       inputs[0]);
    if (spec->append && spec->drop)
        return err_set(err, STATUS_USAGE,
                       "--append keeps the documents that --drop would drop; give one of them");
    if (spec->retry && spec->drop)
        return err_set(err, STATUS_USAGE,
                       "--retry adds to a collection that --drop would drop; give one of them");
    if (values->report && spec->rejects && file_is_same(values->report, spec->rejects))
        return err_set(err, STATUS_USAGE, "--report and --rejects name the same file: %s", values->report);
    if (spec->retry && spec->limit != UINT64_MAX)
        return err_set(
            err, STATUS_USAGE,
            "--retry loads all that was fixed, and knows no --limit; leave the option out, or give a copy "
            "of the reject file without the other entries");
    if (values->clustered && values->not_clustered)
        return err_set(err, STATUS_USAGE, "--clustered and --no-clustered contradict each other");
    spec->clustered = values->clustered       ? CLUSTERED_YES
                      : values->not_clustered ? CLUSTERED_NO
                                              : CLUSTERED_DEFAULT;
    spec->inputs = inputs;
    spec->input_count = (size_t)count;
    spec->indexes = values->indexes.items;
    spec->index_count = values->indexes.count;
    spec->reject_codes = values->reject_codes;
    spec->filters = values->filters.items;
    spec->filter_count = values->filters.count;
    return true;
}

static bool choose(load_spec_t *spec, err_t *err) {
    const bool threads = spec->threads == CLI_AUTO, batch = spec->batch == CLI_AUTO;
    if ((threads || batch) && !spec->format)
        return err_set(err, STATUS_USAGE,
                       "--%s auto needs --format: `tipple formats --guess` makes one from the file",
                       threads ? "threads" : "batch");
    return (!threads && !batch) || autotune_choose(spec, threads, batch, err);
}

/* --drop destroys: a person says yes, or a script says --yes. */
static bool confirm_drop(const values_t *values, err_t *err) {
    if (!values->spec.drop || values->yes || values->spec.dry_run)
        return true;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return err_set(err, STATUS_USAGE,
                       "--drop destroys what is in the collection; add --yes where no terminal can ask");
    fprintf(stderr, "Drop the collection with all of its documents and its catalog, then load? [y/N] ");
    char answer[16] = "";
    if (fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
        return true;
    return err_set(err, STATUS_USAGE, "not dropped, nothing was touched");
}

enum { MOST_ROWS = 24 };

/* A line each, and of very many only those that took the fewest documents: they tell of trouble. */
static void print_places(const char *title, const loaded_place_t *places, size_t count,
                         const load_result_t *result) {
    size_t width = strlen(title);
    uint64_t limit = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        width = strlen(places[i].name) > width ? strlen(places[i].name) : width;
    if (count > MOST_ROWS)
        limit = (uint64_t)((double)result->counts.loaded / (double)count * 0.9);
    out_print("%-*s    documents   share   busy   batches at once (most)   waited for\n", (int)width, title);
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        const traffic_figures_t *figures = &places[i].figures;
        const load_share_t share = load_share(result, &places[i]);
        char number[UNITS_MAX], waited[UNITS_MAX];
        if (figures->documents >= limit || shown == MOST_ROWS)
            continue;
        shown++;
        out_print("%-*s %12s  %5.1f%%  %4.0f%%   %15.1f (%u)   %10s\n", (int)width, places[i].name,
                  units_count(number, figures->documents), share.documents, share.busy, share.at_once,
                  figures->most, units_time(waited, figures->waiting_ns));
    }
    if (shown < count)
        out_print("%-*s %zu more with an even share or nearly so (all of them: --json)\n", (int)width, "",
                  count - shown);
}

static void print_shards(const load_result_t *result) {
    if (result->shard_count > 1)
        print_places("shard", result->shards, result->shard_count, result);
    if (result->router_count > 1)
        print_places("router", result->routers, result->router_count, result);
    if (result->unrouted)
        out_print("%" PRIu64
                  " documents have no value for the shard key that could be sorted by: the router did\n",
                  result->unrouted);
}

static void print_polite(const load_result_t *result) {
    const double moving = (double)(result->moving_ns ? result->moving_ns : 1);
    bool by_others = result->slowed_down_ns * 2 >= result->throttled_ns && result->throttled_by[0];
    out_print("polite: slowed down %.0f%% of the time%s%s%s\n", 100 * (double)result->slowed_down_ns / moving,
              by_others ? " (" : "", by_others ? result->throttled_by : "", by_others ? ")" : "");
}

/* The command that loads again what was fixed. */
static char *retry_line(const values_t *values, const load_result_t *result, const char *file) {
    text_t line = {.length = 0};
    text_append(&line, "tipple load");
    shell_quote_option(&line, "--retry", file);
    shell_quote_option(&line, "--format", values->spec.format);
    shell_quote_option(&line, "--on-bad-value", load_bad_value(&values->spec));
    shell_quote_target(&line, result->namespace);
    return text_take_or_end(&line);
}

/* Status 2 is also for what earlier runs have rejected, as long as nobody has fixed it. The number and the list of inputs
 * are of the same records. */
static void print_open_rejects(const values_t *values, const load_result_t *result) {
    char count[UNITS_MAX];
    if (!result->open_rejects_text[0] || result->open_rejects <= result->counts.rejected)
        return;
    char *line = retry_line(values, result, "FILE");
    out_print(
        "rejected by %searlier runs and not fixed: %s record%s (%s); fix them in the reject file, then: %s\n",
        result->counts.rejected ? "this and " : "", units_count(count, result->open_rejects),
        result->open_rejects == 1 ? "" : "s", result->open_rejects_text, line);
    free(line);
}

/* What became of values that do not fit, and of each field the first places; of very many fields the first ones. */
static void print_bad_values(const load_result_t *result) {
    static const char *const became[BAD_VALUES] = {[BAD_VALUE_TEXT] = "kept as text",
                                                   [BAD_VALUE_NULL] = "stored as null",
                                                   [BAD_VALUE_SKIP] = "left out",
                                                   [BAD_VALUE_REJECT] = "rejected with their records",
                                                   [BAD_VALUE_STOP] = "stopped at"};
    char count[UNITS_MAX];
    if (!result->bad_values)
        return;
    out_print("%s: %s value%s not what %s field's type says\n", became[result->bad_value],
              units_count(count, result->bad_values), result->bad_values == 1 ? " that is" : "s that are",
              result->bad_values == 1 ? "its" : "their");
    for (size_t i = 0; i < result->bad_field_count && i < MOST_ROWS; i++) {
        const bad_result_t *field = &result->bad_fields[i];
        out_print("  %s: %s (%s%s)\n", field->name, units_count(count, field->count),
                  field->places ? field->places : "", field->count > BAD_VALUES_PLACES ? ", ..." : "");
    }
    if (result->bad_field_count > MOST_ROWS)
        out_print("  and %zu more fields (all of them: --json)\n", result->bad_field_count - MOST_ROWS);
}

static void print_summary(const values_t *values, const load_result_t *result, const bson_t *document) {
    const counts_t *counts = &result->counts;
    char read[UNITS_MAX], loaded[UNITS_MAX], there[UNITS_MAX], rejected[UNITS_MAX], filtered[UNITS_MAX];
    char took[UNITS_MAX], rate[UNITS_MAX], in[UNITS_MAX], out[UNITS_MAX], more[UNITS_MAX];
    out_print("read %s = loaded %s + already there %s + rejected %s + filtered %s      %s   %s docs/s   %s/s "
              "in, %s/s out\n",
              units_count(read, counts->read), units_count(loaded, counts->loaded),
              units_count(there, counts->already_there), units_count(rejected, counts->rejected),
              units_count(filtered, counts->filtered), units_time(took, result->took_ns),
              units_rate(rate, bson_read_number(document, "docs_per_second")),
              units_bytes(in, result_rate(result->bytes_read, result->took_ns)),
              units_bytes(out, result_rate(result->bytes_bson, result->took_ns)));
    if (values->spec.dry_run)
        out_print("dry run: nothing was written; 'loaded' is what would have been\n");
    if (result->skipped.count)
        out_print("skipped: %s of %s files, which do not fit the format %s\n",
                  units_count(more, result->skipped.count),
                  units_count(out, result->files + result->skipped_before), result->format);
    print_open_rejects(values, result);
    if (log_level() < LOG_NORMAL)
        return;
    if (result->appended)
        out_print("appended: the collection holds documents of others, too, which stay as they are\n");
    if (counts->replaced)
        out_print("replaced: %s of the loaded; other documents had their _ids\n",
                  units_count(more, counts->replaced));
    if (counts->kept)
        out_print("kept: %s of those already there; other documents have their _ids, and stay\n",
                  units_count(more, counts->kept));
    if (counts->corrected)
        out_print(
            "corrected: %s of the loaded; the input ended in the middle of the record then, and has grown\n",
            units_count(more, counts->corrected));
    if (result->batches)
        out_print("batches sent %s, %.0f docs on average      client CPU %.2f us a doc      peak memory %s\n",
                  units_count(more, result->batches),
                  (double)result->sent_documents / (double)result->batches, load_cpu_us(result),
                  units_size(out, result->peak_memory_bytes));
    if ((result->shard_count > 1 || result->router_count > 1) && counts->loaded)
        print_shards(result);
    if (result->retries)
        out_print("retried %s batches\n", units_count(more, result->retries));
    if (result->short_batches)
        out_print(
            "memory was short: %s batches went before they were full; a higher --memory keeps them whole\n",
            units_count(more, result->short_batches));
    if (result->records_skipped)
        out_print("skipped: %s records of %s of %s files, loaded by earlier runs\n",
                  units_count(more, result->records_skipped), units_count(in, result->files_skipped),
                  units_count(out, result->files));
    if (result->records_done_by_others)
        out_print("done by other loads meanwhile: %s records\n",
                  units_count(more, result->records_done_by_others));
    if (values->spec.polite && !values->spec.dry_run && counts->read)
        print_polite(result);
    if (counts->read)
        out_print("limited by: %s\n", result->limited_by);
    print_bad_values(result);
    for (size_t i = 0; i < result->index_count; i++)
        out_print("index %s built in %s\n", result->indexes[i].keys,
                  units_time(took, result->indexes[i].took_ns));
    if (counts->rejected && result->rejects_path[0]) {
        char *line = retry_line(values, result, result->rejects_path);
        out_print("rejects: %s (%s record%s; fix %s, then: %s)\n", result->rejects_path, rejected,
                  counts->rejected == 1 ? "" : "s", counts->rejected == 1 ? "it" : "them", line);
        free(line);
    }
}

static int load(void *context, char **inputs, int count, const again_t *again, err_t *err) {
    values_t *values = context;
    if (!check(values, inputs, count, err) || (values->report && !report_check_path(values->report, err)) ||
        !confirm_drop(values, err) || !choose(&values->spec, err))
        return (int)err->status;
    static load_result_t result;
    values->spec.watch_flushes = values->report != NULL;
    stop_goes_on();
    bool ok = load_run(&values->spec, &result, err);
    int status = ok && err->status != STATUS_SOME_REJECTED ? STATUS_OK : (int)err->status;
    bson_t document = BSON_INITIALIZER;
    load_make_result(&document, &result);
    if (values->report && status != STATUS_USAGE)
        status = reporting_end(report_load(&values->spec, &result, &document, status, err), values->report,
                               again, values->spec.uri, status, err);
    bool began =
        ok || result.counts.read || (status != STATUS_USAGE && result.namespace[0] && result.bytes_text);
    if (values->json && (ok || result.namespace[0]))
        result_print("load", status, &document);
    else if (!values->json && began)
        print_summary(values, &result, &document);
    bson_destroy(&document);
    load_result_free(&result);
    return cli_finish(status, err);
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.yes = false};
    load_spec_init(&values.spec);
    return reporting_run(command, argc, argv, &values, load, err);
}

const command_t command_load = {
    .name = "load",
    .arguments = "FILE|DIRECTORY|PATTERN|-...",
    .about = "load files into a collection",
    .help =
        "Reads delimited files and JSON (plain, .gz, .zst, .xz, .bz2, .zip, .tar, directories of them, "
        "stdin) and "
        "inserts one\n"
        "document a record.\n"
        "The _id of a document is made of its record's position, and the catalog of the load is kept with "
        "the data\n"
        "(DATABASE.COLLECTION.tipple.files), so the same command can be run again at any time: what is "
        "there is not\n"
        "loaded twice, and what an interrupted load left out is completed. Afterwards\n"
        "read = loaded + already there + rejected + filtered.\n"
        "Without --format it is guessed from the files, told, and kept in the catalog: later loads, --retry "
        "and "
        "`tipple verify`\n"
        "read the same.",
    .examples =
        "  tipple load --uri mongodb://127.0.0.1/shop.orders orders.csv        # as it is guessed\n"
        "  tipple load --format mot --uri mongodb://127.0.0.1/mot.results test_result_2023.csv\n"
        "  tipple load -f mot --uri \"$URI\" data/*.gz --index 'd:1,k:1'       # and an index afterwards\n"
        "  zcat big.gz | tipple load -f mot --uri \"$URI\" -                   # from a pipe\n"
        "  tipple load -f ./my.yaml --uri \"$URI\" --filter 'y==NT' my.csv     # a format of your own\n"
        "  tipple load -f mot --uri \"$URI\" --retry mot.results.rejects     # after fixing the rejects",
    .needs_driver = true,
    .options = options,
    .run = run,
};
