#include "load/feed/feeder.h"
#include "base/stop.h"
#include "base/threads/team.h"
#include "load/feed/beginning.h"
#include "load/feed/cut_block.h"
#include "load/feed/done_before.h"
#include "load/feed/limited.h"
#include "load/feed/torn.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MOST_THREADS = 16,
    CHAIN_BYTES =
        64 * 1024, /* little beside any --memory, because its feeder may wait for a buffer meanwhile */
    LEAST_SEEK = 4 /* windows that are worth a leap */
};

struct feeder {
    feeder_options_t options;
    team_t team;
    atomic_uint running;
    atomic_ullong disk_bytes, text_bytes;
    pthread_mutex_t lock; /* of what follows, and of the calls of misfit */
    size_t next_file;
    pthread_mutex_t beginnings; /* of where records begin */
};

/* What one thread carries from file to file. */
typedef struct {
    feeder_t *feeder;
    source_kit_t *kit;
    block_t *chain, **chain_end; /* small files' blocks on their way into the queue, all at once */
    uint32_t chain_bytes;
    uint32_t epoch; /* of the file at hand */
    uint32_t tail_parts;
    done_before_t compared;
    bool at_beginning; /* of the file at hand: nothing of it was read and understood yet */
    beginning_t beginning;
    limited_t limited;
} worker_t;

/* Waking a loader costs more than a small block is worth. False when nobody takes blocks any more. */
static bool push_chain(worker_t *worker) {
    const feeder_options_t *options = &worker->feeder->options;
    block_t *chain = worker->chain;
    worker->chain = NULL;
    if (!chain || queue_push(options->pipeline->queue, chain, record_id_lane_of(chain->id_base)))
        return true;
    while (chain) {
        block_t *next = chain->next;
        pipeline_free_block(options->pipeline, chain);
        chain = next;
    }
    return false;
}

static bool push(worker_t *worker, block_t *block) {
    const feeder_options_t *options = &worker->feeder->options;
    if (!worker->chain) {
        worker->chain_end = &worker->chain;
        worker->chain_bytes = 0;
    }
    *worker->chain_end = block;
    worker->chain_end = &block->next;
    worker->chain_bytes += (uint32_t)block->buffer.capacity;
    bool may_wait = block->tail && block->file->input->kind != INPUT_STREAM;
    if (options->loading) {
        load_state_add_block(options->loading);
        block->counted = true;
    }
    return (may_wait && worker->chain_bytes < CHAIN_BYTES) || push_chain(worker);
}

/* Tells the main thread, if there is one that wants to know. */
static bool tell(const worker_t *worker, news_t news, err_t *err) {
    load_state_t *loading = worker->feeder->options.loading;
    news.epoch = worker->epoch;
    return !loading || load_state_tell(loading, &news, err);
}

static bool number(const feeder_options_t *options, block_t *block, err_t *err) {
    return !options->numbered ||
           (options->extend(options->context, block->file, cut_block_last(block), err) &&
            cut_block_number(block, err));
}

/* The last record without a line end is not handed on, but told of. *block becomes NULL where it is nothing else. */
static bool hold_back_torn(worker_t *worker, block_t **block, err_t *err) {
    const feeder_options_t *options = &worker->feeder->options;
    news_t torn;
    if (!torn_cut(options->schema, options->pipeline->pool, block, &torn, err))
        return false;
    worker->tail_parts += torn.block != NULL;
    if (!torn.block || tell(worker, torn, err))
        return true;
    pipeline_free_block(options->pipeline, torn.block);
    return false;
}

/* Hands a block on; false when the feeding is over (err is set unless it was closed). */
static bool hand_on(worker_t *worker, load_file_t *file, cut_t *cut, uint64_t from, bool *more, err_t *err) {
    const feeder_options_t *options = &worker->feeder->options;
    block_t *block = cut_block_new(file, cut, from, worker->epoch);
    if (!block) {
        pool_give(options->pipeline->pool, &cut->buffer);
        return err_memory(err, sizeof *block);
    }
    bool ok = true;
    worker->at_beginning = false;
    if (done_before_has(file, block)) {
        ok = done_before_compare(&worker->compared, file, block, err);
        pipeline_free_block(options->pipeline, block);
        return ok;
    }
    if (options->limit != UINT64_MAX) {
        ok = limited_cut(&worker->limited, block, err);
        *more = !block->partial || worker->limited.left; /* a damaged input makes it partial, too */
        if (!*more)                                      /* not fed to its end, but this far it was */
            file->blocks = block->to;
    }
    ok = ok && number(options, block, err);
    if (!ok) {
        pipeline_free_block(options->pipeline, block);
        return false;
    }
    if (block->tail && !block->partial && options->loading && !hold_back_torn(worker, &block, err)) {
        pipeline_free_block(options->pipeline, block);
        return false;
    }
    if (!block)
        return true;
    worker->tail_parts += block->tail;
    ok = push(worker, block);
    *more = *more && ok;
    return ok;
}

/* Is its text what the disk has, of which a part is read apart from the rest? More than that part is read to find out where
 * its records begin. */
static bool is_text_on_disk(const load_file_t *file) {
    return file->input->kind == INPUT_PLAIN && !input_is_in_stream(file->input);
}

/* Where the next cut will begin (*window) lies in blocks that are done: after them. */
static bool pass_over_done(worker_t *worker, load_file_t *file, cutter_t *cutter, uint64_t *window,
                           err_t *err) {
    const done_run_t *run = done_runs_find(&file->done_before, *window);
    if (!run || *window + LEAST_SEEK >= run->to || file->compares || !is_text_on_disk(file))
        return true;
    *window = run->to;
    return beginning_seek(&worker->beginning, file, cutter, run->to, err);
}

/* 1: a block was handed on; 0: the piece is over; -1: a fault. */
static int feed_next(worker_t *worker, load_file_t *file, cutter_t *cutter, uint64_t *end, bool *more,
                     err_t *err) {
    feeder_t *feeder = worker->feeder;
    cut_t cut;
    uint64_t window = *end == UINT64_MAX ? file->from : *end / RECORD_ID_BLOCK_BYTES;
    if (window >= file->to)
        return 0;
    if (!pass_over_done(worker, file, cutter, &window, err))
        return -1;
    const uint64_t from = cutter_offset(cutter);
    int got = cutter_next(cutter, &cut, err);
    if (got <= 0)
        return got;
    if (cut.offset / RECORD_ID_BLOCK_BYTES >= file->to) {
        pool_give(feeder->options.pipeline->pool, &cut.buffer); /* the next piece's first record */
        return 0;
    }
    *end = cut.next_offset;
    feeder->text_bytes += cut.length;
    feeder->disk_bytes += is_text_on_disk(file) ? cut.next_offset - from : 0;
    return hand_on(worker, file, &cut, window, more, err) ? 1 : *more ? -1 : 0;
}

/* Not taken by another load, nor taken again by us since, which is another ownership. */
static bool is_ours(const worker_t *worker, const load_file_t *file) {
    return file->epoch == worker->epoch;
}

/* The piece was read to its end. */
static bool finish(worker_t *worker, load_file_t *file, const cutter_t *cutter, uint64_t end, err_t *err) {
    const uint64_t blocks =
        end == UINT64_MAX ? file->from : (end + RECORD_ID_BLOCK_BYTES - 1) / RECORD_ID_BLOCK_BYTES;
    const bool to_its_end = file->to != UINT64_MAX && end != UINT64_MAX;
    if (to_its_end)
        beginning_note_end(&worker->beginning, file, cutter, end);
    if (!done_before_end(&worker->compared, file, err))
        return false;
    if (file->only_compares)
        return tell(worker, (news_t){.kind = NEWS_COMPARED, .file = file}, err);
    file->blocks = to_its_end ? file->to : blocks;
    return tell(worker,
                (news_t){.kind = NEWS_FED,
                         .file = file,
                         .end_block = file->blocks,
                         .tail_parts = worker->tail_parts,
                         .end = end == UINT64_MAX ? 0 : end},
                err);
}

static bool feed_text(worker_t *worker, load_file_t *file, bool *more, err_t *err) {
    feeder_t *feeder = worker->feeder;
    const feeder_options_t *options = &feeder->options;
    if (file->input->kind == INPUT_STREAM && atomic_exchange(&file->opened, true))
        return err_set(
            err, STATUS_SERVER,
            "%s was taken over by another load, which has not loaded all of it, and what was read of it "
            "here cannot be read again: run the same command again, with all of the stream",
            file->input->name);
    worker->at_beginning = true;
    worker->epoch = file->epoch;
    worker->tail_parts = 0;
    worker->compared = (done_before_t){0};
    if (file->is_older)
        return done_before_refuse_older(file, err);
    source_t *source = source_open_in(worker->kit, file->input, err);
    if (!source)
        return false;
    cutter_t *cutter = cutter_new(source, options->pipeline->pool, options->max_record, err);
    uint64_t disk = source_disk_bytes(source), end = UINT64_MAX;
    int got = cutter && beginning_read(&worker->beginning, file, cutter, err) ? 1 : -1;
    bool begun = false;
    while (*more && got > 0 && is_ours(worker, file)) {
        got = feed_next(worker, file, cutter, &end, more, err);
        begun |= got > 0;
        file->begun = begun;
        const uint64_t now = source_disk_bytes(source);
        feeder->disk_bytes += is_text_on_disk(file) ? 0 : now - disk;
        disk = now;
        if (stop_signal() || pool_closed(options->pipeline->pool))
            *more = false;
    }
    worker->at_beginning &= got != 0;
    /* a piece that ends before its file does must not be done with text of two versions */
    if (*more && got == 0 && is_ours(worker, file) &&
        (!source_is_unchanged(source, err) || !finish(worker, file, cutter, end, err)))
        got = -1;
    cutter_destroy(cutter);
    source_close(source);
    return got >= 0;
}

/* A file may be left out whose beginning cannot be read, or does not fit the format; not one that has changed. */
static bool feed_file(worker_t *worker, load_file_t *file, bool *more, err_t *err) {
    feeder_t *feeder = worker->feeder;
    const feeder_options_t *options = &feeder->options;
    if (feed_text(worker, file, more, err))
        return true;
    if (!worker->at_beginning || !err->text[0] || err->status != STATUS_INPUT || !options->misfit)
        return false;
    file->misfit = true;
    if (err->changed)
        return false;
    pthread_mutex_lock(&feeder->lock);
    bool skipped = options->misfit(options->context, file, err);
    pthread_mutex_unlock(&feeder->lock);
    return skipped && tell(worker, (news_t){.kind = NEWS_SKIPPED, .file = file}, err);
}

/* The next file, or the next files, where one stream holds them: this thread reads them in order. What it has
 * collected goes before it waits. */
static bool take_files(worker_t *worker, size_t *first, size_t *end) {
    feeder_t *feeder = worker->feeder;
    const feeder_options_t *options = &feeder->options;
    if (options->hand_out)
        return hand_out_try(options->hand_out, first, end) ||
               (push_chain(worker) && hand_out_next(options->hand_out, first, end));
    pthread_mutex_lock(&feeder->lock);
    size_t next = *first = feeder->next_file;
    if (next < options->file_count) {
        const input_file_t *input = options->files[next++].input;
        while (input_is_in_stream(input) && next < options->file_count &&
               options->files[next].input->archive == input->archive)
            next++;
    }
    feeder->next_file = *end = next;
    pthread_mutex_unlock(&feeder->lock);
    return *first < *end;
}

/* Of one stream's files some may be another load's, or done. One ownership is fed once: a piece that was lost and
 * taken again while a feeder was on its way to it is met twice. */
static bool is_wanted(load_file_t *file) {
    const uint32_t epoch = file->epoch;
    return !file->work || file->only_compares || (epoch && atomic_exchange(&file->fed_epoch, epoch) != epoch);
}

static void feed(worker_t *worker) {
    feeder_t *feeder = worker->feeder;
    bool more = true;
    size_t next = 0, end = 0;
    err_t err;
    while (more && !team_failed(&feeder->team) && !stop_signal()) {
        err.text[0] = '\0';
        if (next == end && !take_files(worker, &next, &end))
            return;
        load_file_t *file = &feeder->options.files[next++];
        if (!is_wanted(file))
            continue;
        if (file->input->kind == INPUT_STREAM && !push_chain(worker)) /* which may be slow */
            return;
        file->feeding = true;
        if (!feed_file(worker, file, &more, &err) && err.text[0])
            team_fail(&feeder->team, &err);
        file->feeding = false;
        if (worker->limited.left == 0)
            return;
    }
}

/* So many of the feeders have ended, or never began. When one is through, or has failed, all are to be. A load may still
 * have torn records to send: its queue is closed by feeder_join. */
static void end_feeders(feeder_t *feeder, uint32_t count) {
    const feeder_options_t *options = &feeder->options;
    hand_out_close(options->hand_out);
    if (atomic_fetch_sub(&feeder->running, count) != count)
        return;
    if (!options->loading) {
        queue_close(options->pipeline->queue);
        return;
    }
    queue_drain(options->pipeline->queue);
    load_state_end_feeding(options->loading);
}

static void *work(void *context) {
    feeder_t *feeder = context;
    const feeder_options_t *options = &feeder->options;
    worker_t worker = {
        .feeder = feeder,
        .kit = source_kit_new(),
        .limited = {.schema = options->schema, .left = options->limit, .about = options->limit_is_about},
        .beginning = {.schema = options->schema,
                      .shelf = options->pipeline->shelf,
                      .pool = options->pipeline->pool,
                      .max_record = options->max_record,
                      .files = options->files,
                      .file_count = options->file_count,
                      .lock = &feeder->beginnings}};
    err_t err;
    if (worker.kit) {
        source_kit_watch(worker.kit, options->pipeline->pool);
        feed(&worker);
    } else {
        err_memory(&err, sizeof worker);
        team_fail(&feeder->team, &err);
    }
    push_chain(&worker);
    source_kit_free(worker.kit);
    limited_free(&worker.limited);
    end_feeders(feeder, 1);
    return NULL;
}

/* Who fills several pipes may fill them by turns: with one that is not read it would wait for ever, and so would we. */
static size_t count_pipes(const feeder_options_t *options) {
    size_t count = 0;
    for (size_t i = 0; i < options->file_count; i++)
        count += options->files[i].input->kind == INPUT_STREAM;
    return count;
}

uint32_t feeder_threads(const feeder_options_t *options) {
    const size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN), pipes = count_pipes(options),
                 most = pipes > cpus ? pipes : cpus,
                 useful = options->file_count < most ? options->file_count : most,
                 threads = options->limit != UINT64_MAX ? 1
                           : options->threads           ? options->threads
                                                        : useful;
    return threads > MOST_THREADS ? MOST_THREADS : threads < 1 ? 1 : (uint32_t)threads;
}

feeder_t *feeder_start(const feeder_options_t *options, err_t *err) {
    feeder_t *feeder = calloc(1, sizeof *feeder);
    if (!feeder) {
        err_memory(err, sizeof *feeder);
        return NULL;
    }
    feeder->options = *options;
    pthread_mutex_init(&feeder->lock, NULL);
    pthread_mutex_init(&feeder->beginnings, NULL);
    team_init(&feeder->team);
    const uint32_t threads = feeder_threads(options);
    feeder->running = threads;
    for (uint32_t i = 0; i < threads; i++) {
        err_t problem;
        if (team_start(&feeder->team, work, feeder, "lower --threads", &problem))
            continue;
        team_fail(&feeder->team, &problem);
        end_feeders(feeder, threads - i);
        break;
    }
    return feeder;
}

feeder_progress_t feeder_progress(feeder_t *feeder) {
    const uint64_t disk = feeder->disk_bytes, text = feeder->text_bytes,
                   held = pool_held(feeder->options.pipeline->pool);
    const uint64_t done = held < text ? (uint64_t)((double)disk * (double)(text - held) / (double)text) : 0;
    return (feeder_progress_t){disk, text, done};
}

bool feeder_join(feeder_t *feeder, err_t *err) {
    const bool ok = team_join(&feeder->team, err);
    queue_close(feeder->options.pipeline->queue);
    pthread_mutex_destroy(&feeder->lock);
    pthread_mutex_destroy(&feeder->beginnings);
    free(feeder);
    return ok;
}
