#include "catalog/others.h"

bool others_look(store_t *store, const others_t *others, liveness_t *liveness, err_t *err) {
    loads_t loads = {0};
    /* taken before the catalog is asked: a process that is suspended while it answers has seen nothing meanwhile */
    const int64_t now_ns = others->now(others->context);
    const uint64_t own_beats = others->own_beats(others->context);
    const bool ok =
        store->read_loads(store, &loads, err) && liveness_update(liveness, &loads, now_ns, own_beats, err);
    loads_free(&loads);
    return ok;
}

static bool concerns(const others_t *others, const load_id_t *only, const load_id_t *load) {
    return only ? load_id_equal(load, only) : !load_id_equal(load, &others->self);
}

/* Looks once. *waiting: one of them is not known to be dead. */
static bool look(store_t *store, const char *name, const others_t *others, const load_id_t *only,
                 bool patient, const char *why, liveness_t *liveness, bool *waiting, err_t *err) {
    *waiting = false;
    if (!others_look(store, others, liveness, err))
        return false;
    for (size_t i = 0; i < liveness->count; i++) {
        const load_seen_t *load = &liveness->watched[i].load;
        if (!concerns(others, only, &load->id) || liveness_is_dead(liveness, &load->id))
            continue;
        if (liveness_alive(liveness, &load->id) && (load->documents || !patient))
            return err_set(err, STATUS_USAGE,
                           "%s is being loaded (process %lld on %s): %s. Stop it "
                           "first, or wait until it has ended",
                           name, (long long)load->process, load->host, why);
        *waiting = true;
    }
    return true;
}

bool others_wait(store_t *store, const char *name, const others_t *others, const load_id_t *only,
                 int64_t patience_ns, const char *why, err_t *err) {
    liveness_t liveness = {.lease_ns = others->lease_ns};
    const int64_t until_ns = others->now(others->context) + patience_ns;
    bool ok = true, waiting = true;
    while (ok && waiting)
        ok = look(store, name, others, only, others->now(others->context) < until_ns, why, &liveness,
                  &waiting, err) &&
             (!waiting || others->wait(others->context, err));
    liveness_free(&liveness);
    return ok;
}
