/* A feeder takes a piece, finds its dialect and first record (beginning), cuts its text into blocks (cut_block), passes over or
 * compares those that earlier loads have done (done_before), holds back a torn last record (torn), stops at --limit (limited),
 * and pushes the rest. All of that state belongs to one thread, except what beginning shares between feeders. */
#include "load/feed/feeder.h"
#include "base/chars.h"
#include "base/err.h"
#include "base/stop.h"
#include "base/threads.h"
#include "format/cut/ends.h"
#include "format/record/dialect.h"
#include "format/records.h"
#include "input/cutter.h"
#include "load/blocks/block.h"
#include "load/threads/load_state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum {
    MOST_THREADS = 16,
    THREADS_FOR_OBJECTS = 8,
    CHAIN_BYTES =
        64 * 1024, /* little compared to any --memory, because its feeder may wait for a buffer meanwhile */
    LEAST_SEEK = 4 /* done windows that are worth a seek */
};

struct feeder {
    feeder_options_t options;
    team_t team;
    atomic_uint running;
    queue_t *pieces;               /* lists to be read by one thread each: a piece, or those of a stream */
    active_piece_t *list, **after; /* the main thread's: pieces of a stream, until the last of them comes */
    atomic_uint given, resting;    /* lists that no thread is through with; threads that wait for one */
    uint32_t threads;
    atomic_ullong disk_bytes, text_bytes;
    pthread_mutex_t lock; /* guards calls of misfit, and */
    bool skipped_any;
    pthread_mutex_t beginnings; /* guards first_record of all pieces */
};

/* ---- beginning: the dialect of a piece, and where its first record begins ----
 *
 * Where quoted fields may contain line ends, only the file's text from its beginning shows where a record begins. What one
 * feeder finds, the others use. */

/* Adds to the error why columns cannot be added. A later member of a compressed tar is read when those before it are loaded; with
 * --limit nobody knows before which files are read. */
static void refuse_columns(const feeder_t *feeder, const active_piece_t *piece, const text_t *unknown,
                           err_t *err) {
    if (!unknown->length)
        return;
    if (feeder->options.limit != UINT64_MAX)
        err_add(
            err,
            ". With --limit only the first file adds columns: load this one alone, or leave that option out");
    else if (input_is_in_stream(piece->input))
        err_add(
            err,
            ". It is read too late for that: load its header before (tar -xOf ARCHIVE MEMBER | head -n 1 > "
            "columns.csv), and then run the same command again");
}

/* Finds the dialect of the file's first bytes, which must be that of its records in the collection. */
static bool find_dialect(feeder_t *feeder, active_piece_t *piece, dialect_head_t *head, err_t *err) {
    const feeder_options_t *options = &feeder->options;
    dialect_t dialect;
    size_t begins, ends;
    text_t unknown = {.length = 0};
    head->unknown = &unknown;
    head->quiet = options->columns != NULL;
    const bool fits = dialect_sniff_head(feeder->options.schema, head, piece->input->name, &dialect, err),
               same = fits && (!piece->read_by || piece->read_by == dialect.hash);
    const bool ok = same && (!options->columns || !dialect.header ||
                             options->columns(options->context, piece, &dialect, &unknown, err));
    if (!same && (fits || err->status == STATUS_INPUT) && piece->input->kind == INPUT_STREAM &&
        (piece->only_compares || piece->begun_before))
        other_stream_refuse(piece, "the new one has other columns than the old one", 0, head->length, err);
    else if (!fits)
        refuse_columns(feeder, piece, &unknown, err);
    else if (!same)
        changed_refuse(piece, "its first lines have other columns than then", err);
    text_free(&unknown);
    if (!ok)
        return false;
    dialect.bad_value = piece->bad_value;
    if (!(piece->dialect = pipeline_keep(options->pipeline, &dialect)))
        return err_memory(err, sizeof dialect);
    if (dialect_first_line(feeder->options.schema, head->text, head->length, false, &begins, &ends))
        piece->read_by = piece->dialect->hash;
    return true;
}

/* Finds the dialect at the cutter, which is at the file's beginning. */
static bool see_dialect(feeder_t *feeder, active_piece_t *piece, dialect_before_t *before, cutter_t *cutter,
                        err_t *err) {
    dialect_head_t head;
    if (piece->dialect)
        return true;
    if (!cutter_look(cutter, feeder->options.schema, &head, err))
        return false;
    if (!head.length && !head.begun) /* nothing to read, or a fault, which the first cut reports */
        return true;
    head.before = before;
    return find_dialect(feeder, piece, &head, err);
}

/* The same for a piece that is not the first: the file is opened once more. */
static bool see_dialect_of_start(feeder_t *feeder, active_piece_t *piece, dialect_before_t *before,
                                 err_t *err) {
    if (piece->dialect)
        return true;
    source_t *source = source_open(piece->input, err);
    cutter_t *cutter = source ? cutter_new(source, feeder->options.pipeline->pool, CUTTER_RECORD, err) : NULL;
    const bool ok = cutter && see_dialect(feeder, piece, before, cutter, err);
    cutter_destroy(cutter);
    source_close(source);
    return ok;
}

/* ---- beginning: where records begin ---- */

static bool has_neighbour(const feeder_t *feeder, const active_piece_t *piece) {
    return piece > feeder->options.pieces && piece[-1].input == piece->input && piece[-1].to == piece->from;
}

/* Moves the cutter to the window from the nearest place where a record is known to begin: in this piece, in one before it, or at
 * the cutter. Notes where the pieces begin that it passes. */
static bool pass(const feeder_t *feeder, active_piece_t *piece, cutter_t *cutter, uint64_t window,
                 err_t *err) {
    active_piece_t *from = piece;
    while (has_neighbour(feeder, from) && !from->first_record)
        from--;
    if (cutter_offset(cutter) < from->first_record &&
        !cutter_start_at(cutter, from->first_record, from->bracket_before, err))
        return false;
    while (from < piece) {
        from++;
        if (!cutter_seek(cutter, from->from, UINT64_MAX, err))
            return false;
        if (pool_closed(feeder->options.pipeline->pool)) /* the load ends: the cutter has not moved */
            return true;
        from->first_record = cutter_offset(cutter);
        from->bracket_before = cutter_bracket(cutter);
    }
    return cutter_seek(cutter, window, UINT64_MAX, err);
}

/* Moves the cutter to the first record that begins in this window or after it: with `multiline` in any piece, else in this
 * one. */
static bool beginning_seek(feeder_t *feeder, active_piece_t *piece, cutter_t *cutter, uint64_t window,
                           err_t *err) {
    if (!feeder->options.schema->multiline)
        return cutter_seek(cutter, window, piece->to, err);
    if (!piece->dialect) /* an empty file */
        return true;
    cutter_read_as(cutter, feeder->options.schema, piece->dialect);
    if (!window)
        return true;
    if (!input_has_places(piece->input))
        return cutter_seek(cutter, window, UINT64_MAX, err);
    pthread_mutex_lock(&feeder->beginnings);
    const bool ok = pass(feeder, piece, cutter, window, err);
    pthread_mutex_unlock(&feeder->beginnings);
    return ok;
}

/* Finds the dialect, and moves the cutter to the piece's first record, before its first cut. False: err; status 5 if the file
 * does not fit, or has changed. */
static bool beginning_read(feeder_t *feeder, active_piece_t *piece, dialect_before_t *before,
                           cutter_t *cutter, err_t *err) {
    /* a stream that is compared may continue */
    const bool wanted =
        !piece->only_compares || feeder->options.schema->multiline || piece->input->kind == INPUT_STREAM;
    if (wanted && !(piece->from ? see_dialect_of_start(feeder, piece, before, err)
                                : see_dialect(feeder, piece, before, cutter, err)))
        return false;
    return beginning_seek(feeder, piece, cutter, piece->from, err);
}

/* Notes for the next piece that its first record begins at `end`, where the records of this one end. */
static void beginning_note_end(feeder_t *feeder, active_piece_t *piece, const cutter_t *cutter,
                               uint64_t end) {
    if (!feeder->options.schema->multiline ||
        piece + 1 == feeder->options.pieces + feeder->options.piece_count ||
        !has_neighbour(feeder, piece + 1))
        return;
    pthread_mutex_lock(&feeder->beginnings);
    piece[1].first_record = end;
    piece[1].bracket_before = cutter_bracket(cutter);
    pthread_mutex_unlock(&feeder->beginnings);
}

/* ---- cut_block: a cut becomes a block, whose records have numbers ---- */

#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* the same functions with the widest registers of this CPU */
#endif

/* Seeds the hash with the block's number, because sums over blocks do not depend on their order. */
static uint64_t hash_text(uint64_t text, uint64_t from) {
    return XXH3_64bits_withSeed(&text, sizeof text, from);
}

static uint64_t hash_block(const cut_t *cut, uint64_t from) {
    return hash_text(cut->oversize.length ? cut->oversize.hash : XXH3_64bits(cut->buffer.bytes, cut->length),
                     from);
}

/* Makes a block that owns the cut's text. from: the window where reading began; a piece may begin in the middle of a record of
 * the one before. NULL: out of memory. */
static block_t *cut_block_new(active_piece_t *piece, const cut_t *cut, uint64_t from) {
    block_t *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->piece = piece;
    block->buffer = cut->buffer;
    block->length = cut->length;
    block->offset = cut->offset;
    block->first_line = cut->first_line;
    block->lines_from = cut->lines_from;
    block->in_line = cut->in_line;
    block->from = from;
    block->to = cut->last ? (cut->next_offset - 1) / RECORD_ID_BLOCK_BYTES + 1
                          : cut->next_offset / RECORD_ID_BLOCK_BYTES;
    if (block->to > piece->to)
        block->to = piece->to;
    if (block->to <= block->from)
        block->to = block->from + 1;
    block->file_start = cut->offset == 0;
    block->tail = (cut->last || cut->open) && piece->to == UINT64_MAX;
    block->partial = cut->broken;
    block->begun_before = piece->begun_before;
    block->oversize.length = cut->oversize.length;
    block->oversize.kept = cut->oversize.kept;
    block->oversize.held = cut->oversize.held;
    block->hash = piece->work ? hash_block(cut, block->from) : 0;
    return block;
}

static uint64_t cut_block_last(const block_t *block) {
    const uint64_t end = block->offset + block->length + block->oversize.length;
    return end ? end - 1 : 0;
}

/* Gives the records `_id`s from the file's extents, which must reach so far. */
static bool cut_block_number(block_t *block, err_t *err) {
    uint64_t voff;
    const active_piece_t *piece = block->piece;
    if (!active_piece_number(piece, block->offset, &voff))
        return err_set(err, STATUS_INPUT,
                       "%s holds more than its size promised (more than %llu bytes): it changed while it was "
                       "read, or its compressed form lies about its size",
                       piece->input->name, (unsigned long long)block->offset);
    block->id_base = record_id_make(record_id_lane(piece->ordinal, block->offset), voff);
    return true;
}

/* ---- done_before: which blocks earlier loads have done, and whether their text has changed ---- */

/* What was compared of the current file. */
typedef struct {
    const done_run_t *run; /* the run that its text is compared with, */
    uint64_t run_hash;     /* the sum of hashes read of that run, */
    uint64_t tail_hash;
    size_t runs_compared;
} done_before_t;

/* Returns the offset where a block begins. */
static unsigned long long byte_of(uint64_t block) {
    return block * RECORD_ID_BLOCK_BYTES;
}

static bool refuse_changed(active_piece_t *piece, const done_run_t *run, err_t *err) {
    char what[120];
    if (piece->input->kind == INPUT_STREAM)
        return other_stream_refuse(piece, "the new one has other content than the old one",
                                   byte_of(run->from), byte_of(run->to), err);
    if (piece->known_as && strcmp(piece->known_as, piece->input->name) != 0)
        return err_set(err, STATUS_INPUT,
                       "%.300s has the name, the size and the ends of what was loaded as %.300s, but other "
                       "content between byte %llu and %llu of its text. If it is that file, name it so, and "
                       "give --reload-changed; else load it under another name",
                       piece->input->name, piece->known_as, byte_of(run->from), byte_of(run->to));
    snprintf(what, sizeof what, "between byte %llu and %llu of its text it has other content than then",
             byte_of(run->from), byte_of(run->to));
    return changed_refuse(piece, what, err);
}

/* Refuses a file that is shorter than what was loaded of it. Always false. */
static bool done_before_refuse_older(active_piece_t *piece, err_t *err) {
    piece->changed = true;
    return err_set(err, STATUS_INPUT,
                   "%s is shorter than what was loaded of it, and it has another modification time than "
                   "then, so it is not known whether the rest of it is unchanged. Use the newest version of "
                   "the file, or give --reload-changed, which removes its documents and loads what is here",
                   piece->input->name);
}

/* Compares the text of a done block; the result is known at the end of a run. */
static bool compare(done_before_t *compared, active_piece_t *piece, const block_t *block, err_t *err) {
    const done_run_t *run = done_runs_find(&piece->done_before, block->from);
    const done_run_t tail = {piece->tail.from, piece->tail.to, piece->tail.hash};
    if (!run) /* it begins in or after what was the last block */
        return refuse_changed(piece, tail.from < tail.to ? &tail : &(done_run_t){block->from, block->to, 0},
                              err);
    if (run != compared->run) {
        compared->run = run;
        compared->run_hash = 0;
    }
    compared->run_hash += block->hash;
    if (block->to > run->to || (block->to == run->to && compared->run_hash != run->hash))
        return refuse_changed(piece, run, err);
    compared->runs_compared += block->to == run->to;
    return true;
}

/* True if the block begins with the stream's former last block, which may have ended anywhere in it. If there was none, nothing
 * was loaded before. */
static bool begins_with_tail(const active_piece_t *piece, const block_t *block) {
    const tail_t *tail = &piece->tail;
    XXH3_state_t *state = tail->from < tail->to ? XXH3_createState() : NULL;
    bool found = tail->from == tail->to && !block->from;
    if (state)
        XXH3_64bits_reset(state);
    for (uint32_t i = 0; state && !found && block->from == tail->from && i < block->length; i++) {
        XXH3_64bits_update(state, block->buffer.bytes + i, 1);
        found = hash_text(XXH3_64bits_digest(state), block->from) == tail->hash;
    }
    XXH3_freeState(state);
    return found;
}

/* True for a stream that begins with all that was loaded of it, and is longer now. */
static bool done_before_goes_on(const done_before_t *compared, const active_piece_t *piece,
                                const block_t *block) {
    return piece->only_compares && piece->input->kind == INPUT_STREAM && piece->dialect && !block->partial &&
           compared->runs_compared == piece->done_before.count &&
           !done_runs_find(&piece->done_before, block->from) &&
           !(block->tail && compared->tail_hash + block->hash == piece->tail.hash) &&
           begins_with_tail(piece, block);
}

static bool done_before_has(const active_piece_t *piece, const block_t *block) {
    return piece->only_compares ||
           (piece->compares
                ? done_runs_find(&piece->done_before, block->from) != NULL
                : block->from < block->to && done_runs_cover(&piece->done_before, block->from, block->to));
}

/* Compares a done block, if wanted. False: it has changed. A block that a fault of the input cut off proves nothing; the fault is
 * reported later. */
static bool done_before_compare(done_before_t *compared, active_piece_t *piece, const block_t *block,
                                err_t *err) {
    if (block->partial || !(piece->compares || piece->only_compares))
        return true;
    if (!piece->only_compares || !block->tail)
        return compare(compared, piece, block, err);
    compared->tail_hash += block->hash;
    return true;
}

/* False if the piece, all of which was compared, lacks text at its end. */
static bool done_before_end(const done_before_t *compared, active_piece_t *piece, err_t *err) {
    const done_run_t tail = {piece->tail.from, piece->tail.to, piece->tail.hash};
    if (piece->compares && compared->runs_compared < piece->done_before.count)
        return refuse_changed(piece, &piece->done_before.runs[compared->runs_compared], err);
    return !piece->only_compares || compared->tail_hash == tail.hash || refuse_changed(piece, &tail, err);
}

/* ---- torn: a last record without a line end, in a file that may grow: sent by itself, when the catalog knows of it ---- */

/* Makes a block of the last record alone. NULL: out of memory. */
static block_t *cut_at(pool_t *pool, block_t *block, uint32_t at, err_t *err) {
    block_t *torn = malloc(sizeof *torn);
    if (!torn) {
        err_memory(err, sizeof *torn);
        return NULL;
    }
    *torn = *block;
    const uint8_t *text = block->buffer.bytes, *line = memrchr(text, '\n', at);
    torn->in_line = line ? (uint64_t)(text + at - line) - 1 : block->in_line + at;
    torn->length = block->length - at;
    torn->offset += at;
    torn->id_base += at;
    torn->first_line += lines_count(block->buffer.bytes, at);
    torn->file_start = false;
    torn->after_another = true;
    torn->hash = 0; /* the block's own hash covers both */
    if (!pool_split(pool, &block->buffer, at, block->length, &torn->buffer)) {
        err_memory(err, torn->length);
        free(torn);
        return NULL;
    }
    block->length = at;
    return torn;
}

static uint32_t last_record(const schema_t *schema, const block_t *block) {
    const uint8_t *text = block->buffer.bytes;
    if (!schema->multiline) {
        const uint8_t *end = memrchr(text, '\n', block->length);
        return end ? (uint32_t)(end + 1 - text) : 0;
    }
    const size_t begin = block->file_start ? dialect_begin(schema, text, block->length) : 0;
    ends_t ends = ends_begin(schema, block->piece->dialect->delimiter);
    ends_on(&ends, text + begin, block->length - begin, true, SIZE_MAX);
    size_t last = begin + ends.record;
    for (size_t next = last; next < block->length;) {
        last = next;
        next += ends_find(schema, ends.delimiter, text + next, block->length - next, true);
    }
    return last == begin ? 0 : (uint32_t)last;
}

/* Cuts the torn record off its input's last block. torn->block: a block of this record alone, or NULL: there is none. *block
 * becomes NULL if nothing else was in it. */
static bool torn_cut(const schema_t *schema, pool_t *pool, block_t **block, news_t *torn, err_t *err) {
    block_t *last = *block;
    const uint8_t *text = last->buffer.bytes;
    torn->block = NULL;
    if (schema->kind == RECORDS_BSON) /* a document says where it ends */
        return true;
    if (!last->tail || !last->piece->may_be_torn || last->oversize.length || !last->length ||
        text[last->length - 1] == '\n')
        return true;
    size_t before = last->file_start ? dialect_begin(schema, text, last->length) : 0;
    if (before == last->length) /* no record at all */
        return true;
    const uint32_t at = last_record(schema, last);
    before = at ? 0 : before;
    if (!at)
        *block = NULL;
    else if (!(last = cut_at(pool, last, at, err)))
        return false;
    /* of the record, not of what stands before the first one */
    text = last->buffer.bytes + before;
    const uint64_t length = last->length - before;
    *torn = (news_t){.kind = NEWS_TORN,
                     .piece = last->piece,
                     .torn = {last->offset + before, length, XXH3_64bits(text, length)},
                     .block = last};
    return true;
}

/* ---- limited: the first records of all inputs, as many as --limit allows ---- */

typedef struct {
    const schema_t *schema;
    uint64_t left; /* records; UINT64_MAX: no limit */
    bool about;    /* lines count as records while they are few */
    records_t *counter;
    records_place_t scratch;
} limited_t;

static void limited_free(limited_t *limited) {
    records_destroy(limited->counter);
    free(limited->scratch.bytes);
}

/* True if the block's lines are surely within the limit, so that records need not be counted: a line is at most one record,
 * except in JSON. */
static bool count_lines(limited_t *limited, const block_t *block) {
    const schema_t *schema = limited->schema;
    if (schema->kind == RECORDS_JSON)
        return false;
    const uint64_t most =
        ends_lines(schema, block->buffer.bytes, block->length) + 1 + (block->oversize.length > 0);
    if (most > limited->left)
        return false;
    limited->left -= most;
    return true;
}

static void cut_off(limited_t *limited, block_t *block) {
    limited->left = 0;
    block->oversize.length = 0;
    block->partial = true;
}

/* Cuts the block off after the last record that is allowed; it is partial then. */
static bool limited_cut(limited_t *limited, block_t *block, err_t *err) {
    if (limited->about && count_lines(limited, block))
        return true;
    if (!limited->counter && !(limited->counter = records_new(limited->schema)))
        return err_memory(err, 1);
    record_t record;
    records_begin(limited->counter, block->piece->dialect, block->buffer.bytes, block->length,
                  block->file_start, false, 0);
    for (;;) {
        parsed_t parsed = records_next_into(limited->counter, &limited->scratch, &record, NULL);
        if (parsed == PARSED_MEMORY)
            return err_memory(err, record.needed);
        if ((parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT || parsed == PARSED_OTHER_HEADER) &&
            limited->left-- == 0) {
            block->length = record.offset;
            cut_off(limited, block);
            return true;
        }
        if (parsed == PARSED_END)
            break;
    }
    if (block->oversize.length && limited->left-- == 0)
        cut_off(limited, block);
    return true;
}

/* ---- the feeders ---- */

/* What one thread carries from file to file. */
typedef struct {
    feeder_t *feeder;
    source_kit_t kit;
    block_t *chain, **chain_end; /* small files' blocks, to be pushed together */
    uint32_t chain_bytes;
    dialect_before_t before;
    limited_t limited;
    bool over; /* nothing more is to be fed */

    /* of the current file */
    active_piece_t *piece;
    cutter_t *cutter;
    uint64_t end; /* of what was cut; UINT64_MAX: nothing yet */
    uint32_t tail_parts;
    done_before_t compared;
    bool at_beginning; /* nothing of it was read and understood yet */
} worker_t;

/* Pushes the chain: waking a loader costs more than a small block is worth. False: nobody takes blocks any more. */
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
    bool may_wait = block->tail && block->piece->input->kind != INPUT_STREAM;
    if (options->loading) {
        load_state_add_block(options->loading);
        block->counted = true;
    }
    return (may_wait && worker->chain_bytes < CHAIN_BYTES) || push_chain(worker);
}

static bool report(const worker_t *worker, news_t news, err_t *err) {
    load_state_t *loading = worker->feeder->options.loading;
    news.piece = worker->piece;
    return !loading || load_state_tell(loading, &news, err);
}

/* Compares a done block, or passes over it. *again: it is to be loaded all the same, since a stream goes on in it. */
static bool take_done(worker_t *worker, block_t *block, bool *again, err_t *err) {
    const feeder_options_t *options = &worker->feeder->options;
    active_piece_t *piece = worker->piece;
    *again = done_before_goes_on(&worker->compared, piece, block);
    if (!*again)
        return done_before_compare(&worker->compared, piece, block, err);
    if (!options->go_on(options->context, piece, err))
        return false;
    block->begun_before = piece->begun_before;
    return true;
}

/* Reports a torn record to the main thread instead of pushing it. *block becomes NULL if nothing else was in it. */
static bool hold_back_torn(worker_t *worker, block_t **block, err_t *err) {
    const feeder_options_t *options = &worker->feeder->options;
    news_t torn;
    if (!torn_cut(options->schema, options->pipeline->pool, block, &torn, err))
        return false;
    worker->tail_parts += torn.block != NULL;
    if (!torn.block || report(worker, torn, err))
        return true;
    pipeline_free_block(options->pipeline, torn.block);
    return false;
}

/* Cuts a block off at the limit, numbers it, and takes a torn record out of it. */
static bool make_ready(worker_t *worker, block_t **block, err_t *err) {
    const feeder_options_t *options = &worker->feeder->options;
    if (options->limit != UINT64_MAX) {
        if (!limited_cut(&worker->limited, *block, err))
            return false;
        worker->over = (*block)->partial && !worker->limited.left; /* a damaged input makes it partial, too */
        if (worker->over)                                          /* not fed to its end, but this far */
            worker->piece->blocks = (*block)->to;
    }
    if (options->numbered &&
        (!options->extend(options->context, worker->piece, cut_block_last(*block), err) ||
         !cut_block_number(*block, err)))
        return false;
    return !(*block)->tail || (*block)->partial || !options->loading || hold_back_torn(worker, block, err);
}

/* Makes a block of a cut, and hands it on unless it is done. */
static bool hand_on(worker_t *worker, cut_t *cut, uint64_t from, err_t *err) {
    pipeline_t *pipeline = worker->feeder->options.pipeline;
    block_t *block = cut_block_new(worker->piece, cut, from);
    if (!block) {
        pool_give(pipeline->pool, &cut->buffer);
        return err_memory(err, sizeof *block);
    }
    bool loads = true;
    worker->at_beginning = false;
    const bool ok = (!done_before_has(worker->piece, block) || take_done(worker, block, &loads, err)) &&
                    (!loads || make_ready(worker, &block, err));
    if (!ok || !loads) {
        pipeline_free_block(pipeline, block);
    } else if (block) {
        worker->tail_parts += block->tail;
        worker->over |= !push(worker, block);
    }
    return ok;
}

/* Moves on past done blocks if the next cut would begin in them. */
static bool pass_over_done(worker_t *worker, uint64_t *window, err_t *err) {
    const active_piece_t *piece = worker->piece;
    const done_run_t *run = done_runs_find(&piece->done_before, *window);
    if (!run || *window + LEAST_SEEK >= run->to || piece->compares || !input_has_places(piece->input))
        return true;
    *window = run->to;
    return beginning_seek(worker->feeder, worker->piece, worker->cutter, run->to, err);
}

/* Cuts the next block, and hands it on. *any is false at the end of the piece. */
static bool feed_next(worker_t *worker, bool *any, err_t *err) {
    feeder_t *feeder = worker->feeder;
    const active_piece_t *piece = worker->piece;
    cut_t cut;
    uint64_t window = worker->end == UINT64_MAX ? piece->from : worker->end / RECORD_ID_BLOCK_BYTES;
    *any = false;
    if (window >= piece->to)
        return true;
    if (!pass_over_done(worker, &window, err))
        return false;
    const uint64_t from = cutter_offset(worker->cutter);
    const int got = cutter_next(worker->cutter, &cut, err);
    if (got <= 0)
        return got == 0;
    if (cut.offset / RECORD_ID_BLOCK_BYTES >= piece->to) {
        pool_give(feeder->options.pipeline->pool, &cut.buffer); /* of the next piece */
        return true;
    }
    *any = true;
    worker->end = cut.next_offset;
    feeder->text_bytes += cut.length;
    feeder->disk_bytes += input_has_places(piece->input) ? cut.next_offset - from : 0;
    return hand_on(worker, &cut, window, err);
}

static bool finish(worker_t *worker, err_t *err) {
    active_piece_t *piece = worker->piece;
    const uint64_t end = worker->end == UINT64_MAX ? 0 : worker->end;
    const bool to_its_end = piece->to != UINT64_MAX && worker->end != UINT64_MAX;
    if (to_its_end)
        beginning_note_end(worker->feeder, piece, worker->cutter, end);
    if (!done_before_end(&worker->compared, piece, err))
        return false;
    if (piece->only_compares)
        return report(worker, (news_t){.kind = NEWS_COMPARED}, err);
    piece->blocks = to_its_end                  ? piece->to
                    : worker->end == UINT64_MAX ? piece->from
                                                : (end + RECORD_ID_BLOCK_BYTES - 1) / RECORD_ID_BLOCK_BYTES;
    const news_t fed = {
        .kind = NEWS_FED, .end_block = piece->blocks, .tail_parts = worker->tail_parts, .end = end};
    return report(worker, fed, err);
}

/* Feeds the piece from where the cutter is. */
static bool feed_blocks(worker_t *worker, source_t *source, err_t *err) {
    feeder_t *feeder = worker->feeder;
    active_piece_t *piece = worker->piece;
    uint64_t disk = 0; /* counts what was read of a stream before, too */
    bool any = true, ok = beginning_read(worker->feeder, piece, &worker->before, worker->cutter, err);
    while (ok && any && !worker->over) {
        ok = feed_next(worker, &any, err);
        if (ok && any)
            piece->begun = true;
        const uint64_t now = source_disk_bytes(source);
        feeder->disk_bytes += input_has_places(piece->input) ? 0 : now - disk;
        disk = now;
        worker->over |= stop_signal() || pool_closed(feeder->options.pipeline->pool);
    }
    worker->at_beginning &= !ok || any;
    /* a piece that ends before its file must not be done with text of two versions */
    return ok && (any || worker->over || (source_is_unchanged(source, err) && finish(worker, err)));
}

static bool feed_text(worker_t *worker, err_t *err) {
    active_piece_t *piece = worker->piece;
    piece->opened |= piece->input->kind == INPUT_STREAM;
    worker->at_beginning = true;
    worker->end = UINT64_MAX;
    worker->tail_parts = 0;
    worker->compared = (done_before_t){0};
    if (piece->is_older)
        return done_before_refuse_older(piece, err);
    source_t *source = source_open_in(&worker->kit, piece->input, err);
    if (!source)
        return false;
    if (piece->to != UINT64_MAX) /* and what of its last record may follow */
        source_read_until(source, piece->to * RECORD_ID_BLOCK_BYTES + (CUTTER_BUFFER - CUTTER_WINDOW));
    worker->cutter = cutter_new(source, worker->feeder->options.pipeline->pool, CUTTER_RECORD, err);
    const bool ok = worker->cutter && feed_blocks(worker, source, err);
    cutter_destroy(worker->cutter);
    source_close(source);
    return ok;
}

/* True if the file is left out. All its pieces are; and, where order matters, so are the files after it. */
static bool is_left_out(const feeder_t *feeder, const active_piece_t *piece) {
    const feeder_options_t *options = &feeder->options;
    const active_piece_t *at = piece, *end = options->pieces + options->piece_count;
    while (at > options->pieces && at[-1].input == piece->input)
        at--;
    while (at < end && at->input == piece->input && !at->misfit)
        at++;
    return (options->in_order && feeder->skipped_any) || (at < end && at->input == piece->input);
}

/* True if the file may be left out: it does not fit the format, or cannot be read to its end. */
static bool may_leave_out(worker_t *worker, err_t *err) {
    feeder_t *feeder = worker->feeder;
    const feeder_options_t *options = &feeder->options;
    active_piece_t *piece = worker->piece;
    if ((!worker->at_beginning && !options->skips) || !err->text[0] || err->status != STATUS_INPUT ||
        !options->misfit)
        return false;
    pthread_mutex_lock(&feeder->lock);
    const bool may = is_left_out(feeder, piece) || options->misfit(options->context, piece, err);
    piece->misfit = feeder->skipped_any = true;
    pthread_mutex_unlock(&feeder->lock);
    return may;
}

static bool feed_file(worker_t *worker, err_t *err) {
    if (!is_left_out(worker->feeder, worker->piece)) {
        if (feed_text(worker, err))
            return true;
        if (!may_leave_out(worker, err))
            return false;
    }
    return report(worker, (news_t){.kind = NEWS_SKIPPED}, err);
}

void feeder_give(feeder_t *feeder, active_piece_t *piece, bool more) {
    if (!feeder->list)
        feeder->after = &feeder->list;
    piece->next = NULL;
    *feeder->after = piece;
    feeder->after = &piece->next;
    if (more)
        return;
    feeder->given++;
    queue_push(feeder->pieces, feeder->list, 0);
    feeder->list = NULL;
}

size_t feeder_waiting(feeder_t *feeder, bool *hungry) {
    *hungry = feeder->resting > 0;
    return queue_count(feeder->pieces);
}

bool feeder_is_idle(const feeder_t *feeder) {
    return !feeder->given;
}

/* The last thread that has nothing to read says that nothing is on its way. */
static void rest(feeder_t *feeder) {
    const feeder_options_t *options = &feeder->options;
    if (++feeder->resting < feeder->threads || !options->loading)
        return;
    queue_drain(options->pipeline->queue);
    pthread_mutex_lock(&options->loading->lock);
    pthread_cond_signal(&options->loading->changed);
    pthread_mutex_unlock(&options->loading->lock);
}

/* Takes the next pieces. Before it waits for them, it pushes its chain. */
static active_piece_t *take_pieces(worker_t *worker) {
    feeder_t *feeder = worker->feeder;
    active_piece_t *pieces = queue_pop(feeder->pieces, 0, 0, 1);
    if (pieces || !push_chain(worker))
        return pieces;
    rest(feeder);
    pieces = queue_pop(feeder->pieces, -1, 0, 1);
    feeder->resting--;
    return pieces;
}

/* When its last news is reported, the piece is the main thread's. */
static void feed_piece(worker_t *worker, active_piece_t *piece) {
    feeder_t *feeder = worker->feeder;
    err_t err = {.text = ""};
    worker->piece = piece;
    if (piece->input->kind == INPUT_STREAM) /* a stream may be slow */
        worker->over |= !push_chain(worker);
    if (!worker->over && !feed_file(worker, &err) && err.text[0])
        team_fail(&feeder->team, &err);
    worker->over |= !worker->limited.left || team_failed(&feeder->team) || stop_signal();
}

static void feed(worker_t *worker) {
    active_piece_t *piece, *next;
    while (!worker->over && (piece = take_pieces(worker))) {
        for (; piece && !worker->over; piece = next) {
            next = piece->next;
            feed_piece(worker, piece);
        }
        worker->feeder->given -= !worker->over; /* else the load waits until all feeders have ended */
    }
}

/* Ends this many feeders, which are through, have failed, or never began; then all are to end. A load may still have torn records
 * to send: feeder_join closes its queue. */
static void end_feeders(feeder_t *feeder, uint32_t count) {
    const feeder_options_t *options = &feeder->options;
    queue_close(feeder->pieces);
    if (atomic_fetch_sub(&feeder->running, count) != count)
        return;
    if (!options->loading) {
        queue_close(options->pipeline->queue);
        return;
    }
    queue_drain(options->pipeline->queue);
    load_state_end_feeding(options->loading);
}

/* The share of one thread. */
static remote_pace_t pace_of(const feeder_options_t *options) {
    const uint32_t threads = feeder_threads(options);
    return (remote_pace_t){.ahead = options->objects.ahead / threads,
                           .connections = (options->objects.connections + threads - 1) / threads};
}

static void *work(void *context) {
    feeder_t *feeder = context;
    const feeder_options_t *options = &feeder->options;
    worker_t worker = {
        .feeder = feeder,
        .kit = {.pool = options->pipeline->pool, .pace = pace_of(options)},
        .limited = {.schema = options->schema, .left = options->limit, .about = options->limit_is_about}};
    feed(&worker);
    push_chain(&worker);
    source_kit_close(&worker.kit);
    limited_free(&worker.limited);
    end_feeders(feeder, 1);
    return NULL;
}

/* How many threads mostly wait: one for each pipe, since who fills several by turns would wait for ever at one that is not read,
 * and so would we; and some for objects, whose server takes its time for each. */
static size_t count_waiting(const feeder_options_t *options) {
    size_t count = 0;
    for (size_t i = 0; i < options->piece_count; i++) {
        const input_file_t *file = options->pieces[i].input;
        count += file->kind == INPUT_STREAM || (file->object && count < THREADS_FOR_OBJECTS);
    }
    return count;
}

uint32_t feeder_threads(const feeder_options_t *options) {
    const size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN), waiting = count_waiting(options),
                 most = waiting > cpus ? waiting : cpus,
                 useful = options->piece_count < most ? options->piece_count : most,
                 threads = options->limit != UINT64_MAX ? 1
                           : options->threads           ? options->threads
                                                        : useful;
    return threads > MOST_THREADS ? MOST_THREADS : threads < 1 ? 1 : (uint32_t)threads;
}

/* Gives all pieces at once; those of one stream together. */
static void give_all(feeder_t *feeder) {
    active_piece_t *pieces = feeder->options.pieces;
    for (size_t i = 0, count = feeder->options.piece_count; i < count; i++)
        feeder_give(feeder, &pieces[i],
                    i + 1 < count && input_is_in_stream(pieces[i].input) &&
                        pieces[i + 1].input->archive == pieces[i].input->archive);
    queue_close(feeder->pieces);
}

feeder_t *feeder_start(const feeder_options_t *options, err_t *err) {
    feeder_t *feeder = calloc(1, sizeof *feeder);
    if (!feeder || !(feeder->pieces = queue_new(options->piece_count + 1))) {
        free(feeder);
        err_memory(err, (options->piece_count + 1) * sizeof(void *));
        return NULL;
    }
    feeder->options = *options;
    pthread_mutex_init(&feeder->lock, NULL);
    pthread_mutex_init(&feeder->beginnings, NULL);
    team_init(&feeder->team);
    const uint32_t threads = feeder_threads(options);
    feeder->running = feeder->threads = threads;
    if (!options->by_pieces)
        give_all(feeder);
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
    queue_close(feeder->pieces);
    const bool ok = team_join(&feeder->team, err);
    queue_close(feeder->options.pipeline->queue);
    queue_destroy(feeder->pieces);
    pthread_mutex_destroy(&feeder->lock);
    pthread_mutex_destroy(&feeder->beginnings);
    free(feeder);
    return ok;
}
