/* feeder: the threads that read. Each takes the next files that it is given, cuts its text into blocks and
 * pushes them into the queue, which holds lists of blocks (block->next). The last one closes it, or feeder_join does where a
 * load may have torn records to send behind it. A fault of an input ends the feeding: what came before it has been handed
 * out. Files after it are read only where misfit says so. */
#ifndef TIPPLE_LOAD_FEED_FEEDER_H
#define TIPPLE_LOAD_FEED_FEEDER_H

#include "load/threads/load_state.h"
#include "load/threads/queue.h"

/* hand_out: the pieces that feeders are to read next, from the main thread to the feeders. Any thread. */

typedef struct hand_out hand_out_t;

/* Of these files. The loading's main thread is woken when the feeders have nothing left to do. NULL: out of
 * memory. */
hand_out_t *hand_out_new(load_file_t *files, size_t count, uint32_t feeders, load_state_t *loading);
void hand_out_free(hand_out_t *hand_out); /* NULL is allowed */

/* One more, by its number; in the order in which they are to be read. more: the next one of its stream will follow at
 * once; nobody gets any of them before, so that one feeder reads them in one pass. */
void hand_out_add(hand_out_t *hand_out, size_t number, bool more);

/* The next ones, [*first, *end): one, or those of one stream, which are read in one pass; some of these may not
 * be ours. Waits for them; false: there will be no more. */
bool hand_out_next(hand_out_t *hand_out, size_t *first, size_t *end);
/* Does not wait; false: there are none just now. */
bool hand_out_try(hand_out_t *hand_out, size_t *first, size_t *end);

/* No more are given out; threads that wait return at once. */
void hand_out_close(hand_out_t *hand_out);

/* How many wait to be read. *idle: a feeder has nothing to read. */
size_t hand_out_waiting(hand_out_t *hand_out, bool *idle);
/* Nothing waits, and all feeders do. */
bool hand_out_is_idle(hand_out_t *hand_out);

typedef struct feeder feeder_t;

typedef struct {
    const schema_t *schema;
    load_file_t *files;
    size_t file_count;
    pipeline_t *pipeline; /* its queue is closed at the end */
    uint32_t threads;     /* 0: as many as there are CPUs and files; more, where more of these are pipes */
    /* records; UINT64_MAX: none. With a limit there is one thread, so that it is the first ones */
    uint64_t limit;
    bool limit_is_about;   /* lines count for records as long as they are few: much quicker, and never more */
    bool numbered;         /* blocks get their id_base from the file's extents */
    hand_out_t *hand_out;  /* which files to feed next; NULL: all of them */
    load_state_t *loading; /* is told of blocks and pieces; NULL: nobody is */
    /* Numbers for an offset of a file of unknown size. */
    bool (*extend)(void *context, load_file_t *file, uint64_t offset, err_t *err);
    bool skips;    /* misfit is also asked about a file of which something was read */
    bool in_order; /* by one thread: a file after one that is left out waits, and is left out, too */
    /* A file cannot be read to its end, *err says why (status 5): true if the feeding shall go on with the next. One
     * call at a time. NULL: never. */
    bool (*misfit)(void *context, load_file_t *file, err_t *err);
    /* A header was read; unknown: names of columns that the format does not know, a NUL after each. Before its file is cut. NULL:
     * nobody wants to know. */
    bool (*columns)(void *context, load_file_t *file, const dialect_t *dialect, const text_t *unknown,
                    err_t *err);
    void *context;
} feeder_options_t;

/* How many threads there will be. */
uint32_t feeder_threads(const feeder_options_t *options);

feeder_t *feeder_start(const feeder_options_t *options, err_t *err);

/* Waits for the threads and frees everything; false with the first fault (status 5 or 8). */
bool feeder_join(feeder_t *feeder, err_t *err);

typedef struct {
    uint64_t disk_bytes, text_bytes; /* read so far */
    uint64_t done_bytes; /* of disk_bytes, those whose text nobody works on any more: for the progress line */
} feeder_progress_t;
feeder_progress_t feeder_progress(feeder_t *feeder);

#endif
