#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "load/job/job.h"
#include "load/spec/retry_options.h"

#include <stdio.h>
#include <stdlib.h>

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
    if (!(loading->rejects = rejects_new(&rejects, err)) || !job_restrain(job, err))
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
    job_look_what_is_to_read(job);
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
    job_join_loaders(job);
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
