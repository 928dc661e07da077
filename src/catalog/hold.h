/* hold: pieces of inputs that a command keeps for itself while it changes something in them, and then gives back
 * unchanged. It takes them as a load takes pieces, but all or none: a command that waits for one piece holds none, so
 * no two commands wait for each other. The ledger has option `holds`, and its inputs are sorted by ordinal; ledger_skip
 * leaves out pieces that are not wanted. One thread at a time. */
#ifndef TIPPLE_CATALOG_HOLD_H
#define TIPPLE_CATALOG_HOLD_H

#include "catalog/catalog.h"

typedef struct {
    store_t *store;
    ledger_t *ledger;
    others_t others;
} hold_t;

/* Waits until all pieces are ours. */
bool hold_take(const hold_t *hold, err_t *err);

/* As catalog_confirm. False: some pieces belong to another command now (status 4), or the catalog did not answer.
 * ledger_confirmed tells when it last answered. */
bool hold_confirm(const hold_t *hold, bool in_any_case, err_t *err);

/* Makes changes that are valid only while the pieces are held. False: not all of them were made, and err says why. */
bool hold_change(const hold_t *hold, const entry_change_t *changes, size_t count, err_t *err);

/* Gives the pieces back. Pieces that another command has taken meanwhile stay its own. */
bool hold_give_back(const hold_t *hold, err_t *err);

#endif
