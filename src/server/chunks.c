/* The map of a collection's chunks: built from the documents of config.chunks, then only read. Pure. */
#include "base/text.h"
#include "server/bson_read.h"
#include "server/chunks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    bson_t *min;
    int64_t whole; /* of a bound that is one whole number; MinKey counts as the least number */
    uint16_t shard;
} chunk_t;

typedef struct {
    char *name;
    uint64_t version;
    size_t chunks;
} shard_t;

struct chunkmap {
    atomic_uint holders;
    chunk_t *chunks;
    size_t count, room;
    shard_t *shards;
    size_t shard_count, shard_room;
    bool whole; /* every bound is one whole number, or MinKey */
};

/* The index of a shard, found by its name; a new shard gets a new index. SIZE_MAX: no memory, or too many shards. */
static size_t shard_of(chunkmap_t *map, const char *name) {
    for (size_t i = map->shard_count; i-- > 0;)
        if (strcmp(map->shards[i].name, name) == 0)
            return i;
    if (map->shard_count == CHUNKMAP_MOST_SHARDS ||
        !GROW(map->shards, map->shard_room, map->shard_count + 1, NULL))
        return SIZE_MAX;
    map->shards[map->shard_count] = (shard_t){.name = strdup(name)};
    return map->shards[map->shard_count].name ? map->shard_count++ : SIZE_MAX;
}

chunkmap_t *chunkmap_new(const chunkmap_t *before) {
    chunkmap_t *map = calloc(1, sizeof *map);
    if (!map)
        return NULL;
    map->whole = true;
    map->holders = 1;
    for (size_t i = 0; before && i < before->shard_count; i++)
        if (shard_of(map, before->shards[i].name) != i) {
            chunkmap_free(map);
            return NULL;
        }
    return map;
}

chunkmap_t *chunkmap_share(chunkmap_t *map) {
    atomic_fetch_add(&map->holders, 1);
    return map;
}

void chunkmap_free(chunkmap_t *map) {
    if (!map || atomic_fetch_sub(&map->holders, 1) > 1)
        return;
    for (size_t i = 0; i < map->count; i++)
        bson_destroy(map->chunks[i].min);
    for (size_t i = 0; i < map->shard_count; i++)
        free(map->shards[i].name);
    free(map->chunks);
    free(map->shards);
    free(map);
}

/* Is the bound or key one whole number? A bound may also be MinKey. */
static bool whole_of(const bson_t *values, bool are_bound, int64_t *whole) {
    bson_iter_t at;
    if (!bson_iter_init(&at, values) || !bson_iter_next(&at))
        return false;
    bool number = BSON_ITER_HOLDS_INT64(&at) || BSON_ITER_HOLDS_INT32(&at);
    *whole = number ? bson_iter_as_int64(&at) : INT64_MIN;
    return (number || (are_bound && BSON_ITER_HOLDS_MINKEY(&at))) && !bson_iter_next(&at);
}

bool chunkmap_add(chunkmap_t *map, const bson_t *min, const char *shard, uint64_t version) {
    if (!keyorder_is_clear(min) ||
        (map->count && keyorder_documents(map->chunks[map->count - 1].min, min) >= 0))
        return false;
    size_t owner = shard_of(map, shard);
    if (owner == SIZE_MAX || !GROW(map->chunks, map->room, map->count + 1, NULL))
        return false;
    chunk_t *chunk = &map->chunks[map->count];
    *chunk = (chunk_t){.min = bson_copy(min), .shard = (uint16_t)owner};
    map->whole &= whole_of(min, true, &chunk->whole);
    map->count++;
    map->shards[owner].chunks++;
    if (version > map->shards[owner].version)
        map->shards[owner].version = version;
    return true;
}

/* Does the bound have as many values as the shard key, all of this type (0: of any type)? */
static bool has_shape(const bson_t *bound, size_t fields, bson_type_t type) {
    bson_iter_t at;
    size_t count = 0;
    if (!bson_iter_init(&at, bound))
        return false;
    for (; bson_iter_next(&at); count++)
        if (type && bson_iter_type(&at) != type)
            return false;
    return count == fields;
}

/* Adds a chunk. It must begin where the one before it ended, or at the least key. */
static bool add_next(chunkmap_t *map, size_t fields, const bson_t *before, const bson_t *chunk) {
    bson_iter_t shard;
    bson_t min, max, end;
    if (!bson_read_field(chunk, "min", &min) || !bson_read_field(chunk, "max", &max) ||
        !bson_iter_init_find(&shard, chunk, "shard") || !BSON_ITER_HOLDS_UTF8(&shard))
        return false;
    const bool meets = before ? has_shape(&min, fields, 0) && bson_read_field(before, "max", &end) &&
                                    keyorder_documents(&end, &min) == 0
                              : has_shape(&min, fields, BSON_TYPE_MINKEY);
    return meets && keyorder_is_clear(&max) && keyorder_documents(&min, &max) < 0 &&
           chunkmap_add(map, &min, bson_iter_utf8(&shard, NULL), bson_read_timestamp(chunk, "lastmod"));
}

chunkmap_t *chunkmap_read(const chunkmap_t *before, size_t fields, bson_t *const *chunks, size_t count) {
    chunkmap_t *map = count && fields ? chunkmap_new(before) : NULL;
    bson_t end;
    bool ok = map != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_next(map, fields, i ? chunks[i - 1] : NULL, chunks[i]);
    if (ok && bson_read_field(chunks[count - 1], "max", &end) && has_shape(&end, fields, BSON_TYPE_MAXKEY))
        return map;
    chunkmap_free(map);
    return NULL;
}

size_t chunkmap_shards(const chunkmap_t *map) {
    return map->shard_count;
}

const char *chunkmap_shard_name(const chunkmap_t *map, size_t shard) {
    return map->shards[shard].name;
}

uint64_t chunkmap_version(const chunkmap_t *map, size_t shard) {
    return map->shards[shard].version;
}

size_t chunkmap_chunks_of(const chunkmap_t *map, size_t shard) {
    return map->shards[shard].chunks;
}

/* The index of the last chunk whose bound is not above the key. The map must have chunks. */
static size_t index_of(const chunkmap_t *map, const bson_t *key) {
    int64_t whole;
    const size_t above = map->whole && whole_of(key, false, &whole)
                             ? SEARCH_FIRST(map->count, i, map->chunks[i].whole <= whole)
                             : SEARCH_FIRST(map->count, i, keyorder_documents(map->chunks[i].min, key) <= 0);
    return above ? above - 1 : 0;
}

size_t chunkmap_find(const chunkmap_t *map, const bson_t *key) {
    return map->count ? map->chunks[index_of(map, key)].shard : 0;
}

bool chunkmap_find_range(const chunkmap_t *map, int64_t first, int64_t last, size_t *shard) {
    bson_t from = BSON_INITIALIZER, to = BSON_INITIALIZER;
    bson_append_int64(&from, "", 0, first);
    bson_append_int64(&to, "", 0, last);
    *shard = chunkmap_find(map, &from);
    const bool one = !map->count || index_of(map, &from) == index_of(map, &to);
    bson_destroy(&from);
    bson_destroy(&to);
    return one;
}
