/* hold: pieces of inputs that a command keeps for itself while it changes something of what they hold, and gives back as they
 * were. They are taken as a load takes them, all or none: who waits for one holds none, so that nobody waits in a
 * circle. The ledger is one with `holds`, with the inputs by ordinal; pieces that are not wanted are left out by
 * ledger_skip. One thread at a time. */
#ifndef TIPPLE_CATALOG_HOLD_H
#define TIPPLE_CATALOG_HOLD_H

#include "catalog/catalog.h"

typedef struct {
    store_t *store;
    ledger_t *ledger;
    void *context;
    int64_t (*now)(void *context);
    uint64_t (*own_beats)(void *context);
    /* A moment passes, and our beat goes on; false: stop (err is set). */
    bool (*wait)(void *context, err_t *err);
    /* For a load that has one of them. */
    void (*waits_for)(void *context, const load_seen_t *load);
} hold_t;

/* Until all of them are ours. */
bool hold_take(const hold_t *hold, err_t *err);

/* Asks the catalog about those that it has said nothing of for a quarter of a lease (or in any case). False: some are another
 * command's by now (status 4), or it did not answer. What it has said, ledger_confirmed tells. */
bool hold_confirm(const hold_t *hold, bool in_any_case, err_t *err);

/* Makes changes that believe in what is held. False: not all were made, and what it says is why. */
bool hold_change(const hold_t *hold, const entry_change_t *changes, size_t count, err_t *err);

/* Whoever has taken them meanwhile has them. */
bool hold_give_back(const hold_t *hold, err_t *err);

#endif
