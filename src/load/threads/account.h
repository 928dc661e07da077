/* account: notes what became of each record of a block: loaded, already there, rejected or filtered. When that is known
 * of all its records, the block is handed over as settled. Belongs to one loader thread. */
#ifndef TIPPLE_LOAD_THREADS_ACCOUNT_H
#define TIPPLE_LOAD_THREADS_ACCOUNT_H

#include "format/record/record.h"
#include "load/blocks/batch.h"
#include "load/deliver/deliver.h"
#include "load/threads/load_state.h"

/* A counter is its thread's own, and is read by the reporter while it is written. */
#define ACCOUNT_ADD(counter, amount) __atomic_store_n(&(counter), (counter) + (amount), __ATOMIC_RELAXED)

/* Another document has the `_id` of one that was sent: says what becomes of the record. */
typedef bool account_taken_t(void *context, block_t *block, const record_t *record, const uint8_t *document,
                             err_t *err);

typedef struct {
    load_state_t *loading;
    counts_t *counts; /* the thread's */
    account_taken_t *taken;
    void *taken_context;
} account_t;

/* One record that was not simply inserted. */
typedef enum { RECORD_FILTERED, RECORD_THERE, RECORD_CORRECTED, RECORD_REPLACED, RECORD_KEPT } unsent_t;
void account_one(const account_t *account, block_t *block, unsent_t what);

/* The record that begins at this offset of the block's text, as any reader of records says it. */
record_t account_record(const schema_t *schema, const block_t *block, uint32_t offset);
/* What the catalog knows a reject of this record by. */
uint64_t account_identity(const block_t *block, const record_t *record);

/* Where the `_id`s are the data's own: has a person fixed this record, as the catalog says? Its document may have any
 * `_id`, and is not looked for. */
bool account_is_fixed(const account_t *account, const block_t *block, const record_t *record);

bool account_reject(const account_t *account, block_t *block, const record_t *record, const char *reason,
                    err_t *err);

/* The record after the block's others that is too long. */
bool account_oversize(const account_t *account, block_t *block, const char *reason, err_t *err);

/* A batch that was delivered. Blocks whose records are now all settled are handed over. False: the load ends; what was
 * loaded or is there is counted all the same. */
bool account_batch(const account_t *account, batch_t *batch, const delivered_t *delivered, err_t *err);

/* A batch that was not delivered to its end, so that the load ends: what is known of it. */
void account_stopped(const account_t *account, const delivered_t *delivered);

/* The block, and the offset in its text, that a document of a batch comes from. */
block_t *account_find(const batch_t *batch, uint32_t index, uint32_t *offset);
/* The same for people: "a.csv:57". */
void account_place(const account_t *account, const batch_t *batch, uint32_t index, char *text, size_t size);

/* Hands the block over if all of its records are settled. */
void account_block(const account_t *account, block_t *block);

#endif
