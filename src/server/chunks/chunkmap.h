/* chunkmap: which shard a key belongs to: the chunks of a collection in order, each from its lower bound to the bound
 * of the next. Built once, then read-only and shared by threads. */
#ifndef TIPPLE_SERVER_CHUNKS_CHUNKMAP_H
#define TIPPLE_SERVER_CHUNKS_CHUNKMAP_H

#include "server/chunks/shardkey.h"

enum { CHUNKMAP_MOST_SHARDS = 1024 };

typedef struct chunkmap chunkmap_t;

/* before: a map whose shards keep their numbers in the new map, or NULL. Returns NULL when memory is out. */
chunkmap_t *chunkmap_new(const chunkmap_t *before);

/* Adds a holder of the map; each holder calls chunkmap_free. Any thread. */
chunkmap_t *chunkmap_share(chunkmap_t *map);
void chunkmap_free(chunkmap_t *map); /* NULL is allowed */

/* Adds the next chunk, in the order of the bounds. version: its lastmod. False: memory is out, the bound is not above
 * the one before, or its order is not clear (keyorder_is_clear). */
bool chunkmap_add(chunkmap_t *map, const bson_t *min, const char *shard, uint64_t version);

/* The map of a collection, from all of its documents of config.chunks, sorted by their lower bounds. fields: how many
 * fields the shard key has. NULL: memory is out, there are too many shards, or some key would be in no chunk or in two.
 * The bounds must be clear, and the chunks must meet, from the least key to the greatest. */
chunkmap_t *chunkmap_read(const chunkmap_t *before, size_t fields, bson_t *const *chunks, size_t count);

size_t chunkmap_chunks(const chunkmap_t *map);
size_t chunkmap_shards(const chunkmap_t *map);
const char *chunkmap_shard_name(const chunkmap_t *map, size_t shard);
uint64_t chunkmap_version(const chunkmap_t *map, size_t shard); /* the highest version of its chunks */
size_t chunkmap_chunks_of(const chunkmap_t *map, size_t shard);

/* Of the chunk of this number, in their order: where it begins, and its shard. Borrowed. */
const bson_t *chunkmap_bound(const chunkmap_t *map, size_t chunk);
const char *chunkmap_owner(const chunkmap_t *map, size_t chunk);

/* The shard of a key. Fast for a key of one whole number (an `_id`, a hash). 0 if the map has no chunks. */
size_t chunkmap_find(const chunkmap_t *map, const bson_t *key);
size_t chunkmap_find_whole(const chunkmap_t *map, int64_t key);

/* Are all whole numbers from first to last in one chunk? *shard: the shard of first, in any case. It is not enough that
 * first and last are on one shard: a chunk between them may be on another. */
bool chunkmap_find_range(const chunkmap_t *map, int64_t first, int64_t last, size_t *shard);

#endif
