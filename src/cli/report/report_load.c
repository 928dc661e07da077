#include "cli/report/report_load.h"
#include "cli/report/reporting.h"
#include "report/scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double seconds(int64_t ns) {
    return (double)ns / 1e9;
}

static double per_second(uint64_t count, int64_t ns) {
    return ns > 0 ? (double)count * 1e9 / (double)ns : NAN;
}

/* ---- the sentence ---- */

static void say(report_t *report, const load_spec_t *spec, const load_result_t *result, int status,
                const err_t *err) {
    const counts_t *counts = &result->counts;
    char loaded[SCALE_TEXT], there[SCALE_TEXT], rejected[SCALE_TEXT], took[SCALE_TEXT], rate[SCALE_TEXT];
    scale_value(loaded, (double)counts->loaded, "documents");
    scale_value(there, (double)counts->already_there, "documents");
    scale_value(rejected, (double)counts->rejected, "records");
    scale_value(took, seconds(result->took_ns), "s");
    scale_value(rate, per_second(counts->loaded, result->took_ns), "documents/s");
    char skipped[120] = "";
    if (result->skipped.count)
        snprintf(skipped, sizeof skipped, "; skipped: %zu file%s that %s not fit the format",
                 result->skipped.count, result->skipped.count == 1 ? "" : "s",
                 result->skipped.count == 1 ? "does" : "do");
    if (reporting_is_trouble(status)) {
        char *trouble = reporting_trouble(status, seconds(result->took_ns), err);
        report_say(report, status,
                   "%s; %s documents were loaded until then. The same command resumes from there.", trouble,
                   loaded);
        bson_free(trouble);
    } else if (spec->dry_run) {
        report_say(report, status,
                   "Dry run: nothing was written; %s documents would have been, %s records rejected.", loaded,
                   rejected);
    } else if (!counts->read) {
        report_say(report, status, "There was nothing left to load%s.", skipped);
    } else {
        report_say(report, status, "Loaded %s documents in %s, %s%s%s%s%s%s; limited by %s.", loaded, took,
                   rate, counts->already_there ? "; already there: " : "", counts->already_there ? there : "",
                   counts->rejected ? "; rejected: " : "", counts->rejected ? rejected : "", skipped,
                   result->limited_by);
    }
}

/* ---- figures ---- */

static void add_result(report_t *report, const load_result_t *result) {
    const counts_t *counts = &result->counts;
    report_begin(report, REPORT_FIGURES, "Result", NULL);
    report_figure(report, "documents loaded", (double)counts->loaded, "documents");
    report_figure(report, "documents a second", per_second(counts->loaded, result->took_ns), "documents/s");
    report_figure(report, "took", seconds(result->took_ns), "s");
    report_figure(report, "read a second", per_second(result->bytes_read, result->took_ns), "bytes/s");
    report_figure(report, "sent a second", per_second(result->bytes_bson, result->took_ns), "bytes/s");
    report_figure(
        report, "client CPU a document",
        result->sent_documents ? (double)result->cpu_ns / 1e3 / (double)result->sent_documents : NAN, "us");
    report_figure(report, "peak memory", (double)result->peak_memory_bytes, "bytes");
    report_figure(report, "batches sent", (double)result->batches, "batches");
    if (result->limited_by[0])
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
    char note[160], read[SCALE_TEXT];
    snprintf(note, sizeof note, "%s records were read: each is loaded, already there, rejected or filtered.",
             scale_value(read, (double)counts->read, "records"));
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

static void add_bands(report_t *report, const timeline_t *course, const server_checkpoints_t *flushes) {
    for (size_t i = 0; i < course->visit_count; i++) {
        const timeline_span_t *span = &course->visits[i].span;
        report_band(report, "phase", timeline_phase_name(course->visits[i].phase), seconds(span->began_ns),
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
                 !flushes->known   ? "The server's checkpoints are not known."
                 : !flushes->count ? "The server wrote no checkpoint meanwhile."
                                   : "The server's checkpoints are known to about half a second.");
    report_axes(report, "time", "s", "documents", "documents/s");
    report_series(report, "documents loaded");
    const timeline_point_t *before = course->points;
    for (size_t i = 1; i < count; i++) {
        const timeline_point_t *now = &course->points[i];
        const bool close = i + 2 == count && now[1].at_ns - now->at_ns < course->every_ns / 2;
        if (close || now->at_ns <= before->at_ns)
            continue;
        report_point(report, seconds(now->at_ns),
                     per_second(now->documents - before->documents, now->at_ns - before->at_ns));
        before = now;
    }
    add_bands(report, course, flushes);
    report_end(report);
}

static void add_phases(report_t *report, const timeline_t *course) {
    report_begin(report, REPORT_TIMELINE, "Phases", NULL);
    for (size_t i = 0; i < course->visit_count; i++) {
        const timeline_span_t *span = &course->visits[i].span;
        const report_phase_t phase = {.name = timeline_phase_name(course->visits[i].phase),
                                      .began = seconds(span->began_ns),
                                      .took = seconds(span->took_ns),
                                      .predicted = NAN,
                                      .low = NAN,
                                      .high = NAN};
        report_phase(report, &phase);
    }
    report_end(report);
}

/* ---- shards and routers ---- */

static void add_places(report_t *report, const load_result_t *result, const char *kind,
                       const loaded_place_t *places, size_t count) {
    const double documents = (double)result->counts.loaded, moving = (double)result->moving_ns;
    char title[64];
    snprintf(title, sizeof title, "By %s", kind);
    report_begin(
        report, REPORT_BARS, title,
        "Busy: the share of the loading time in which at least one batch was under way there. At once: "
        "how many were, on average.");
    report_column(report, kind, "");
    report_column(report, "documents", "documents");
    report_bar_column(report, "share", "%", 100);
    report_bar_column(report, "busy", "%", 100);
    report_bar_column(report, "batches at once", "", 0);
    report_column(report, "most at once", "");
    report_column(report, "waited for", "s");
    for (size_t i = 0; i < count; i++) {
        const traffic_figures_t *figures = &places[i].figures;
        report_row(report);
        report_word(report, places[i].name);
        report_number(report, (double)figures->documents);
        report_number(report, 100 * (double)figures->documents / documents);
        report_number(report, 100 * (double)figures->busy_ns / moving);
        report_number(report, (double)figures->waiting_ns / moving);
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

static void add_more(report_t *report, const load_result_t *result) {
    report_begin(report, REPORT_FIGURES, "Files and the way there", NULL);
    report_figure(report, "files", (double)result->files, "files");
    if (result->skipped.count)
        report_figure(report, "files skipped", (double)result->skipped.count, "files");
    report_figure(report, "files skipped", (double)result->files_skipped, "files");
    report_figure(report, "records skipped", (double)result->records_skipped, "records");
    report_figure(report, "records done by other loads", (double)result->records_done_by_others, "records");
    report_figure(report, "size of the text read", (double)result->bytes_text, "bytes");
    report_figure(report, "size of what was sent", (double)result->bytes_bson, "bytes");
    report_figure(report, "batches sent again", (double)result->retries, "batches");
    report_figure(report, "sent before full: memory was short", (double)result->short_batches, "batches");
    report_figure(report, "sorted by the router", (double)result->unrouted, "documents");
    report_figure(report, "values kept as text", (double)result->kept_as_text, "values");
    report_figure(report, "held back", seconds(result->throttled_ns), "s");
    if (result->throttled_by[0])
        report_figure_text(report, "held back by", result->throttled_by);
    if (result->counts.rejected && result->rejects_path[0])
        report_figure_text(report, "rejects", result->rejects_path);
    report_end(report);
}

static void add_settings(report_t *report, const load_spec_t *spec, const load_result_t *result) {
    report_set_text(report, "format", spec->format);
    report_set_number(report, "threads", result->threads);
    report_set_number(report, "batch", result->batch);
    report_set_number(report, "batch bytes", (double)spec->batch_bytes);
    report_set_number(report, "memory bytes", (double)spec->memory);
    report_set_flag(report, "clustered", result->clustered);
    report_set_text(report, "compressor", spec->compressor);
    report_set_text(report, "shard key", spec->shard_key);
    report_set_flag(report, "direct", spec->direct);
    report_set_flag(report, "polite", spec->polite);
    report_set_flag(report, "unsafe", spec->unsafe);
    report_set_flag(report, "dropped first", spec->drop);
    report_set_flag(report, "skip bad files", spec->skip_bad_files);
}

report_t *report_load(const load_spec_t *spec, const load_result_t *result, int status, const err_t *err) {
    report_t *report = report_new("load");
    report_head(report, result->namespace, result->where,
                spec->dry_run ? "tipple load, dry run" : "tipple load");
    say(report, spec, result, status, err);
    add_result(report, result);
    if (result->course.point_count > 1)
        report_load_course(report, &result->course, &result->flushes);
    add_counts(report, result);
    if (result->counts.loaded && result->shard_count > 1)
        add_places(report, result, "shard", result->shards, result->shard_count);
    if (result->counts.loaded && result->router_count > 1)
        add_places(report, result, "router", result->routers, result->router_count);
    if (result->batch_times.moments.count) {
        report_begin(report, REPORT_PERCENTILES, "How long a batch took",
                     "From being sent to the reply, with the tries after the first.");
        report_axes(report, "percentile", "%", "time", "ms");
        reporting_latencies(report, &result->batch_times, "batches");
        report_end(report);
    }
    add_phases(report, &result->course);
    if (result->index_count)
        add_indexes(report, result);
    add_more(report, result);
    add_settings(report, spec, result);
    return report;
}
