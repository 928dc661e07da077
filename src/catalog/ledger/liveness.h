/* liveness: which loads are dead. No clocks of two machines are compared. A load raises its beat as long as it lives.
 * It is dead when its beat did not change during a whole lease of our own clock, in which at least three of our own
 * beats were acknowledged (if they were not, we may be the one who hears nothing). A load that said that it ended, or
 * that is not in the catalog any more, is dead at once. Pure: times come from the caller. */
#ifndef TIPPLE_CATALOG_LEDGER_LIVENESS_H
#define TIPPLE_CATALOG_LEDGER_LIVENESS_H

#include "catalog/store/store.h"

enum { LIVENESS_OWN_BEATS = 3 };

typedef struct {
    load_seen_t load;   /* as last read */
    bool fresh;         /* its beat changed with the last update */
    int64_t since_ns;   /* when the first update began that read this beat again */
    uint64_t own_beats; /* how many of our beats were acknowledged until then */
    bool dead, listed;
    bool alive; /* with the last update its beat has changed, or it came after the first one */
} watched_t;

typedef struct {
    watched_t *watched;
    size_t count, room;
    int64_t lease_ns;
    bool updated; /* at least once */
} liveness_t;

/* Takes in what the catalog says now. now_ns, own_beats (how many of our beats were acknowledged): as they were before
 * the catalog was asked. Even if the reply took long, the lease of a new beat is counted only from the next update
 * on. */
bool liveness_update(liveness_t *liveness, const loads_t *loads, int64_t now_ns, uint64_t own_beats,
                     err_t *err);

/* As of the last update. A load that it did not list is dead. */
bool liveness_is_dead(const liveness_t *liveness, const load_id_t *load);
/* NULL: the load is not known. */
const load_seen_t *liveness_find(const liveness_t *liveness, const load_id_t *load);
/* NULL: it is not known that it is alive. */
const load_seen_t *liveness_alive(const liveness_t *liveness, const load_id_t *load);
void liveness_free(liveness_t *liveness);

#endif
