#include "cli/report/report_load.h"
#include "base/numbers.h"
#include "cli/print/load_figures.h"
#include "cli/report/reporting.h"
#include "report/scale.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_POINTS = 80 }; /* a picture with more of them is a fur */

static double seconds(int64_t ns) {
    return (double)ns / 1e9;
}

/* ---- the sentence ---- */

static void say(report_t *report, const load_spec_t *spec, const load_result_t *result,
                const bson_t *document, int status, const err_t *err) {
    const counts_t *counts = &result->counts;
    char loaded[SCALE_TEXT], there[SCALE_TEXT], rejected[SCALE_TEXT], took[SCALE_TEXT], rate[SCALE_TEXT];
    scale_value(loaded, (double)counts->loaded, "documents");
    scale_value(there, (double)counts->already_there, "documents");
    scale_value(rejected, (double)counts->rejected, "records");
    scale_value(took, seconds(result->took_ns), "s");
    scale_value(rate, bson_read_number(document, "docs_per_second"), "documents/s");
    char skipped[120] = "", before[120] = "", earlier[SCALE_TEXT];
    if (result->skipped.count)
        snprintf(skipped, sizeof skipped, "; skipped: %zu file%s that %s not fit the format",
                 result->skipped.count, units_s(result->skipped.count),
                 result->skipped.count == 1 ? "does" : "do");
    if (result->records_skipped)
        snprintf(before, sizeof before, "; done by earlier runs: %s of these inputs",
                 scale_value(earlier, (double)result->records_skipped, "records"));
    if (reporting_is_trouble(status)) {
        char *trouble = reporting_trouble(status, seconds(result->took_ns), err);
        static const char begin[] = "interrupted; ";
        const bool is_told = !reporting_is_interrupted(status); /* trouble has err's text */
        const char *next = is_told                                            ? ""
                           : strncmp(err->text, begin, sizeof begin - 1) == 0 ? err->text + sizeof begin - 1
                                                                              : err->text;
        report_say(report, status, "%s; %s document%s loaded until then%s%s.", trouble, loaded,
                   counts->loaded == 1 ? " was" : "s were", *next ? "; " : "", next);
        bson_free(trouble);
    } else if (spec->dry_run) {
        report_say(report, status,
                   "Dry run: nothing was written; %s document%s would have been, %s record%s rejected.",
                   loaded, units_s(counts->loaded), rejected, units_s(counts->rejected));
    } else if (!counts->read) {
        report_say(report, status, "There was nothing left to load%s%s.", before, skipped);
    } else {
        report_say(report, status, "Loaded %s document%s in %s, %s%s%s%s%s%s%s; limited by %s.", loaded,
                   units_s(counts->loaded), took, rate, counts->already_there ? "; already there: " : "",
                   counts->already_there ? there : "", counts->rejected ? "; rejected: " : "",
                   counts->rejected ? rejected : "", before, skipped, result->limited_by);
    }
}

/* ---- figures ---- */

static void add_result(report_t *report, const load_result_t *result, const bson_t *document) {
    report_begin(report, REPORT_FIGURES, "Result", NULL);
    reporting_figure(report, document, "documents loaded", "loaded", "documents");
    reporting_figure(report, document, "documents a second", "docs_per_second", "documents/s");
    reporting_figure(report, document, "took", "seconds", "s");
    report_figure(report, "read from the files a second", result_rate(result->bytes_read, result->took_ns),
                  "bytes/s");
    report_figure(report, "sent to the server a second", result_rate(result->bytes_bson, result->took_ns),
                  "bytes/s");
    report_figure(report, "CPU time here, a document", load_cpu_us(result), "us");
    reporting_figure(report, document, "peak memory", "peak_memory_bytes", "bytes");
    reporting_figure(report, document, "batches sent", "batches", "batches");
    if (result->limited_by[0] && result->counts.read)
        report_figure_text(report, "limited by", result->limited_by);
    report_end(report);
}

/* read = loaded + already there + rejected + filtered */
static void add_counts(report_t *report, const load_result_t *result) {
    const counts_t *counts = &result->counts;
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {{"loaded", counts->loaded},
                {"already there", counts->already_there},
                {"rejected", counts->rejected},
                {"filtered", counts->filtered}};
    char note[480], read[SCALE_TEXT], parts[SCALE_TEXT];
    int used =
        snprintf(note, sizeof note,
                 "%s record%s read. Already there: an earlier run had loaded them. Rejected: they "
                 "could not be read, or the server refused them. Filtered: --filter left them out.",
                 scale_value(read, (double)counts->read, "records"), counts->read == 1 ? " was" : "s were");
    if (counts->replaced)
        used +=
            snprintf(note + used, sizeof note - (size_t)used, " %s of the loaded replaced other documents.",
                     scale_value(parts, (double)counts->replaced, "records"));
    if (counts->kept)
        snprintf(note + used, sizeof note - (size_t)used,
                 " Of %s of those already there other documents were kept.",
                 scale_value(parts, (double)counts->kept, "records"));
    report_begin(report, REPORT_BARS, "What became of the records", note);
    report_column(report, "outcome", "");
    report_column(report, "records", "records");
    report_bar_column(report, "share", "%", 100);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        report_row(report);
        report_word(report, rows[i].name);
        report_number(report, (double)rows[i].count);
        report_number(report, counts->read ? 100.0 * (double)rows[i].count / (double)counts->read : NAN);
    }
    report_end(report);
}

/* ---- over time ---- */

/* A load looks twice: before the collection is made, and then into its catalog. */
static const char *name_visit(const timeline_t *course, size_t at) {
    const timeline_phase_t phase = course->visits[at].phase;
    return at && phase == TIMELINE_LOOKING ? "comparing the files with the catalog"
                                           : timeline_phase_name(phase);
}

static void add_bands(report_t *report, const timeline_t *course, const server_checkpoints_t *flushes) {
    for (size_t i = 0; i < course->visit_count; i++) {
        const timeline_span_t *span = &course->visits[i].span;
        report_band(report, "phase", name_visit(course, i), seconds(span->began_ns),
                    seconds(span->began_ns + span->took_ns));
    }
    for (size_t i = 0; i < flushes->count; i++)
        report_band(report, "server checkpoint", "", seconds(flushes->items[i].began_ns),
                    seconds(flushes->items[i].ended_ns));
}

/* Between one point and the next, at its end. A last point that lies close behind another stands for both. */
void report_load_course(report_t *report, const timeline_t *course, const server_checkpoints_t *flushes) {
    const size_t count = course->point_count;
    report_begin(report, REPORT_LINES, "Documents a second",
                 !flushes->known ? "The server's checkpoints are not known."
                 : !flushes->count
                     ? "The server wrote no checkpoint (its memory to its disk) meanwhile."
                     : "While the server writes a checkpoint (its memory to its disk) it may be "
                       "slower. When is known to about half a second.");
    report_axes(report, "time", "s", "documents", "documents/s");
    report_series(report, "documents loaded");
    const timeline_point_t *before = course->points;
    const int64_t span_ns = count ? before[count - 1].at_ns - before->at_ns : 0,
                  every_ns =
                      span_ns / MOST_POINTS > course->every_ns ? span_ns / MOST_POINTS : course->every_ns;
    for (size_t i = 1; i < count; i++) {
        const timeline_point_t *now = &course->points[i];
        const bool last = i + 1 == count,
                   close = !last && course->points[count - 1].at_ns - now->at_ns < every_ns / 2;
        if (close || (!last && now->at_ns - before->at_ns < every_ns) || now->at_ns <= before->at_ns)
            continue;
        report_point(report, seconds(now->at_ns),
                     result_rate(now->documents - before->documents, now->at_ns - before->at_ns));
        before = now;
    }
    add_bands(report, course, flushes);
    report_end(report);
}

static void add_phases(report_t *report, const timeline_t *course) {
    report_begin(report, REPORT_TIMELINE, "Where the time went",
                 "From the beginning of the command to its end.");
    for (size_t i = 0; i < course->visit_count; i++) {
        const timeline_span_t *span = &course->visits[i].span;
        const report_phase_t phase = {.name = name_visit(course, i),
                                      .began = seconds(span->began_ns),
                                      .took = seconds(span->took_ns),
                                      .predicted = NAN,
                                      .low = NAN,
                                      .high = NAN};
        report_phase(report, &phase);
    }
    report_end(report);
}

static void add_threads(report_t *report, const threads_did_t *did) {
    const struct {
        const char *name;
        double share;
    } rows[] = {{"waited for the server", did->waited_for_server},
                {"waited for the files to be read", did->waited_for_input},
                {"made documents of records, and sent them", did->worked},
                {"were held back by --max-rate", did->held_back}};
    report_begin(
        report, REPORT_BARS, "What the loading threads did",
        "What they did most is what limited the load: if they waited for the server, this host could "
        "have loaded more.");
    report_column(report, "they", "");
    report_bar_column(report, "share of their time", "%", 100);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        report_row(report);
        report_word(report, rows[i].name);
        report_number(report, rows[i].share);
    }
    report_end(report);
}

/* ---- shards and routers ---- */

static void add_places(report_t *report, const load_result_t *result, const char *kind,
                       const loaded_place_t *places, size_t count) {
    char title[64];
    snprintf(title, sizeof title, "By %s", kind);
    report_begin(
        report, REPORT_BARS, title,
        "Even shares are good. Busy: the share of the loading time in which at least one batch (a group of "
        "documents that are sent together) was under way there. At once: how many were, on average. Waited "
        "for: by all threads together.");
    report_column(report, kind, "");
    report_column(report, "documents", "documents");
    report_bar_column(report, "share", "%", 100);
    report_bar_column(report, "busy", "%", 100);
    report_bar_column(report, "batches at once", "", 0);
    report_column(report, "most at once", "");
    report_column(report, "waited for", "s");
    for (size_t i = 0; i < count; i++) {
        const traffic_figures_t *figures = &places[i].figures;
        const load_share_t share = load_share(result, &places[i]);
        report_row(report);
        report_word(report, places[i].name);
        report_number(report, (double)figures->documents);
        report_number(report, share.documents);
        report_number(report, share.busy);
        report_number(report, share.at_once);
        report_number(report, figures->most);
        report_number(report, seconds(figures->waiting_ns));
    }
    report_end(report);
}

/* ---- the rest ---- */

static void add_indexes(report_t *report, const load_result_t *result) {
    report_begin(report, REPORT_BARS, "Indexes built", NULL);
    report_column(report, "keys", "");
    report_bar_column(report, "took", "s", 0);
    for (size_t i = 0; i < result->index_count; i++) {
        report_row(report);
        report_word(report, result->indexes[i].keys);
        report_number(report, seconds(result->indexes[i].took_ns));
    }
    report_end(report);
}

static void add_more(report_t *report, const load_result_t *result, const bson_t *document) {
    report_begin(report, REPORT_FIGURES, "Files and the way there", NULL);
    reporting_figure(report, document, "files", "files", "files");
    if (result->skipped.count)
        report_figure(report, "files skipped", (double)result->skipped.count, "files");
    reporting_figure(report, document, "files skipped", "files_skipped", "files");
    reporting_figure(report, document, "records skipped", "records_skipped", "records");
    reporting_figure(report, document, "records done by other loads", "records_done_by_others", "records");
    reporting_figure(report, document, "size of the text read", "bytes_text", "bytes");
    reporting_figure(report, document, "size of what was sent", "bytes_bson", "bytes");
    reporting_figure(report, document, "batches sent again", "retries", "batches");
    report_figure(report, "sent before full: memory was short", (double)result->short_batches, "batches");
    reporting_figure(report, document, "sorted by the router", "unrouted", "documents");
    reporting_figure(report, document, "values kept as text", "values_kept_as_text", "values");
    reporting_figure(report, document, "held back", "throttled_seconds", "s");
    if (result->throttled_by[0])
        report_figure_text(report, "held back by", result->throttled_by);
    if (result->counts.rejected && result->rejects_path[0])
        report_figure_text(report, "rejects", result->rejects_path);
    report_end(report);
}

static void add_settings(report_t *report, const load_spec_t *spec, const load_result_t *result) {
    report_set_text(report, "format", spec->format ? spec->format : result->format);
    report_set_number(report, "threads", result->threads);
    report_set_number(report, "batch", result->batch);
    report_set_number(report, "batch bytes", (double)spec->batch_bytes);
    report_set_number(report, "memory bytes", (double)spec->memory);
    report_set_flag(report, "clustered", result->clustered);
    report_set_text(report, "compressor", spec->compressor);
    report_set_text(report, "shard key", spec->shard_key);
    report_set_flag(report, "direct", spec->direct);
    report_set_flag(report, "max rate auto", spec->max_rate_auto);
    report_set_flag(report, "unsafe", spec->unsafe);
    report_set_flag(report, "dropped first", spec->drop);
    report_set_flag(report, "skip bad files", spec->skip_bad_files);
}

report_t *report_load(const load_spec_t *spec, const load_result_t *result, const bson_t *document,
                      int status, const err_t *err) {
    report_t *report = report_new("load");
    report_head(report, result->namespace, result->where,
                spec->dry_run ? "tipple load, dry run" : "tipple load");
    say(report, spec, result, document, status, err);
    add_result(report, result, document);
    if (result->course.point_count > 1)
        report_load_course(report, &result->course, &result->flushes);
    add_counts(report, result);
    if (result->counts.loaded && result->shard_count > 1)
        add_places(report, result, "shard", result->shards, result->shard_count);
    if (result->counts.loaded && result->router_count > 1)
        add_places(report, result, "router", result->routers, result->router_count);
    add_phases(report, &result->course);
    if (result->counts.read)
        add_threads(report, &result->threads_did);
    if (result->batch_times.moments.count) {
        report_begin(
            report, REPORT_PERCENTILES, "How long a batch took",
            "A batch is a group of documents that are sent together. From its sending to the server's "
            "answer, with all tries. 90 %: nine of ten batches took no longer than this.");
        report_axes(report, "percentile", "%", "time", "ms");
        reporting_latencies(report, &result->batch_times, "batches");
        report_end(report);
    }
    if (result->index_count)
        add_indexes(report, result);
    add_more(report, result, document);
    add_settings(report, spec, result);
    return report;
}
