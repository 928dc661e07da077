/* pipeline: what load and verify share. Feeders cut text into blocks, a queue takes the blocks to a team of workers, and a
 * memory budget holds the feeders back:
 *
 *     feeders --> queue of blocks --> workers
 *        ^------------ pool <------------|
 *
 * The owner's thread opens, starts, joins and frees it. A block belongs to one thread at a time. The first failure of a worker
 * ends the whole pipeline. */
#ifndef TIPPLE_LOAD_THREADS_PIPELINE_H
#define TIPPLE_LOAD_THREADS_PIPELINE_H

#include "base/threads.h"
#include "load/blocks/block.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- queue: a bounded queue of pointers between threads; a producer waits while it is full (back-pressure) ---- */

typedef struct queue queue_t;

queue_t *queue_new(size_t capacity); /* NULL: out of memory */
void queue_destroy(queue_t *queue);  /* pop all items first: they are the caller's */

/* Waits for room. False: the queue was closed. place: 0 to QUEUE_PLACES - 1. */
enum { QUEUE_PLACES = 1024 };
bool queue_push(queue_t *queue, void *item, uint32_t place);

/* The same without waiting. */
typedef enum { QUEUE_TAKEN, QUEUE_FULL, QUEUE_CLOSED } queue_offer_t;
queue_offer_t queue_offer(queue_t *queue, void *item, uint32_t place);

/* The places are divided into `parts` equal ranges. Waits up to wait_ns (negative: without limit), and returns the first item
 * whose place is in range number `part`, else the first item of all. Returns NULL if none came in time, or if the queue is empty
 * and closed (see queue_ended) or drained. */
void *queue_pop(queue_t *queue, int64_t wait_ns, uint32_t part, uint32_t parts);

/* Says that nothing is on its way to the queue until the next push. A thread that waits with a time limit then returns as soon as
 * the queue is empty, to finish what it holds. */
void queue_drain(queue_t *queue);

size_t queue_count(queue_t *queue); /* items in the queue */

/* True if the queue is less than half full: workers may soon have to wait. */
bool queue_runs_low(queue_t *queue);

/* True if the queue is closed and empty: no item will come any more. */
bool queue_ended(queue_t *queue);

/* Ends pushes; items in the queue can still be popped. */
void queue_close(queue_t *queue);

typedef struct {
    pool_t *pool;
    queue_t *queue;
    struct kept_dialect *dialects; /* see pipeline_keep */
    team_t team;
    /* The owner's callbacks, called by any thread; may be NULL. */
    void (*failed)(void *context);  /* the pipeline has failed: wake threads that wait for something else */
    void (*settled)(void *context); /* a counted block was freed */
    void *context;
} pipeline_t;

/* What a worker does. False: the whole pipeline fails, for the reason in *err. */
typedef struct {
    bool (*block)(void *context, block_t *block, err_t *err); /* takes over the block, and frees it */
    /* Called after each block, when none came for a while, and after the last one. *waiting: the worker has something
     * to do even if no block comes; drained: it has, and no block is on its way for now. NULL: it never has. */
    bool (*between)(void *context, bool drained, bool *waiting, err_t *err);
} pipeline_work_t;

/* One thread. Any thread may read the times while it runs. */
typedef struct {
    const pipeline_work_t *work;
    void *context;
    uint32_t part, parts; /* blocks whose places lie in this part come first */
    int64_t waited_ns;    /* for blocks */
    int64_t took_ns;      /* in all; set when it has ended */
    pipeline_t *pipeline;
    block_t *rest; /* of the list of blocks taken last */
} pipeline_worker_t;

/* Returns the default number of workers. */
uint32_t pipeline_usual_threads(void);

/* Opens queue and pool for this many workers and this much text. The rest of *pipeline must be zero or the owner's callbacks. */
bool pipeline_open(pipeline_t *pipeline, uint64_t memory, uint32_t threads, err_t *err);

/* Starts one more worker; *worker must stay where it is until pipeline_join. */
bool pipeline_start(pipeline_t *pipeline, pipeline_worker_t *worker, err_t *err);

/* Stops reading and working. Any thread; only the first failure is kept. */
void pipeline_fail(pipeline_t *pipeline, const err_t *err);
bool pipeline_failed(pipeline_t *pipeline);

/* Returns the pipeline's own copy of the dialect, valid until pipeline_free. Any thread. Thousands of similar files share one
 * copy, and its program. NULL: out of memory. */
const dialect_t *pipeline_keep(pipeline_t *pipeline, const dialect_t *dialect);

/* Frees the block and gives its buffer back. NULL is allowed. */
void pipeline_free_block(pipeline_t *pipeline, block_t *block);

/* Closes the queue: no more blocks will come. */
void pipeline_close(pipeline_t *pipeline);

/* Waits for the workers. False: the pipeline failed, for the reason in *err. */
bool pipeline_join(pipeline_t *pipeline, err_t *err);

void pipeline_free(pipeline_t *pipeline); /* after pipeline_join, or if it was never started, or all zeros */

#endif
