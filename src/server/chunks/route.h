/* route: how the collection is spread over the shards behind a router: its shard key and its chunks, read
 * again now and then. A map that is out of date costs nothing but speed: the router sends a document to the
 * right shard whatever batch it came in. A map is whole: all of its chunks stood side by side at one moment,
 * because shards are also written to past the router (see direct.h). */
#ifndef TIPPLE_SERVER_CHUNKS_ROUTE_H
#define TIPPLE_SERVER_CHUNKS_ROUTE_H

#include "server/chunks/chunkmap.h"
#include "server/server.h"

typedef struct route route_t;

typedef enum {
    ROUTE_READ,      /* *route is set */
    ROUTE_UNSHARDED, /* the collection lives on one shard */
    ROUTE_HIDDEN,    /* the user may not read the config database */
    ROUTE_UNCLEAR,   /* its chunks have bounds that we cannot put in order; err says so */
    ROUTE_FAILED,    /* err says why */
} route_read_t;

/* Main thread; needs a router. */
route_read_t route_open(server_t *server, mongoc_client_t *client, route_t **route, err_t *err);
void route_close(route_t *route); /* NULL is allowed */

const shardkey_t *route_key(const route_t *route);

/* The present map; any thread. Shards keep their numbers from map to map, and new ones come behind them.
 * Given back by chunkmap_free. */
chunkmap_t *route_map(route_t *route);

/* Asks whether the chunks have changed, and reads them again if so. Main thread. False: it could not be done
 * (err); the old map stays. */
bool route_refresh(route_t *route, mongoc_client_t *client, err_t *err);

/* {shardVersion: {e, t, v}}: by this a shard refuses (StaleConfig) what was sorted by a map in which its
 * chunks were others. Of a shard that is in the map; `version` must be initialised. */
void route_version(const route_t *route, const chunkmap_t *map, size_t shard, bson_t *version);

#endif
