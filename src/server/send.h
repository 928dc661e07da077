/* send: the ways to the server for batches of documents.
 *
 * What a batch is, and what a reply says, is plain data (wire.h); others judge what a reply proves. A writer is the wire of
 * one thread to real servers. Its messages go through any router, through one of several that the thread stays with (`near`,
 * one of routers_t), or straight to the shard that owns all documents of the batch (direct_t). If a near router or a shard
 * fails, the batch continues through any router. */
#ifndef TIPPLE_SERVER_SEND_H
#define TIPPLE_SERVER_SEND_H

#include "server/cluster.h"
#include "server/server.h"
#include "server/wire.h"

#include <mongoc/mongoc.h>

/* ---- writer: belongs to one thread ---- */

typedef struct writer writer_t;

/* near: one of several routers, tried first; NULL: the driver chooses. */
writer_t *writer_new(server_t *server, server_t *near, err_t *err);
void writer_destroy(writer_t *writer);

/* From now on each insert carries the collection's UUID, so that it cannot reach another collection of the same name.
 * Only from 6.0 on: older servers do not know it. */
void writer_set_uuid(writer_t *writer, const uint8_t uuid[16]);

/* To send straight to a shard, with the version of the chunks by which the documents were sorted. */
typedef struct {
    server_t *server; /* NULL: through the router */
    const bson_t *version;
} straight_t;

/* Call them around each batch. If a router or a shard fails, the batch continues through any router that the driver
 * chooses. *stale: the shard has other chunks than the version says, so the router had to sort the documents. */
bool writer_begin_batch(writer_t *writer, straight_t straight, err_t *err);
void writer_end_batch(writer_t *writer, bool *stale);

/* One message is one insert command, unordered, and not validated by the driver. Fetches go through the router. The
 * wire belongs to the writer. */
const wire_t *writer_wire(const writer_t *writer);

/* The thread's connection, for other commands between messages. */
mongoc_client_t *writer_client(const writer_t *writer);

/* ---- direct: opened by the main thread, then read-only ---- */

/* Sends straight to the primary of each shard, past the routers. A shard accepts whatever it is sent. So a chunk that moves
 * is protected by the version that goes with each message (route_version): a shard that has other chunks refuses the whole
 * message. */

typedef struct direct direct_t;

/* Connects to every shard that has chunks, and proves that each refuses a wrong version. Status 1 if one does not, or
 * does not know the user; status 4 if one does not answer. */
direct_t *direct_open(server_t *server, mongoc_client_t *client, route_t *route, uint32_t connections,
                      err_t *err);
void direct_close(direct_t *direct); /* NULL is allowed */

/* The shard of this number in the route's maps. NULL for a shard that was added to the map later: go through the
 * router. */
server_t *direct_server(const direct_t *direct, size_t shard);

/* ---- routers: opened and closed by the main thread; any thread may read ---- */

/* Each router of a URI that names several, as a server of its own, so that a thread can stay with one router and all routers get
 * the same share of the work. */

enum { ROUTERS_MOST = 64 };

typedef struct {
    server_t *servers[ROUTERS_MOST];
    size_t count;
} routers_t;

/* None if the target is not a cluster, or fewer than two routers are named and answer. A router that does not answer is left
 * out, with a message. */
void routers_open(server_t *server, uint32_t connections, routers_t *routers);
void routers_close(routers_t *routers);

#endif
