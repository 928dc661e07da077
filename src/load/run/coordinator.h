/* coordinator: the main thread of a load. It takes pieces, hands them out, writes down what is done, and decides when the load has
 * ended; nothing else. It reaches everything through functions of its owner: in a load they work with feeders, senders and a
 * server, in the simulator with models of them.
 *
 *     read the loads -> take -> hand out -> [ wait, collect, make durable, write down ]... -> read all -> end
 */
#ifndef TIPPLE_LOAD_RUN_COORDINATOR_H
#define TIPPLE_LOAD_RUN_COORDINATOR_H

#include "catalog/catalog.h"

typedef struct {
    const catalog_t *catalog;
    ledger_t *ledger;
    size_t least_pieces; /* to take at once, */
    /* and more while all are at most this large together; the owner may change it while the coordinator waits */
    uint64_t piece_bytes;
    int64_t checkpoint_ns;

    void *context; /* of the functions below */
    /* Hands out a piece to be fed (OURS) or compared with its hashes (CHECK). */
    bool (*hand_out)(void *context, work_t *work, err_t *err);
    /* Waits until all that was handed out is fed and settled (*idle), at most most_ns; with may_take also
     * until feeders will soon have nothing to do (*hungry). False: the load has failed or was stopped. */
    bool (*wait)(void *context, int64_t most_ns, bool may_take, bool *hungry, bool *idle, err_t *err);
    /* Passes to the ledger what was settled and fed (ledger_block, ledger_fed, ...), after it was made
     * durable: rejects on disk, documents journaled. */
    bool (*collect)(void *context, err_t *err);
    /* Called after the catalog was written or asked, unless that failed: torn records may have been written down.
     * confirmed_ns, by the catalog's clock: a time not after the question to which the catalog answered that our pieces are
     * ours. */
    void (*written)(void *context, int64_t confirmed_ns);
    /* True if the rest is left undone, because of --limit or a fault of an input. */
    bool (*enough)(void *context);
} coordinator_t;

/* Runs until everything is done, or the load has failed; then coordinator_flush may still write down what was settled. The
 * ledger's entries were read a moment ago, when the inputs were registered. */
bool coordinator_run(coordinator_t *coordinator, err_t *err);

/* Collects and writes down once more. */
bool coordinator_flush(coordinator_t *coordinator, err_t *err);

/* Does catalog_confirm for pieces that were not confirmed for a part of a lease. Also for functions that keep the
 * coordinator waiting (hand_out). */
bool coordinator_confirm(coordinator_t *coordinator, err_t *err);

#endif
