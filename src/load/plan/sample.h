/* sample: keys of some of the records that a load will send, to cut the range of a shard key evenly. */
#ifndef TIPPLE_LOAD_PLAN_SAMPLE_H
#define TIPPLE_LOAD_PLAN_SAMPLE_H

#include "format/schema/schema.h"
#include "input/manifest.h"
#include "server/chunks.h"

typedef struct {
    bson_t **keys;
    size_t count;
} sample_t;

/* Looks into some of the files at some places each; streams, which can be read only once, are left out. What
 * cannot be read here is no failure: the load itself will say so. False: out of memory. */
bool sample_take(const schema_t *schema, const manifest_t *manifest, const shardkey_t *key, sample_t *sample,
                 err_t *err);
void sample_free(sample_t *sample);

/* Where in the middle of BSON a document surely begins, because others follow it. `length`: nowhere. */
size_t sample_find_document(const uint8_t *text, size_t length);

#endif
