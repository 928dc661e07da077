#include "catalog/removal.h"
#include "catalog/ledger/liveness.h"

#include <stdlib.h>

static bool read_entry(store_t *store, uint32_t ordinal, entries_t *entries, err_t *err) {
    entries_free(entries);
    return store_read_all(store, &ordinal, 1, entries, err) &&
           (entries->count == 1 ||
            err_set(err, STATUS_SERVER,
                    "the catalog was removed or changed by somebody: run the same command again"));
}

static bool refuse_owned(const entry_t *entry, const load_seen_t *owner, err_t *err) {
    return err_set(
        err, STATUS_USAGE,
        "%s is being loaded (process %lld on %s): stop that load first, or wait until it has ended",
        entry->path, owner ? (long long)owner->process : 0LL, owner ? owner->host : "another host");
}

/* ---- taking ---- */

static bool is_ours(const removal_t *removal, const piece_t *piece) {
    return load_id_equal(&piece->owner, &removal->self);
}

static bool all_ours(const removal_t *removal, const entry_t *entry) {
    for (size_t i = 0; i < entry->piece_count; i++)
        if (!is_ours(removal, &entry->pieces[i]))
            return false;
    return true;
}

/* Takes all pieces whose owners are known to be dead. documents: nothing of them counts as done from now on. */
static bool take_pieces(store_t *store, const removal_t *removal, const entry_t *entry, bool documents,
                        const liveness_t *liveness, err_t *err) {
    for (size_t i = 0; i < entry->piece_count; i++) {
        const piece_t *piece = &entry->pieces[i];
        const piece_t empty = {.from = piece->from, .to = piece->to, .generation = piece->generation};
        const entry_change_t change = {.ordinal = entry->ordinal,
                                       .piece = (uint32_t)i,
                                       .owner = piece->owner,
                                       .epoch = piece->epoch,
                                       .sets_owner = true,
                                       .new_owner = removal->self,
                                       .new_epoch = piece->epoch + 1,
                                       .progress = documents ? &empty : NULL};
        uint64_t changed;
        const bool free_to_take =
            load_id_is_nobody(&piece->owner) || liveness_is_dead(liveness, &piece->owner);
        if (is_ours(removal, piece) || !free_to_take)
            continue;
        if (!store->change_entries(store, &change, 1, &changed, err))
            return false;
    }
    return true;
}

/* An owner whose beat rises is alive. */
static bool check_owners(const removal_t *removal, const entry_t *entry, const liveness_t *before,
                         const loads_t *now, err_t *err) {
    for (size_t i = 0; i < entry->piece_count; i++) {
        const load_id_t *owner = &entry->pieces[i].owner;
        const load_seen_t *seen = liveness_find(before, owner);
        for (size_t j = 0; seen && j < now->count; j++)
            if (load_id_equal(&now->loads[j].id, owner) && !now->loads[j].ended &&
                now->loads[j].beat != seen->beat && !is_ours(removal, &entry->pieces[i]))
                return refuse_owned(entry, &now->loads[j], err);
    }
    return true;
}

static bool own_all(store_t *store, const removal_t *removal, uint32_t ordinal, bool documents,
                    entries_t *entries, err_t *err) {
    liveness_t liveness = {.lease_ns = removal->lease_ns};
    bool ok = true, ours = false;
    while (ok && !ours) {
        loads_t loads = {0};
        /* taken before the catalog is asked: a process that is suspended while it answers has seen nothing meanwhile */
        const int64_t now_ns = removal->now(removal->context);
        const uint64_t own_beats = removal->own_beats(removal->context);
        ok = read_entry(store, ordinal, entries, err) && store->read_loads(store, &loads, err) &&
             check_owners(removal, entries->entries, &liveness, &loads, err) &&
             liveness_update(&liveness, &loads, now_ns, own_beats, err) &&
             take_pieces(store, removal, entries->entries, documents, &liveness, err) &&
             read_entry(store, ordinal, entries, err);
        ours = ok && (entries->entries->removed || all_ours(removal, entries->entries));
        ok = ok && (ours || removal->wait(removal->context, err));
        loads_free(&loads);
    }
    liveness_free(&liveness);
    return ok;
}

static void release(store_t *store, const removal_t *removal, const entry_t *entry) {
    for (size_t i = 0; i < entry->piece_count; i++) {
        const entry_change_t change = {.ordinal = entry->ordinal,
                                       .piece = (uint32_t)i,
                                       .owner = removal->self,
                                       .epoch = entry->pieces[i].epoch,
                                       .sets_owner = true,
                                       .new_epoch = entry->pieces[i].epoch};
        uint64_t changed;
        err_t ignored;
        store->change_entries(store, &change, 1, &changed, &ignored);
    }
}

/* ---- removing ---- */

static bool wait_a_lease(const removal_t *removal, err_t *err) {
    const int64_t until_ns = removal->now(removal->context) + removal->lease_ns;
    while (removal->now(removal->context) < until_ns)
        if (!removal->wait(removal->context, err))
            return false;
    return true;
}

static bool refuse_lost(const entry_t *entry, err_t *err) {
    return err_set(
        err, STATUS_SERVER,
        "another load has taken %s, because this one gave no sign of life for too long: run the same "
        "command again",
        entry->path);
}

bool catalog_may_remain(store_t *store, uint32_t ordinal, err_t *err) {
    const entry_change_t change = {.ordinal = ordinal, .sets_remains = true, .remains = true};
    uint64_t changed;
    return store->change_entries(store, &change, 1, &changed, err);
}

bool catalog_look_again(store_t *store, const removal_t *removal, const entry_t *entry, bool *any,
                        err_t *err) {
    return removal->look(removal->context, entry, any, err) &&
           (!*any || catalog_may_remain(store, entry->ordinal, err));
}

/* Looks until nothing is found, and once more a lease later: by then everything that was on its way when its load died
 * has arrived. Then it looks again: meanwhile a load may have woken up, found its input removed, and noted that
 * documents may remain; that note must not be deleted without a look. */
static bool remove_documents(store_t *store, const removal_t *removal, const entry_t *entry, err_t *err) {
    const entry_change_t done = {.ordinal = entry->ordinal, .sets_remains = true, .remains = false};
    uint64_t changed;
    bool any = true;
    while (any) {
        if (!removal->remove(removal->context, entry, err) ||
            !removal->look(removal->context, entry, &any, err))
            return false;
        if (!any && (!wait_a_lease(removal, err) || !removal->look(removal->context, entry, &any, err)))
            return false;
        if (!any && (!store->change_entries(store, &done, 1, &changed, err) ||
                     !catalog_look_again(store, removal, entry, &any, err)))
            return false;
    }
    return true;
}

static bool bury(store_t *store, const removal_t *removal, uint32_t ordinal, bool documents,
                 entries_t *entries, err_t *err) {
    const entry_change_t change = {.ordinal = ordinal,
                                   .owner = removal->self,
                                   .epoch = entries->entries->pieces[0].epoch,
                                   .owns_all = true,
                                   .removes = true,
                                   .remains = documents};
    uint64_t changed;
    return store->change_entries(store, &change, 1, &changed, err) &&
           read_entry(store, ordinal, entries, err) &&
           (entries->entries->removed || refuse_lost(entries->entries, err));
}

bool catalog_remove(store_t *store, uint32_t ordinal, bool documents, const removal_t *removal, err_t *err) {
    entries_t entries = {0};
    bool any = false, ok = own_all(store, removal, ordinal, documents, &entries, err);
    entry_t *entry = entries.entries;
    if (ok && !entry->removed && !documents) {
        ok = removal->look(removal->context, entry, &any, err);
        if (ok && any) {
            release(store, removal, entry);
            ok = err_set(err, STATUS_USAGE,
                         "documents of %s are in the collection: --delete removes them, too", entry->path);
        }
    }
    ok = ok && (entry->removed || bury(store, removal, ordinal, documents, &entries, err));
    ok = ok && (!entries.entries->remains || remove_documents(store, removal, entries.entries, err));
    entries_free(&entries);
    return ok;
}

bool catalog_finish_removals(store_t *store, const removal_t *removal, err_t *err) {
    entries_t entries = {0};
    bool ok = store_read_all(store, NULL, 0, &entries, err);
    for (size_t i = 0; ok && i < entries.count; i++)
        ok = !entries.entries[i].remains || remove_documents(store, removal, &entries.entries[i], err);
    entries_free(&entries);
    return ok;
}
