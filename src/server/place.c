/* Where the ranges of a collection begin that is to be spread over all shards, and whether one that is spread already will
 * give each shard its share. Pure. */
#include "format/record/record_id.h"
#include "server/bson_read.h"
#include "server/cluster.h"

#include <stdlib.h>
#include <string.h>

/* A share may be this much larger than an even one: a smaller difference is not worth the user's time. */
#define MOST_SURPLUS 1.25

/* ---- where the ranges begin ---- */

bool cluster_bounds(const shardkey_t *key, size_t shards, bson_t **bounds) {
    if (!key->id_first && !key->fields[0].hashed)
        return false;
    for (size_t i = 1; i < shards; i++) {
        const uint64_t hash = (uint64_t)INT64_MIN + (uint64_t)(((unsigned __int128)i << 64) / shards);
        const uint32_t lane = (uint32_t)(i * RECORD_ID_LANES / shards);
        bounds[i - 1] = shardkey_from(key, key->id_first ? record_id_make(lane, 0) : (int64_t)hash);
    }
    return true;
}

static int by_order(const void *a, const void *b) {
    return keyorder_documents(*(bson_t *const *)a, *(bson_t *const *)b);
}

size_t cluster_sample_bounds(bson_t **keys, size_t key_count, size_t shards, bson_t **bounds) {
    size_t count = 0;
    if (key_count)
        qsort(keys, key_count, sizeof *keys, by_order);
    for (size_t i = 1; key_count && i < shards; i++) {
        const bson_t *key = keys[i * key_count / shards];
        if (!count || keyorder_documents(bounds[count - 1], key) < 0)
            bounds[count++] = bson_copy(key);
    }
    return count;
}

/* ---- is it even? ---- */

/* weights[i]: the share of the coming documents that belongs to shard i of the map. */
static void weigh(const chunkmap_t *map, const shardkey_t *key, double *weights) {
    for (size_t i = 0; i < chunkmap_shards(map); i++)
        weights[i] = key->id_first ? 0 : (double)chunkmap_chunks_of(map, i);
    for (uint32_t lane = 0; key->id_first && lane < RECORD_ID_LANES; lane++) {
        bson_t *from = shardkey_from(key, record_id_make(lane, 0));
        weights[chunkmap_find(map, from)]++;
        bson_destroy(from);
    }
}

static bool is_among(const config_list_t *shards, const char *name) {
    for (size_t i = 0; i < shards->count; i++)
        if (strcmp(bson_read_text(shards->documents[i], "_id"), name) == 0)
            return true;
    return false;
}

evenness_t cluster_evenness(const chunkmap_t *map, const shardkey_t *key, const config_list_t *shards) {
    double weights[CHUNKMAP_MOST_SHARDS], sum = 0;
    size_t most = 0;
    evenness_t evenness = {.shards = shards->count, .known = key->id_first};
    weigh(map, key, weights);
    for (size_t i = 0; i < chunkmap_shards(map); i++) {
        sum += weights[i];
        const bool stays = is_among(shards, chunkmap_shard_name(map, i));
        evenness.owners += stays && weights[i] > 0;
        if (!stays && chunkmap_chunks_of(map, i))
            snprintf(evenness.leaving, sizeof evenness.leaving, "%s", chunkmap_shard_name(map, i));
        most = weights[i] > weights[most] ? i : most;
    }
    evenness.most = sum > 0 ? weights[most] / sum : 1;
    snprintf(evenness.name, sizeof evenness.name, "%s", chunkmap_shard_name(map, most));
    evenness.even = evenness.owners >= shards->count &&
                    (!evenness.known || evenness.most * (double)shards->count <= MOST_SURPLUS);
    return evenness;
}
