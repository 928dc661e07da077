/* heartbeat: a load's sign of life, sent by a thread of its own, so that it continues whatever the load waits for. */
#ifndef TIPPLE_CATALOG_HEARTBEAT_H
#define TIPPLE_CATALOG_HEARTBEAT_H

#include "catalog/store/store.h"
#include "server/server.h"

typedef struct heartbeat heartbeat_t;

/* Beats five times in a lease. documents: tells how far the load is; the heartbeat's thread calls it. NULL: failed, see
 * err. */
heartbeat_t *heartbeat_start(server_t *server, const load_id_t *load, int64_t lease_ms,
                             uint64_t (*documents)(void *context), void *context, err_t *err);

/* How many beats were acknowledged. Any thread. */
uint64_t heartbeat_count(const heartbeat_t *heartbeat);

/* Ends the thread and frees the heartbeat. NULL is allowed. */
void heartbeat_stop(heartbeat_t *heartbeat);

#endif
