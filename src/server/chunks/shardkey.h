/* shardkey: a collection's shard key, and the key of a document. */
#ifndef TIPPLE_SERVER_CHUNKS_SHARDKEY_H
#define TIPPLE_SERVER_CHUNKS_SHARDKEY_H

#include "base/err.h"
#include "server/chunks/hashed.h"

#include <bson/bson.h>

enum { SHARDKEY_MOST_FIELDS = 32 };

typedef struct {
    bson_t spec; /* {st: "hashed", ts: 1} */
    struct {
        const char *path; /* in spec */
        bool hashed;
    } fields[SHARDKEY_MOST_FIELDS];
    size_t count;
    bool id_first; /* its first field is the `_id`, not hashed: a document's lane says where it belongs */
    bool is_id;    /* and its only one: the key of every document is known before it is made */
} shardkey_t;

/* "_id", "st:hashed", "st,ts" or "st:1,ts:1". Status 1 with what was expected. */
bool shardkey_parse(const char *text, shardkey_t *key, err_t *err);

/* As a server says it; the spec is copied. False: more fields than a server allows, or none. */
bool shardkey_read(const bson_t *spec, shardkey_t *key);
/* Also of one that could not be read, or is freed already. */
void shardkey_free(shardkey_t *key);

/* The least key whose first field has this number. */
bson_t *shardkey_from(const shardkey_t *key, int64_t first);

/* The key below or above all others. */
bson_t *shardkey_end(const shardkey_t *key, bool greatest);

/* The document's values in the key's order, under the keys of the spec, hashed ones as their hash; a missing
 * value is null. *values must be initialised and is overwritten. False: an array is in the way, for which a
 * server refuses the document, or a value whose place in the order is not clear (keyorder_is_clear). */
bool shardkey_of(const shardkey_t *key, hashed_t *hashed, const uint8_t *document, uint32_t length,
                 bson_t *values);

#endif
