/* batch_keys: which `_id`s a batch has, as hashes. Where records replace documents, no message holds two records of one
 * `_id`: so the order within a message does not matter. Belongs to one thread. */
#ifndef TIPPLE_LOAD_BLOCKS_BATCH_KEYS_H
#define TIPPLE_LOAD_BLOCKS_BATCH_KEYS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct batch_keys batch_keys_t;

batch_keys_t *
batch_keys_new(uint32_t documents); /* so many at most, between two calls of clear; NULL: out of memory */
void batch_keys_free(batch_keys_t *keys); /* NULL is allowed */

/* False: it is there already. */
bool batch_keys_add(batch_keys_t *keys, uint64_t hash);
void batch_keys_clear(batch_keys_t *keys);

#endif
