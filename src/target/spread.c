#include "target/spread.h"
#include "base/log.h"
#include "target/config.h"
#include "target/keyorder.h"
#include "target/position.h"
#include "target/inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shards ---- */

void spread_free_shards(shard_names_t *shards) {
    for (size_t i = 0; i < shards->count; i++)
        free(shards->names[i]);
    free(shards->names);
    *shards = (shard_names_t){NULL, 0};
}

static bool add_name(shard_names_t *shards, const char *name, err_t *err) {
    char **larger = realloc(shards->names, (shards->count + 1) * sizeof *larger);
    if (!larger)
        return err_memory(err, (shards->count + 1) * sizeof *larger);
    shards->names = larger;
    if (!(larger[shards->count] = strdup(name)))
        return err_memory(err, strlen(name));
    shards->count++;
    return true;
}

bool spread_shards(server_t *server, mongoc_client_t *client, shard_names_t *shards, err_t *err) {
    bson_t reply, *command = BCON_NEW("listShards", BCON_INT32(1));
    bson_iter_t at, list, id;
    *shards = (shard_names_t){NULL, 0};
    bool ok = server_command(server, client, "admin", command, false, &reply, err);
    bson_destroy(command);
    if (ok && bson_iter_init_find(&at, &reply, "shards") && BSON_ITER_HOLDS_ARRAY(&at) &&
        bson_iter_recurse(&at, &list))
        while (ok && bson_iter_next(&list))
            if (bson_iter_recurse(&list, &id) && bson_iter_find(&id, "_id") && BSON_ITER_HOLDS_UTF8(&id))
                ok = add_name(shards, bson_iter_utf8(&id, NULL), err);
    bson_destroy(&reply);
    if (ok && !shards->count)
        ok = err_set(err, STATUS_SERVER, "the cluster has no shard; add one with sh.addShard");
    if (!ok)
        spread_free_shards(shards);
    return ok;
}

/* ---- where the ranges begin ---- */

/* Behind the first field's bound every other begins at its least value. */
static bson_t *bound_of(const shardkey_t *key, int64_t first) {
    bson_t *bound = bson_new();
    bson_append_int64(bound, key->fields[0].path, -1, first);
    for (size_t i = 1; i < key->count; i++)
        bson_append_minkey(bound, key->fields[i].path, -1);
    return bound;
}

bool spread_bounds(const shardkey_t *key, size_t shards, bson_t **bounds) {
    if (!key->is_id && !key->fields[0].hashed)
        return false;
    for (size_t i = 1; i < shards; i++) {
        int64_t first;
        if (key->is_id)
            first = position_id((uint32_t)(i * POSITION_LANES / shards), 0);
        else
            first = (int64_t)((uint64_t)INT64_MIN + (uint64_t)(((unsigned __int128)i << 64) / shards));
        bounds[i - 1] = bound_of(key, first);
    }
    return true;
}

static int by_order(const void *a, const void *b) {
    return keyorder_documents(*(bson_t *const *)a, *(bson_t *const *)b);
}

bool spread_sample(bson_t **keys, size_t key_count, size_t shards, bson_t **bounds, size_t *count) {
    *count = 0;
    if (key_count)
        qsort(keys, key_count, sizeof *keys, by_order);
    for (size_t i = 1; i < shards; i++) {
        const bson_t *key = key_count ? keys[i * key_count / shards] : NULL;
        if (!key || (*count && keyorder_documents(bounds[*count - 1], key) >= 0))
            continue;
        if (!(bounds[*count] = bson_copy(key)))
            return false;
        ++*count;
    }
    return true;
}

/* ---- zones ---- */

static void zone_name(const server_t *server, size_t index, char name[600]) {
    snprintf(name, 600, "tipple.%s.%zu", server_namespace(server), index);
}

static bool run(server_t *server, mongoc_client_t *client, bson_t *command, err_t *err) {
    bool ok = server_command(server, client, "admin", command, false, NULL, err);
    bson_destroy(command);
    return ok;
}

static bool set_zones(server_t *server, mongoc_client_t *client, const shardkey_t *key,
                      const shard_names_t *shards, bson_t *const *bounds, size_t count, err_t *err) {
    bson_t *least = shardkey_end(key, false), *greatest = shardkey_end(key, true);
    bool ok = true;
    for (size_t i = 0; ok && i <= count; i++) {
        char zone[600];
        zone_name(server, i, zone);
        ok = run(server, client,
                 BCON_NEW("addShardToZone", BCON_UTF8(shards->names[i]), "zone", BCON_UTF8(zone)), err) &&
             run(server, client,
                 BCON_NEW("updateZoneKeyRange", BCON_UTF8(server_namespace(server)), "min",
                          BCON_DOCUMENT(i ? bounds[i - 1] : least), "max",
                          BCON_DOCUMENT(i < count ? bounds[i] : greatest), "zone", BCON_UTF8(zone)),
                 err);
    }
    bson_destroy(least);
    bson_destroy(greatest);
    return ok;
}

bool spread_place(server_t *server, mongoc_client_t *client, const shardkey_t *key,
                  const shard_names_t *shards, bson_t *const *bounds, size_t count, err_t *err) {
    const char *name = server_namespace(server);
    err_t ignored;
    if (server_facts(server)->major < 6 &&
        !run(server, client, BCON_NEW("enableSharding", BCON_UTF8(server_database(server))), err))
        return false;
    bool ok = set_zones(server, client, key, shards, bounds, count, err) &&
              run(server, client,
                  BCON_NEW("shardCollection", BCON_UTF8(name), "key", BCON_DOCUMENT(&key->spec)), err);
    bool changed;
    if (!ok)
        spread_restore(server, client, &changed, &ignored);
    return ok;
}

/* ---- the way back ---- */

static bool drop_range(server_t *server, mongoc_client_t *client, const bson_t *range, err_t *err) {
    bson_t min, max;
    if (!inner_field(range, "min", &min) || !inner_field(range, "max", &max))
        return true;
    return run(server, client,
               BCON_NEW("updateZoneKeyRange", BCON_UTF8(server_namespace(server)), "min", BCON_DOCUMENT(&min),
                        "max", BCON_DOCUMENT(&max), "zone", BCON_NULL),
               err);
}

static bool drop_zones(server_t *server, mongoc_client_t *client, const bson_t *shard, err_t *err) {
    bson_iter_t at, tags;
    char prefix[600];
    bson_iter_t id;
    snprintf(prefix, sizeof prefix, "tipple.%s.", server_namespace(server));
    if (!bson_iter_init_find(&id, shard, "_id") || !bson_iter_init_find(&at, shard, "tags") ||
        !BSON_ITER_HOLDS_ARRAY(&at) || !bson_iter_recurse(&at, &tags))
        return true;
    bool ok = true;
    while (ok && bson_iter_next(&tags)) {
        const char *zone = bson_iter_utf8(&tags, NULL);
        if (zone && strncmp(zone, prefix, strlen(prefix)) == 0)
            ok = run(server, client,
                     BCON_NEW("removeShardFromZone", BCON_UTF8(bson_iter_utf8(&id, NULL)), "zone",
                              BCON_UTF8(zone)),
                     err);
    }
    return ok;
}

/* The names of the collection's zones as a regular expression: dots and the like stand for themselves. */
static void zone_pattern(const server_t *server, char pattern[1200]) {
    char *at = stpcpy(pattern, "^tipple\\.");
    for (const char *c = server_namespace(server); *c && at < pattern + 1200 - 16; c++) {
        if (strchr(".^$*+?()[]{}|\\", *c))
            *at++ = '\\';
        *at++ = *c;
    }
    strcpy(at, "\\.[0-9]+$");
}

/* The load's ranges, or its shards. */
static bool find_zoned(server_t *server, mongoc_client_t *client, const char *collection, config_list_t *list,
                       err_t *err) {
    char pattern[1200];
    zone_pattern(server, pattern);
    bool ranges = strcmp(collection, "tags") == 0;
    bson_t *filter = BCON_NEW(ranges ? "tag" : "tags", "{", "$regex", BCON_UTF8(pattern), "}");
    if (ranges)
        BSON_APPEND_UTF8(filter, "ns", server_namespace(server));
    bool ok = config_find(server, client, collection, filter, NULL, list, NULL, err);
    bson_destroy(filter);
    return ok;
}

bool spread_left(server_t *server, mongoc_client_t *client, size_t *zones, err_t *err) {
    config_list_t ranges;
    bool ok = find_zoned(server, client, "tags", &ranges, err);
    *zones = ranges.count;
    config_free(&ranges);
    return ok;
}

bool spread_restore(server_t *server, mongoc_client_t *client, bool *changed, err_t *err) {
    config_list_t ranges = {NULL, 0}, shards = {NULL, 0};
    bool ok = find_zoned(server, client, "tags", &ranges, err) &&
              find_zoned(server, client, "shards", &shards, err);
    *changed = ranges.count + shards.count > 0;
    for (size_t i = 0; ok && i < ranges.count; i++)
        ok = drop_range(server, client, ranges.documents[i], err);
    for (size_t i = 0; ok && i < shards.count; i++)
        ok = drop_zones(server, client, shards.documents[i], err);
    config_free(&ranges);
    config_free(&shards);
    return ok;
}
