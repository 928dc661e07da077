/* chunkmap: which shard a key belongs to: the chunks of a collection in their order, each from its lower
 * bound to the next one's. Made once, then read-only and shared by threads. */
#ifndef TIPPLE_SERVER_CHUNKS_CHUNKMAP_H
#define TIPPLE_SERVER_CHUNKS_CHUNKMAP_H

#include "server/chunks/shardkey.h"

enum { CHUNKMAP_MOST_SHARDS = 1024 };

typedef struct chunkmap chunkmap_t;

/* before: a map whose shards keep their numbers in the new one, or NULL. NULL: out of memory. */
chunkmap_t *chunkmap_new(const chunkmap_t *before);

/* One more holder of the map; each calls chunkmap_free. Any thread. */
chunkmap_t *chunkmap_share(chunkmap_t *map);
void chunkmap_free(chunkmap_t *map); /* NULL is allowed */

/* The next chunk, in the order of the bounds. version: its lastmod. False: memory, or a bound that is not
 * above the one before, or whose order is not clear (keyorder_is_clear). */
bool chunkmap_add(chunkmap_t *map, const bson_t *min, const char *shard, uint64_t version);

/* The map of a collection: all of its documents of config.chunks, by their lower bounds. fields: of the shard key.
 * NULL: memory, too many shards, or chunks in which some key would have no place, or two: their bounds must be clear, and
 * meet, from the least key to the greatest one. */
chunkmap_t *chunkmap_read(const chunkmap_t *before, size_t fields, bson_t *const *chunks, size_t count);

size_t chunkmap_chunks(const chunkmap_t *map);
size_t chunkmap_shards(const chunkmap_t *map);
const char *chunkmap_shard_name(const chunkmap_t *map, size_t shard);
uint64_t chunkmap_version(const chunkmap_t *map, size_t shard); /* the highest of its chunks */
size_t chunkmap_chunks_of(const chunkmap_t *map, size_t shard);

/* The shard of a key; of a key of one whole number (an `_id`, a hash), quickly. A map without chunks says 0.
 */
size_t chunkmap_find(const chunkmap_t *map, const bson_t *key);
size_t chunkmap_find_whole(const chunkmap_t *map, int64_t key);

/* Do all whole numbers from first to last belong to one chunk? *shard: that of first, in any case. Two ends
 * on one shard are not enough: a chunk between them may be another shard's. */
bool chunkmap_find_range(const chunkmap_t *map, int64_t first, int64_t last, size_t *shard);

#endif
