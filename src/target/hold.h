/* hold: while a collection is loaded its chunks stay where they are: the balancing of this one collection is
 * off. That a load turned it off is written in the catalog, so that the last load, or a later one after a kill,
 * turns it on again; where a person had turned it off, it stays off. The balancer of the cluster is never
 * touched. Main thread. */
#ifndef TIPPLE_TARGET_HOLD_H
#define TIPPLE_TARGET_HOLD_H

#include "target/server.h"

/* After the catalog is open. */
bool hold_take(server_t *server, mongoc_client_t *client, err_t *err);

/* As it was; only if it still is as a load has set it. *changed: there was something. */
bool hold_release(server_t *server, mongoc_client_t *client, bool *changed, err_t *err);

#endif
