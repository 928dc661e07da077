#include "load/feeder.h"
#include "base/lines.h"
#include "base/stop.h"
#include "format/records.h"
#include "input/cutter.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_THREADS = 16,
    CHAIN_BYTES =
        64 * 1024, /* little beside any --memory, because its feeder may wait for a buffer meanwhile */
    LEAST_SEEK = 4 /* windows that are worth a leap */
};

struct feeder {
    feeder_options_t options;
    pthread_t threads[MOST_THREADS];
    uint32_t started;
    atomic_uint running;
    atomic_ullong disk_bytes, text_bytes;
    pthread_mutex_t lock; /* of what follows */
    size_t next_file;
    bool failed;
    err_t err;
};

/* What one thread carries from file to file. */
typedef struct {
    feeder_t *feeder;
    source_kit_t *kit;
    block_t *chain, **chain_end; /* small files' blocks on their way into the queue, all at once */
    uint32_t chain_bytes;
    uint32_t turn;      /* of the file at hand */
    uint64_t left;      /* of --limit */
    records_t *counter; /* counts records for --limit */
    records_place_t scratch;
} worker_t;

static void fail(feeder_t *feeder, const err_t *err) {
    pthread_mutex_lock(&feeder->lock);
    if (!feeder->failed)
        feeder->err = *err;
    feeder->failed = true;
    pthread_mutex_unlock(&feeder->lock);
}

static bool has_failed(feeder_t *feeder) {
    pthread_mutex_lock(&feeder->lock);
    bool failed = feeder->failed;
    pthread_mutex_unlock(&feeder->lock);
    return failed;
}

/* A line is a record at most: where the block's lines are surely within the limit, nobody needs to look at
 * them. */
static bool count_lines(worker_t *worker, const block_t *block) {
    const uint64_t most = lines_count(block->buffer.bytes, block->length) + 1 + (block->oversize.length > 0);
    if (most > worker->left)
        return false;
    worker->left -= most;
    return true;
}

/* Cuts the block off behind the last record that --limit allows. */
static bool apply_limit(worker_t *worker, block_t *block, err_t *err) {
    const feeder_options_t *options = &worker->feeder->options;
    if (options->limit_is_about && count_lines(worker, block))
        return true;
    if (!worker->counter && !(worker->counter = records_new(options->schema)))
        return err_memory(err, 1);
    record_t record;
    records_begin(worker->counter, block->file->dialect, block->buffer.bytes, block->length,
                  block->file_start, false, 0);
    for (;;) {
        parsed_t parsed = records_next_into(worker->counter, &worker->scratch, &record, NULL);
        if (parsed == PARSED_MEMORY)
            return err_memory(err, record.needed);
        if ((parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT) && worker->left-- == 0) {
            worker->left = 0;
            block->length = record.offset;
            block->oversize.length = 0;
            block->partial = true;
            return true;
        }
        if (parsed == PARSED_END)
            break;
    }
    if (block->oversize.length && worker->left-- == 0) {
        worker->left = 0;
        block->oversize.length = 0;
        block->partial = true;
    }
    return true;
}

static bool sniff(worker_t *worker, load_file_t *file, const cut_t *cut, err_t *err) {
    const feeder_options_t *options = &worker->feeder->options;
    dialect_t dialect;
    if (file->dialect)
        return true;
    if (!dialect_sniff(options->schema, cut->buffer.bytes, cut->length, file->input->name, &dialect, err))
        return false;
    file->dialect = dialect_shelf_keep(options->shelf, &dialect);
    return file->dialect || err_memory(err, sizeof dialect);
}

/* What a part begins with does not tell the dialect: the file's first bytes do. */
static bool sniff_head(worker_t *worker, load_file_t *file, err_t *err) {
    const feeder_options_t *options = &worker->feeder->options;
    if (file->dialect)
        return true;
    source_t *source = source_open(file->input, err);
    cutter_t *cutter = source ? cutter_new(source, options->pool, options->max_record, err) : NULL;
    cut_t cut;
    int got = cutter ? cutter_next(cutter, &cut, err) : -1;
    bool ok = got >= 0;
    if (got > 0) {
        ok = sniff(worker, file, &cut, err);
        pool_give(options->pool, &cut.buffer);
    }
    cutter_destroy(cutter);
    source_close(source);
    return ok;
}

/* first: of its part, which begins in the middle of a record that belongs to the part before, perhaps. */
static block_t *make_block(load_file_t *file, const cut_t *cut, bool first, uint32_t turn) {
    block_t *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->file = file;
    block->buffer = cut->buffer;
    block->length = cut->length;
    block->offset = cut->offset;
    block->first_line = cut->first_line;
    block->lines_from = cut->lines_from;
    block->from = first ? file->from : cut->offset / POSITION_BLOCK_BYTES;
    block->to = cut->last ? (cut->next_offset - 1) / POSITION_BLOCK_BYTES + 1
                          : cut->next_offset / POSITION_BLOCK_BYTES;
    if (block->to > file->to)
        block->to = file->to;
    if (block->to <= block->from)
        block->to = block->from + 1;
    block->file_start = cut->offset == 0;
    block->last = cut->last;
    block->turn = turn;
    block->partial = cut->broken;
    block->begun_before = file->begun_before;
    block->oversize.length = cut->oversize.length;
    block->oversize.kept = cut->oversize.kept;
    return block;
}

static bool number(feeder_t *feeder, block_t *block, err_t *err) {
    uint64_t voff;
    load_file_t *file = block->file;
    const feeder_options_t *options = &feeder->options;
    if (!options->numbered)
        return true;
    uint64_t end = block->offset + block->length + block->oversize.length;
    if (!options->extend(options->context, file, end ? end - 1 : 0, err))
        return false;
    if (!catalog_voff(file->books, block->offset, &voff))
        return err_set(err, STATUS_INPUT,
                       "%s holds more than its size promised (more than %llu bytes): it changed while it was "
                       "read, or its compressed form lies about its size",
                       file->input->name, (unsigned long long)block->offset);
    block->id_base = position_id(position_lane(file->books->ordinal, block->offset), voff);
    return true;
}

/* Waking a loader costs more than a small block is worth. False when nobody takes blocks any more. */
static bool push_chain(worker_t *worker) {
    const feeder_options_t *options = &worker->feeder->options;
    block_t *chain = worker->chain;
    worker->chain = NULL;
    if (!chain || queue_push(options->queue, chain, position_lane_of(chain->id_base)))
        return true;
    while (chain) {
        block_t *next = chain->next;
        pool_give(options->pool, &chain->buffer);
        free(chain);
        chain = next;
    }
    return false;
}

static bool push(worker_t *worker, block_t *block) {
    if (!worker->chain) {
        worker->chain_end = &worker->chain;
        worker->chain_bytes = 0;
    }
    *worker->chain_end = block;
    worker->chain_end = &block->next;
    worker->chain_bytes += (uint32_t)block->buffer.capacity;
    bool may_wait = block->last && block->file->input->kind != INPUT_STREAM;
    return (may_wait && worker->chain_bytes < CHAIN_BYTES) || push_chain(worker);
}

/* Hands a block on; false when the feeding is over (err is set unless it was closed). */
static bool hand_on(worker_t *worker, load_file_t *file, cut_t *cut, bool first, bool *more, err_t *err) {
    feeder_t *feeder = worker->feeder;
    const feeder_options_t *options = &feeder->options;
    block_t *block = make_block(file, cut, first, worker->turn);
    bool ok = block != NULL || err_memory(err, sizeof *block);
    ok = ok && sniff(worker, file, cut, err);
    if (ok && options->limit != UINT64_MAX) {
        ok = apply_limit(worker, block, err);
        *more = !block->partial;
        if (block->partial) /* not fed to its end, but this far it was */
            file->blocks = block->to;
    }
    ok = ok && number(feeder, block, err);
    if (ok && runs_cover(&file->done_before, block->from, block->to)) {
        pool_give(options->pool, &block->buffer); /* an earlier run has made it durable */
        free(block);
        return true;
    }
    if (ok) {
        ok = push(worker, block);
        *more = *more && ok;
        return ok;
    }
    pool_give(options->pool, &cut->buffer);
    free(block);
    return false;
}

/* Where the next cut will begin lies in windows that are done: behind them. What stands there does not tell
 * the dialect either. */
static bool pass_over_done(worker_t *worker, load_file_t *file, cutter_t *cutter, uint64_t window,
                           err_t *err) {
    const runs_t *done = &file->done_before;
    if (file->input->kind != INPUT_PLAIN || input_is_in_stream(file->input))
        return true;
    for (size_t i = 0; i < done->count; i++)
        if (done->runs[i].from <= window && window + LEAST_SEEK < done->runs[i].to)
            return sniff_head(worker, file, err) && cutter_seek(cutter, done->runs[i].to, err);
    return true;
}

/* 1: a block was handed on; 0: the part is over; -1: a fault. */
static int feed_next(worker_t *worker, load_file_t *file, cutter_t *cutter, uint64_t *end, bool *more,
                     err_t *err) {
    feeder_t *feeder = worker->feeder;
    cut_t cut;
    bool first = *end == UINT64_MAX;
    uint64_t window = first ? file->from : *end / POSITION_BLOCK_BYTES;
    if (window >= file->to)
        return 0;
    if (!pass_over_done(worker, file, cutter, window, err))
        return -1;
    int got = cutter_next(cutter, &cut, err);
    if (got <= 0)
        return got;
    if (cut.offset / POSITION_BLOCK_BYTES >= file->to) {
        pool_give(feeder->options.pool, &cut.buffer); /* the next part's first record */
        return 0;
    }
    *end = cut.next_offset;
    feeder->text_bytes += cut.length;
    return hand_on(worker, file, &cut, first, more, err) ? 1 : *more ? -1 : 0;
}

/* Not lost to another load, nor lost and found again, which is another turn. */
static bool is_ours(const worker_t *worker, const load_file_t *file) {
    return !file->lost && file->turn == worker->turn;
}

static bool feed_file(worker_t *worker, load_file_t *file, bool *more, err_t *err) {
    feeder_t *feeder = worker->feeder;
    const feeder_options_t *options = &feeder->options;
    worker->turn = file->turn;
    if (file->from && !sniff_head(worker, file, err))
        return false;
    source_t *source = source_open_in(worker->kit, file->input, err);
    if (!source)
        return false;
    cutter_t *cutter = cutter_new(source, options->pool, options->max_record, err);
    uint64_t disk = source_disk_bytes(source), end = UINT64_MAX;
    int got = cutter && cutter_seek(cutter, file->from, err) ? 1 : -1;
    while (*more && got > 0 && is_ours(worker, file)) {
        got = feed_next(worker, file, cutter, &end, more, err);
        uint64_t now = source_disk_bytes(source);
        feeder->disk_bytes += now - disk;
        disk = now;
        if (stop_signal() || pool_closed(options->pool))
            *more = false;
    }
    if (*more && got == 0 && is_ours(worker, file)) {
        uint64_t blocks =
            end == UINT64_MAX ? file->from : (end + POSITION_BLOCK_BYTES - 1) / POSITION_BLOCK_BYTES;
        file->blocks = file->to != UINT64_MAX && end != UINT64_MAX ? file->to : blocks;
        file->fed = true;
    }
    if (got < 0 && source_is_suspect(source))
        file->suspect = true;
    cutter_destroy(cutter);
    source_close(source);
    return got >= 0;
}

/* The next file, or the next files, where one stream holds them: this thread reads them in order. */
static bool take_files(feeder_t *feeder, size_t *first, size_t *end, err_t *err) {
    const feeder_options_t *options = &feeder->options;
    if (options->next)
        return options->next(options->share, first, end, err);
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

static void *work(void *context) {
    worker_t worker = {
        .feeder = context, .kit = source_kit_new(), .left = ((feeder_t *)context)->options.limit};
    feeder_t *feeder = worker.feeder;
    bool more = true;
    size_t next = 0, end = 0;
    err_t err;
    if (!worker.kit) {
        err_memory(&err, sizeof worker);
        fail(feeder, &err);
    } else {
        source_kit_watch(worker.kit, feeder->options.pool);
    }
    while (more && !has_failed(feeder) && !stop_signal()) {
        err.text[0] = '\0';
        if (next == end && feeder->options.next && !push_chain(&worker)) /* the taking may wait */
            break;
        if (next == end && !take_files(feeder, &next, &end, &err)) {
            if (err.text[0])
                fail(feeder, &err);
            break;
        }
        load_file_t *file = &feeder->options.files[next++];
        if (file->skip)
            continue;
        if (file->input->kind == INPUT_STREAM && !push_chain(&worker)) /* which may be slow */
            break;
        if (!feed_file(&worker, file, &more, &err) && err.text[0])
            fail(feeder, &err);
        if (worker.left == 0)
            break;
    }
    push_chain(&worker);
    source_kit_free(worker.kit);
    records_destroy(worker.counter);
    free(worker.scratch.bytes);
    if (--feeder->running == 0)
        queue_close(feeder->options.queue);
    return NULL;
}

feeder_t *feeder_start(const feeder_options_t *options, err_t *err) {
    feeder_t *feeder = calloc(1, sizeof *feeder);
    if (!feeder) {
        err_memory(err, sizeof *feeder);
        return NULL;
    }
    feeder->options = *options;
    pthread_mutex_init(&feeder->lock, NULL);
    uint32_t threads = options->limit != UINT64_MAX ? 1 : options->threads;
    threads = threads > MOST_THREADS ? MOST_THREADS : threads < 1 ? 1 : threads;
    feeder->running = threads;
    for (uint32_t i = 0; i < threads; i++) {
        if (pthread_create(&feeder->threads[i], NULL, work, feeder) == 0) {
            feeder->started++;
            continue;
        }
        err_t problem;
        err_set(&problem, STATUS_HOST, "no more threads can be made; lower --threads");
        fail(feeder, &problem);
        feeder->running -= threads - i;
        if (feeder->running == 0)
            queue_close(options->queue);
        break;
    }
    return feeder;
}

feeder_progress_t feeder_progress(feeder_t *feeder) {
    return (feeder_progress_t){feeder->disk_bytes, feeder->text_bytes};
}

bool feeder_join(feeder_t *feeder, err_t *err) {
    for (uint32_t i = 0; i < feeder->started; i++)
        pthread_join(feeder->threads[i], NULL);
    bool ok = !feeder->failed;
    if (!ok)
        *err = feeder->err;
    pthread_mutex_destroy(&feeder->lock);
    free(feeder);
    return ok;
}
