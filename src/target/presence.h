/* presence: the loads of a collection, one document each in NAME.tipple.loads, and which of them are alive. A
 * load gives a sign of life every few seconds, dated by the server: the clocks of the hosts that load need
 * not agree. */
#ifndef TIPPLE_TARGET_PRESENCE_H
#define TIPPLE_TARGET_PRESENCE_H

#include "target/server.h"

typedef struct presence presence_t;

/* From here to presence_close this load is alive. fields: its settings, kept as they are. */
presence_t *presence_open(server_t *server, mongoc_client_t *client, const bson_t *fields, err_t *err);

/* A sign of life, when one is due. Main thread, like all here. */
bool presence_beat(presence_t *presence, err_t *err);

/* The end, with how it ended. Frees it, also when the end could not be written. NULL is allowed. */
bool presence_close(presence_t *presence, const bson_t *fields, err_t *err);

/* How many loads of the collection are alive: neither ended, nor silent for longer than a lease, nor a
 * process of this host that is gone. */
bool presence_count(server_t *server, mongoc_client_t *client, size_t *alive, err_t *err);

#endif
