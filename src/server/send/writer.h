/* writer: the wire to real servers: sends messages, turns replies into plain data, and fetches documents by
 * their
 * `_id`s. It decides nothing: what a reply proves is for others to say. A writer belongs to one thread. */
#ifndef TIPPLE_SERVER_SEND_WRITER_H
#define TIPPLE_SERVER_SEND_WRITER_H

#include "server/server.h"
#include "server/send/wire.h"

typedef struct writer writer_t;

/* near: one router of several, which is tried first; NULL: the driver chooses. */
writer_t *writer_new(server_t *server, server_t *near, err_t *err);
void writer_destroy(writer_t *writer);

/* The collection's UUID goes with each insert from now on, so that none can land in another collection of its
 * name: from 6.0 on, before that servers do not know it. */
void writer_set_uuid(writer_t *writer, const uint8_t uuid[16]);

/* Straight to a shard, with the version of the chunks by which the documents were sorted. */
typedef struct {
    server_t *server; /* NULL: through the router */
    const bson_t *version;
} straight_t;

/* Around each batch. Where a router or a shard fails, the batch goes on through whichever router the driver
 * chooses. *stale: the shard has other chunks than its version said, so the router had to sort. */
bool writer_begin_batch(writer_t *writer, straight_t straight, err_t *err);
void writer_end_batch(writer_t *writer, bool *stale);

/* One message is one insert command, unordered and not validated by the driver. Fetches go through the
 * router. It belongs to the writer. */
const wire_t *writer_wire(const writer_t *writer);

/* The thread's connection, for other commands in between. */
mongoc_client_t *writer_client(const writer_t *writer);

#endif
