/* id_hash: a hash of an `_id` that is the same for all that a server takes for one: 1, 1.0 and NumberLong(1). */
#ifndef TIPPLE_VERIFY_COMPARE_ID_HASH_H
#define TIPPLE_VERIFY_COMPARE_ID_HASH_H

#include <bson/bson.h>

/* Of a document's `_id`; 0: it has none. Numbers within documents may have another hash than their equals: who finds
 * nothing by the hash has to ask the server for the `_id` itself. */
uint64_t id_hash(const uint8_t *document, uint32_t length);
uint64_t id_hash_of(const bson_iter_t *id);

#endif
