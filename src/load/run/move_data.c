/* move_data: starts the threads of a load, waits until they have moved all data, ends them, and adds up what they did. */
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "input/source.h"
#include "load/rate/rate_step.h"
#include "load/run/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the phase, and how much is still to be read ---- */

void job_enter(job_t *job, timeline_phase_t phase) {
    timeline_enter(&job->result->course, phase);
    metrics_phase(timeline_phase_name(phase));
    step_change(&job->step, "%s", phase == TIMELINE_LOADING ? "" : timeline_phase_name(phase));
}

static bool is_read_by_blocks(const load_file_t *file) {
    return file->work && file->input->kind == INPUT_PLAIN && !input_is_in_stream(file->input);
}

static uint64_t blocks_of(const load_file_t *file) {
    const uint64_t blocks = (file->input->disk_bytes + RECORD_ID_BLOCK_BYTES - 1) / RECORD_ID_BLOCK_BYTES;
    return file->from < blocks ? (file->to < blocks ? file->to : blocks) - file->from : 0;
}

/* Of a plain file only the blocks that are not done are read; of any other one all that comes before them, too. */
static uint64_t bytes_to_read(const job_t *job, const load_file_t *file) {
    const input_file_t *input = file->input;
    if (!is_read_by_blocks(file))
        return file->from ? 0 : input_disk_share(input);
    const piece_t *piece = &job->ledger.inputs[file->work->input].entry.pieces[file->work->piece];
    uint64_t left = blocks_of(file);
    for (size_t i = 0; i < piece->done.count; i++) {
        const uint64_t done = piece->done.runs[i].to - piece->done.runs[i].from;
        left -= done < left ? done : left;
    }
    return left * RECORD_ID_BLOCK_BYTES < input->disk_bytes ? left * RECORD_ID_BLOCK_BYTES
                                                            : input->disk_bytes;
}

static bool is_done(const load_file_t *file) {
    return file->work && file->work->state == WORK_DONE;
}

static void look_what_is_to_read(job_t *job) {
    for (size_t i = 0; i < job->file_count; i++) {
        load_file_t *file = &job->files[i];
        if (is_done(file))
            continue;
        file->to_read = bytes_to_read(job, file);
        job->to_read += is_read_by_blocks(file) ? blocks_of(file) * RECORD_ID_BLOCK_BYTES : file->to_read;
        job->first = job->first ? job->first : file;
    }
}

uint64_t job_bytes_to_read(const job_t *job) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < job->file_count; i++)
        bytes += is_done(&job->files[i]) && job->files[i].work->by_others ? 0 : job->files[i].to_read;
    return bytes;
}

/* ---- a load that goes slower than it could: --max-rate ---- */

/* The least number of batches a second, so that a low rate is an even one. */
enum { LEAST_BATCHES = 10 };

/* With --max-rate auto a batch is over soon: who comes while it is worked on does not wait long for a core. */
enum { AUTO_BATCH = 100, AUTO_BYTES = 32 * 1024 };

/* And each shard has one in at most this share of the time. While batches are alone, their time does not show whether a
 * server has cores left for others; with more, readers on a host of two cores waited many times as long. */
static const double AUTO_SHARE = 0.4;

static void keep_batches_small(load_state_t *loading, const load_spec_t *spec) {
    const uint64_t share = spec->max_rate / LEAST_BATCHES ? spec->max_rate / LEAST_BATCHES : 1,
                   documents = spec->max_rate_auto    ? AUTO_BATCH
                               : spec->max_rate_bytes ? UINT64_MAX
                                                      : share,
                   bytes = spec->max_rate_auto    ? AUTO_BYTES
                           : spec->max_rate_bytes ? share
                                                  : UINT64_MAX;
    if (documents < loading->batch_documents)
        loading->batch_documents = (uint32_t)documents;
    if (bytes < loading->batch_bytes)
        loading->batch_bytes = (size_t)bytes;
}

static bool restrain(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    load_state_t *loading = &job->loading;
    const throttle_options_t options = {.per_second = spec->max_rate,
                                        .bytes = spec->max_rate_bytes,
                                        .places = spec->max_rate_auto ? CHUNKMAP_MOST_SHARDS + 1 : 0,
                                        .limit = RATE_STEP_START,
                                        .most = AUTO_SHARE};
    if (spec->dry_run || (!spec->max_rate && !spec->max_rate_auto))
        return true;
    keep_batches_small(loading, spec);
    job->result->batch = loading->batch_documents;
    loading->throttle = throttle_new(&options);
    return loading->throttle || err_memory(err, options.places);
}

/* The reason why a load with --max-rate auto waited. */
static void say_why(throttle_t *throttle, char *out, size_t room) {
    double worst = 0;
    for (size_t place = 0; place <= CHUNKMAP_MOST_SHARDS; place++) {
        const double times = throttle_place(throttle, place).worst;
        worst = times > worst ? times : worst;
    }
    if (worst > 0)
        snprintf(out, room, "--max-rate auto: batches took up to %.1f times as long as usual", worst);
    else
        snprintf(out, room, "--max-rate auto: it begins slowly");
}

static void release(job_t *job) {
    load_result_t *result = job->result;
    const load_spec_t *spec = job->spec;
    throttle_t *throttle = job->loading.throttle;
    char rate[UNITS_MAX];
    if (!throttle)
        return;
    const throttle_waited_t waited = throttle_waited(throttle);
    result->throttled_ns = (waited.for_rate_ns + waited.for_limits_ns) / result->threads;
    if (waited.for_rate_ns)
        snprintf(result->throttled_by, sizeof result->throttled_by, "--max-rate %s%s",
                 spec->max_rate_bytes ? units_size(rate, (double)spec->max_rate)
                                      : units_rate(rate, (double)spec->max_rate),
                 spec->max_rate_bytes ? "/s" : " docs/s");
    else if (waited.for_limits_ns)
        say_why(throttle, result->throttled_by, sizeof result->throttled_by);
    throttle_free(throttle);
    job->loading.throttle = NULL;
}

/* ---- the sums of the threads' counters, shards and routers, and what held the load up ---- */

static void take_counters(load_result_t *result, const loader_counters_t *sum) {
    result->counts = sum->counts;
    result->batches = sum->batches;
    result->sent_documents = sum->sent_documents;
    result->bytes_bson = sum->sent_bytes;
    result->retries = sum->retries;
    result->short_batches = sum->short_batches;
    result->bad_values = sum->bad_values;
    result->ambiguous_times = sum->ambiguous_times;
    result->passed_over = sum->passed_over;
    result->unrouted = sum->unrouted;
}

/* Where the loader threads' time went. */
static void find_limit(load_result_t *result, const loader_counters_t *sum) {
    int64_t held_ns = result->throttled_ns * result->threads;
    double total = sum->total_ns > 0 ? (double)sum->total_ns : 1;
    double server = (double)sum->wait_server_ns / total * 100,
           input = (double)sum->wait_input_ns / total * 100, held = (double)held_ns / total * 100;
    const double other = (double)(result->waited_ns * result->threads) / total * 100;
    input = input > other ? input - other : 0; /* nothing came meanwhile */
    const double taken = server + input + held + other, client = taken < 100 ? 100 - taken : 0;
    char waited[UNITS_MAX];
    const loaded_place_t *slowest = &result->shards[0];
    for (size_t i = 1; i < result->shard_count; i++)
        if (result->shards[i].figures.waiting_ns > slowest->figures.waiting_ns)
            slowest = &result->shards[i];
    bool one = result->shard_count > 1 && sum->wait_server_ns &&
               slowest->figures.waiting_ns > 2 * sum->wait_server_ns / (int64_t)result->shard_count;
    if (other >= server && other >= input && other >= client && other >= held && result->waited_ns)
        snprintf(result->limited_by, sizeof result->limited_by, "another load (waited %s %s)",
                 units_time(waited, (double)result->waited_ns / 1e9),
                 result->files_done_by_others ? "until its part was done" : "for its lease");
    else if (held >= server && held >= input && held >= client && held_ns)
        snprintf(result->limited_by, sizeof result->limited_by, "%.110s (%.0f%% of the time)",
                 result->throttled_by, held);
    else if (server >= input && server >= client && one)
        snprintf(result->limited_by, sizeof result->limited_by,
                 "shard %.80s (of all the waiting for shards, %.0f%% was for this one)", slowest->name,
                 100.0 * (double)slowest->figures.waiting_ns / (double)sum->wait_server_ns);
    else if (server >= input && server >= client)
        snprintf(result->limited_by, sizeof result->limited_by,
                 "server %.80s (the loader threads were waiting for it %.0f%% of the time)", result->where,
                 server);
    else if (input >= client)
        snprintf(result->limited_by, sizeof result->limited_by,
                 "input (the loader threads were waiting for it %.0f%% of the time)", input);
    else
        snprintf(result->limited_by, sizeof result->limited_by,
                 "client CPU (%.0f%% of the threads' time went to parsing and encoding)", client);
}

static void set_place(loaded_place_t *place, const char *name, traffic_t *traffic, size_t at) {
    snprintf(place->name, sizeof place->name, "%s", name);
    if (traffic)
        place->figures = traffic_figures(traffic, at);
}

/* One shard that is the server itself, where there are none. */
static void tally_shards(job_t *job) {
    load_result_t *result = job->result;
    load_state_t *loading = &job->loading;
    chunkmap_t *map = loading->route ? route_map(loading->route) : NULL;
    result->shard_count = job_shard_count(job);
    for (size_t i = 0; i < result->shard_count; i++)
        set_place(&result->shards[i], map ? chunkmap_shard_name(map, i) : result->where, loading->shards,
                  map ? i + 1 : i);
    chunkmap_free(map);
}

static void tally_routers(job_t *job) {
    load_result_t *result = job->result;
    const routers_t *routers = &job->loading.routers;
    if (!job->server || server_facts(job->server)->kind != SERVER_ROUTER || job->loading.direct)
        return;
    result->router_count = routers->count ? routers->count : 1;
    for (size_t i = 0; i < result->router_count; i++)
        set_place(&result->routers[i], routers->count ? server_where(routers->servers[i]) : result->where,
                  job->loading.ways, i);
}

/* The pieces and records that other loads have done since this one began. */
static void tally_others(job_t *job) {
    for (size_t i = 0; i < job->ledger.work_count; i++) {
        const work_t *work = &job->ledger.works[i];
        if (work->state != WORK_DONE || !work->by_others)
            continue;
        const counts_t counts = piece_counts(&job->ledger.inputs[work->input].entry.pieces[work->piece]);
        job->result->files_done_by_others++;
        job->result->records_done_by_others += counts.read - work->read_before;
        if (job->loading.rejects)
            rejects_of_others(job->loading.rejects, counts.read - work->read_before,
                              counts.rejected - work->rejected_before);
    }
}

/* "a.csv:17"; far into a large file, whose lines were not counted, "a.csv offset 81604378624". */
static char *places_of(const bad_field_t *field) {
    text_t places = {.length = 0};
    char words[PLACE_MAX];
    err_t ignored;
    for (const bad_place_t *place = field->places; place < field->places + field->place_count; place++) {
        const block_t block = {.file = (load_file_t *)place->input, .lines_from = place->lines_from};
        text_print(&places, "%s%s%s", places.length ? ", " : "", block.file->input->name,
                   place_words(words, block_line(&block, place->line), place->offset));
    }
    return text_take(&places, &ignored);
}

/* Fields with values that do not fit: what cannot be remembered for want of memory is counted all the same. */
static void tally_bad_fields(job_t *job, const bad_values_t *values) {
    load_result_t *result = job->result;
    if (values)
        memcpy(result->became, values->became, sizeof result->became);
    result->bad_binary = values && values->binary;
    result->bad_stay = schema_any_fields(job->schema);
    for (size_t i = 0; values && !job->spec->retry && i < schema_counted(job->schema); i++) {
        const bad_field_t *field = &values->fields[i];
        err_t ignored;
        if (!field->count ||
            !GROW(result->bad_fields, result->bad_field_room, result->bad_field_count + 1, &ignored))
            continue;
        bad_result_t *bad = &result->bad_fields[result->bad_field_count++];
        *bad = (bad_result_t){.count = field->count, .places = places_of(field)};
        snprintf(bad->name, sizeof bad->name, "%s", schema_counted_field(job->schema, i)->name);
    }
    if (values && result->ambiguous_times && !job->spec->retry)
        result->ambiguous_first = places_of(&values->fields[bad_values_twice(values)]);
}

static void join_loaders(job_t *job) {
    loader_counters_t sum = {.total_ns = 0};
    bad_values_t *bad_values = bad_values_new(job->schema);
    err_t known; /* job_move_data reports it */
    pipeline_join(&job->loading.pipeline, &known);
    for (uint32_t i = 0; i < job->loader_count; i++)
        loader_end(job->loaders[i], &sum, bad_values);
    job->loader_count = 0;
    take_counters(job->result, &sum);
    tally_bad_fields(job, bad_values);
    free(bad_values);
    /* another load may have had the file that was asked for */
    const char *kept_in = job->loading.rejects ? rejects_path(job->loading.rejects) : NULL;
    job->result->rejects_kept = kept_in ? rejects_count(job->loading.rejects) : 0;
    if (!kept_in)
        job->result->rejects_path[0] = '\0';
    else
        snprintf(job->result->rejects_path, sizeof job->result->rejects_path, "%s", kept_in);
    tally_others(job);
    tally_shards(job);
    tally_routers(job);
    release(job);
    find_limit(job->result, &sum);
}

/* ---- the threads ---- */

/* Of a stream, whose size nobody knows; from a feeder. */
static bool find_numbers(void *context, load_file_t *file, uint64_t offset, err_t *err) {
    job_t *job = context;
    uint64_t number;
    return file->input->text_bound || load_file_number(file, offset, &number) ||
           load_state_ask(&job->loading, ASK_FOR_NUMBERS, file, offset, err);
}

/* Memory is halved between text (that of small files was read already) and batches; a batch is there twice, ours and the driver's copy. */
static bool start_loaders(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    load_state_t *loading = &job->loading;
    uint32_t threads = job->result->threads;
    size_t batch_share = (size_t)(spec->memory / 2 / threads / 2) / job_shard_count(job),
           least_batch = 64 * 1024;
    loading->batch_bytes = (size_t)spec->batch_bytes < batch_share ? (size_t)spec->batch_bytes : batch_share;
    loading->batch_bytes = loading->batch_bytes < least_batch ? least_batch : loading->batch_bytes;
    loading->batch_documents = spec->batch;
    loading->existing = spec->retry ? EXISTING_REJECT : job->existing;
    size_t shards = job_shard_count(job);
    loading->parts = threads < shards ? threads : (uint32_t)shards;
    loading->schema = job->schema;
    loading->filter = job->filter;
    loading->server = spec->dry_run ? NULL : job->server;
    loading->uuid = spec->dry_run ? NULL : job->settings.uuid;
    loading->lease_ns = spec->dry_run ? 0 : job->lease_ms * 1000000;
    loading->reload_changed = spec->reload_changed;
    loading->reload_missing = spec->reload_missing;
    loading->max_document = server_facts(job->server)->max_document_bytes;
    if (!(job->retry_options = retry_options(spec, job->result->namespace, err)))
        return false;
    job->known_inputs = (reject_inputs_t){job->registration.standings, job->registration.standing_count};
    reject_options_t rejects = {
        .path = job->result->rejects_path,
        .retried = spec->retry,
        .write = !spec->dry_run && !spec->counts_rejects,
        .format = spec->format,
        .again = job->retry_options,
        .catalog = job->own_catalog,
        .inputs = job->registration.standings ? &job->known_inputs : NULL,
        .schema = job->schema,
        .to_come = job->to_read ? UINT64_MAX : 0,
        .first = job->first,
        .most = spec->max_rejects,
        /* what was rejected before may be rejected again */
        .most_percent = spec->retry && !spec->max_rejects_given ? 100 : spec->max_rejects_percent};
    loading->shards = traffic_new(CHUNKMAP_MOST_SHARDS + 1);
    loading->ways = traffic_new(ROUTERS_MOST);
    if (!loading->shards || !loading->ways)
        return err_memory(err, 1);
    if (!pipeline_open(&loading->pipeline, spec->memory / 2, threads, err))
        return false;
    if (!(loading->rejects = rejects_new(&rejects, err)) || !restrain(job, err))
        return false;
    if (!spec->retry)
        job_tell_what_is_there(job);
    for (; job->loader_count < threads; job->loader_count++)
        if (!(job->loaders[job->loader_count] = loader_start(loading, job->loader_count, err)))
            return false;
    return true;
}

static bool start_feeders(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    feeder_options_t options = {.schema = job->schema,
                                .files = job->files,
                                .file_count = job->file_count,
                                .pipeline = &job->loading.pipeline,
                                .limit = spec->limit,
                                .limit_is_about = spec->limit_is_about,
                                .numbered = !spec->dry_run,
                                .loading = &job->loading,
                                .extend = find_numbers,
                                .misfit = job_skip_misfit,
                                .skips = spec->skip_bad_files,
                                .in_order = job->existing == EXISTING_REPLACE,
                                .columns = job_see_columns,
                                .context = job};
    options.threads = options.in_order ? 1 : feeder_threads(&options);
    if (!spec->dry_run &&
        !(job->hand_out = hand_out_new(job->files, job->file_count, options.threads, &job->loading)))
        return err_memory(err, job->file_count * sizeof(size_t));
    options.hand_out = job->hand_out;
    return (job->feeder = feeder_start(&options, err)) != NULL;
}

static bool feed_and_send(job_t *job, err_t *err) {
    block_t *done = NULL;
    if (job->spec->retry)
        return job_load_again(job, err);
    if (!start_feeders(job, err))
        return false;
    bool ok = job->spec->dry_run ? job_wait(job, &done, err) : job_conduct(job, err);
    load_state_free_blocks(done);
    return ok;
}

static bool join_feeders(job_t *job, err_t *err) {
    hand_out_close(job->hand_out);
    if (!job->feeder) {
        pipeline_close(&job->loading.pipeline);
        return true;
    }
    feeder_progress_t read = feeder_progress(job->feeder);
    bool ok = feeder_join(job->feeder, err);
    job->feeder = NULL;
    job->result->bytes_read = read.disk_bytes;
    job->result->bytes_text = read.text_bytes;
    return ok;
}

/* What was settled is written down, whatever else went wrong; but not into a server that is gone, and a load
 * that has sent nothing leaves nothing. */
static bool may_flush(const job_t *job, const err_t *why) {
    return job->loading.rejects && !job->spec->dry_run && !job->spec->retry && why->status != STATUS_SERVER &&
           (job->loading.bound || why->status != STATUS_TOO_MANY_REJECTED);
}

bool job_move_data(job_t *job, err_t *err) {
    look_what_is_to_read(job);
    progress_start(&job->progress);
    int64_t began = clock_now_ns();
    job_enter(job, TIMELINE_LOADING);
    timeline_point(&job->result->course, 0, 0);
    err_t feeding = {.text = ""}, flushing = {.text = ""};
    const bool started = (!job->spec->retry || job_prepare_again(job, err)) && start_loaders(job, err);
    bool ok = started && feed_and_send(job, err);
    const bool failed_here = !ok && !pipeline_failed(&job->loading.pipeline);
    if (started && failed_here && !stop_signal())
        pipeline_fail(&job->loading.pipeline, err); /* nobody is to read or send on */
    load_state_end_answers(&job->loading);
    bool fed = join_feeders(job, &feeding);
    join_loaders(job);
    job->result->moving_ns = clock_now_ns() - began;
    const counts_t *counts = &job->result->counts;
    timeline_last_point(&job->result->course, counts->loaded + counts->already_there,
                        job->result->bytes_read);
    const progress_state_t state = {.bytes = job->result->bytes_read,
                                    .total_bytes = job_bytes_to_read(job),
                                    .records = counts->read,
                                    .documents = counts->loaded + counts->already_there,
                                    .rejected = counts->rejected};
    progress_show(&job->progress, &state);
    progress_end(&job->progress);
    misfits_warn(&job->result->skipped, job->result->skipped_before,
                 job->manifest.count + job->result->skipped_before);
    if (!fed)
        job_tell_late_misfit(job, &feeding);
    if (pipeline_failed(&job->loading.pipeline) && !failed_here) {
        *err = job->loading.pipeline.team.err;
        ok = false;
    } else if (ok && !fed) {
        *err = feeding;
        ok = false;
    } else if (!ok && !fed && feeding.text[0] && !stop_signal() && err->status != STATUS_SERVER) {
        *err = feeding;
    }
    if (!ok && may_flush(job, err) && !job_flush(job, &flushing) && err->status != STATUS_SERVER)
        log_detail("what was processed last could not be written down: %s", flushing.text);
    load_state_free_blocks(load_state_take_done(&job->loading));
    counts_subtract(&job->result->counts, &job->twice);
    if (!ok) {
        job_tell_removed(job);
        return false;
    }
    return rejects_flush(job->loading.rejects, err) && rejects_check(job->loading.rejects, err);
}
