/* feeder: the threads that read. Each takes the next files that it is given, cuts their text into blocks, and pushes these
 * into the queue as lists (block->next). The main thread starts and joins the feeders, and gives them pieces between. Invariants:
 *
 * - The queue is closed by the last feeder; in a load by feeder_join, because torn records may still have to be sent.
 * - A fault of an input ends the feeding; what came before it was handed out. Files after it are read only if `misfit` says
 *   so. */
#ifndef TIPPLE_LOAD_FEED_FEEDER_H
#define TIPPLE_LOAD_FEED_FEEDER_H

#include "load/threads/load_state.h"
#include "load/threads/pipeline.h"

typedef struct feeder feeder_t;

typedef struct {
    const schema_t *schema;
    active_piece_t *pieces; /* those of one input are neighbours, in text order */
    size_t piece_count;
    pipeline_t *pipeline; /* its queue is closed at the end */
    uint32_t threads;     /* 0: as many as CPUs and files; more for more pipes than CPUs */
    /* records; UINT64_MAX: none. A limit means one thread, so that these are the first records */
    uint64_t limit;
    bool limit_is_about;   /* lines count as records while they are few: much quicker, and never more */
    remote_pace_t objects; /* of all threads together */
    bool numbered;         /* blocks get their id_base from the file's extents */
    bool by_pieces;        /* pieces are fed when feeder_give gives them; else all are, at once */
    load_state_t *loading; /* learns of blocks and pieces; or NULL */
    /* Finds numbers for an offset of a file of unknown size. */
    bool (*extend)(void *context, active_piece_t *piece, uint64_t offset, err_t *err);
    /* Called for a stream that was only to be compared, and continues after what was loaded: it is to be loaded from here on. */
    bool (*go_on)(void *context, active_piece_t *piece, err_t *err);
    bool skips;    /* misfit is also called for files of which something was read */
    bool in_order; /* one thread: files after one that is left out wait, and are left out, too */
    /* Called when a file cannot be read to its end, for the reason in *err (status 5). True: the feeding continues with the next
     * file. One call at a time. NULL: never. */
    bool (*misfit)(void *context, active_piece_t *piece, err_t *err);
    /* Called for each header before its file is cut; may be NULL. unknown: names of columns that the format does not have, a NUL
     * after each. */
    bool (*columns)(void *context, active_piece_t *piece, const dialect_t *dialect, const text_t *unknown,
                    err_t *err);
    void *context;
} feeder_options_t;

/* Returns how many threads there will be. */
uint32_t feeder_threads(const feeder_options_t *options);

feeder_t *feeder_start(const feeder_options_t *options, err_t *err);

/* Gives a piece to the feeders, whose it is until they report NEWS_FED, NEWS_COMPARED or NEWS_SKIPPED. more: the next piece of its
 * stream follows at once: one feeder reads all of these in one pass. Main thread. */
void feeder_give(feeder_t *feeder, active_piece_t *piece, bool more);

/* Returns how many pieces, or passes over a stream, wait to be read. *hungry: a feeder has nothing to read. */
size_t feeder_waiting(feeder_t *feeder, bool *hungry);

/* True if the feeders are through with all that was given to them. */
bool feeder_is_idle(const feeder_t *feeder);

/* Waits for the threads, and frees everything. False: the first fault (status 5 or 8). */
bool feeder_join(feeder_t *feeder, err_t *err);

typedef struct {
    uint64_t disk_bytes, text_bytes; /* read so far */
    /* of disk_bytes, those whose text is not worked on any more: for the progress line */
    uint64_t done_bytes;
} feeder_progress_t;
feeder_progress_t feeder_progress(feeder_t *feeder);

#endif
