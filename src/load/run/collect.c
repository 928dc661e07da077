/* What the threads of a load have done: into the ledger, and on to the senders. */
#include "format/record/record_id.h"
#include "load/deliver/correct.h"
#include "load/forget/entry_documents.h"
#include "load/run/job.h"

#include <stdlib.h>

/* With --reload-missing an input that has grown, or was not loaded to its end, is first loaded to its end and then begun anew.
 * What is read both times is counted as it was found the first time. */
static void count_once(job_t *job, const block_t *block) {
    load_file_t *file = block->file;
    if (file->work->again) {
        file->read_from = file->read_before && file->read_from < block->from ? file->read_from : block->from;
        file->read_before = true;
    } else if (file->read_before && block->from >= file->read_from) {
        counts_add(&job->twice, &block->counts);
    }
}

static bool add_block(job_t *job, const block_t *block, err_t *err) {
    const settled_block_t settled = {.from = block->from,
                                     .to = block->to,
                                     .hash = block->hash,
                                     .counts = block->counts,
                                     .rejects = block->rejects,
                                     .reject_count = block->reject_count,
                                     .dialect = block->file->read_by,
                                     .tail = block->tail,
                                     .outgrown = block->outgrown};
    if (block->partial || !block->file->work)
        return true;
    count_once(job, block);
    return (!block->counts.read || job_bind(job, err)) &&
           ledger_block(&job->ledger, block->file->work, block->epoch, &settled, err);
}

/* A stream that was begun before and came to its end: what there is behind it is of another one. */
static bool check_end(const job_t *job, const news_t *news, err_t *err) {
    const work_t *work = news->file->work;
    const entry_place_t place = {job->server, job->client, job->settings.uuid};
    bool any;
    if (job->schema->id || !other_stream_may_be(news->file) || work->state != WORK_OURS ||
        work->epoch != news->epoch)
        return true;
    return entry_documents_look(&place, &job->ledger.inputs[work->input].entry, news->end, &any, err) &&
           (!any || other_stream_refuse_shorter(news->file, news->end, err));
}

/* False: err. It is taken in any case. */
static bool take_news(job_t *job, news_t *news, err_t *err) {
    ledger_t *ledger = &job->ledger;
    bool ok = true;
    switch (news->kind) {
    case NEWS_FED:
        if ((ok = check_end(job, news, err)))
            ledger_fed(ledger, news->file->work, news->epoch, news->end_block, news->tail_parts);
        break;
    case NEWS_COMPARED:
        ledger_checked(ledger, news->file->work);
        break;
    case NEWS_SKIPPED:
        news->file->aside = true;
        job->aside = job->aside ? job->aside : news->file;
        break;
    case NEWS_TORN:
        ledger_torn(ledger, news->file->work, news->epoch, news->torn);
        news->next = job->torn;
        job->torn = news;
        return true;
    }
    free(news);
    return ok;
}

/* Leaves out files that feeders could not read on, when every block that was read of them is in the ledger. With --existing
 * replace nothing after the first one is taken. */
static void skip_files(job_t *job) {
    for (size_t i = 0; i < job->file_count; i++) {
        load_file_t *file = &job->files[i];
        const bool waits = job->existing == EXISTING_REPLACE && file->ordinal > job->aside->ordinal &&
                           file->work->state != WORK_OURS;
        if (file->aside || waits)
            ledger_skip(&job->ledger, file->work);
        file->aside = false;
    }
    job->aside = NULL;
}

static void take_late(job_t *job, block_t *block) {
    while (block->late) {
        late_t *late = block->late;
        block->late = late->next;
        late->next = job->late;
        job->late = late;
    }
}

/* Before each writing, and so before the one that completes the piece: what a message of a dead load has brought to the
 * place of a record that makes no document is taken away. */
static bool look_for_late(job_t *job, bool *removed, err_t *err) {
    const correct_place_t place = {
        .server = job->server, .client = job->client, .uuid = job->loading.uuid, .schema = job->schema};
    late_t **at = &job->late;
    bool it = false;
    *removed = false;
    while (*at) {
        late_t *late = *at;
        const work_t *work = late->file->work;
        if (work && work->state == WORK_OURS && work->epoch == late->epoch) {
            if (!correct_remove_late(&place, late, &it, err))
                return false;
            *removed |= it;
            at = &late->next;
            continue;
        }
        *at = late->next;
        free(late);
    }
    return true;
}

bool job_collect(job_t *job, err_t *err) {
    news_t *news = load_state_take_news(&job->loading);
    const bool settled = load_state_is_settled(&job->loading);
    block_t *done = load_state_take_done(&job->loading);
    bool removed;
    for (block_t *block = done; block; block = block->next)
        take_late(job, block);
    bool ok = look_for_late(job, &removed, err) && ((!done && !removed) || job_make_durable(job, err));
    for (const block_t *block = done; ok && block; block = block->next)
        ok = add_block(job, block, err);
    load_state_free_blocks(done);
    while (news) {
        news_t *next = news->next;
        err_t problem;
        if (!take_news(job, news, &problem)) {
            *err = ok ? problem : *err;
            ok = false;
        }
        news = next;
    }
    if (settled && job->aside)
        skip_files(job);
    return ok;
}

/* False: there is no room for now. The senders may wait for this thread, so that it does not wait for them. A block counts
 * from before a sender can settle it, but not while it waits for room: that would keep this thread waiting, too. */
static bool send_held_back(job_t *job, block_t *block) {
    pipeline_t *pipeline = &job->loading.pipeline;
    block->next = NULL;
    load_state_add_block(&job->loading);
    block->counted = true;
    const queue_offer_t offer = queue_offer(pipeline->queue, block, record_id_lane_of(block->id_base));
    if (offer == QUEUE_CLOSED)
        pipeline_free_block(pipeline, block);
    if (offer != QUEUE_FULL)
        return true;
    block->counted = false;
    pipeline->settled(pipeline->context);
    return false;
}

/* Where no feeder brings anything behind them, nobody else tells the senders that they need not wait for more. */
void job_send_torn(job_t *job) {
    news_t **at = &job->torn;
    bool any = false;
    while (*at) {
        news_t *news = *at;
        const bool lost = block_is_lost(news->block);
        if (!lost &&
            (!ledger_torn_is_written(news->file->work, news->epoch) || !send_held_back(job, news->block))) {
            at = &news->next;
            continue;
        }
        any |= !lost;
        *at = news->next;
        if (lost)
            pipeline_free_block(&job->loading.pipeline, news->block);
        free(news);
    }
    if (any && (hand_out_is_idle(job->hand_out) || load_state_is_fed(&job->loading)))
        queue_drain(job->loading.pipeline.queue);
}
