/* load: the command, and what came of it. The first line of the result always adds up: read = loaded + already there +
 * rejected + filtered. */
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "cli/options/cli.h"
#include "format/record/record.h"
#include "format/schema/schema.h"
#include "load/rejects/reject_file.h"
#include "load/spec/load_result.h"
#include "load/spec/load_spec.h"
#include "report/load_figures.h"
#include "study/tune/tuned.h"

#include <math.h>
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

enum { MOST_POINTS = 80, MOST_REJECTS = 20, MOST_NAMES = 200 };

/* ---- views ---- */

#define PLACES(kind)                                                                                         \
    COLUMN("name", kind), COLUMN("documents", "documents"),                                                  \
        COLUMN("-share_percent", "share %", .most = 100), COLUMN("-busy_percent", "busy %", .most = 100),    \
        COLUMN("-at_once", "batches at once", .most = BAR_LARGEST), COLUMN("most_at_once", "most"),          \
        COLUMN("waiting_seconds", "waited for")
#define BAD_FIELDS COLUMN("field", "field"), COLUMN("values", "values"), COLUMN("first", "the first")
#define ABOUT_PLACES                                                                                         \
    "Even shares are good. Busy: the share of the loading time in which at least one batch was under way "   \
    "there. Waited for: by all threads together."

static const result_view_t views[] = {
    LINE(SHOW_QUIET, NULL,
         "read {read} = loaded {loaded} + already there {already_there} + rejected {rejected} + filtered "
         "{filtered}"),
    LINE(SHOW_NORMAL, "loaded",
         "    {seconds}   {docs_per_second}   {-read_bytes_per_second} in   {-sent_bytes_per_second} out"),
    LINE(SHOW_NORMAL, "!loaded", "    {seconds}"),
    LINE(SHOW_QUIET, "dry_run", "dry run: nothing was written; 'loaded' is what would have been"),
    LINE(SHOW_ALWAYS | SHOW_CARE, "skipped_files",
         "skipped: {-skipped} of {-all_files|file} (--skip-bad-files)"),
    LINE(SHOW_ALWAYS, "-columns_added", "columns added to the format: {-columns_added}"),
    LINE(SHOW_ALWAYS, "-columns_missing", "columns that files lack: {-columns_missing}"),
    LINE(SHOW_ALWAYS, "-columns_left_out", "columns left out: {-columns_left_out}"),
    LINE(SHOW_ALWAYS | SHOW_CARE, "-open_retry",
         "rejected by {-rejected_by} and not fixed: {open_rejects|record} ({-open_rejects}); fix "
         "{open_rejects?it|them} in the reject file, then:",
         .command = "-open_retry"),
    LINE(SHOW_DETAIL, "appended",
         "appended: the collection holds documents of others, too, which stay as they are"),
    LINE(SHOW_VERBOSE, "batches",
         "batches sent {batches}, {-batch_documents} documents on average      client CPU {-cpu_us} a "
         "document      peak memory {peak_memory_bytes}"),
    LINE(SHOW_DETAIL, "retries", "retried {retries|batch|batches}"),
    LINE(SHOW_DETAIL, "-short_batches",
         "memory was short: {-short_batches|batch|batches} went before {-short_batches?it was|they were} "
         "full; a higher --memory keeps them whole"),
    LINE(SHOW_USUAL, "replaced", "replaced: {replaced} of the loaded; other documents had their _ids"),
    LINE(SHOW_USUAL, "kept",
         "kept: {kept} of those already there; other documents have their _ids, and stay"),
    LINE(SHOW_USUAL, "corrected",
         "corrected: {corrected} of the loaded; the input had ended within the record, and has grown"),
    LINE(SHOW_USUAL, "-not_retried",
         "left out: {-left_out|record} whose line is not in the reject file any more"),
    LINE(SHOW_USUAL, "-before", "{-before}"),
    LINE(SHOW_USUAL, "records_done_by_others",
         "done by other loads meanwhile: {records_done_by_others|record}"),
    LINE(SHOW_USUAL, "read", "limited by: {limited_by}"),
    LINE(SHOW_USUAL, "unrouted",
         "{unrouted|document} went through the router, because the shard could not be found here"),
    LINE(SHOW_USUAL, "lines_skipped", "no records: {lines_skipped|line} skipped"),
    LINE(SHOW_USUAL, "comment_lines", "no records: {comment_lines|comment line}"),
    LINE(SHOW_ALWAYS, "-kept_values", "{-kept_values}"), /* they are in no file */
    LINE(SHOW_ALWAYS, "-null_values", "{-null_values}"),
    LINE(SHOW_USUAL, "-rejected_values", "{-rejected_values}"),
    LINE(SHOW_ALWAYS | SHOW_CARE, "ambiguous_times",
         "ambiguous: {ambiguous_times|local time} that the clocks showed twice, taken as the first of the "
         "two (the first: {-ambiguous_first})"),
    TABLE(SHOW_NORMAL, NULL, "bad_fields", NULL, NULL, BAD_FIELDS),
    LINE(SHOW_USUAL, NULL, "index {keys} built in {seconds}", .each = "indexes"),
    LINE(SHOW_USUAL | SHOW_CARE, "-lost_rejects",
         "rejects: {rejects} ({-kept_rejects} of {rejected|record}; the rest could not be written: load "
         "again)"),
    LINE(SHOW_USUAL | SHOW_CARE, "-retry",
         "rejects: {rejects} ({rejected|record}); fix {rejected?it|them}, then:", .command = "-retry"),
    TABLE(SHOW_PAGE, NULL, "-rejects", "Rejected records",
          "The last entries of the reject file {rejects}, which also holds the records.",
          COLUMN("place", "file, line and column"), COLUMN("reason", "reason")),
    TABLE(SHOW_PAGE, NULL, "bad_fields", "Values that do not fit their type", NULL, BAD_FIELDS),
    CLI_COURSE,
    TABLE(SHOW_USUAL, "-several", "shards", "By shard", ABOUT_PLACES, PLACES("shard")),
    TABLE(SHOW_DETAIL, "-several_routers", "routers", "By router", ABOUT_PLACES, PLACES("router")),
    TABLE(SHOW_PAGE, NULL, "-visits", "Where the time went", NULL, COLUMN("name", "phase"),
          COLUMN("-from_seconds", "began"), COLUMN("seconds", "took", .most = BAR_LARGEST)),
    TABLE(SHOW_PAGE, NULL, "skipped_files", "Files that were skipped", NULL, COLUMN("name", "file"),
          COLUMN("reason", "reason")),
    TABLE(SHOW_PAGE, NULL, "-inputs", "Inputs", "As the command named them: {files|file}.",
          COLUMN("name", "input")),
    {0}};

/* ---- lists ---- */

static void put_input(bson_t *to, const void *inputs, size_t at) {
    result_put(to, AS_TEXT("name", ((char *const *)inputs)[at]));
}

/* A load looks twice: before the collection is made, and then into its catalog. */
static void put_visit(bson_t *to, const void *course, size_t at) {
    const timeline_visit_t *visit = &((const timeline_t *)course)->visits[at];
    result_put(to,
               AS_TEXT("name", at && visit->phase == TIMELINE_LOOKING ? "comparing the files with the catalog"
                                                                      : timeline_phase_name(visit->phase)),
               AS_SECONDS("-from_seconds", visit->began_ns), AS_SECONDS("seconds", visit->took_ns));
}

/* A point stands for as many of the course's as make MOST_POINTS of all. */
static size_t points_in_one(const timeline_t *course) {
    return 1 + course->point_count / MOST_POINTS;
}

static void put_point(bson_t *to, const void *of, size_t at) {
    const timeline_t *course = of;
    const size_t step = points_in_one(course), last = course->point_count - 1, from = at * step;
    const timeline_point_t *before = &course->points[from],
                           *now = &course->points[from + step < last ? from + step : last];
    result_put(to, AS_SECONDS("seconds", now->at_ns),
               AS_NUMBER("docs_per_second",
                         result_rate(now->documents - before->documents, now->at_ns - before->at_ns)));
}

void cli_put_course(bson_t *to, const timeline_t *course) {
    const size_t points = course->point_count;
    result_put(to,
               AS_LIST("-course", points > 1 ? (points - 1) / points_in_one(course) : 0, put_point, course));
}

/* ---- rejects: their places and reasons, as the reject file has them ---- */

/* One of the last. The head of an entry is " -- a.csv:7:3: the reason". */
static void put_reject(bson_t *to, const void *of, size_t at) {
    const reject_file_t *file = of;
    if (file->count + at < MOST_REJECTS)
        return;
    const reject_entry_t *entry = &file->entries[file->count + at - MOST_REJECTS];
    char *head = bson_strndup(file->text + entry->at, entry->record - entry->at),
         *words = strstr(head, REJECT_FOR_PEOPLE), *reason = words ? strstr(words, ": ") : NULL;
    if (reason) {
        *reason = '\0';
        result_put(to, AS_TEXT("place", words + strlen(REJECT_FOR_PEOPLE)), AS_TEXT("reason", reason + 2));
    }
    bson_free(head);
}

static void put_rejects(bson_t *to, const load_result_t *load) {
    reject_file_t file;
    if (!load->counts.of[FATE_REJECTED] || !load->rejects_path[0] ||
        !reject_file_open(&file, load->rejects_path))
        return;
    result_put(to, AS_LIST("-rejects", MOST_REJECTS, put_reject, &file));
    reject_file_close(&file);
}

/* ---- figures ---- */

static void put_more(bson_t *to, const load_spec_t *spec, const load_result_t *load) {
    const double sent = load->sent_documents ? (double)load->sent_documents : NAN;
    result_put(to, AS_TEXT("-target", load->where),
               AS_NUMBER("-read_bytes_per_second", result_rate(load->bytes_read, load->took_ns)),
               AS_NUMBER("-sent_bytes_per_second", result_rate(load->bytes_bson, load->took_ns)),
               AS_NUMBER("-cpu_us", (double)load->cpu_ns / 1e3 / sent),
               AS_COUNT("-all_files", load->files + load->skipped_before),
               AS_COUNT("-skipped", load->skipped.count), AS_COUNT("-left_out", load->left_out),
               AS_COUNT("-not_retried", spec->retry ? load->left_out : 0),
               AS_NUMBER("-batch_documents", sent / (double)load->batches),
               AS_COUNT("-kept_rejects", load->rejects_kept), AS_COUNT("-short_batches", load->short_batches),
               AS_FLAG("-several", load->counts.of[FATE_LOADED] && load->shard_count > 1),
               AS_FLAG("-several_routers", load->counts.of[FATE_LOADED] && load->router_count > 1),
               AS_LIST("-inputs", spec->input_count < MOST_NAMES ? spec->input_count : MOST_NAMES, put_input,
                       spec->inputs),
               AS_LIST("-visits", load->course.visit_count, put_visit, &load->course));
    cli_put_course(to, &load->course);
    put_rejects(to, load);
}

void cli_print_bad_values(text_t *out, bad_value_t bad_value, bool stay, bool binary, uint64_t count) {
    const char *const became[BAD_VALUES] = {[BAD_VALUE_TEXT] =
                                                binary ? "kept as text or binary" : "kept as text",
                                            [BAD_VALUE_NULL] = "stored as null",
                                            [BAD_VALUE_REJECT] = "rejected with their records"};
    char text[UNITS_MAX];
    text_print(out, "%s: %s value%s not what %s field's type says",
               !bad_value && stay ? "kept as they are" : became[bad_value], units_count(text, count),
               count == 1 ? " that is" : "s that are", count == 1 ? "its" : "their");
}

static void put_bad_values(bson_t *to, const load_result_t *load) {
    static const char *const names[BAD_VALUES] = {"-kept_values", "-null_values", "-rejected_values"};
    for (bad_value_t became = BAD_VALUE_TEXT; became < BAD_VALUES; became++) {
        text_t words = {.length = 0};
        if (!load->became[became])
            continue;
        cli_print_bad_values(&words, became, load->bad_stay, load->bad_binary, load->became[became]);
        result_take(to, names[became], text_take_or_end(&words));
    }
}

/* ---- what is left to do ---- */

static void put_retry(bson_t *to, const char *name, const load_spec_t *spec, const load_result_t *load,
                      const char *file) {
    text_t line = {.length = 0};
    err_t ignored;
    char *more = retry_options(spec, load->namespace, &ignored);
    text_append(&line, "tipple load");
    shell_quote_option(&line, "--retry", file);
    text_append(&line, more ? more : "");
    free(more);
    result_take(to, name, text_take_or_end(&line));
}

/* Status 2 is also for what earlier runs have rejected, as long as it is not fixed. The number and the list of inputs are
 * of the same records. */
static void put_retries(bson_t *to, const load_spec_t *spec, const load_result_t *load) {
    const uint64_t rejected = load->counts.of[FATE_REJECTED];
    if (load->open_rejects_text[0] && load->open_rejects > rejected) {
        result_put(to, AS_TEXT("-open_rejects", load->open_rejects_text),
                   AS_TEXT("-rejected_by", rejected ? "this and earlier runs" : "earlier runs"));
        put_retry(to, "-open_retry", spec, load, "FILE");
    }
    if (load->rejects_path[0] && load->rejects_kept < rejected)
        result_put(to, AS_FLAG("-lost_rejects", true));
    else if (load->rejects_path[0] && rejected)
        put_retry(to, "-retry", spec, load, load->rejects_path);
}

/* "already there 0" counts what was looked for; of a load that found all of it done before, this line says so. Of one that
 * failed it is not known whether it would have found that. */
static void put_before(bson_t *to, const load_result_t *load, int status) {
    const bool all = !load->counts.read && load->files_skipped == load->files;
    if (!load->records_skipped || (all && result_is_trouble(status)))
        return;
    result_put_words(to, "-before",
                     all && !load->open_rejects && load->left_out
                         ? "nothing to load: {records_skipped|record} of {files|file}, done by earlier runs "
                           "({-left_out} left out)"
                     : all && !load->open_rejects
                         ? "nothing to load: {records_skipped|record} of {files|file}, {records_skipped?|all "
                           "}loaded by earlier runs"
                         : "skipped: {records_skipped|record}, loaded by earlier runs ({files_skipped} of "
                           "{files|file} complete)");
}

static result_t *make_result(const load_spec_t *spec, const load_result_t *load, int status,
                             const err_t *err) {
    result_t *result = result_new("load", views);
    bson_t *to = &result->document;
    load_figures(to, spec, load);
    put_more(to, spec, load);
    put_bad_values(to, load);
    put_retries(to, spec, load);
    put_before(to, load, status);
    result_answer(
        result, spec->dry_run ? "What would a load do?" : "Is everything loaded?", status, err,
        spec->dry_run
            ? "Dry run: nothing was written; {loaded|document} would have been, {rejected|record} rejected"
        : load->counts.read
            ? "Loaded {loaded|document} in {seconds}, {docs_per_second}; already there: {already_there}; "
              "rejected: {rejected}"
            : "There was nothing left to load: {records_skipped|record} were loaded by earlier runs",
        "{loaded|document} {loaded?was|were} loaded until then");
    return result;
}

/* ---- the command ---- */

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
    result_t *result = make_result(&spec, &load, status, err);
    const int ended = cli_end(run, result, began || (run->json && load.namespace[0]), status, err);
    load_result_free(&load);
    return ended;
}

static int load(run_t *run, err_t *err) {
    return check(run, err) ? each_collection(run, true, may_load, load_one, err) : (int)err->status;
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
