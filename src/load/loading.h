/* loading: what the loader threads of a run share, and the two things that they hand over: blocks that are
 * settled, and the first failure. */
#ifndef TIPPLE_LOAD_LOADING_H
#define TIPPLE_LOAD_LOADING_H

#include "base/queue.h"
#include "format/filter.h"
#include "load/block.h"
#include "load/reject.h"
#include "load/throttle.h"
#include "load/traffic.h"
#include "target/codes.h"
#include "target/direct.h"
#include "target/routers.h"

#include <pthread.h>
#include <stdatomic.h>

/* Where a record's place in the collection holds another document: is that one which a person has put there
 * instead, whose XXH3 hash this is? Any thread. */
typedef bool loading_accepts_t(void *context, const load_file_t *file, uint64_t offset, uint64_t hash);

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
    pool_t *pool;
    queue_t *queue;
    rejects_t *rejects;
    uint32_t parts; /* of the lanes: each thread keeps to one, so that it has few batches open at a time */
    throttle_t *throttle; /* NULL: nothing is held back */
    uint32_t batch_documents;
    size_t batch_bytes;
    uint64_t max_record;
    uint32_t max_document;
    const uint8_t *uuid;         /* of the collection, 16 bytes; NULL: inserts do not say which they mean */
    reject_codes_t reject_codes; /* --reject-code */
    loading_accepts_t *accepts;  /* NULL: no */
    void *accepts_context;

    pthread_mutex_t lock; /* of what follows */
    block_t *done;        /* blocks whose every record is settled, for the books */
    bool failed;
    err_t err; /* the first failure */
} loading_t;

/* The first failure ends the whole load: the queue and the pool are closed. Any thread may call. */
void loading_fail(loading_t *loading, const err_t *err);
bool loading_failed(loading_t *loading);

/* Every record of the block is settled. */
void loading_add_done(loading_t *loading, block_t *block);

/* The blocks that were settled since the last call, as a list; to be freed by loading_free_blocks. */
block_t *loading_take_done(loading_t *loading);
void loading_free_blocks(block_t *blocks);

/* The block is nobody's any more, whatever became of it. */
void loading_free_block(loading_t *loading, block_t *block);

#endif
