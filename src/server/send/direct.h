/* direct: sends straight to the primary of each shard, past the routers. A shard accepts whatever it is sent. So a
 * chunk that moves is protected by the version that goes with each message (route_version): a shard that has other
 * chunks refuses the whole message. Opened by the main thread, then read-only. */
#ifndef TIPPLE_SERVER_SEND_DIRECT_H
#define TIPPLE_SERVER_SEND_DIRECT_H

#include "server/chunks/route.h"

typedef struct direct direct_t;

/* Connects to every shard that has chunks, and proves that each refuses a wrong version. Status 1 if one does not, or
 * does not know the user; status 4 if one does not answer. */
direct_t *direct_open(server_t *server, mongoc_client_t *client, route_t *route, uint32_t connections,
                      err_t *err);
void direct_close(direct_t *direct); /* NULL is allowed */

/* The shard of this number in the route's maps. NULL for a shard that was added to the map later: go through the
 * router. */
server_t *direct_server(const direct_t *direct, size_t shard);

#endif
