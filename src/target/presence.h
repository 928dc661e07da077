/* presence: the loads of a collection, one document each in NAME.tipple.loads, and which of them are alive. A
 * load gives a sign of life every few seconds, dated by the server: the clocks of the hosts that load need
 * not agree. */
#ifndef TIPPLE_TARGET_PRESENCE_H
#define TIPPLE_TARGET_PRESENCE_H

#include "target/server.h"

typedef struct presence presence_t;

/* From here to presence_close this load is alive. fields: its settings, kept as they are. */
presence_t *presence_open(server_t *server, mongoc_client_t *client, const bson_t *fields, err_t *err);

/* Its name in the books; the server and client it works with. */
const bson_oid_t *presence_id(const presence_t *presence);
server_t *presence_server(const presence_t *presence);
mongoc_client_t *presence_client(const presence_t *presence);

/* A sign of life, when one is due, with how many documents it has come to. Main thread, like all here. */
bool presence_beat(presence_t *presence, uint64_t documents, err_t *err);

/* The end, with how it ended. Frees it, also when the end could not be written. NULL is allowed. */
bool presence_close(presence_t *presence, const bson_t *fields, err_t *err);

/* The loads of the collection that are alive; *alive is to be freed. */
typedef struct {
    bson_oid_t id;
    char host[64];
    int64_t process, started_ms, documents; /* documents: as of its last sign of life */
} alive_t;
bool presence_list(server_t *server, mongoc_client_t *client, alive_t **alive, size_t *count, err_t *err);

/* How many loads of the collection are alive: neither ended, nor silent for longer than a lease, nor a
 * process of this host that is gone. */
bool presence_count(server_t *server, mongoc_client_t *client, size_t *alive, err_t *err);

#endif
