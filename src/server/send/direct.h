/* direct: past the routers, straight to the primary of each shard. A shard takes whatever it is sent, so what
 * protects a chunk that moves is the version that goes with each message (route_version): a shard whose
 * chunks are others refuses all of it. Opened by the main thread, then read-only. */
#ifndef TIPPLE_SERVER_SEND_DIRECT_H
#define TIPPLE_SERVER_SEND_DIRECT_H

#include "server/chunks/route.h"

typedef struct direct direct_t;

/* Connects to every shard that has chunks, and proves of each that it refuses a version that is not its own.
 * Status 1 where one does not, or does not know the user; status 4 where one does not answer. */
direct_t *direct_open(server_t *server, mongoc_client_t *client, route_t *route, uint32_t connections,
                      err_t *err);
void direct_close(direct_t *direct); /* NULL is allowed */

/* The shard of this number in the route's maps; NULL for one that came into the map later: the router knows
 * it. */
server_t *direct_server(const direct_t *direct, size_t shard);

#endif
