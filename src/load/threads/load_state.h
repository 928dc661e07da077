/* load_state: what the threads of a load share, and what feeders and loaders hand over to the main thread: settled blocks and news
 * of pieces. Invariants:
 *
 * - Members above `lock` are set before the threads start; later only those change that are atomic or lock themselves.
 * - `blocks` counts each block from load_state_add_block until it is settled or freed.
 * - The ledger, the store and the target belong to the thread that has `catalog`: that is the main thread, except where it waits.
 *   Whoever has `catalog` may lock `lock`, and waits for no other thread. */
#ifndef TIPPLE_LOAD_THREADS_LOAD_STATE_H
#define TIPPLE_LOAD_THREADS_LOAD_STATE_H

#include "load/rate/throttle.h"
#include "load/rejects/reject.h"
#include "load/target/target.h"
#include "load/threads/pipeline.h"
#include "server/send.h"
#include "server/server_errors.h"
#include "server/wire.h"

#include <pthread.h>
#include <stdatomic.h>

/* What a feeder reports about a piece. */
typedef struct news {
    struct news *next;
    enum {
        NEWS_FED,      /* all of its blocks were handed over */
        NEWS_COMPARED, /* its text matches the catalog */
        NEWS_SKIPPED,  /* it could not be read, and is left out */
        NEWS_TORN, /* its last record has no line end: `block` holds it back until the catalog knows of it */
    } kind;
    active_piece_t *piece;
    uint64_t end_block;  /* FED */
    uint32_t tail_parts; /* FED: the number of its blocks that are tails */
    uint64_t end;        /* FED: where its text ends, in bytes */
    torn_t torn;
    block_t *block;
} news_t;

typedef struct {
    const plan_t *plan;
    target_t *target;    /* nothing is sent to it with --dry-run */
    traffic_t *shards;   /* [0]: batches that a router sorts; [1 + i]: shard i of the route's map */
    traffic_t *ways;     /* the routers; one if there are none */
    atomic_bool touched; /* a batch whose delivery failed may have left documents in the collection */
    pipeline_t pipeline;
    rejects_t *rejects;
    existing_t existing;
    uint32_t parts;       /* of the lanes; each thread keeps to one, so that it has few open batches */
    throttle_t *throttle; /* NULL: no limit */
    uint32_t batch_documents;
    size_t batch_bytes;
    uint32_t max_document;
    /* Nothing is sent unless the catalog has confirmed within the last lease that the pieces are ours: another command may have
     * taken an input and removed its documents. */
    int64_t lease_ns; /* 0: nobody can take a piece (--dry-run) */
    /* when the catalog was asked for its last confirmation, by clock_awake_or_not_ns */
    atomic_llong confirmed_ns;

    pthread_mutex_t counting; /* held by a sender that counts lines */

    pthread_mutex_t catalog;
    bool over; /* under `catalog`: no other thread may use it any more */

    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t changed;
    block_t *done;            /* settled blocks, for the catalog */
    news_t *news, **news_end; /* from feeders, oldest first */
    bool feeding_over;
    uint64_t blocks; /* handed over, and not settled yet */
} load_state_t;

void load_state_init(load_state_t *loading);
void load_state_free(load_state_t *loading); /* also frees news that nobody took */

bool load_state_is_fed(load_state_t *loading); /* true if all feeders have ended */

/* Counts a block that is about to be queued. */
void load_state_add_block(load_state_t *loading);

/* Hands over a block whose records are all settled. */
void load_state_add_done(load_state_t *loading, block_t *block);

/* Hands a copy of the news to the main thread. take_news: returns all news as a list, the oldest first. *settled: no block was on
 * its way then. */
bool load_state_tell(load_state_t *loading, const news_t *news, err_t *err);
news_t *load_state_take_news(load_state_t *loading, bool *settled);

/* Notes that all feeders have ended. */
void load_state_end_feeding(load_state_t *loading);

/* Takes the catalog, to bind the collection, to take numbers, or to write down what cannot wait. False, with an empty err: the
 * load ends. Each true is followed by load_state_leave. The main thread has the catalog from the start, and leaves it where it waits. */
bool load_state_enter(load_state_t *loading, err_t *err);
void load_state_leave(load_state_t *loading);

/* The main thread leaves the catalog for good: from now on load_state_enter returns false. */
void load_state_close(load_state_t *loading);

/* Waits until the catalog has confirmed our pieces within the last lease. Called before each message that may put a
 * document into the collection. False: the load has to end. */
bool load_state_wait_confirmed(load_state_t *loading, err_t *err);

/* Returns the blocks that were settled since the last call, as a list for load_state_free_blocks. */
block_t *load_state_take_done(load_state_t *loading);
void load_state_free_blocks(block_t *blocks);

#endif
