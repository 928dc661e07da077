/* route: how the collection is spread over the shards behind a router: its shard key and its chunks, which are read
 * again from time to time. An old map only costs speed, since the router sends a document to the right shard whatever
 * batch it is in. A map is complete: all of its chunks existed side by side at one moment. This matters because
 * documents are also sent to shards directly (see direct.h). */
#ifndef TIPPLE_SERVER_CHUNKS_ROUTE_H
#define TIPPLE_SERVER_CHUNKS_ROUTE_H

#include "server/chunks/chunkmap.h"
#include "server/server.h"

typedef struct route route_t;

typedef enum {
    ROUTE_READ,      /* *route is set */
    ROUTE_UNSHARDED, /* the collection is on one shard */
    ROUTE_HIDDEN,    /* the user may not read the config database */
    ROUTE_UNCLEAR,   /* we cannot order the bounds of its chunks; err says so */
    ROUTE_FAILED,    /* err says why */
} route_read_t;

/* Main thread; needs a router. */
route_read_t route_open(server_t *server, mongoc_client_t *client, route_t **route, err_t *err);
void route_close(route_t *route); /* NULL is allowed */

const shardkey_t *route_key(const route_t *route);

/* The current map; any thread. Shards keep their numbers from map to map; new shards get higher numbers. The caller
 * gives the map back by chunkmap_free. */
chunkmap_t *route_map(route_t *route);

/* Asks whether the chunks have changed, and if so reads them again. Main thread. False: it failed (err); the old map
 * stays. */
bool route_refresh(route_t *route, mongoc_client_t *client, err_t *err);

/* {shardVersion: {e, t, v}}: with it a shard refuses (StaleConfig) documents that were sorted by a map in which the
 * shard had other chunks. The shard must be in the map; `version` must be initialised. */
void route_version(const route_t *route, const chunkmap_t *map, size_t shard, bson_t *version);

#endif
