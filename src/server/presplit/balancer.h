/* balancer: while a collection is loaded its chunks stay where they are: the balancing of this one collection is
 * off. That a load turns it off is written in the catalog before it does, and that it has done so behind it; so
 * the last load, or a later one after a kill, turns it on again. Where a person had turned it off, it stays off.
 * The balancer of the cluster is never touched. Main thread. */
#ifndef TIPPLE_SERVER_PRESPLIT_BALANCER_H
#define TIPPLE_SERVER_PRESPLIT_BALANCER_H

#include "server/server.h"

/* What the catalog says. */
typedef enum {
    BALANCER_NO_NOTE,
    BALANCER_BEGUN, /* a load was about to turn it off */
    BALANCER_DONE,
} balancer_note_t;

/* How balancing is, and by whom. */
typedef enum {
    BALANCER_ON,
    BALANCER_OURS,     /* off, by a load */
    BALANCER_PERSONS,  /* off, by a person */
    BALANCER_IN_DOUBT, /* off, by a load that was killed right then, or by a person since: it stays off */
} balancer_t;
balancer_t balancer_judge(bool off, balancer_note_t note); /* pure */

/* After the catalog is open. */
bool balancer_take(server_t *server, mongoc_client_t *client, err_t *err);

bool balancer_look(server_t *server, mongoc_client_t *client, balancer_t *hold, err_t *err);

/* As it was before the loads. *found: how it was until now. */
bool balancer_release(server_t *server, mongoc_client_t *client, balancer_t *found, err_t *err);

/* As a person had it before the collection was dropped. */
bool balancer_turn_off(server_t *server, mongoc_client_t *client, err_t *err);

#endif
