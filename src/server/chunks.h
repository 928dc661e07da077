/* chunks: which shard a document belongs to. Pure: no server is asked here (cluster.h reads what these work on).
 *
 * A collection that is sharded has a shard key (shardkey_t): some fields, one of which may be hashed. The key of a document
 * is made from its bytes (shardkey_of), with hashes as the server computes them (hashed_value). Keys are ordered as the server
 * orders values of all types (keyorder). A chunk map holds the chunks of the collection in that order, from the least key to the
 * greatest without a gap, each with its shard; chunkmap_find finds the chunk of a key. A map never changes: a newer one takes its
 * place, and each holder gives the old one back. */
#ifndef TIPPLE_SERVER_CHUNKS_H
#define TIPPLE_SERVER_CHUNKS_H

#include "base/err.h"

#include <bson/bson.h>

/* ---- hashes ---- */

/* The number that a server computes from a value for a hashed shard key or index: the first eight bytes of an
 * MD5 over the value's type and bytes; numbers are hashed as whole numbers. */

/* A hasher belongs to one thread. It remembers the last value, since records of one station follow one another. */
typedef struct hashed hashed_t;

hashed_t *hashed_new(void); /* NULL: out of memory */
void hashed_destroy(hashed_t *hashed);

/* A missing value is hashed like null. False for an array, which has no hash, and where a
 * value, or one within it, is of a type that cannot be ordered here. */
bool hashed_value(hashed_t *hashed, const bson_iter_t *value, int64_t *hash);

/* ---- the order of values, whatever their types ---- */

/* Can all values of a document, also inner ones, be ordered here? Not if it contains Decimal128 or a few rare types, is
 * nested more deeply than servers allow, or is not BSON. */
bool keyorder_is_clear(const bson_t *document);

/* Compares two values whose order is clear: the result is below 0, 0 or above 0. Numbers of different types are
 * compared by value, with NaN below all others; text by its bytes. A missing value is null. */
int keyorder_values(const bson_value_t *a, const bson_value_t *b);

/* Compares documents value by value, whatever the names of their keys. A document that is the beginning of the other
 * one is smaller. */
int keyorder_documents(const bson_t *a, const bson_t *b);

/* ---- shard keys ---- */

enum { SHARDKEY_MOST_FIELDS = 32 };

typedef struct {
    bson_t spec; /* {st: "hashed", ts: 1} */
    struct {
        const char *path; /* in spec */
        bool hashed;
    } fields[SHARDKEY_MOST_FIELDS];
    size_t count;
    bool id_first; /* its first field is the `_id`, not hashed: a document's lane decides where it belongs */
    /* the `_id` is its only field: the key of every document is known before the document is made */
    bool is_id;
} shardkey_t;

/* The same key, for documents with `_id`s of the data's own, which do not give a document's place. The result shares
 * the spec of the key: do not free it. */
static inline shardkey_t shardkey_of_data(const shardkey_t *key) {
    shardkey_t other = *key;
    other.id_first = other.is_id = false;
    return other;
}

/* Appends one part of a key as users write it, such as "st:hashed". kinds: what may follow the colon, up to NULL; bare: a part without
 * a colon is allowed, and has the first kind. False: it is no such part, or the keys have its field already. */
bool key_append(bson_t *keys, const char *part, const char *const *kinds, bool bare);

/* Parses "_id", "st:hashed", "st,ts" or "st:1,ts:1". False: status 1, and what was expected. */
bool shardkey_parse(const char *text, shardkey_t *key, err_t *err);

/* Reads the key as a server describes it; copies the spec. False: it has no fields, or more than a server allows, or more hashed
 * ones. */
bool shardkey_read(const bson_t *spec, shardkey_t *key);
/* A key that could not be read, or was freed before, may be freed, too. */
void shardkey_free(shardkey_t *key);

/* The least key whose first field is this number. */
bson_t *shardkey_from(const shardkey_t *key, int64_t first);

/* The key below or above all others. */
bson_t *shardkey_end(const shardkey_t *key, bool greatest);

/* The document's values in the key's order, under the keys of the spec; hashed fields as their hash; a missing value as
 * null. *values must be initialised and is overwritten. False: there is an array, for which a server refuses the
 * document, or a value whose order is not clear (keyorder_is_clear), or the document cannot be gone through. */
bool shardkey_of(const shardkey_t *key, hashed_t *hashed, const uint8_t *document, uint32_t length,
                 bson_t *values);

/* ---- chunk maps: built once, then read-only and shared by threads ---- */

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

size_t chunkmap_shards(const chunkmap_t *map);
const char *chunkmap_shard_name(const chunkmap_t *map, size_t shard);
uint64_t chunkmap_version(const chunkmap_t *map, size_t shard); /* the highest version of its chunks */
size_t chunkmap_chunks_of(const chunkmap_t *map, size_t shard);

/* The shard of a key. Fast for a key of one whole number (an `_id`, a hash). 0 if the map has no chunks. */
size_t chunkmap_find(const chunkmap_t *map, const bson_t *key);

/* Are all whole numbers from first to last in one chunk? *shard: the shard of first, in any case. It is not enough that
 * first and last are on one shard: a chunk between them may be on another. */
bool chunkmap_find_range(const chunkmap_t *map, int64_t first, int64_t last, size_t *shard);

#endif
