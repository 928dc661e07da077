#include "catalog/hold.h"

#include <stdlib.h>

enum { CONFIRMED_A_LEASE = 4 };

static bool refuse_lost(err_t *err) {
    return err_set(err, STATUS_SERVER,
                   "another load has taken over an input of these records, because this one gave no sign of "
                   "life for too long: run the same command again");
}

static bool look(const hold_t *hold, err_t *err) {
    return catalog_look(hold->store, hold->ledger, hold->now(hold->context), hold->own_beats(hold->context),
                        err);
}

bool hold_take(const hold_t *hold, err_t *err) {
    ledger_t *ledger = hold->ledger;
    for (;;) {
        const load_seen_t *load;
        if (!look(hold, err))
            return false;
        if (ledger_may_hold(ledger, &load)) {
            ledger->asked_ns = hold->now(hold->context);
            if (!catalog_take(hold->store, ledger, NULL, SIZE_MAX, 0, err))
                return false;
            if (ledger_holds(ledger))
                return true;
            if (!hold_give_back(hold, err)) /* another command was faster */
                return false;
        } else if (load) {
            hold->waits_for(hold->context, load);
        }
        if (!hold->wait(hold->context, err))
            return false;
    }
}

bool hold_confirm(const hold_t *hold, bool in_any_case, err_t *err) {
    ledger_t *ledger = hold->ledger;
    const int64_t now_ns = hold->now(hold->context),
                  since_ns = in_any_case ? now_ns : now_ns - ledger->options.lease_ns / CONFIRMED_A_LEASE;
    if (!in_any_case && ledger_confirmed(ledger) > since_ns)
        return true;
    return catalog_confirm(hold->store, ledger, now_ns, since_ns, err) &&
           (ledger_holds(ledger) || refuse_lost(err));
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
