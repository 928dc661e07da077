#include "base/log.h"
#include "base/stop.h"
#include "format/record/record_id.h"
#include "load/run/job.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A fixed record is a block of its own: the same way through parsing, batches and rejects as any other, under
 * the `_id` of its first position. It is never marked as done, and a second time finds it already there. */

typedef struct {
    job_t *job;
    size_t room;   /* of job->files: blocks point into it, so it must not move */
    size_t number; /* of the next entry */
} feeding_t;

static load_file_t *file_of(const feeding_t *feeding, const retry_t *retry, err_t *err) {
    job_t *job = feeding->job;
    load_file_t *last = job->file_count ? &job->files[job->file_count - 1] : NULL;
    const entry_t *entry = job->places ? fixes_input(job->places, &retry->head, job->own_catalog) : NULL;
    dialect_t read_by = retry->dialect;
    read_by.bad_value = entry ? fixes_bad_value(job->schema, entry) : job->schema->bad_value;
    const dialect_t *dialect = pipeline_keep(&job->loading.pipeline, &read_by);
    if (dialect && last && last->dialect == dialect && strcmp(last->input->name, retry->head.path) == 0 &&
        (!entry || last->ordinal == entry->ordinal))
        return last;
    if (!job->files || job->file_count == feeding->room) {
        err_set(err, STATUS_USAGE, "%s grew while it was read; run the same command again", job->spec->retry);
        return NULL;
    }
    load_file_t *file = &job->files[job->file_count];
    input_file_t *input = calloc(1, sizeof *input);
    if (!dialect || !input || !(input->name = strdup(retry->head.path))) {
        free(input);
        err_memory(err, sizeof *dialect);
        return NULL;
    }
    *file = (load_file_t){.input = input, .dialect = dialect, .to = UINT64_MAX};
    job->file_count++;
    if (entry) {
        file->known_as = entry->path;
        file->ordinal = entry->ordinal;
        file->extents = entry->extents;
        file->extent_count = entry->extent_count;
    }
    return file;
}

/* Whose place it is was looked up before. In a dry run nobody has: then every entry counts. */
static bool find_verdict(feeding_t *feeding, const retry_t *retry, fix_verdict_t *verdict, err_t *err) {
    const job_t *job = feeding->job;
    *verdict = retry->head.cut_off ? FIX_CUT_OFF : FIX_COUNTS;
    return !job->marks || retry_marks_verdict(job->marks, feeding->number++, retry, verdict) ||
           err_set(err, STATUS_USAGE, "%s was changed while it was read; run the same command again",
                   job->spec->retry);
}

static void tell_cut_off(const job_t *job, const retry_t *retry) {
    log_warn("%s:%llu: this record was cut off when its load was killed, and is left out; run that load "
             "again, which writes it again, or fix it, end its line, and delete the 'torn' line below it, if "
             "there is one",
             job->spec->retry, (unsigned long long)retry->head.at_line);
}

/* For another such record, before the next one is looked at: its text counts, too, and so does the text of this one. */
static void wait_for_room(pool_t *pool, const retry_t *retry) {
    reject_file_pass(retry->file, retry->at, retry->at + retry->length);
    pool_wait(pool, retry->length);
}

static bool take(void *context, const retry_t *retry, err_t *err) {
    feeding_t *feeding = context;
    job_t *job = feeding->job;
    load_file_t *file;
    uint64_t voff = 0;
    fix_verdict_t verdict;
    if (stop_signal())
        return false;
    if (!find_verdict(feeding, retry, &verdict, err))
        return false;
    if (verdict == FIX_CUT_OFF)
        tell_cut_off(job, retry);
    else if (!retry->length || verdict == FIX_DOUBLE)
        log_detail("%s:%llu: this record was left out", job->spec->retry,
                   (unsigned long long)retry->head.at_line);
    job->result->left_out += !retry->length && verdict == FIX_COUNTS;
    if (!retry->length || (verdict != FIX_COUNTS && verdict != FIX_CONTRADICTS))
        return true;
    if (!(file = file_of(feeding, retry, err)))
        return false;
    block_t *block = calloc(1, sizeof *block);
    if (!block)
        return err_memory(err, sizeof *block);
    if (!pool_take(job->loading.pipeline.pool, retry->length, &block->buffer)) {
        free(block);
        return pool_closed(job->loading.pipeline.pool) || err_memory(err, retry->length);
    }
    memcpy(block->buffer.bytes, retry->bytes, retry->length);
    memset(block->buffer.bytes + retry->length, 0, POOL_SLACK);
    block->file = file;
    block->length = (uint32_t)retry->length;
    block->offset = retry->head.offset;
    block->first_line = retry->line;
    block->partial = block->by_itself = true;
    block->rejected_as = retry->head.has_hash ? retry->head.hash : 0;
    block->begun_before = true; /* it may have been fixed before, and otherwise */
    block->refusal = retry->refusal;
    if (verdict == FIX_CONTRADICTS)
        block->refusal = "an entry before it in the reject file fixes the same record otherwise";
    if (file->known_as && load_file_number(file, retry->head.offset, &voff))
        block->id_base = record_id_make(record_id_lane(file->ordinal, retry->head.offset), voff);
    load_state_add_block(&job->loading);
    block->counted = true;
    if (!queue_push(job->loading.pipeline.queue, block, 0))
        pipeline_free_block(&job->loading.pipeline, block);
    wait_for_room(job->loading.pipeline.pool, retry);
    return true;
}

static bool count(void *context, const retry_t *retry, err_t *err) {
    (void)retry, (void)err;
    ++*(size_t *)context;
    return true;
}

static bool feed(job_t *job, err_t *err) {
    size_t entries = job->fixes ? fixes_entries(job->fixes) : 0;
    /* counted first: blocks point into the array of files, which must not move */
    if (!job->fixes && !rejects_read(job->spec->retry, 0, job->schema, count, &entries, err))
        return false;
    if (!(job->files = calloc(2 * entries + 1, sizeof *job->files)))
        return err_memory(err, entries * sizeof *job->files);
    feeding_t feeding = {.job = job, .room = 2 * entries};
    return rejects_read(job->spec->retry, 0, job->schema, take, &feeding, err);
}

/* A thread, since it waits for those that send, and they for what the main thread hears of the catalog. */
static void *run(void *context) {
    job_t *job = context;
    err_t err;
    if (!feed(job, &err) && !stop_signal())
        pipeline_fail(&job->loading.pipeline, &err);
    queue_close(job->loading.pipeline.queue);
    load_state_end_feeding(&job->loading);
    return NULL;
}

static bool send_fixed(job_t *job, block_t **done, err_t *err) {
    pthread_t thread;
    if (caller_start_thread(&thread, run, job) != 0)
        return err_set(err, STATUS_HOST, "no more threads can be made; lower --threads");
    const bool ok = job_wait(job, done, err);
    if (!ok && !stop_signal())
        pipeline_fail(&job->loading.pipeline, err); /* nobody is to send on, nor to wait for room */
    pthread_join(thread, NULL);
    return ok;
}

/* What is noted is judged while nobody else can change it. */
static bool prepare(job_t *job, err_t *err) {
    return job_hold_retried(job, err) && (job->places = places_read(job->store, err)) &&
           retry_marks_note(job, err) && job_keep_held(job, true, err);
}

static bool settle(job_t *job, const block_t *done, err_t *err) {
    if (!retry_marks_settle(job, done, err) || !job_make_durable(job, err) || !retry_marks_confirm(job, err))
        return false;
    job_give_back_held(job);
    return true;
}

bool job_prepare_again(job_t *job, err_t *err) {
    if (job->spec->dry_run)
        return true;
    if (!prepare(job, err))
        return false;
    const uint64_t fit = job->spec->memory / 2 / (fixes_longest(job->fixes) + 1);
    if (job->result->threads > fit)
        job->result->threads = fit ? (uint32_t)fit : 1;
    return true;
}

bool job_load_again(job_t *job, err_t *err) {
    block_t *done = NULL;
    const bool ok = send_fixed(job, &done, err) && (job->spec->dry_run || settle(job, done, err));
    load_state_free_blocks(done);
    return ok;
}
