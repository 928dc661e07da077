/* What came of a load. The first line always adds up: read = loaded + already there + rejected + filtered. */
#include "base/log.h"
#include "base/text.h"
#include "cli/options/shell_quote.h"
#include "cli/results/results.h"
#include "format/bad_values.h"
#include "format/schema/schema_bad_value.h"
#include "load/rejects/reject_file.h"
#include "load/spec/retry_options.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 80, MOST_REJECTS = 20, MOST_NAMES = 200 };

/* ---- figures ---- */

typedef struct {
    const load_result_t *load;
    const loaded_place_t *places;
} places_t;

static void put_place(bson_t *to, const void *of, size_t at) {
    const places_t *places = of;
    const load_result_t *load = places->load;
    const traffic_figures_t *figures = &places->places[at].figures;
    const double moving = (double)(load->moving_ns ? load->moving_ns : 1);
    result_put(to, AS_TEXT("name", places->places[at].name), AS_COUNT("documents", figures->documents),
               AS_COUNT("batches", figures->batches), AS_SECONDS("waiting_seconds", figures->waiting_ns),
               AS_SECONDS("busy_seconds", figures->busy_ns), AS_COUNT("most_at_once", figures->most),
               AS_FIGURE("-share_percent", 100 * (double)figures->documents / (double)load->counts.loaded),
               AS_NUMBER("-busy_percent", 100 * (double)figures->busy_ns / moving, 0),
               AS_FIGURE("-at_once", (double)figures->waiting_ns / moving));
}

static void put_skipped(bson_t *to, const void *misfits, size_t at) {
    const misfit_t *misfit = (const misfit_t *)misfits + at;
    result_put(to, AS_TEXT("name", misfit->name), AS_TEXT("reason", misfit->reason));
}

static void put_bad_field(bson_t *to, const void *fields, size_t at) {
    const bad_result_t *field = (const bad_result_t *)fields + at;
    text_t places = {.length = 0};
    text_print(&places, "%s%s", field->places ? field->places : "",
               field->count > BAD_VALUES_PLACES ? ", ..." : "");
    char *first = text_take_or_end(&places);
    result_put(to, AS_TEXT("field", field->name), AS_COUNT("values", field->count),
               AS_TEXT("first", field->places), AS_TEXT("-first", first));
    free(first);
}

void results_put_index(bson_t *to, const void *indexes, size_t at) {
    const built_index_t *index = (const built_index_t *)indexes + at;
    result_put(to, AS_TEXT("keys", index->keys), AS_SECONDS("seconds", index->took_ns));
}

static void put_figures(bson_t *to, const load_result_t *load) {
    const counts_t *counts = &load->counts;
    const bool rejects = counts->rejected && load->rejects_path[0];
    const places_t shards = {load, load->shards}, routers = {load, load->routers};
    result_put(
        to, AS_COUNT("read", counts->read), AS_COUNT("loaded", counts->loaded),
        AS_COUNT("already_there", counts->already_there), AS_COUNT("rejected", counts->rejected),
        AS_COUNT("filtered", counts->filtered), AS_COUNT("corrected", counts->corrected),
        AS_COUNT("replaced", counts->replaced), AS_COUNT("kept", counts->kept),
        AS_COUNT_IF("open_rejects", load->knows_rejects, load->open_rejects),
        AS_SECONDS("seconds", load->took_ns),
        AS_NUMBER("docs_per_second", result_rate(counts->loaded, load->took_ns), 0),
        AS_COUNT("bytes_read", load->bytes_read), AS_COUNT("bytes_bson", load->bytes_bson),
        AS_SECONDS("client_cpu_seconds", load->cpu_ns),
        AS_COUNT("peak_memory_bytes", load->peak_memory_bytes), AS_COUNT("batches", load->batches),
        AS_COUNT("retries", load->retries), AS_LIST("shards", load->shard_count, put_place, &shards),
        AS_LIST("routers", load->router_count, put_place, &routers), AS_COUNT("unrouted", load->unrouted),
        AS_TEXT("limited_by", load->limited_by), AS_SECONDS("throttled_seconds", load->throttled_ns),
        AS_TEXT("throttled_by", load->throttled_by[0] ? load->throttled_by : NULL),
        AS_TEXT("namespace", load->namespace), AS_TEXT("format", load->format),
        AS_COUNT("bytes_text", load->bytes_text), AS_COUNT("files", load->files),
        AS_COUNT("files_skipped", load->files_skipped), AS_COUNT("records_skipped", load->records_skipped),
        AS_COUNT("records_done_by_others", load->records_done_by_others),
        AS_COUNT("values_kept_as_text", load->bad_value == BAD_VALUE_TEXT ? load->bad_values : 0),
        AS_COUNT("bad_values", load->bad_values), AS_COUNT("lines_skipped", load->passed_over.skipped),
        AS_COUNT("comment_lines", load->passed_over.comments),
        AS_LIST("bad_fields", load->bad_field_count, put_bad_field, load->bad_fields),
        AS_FLAG("clustered", load->clustered), AS_FLAG("appended", load->appended),
        AS_COUNT("threads", load->threads), AS_COUNT("batch", load->batch),
        AS_TEXT("rejects", rejects ? load->rejects_path : NULL),
        AS_LIST("skipped_files", load->skipped.count, put_skipped, load->skipped.items),
        AS_LIST("indexes", load->index_count, results_put_index, load->indexes));
}

/* ---- for views alone ---- */

static void put_input(bson_t *to, const void *inputs, size_t at) {
    result_put(to, AS_TEXT("name", ((char *const *)inputs)[at]));
}

typedef struct {
    const char *name;
    double figure, of;
} share_t;

static void put_share(bson_t *to, const void *shares, size_t at) {
    const share_t *share = (const share_t *)shares + at;
    result_put(to, AS_TEXT("name", share->name), AS_NUMBER("records", share->figure, 0),
               AS_FIGURE("-share_percent", 100 * share->figure / share->of));
}

/* A load looks twice: before the collection is made, and then into its catalog. */
static void put_visit(bson_t *to, const void *course, size_t at) {
    const timeline_visit_t *visit = &((const timeline_t *)course)->visits[at];
    result_put(to, AS_TEXT("kind", "phase"),
               AS_TEXT("name", at && visit->phase == TIMELINE_LOOKING ? "comparing the files with the catalog"
                                                                      : timeline_phase_name(visit->phase)),
               AS_SECONDS("-from_seconds", visit->span.began_ns),
               AS_SECONDS("-to_seconds", visit->span.began_ns + visit->span.took_ns),
               AS_SECONDS("seconds", visit->span.took_ns));
}

static void put_checkpoint(bson_t *to, const void *checkpoints, size_t at) {
    const flush_t *flush = &((const server_checkpoints_t *)checkpoints)->items[at];
    result_put(to, AS_TEXT("kind", "server checkpoint"), AS_SECONDS("-from_seconds", flush->began_ns),
               AS_SECONDS("-to_seconds", flush->ended_ns));
}

static const double percentiles[] = {0, 50, 75, 90, 95, 99, 99.9, 99.99, 100};

/* Only as far as this many times tell: some lie beyond each percentile. */
static void put_percentile(bson_t *to, const void *of, size_t at) {
    const hist_t *times = of;
    const double percent = percentiles[at], count = (double)times->moments.count;
    if (percent < 100 && count * (100 - percent) < 100 * (1 - 1e-9))
        return;
    char name[16];
    snprintf(name, sizeof name, "%g", percent);
    result_put(
        to, AS_TEXT("-percent", name),
        AS_FIGURE("-time_ms",
                  (percent < 100 ? hist_quantile_ns(times, percent / 100) : (double)times->most_ns) / 1e6));
}

static void put_threads(bson_t *to, const threads_did_t *did) {
    const share_t shares[] = {{"waited for the server", did->waited_for_server, 100},
                              {"waited for the files to be read", did->waited_for_input, 100},
                              {"made documents of records, and sent them", did->worked, 100},
                              {"were held back by --max-rate", did->held_back, 100}};
    result_put(to, AS_LIST("-threads_did", sizeof shares / sizeof *shares, put_share, shares));
}

static void put_more(bson_t *to, const load_spec_t *spec, const load_result_t *load) {
    const counts_t *counts = &load->counts;
    const double read = counts->read ? (double)counts->read : NAN;
    const share_t outcomes[] = {{"loaded", (double)counts->loaded, read},
                                {"already there", (double)counts->already_there, read},
                                {"rejected", (double)counts->rejected, read},
                                {"filtered", (double)counts->filtered, read}};
    result_put(to, AS_TEXT("-target", load->where),
               AS_NUMBER("-read_bytes_per_second", result_rate(load->bytes_read, load->took_ns), 0),
               AS_NUMBER("-sent_bytes_per_second", result_rate(load->bytes_bson, load->took_ns), 0),
               AS_FIGURE("-cpu_us", load->sent_documents
                                        ? (double)load->cpu_ns / 1e3 / (double)load->sent_documents
                                        : NAN),
               AS_COUNT("-all_files", load->files + load->skipped_before),
               AS_COUNT("-skipped", load->skipped.count), AS_COUNT("-left_out", load->left_out),
               AS_FLAG("-dry_run", spec->dry_run), AS_COUNT("-not_retried", spec->retry ? load->left_out : 0),
               AS_NUMBER("-batch_documents",
                         load->batches ? (double)load->sent_documents / (double)load->batches : NAN, 0),
               AS_COUNT("-kept_rejects", load->rejects_kept), AS_COUNT("-short_batches", load->short_batches),
               AS_LIST("-outcomes", sizeof outcomes / sizeof *outcomes, put_share, outcomes),
               AS_LIST("-inputs", spec->input_count < MOST_NAMES ? spec->input_count : MOST_NAMES, put_input,
                       spec->inputs),
               AS_LIST("-visits", load->course.visit_count, put_visit, &load->course));
    put_threads(to, &load->threads_did);
    if (load->batch_times.moments.count)
        result_put(to, AS_LIST("-batch_times", sizeof percentiles / sizeof *percentiles, put_percentile,
                               &load->batch_times));
}

/* ---- rejects: their places and reasons, as the reject file has them ---- */

/* " -- a.csv:7:3: the reason" */
static void put_reject(bson_t *list, size_t at, const char *head) {
    const char *words = strstr(head, " -- "), *reason = words ? strstr(words, ": ") : NULL;
    char key[16];
    bson_t item = BSON_INITIALIZER;
    if (!reason)
        return;
    char *place = bson_strndup(words + 4, (size_t)(reason - words - 4));
    snprintf(key, sizeof key, "%zu", at);
    result_put(&item, AS_TEXT("place", place), AS_TEXT("reason", reason + 2));
    BSON_APPEND_DOCUMENT(list, key, &item);
    bson_destroy(&item);
    bson_free(place);
}

/* Calls for the entries from a number on; returns how many there are. */
static size_t read_rejects(const reject_file_t *file, size_t from, bson_t *list) {
    size_t at = file->first, count = 0;
    uint64_t line = file->first_line;
    reject_entry_t entry;
    for (; reject_file_next(file, &at, &line, &entry) > 0; count++) {
        if (list && count >= from)
            put_reject(list, count - from, entry.head);
        reject_entry_free(&entry);
    }
    return count;
}

static void add_rejects(result_t *result, const load_result_t *load) {
    reject_file_t file;
    bson_t list = BSON_INITIALIZER;
    if (!load->counts.rejected || !load->rejects_path[0] || !reject_file_open(&file, load->rejects_path))
        return;
    const size_t count = read_rejects(&file, 0, NULL);
    read_rejects(&file, count > MOST_REJECTS ? count - MOST_REJECTS : 0, &list);
    reject_file_close(&file);
    BSON_APPEND_ARRAY(&result->document, "-rejects", &list);
    bson_destroy(&list);
    result_table(result, SHOW_PAGE, "-rejects", "Rejected records",
                 "The last ones of the reject file, {rejects}, which has the "
                 "records, too.",
                 RESULT_COLUMNS(COLUMN("place", "file, line and column"), COLUMN("reason", "reason")));
}

/* ---- lines ---- */

static void add_command(result_t *result, const load_spec_t *spec, const load_result_t *load, unsigned shown,
                        const char *words, const char *file) {
    text_t line = {.length = 0};
    err_t ignored;
    char *more = retry_options(spec, load->namespace, &ignored);
    text_append(&line, "tipple load");
    shell_quote_option(&line, "--retry", file);
    text_append(&line, more ? more : "");
    free(more);
    char *command = text_take_or_end(&line);
    result_command(result, shown, words, command);
    free(command);
}

/* Status 2 is also for what earlier runs have rejected, as long as it is not fixed. The number and the list of inputs are
 * of the same records. */
static void add_open_rejects(result_t *result, const load_spec_t *spec, const load_result_t *load) {
    if (!load->open_rejects_text[0] || load->open_rejects <= load->counts.rejected)
        return;
    result_put(&result->document, AS_TEXT("-open_rejects", load->open_rejects_text));
    add_command(
        result, spec, load, SHOW_ALWAYS | SHOW_CARE,
        load->counts.rejected
            ? "rejected by this and earlier runs and not fixed: {open_rejects|record} ({-open_rejects}); "
              "fix them in the reject file, then:"
            : "rejected by earlier runs and not fixed: {open_rejects|record} ({-open_rejects}); fix them in "
              "the reject file, then:",
        "FILE");
}

/* "already there 0" counts what was looked for; of a load that found all of it done before, this line says so. Of one that
 * failed it is not known whether it would have found that. */
static void add_skipped(result_t *result, const load_result_t *load, int status) {
    const bool all = !load->counts.read && load->files_skipped == load->files;
    if (!load->records_skipped || (all && result_is_trouble(status)))
        return;
    if (all && !load->open_rejects && load->left_out)
        result_line(result, SHOW_USUAL,
                    "nothing to load: {records_skipped|record} of {files|file}, done by earlier "
                    "runs ({-left_out} left out)");
    else if (all && !load->open_rejects)
        result_line(result, SHOW_USUAL,
                    "nothing to load: {records_skipped|record} of {files|file}, "
                    "{records_skipped?|all }loaded by earlier runs");
    else if (!load->files_skipped)
        result_line(result, SHOW_USUAL,
                    "already loaded: {records_skipped|record} of {files?a file that is not "
                    "loaded to its end|files that are not loaded to their ends}");
    else
        result_line(result, SHOW_USUAL,
                    "skipped: {records_skipped|record} of {files_skipped} of {files|file}, "
                    "loaded by earlier runs");
}

static void add_bad_fields(result_t *result, unsigned shown, const char *title) {
    result_table(
        result, shown, "bad_fields", title, NULL,
        RESULT_COLUMNS(COLUMN("field", "field"), COLUMN("values", "values"), COLUMN("-first", "the first")));
}

static void add_bad_values(result_t *result, const load_result_t *load) {
    const unsigned quiet = load->bad_value == BAD_VALUE_REJECT ? 0 : SHOW_QUIET; /* they are in no file */
    text_t words = {.length = 0};
    if (!load->bad_values)
        return;
    schema_tell_bad(&words, load->bad_value, load->bad_stay, load->bad_values);
    char *text = text_take_or_end(&words);
    result_put(&result->document, AS_TEXT("-bad_values", text));
    free(text);
    result_line(result, SHOW_USUAL | quiet, "{-bad_values}");
    add_bad_fields(result, SHOW_NORMAL | quiet, NULL);
}

static void widen(double value, double *least, double *most) {
    *least = fmin(value, *least);
    *most = fmax(value, *most);
}

/* Of all shards only whether they are even; where the router sorts documents, nothing is known. */
static void add_spread(result_t *result, const load_result_t *load) {
    double least = 100, most = 0, least_busy = 100, most_busy = 0;
    bson_t shard;
    for (size_t i = 0; result_item(&result->document, "shards", i, &shard); i++) {
        widen(bson_read_number(&shard, "-share_percent"), &least, &most);
        widen(bson_read_number(&shard, "-busy_percent"), &least_busy, &most_busy);
    }
    if (load->shard_count < 2 || !load->counts.loaded || most <= 0 || log_level() >= LOG_VERBOSE)
        return;
    result_put(&result->document, AS_COUNT("-shards", load->shard_count), AS_FIGURE("-least_percent", least),
               AS_FIGURE("-most_percent", most), AS_NUMBER("-least_busy_percent", least_busy, 0),
               AS_NUMBER("-most_busy_percent", most_busy, 0));
    result_line(result, SHOW_NORMAL,
                "shards: {-shards}, each with {-least_percent} to {-most_percent} of the "
                "documents, busy {-least_busy_percent} to {-most_busy_percent} of the time");
}

static void add_rejected(result_t *result, const load_spec_t *spec, const load_result_t *load) {
    const counts_t *counts = &load->counts;
    if (!load->rejects_path[0] || !counts->rejected)
        return;
    if (load->rejects_kept < counts->rejected)
        result_line(result, SHOW_USUAL | SHOW_CARE,
                    "rejects: {rejects} ({-kept_rejects} of {rejected|record}; the rest could not be "
                    "written, and comes "
                    "again with the next run)");
    else
        add_command(
            result, spec, load, SHOW_USUAL | SHOW_CARE,
            "rejects: {rejects} ({rejected|record}); fix {rejected?it|them}, then:", load->rejects_path);
}

static void add_lines(result_t *result, const load_spec_t *spec, const load_result_t *load, int status) {
    const passed_over_t *passed = &load->passed_over;
    result_lines(
        result,
        {SHOW_QUIET, NULL,
         "read {read} = loaded {loaded} + already there {already_there} + rejected {rejected} + filtered "
         "{filtered}"},
        {SHOW_NORMAL, NULL,
         "    {seconds}   {docs_per_second}   {-read_bytes_per_second} in   {-sent_bytes_per_second} out"},
        {SHOW_QUIET, "-dry_run", "dry run: nothing was written; 'loaded' is what would have been"},
        {SHOW_ALWAYS | SHOW_CARE, "-skipped",
         "skipped: {-skipped} of {-all_files|file}, which {-skipped?does|do} not fit the format {format}"});
    add_open_rejects(result, spec, load);
    result_lines(
        result,
        {SHOW_DETAIL, "appended",
         "appended: the collection holds documents of others, too, which stay as they are"},
        {SHOW_VERBOSE, "batches",
         "batches sent {batches}, {-batch_documents} documents on average      client CPU {-cpu_us} a "
         "document      "
         "peak memory {peak_memory_bytes}"},
        {SHOW_DETAIL, "retries", "retried {retries|batch|batches}"},
        {SHOW_DETAIL, "-short_batches",
         "memory was short: {-short_batches|batch|batches} went before {-short_batches?it was|they were} "
         "full; a higher "
         "--memory keeps them whole"},
        {SHOW_USUAL, "replaced", "replaced: {replaced} of the loaded; other documents had their _ids"},
        {SHOW_USUAL, "kept",
         "kept: {kept} of those already there; other documents have their _ids, and stay"},
        {SHOW_USUAL, "corrected",
         "corrected: {corrected} of the loaded; the input ended in the middle of the record then, and has "
         "grown"},
        {SHOW_USUAL, "-not_retried",
         "left out: {-left_out|record} whose line is not in the reject file any more"});
    add_skipped(result, load, status);
    result_lines(result,
                 {SHOW_USUAL, "records_done_by_others",
                  "done by other loads meanwhile: {records_done_by_others|record}"},
                 {SHOW_NORMAL, "read", "limited by: {limited_by}"});
    add_spread(result, load);
    result_lines(result, {SHOW_USUAL, "unrouted",
                          "{unrouted|document} {unrouted?was|were} sent to the router, because the shard "
                          "could not be found here"});
    if (passed->skipped || passed->comments)
        result_line(result, SHOW_USUAL,
                    !passed->comments  ? "no records: {lines_skipped|line} skipped"
                    : !passed->skipped ? "no records: {comment_lines|comment line}"
                                       : "no records: {lines_skipped|line} skipped, "
                                         "{comment_lines|comment line}");
    add_bad_values(result, load);
}

/* ---- tables ---- */

static void add_places(result_t *result, const char *list, const char *kind, const char *title) {
    result_table(result, SHOW_DETAIL, list, title,
                 "Even shares are good. Busy: the share of the loading time in which at "
                 "least one batch was under way there. Waited for: by all threads together.",
                 RESULT_COLUMNS(COLUMN("name", kind), COLUMN("documents", "documents", .least = true),
                                COLUMN("-share_percent", "share %", .most = 100),
                                COLUMN("-busy_percent", "busy %", .most = 100),
                                COLUMN("-at_once", "batches at once", .most = BAR_LARGEST),
                                COLUMN("most_at_once", "most"), COLUMN("waiting_seconds", "waited for")));
}

/* Between one point and the next, at its end. A last point that lies close to the one before it stands for both. */
static void put_points(bson_t *to, const timeline_t *course) {
    const size_t count = course->point_count;
    const timeline_point_t *before = course->points;
    const int64_t span_ns = count ? before[count - 1].at_ns - before->at_ns : 0,
                  every_ns =
                      span_ns / MOST_POINTS > course->every_ns ? span_ns / MOST_POINTS : course->every_ns;
    bson_t list;
    uint32_t points = 0;
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(to, "-course", &list);
    for (size_t i = 1; i < count; i++) {
        const timeline_point_t *now = &course->points[i];
        const bool last = i + 1 == count,
                   close = !last && course->points[count - 1].at_ns - now->at_ns < every_ns / 2;
        if (close || (!last && now->at_ns - before->at_ns < every_ns) || now->at_ns <= before->at_ns)
            continue;
        char room[16];
        const char *key;
        bson_t point;
        bson_uint32_to_string(points++, &key, room, sizeof room);
        BSON_APPEND_DOCUMENT_BEGIN(&list, key, &point);
        result_put(&point, AS_SECONDS("seconds", now->at_ns),
                   AS_NUMBER("docs_per_second",
                             result_rate(now->documents - before->documents, now->at_ns - before->at_ns), 0));
        bson_append_document_end(&list, &point);
        before = now;
    }
    bson_append_array_end(to, &list);
}

void results_add_course(result_t *result, const timeline_t *course, const server_checkpoints_t *checkpoints) {
    bson_t bands = BSON_INITIALIZER;
    if (course->point_count < 2)
        return;
    put_points(&result->document, course);
    result_items(&bands, course->visit_count, put_visit, course);
    result_items(&bands, checkpoints->count, put_checkpoint, checkpoints);
    BSON_APPEND_ARRAY(&result->document, "-bands", &bands);
    bson_destroy(&bands);
    result_chart(
        result, "-course", "Documents a second",
        !checkpoints->known   ? "The server's checkpoints are not known."
        : !checkpoints->count ? "The server wrote no checkpoint (its memory to its disk) meanwhile."
                              : "While the server writes a checkpoint (its memory to its disk) it may "
                                "be slower. When is known to about half a second.",
        "-bands", RESULT_COLUMNS(COLUMN("seconds", "time"), COLUMN("docs_per_second", "documents a second")));
}

void results_add_indexes(result_t *result, const char *list) {
    bson_t index;
    for (size_t i = 0; result_item(&result->document, list, i, &index); i++) {
        char *took = result_figure(&index, "seconds");
        result_words(result, SHOW_USUAL, "index %s built in %s", bson_read_text(&index, "keys"), took);
        free(took);
    }
}

static void add_tables(result_t *result, const load_result_t *load) {
    result_figures(
        result, SHOW_PAGE, "Result", NULL,
        RESULT_COLUMNS(COLUMN("loaded", "documents loaded"), COLUMN("docs_per_second", "documents a second"),
                       COLUMN("seconds", "took"), COLUMN("-read_bytes_per_second", "read from the files"),
                       COLUMN("-sent_bytes_per_second", "sent to the server"),
                       COLUMN("-cpu_us", "CPU time here, a document"),
                       COLUMN("peak_memory_bytes", "peak memory"), COLUMN("batches", "batches sent"),
                       COLUMN("format", "format"), COLUMN("limited_by", "limited by")));
    add_rejects(result, load);
    add_bad_fields(result, SHOW_PAGE, "Values that do not fit their type");
    results_add_course(result, &load->course, &load->flushes);
    result_table(result, SHOW_PAGE, "-outcomes", "What became of the records",
                 "{read|record} {read?was|were} read. Already there: an earlier run had "
                 "loaded them. Rejected: they could not be read, or the server refused "
                 "them. Filtered: --filter left them out.",
                 RESULT_COLUMNS(COLUMN("name", "outcome"), COLUMN("records", "records"),
                                COLUMN("-share_percent", "share", .most = 100)));
    if (load->counts.loaded && load->shard_count > 1)
        add_places(result, "shards", "shard", "By shard");
    if (load->counts.loaded && load->router_count > 1)
        add_places(result, "routers", "router", "By router");
    result_table(result, SHOW_PAGE, "-visits", "Where the time went", NULL,
                 RESULT_COLUMNS(COLUMN("name", "phase"), COLUMN("-from_seconds", "began"),
                                COLUMN("seconds", "took", .most = BAR_LARGEST)));
    if (load->counts.read)
        result_table(result, SHOW_PAGE, "-threads_did", "What the loading threads did",
                     "What they did most is what limited the load: if they waited for the "
                     "server, this host could have loaded more.",
                     RESULT_COLUMNS(COLUMN("name", "they"),
                                    COLUMN("-share_percent", "share of their time", .most = 100)));
    result_table(result, SHOW_PAGE, "-batch_times", "How long a batch took",
                 "A batch is a group of documents that are sent together. From its "
                 "sending to the server's answer, with all tries. 90 %: nine of ten "
                 "batches took no longer than this.",
                 RESULT_COLUMNS(COLUMN("-percent", "percent of the batches"),
                                COLUMN("-time_ms", "took at most", .most = BAR_LARGEST)));
    result_table(result, SHOW_PAGE, "skipped_files", "Files that do not fit the format", NULL,
                 RESULT_COLUMNS(COLUMN("name", "file"), COLUMN("reason", "reason")));
    result_table(result, SHOW_PAGE, "-inputs", "Inputs", "As the command named them: {files|file}.",
                 RESULT_COLUMNS(COLUMN("name", "input")));
    result_figures(result, SHOW_PAGE, "Sizes and the way there", NULL,
                   RESULT_COLUMNS(COLUMN("files", "files"), COLUMN("bytes_text", "text read"),
                                  COLUMN("bytes_bson", "documents sent"),
                                  COLUMN("retries", "batches sent again"),
                                  COLUMN("unrouted", "documents sorted by the router"),
                                  COLUMN("throttled_seconds", "held back"),
                                  COLUMN("throttled_by", "held back by"), COLUMN("rejects", "reject file")));
}

result_t *results_load(const load_spec_t *spec, const load_result_t *load, int status, const err_t *err) {
    result_t *result = result_new("load");
    put_figures(&result->document, load);
    put_more(&result->document, spec, load);
    result_answer(
        result, spec->dry_run ? "What would a load do?" : "Is everything loaded?", status, err,
        spec->dry_run ? "Dry run: nothing was written; {loaded|document} would have been, {rejected|record} "
                        "rejected"
        : load->counts.read ? "Loaded {loaded|document} in {seconds}, {docs_per_second}; already there: "
                              "{already_there}; rejected: {rejected}"
                            : "There was nothing left to load: {records_skipped|record} were loaded by "
                              "earlier runs",
        "{loaded|document} {loaded?was|were} loaded until then");
    add_lines(result, spec, load, status);
    results_add_indexes(result, "indexes");
    add_rejected(result, spec, load);
    add_tables(result, load);
    return result;
}
