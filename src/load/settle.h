/* settle: what becomes of each record of a block: loaded, there already, rejected or filtered; and of the
 * block, when that is known of all of them. Belongs to one loader thread. */
#ifndef TIPPLE_LOAD_SETTLE_H
#define TIPPLE_LOAD_SETTLE_H

#include "format/record.h"
#include "load/batch.h"
#include "load/loading.h"
#include "target/writer.h"

/* A counter is its thread's own, and is read by the reporter while it is written. */
#define SETTLE_ADD(counter, amount) __atomic_store_n(&(counter), (counter) + (amount), __ATOMIC_RELAXED)

typedef struct {
    loading_t *loading;
    writer_t *writer; /* to compare with; NULL: nothing is sent */
    counts_t *counts; /* the thread's */
} settler_t;

/* One record that was not sent. */
typedef enum { SETTLED_FILTERED, SETTLED_THERE } settled_t;
void settle_one(const settler_t *settler, block_t *block, settled_t what);

bool settle_reject(const settler_t *settler, block_t *block, const record_t *record, const char *reason,
                   err_t *err);

/* The one record behind the block's others that is longer than any may be. */
bool settle_oversize(const settler_t *settler, block_t *block, err_t *err);

/* A batch that was sent. Blocks of which nothing is left are handed over. */
bool settle_batch(const settler_t *settler, batch_t *batch, const written_t *written, err_t *err);

/* Hands the block over if all of its records are settled. */
void settle_block(const settler_t *settler, block_t *block);

#endif
