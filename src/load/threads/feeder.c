#include "load/threads/feeder.h"
#include "base/lines.h"
#include "base/stop.h"
#include "base/threads/team.h"
#include "format/record/ends.h"
#include "format/records.h"
#include "input/cutter.h"
#include "load/blocks/other_stream.h"
#include "load/threads/beginning.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* the same functions, with the widest registers that this CPU has */
#endif

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
    const done_run_t *run; /* that its text is compared with, */
    uint64_t run_hash;     /* as far as it was read, */
    uint64_t tail_hash;
    size_t runs_compared;
    bool at_beginning; /* of the file at hand: nothing of it was read and understood yet */
    uint64_t left;     /* of --limit */
    beginning_t beginning;
    records_t *counter; /* counts records for --limit */
    records_place_t scratch;
} worker_t;

/* A line is a record at most, but of JSON: where the block's lines are surely within the limit, nobody needs to look at
 * them. */
static bool count_lines(worker_t *worker, const block_t *block) {
    const schema_t *schema = worker->feeder->options.schema;
    if (schema->kind == RECORDS_JSON)
        return false;
    const uint64_t most =
        ends_lines(schema, block->buffer.bytes, block->length) + 1 + (block->oversize.length > 0);
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
        if ((parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT || parsed == PARSED_OTHER_HEADER) &&
            worker->left-- == 0) {
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

/* Of its text, whatever --max-record is. The sum over blocks does not depend on their order, so each hash knows
 * its block's number. */
static uint64_t hash_block(const cut_t *cut, uint64_t from) {
    const uint64_t text =
        cut->oversize.length ? cut->oversize.hash : XXH3_64bits(cut->buffer.bytes, cut->length);
    return XXH3_64bits_withSeed(&text, sizeof text, from);
}

/* from: the number that its reading began with; a piece may begin in the middle of a record of the one
 * before. */
static block_t *make_block(load_file_t *file, const cut_t *cut, uint64_t from, uint32_t epoch) {
    block_t *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->file = file;
    block->buffer = cut->buffer;
    block->length = cut->length;
    block->offset = cut->offset;
    block->first_line = cut->first_line;
    block->lines_from = cut->lines_from;
    block->from = from;
    block->to = cut->last ? (cut->next_offset - 1) / RECORD_ID_BLOCK_BYTES + 1
                          : cut->next_offset / RECORD_ID_BLOCK_BYTES;
    if (block->to > file->to)
        block->to = file->to;
    if (block->to <= block->from)
        block->to = block->from + 1;
    block->file_start = cut->offset == 0;
    block->tail = (cut->last || cut->open) && file->to == UINT64_MAX;
    block->epoch = epoch;
    block->partial = cut->broken;
    block->begun_before = file->begun_before;
    block->oversize.length = cut->oversize.length;
    block->oversize.kept = cut->oversize.kept;
    block->oversize.held = cut->oversize.held;
    block->hash = file->work ? hash_block(cut, block->from) : 0;
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
    if (!load_file_number(file, block->offset, &voff))
        return err_set(err, STATUS_INPUT,
                       "%s holds more than its size promised (more than %llu bytes): it changed while it was "
                       "read, or its compressed form lies about its size",
                       file->input->name, (unsigned long long)block->offset);
    block->id_base = record_id_make(record_id_lane(file->ordinal, block->offset), voff);
    return true;
}

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

/* ---- what the main thread is told ---- */

static bool tell(worker_t *worker, const news_t *what, err_t *err) {
    load_state_t *loading = worker->feeder->options.loading;
    if (!loading)
        return true;
    news_t *news = malloc(sizeof *news);
    if (!news)
        return err_memory(err, sizeof *news);
    *news = *what;
    news->epoch = worker->epoch;
    load_state_tell(loading, news);
    return true;
}

static bool refuse_longer(const load_file_t *file, const block_t *block, err_t *err) {
    return other_stream_refuse(file, "this stream continues where that one ended, after", block->offset, err);
}

static bool refuse_changed(load_file_t *file, const done_run_t *run, err_t *err) {
    if (file->input->kind == INPUT_STREAM)
        return other_stream_refuse(file, "this stream has other content than that one after",
                                   run->from * RECORD_ID_BLOCK_BYTES, err);
    if (file->known_as && strcmp(file->known_as, file->input->name) != 0)
        return err_set(
            err, STATUS_INPUT,
            "%.300s has the name, the size and the ends of what was loaded as %.300s, but other content "
            "between byte %llu and %llu of its text. If it is that file, name it so, and give "
            "--reload-changed; else load it under another name",
            file->input->name, file->known_as, (unsigned long long)(run->from * RECORD_ID_BLOCK_BYTES),
            (unsigned long long)(run->to * RECORD_ID_BLOCK_BYTES));
    file->changed = true;
    return err_set(err, STATUS_INPUT,
                   "%s has changed since it was loaded: between byte %llu and %llu of its text it has other "
                   "content than then. Put the old content back, or give --reload-changed, which removes its "
                   "documents and loads it again",
                   file->input->name, (unsigned long long)(run->from * RECORD_ID_BLOCK_BYTES),
                   (unsigned long long)(run->to * RECORD_ID_BLOCK_BYTES));
}

static bool refuse_older(load_file_t *file, err_t *err) {
    file->changed = true;
    return err_set(
        err, STATUS_INPUT,
        "%s is shorter than what was loaded of it, and it has another modification time than then, so "
        "nobody can tell whether the rest of it is unchanged. Use the newest version of the file, or "
        "give --reload-changed, which removes its documents and loads what is here",
        file->input->name);
}

/* Is the text of done blocks what it was? Known when a run of them is over. */
static bool compare_done(worker_t *worker, load_file_t *file, const block_t *block, err_t *err) {
    const done_run_t *run = done_runs_find(&file->done_before, block->from);
    const done_run_t tail = {file->tail.from, file->tail.to, file->tail.hash};
    if (!run) /* it begins within what was the last block then, or behind it */
        return file->input->kind == INPUT_STREAM ? refuse_longer(file, block, err)
                                                 : refuse_changed(file, &tail, err);
    if (run != worker->run) {
        worker->run = run;
        worker->run_hash = 0;
    }
    worker->run_hash += block->hash;
    if (block->to > run->to || (block->to == run->to && worker->run_hash != run->hash))
        return refuse_changed(file, run, err);
    worker->runs_compared += block->to == run->to;
    return true;
}

/* All of a piece that was compared was there: nothing was missing at its end. */
static bool finish_comparing(worker_t *worker, load_file_t *file, err_t *err) {
    const done_run_t tail = {file->tail.from, file->tail.to, file->tail.hash};
    if (file->compares && worker->runs_compared < file->done_before.count)
        return refuse_changed(file, &file->done_before.runs[worker->runs_compared], err);
    if (file->only_compares && worker->tail_hash != tail.hash)
        return refuse_changed(file, &tail, err);
    return !file->only_compares || tell(worker, &(news_t){.kind = NEWS_COMPARED, .file = file}, err);
}

/* A block of the last record alone, whose line has no end. NULL: out of memory. */
static block_t *cut_torn(worker_t *worker, block_t *block, uint32_t at, err_t *err) {
    block_t *torn = malloc(sizeof *torn);
    if (!torn) {
        err_memory(err, sizeof *torn);
        return NULL;
    }
    *torn = *block;
    torn->length = block->length - at;
    torn->offset += at;
    torn->id_base += at;
    torn->first_line += lines_count(block->buffer.bytes, at);
    torn->file_start = false;
    torn->after_another = true;
    torn->hash = 0; /* the block's own speaks of both */
    if (!pool_split(worker->feeder->options.pipeline->pool, &block->buffer, at, block->length,
                    &torn->buffer)) {
        err_memory(err, torn->length);
        free(torn);
        return NULL;
    }
    block->length = at;
    return torn;
}

/* Where the last record begins, which has no line end. */
static uint32_t last_record(const worker_t *worker, const block_t *block) {
    const schema_t *schema = worker->feeder->options.schema;
    const uint8_t *text = block->buffer.bytes;
    if (!schema->multiline) {
        const uint8_t *end = memrchr(text, '\n', block->length);
        return end ? (uint32_t)(end + 1 - text) : 0;
    }
    const size_t begin = block->file_start ? dialect_begin(schema, text, block->length) : 0;
    ends_t ends = ends_begin(schema, block->file->dialect->delimiter);
    ends_on(&ends, text + begin, block->length - begin, true, SIZE_MAX);
    size_t last = begin + ends.record;
    for (size_t next = last; next < block->length;) {
        last = next;
        next += ends_find(schema, ends.delimiter, text + next, block->length - next, true);
    }
    return last == begin ? 0 : (uint32_t)last;
}

/* The last record of a file that may grow has no line end: it is sent by itself, when the catalog knows of
 * it. *block becomes NULL where it is nothing but this record. */
static bool hold_back_torn(worker_t *worker, block_t **block, err_t *err) {
    block_t *torn = *block;
    const uint8_t *text = torn->buffer.bytes;
    if (worker->feeder->options.schema->kind == RECORDS_BSON) /* a document tells its end */
        return true;
    if (!torn->tail || !torn->file->may_be_torn || torn->oversize.length || !torn->length ||
        text[torn->length - 1] == '\n')
        return true;
    size_t before = torn->file_start ? dialect_begin(worker->feeder->options.schema, text, torn->length) : 0;
    if (before == torn->length) /* no record at all */
        return true;
    const uint32_t at = last_record(worker, torn);
    before = at ? 0 : before;
    if (!at)
        *block = NULL;
    else if (!(torn = cut_torn(worker, torn, at, err)))
        return false;
    /* where the record begins, not what stands before the first one */
    text = torn->buffer.bytes + before;
    const uint64_t length = torn->length - before;
    const news_t news = {.kind = NEWS_TORN,
                         .file = torn->file,
                         .torn = {torn->offset + before, length, XXH3_64bits(text, length)},
                         .block = torn};
    worker->tail_parts++;
    if (tell(worker, &news, err))
        return true;
    pipeline_free_block(worker->feeder->options.pipeline, torn);
    return false;
}

/* Done before: compared, where that is wanted, and not sent again. One that a fault of the input has cut off says
 * nothing; the fault will be told. */
static bool pass_done(worker_t *worker, load_file_t *file, block_t *block, err_t *err) {
    bool ok = true;
    if (file->only_compares && block->tail && !block->partial)
        worker->tail_hash += block->hash;
    else if ((file->compares || file->only_compares) && !block->partial)
        ok = compare_done(worker, file, block, err);
    pipeline_free_block(worker->feeder->options.pipeline, block);
    return ok;
}

static bool is_done(const load_file_t *file, const block_t *block) {
    return file->only_compares ||
           (file->compares
                ? done_runs_find(&file->done_before, block->from) != NULL
                : block->from < block->to && done_runs_cover(&file->done_before, block->from, block->to));
}

/* Hands a block on; false when the feeding is over (err is set unless it was closed). */
static bool hand_on(worker_t *worker, load_file_t *file, cut_t *cut, uint64_t from, bool *more, err_t *err) {
    feeder_t *feeder = worker->feeder;
    const feeder_options_t *options = &feeder->options;
    block_t *block = make_block(file, cut, from, worker->epoch);
    if (!block) {
        pool_give(options->pipeline->pool, &cut->buffer);
        return err_memory(err, sizeof *block);
    }
    bool ok = true;
    worker->at_beginning = false;
    if (is_done(file, block))
        return pass_done(worker, file, block, err);
    if (options->limit != UINT64_MAX) {
        ok = apply_limit(worker, block, err);
        *more = !block->partial;
        if (block->partial) /* not fed to its end, but this far it was */
            file->blocks = block->to;
    }
    ok = ok && number(feeder, block, err);
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

/* Where the next cut will begin (*window) lies in blocks that are done: after them. */
static bool pass_over_done(worker_t *worker, load_file_t *file, cutter_t *cutter, uint64_t *window,
                           err_t *err) {
    const done_run_t *run = done_runs_find(&file->done_before, *window);
    if (!run || *window + LEAST_SEEK >= run->to || file->compares || file->input->kind != INPUT_PLAIN ||
        input_is_in_stream(file->input))
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
    int got = cutter_next(cutter, &cut, err);
    if (got <= 0)
        return got;
    if (cut.offset / RECORD_ID_BLOCK_BYTES >= file->to) {
        pool_give(feeder->options.pipeline->pool, &cut.buffer); /* the next piece's first record */
        return 0;
    }
    *end = cut.next_offset;
    feeder->text_bytes += cut.length;
    return hand_on(worker, file, &cut, window, more, err) ? 1 : *more ? -1 : 0;
}

/* Not taken by another load, nor taken again by us since, which is another ownership. */
static bool is_ours(const worker_t *worker, const load_file_t *file) {
    return file->epoch == worker->epoch;
}

/* The piece was read to its end. */
static bool finish(worker_t *worker, load_file_t *file, uint64_t end, err_t *err) {
    const uint64_t blocks =
        end == UINT64_MAX ? file->from : (end + RECORD_ID_BLOCK_BYTES - 1) / RECORD_ID_BLOCK_BYTES;
    const bool to_its_end = file->to != UINT64_MAX && end != UINT64_MAX;
    if (to_its_end)
        beginning_note_end(&worker->beginning, file, end);
    if (!finish_comparing(worker, file, err))
        return false;
    if (file->only_compares)
        return true;
    file->blocks = to_its_end ? file->to : blocks;
    return tell(worker,
                &(news_t){.kind = NEWS_FED,
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
    worker->run = NULL;
    worker->run_hash = worker->tail_hash = 0;
    worker->runs_compared = 0;
    if (file->is_older)
        return refuse_older(file, err);
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
        uint64_t now = source_disk_bytes(source);
        feeder->disk_bytes += now - disk;
        disk = now;
        if (stop_signal() || pool_closed(options->pipeline->pool))
            *more = false;
    }
    worker->at_beginning &= got != 0;
    /* a piece that ends before its file does must not be done with text of two versions */
    if (*more && got == 0 && is_ours(worker, file) &&
        (!source_is_unchanged(source, err) || !finish(worker, file, end, err)))
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
    return skipped && tell(worker, &(news_t){.kind = NEWS_SKIPPED, .file = file}, err);
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
        if (worker->left == 0)
            return;
    }
}

/* So many of the feeders have ended, or never began. When one is through, or has failed, all are to be. */
static void end_feeders(feeder_t *feeder, uint32_t count) {
    const feeder_options_t *options = &feeder->options;
    hand_out_close(options->hand_out);
    if (atomic_fetch_sub(&feeder->running, count) != count)
        return;
    queue_close(options->pipeline->queue);
    if (options->loading)
        load_state_end_feeding(options->loading);
}

static void *work(void *context) {
    feeder_t *feeder = context;
    const feeder_options_t *options = &feeder->options;
    worker_t worker = {.feeder = feeder,
                       .kit = source_kit_new(),
                       .left = options->limit,
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
    records_destroy(worker.counter);
    free(worker.scratch.bytes);
    end_feeders(feeder, 1);
    return NULL;
}

uint32_t feeder_threads(const feeder_options_t *options) {
    const size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN),
                 useful = options->file_count < cpus ? options->file_count : cpus,
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
    return (feeder_progress_t){feeder->disk_bytes, feeder->text_bytes};
}

bool feeder_join(feeder_t *feeder, err_t *err) {
    const bool ok = team_join(&feeder->team, err);
    pthread_mutex_destroy(&feeder->lock);
    pthread_mutex_destroy(&feeder->beginnings);
    free(feeder);
    return ok;
}
