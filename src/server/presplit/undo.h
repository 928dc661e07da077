/* undo: restores what loads have changed in a cluster: the ranges of their zones, the shards' tags, balancing, also that a
 * person had turned it off before --drop. No step
 * depends on another. What cannot be restored is reported, each by itself. Main thread. */
#ifndef TIPPLE_SERVER_PRESPLIT_UNDO_H
#define TIPPLE_SERVER_PRESPLIT_UNDO_H

#include "server/presplit/balancer.h"

typedef enum { UNDO_RANGES, UNDO_TAGS, UNDO_BALANCING, UNDO_KEPT_OFF, UNDO_STEPS } undo_step_t;

typedef struct {
    struct {
        size_t gone, left;
        bool unknown; /* it could not be looked up */
        err_t why;    /* of what is left or unknown */
    } steps[UNDO_STEPS];
    bool hidden;           /* unknown because this user may not read the config database */
    balancer_found_t hold; /* how balancing was, and of which collection */
} undone_t;

/* What a load has changed itself: it knows that though somebody has removed what it noted of it. */
typedef struct {
    uint8_t uuid[16]; /* of this collection */
    size_t zones;
    bool balancing;
} undo_own_t;

/* own: NULL: nothing is known but what is noted. */
void undo(server_t *server, mongoc_client_t *client, const undo_own_t *own, undone_t *undone);

/* Warns of each that is not restored; the first warning ends with a hint. False: there was one, and err says why. */
bool undo_tell(const server_t *server, const undone_t *undone, const char *hint, err_t *err);

#endif
