/* writer: the wire to real servers: sends messages, turns replies into plain data, and fetches documents by their
 * `_id`s. It decides nothing: others judge what a reply proves. A writer belongs to one thread. */
#ifndef TIPPLE_SERVER_SEND_WRITER_H
#define TIPPLE_SERVER_SEND_WRITER_H

#include "server/send/wire.h"
#include "server/server.h"

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

#endif
