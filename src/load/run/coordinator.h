/* coordinator: the main thread of a load: takes pieces, hands them out, writes down what is done, and decides
 * when the load has ended. It does nothing else. It reaches everything through functions of its owner: in a load they
 * work with feeders, senders and a server, in the simulator with models of them.
 *
 *     look at the loads -> take -> hand out -> [ wait, collect, make durable, write down ]... -> look at all -> end
 */
#ifndef TIPPLE_LOAD_RUN_COORDINATOR_H
#define TIPPLE_LOAD_RUN_COORDINATOR_H

#include "catalog/catalog.h"

typedef struct {
    store_t *store;
    ledger_t *ledger;
    size_t least_pieces; /* to take at once, */
    /* and more of them as long as they are small: its owner may change that while it waits */
    uint64_t piece_bytes;
    int64_t checkpoint_ns;
    others_t others;

    void *context; /* of the functions below */
    /* A piece to be fed (OURS) or compared with its hashes (CHECK). */
    bool (*hand_out)(void *context, work_t *work, err_t *err);
    /* Waits until everything that was handed out is fed and settled (*idle), or so long at most; with
     * may_take also until feeders will soon have nothing to do (*hungry). False: the load has failed or was
     * stopped. */
    bool (*wait)(void *context, int64_t most_ns, bool may_take, bool *hungry, bool *idle, err_t *err);
    /* Tells the ledger what was settled and fed (ledger_block, ledger_fed, ...), after it has been made
     * durable: rejects on disk, documents journaled. */
    bool (*collect)(void *context, err_t *err);
    /* Called after the catalog was written or asked: pieces may have been lost, or torn records written down.
     * confirmed_ns, by the clock of `others`: the catalog was asked at this moment, or later, and said that our pieces are ours. */
    void (*written)(void *context, int64_t confirmed_ns);
    /* True: what is not done yet is left undone, because of --limit or because an input has a fault. */
    bool (*enough)(void *context);
} coordinator_t;

/* The ledger's entries were read a moment ago: those that registering the inputs gave.
 * Until everything is done, or the load has failed (what was settled is written down then as well, as far as
 * it goes: coordinator_flush). */
bool coordinator_run(coordinator_t *coordinator, err_t *err);

/* Collects and writes down once more. */
bool coordinator_flush(coordinator_t *coordinator, err_t *err);

/* As catalog_confirm, of what has not been confirmed for a part of a lease. Also for functions that
 * keep the coordinator waiting (hand_out). */
bool coordinator_confirm(coordinator_t *coordinator, err_t *err);

#endif
