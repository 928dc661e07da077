/* Commands that need a collection for themselves: waiting until other loads have ended or are dead, working alone
 * (--existing replace), and dropping. */
#include "catalog/catalog.h"
#include "format/record/record_id.h"

/* ---- other loads ---- */

bool catalog_look_at_others(const catalog_t *catalog, liveness_t *liveness, err_t *err) {
    store_t *store = catalog->store;
    loads_t loads = {0};
    /* taken before the catalog is asked, because a process that is suspended while it answers has seen nothing
     * meanwhile */
    const int64_t now_ns = catalog_now(catalog);
    const uint64_t own_beats = atomic_load(catalog->own_beats);
    const bool ok =
        store->read_loads(store, &loads, err) && liveness_update(liveness, &loads, now_ns, own_beats, err);
    loads_free(&loads);
    return ok;
}

static bool concerns(const catalog_t *catalog, const load_id_t *only, const load_id_t *load) {
    return only ? load_id_equal(load, only) : !load_id_equal(load, &catalog->self);
}

/* Reads the loads once. *waiting: one of them is not known to be dead. */
static bool check_others(const catalog_t *catalog, const load_id_t *only, bool patient, const char *why,
                         liveness_t *liveness, bool *waiting, err_t *err) {
    *waiting = false;
    if (!catalog_look_at_others(catalog, liveness, err))
        return false;
    for (size_t i = 0; i < liveness->count; i++) {
        const load_seen_t *load = &liveness->watched[i].load;
        if (!concerns(catalog, only, &load->id) || liveness_is_dead(liveness, &load->id))
            continue;
        if (liveness_alive(liveness, &load->id) && (load->documents || !patient))
            return err_set(err, STATUS_USAGE,
                           "%s is being loaded (process %lld on %s): %s. Stop it "
                           "first, or wait until it has ended",
                           catalog->name, (long long)load->process, load->host, why);
        *waiting = true;
    }
    return true;
}

/* Waits until each other load (or only this one) has ended or is known to be dead. Refused while one is alive, except
 * that a load that has loaded nothing is given patience_ns to end. why: a part of the sentence. */
static bool wait_for_others(const catalog_t *catalog, const load_id_t *only, int64_t patience_ns,
                            const char *why, err_t *err) {
    liveness_t liveness = {.lease_ns = catalog->lease_ns};
    const int64_t until_ns = catalog_now(catalog) + patience_ns;
    bool ok = true, waiting = true;
    while (ok && waiting)
        ok = check_others(catalog, only, catalog_now(catalog) < until_ns, why, &liveness, &waiting, err) &&
             (!waiting || catalog->wait(catalog->context, err));
    liveness_free(&liveness);
    return ok;
}

/* ---- working alone ---- */

static const char why_alone[] = "where documents are replaced, one load at a time works on the collection";

bool catalog_begin_alone(const catalog_t *catalog, bool replaces, bool *inherited, err_t *err) {
    store_t *store = catalog->store;
    header_change_t change = {.kind = HEADER_BEGIN_REPLACING, .by = catalog->self};
    load_id_t before = {{0}};
    bool changed;
    *inherited = false;
    for (;;) {
        catalog_header_t header;
        bool found;
        if (!store_read_numbers(store, &header, &found, err))
            return false;
        if (!found)
            return catalog_refuse_removed(catalog->name, err);
        change.replacing = header.replacing;
        if (load_id_equal(&change.replacing, &catalog->self))
            break;
        const bool is_other = !load_id_is_nobody(&change.replacing);
        if (is_other && !wait_for_others(catalog, &change.replacing, 0, why_alone, err))
            return false;
        if (!replaces)
            return true;
        before = is_other ? change.replacing : before;
        if (!store->change_header(store, &change, &changed, err))
            return false;
    }
    *inherited = !load_id_is_nobody(&before);
    /* a load that begins at the same time finds this one in the header and is refused: give it time to end */
    if (wait_for_others(catalog, NULL, catalog->lease_ns, why_alone, err))
        return true;
    const header_change_t back = {.kind = HEADER_BEGIN_REPLACING, .replacing = catalog->self, .by = before};
    err_t ignored;
    store->change_header(store, &back, &changed, &ignored);
    return false;
}

bool catalog_end_alone(const catalog_t *catalog, err_t *err) {
    const header_change_t end = {.kind = HEADER_END_REPLACING, .by = catalog->self};
    bool changed;
    return catalog->store->change_header(catalog->store, &end, &changed, err);
}

/* ---- dropping ---- */

static bool wait_for_loads(const catalog_t *catalog, err_t *err) {
    return wait_for_others(catalog, NULL, 0, "--drop would destroy its work", err);
}

/* There are entries without a header, which was removed by hand: new numbers begin after theirs, so that the end of the
 * drop removes these entries. */
static bool number_after_entries(store_t *store, catalog_header_t *fresh, err_t *err) {
    entries_t entries = {0};
    const bool ok = store_read_all(store, NULL, 0, &entries, err);
    for (size_t i = 0; i < entries.count; i++) {
        const entry_t *entry = &entries.entries[i];
        if (entry->ordinal >= fresh->next_ordinal)
            fresh->next_ordinal = (uint64_t)entry->ordinal + 1;
        for (size_t j = 0; j < entry->extent_count; j++) {
            const uint64_t end = entry->extents[j].base + entry->extents[j].length,
                           units = (end + RECORD_ID_EXTENT_UNIT - 1) / RECORD_ID_EXTENT_UNIT;
            fresh->next_extent = units > fresh->next_extent ? units : fresh->next_extent;
        }
        for (size_t j = 0; j < entry->piece_count; j++)
            if (entry->pieces[j].generation > fresh->generation)
                fresh->generation = entry->pieces[j].generation;
    }
    entries_free(&entries);
    return ok;
}

/* In a header of another layout no change of ours would ever be made. Refused before anything is dropped. */
static bool refuse_odd(const char *name, int32_t layout, err_t *err) {
    const char *collection = catalog_collection_of(name);
    return err_set(err, STATUS_USAGE,
                   "the catalog of %s was written by another version of tipple, in another layout (%d; this "
                   "one reads %d) that this one cannot change: use that version, or drop the collections %s, "
                   "%s.tipple.files and %s.tipple.loads by hand",
                   name, layout, STORE_LAYOUT, collection, collection, collection);
}

/* Writes down the intent to drop. A load that begins later sees it; a load that began earlier is seen by us. The intent
 * of another load is replaced only if that load is dead (*replaced). */
static bool begin_drop(const catalog_t *catalog, uint32_t *generation, uint64_t *drops, bool *replaced,
                       err_t *err) {
    store_t *store = catalog->store;
    *replaced = false;
    for (bool begun = false; !begun;) {
        catalog_header_t header;
        bool found;
        if (!store_read_numbers(store, &header, &found, err))
            return false;
        /* believes the number of drops, so that a late change does not begin a drop that has ended */
        header_change_t change = {.kind = HEADER_BEGIN_DROP,
                                  .dropping = header.dropping,
                                  .drops = header.drops,
                                  .by = catalog->self};
        const bool ours = load_id_equal(&header.dropping, &catalog->self),
                   is_other = !ours && !load_id_is_nobody(&header.dropping);
        *generation = header.generation;
        *drops = header.drops;
        if (found && header.odd)
            return refuse_odd(catalog->name, header.layout, err);
        if (!found) {
            catalog_header_t fresh = {
                .layout = STORE_LAYOUT, .lane_rule = RECORD_ID_LANE_RULE, .generation = 1};
            if ((header.has_entries && !number_after_entries(store, &fresh, err)) ||
                !store->make_header(store, &fresh, err))
                return false;
            continue;
        }
        if (is_other && !wait_for_loads(catalog, err))
            return false;
        if (!ours && !store->change_header(store, &change, &begun, err))
            return false;
        *replaced |= begun && is_other;
        begun = ours;
    }
    return true;
}

static bool refuse_dropped(const char *name, err_t *err) {
    return err_set(err, STATUS_USAGE, "another load with --drop is dropping %s: wait for it", name);
}

/* False if another load has taken over the drop. Called after the UUID was read: what that load makes later has another
 * UUID. */
static bool still_ours(const catalog_t *catalog, err_t *err) {
    catalog_header_t header;
    bool found;
    if (!store_read_numbers(catalog->store, &header, &found, err))
        return false;
    const bool ours = found && load_id_equal(&header.dropping, &catalog->self);
    return ours || refuse_dropped(catalog->name, err);
}

/* Drops until there is no collection. One that has another UUID meanwhile was not dropped. *any: something was
 * dropped. */
static bool drop_data(const catalog_t *catalog, catalog_drop_fn *drop, bool *any, err_t *err) {
    store_t *store = catalog->store;
    for (;; *any = true) {
        uint8_t uuid[STORE_UUID];
        if (!store->collection(store, uuid, err) || !still_ours(catalog, err))
            return false;
        if (store_is_no_uuid(uuid))
            return true;
        if (!drop(catalog->context, uuid, err))
            return false;
    }
}

/* All entries with numbers that were taken until now belong to what was dropped: those that are there are removed, and
 * those that a load adds later, after it slept through the drop, are not read. */
static bool end_drop(const catalog_t *catalog, uint32_t generation, err_t *err) {
    store_t *store = catalog->store;
    for (;;) {
        catalog_header_t header;
        bool found, changed;
        if (!store_read_numbers(store, &header, &found, err))
            return false;
        const bool ours = found && load_id_equal(&header.dropping, &catalog->self),
                   ended = found && load_id_is_nobody(&header.dropping);
        const header_change_t end = {.kind = HEADER_END_DROP,
                                     .by = catalog->self,
                                     .next_ordinal = header.next_ordinal,
                                     .generation = generation + 1};
        if (ended)
            return true;
        if (!ours)
            return refuse_dropped(catalog->name, err);
        if (!store->remove_entries(store, end.next_ordinal, err) ||
            !store->change_header(store, &end, &changed, err))
            return false;
    }
}

/* Takes back the intent: nothing was dropped, and loads go on as before, with the columns that are noted, if any. */
static void withdraw(const catalog_t *catalog, uint64_t drops, bool replaced) {
    header_change_t cancel = {.kind = HEADER_CANCEL_DROP, .by = catalog->self, .drops = drops};
    bool changed = replaced; /* the drop of that dead load may still arrive, so no load may begin yet */
    err_t ignored;
    if (!changed && catalog->store->change_header(catalog->store, &cancel, &changed, &ignored) && !changed) {
        cancel.drops = 0;
        catalog->store->change_header(catalog->store, &cancel, &changed, &ignored);
    }
}

bool catalog_drop(const catalog_t *catalog, catalog_drop_fn *drop, err_t *err) {
    uint32_t generation;
    uint64_t drops;
    bool replaced, any = false;
    if (!begin_drop(catalog, &generation, &drops, &replaced, err))
        return false;
    if (!wait_for_loads(catalog, err)) {
        withdraw(catalog, drops, replaced);
        return false;
    }
    if (!drop_data(catalog, drop, &any, err)) {
        if (!any && err->status == STATUS_USAGE) /* the server has refused it: this user may not */
            withdraw(catalog, drops, replaced);
        return false;
    }
    return end_drop(catalog, generation, err);
}
