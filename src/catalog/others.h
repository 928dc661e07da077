/* others: the other loads of a collection, as a command sees them that is one of them itself: how it tells whether they are
 * alive, and how it waits for them. One thread at a time. */
#ifndef TIPPLE_CATALOG_OTHERS_H
#define TIPPLE_CATALOG_OTHERS_H

#include "catalog/ledger/liveness.h"
#include "catalog/store/store.h"

typedef struct {
    load_id_t self; /* a load that is alive: it has enrolled, and its heartbeat goes on */
    int64_t lease_ns;
    void *context;
    int64_t (*now)(void *context);
    uint64_t (*own_beats)(void *context); /* how many of our beats were acknowledged */
    /* Lets a moment pass. False: stop (err is set). */
    bool (*wait)(void *context, err_t *err);
    /* Called with a load that the command waits for; with NULL where it is not known which one. NULL: not told. */
    void (*waits_for)(void *context, const load_seen_t *load);
} others_t;

/* Reads the loads, and judges them by what was read before. */
bool others_look(store_t *store, const others_t *others, liveness_t *liveness, err_t *err);

/* Waits until each other load (or only this one) has ended or is known to be dead. Refused while one is alive, but not
 * within patience_ns because of one that has loaded nothing. why: a part of the sentence. */
bool others_wait(store_t *store, const char *name, const others_t *others, const load_id_t *only,
                 int64_t patience_ns, const char *why, err_t *err);

#endif
