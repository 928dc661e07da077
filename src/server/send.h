#ifndef TIPPLE_SERVER_SEND_H
#define TIPPLE_SERVER_SEND_H

#include "server/cluster.h"
#include "server/server.h"
#include "server/wire.h"

#include <mongoc/mongoc.h>

/* write_reply: what the driver gives back for a message, as plain data. */



typedef struct {
    /* the driver fills these */
    bson_t reply;
    bson_error_t error;
    /* a reply_t points into these until the next one is read */
    write_error_t *errors; /* free() them at the end */
    size_t error_room;
    char words[BSON_ERROR_BUFFER_SIZE];
} write_reply_t;

/* ok: what the driver has returned; count: documents of the message. False: memory. */
bool write_reply_read_insert(write_reply_t *read, bool ok, uint32_t count, reply_t *reply, err_t *err);
/* As a server gives it to an update command, without the driver's work on it. */
bool write_reply_read_update(write_reply_t *read, bool ok, reply_t *reply, err_t *err);

/* writer: the wire to real servers: sends messages, turns replies into plain data, and fetches documents by their
 * `_id`s. It decides nothing: others judge what a reply proves. A writer belongs to one thread. */


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

/* direct: sends straight to the primary of each shard, past the routers. A shard accepts whatever it is sent. So a
 * chunk that moves is protected by the version that goes with each message (route_version): a shard that has other
 * chunks refuses the whole message. Opened by the main thread, then read-only. */


typedef struct direct direct_t;

/* Connects to every shard that has chunks, and proves that each refuses a wrong version. Status 1 if one does not, or
 * does not know the user; status 4 if one does not answer. */
direct_t *direct_open(server_t *server, mongoc_client_t *client, route_t *route, uint32_t connections,
                      err_t *err);
void direct_close(direct_t *direct); /* NULL is allowed */

/* The shard of this number in the route's maps. NULL for a shard that was added to the map later: go through the
 * router. */
server_t *direct_server(const direct_t *direct, size_t shard);

/* routers: each router of a URI that names several, as a server of its own, so that a thread can stay with one router
 * and all routers get the same share of the work. Only the main thread opens and closes them; any thread may read. */


enum { ROUTERS_MOST = 64 };

typedef struct {
    server_t *servers[ROUTERS_MOST];
    size_t count;
} routers_t;

/* None if the target has one host or is not a cluster. A router that does not answer is left out, with a message. */
void routers_open(server_t *server, uint32_t connections, routers_t *routers);
void routers_close(routers_t *routers);

#endif
