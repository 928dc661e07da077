/* hashed: the number that a server computes from a value for a hashed shard key or index: the first eight bytes of an
 * MD5 over the value's type and bytes; numbers are hashed as whole numbers. */
#ifndef TIPPLE_SERVER_CHUNKS_HASHED_H
#define TIPPLE_SERVER_CHUNKS_HASHED_H

#include <bson/bson.h>

/* A hasher belongs to one thread. It remembers the last value, since records of one station follow one another. */
typedef struct hashed hashed_t;

hashed_t *hashed_new(void); /* NULL: out of memory */
void hashed_destroy(hashed_t *hashed);

/* value NULL: a missing value, which is hashed like null. False for an array, which has no hash, and where a
 * value, or one within it, is of a type whose hashes are not known to be the server's. */
bool hashed_value(hashed_t *hashed, const bson_iter_t *value, int64_t *hash);

#endif
