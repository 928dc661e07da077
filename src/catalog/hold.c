#include "catalog/hold.h"

#include <stdlib.h>

static bool refuse_lost(err_t *err) {
    return err_set(err, STATUS_SERVER,
                   "another load has taken over an input of these records, because this one gave no sign of "
                   "life for too long: run the same command again");
}

bool hold_take(const hold_t *hold, err_t *err) {
    ledger_t *ledger = hold->ledger;
    const others_t *others = &hold->others;
    for (;;) {
        const load_seen_t *load;
        if (!catalog_look(hold->store, ledger, others, err))
            return false;
        if (ledger_may_hold(ledger, &load)) {
            if (!catalog_take(hold->store, ledger, others->now(others->context), NULL, SIZE_MAX, 0, err))
                return false;
            if (ledger_holds(ledger))
                return true;
            if (!hold_give_back(hold, err)) /* another command was faster */
                return false;
        } else if (load) {
            others->waits_for(others->context, load);
        }
        if (!others->wait(others->context, err))
            return false;
    }
}

bool hold_confirm(const hold_t *hold, bool in_any_case, err_t *err) {
    return catalog_confirm(hold->store, hold->ledger, &hold->others, in_any_case, err) &&
           (ledger_holds(hold->ledger) || refuse_lost(err));
}

bool hold_change(const hold_t *hold, const entry_change_t *changes, size_t count, err_t *err) {
    uint64_t changed = 0;
    if (!count)
        return true;
    if (!hold->store->change_entries(hold->store, changes, count, &changed, err))
        return false;
    return changed == count ||
           (hold_confirm(hold, true, err) && err_set(err, STATUS_SERVER,
                                                     "the catalog was changed by somebody while records were "
                                                     "loaded again: run the same command again"));
}

bool hold_give_back(const hold_t *hold, err_t *err) {
    entry_change_t *changes;
    size_t count;
    uint64_t changed;
    const bool ok = ledger_give_back(hold->ledger, &changes, &count, err) &&
                    (!count || hold->store->change_entries(hold->store, changes, count, &changed, err));
    free(changes);
    return ok;
}
