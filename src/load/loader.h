/* loader: the threads that turn blocks into documents and batches, send them, and settle what became of each
 * record. Every counter is its thread's own and is summed by whoever reports. */
#ifndef TIPPLE_LOAD_LOADER_H
#define TIPPLE_LOAD_LOADER_H

#include "base/queue.h"
#include "format/filter.h"
#include "load/block.h"
#include "load/reject.h"
#include "target/route.h"
#include "target/server.h"

#include <pthread.h>

typedef struct loader loader_t;

/* What all loaders of a run share. */
typedef struct {
    const schema_t *schema;
    const filter_t *filter; /* or NULL */
    server_t *server;       /* NULL: --dry-run, nothing is sent */
    route_t *route;         /* NULL: no shards, or none that we may know of */
    pool_t *pool;
    queue_t *queue;
    rejects_t *rejects;
    uint32_t batch_documents;
    size_t batch_bytes;
    uint64_t max_record;
    uint32_t max_document;

    pthread_mutex_t lock; /* of what follows */
    block_t *done;        /* blocks whose every record is settled, for the books */
    bool failed;
    err_t err; /* the first failure */
} loading_t;

typedef struct {
    uint64_t documents, batches;
    int64_t wait_ns;
} shard_counters_t;

typedef struct {
    counts_t counts;
    uint64_t unrouted; /* documents whose key could not be computed: the router sends them on */
    shard_counters_t
        shards[CHUNKMAP_MOST_SHARDS]; /* as in the route's map; the first one where there is none */
    uint64_t batches, sent_documents, sent_bytes, retries, short_batches;
    int64_t wait_server_ns, wait_input_ns;
    int64_t total_ns; /* these two are filled at the end */
    uint64_t odd;
} loader_counters_t;

loader_t *loader_start(loading_t *loading, err_t *err);

/* A look at the counters while the thread runs: each figure is whole, but they may be of slightly different
 * moments. */
void loader_peek(const loader_t *loader, loader_counters_t *counters);

/* Waits for the thread's end and frees it. */
void loader_join(loader_t *loader, loader_counters_t *counters);

/* The first failure ends the whole load: the queue and the pool are closed. Any thread may call. */
void loading_fail(loading_t *loading, const err_t *err);
bool loading_failed(loading_t *loading);

/* The blocks that were settled since the last call, as a list; to be freed by loading_free_blocks. */
block_t *loading_take_done(loading_t *loading);
void loading_free_blocks(block_t *blocks);

#endif
