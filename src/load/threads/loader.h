/* loader: the threads that parse blocks into batches of documents, send the batches, and note what became of each record. All of
 * a loader_t belongs to its thread; others may only read its counters, with loader_add_counters. */
#ifndef TIPPLE_LOAD_THREADS_LOADER_H
#define TIPPLE_LOAD_THREADS_LOADER_H

#include "base/numbers.h"
#include "format/record/record.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "load/blocks/block.h"
#include "load/deliver/deliver.h"
#include "load/read_back/range.h"
#include "load/read_back/read_back.h"
#include "load/threads/load_state.h"
#include "server/send.h"
#include "server/server.h"
#include "server/server_errors.h"

/* ---- account ----
 *
 * What became of each record of a block: loaded, already there, rejected or filtered. When that is known of all
 * records, the block is handed over as settled. The block is its loader thread's until then. */

/* A counter is written by its own thread only, while the reporter may read it. */
#define ACCOUNT_ADD(counter, amount) __atomic_store_n(&(counter), (counter) + (amount), __ATOMIC_RELAXED)

typedef struct loader loader_t;

/* Counts records of one fate. */
void account_fate(loader_t *loader, block_t *block, fate_t fate, uint64_t records);

/* Returns the record that begins at this offset of the block's text, as a reader of records would. */
record_t account_record(const schema_t *schema, const block_t *block, uint32_t offset);
/* Returns the hash by which the catalog knows a reject of this record. */
uint64_t account_identity(const block_t *block, const record_t *record);

/* True if the `_id`s are the data's own, and the catalog says that a user has fixed this record. Its document may have any
 * `_id`, and is not looked for. */
bool account_is_fixed(const loader_t *loader, const block_t *block, const record_t *record);

bool account_reject(loader_t *loader, block_t *block, const record_t *record, const char *reason, err_t *err);

/* Settles a batch that was delivered, and hands over blocks whose records are now all settled. False: the load ends; documents
 * that were loaded or are there are counted all the same. */
bool account_batch(loader_t *loader, batch_t *batch, const delivered_t *delivered, err_t *err);

/* Counts what is known of a batch with which the load ends: nothing more is rejected, and the next run reads its blocks again. */
void account_stopped(loader_t *loader, const delivered_t *delivered);

/* Finds the block, and the offset in its text, that a document of a batch comes from. */
block_t *account_find(const batch_t *batch, uint32_t index, uint32_t *offset);
/* Writes the same for people: "a.csv:57". */
void account_place(const loader_t *loader, const batch_t *batch, uint32_t index, char *text, size_t size);

/* Hands the block over if all of its records are settled. */
void account_block(loader_t *loader, block_t *block);

/* ---- begun: blocks that an earlier run has begun ----
 *
 * Each record is compared with what the collection holds in its place. An equal document: the record is there. None: the
 * record is sent. Another one: the record is a reject; but if an earlier version of the input was cut off in this record, the
 * document is corrected. */

typedef struct {
    snapshot_read_t *target; /* NULL until it is needed */
    read_back_t range;
    block_t *block;
    const record_t *record;
    /* in the record's place is what a user made of its beginning, when the record was cut off there */
    bool outgrown;
} begun_t;

/* Reads the documents that the collection has of the block. *any: there are some; else no record needs to be compared. */
bool begun_read(loader_t *loader, block_t *block, bool *any, err_t *err);

/* Compares a record's document. *open: nothing is there, so the document is to be sent; else the record is accounted for. */
bool begun_document(loader_t *loader, const record_t *record, const uint8_t *document, bool *open,
                    err_t *err);

/* Settles a record whose document was sent, but another one has its `_id`. If a late message of an earlier run has stored there
 * what the cut-off record makes, that is corrected; else the record is a reject. */
bool begun_taken(loader_t *loader, block_t *block, const record_t *record, const uint8_t *document,
                 err_t *err);

/* Finds what is in the place of a record that is not sent, and removes what a cut-off record has made. document: what the record
 * would make, or NULL. *there: NOTHING that may not be there; ACCEPTED, what a user has made of this record, stays; OTHER: it is
 * unknown, and the record is a reject. */
bool begun_nothing(loader_t *loader, const record_t *record, const uint8_t *document,
                   read_back_found_t *there, err_t *err);

/* Writes the reason of a reject in whose place READ_BACK_OTHER was found last. before: what else is wrong with it, or NULL. */
void begun_say_other(loader_t *loader, char reason[WIRE_WORDS], const char *before, int64_t id);

/* Ends a block, after its last record. False also if a document is where no record begins: the input has changed since, or was
 * another stream. */
bool begun_end(loader_t *loader, err_t *err);

/* ---- correct ----
 *
 * The only case in which a document is replaced. An input ended without a line end, and its last record was loaded as it
 * was then. Since then the input has grown, perhaps more than once, and the record is longer. One update puts the new document in
 * the place of the old one; its filter names every field of the old one, so it changes nothing else. If the whole record makes no
 * document, the old one is removed in the same way. */

/* True if an earlier version of the input ended within the record that begins at this offset of the block's text. */
bool correct_was_torn(const block_t *block, uint32_t offset);

/* True if the block has such a record, and it is longer now. */
bool correct_has_outgrown(const schema_t *schema, const block_t *block);

/* *made: one of these records made a document when it was cut off. */
bool correct_made_document(const schema_t *schema, const block_t *block, bool *made, err_t *err);

/* Result of correct_replace for the document that the collection holds at the record's place. */
typedef enum {
    CORRECT_DONE,
    CORRECT_OTHER,   /* no version of the record has made it */
    CORRECT_REFUSED, /* the server refuses the new document, and err says why: the old one is removed */
} corrected_t;

/* Puts `document`, made of the whole record, in the place of the cut-off record's document. */
bool correct_replace(loader_t *loader, const block_t *block, uint32_t offset, const uint8_t *document,
                     uint32_t length, corrected_t *corrected, err_t *err);

/* Refuses the input, since the document of its cut-off record at this offset of the block's text cannot be replaced. Always
 * false. */
bool correct_refuse(const block_t *block, uint32_t offset, const char *why, err_t *err);

/* Removes the cut-off record's document, because the whole record makes none (it is a reject, or filtered). */
bool correct_remove(loader_t *loader, const block_t *block, uint32_t offset, bool *removed, err_t *err);

/* Adds the documents that the cut-off record may have made to the block's `late`. */
bool correct_expect_late(const schema_t *schema, block_t *block, uint32_t offset, err_t *err);
/* Removes such a document if it has arrived meanwhile. */
bool correct_remove_late(const target_t *target, const late_document_t *late, bool *removed, err_t *err);

/* ---- loader ---- */

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
    bool fits;         /* the rejects know that the format fits */
    bool may_be_there; /* records of the current block, by their own `_id`s: see documents_t */
    bool comparing;    /* the current block was begun before, and some documents of it are there */
    begun_t begun;
    loader_counters_t counters;
};

#endif
