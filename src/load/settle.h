/* settle: what becomes of each record of a block: loaded, there already, rejected or filtered; and of the
 * block, when that is known of all of them. Belongs to one loader thread. */
#ifndef TIPPLE_LOAD_SETTLE_H
#define TIPPLE_LOAD_SETTLE_H

#include "format/record.h"
#include "load/batch.h"
#include "load/deliver.h"
#include "load/loading.h"

/* A counter is its thread's own, and is read by the reporter while it is written. */
#define SETTLE_ADD(counter, amount) __atomic_store_n(&(counter), (counter) + (amount), __ATOMIC_RELAXED)

typedef struct {
    loading_t *loading;
    counts_t *counts; /* the thread's */
    bool told;        /* the rejects know that a document of this thread's was taken */
} settler_t;

/* One record that was not sent. */
typedef enum { SETTLED_FILTERED, SETTLED_THERE } settled_t;
void settle_one(const settler_t *settler, block_t *block, settled_t what);

bool settle_reject(const settler_t *settler, block_t *block, const record_t *record, const char *reason,
                   err_t *err);

/* The one record behind the block's others that is longer than any may be. */
bool settle_oversize(const settler_t *settler, block_t *block, err_t *err);

/* A batch that was delivered. Blocks of which nothing is left are handed over. */
bool settle_batch(settler_t *settler, batch_t *batch, const delivered_t *delivered, err_t *err);

/* The block, and the offset in its text, that a document of a batch comes from. */
block_t *settle_find(const batch_t *batch, uint32_t index, uint32_t *offset);
/* The same for people: "a.csv:57". */
void settle_place(const settler_t *settler, const batch_t *batch, uint32_t index, char *text, size_t size);

/* Hands the block over if all of its records are settled. */
void settle_block(const settler_t *settler, block_t *block);

#endif
