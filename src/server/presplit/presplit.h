/* presplit: spreads an empty collection over the shards of a cluster, before the first byte. Zones named after the load
 * are set first. So when the collection is sharded, each shard's one chunk is made in its place, and no chunk moves.
 * Main thread only. */
#ifndef TIPPLE_SERVER_PRESPLIT_PRESPLIT_H
#define TIPPLE_SERVER_PRESPLIT_PRESPLIT_H

#include "server/chunks/shardkey.h"
#include "server/server.h"

typedef struct {
    char **names;
    size_t count;
} shard_names_t;

/* The cluster's shards that are not being drained, by name; none if all are being drained. It needs the right to list
 * shards, or to read the config database. */
bool presplit_shards(server_t *server, mongoc_client_t *client, shard_names_t *shards, err_t *err);
void presplit_free_shards(shard_names_t *shards);
bool presplit_may_use(const bson_t *shard); /* `shard`: an item of listShards; pure */

/* Lower bounds of all but the first of `shards` ranges: ranges of the lanes for a key that starts with the `_id`, of
 * all hashes for a key that starts with a hashed field. False: the key's values must be known first (see
 * presplit_sample). */
bool presplit_bounds(const shardkey_t *key, size_t shards, bson_t **bounds);

/* The same from keys that were seen: `bounds` are even quantiles of them. If there are few keys, there are fewer
 * bounds; *count says how many. keys must be sorted. False: out of memory. */
bool presplit_sample(bson_t **keys, size_t key_count, size_t shards, bson_t **bounds, size_t *count);

/* Sets the zones and shards the collection. bounds: `count` of them, ascending. `undo` removes all that this has set,
 * also after a failure in the middle. */
bool presplit_place(server_t *server, mongoc_client_t *client, const shardkey_t *key,
                    const shard_names_t *shards, bson_t *const *bounds, size_t count, err_t *err);

#endif
