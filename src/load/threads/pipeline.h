/* pipeline: what load and verify share. Feeders cut text into blocks, a queue takes them to a team of workers, and a
 * budget of memory holds them back:
 *
 *     feeders --> queue of blocks --> workers
 *        ^------------ pool <------------|
 *
 * The first failure of a worker ends all of it. */
#ifndef TIPPLE_LOAD_THREADS_PIPELINE_H
#define TIPPLE_LOAD_THREADS_PIPELINE_H

#include "base/threads.h"
#include "load/blocks/block.h"
#include "load/threads/queue.h"

typedef struct {
    pool_t *pool;
    queue_t *queue;
    struct kept_dialect *dialects; /* of the files whose blocks are under way */
    team_t team;
    /* Its owner, who may leave these NULL. Any thread calls them. */
    void (*failed)(void *context);  /* it has failed: what waits for something else is to be woken */
    void (*settled)(void *context); /* a block that was counted is gone */
    void *context;
} pipeline_t;

/* What a worker does. Each function gets its context; false: all has failed, *err says why. */
typedef struct {
    bool (*block)(void *context, block_t *block,
                  err_t *err); /* the block is the worker's, to be freed by it */
    /* After each block, and when none came for a while. *waiting: it has something to do even if no block comes;
     * drained: and none is on its way for now. NULL: it never has. */
    bool (*between)(void *context, bool drained, bool *waiting, err_t *err);
    bool (*end)(void *context,
                err_t *err); /* after the last block, unless all has failed. NULL: nothing is left to do */
} pipeline_work_t;

/* One thread. The times may be looked at while it runs. */
typedef struct {
    const pipeline_work_t *work;
    void *context;
    uint32_t part, parts; /* blocks whose places lie in this part of all come first */
    int64_t waited_ns;    /* for blocks */
    int64_t took_ns;      /* all of it, when it has ended */
    pipeline_t *pipeline;
    block_t *rest; /* of the list that was taken last */
} pipeline_worker_t;

/* The number of workers if nobody says how many. */
uint32_t pipeline_usual_threads(void);

/* Queue and pool for so many workers, and for so much text. The rest of *pipeline must be zeros or its owner's. */
bool pipeline_open(pipeline_t *pipeline, uint64_t memory, uint32_t threads, err_t *err);

/* One more worker; *worker has to stay where it is until pipeline_join. */
bool pipeline_start(pipeline_t *pipeline, pipeline_worker_t *worker, err_t *err);

/* Any thread: nothing is read or worked on any more. Only the first failure is kept. */
void pipeline_fail(pipeline_t *pipeline, const err_t *err);
bool pipeline_failed(pipeline_t *pipeline);

/* Any thread: the pipeline's own copy of the dialect, valid until pipeline_free. Thousands of similar files share one, and
 * its program. NULL: out of memory. */
const dialect_t *pipeline_keep(pipeline_t *pipeline, const dialect_t *dialect);

/* Frees the block, whatever became of its records. NULL is allowed. */
void pipeline_free_block(pipeline_t *pipeline, block_t *block);

/* No block comes any more. */
void pipeline_close(pipeline_t *pipeline);

/* Waits for the workers. False: it has failed, and *err says why. */
bool pipeline_join(pipeline_t *pipeline, err_t *err);

void pipeline_free(pipeline_t *pipeline); /* after pipeline_join; or it was never started, or all zeros */

#endif
