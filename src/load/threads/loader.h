/* loader: the threads that parse blocks into batches of documents, send the batches, and note what became of each record. All of
 * a loader_t belongs to its thread; others may only read its counters, with loader_add_counters. */
#ifndef TIPPLE_LOAD_THREADS_LOADER_H
#define TIPPLE_LOAD_THREADS_LOADER_H

#include "base/numbers.h"
#include "format/record/record.h"
#include "format/records.h"
#include "load/threads/account.h"
#include "load/threads/load_state.h"
#include "server/send.h"

typedef struct loader loader_t;

/* Only 64-bit numbers, because the counters of all threads are added up as such. */
typedef struct {
    counts_t counts;
    uint64_t unrouted; /* documents whose shard key could not be computed: the router sends them on */
    uint64_t batches, sent_documents, sent_bytes, retries, short_batches;
    int64_t wait_server_ns, wait_input_ns;
    int64_t total_ns; /* this and the members below are set at the end */
    uint64_t bad_values, ambiguous_times;
    passed_over_t passed_over;
} loader_counters_t;

/* Starts a loader thread. number: of the thread; it chooses the router that the thread stays with. */
loader_t *loader_start(load_state_t *loading, uint32_t number, err_t *err);

/* Adds its counters to the sum, also while the thread runs: each figure is whole, but their moments may differ slightly. */
void loader_add_counters(const loader_t *loader, loader_counters_t *sum);

/* The same after pipeline_join, with its bad values. Frees the loader. */
void loader_end(loader_t *loader, loader_counters_t *sum, bad_values_t *bad_values);

struct loader {
    load_state_t *loading;
    pipeline_worker_t work;
    writer_t *writer; /* NULL: nothing is sent */
    deliver_t *deliver;
    deliver_owner_t owner;
    const batch_t *sending;
    records_t *reader;
    size_t way;       /* its router */
    batch_t *batches; /* the first for the router to sort, then one a shard */
    size_t batch_count;
    batch_t *batch;  /* the next document is made in this one */
    chunkmap_t *map; /* for the current block; NULL without shards */
    bool *found;     /* by batch: a document sent straight to the shard was found through the router */
    hashed_t *hashed;
    bson_t key;
    /* EXISTING_REPLACE: a hash table of the batch's `_id`s, as hashes; 0: a free place. Else NULL */
    uint64_t *keys;
    size_t key_room;   /* a power of two, at least twice as large as the largest batch */
    bool by_document;  /* the current block's records may belong to several shards */
    begun_t *begun;    /* made when first needed */
    bool fits;         /* the rejects know that the format fits */
    bool may_be_there; /* records of the current block, by their own `_id`s: see documents_t */
    bool comparing;    /* the current block was begun before, and some documents of it are there */
    account_t account;
    loader_counters_t counters;
};

#endif
