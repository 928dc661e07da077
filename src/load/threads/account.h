/* account: what became of each record of a block: loaded, already there, rejected or filtered. When that is known of all
 * records, the block is handed over as settled. An account_t and a begun_t belong to one loader thread; the block is that
 * thread's until then. */
#ifndef TIPPLE_LOAD_THREADS_ACCOUNT_H
#define TIPPLE_LOAD_THREADS_ACCOUNT_H

#include "format/record/record.h"
#include "load/blocks/block.h"
#include "load/deliver/deliver.h"
#include "load/threads/load_state.h"

/* A counter is written by its own thread only, while the reporter may read it. */
#define ACCOUNT_ADD(counter, amount) __atomic_store_n(&(counter), (counter) + (amount), __ATOMIC_RELAXED)

/* Says what becomes of a record whose `_id` another document has. */
typedef bool account_taken_t(void *context, block_t *block, const record_t *record, const uint8_t *document,
                             err_t *err);

typedef struct {
    load_state_t *loading;
    counts_t *counts;
    account_taken_t *taken;
    void *taken_context;
} account_t;

/* Counts records of one fate. */
void account_fate(const account_t *account, block_t *block, fate_t fate, uint64_t records);

/* Returns the record that begins at this offset of the block's text, as a reader of records would. */
record_t account_record(const schema_t *schema, const block_t *block, uint32_t offset);
/* Returns the hash by which the catalog knows a reject of this record. */
uint64_t account_identity(const block_t *block, const record_t *record);

/* True if the `_id`s are the data's own, and the catalog says that a user has fixed this record. Its document may have any
 * `_id`, and is not looked for. */
bool account_is_fixed(const account_t *account, const block_t *block, const record_t *record);

bool account_reject(const account_t *account, block_t *block, const record_t *record, const char *reason,
                    err_t *err);

/* Rejects the record at the block's end that is too long. */
bool account_oversize(const account_t *account, block_t *block, const char *reason, err_t *err);

/* Settles a batch that was delivered, and hands over blocks whose records are now all settled. False: the load ends; documents
 * that were loaded or are there are counted all the same. */
bool account_batch(const account_t *account, batch_t *batch, const delivered_t *delivered, err_t *err);

/* Counts what is known of a batch with which the load ends: nothing more is rejected, and the next run reads its blocks again. */
void account_stopped(const account_t *account, const delivered_t *delivered);

/* Finds the block, and the offset in its text, that a document of a batch comes from. */
block_t *account_find(const batch_t *batch, uint32_t index, uint32_t *offset);
/* Writes the same for people: "a.csv:57". */
void account_place(const account_t *account, const batch_t *batch, uint32_t index, char *text, size_t size);

/* Hands the block over if all of its records are settled. */
void account_block(const account_t *account, block_t *block);

/* ---- begun: blocks that an earlier run has begun ----
 *
 * Each record is compared with what the collection holds in its place. An equal document: the record is there. None: the
 * record is sent. Another one: the record is a reject; but if an earlier version of the input was cut off in this record, the
 * document is corrected. */

typedef struct begun begun_t;

/* account: takes note of the records. NULL: out of memory, or the server cannot be asked. */
begun_t *begun_new(load_state_t *loading, mongoc_client_t *client, const account_t *account, err_t *err);
void begun_free(begun_t *begun); /* NULL is allowed */

/* Reads the documents that the collection has of the block. *any: there are some; else no record needs to be compared. */
bool begun_read(begun_t *begun, block_t *block, bool *any, err_t *err);

/* Compares a record's document. *open: nothing is there, so the document is to be sent; else the record is accounted for. */
bool begun_document(begun_t *begun, const record_t *record, const uint8_t *document, bool *open, err_t *err);

/* Settles a record whose document was sent, but another one has its `_id`. If a late message of an earlier run has stored there
 * what the cut-off record makes, that is corrected; else the record is a reject. */
bool begun_taken(begun_t *begun, block_t *block, const record_t *record, const uint8_t *document, err_t *err);

/* What is in the place of a record that shall have no document. */
typedef enum {
    BEGUN_NONE,
    BEGUN_FIXED, /* what a user has made of this record: it stays */
    BEGUN_OTHER, /* something unknown: the record is a reject */
} begun_there_t;

/* Finds what is in the place of a record that is not sent, and removes what a cut-off record has made. document: what the record
 * would make, or NULL. */
bool begun_nothing(begun_t *begun, const record_t *record, const uint8_t *document, begun_there_t *there,
                   err_t *err);

/* Writes the reason of a reject in whose place BEGUN_OTHER was found last. before: what else is wrong with it, or NULL. */
void begun_say_other(const begun_t *begun, char reason[WIRE_WORDS], const char *before, int64_t id);

/* Ends a block, after its last record. False also if a document is where no record begins: the input has changed since, or was
 * another stream. */
bool begun_end(begun_t *begun, err_t *err);

#endif
