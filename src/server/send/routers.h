/* routers: each router of a URI that names several, as a server of its own, so that a thread can stay with one router
 * and all routers get the same share of the work. Only the main thread opens and closes them; any thread may read. */
#ifndef TIPPLE_SERVER_SEND_ROUTERS_H
#define TIPPLE_SERVER_SEND_ROUTERS_H

#include "server/server.h"

enum { ROUTERS_MOST = 64 };

typedef struct {
    server_t *servers[ROUTERS_MOST];
    size_t count;
} routers_t;

/* None if the target has one host or is not a cluster. A router that does not answer is left out, with a message. */
void routers_open(server_t *server, uint32_t connections, routers_t *routers);
void routers_close(routers_t *routers);

#endif
