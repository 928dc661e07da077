#include "catalog/catalog_alone.h"

static bool concerns(const catalog_drop_t *drop, const load_id_t *only, const load_id_t *load) {
    return only ? load_id_equal(load, only) : !load_id_equal(load, &drop->self);
}

bool catalog_wait_for_loads(store_t *store, const char *name, const catalog_drop_t *drop,
                            const load_id_t *only, int64_t patience_ns, const char *why, err_t *err) {
    liveness_t liveness = {.lease_ns = drop->lease_ns};
    const int64_t began_ns = drop->now(drop->context);
    bool ok = true, waiting = true, first = true;
    while (ok && waiting) {
        loads_t loads = {0};
        const int64_t now_ns = drop->now(drop->context); /* taken before the catalog is asked */
        const uint64_t own_beats = drop->own_beats(drop->context);
        waiting = false;
        ok = store->read_loads(store, &loads, err);
        for (size_t i = 0; ok && i < loads.count; i++) {
            const load_seen_t *load = &loads.loads[i], *before = liveness_find(&liveness, &load->id);
            if (load->ended || !concerns(drop, only, &load->id))
                continue;
            if (!first && (!before || before->beat != load->beat) &&
                (load->documents || now_ns - began_ns >= patience_ns))
                ok = err_set(err, STATUS_USAGE,
                             "%s is being loaded (process %lld on %s): %s. Stop it "
                             "first, or wait until it has ended",
                             name, (long long)load->process, load->host, why);
        }
        ok = ok && liveness_update(&liveness, &loads, now_ns, own_beats, err);
        for (size_t i = 0; ok && i < loads.count; i++)
            waiting |=
                concerns(drop, only, &loads.loads[i].id) && !liveness_is_dead(&liveness, &loads.loads[i].id);
        loads_free(&loads);
        first = false;
        ok = ok && (!waiting || drop->wait(drop->context, err));
    }
    liveness_free(&liveness);
    return ok;
}

/* ---- --existing replace ---- */

static const char why_alone[] = "where documents are replaced, one load at a time works on the collection";

static bool read_replacing(store_t *store, const char *name, load_id_t *replacing, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    if (!store->read_header(store, &header, &found, err))
        return false;
    *replacing = header.replacing;
    catalog_header_free(&header);
    return found ||
           err_set(err, STATUS_SERVER,
                   "somebody removed the catalog of %s while it was loaded: start over with --drop", name);
}

bool catalog_begin_alone(store_t *store, const char *name, const catalog_drop_t *loads, bool replaces,
                         bool *inherited, err_t *err) {
    header_change_t change = {.kind = HEADER_BEGIN_REPLACING, .by = loads->self};
    load_id_t before = {{0}};
    bool changed;
    *inherited = false;
    for (;;) {
        if (!read_replacing(store, name, &change.replacing, err))
            return false;
        if (load_id_equal(&change.replacing, &loads->self))
            break;
        const bool others = !load_id_is_nobody(&change.replacing);
        if (others && !catalog_wait_for_loads(store, name, loads, &change.replacing, 0, why_alone, err))
            return false;
        if (!replaces)
            return true;
        before = others ? change.replacing : before;
        if (!store->change_header(store, &change, &changed, err))
            return false;
    }
    *inherited = !load_id_is_nobody(&before);
    /* who begins at the same time finds this load in the header, and is refused: it gets the time to end */
    if (catalog_wait_for_loads(store, name, loads, NULL, loads->lease_ns, why_alone, err))
        return true;
    const header_change_t back = {.kind = HEADER_BEGIN_REPLACING, .replacing = loads->self, .by = before};
    err_t ignored;
    store->change_header(store, &back, &changed, &ignored);
    return false;
}

bool catalog_end_alone(store_t *store, const load_id_t *self, err_t *err) {
    const header_change_t end = {.kind = HEADER_END_REPLACING, .by = *self};
    bool changed;
    return store->change_header(store, &end, &changed, err);
}
