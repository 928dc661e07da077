/* Removing inputs: own all of their pieces, make their entries tombstones, remove their documents until none comes any
 * more. */
#include "catalog/catalog.h"

#include <stdlib.h>
#include <string.h>

/* The inputs that are removed at once. */
typedef struct {
    store_t *store; /* the catalog's */
    const removal_t *removal;
    uint32_t *ordinals; /* ascending */
    bool *documents;
    size_t count;
    entries_t entries; /* as they were read last, in the same order */
} removing_t;

static bool read_entries(removing_t *removing, err_t *err) {
    entries_free(&removing->entries);
    return store_read_all(removing->store, removing->ordinals, removing->count, &removing->entries, err) &&
           (removing->entries.count == removing->count ||
            err_set(err, STATUS_SERVER,
                    "the catalog was removed or changed meanwhile: run the same command again"));
}

static bool refuse_owned(const entry_t *entry, const load_seen_t *owner, err_t *err) {
    return err_set(
        err, STATUS_USAGE,
        "%s is being loaded (process %lld on %s): stop that load first, or wait until it has ended",
        entry->path, (long long)owner->process, owner->host);
}

/* ---- taking ---- */

static bool is_ours(const removal_t *removal, const piece_t *piece) {
    return load_id_equal(&piece->owner, &removal->catalog->self);
}

/* Takes all pieces that are free or whose owners are dead. documents: nothing of them counts as done from now on. */
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
                                       .new_owner = removal->catalog->self,
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

static bool check_owners(const removing_t *removing, const liveness_t *liveness, err_t *err) {
    for (size_t i = 0; i < removing->count; i++) {
        const entry_t *entry = &removing->entries.entries[i];
        for (size_t j = 0; j < entry->piece_count; j++) {
            const load_seen_t *owner = liveness_alive(liveness, &entry->pieces[j].owner);
            if (owner && !is_ours(removing->removal, &entry->pieces[j]))
                return refuse_owned(entry, owner, err);
        }
    }
    return true;
}

static bool take_all(const removing_t *removing, const liveness_t *liveness, err_t *err) {
    for (size_t i = 0; i < removing->count; i++)
        if (!take_pieces(removing->store, removing->removal, &removing->entries.entries[i],
                         removing->documents[i], liveness, err))
            return false;
    return true;
}

static bool owns_all(const removing_t *removing) {
    bool all = true;
    for (size_t i = 0; i < removing->count; i++) {
        const entry_t *entry = &removing->entries.entries[i];
        for (size_t j = 0; j < entry->piece_count; j++)
            all &= entry->removed || is_ours(removing->removal, &entry->pieces[j]);
    }
    return all;
}

static bool own_all(removing_t *removing, err_t *err) {
    const catalog_t *catalog = removing->removal->catalog;
    liveness_t liveness = {.lease_ns = catalog->lease_ns};
    bool ok = true, ours = false;
    while (ok && !ours) {
        ok = read_entries(removing, err) && catalog_look_at_others(catalog, &liveness, err) &&
             check_owners(removing, &liveness, err) && take_all(removing, &liveness, err) &&
             read_entries(removing, err);
        ours = ok && owns_all(removing);
        ok = ok && (ours || catalog->wait(catalog->context, err));
    }
    liveness_free(&liveness);
    return ok;
}

/* ---- removing ---- */

static bool wait_a_lease(const removal_t *removal, err_t *err) {
    const catalog_t *catalog = removal->catalog;
    const int64_t until_ns = catalog_now(catalog) + catalog->lease_ns;
    while (catalog_now(catalog) < until_ns)
        if (!catalog->wait(catalog->context, err))
            return false;
    return true;
}

static bool refuse_lost(const entry_t *entry, err_t *err) {
    return err_set(err, STATUS_SERVER,
                   "another load has taken %s, because this one gave no sign of life for too long: run the "
                   "same command again",
                   entry->path);
}

bool catalog_may_remain(const catalog_t *catalog, uint32_t ordinal, err_t *err) {
    const entry_change_t change = {.ordinal = ordinal, .sets_remains = true, .remains = true};
    uint64_t changed;
    return catalog->store->change_entries(catalog->store, &change, 1, &changed, err);
}

bool catalog_look_again(const removal_t *removal, const entry_t *entry, bool *any, err_t *err) {
    return removal->look(removal->catalog->context, entry, any, err) &&
           (!*any || catalog_may_remain(removal->catalog, entry->ordinal, err));
}

/* *any: there are documents of an entry that may have some. removes: removes them before it checks. */
static bool look_at_all(const removal_t *removal, const entries_t *entries, bool removes, bool *any,
                        err_t *err) {
    *any = false;
    for (size_t i = 0; i < entries->count; i++) {
        const entry_t *entry = &entries->entries[i];
        bool found = false;
        if (entry->remains && ((removes && !removal->remove(removal->catalog->context, entry, err)) ||
                               !removal->look(removal->catalog->context, entry, &found, err)))
            return false;
        *any |= found;
    }
    return true;
}

/* Notes that no documents are there, and checks once more: meanwhile a load may have woken up, found its input removed,
 * and noted that documents may remain, and that note must not be lost. */
static bool note_all(const removal_t *removal, const entries_t *entries, bool *any, err_t *err) {
    store_t *store = removal->catalog->store;
    for (size_t i = 0; i < entries->count; i++) {
        const entry_t *entry = &entries->entries[i];
        const entry_change_t done = {.ordinal = entry->ordinal, .sets_remains = true, .remains = false};
        uint64_t changed;
        bool found = false;
        if (entry->remains && (!store->change_entries(store, &done, 1, &changed, err) ||
                               !catalog_look_again(removal, entry, &found, err)))
            return false;
        *any |= found;
    }
    return true;
}

static bool remain_any(const entries_t *entries) {
    for (size_t i = 0; i < entries->count; i++)
        if (entries->entries[i].remains)
            return true;
    return false;
}

/* Removes until nothing is found, and checks once more a lease later: by then everything that was on its way when its
 * load died has arrived. All entries were taken out of the catalog before, so one lease does for all of them. */
static bool remove_documents(const removal_t *removal, const entries_t *entries, err_t *err) {
    bool any = remain_any(entries);
    while (any) {
        if (!look_at_all(removal, entries, true, &any, err))
            return false;
        if (!any && (!wait_a_lease(removal, err) || !look_at_all(removal, entries, false, &any, err)))
            return false;
        if (!any && !note_all(removal, entries, &any, err))
            return false;
    }
    return true;
}

/* Refuses to remove an input without its documents if there are any. */
static bool refuse_documents(const removing_t *removing, err_t *err) {
    const removal_t *removal = removing->removal;
    for (size_t i = 0; i < removing->count; i++) {
        const entry_t *entry = &removing->entries.entries[i];
        bool any = false;
        if (entry->removed || removing->documents[i])
            continue;
        if (!removal->look(removal->catalog->context, entry, &any, err))
            return false;
        if (!any)
            continue;
        return err_set(err, STATUS_USAGE, "documents of %s are in the collection: --delete removes them, too",
                       entry->path);
    }
    return true;
}

static bool bury_all(removing_t *removing, err_t *err) {
    catalog_header_t header;
    bool found, any = false;
    if (!store_read_numbers(removing->store, &header, &found, err))
        return false;
    for (size_t i = 0; i < removing->count; i++) {
        const entry_t *entry = &removing->entries.entries[i];
        const entry_change_t change = {
            .ordinal = entry->ordinal,
            .owner = removing->removal->catalog->self,
            .epoch = entry->removed ? 0 : entry->pieces[0].epoch,
            .owns_all = true,
            .removes = true,
            /* an input that took its ordinal before, and is registered late, is no heir */
            .heirs = (uint32_t)header.next_ordinal,
            .remains = removing->documents[i]};
        uint64_t changed;
        if (entry->removed)
            continue;
        any = true;
        if (!removing->store->change_entries(removing->store, &change, 1, &changed, err))
            return false;
    }
    if (any && !read_entries(removing, err))
        return false;
    for (size_t i = 0; i < removing->count; i++)
        if (!removing->entries.entries[i].removed)
            return refuse_lost(&removing->entries.entries[i], err);
    return true;
}

static int by_ordinal(const void *a, const void *b) {
    const uint32_t x = (*(const removed_t *)a).entry->ordinal, y = (*(const removed_t *)b).entry->ordinal;
    return (x > y) - (x < y);
}

/* Lists each input once, by ordinal. */
static bool list_all(removing_t *removing, const removed_t *inputs, size_t count, err_t *err) {
    removed_t *sorted = calloc(count + 1, sizeof *sorted);
    removing->ordinals = calloc(count + 1, sizeof *removing->ordinals);
    removing->documents = calloc(count + 1, sizeof *removing->documents);
    if (!sorted || !removing->ordinals || !removing->documents) {
        free(sorted);
        return err_memory(err, count * sizeof *sorted);
    }
    memcpy(sorted, inputs, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_ordinal);
    for (size_t i = 0; i < count; i++) {
        const uint32_t ordinal = sorted[i].entry->ordinal;
        if (!removing->count || removing->ordinals[removing->count - 1] != ordinal)
            removing->ordinals[removing->count++] = ordinal;
        removing->documents[removing->count - 1] |= sorted[i].documents;
    }
    free(sorted);
    return true;
}

bool catalog_remove(const removed_t *inputs, size_t count, const removal_t *removal, err_t *err) {
    removing_t removing = {.store = removal->catalog->store, .removal = removal};
    if (!count)
        return true;
    /* refused before anything is taken, and once more when no other load can add documents */
    bool ok = list_all(&removing, inputs, count, err) && read_entries(&removing, err) &&
              refuse_documents(&removing, err) && own_all(&removing, err) &&
              refuse_documents(&removing, err) && bury_all(&removing, err);
    if (ok && removal->begins)
        removal->begins(removal->catalog->context);
    ok = ok && remove_documents(removal, &removing.entries, err);
    entries_free(&removing.entries);
    free(removing.ordinals);
    free(removing.documents);
    return ok;
}

bool catalog_finish_removals(const removal_t *removal, err_t *err) {
    entries_t entries = {0};
    const bool ok = store_read_all(removal->catalog->store, NULL, 0, &entries, err) &&
                    remove_documents(removal, &entries, err);
    entries_free(&entries);
    return ok;
}
