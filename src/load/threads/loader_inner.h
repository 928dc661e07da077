/* What the files of the loader share: its thread's own state. */
#ifndef TIPPLE_LOAD_THREADS_LOADER_INNER_H
#define TIPPLE_LOAD_THREADS_LOADER_INNER_H

#include "format/records.h"
#include "load/threads/begun.h"
#include "load/threads/loader.h"
#include "server/send.h"

struct loader {
    load_state_t *loading;
    pipeline_worker_t work;
    writer_t *writer; /* NULL: nothing is sent */
    deliver_t *deliver;
    deliver_owner_t owner;
    const batch_t *sending;
    records_t *reader;
    size_t way;       /* the router that it stays with */
    batch_t *batches; /* the first one for the router to sort, then one a shard */
    size_t batch_count;
    batch_t *batch;  /* the one that the next document is made in */
    chunkmap_t *map; /* of the block at hand; NULL where there are no shards */
    bool *found;     /* by batch: what went straight to the shard was found through the router */
    hashed_t *hashed;
    bson_t key;
    /* EXISTING_REPLACE: which `_id`s the batch has, as hashes; 0: a free place. Else NULL */
    uint64_t *keys;
    size_t key_room;   /* a power of two, at least twice as large as the largest batch */
    bool by_document;  /* the block's records belong to several shards, perhaps */
    begun_t *begun;    /* NULL: no block was begun before */
    bool fits;         /* the rejects know that the format does */
    bool may_be_there; /* records of the block at hand, by their own `_id`s: see documents_t */
    bool comparing;    /* the one at hand was, and something of it is there */
    account_t account;
    loader_counters_t counters;
};

/* loader_send.c: a batch on its way, from a full one to what became of each of its documents. */

/* Opens the loader's own connection. near: its router, or NULL. */
bool loader_open_writer(loader_t *loader, server_t *near, err_t *err);
/* Sends a batch, which is empty afterwards; one without documents is not sent. */
bool loader_send(loader_t *loader, batch_t *batch, err_t *err);
bool loader_send_all(loader_t *loader, err_t *err);
/* Sends what has waited for its last documents for too long, and the fullest batch while memory is short. *waiting:
 * documents are still waiting afterwards. */
bool loader_send_if_due(loader_t *loader, bool *waiting, err_t *err);

/* loader_leave_out.c: what is not sent, and what an earlier run has left in its place. */

/* What of a block that was begun before is there already? Sets `comparing`. */
bool loader_read_back(loader_t *loader, block_t *block, err_t *err);
/* A record that is not to be sent; document: NULL where none can be made. reason NULL: the filter leaves it out. */
bool loader_leave_out(loader_t *loader, block_t *block, const record_t *record, const uint8_t *document,
                      const char *reason, err_t *err);
/* A record that was cut off when its input ended there may turn out to be none: a header that is repeated, or a
 * byte-order mark. Looks at all such places from *from on, up to `to`, and moves *from behind them. */
bool loader_clear_torn(loader_t *loader, block_t *block, uint32_t *from, uint32_t to, err_t *err);
/* Where the `_id`s are the data's own: false if a record of the block was cut off where its input ended, was loaded like
 * that, and is longer now: nobody knows which document is to be corrected. */
bool loader_may_have_grown(const loader_t *loader, block_t *block, err_t *err);
/* An account_taken_t. */
bool loader_take_taken(void *context, block_t *block, const record_t *record, const uint8_t *document,
                       err_t *err);

#endif
