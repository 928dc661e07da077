#include "cli/print/load_print.h"
#include "base/chars.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "cli/options/shell_quote.h"
#include "cli/print/load_figures.h"
#include "cli/print/passed_over.h"
#include "format/bad_values.h"
#include "format/schema/schema_bad_value.h"
#include "load/spec/retry_options.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 24 };

/* A line each, and of very many only those that took the fewest documents: they tell of trouble. */
static void print_places(const char *title, const loaded_place_t *places, size_t count,
                         const load_result_t *result) {
    size_t width = strlen(title);
    uint64_t limit = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        width = utf8_columns(places[i].name) > width ? utf8_columns(places[i].name) : width;
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

static void widen(double value, double *least, double *most) {
    *least = value < *least ? value : *least;
    *most = value > *most ? value : *most;
}

/* Of all shards only whether they are even. */
static void print_spread(const load_result_t *result) {
    double least = 100, most = 0, least_busy = 100, most_busy = 0;
    for (size_t i = 0; i < result->shard_count; i++) {
        const load_share_t share = load_share(result, &result->shards[i]);
        widen(share.documents, &least, &most);
        widen(share.busy, &least_busy, &most_busy);
    }
    if (most <= 0) /* the router has sorted them */
        return;
    out_print("shards: %zu, each with %.1f%% to %.1f%% of the documents, busy %.0f%% to %.0f%% of the time\n",
              result->shard_count, least, most, least_busy, most_busy);
}

static void print_shards(const load_result_t *result) {
    if (result->shard_count > 1)
        print_places("shard", result->shards, result->shard_count, result);
    if (result->router_count > 1)
        print_places("router", result->routers, result->router_count, result);
}

/* The command that loads again what was fixed. */
static char *retry_line(const load_spec_t *spec, const load_result_t *result, const char *file) {
    text_t line = {.length = 0};
    text_append(&line, "tipple load");
    shell_quote_option(&line, "--retry", file);
    err_t ignored;
    char *more = retry_options(spec, result->namespace, &ignored);
    text_append(&line, more ? more : "");
    free(more);
    return text_take_or_end(&line);
}

/* Status 2 is also for what earlier runs have rejected, as long as nobody has fixed it. The number and the list of inputs
 * are of the same records. */
static void print_open_rejects(const load_spec_t *spec, const load_result_t *result) {
    char count[UNITS_MAX];
    if (!result->open_rejects_text[0] || result->open_rejects <= result->counts.rejected)
        return;
    char *line = retry_line(spec, result, "FILE");
    out_print(
        "rejected by %searlier runs and not fixed: %s record%s (%s); fix them in the reject file, then: %s\n",
        result->counts.rejected ? "this and " : "", units_count(count, result->open_rejects),
        result->open_rejects == 1 ? "" : "s", result->open_rejects_text, line);
    free(line);
}

/* What became of values that do not fit, and of each field the first places; of very many fields the first ones. */
static void print_bad_values(const load_result_t *result) {
    char count[UNITS_MAX];
    text_t line = {.length = 0};
    if (!result->bad_values)
        return;
    schema_tell_bad(&line, result->bad_value, result->bad_stay, result->bad_values);
    char *text = text_take_or_end(&line);
    out_print("%s\n", text);
    free(text);
    for (size_t i = 0; i < result->bad_field_count && i < MOST_ROWS; i++) {
        const bad_result_t *field = &result->bad_fields[i];
        out_print("  %s: %s (%s%s)\n", field->name, units_count(count, field->count),
                  field->places ? field->places : "", field->count > BAD_VALUES_PLACES ? ", ..." : "");
    }
    if (result->bad_field_count > MOST_ROWS)
        out_print("  and %zu more field%s (all of them: --json)\n", result->bad_field_count - MOST_ROWS,
                  units_s(result->bad_field_count - MOST_ROWS));
}

static void print_passed_over(const load_result_t *result) {
    text_t line = {.length = 0};
    if (!result->passed_over.skipped && !result->passed_over.comments)
        return;
    passed_over_tell(&line, &result->passed_over);
    char *text = text_take_or_end(&line);
    out_print("%s\n", text);
    free(text);
}

/* How it was done: nothing that somebody has to do, or may have lost. */
static void print_details(const load_result_t *result) {
    char more[UNITS_MAX], out[UNITS_MAX];
    if (result->appended)
        out_print("appended: the collection holds documents of others, too, which stay as they are\n");
    if (result->batches)
        out_print("batches sent %s, %.0f docs on average      client CPU %.2f us a doc      peak memory %s\n",
                  units_count(more, result->batches),
                  (double)result->sent_documents / (double)result->batches, load_cpu_us(result),
                  units_size(out, result->peak_memory_bytes));
    if (result->counts.loaded)
        print_shards(result);
    if (result->retries)
        out_print("retried %s batch%s\n", units_count(more, result->retries),
                  result->retries == 1 ? "" : "es");
    if (result->short_batches)
        out_print("memory was short: %s batch%s went before %s full; a higher --memory keeps them whole\n",
                  units_count(more, result->short_batches), result->short_batches == 1 ? "" : "es",
                  result->short_batches == 1 ? "it was" : "they were");
}

/* "already there 0" counts what was looked for; of a load that found all of it done before, this line says so. Of one that
 * failed nobody knows whether that is what it would have found. */
static void print_skipped(const load_result_t *result, int status) {
    char records[UNITS_MAX], done[UNITS_MAX], files[UNITS_MAX], left_out[UNITS_MAX];
    const bool all = !result->counts.read && result->files_skipped == result->files;
    units_count(records, result->records_skipped);
    units_count(files, result->files);
    if (!result->records_skipped || (all && status != STATUS_OK && status != STATUS_SOME_REJECTED))
        return;
    if (all && !result->open_rejects && result->left_out)
        out_print("nothing to load: %s record%s of %s file%s, done by earlier runs (%s left out)\n", records,
                  units_s(result->records_skipped), files, units_s(result->files),
                  units_count(left_out, result->left_out));
    else if (all && !result->open_rejects)
        out_print("nothing to load: %s record%s of %s file%s, %sloaded by earlier runs\n", records,
                  units_s(result->records_skipped), files, units_s(result->files),
                  result->records_skipped == 1 ? "" : "all ");
    else if (!result->files_skipped)
        out_print("already loaded: %s record%s of %s\n", records, units_s(result->records_skipped),
                  result->files == 1 ? "a file that is not loaded to its end"
                                     : "files that are not loaded to their ends");
    else
        out_print("skipped: %s record%s of %s of %s file%s, loaded by earlier runs\n", records,
                  units_s(result->records_skipped), units_count(done, result->files_skipped), files,
                  units_s(result->files));
}

void load_print(const load_spec_t *spec, const load_result_t *result, int status, const bson_t *document) {
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
    if (spec->dry_run)
        out_print("dry run: nothing was written; 'loaded' is what would have been\n");
    if (result->skipped.count)
        out_print("skipped: %s of %s file%s, which %s not fit the format %s\n",
                  units_count(more, result->skipped.count),
                  units_count(out, result->files + result->skipped_before),
                  units_s(result->files + result->skipped_before), result->skipped.count == 1 ? "does" : "do",
                  result->format);
    print_open_rejects(spec, result);
    if (log_level() < LOG_NORMAL) {
        if (result->bad_value != BAD_VALUE_REJECT)
            print_bad_values(result); /* they are in no file that somebody looks into */
        return;
    }
    if (log_level() >= LOG_VERBOSE)
        print_details(result);
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
    if (spec->retry && result->left_out)
        out_print("left out: %s record%s whose line is not in the reject file any more\n",
                  units_count(more, result->left_out), units_s(result->left_out));
    print_skipped(result, status);
    if (result->records_done_by_others)
        out_print("done by other loads meanwhile: %s record%s\n",
                  units_count(more, result->records_done_by_others), units_s(result->records_done_by_others));
    if (counts->read)
        out_print("limited by: %s\n", result->limited_by);
    if (result->shard_count > 1 && counts->loaded && log_level() < LOG_VERBOSE)
        print_spread(result);
    if (result->unrouted)
        out_print("%" PRIu64 " document%s sent to the router, because the shard could not be found here\n",
                  result->unrouted, result->unrouted == 1 ? " was" : "s were");
    print_passed_over(result);
    print_bad_values(result);
    for (size_t i = 0; i < result->index_count; i++)
        out_print("index %s built in %s\n", result->indexes[i].keys,
                  units_time(took, result->indexes[i].took_ns));
    if (result->rejects_path[0] && result->rejects_kept < counts->rejected) {
        out_print("rejects: %s (%s of %s record%s; the rest could not be written, and comes again with "
                  "the next run)\n",
                  result->rejects_path, units_count(more, result->rejects_kept), rejected,
                  units_s(counts->rejected));
    } else if (counts->rejected && result->rejects_path[0]) {
        char *line = retry_line(spec, result, result->rejects_path);
        out_print("rejects: %s (%s record%s; fix %s, then: %s)\n", result->rejects_path, rejected,
                  counts->rejected == 1 ? "" : "s", counts->rejected == 1 ? "it" : "them", line);
        free(line);
    }
}
