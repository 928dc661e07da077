/* shardkey: the shard key of a collection, and the key of a document. */
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
    bool id_first; /* its first field is the `_id`, not hashed: a document's lane decides where it belongs */
    /* the `_id` is its only field: the key of every document is known before the document is made */
    bool is_id;
} shardkey_t;

/* The same key where the `_id`s of documents are the data's own, and so say nothing of their place. It borrows the spec. */
static inline shardkey_t shardkey_of_data(const shardkey_t *key) {
    shardkey_t other = *key;
    other.id_first = other.is_id = false;
    return other;
}

/* Parses "_id", "st:hashed", "st,ts" or "st:1,ts:1". False: status 1, and what was expected. */
bool shardkey_parse(const char *text, shardkey_t *key, err_t *err);

/* Reads the key as a server describes it; copies the spec. False: it has no fields, or more than a server allows. */
bool shardkey_read(const bson_t *spec, shardkey_t *key);
/* Also allowed for a key that could not be read, or was freed before. */
void shardkey_free(shardkey_t *key);

/* By their fields: whatever type of number stands for "ascending". */
bool shardkey_same(const shardkey_t *a, const shardkey_t *b);

/* The least key whose first field is this number. */
bson_t *shardkey_from(const shardkey_t *key, int64_t first);

/* The key below or above all others. */
bson_t *shardkey_end(const shardkey_t *key, bool greatest);

/* The document's values in the key's order, under the keys of the spec; hashed fields as their hash; a missing value as
 * null. *values must be initialised and is overwritten. False: there is an array, for which a server refuses the
 * document, or a value whose order is not clear (keyorder_is_clear), or the document cannot be gone through. */
bool shardkey_of(const shardkey_t *key, hashed_t *hashed, const uint8_t *document, uint32_t length,
                 bson_t *values);

#endif
