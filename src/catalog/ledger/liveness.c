#include "catalog/ledger/liveness.h"
#include "base/text.h"

#include <stdlib.h>

static watched_t *find(const liveness_t *liveness, const load_id_t *load) {
    for (size_t i = 0; i < liveness->count; i++)
        if (load_id_equal(&liveness->watched[i].load.id, load))
            return &liveness->watched[i];
    return NULL;
}

static watched_t *add(liveness_t *liveness, const load_seen_t *load, err_t *err) {
    if (!GROW(liveness->watched, liveness->room, liveness->count + 1, err))
        return NULL;
    watched_t *watched = &liveness->watched[liveness->count++];
    *watched = (watched_t){.load = *load};
    return watched;
}

bool liveness_update(liveness_t *liveness, const loads_t *loads, int64_t now_ns, uint64_t own_beats,
                     err_t *err) {
    for (size_t i = 0; i < liveness->count; i++)
        liveness->watched[i].listed = liveness->watched[i].alive = false;
    for (size_t i = 0; i < loads->count; i++) {
        const load_seen_t *load = &loads->loads[i];
        watched_t *watched = find(liveness, &load->id);
        const bool is_new = !watched;
        if (is_new && !(watched = add(liveness, load, err)))
            return false;
        const bool changed = is_new || watched->load.beat != load->beat;
        if (changed || watched->fresh) {
            watched->since_ns = now_ns;
            watched->own_beats = own_beats;
        }
        watched->fresh = changed;
        watched->load = *load;
        watched->listed = true;
        watched->alive = changed && liveness->updated && !load->ended;
        watched->dead = load->ended || (!changed && now_ns - watched->since_ns >= liveness->lease_ns &&
                                        own_beats - watched->own_beats >= LIVENESS_OWN_BEATS);
    }
    liveness->updated = true;
    return true;
}

bool liveness_is_dead(const liveness_t *liveness, const load_id_t *load) {
    const watched_t *watched = find(liveness, load);
    return !watched || !watched->listed || watched->dead;
}

const load_seen_t *liveness_find(const liveness_t *liveness, const load_id_t *load) {
    const watched_t *watched = find(liveness, load);
    return watched && watched->listed ? &watched->load : NULL;
}

const load_seen_t *liveness_alive(const liveness_t *liveness, const load_id_t *load) {
    const watched_t *watched = find(liveness, load);
    return watched && watched->alive ? &watched->load : NULL;
}

void liveness_free(liveness_t *liveness) {
    free(liveness->watched);
    *liveness = (liveness_t){.lease_ns = liveness->lease_ns};
}
