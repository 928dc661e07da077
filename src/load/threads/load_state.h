/* load_state: what the threads of a load share, and what they tell its main thread: blocks that are settled, and
 * pieces that are fed. */
#ifndef TIPPLE_LOAD_THREADS_LOAD_STATE_H
#define TIPPLE_LOAD_THREADS_LOAD_STATE_H

#include "format/filter.h"
#include "load/rate/throttle.h"
#include "load/rate/traffic.h"
#include "load/rejects/reject.h"
#include "load/threads/pipeline.h"
#include "server/send.h"
#include "server/server_errors.h"
#include "server/wire.h"

#include <pthread.h>
#include <stdatomic.h>

/* What a feeder tells of a piece. */
typedef struct news {
    struct news *next;
    enum {
        NEWS_FED,      /* all of its blocks were handed over */
        NEWS_COMPARED, /* its text is what the catalog says */
        NEWS_SKIPPED,  /* it could not be read on, and is left out */
        NEWS_TORN, /* its last record has no line end: `block` holds it back, until that is written down */
    } kind;
    load_file_t *file;
    uint32_t epoch;
    uint64_t end_block;  /* FED */
    uint32_t tail_parts; /* FED */
    uint64_t end;        /* FED: of its text, in bytes */
    torn_t torn;
    block_t *block;
} news_t;

/* What the main thread alone may do for another one: bind the collection to the format; find numbers for an offset of an input
 * of unknown size; take a stream that was only to be compared, because it goes on after what was loaded of it; note in the catalog
 * that columns of an input stay left out. */
typedef enum { ASK_TO_BIND, ASK_FOR_NUMBERS, ASK_TO_GO_ON, ASK_TO_LEAVE_OUT } asked_of_main_t;

/* A thread that waits for that. */
typedef struct asking {
    struct asking *next;
    asked_of_main_t what;
    load_file_t *file; /* except for ASK_TO_BIND */
    uint64_t offset;   /* ASK_FOR_NUMBERS */
    bool taken;        /* the main thread works on it, so that it must stay where it is */
    bool answered, ok;
    err_t err;
} asking_t;

typedef struct {
    const schema_t *schema;
    const filter_t *filter; /* or NULL */
    server_t *server;       /* NULL: --dry-run, nothing is sent */
    route_t *route;         /* NULL: no shards, or none that we may know of */
    routers_t routers;      /* where there are several */
    direct_t *direct;       /* NULL: through the routers */
    traffic_t *shards;      /* [0]: what a router has to sort; [1 + i]: shard i of the route's map */
    traffic_t *ways;        /* the routers; one where there are none */
    atomic_bool stale;      /* a shard has said that the map is an old one */
    atomic_bool touched;    /* a batch whose delivery failed may have left documents behind */
    atomic_bool bound;      /* the collection belongs to this load's format: documents may be sent */
    pipeline_t pipeline;
    rejects_t *rejects;
    existing_t existing;
    uint32_t parts; /* of the lanes: each thread keeps to one, so that it has few batches open at a time */
    throttle_t *throttle; /* NULL: nothing is held back */
    uint32_t batch_documents;
    size_t batch_bytes;
    uint32_t max_document;
    const uint8_t *uuid; /* of the collection, 16 bytes; NULL: inserts do not say which they mean */
    uint32_t generation; /* of the collection, as the catalog counts them */
    bool reload_changed; /* --reload-changed */
    bool reload_missing; /* --reload-missing: a fix of an _id that is not known is not believed */
    /* Nothing is sent when the catalog has not said for a whole lease that the pieces are ours: another command may
     * have taken an input, and removed what there was of it. */
    int64_t lease_ns; /* 0: nobody can take anything (--dry-run) */
    /* by clock_awake_or_not_ns, before the catalog was asked that has said so last */
    atomic_llong confirmed_ns;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    block_t *done;            /* blocks whose every record is settled, for the catalog */
    news_t *news, **news_end; /* what feeders have to say */
    asking_t *asking;         /* feeders that wait for numbers */
    pthread_cond_t answered;
    bool answers_over; /* the main thread answers nobody any more */
    bool feeding_over;
    uint64_t blocks; /* that were handed over, and are not settled */
} load_state_t;

void load_state_init(load_state_t *loading);
void load_state_free(load_state_t *loading); /* the lock, and news that nobody took */

bool load_state_is_fed(load_state_t *loading); /* the feeders have ended */

/* A block is on its way to the queue. */
void load_state_add_block(load_state_t *loading);

/* True if no block is on its way. */
bool load_state_is_settled(load_state_t *loading);

/* Every record of the block is settled. */
void load_state_add_done(load_state_t *loading, block_t *block);

/* A feeder tells something. take_news: a list, the oldest first. */
bool load_state_tell(load_state_t *loading, const news_t *news, err_t *err);
news_t *load_state_take_news(load_state_t *loading);

/* All feeders have ended. */
void load_state_end_feeding(load_state_t *loading);

/* Until the main thread has done it: false with err, or with an empty one when the load ends. */
bool load_state_ask(load_state_t *loading, asked_of_main_t what, load_file_t *file, uint64_t offset,
                    err_t *err);
asking_t *load_state_take_asking(load_state_t *loading); /* the next one that waits; NULL: nobody */
void load_state_answer(load_state_t *loading, asking_t *asking, bool ok);
/* From now on nobody gets an answer: threads that ask return at once, as when the load ends. */
void load_state_end_answers(load_state_t *loading);

/* Until the catalog was asked within the last lease: what it has said of blocks is known then. Before each message that
 * may put a document into the collection. False: the load has to end. */
bool load_state_wait_confirmed(load_state_t *loading, err_t *err);

/* The blocks that were settled since the last call, as a list; to be freed by load_state_free_blocks. */
block_t *load_state_take_done(load_state_t *loading);
void load_state_free_blocks(block_t *blocks);

#endif
