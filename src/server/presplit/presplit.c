#include "format/record/record_id.h"
#include "server/bson_read.h"
#include "server/chunks.h"
#include "server/cluster.h"
#include "server/server_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shards ---- */

void presplit_free_shards(shard_names_t *shards) {
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

bool presplit_may_use(const bson_t *shard) {
    bson_iter_t at;
    return bson_iter_init_find(&at, shard, "_id") && BSON_ITER_HOLDS_UTF8(&at) &&
           !bson_read_true(shard, "draining");
}

static bool add_shard(shard_names_t *shards, const bson_t *shard, err_t *err) {
    bson_iter_t id;
    return !presplit_may_use(shard) || !bson_iter_init_find(&id, shard, "_id") ||
           add_name(shards, bson_iter_utf8(&id, NULL), err);
}

/* *all: of so many. */
static bool ask_router(server_t *server, mongoc_client_t *client, shard_names_t *shards, size_t *all,
                       err_t *err) {
    bson_t reply, shard, *command = BCON_NEW("listShards", BCON_INT32(1));
    bson_iter_t list;
    bool ok = server_command(server, client, "admin", command, false, &reply, err);
    bson_destroy(command);
    if (ok && bson_read_list(&reply, "shards", &list))
        for (; ok && bson_read_next(&list, &shard); ++*all)
            ok = add_shard(shards, &shard, err);
    bson_destroy(&reply);
    return ok;
}

/* The same list, for a user who may read the config database, and no more. */
static bool ask_config(server_t *server, mongoc_client_t *client, shard_names_t *shards, size_t *all,
                       err_t *err) {
    config_list_t list;
    const bson_t everyone = BSON_INITIALIZER;
    bool ok = config_find(server, client, "shards", &everyone, NULL, &list, NULL, err);
    for (; ok && *all < list.count; ++*all)
        ok = add_shard(shards, list.documents[*all], err);
    config_free(&list);
    return ok;
}

bool presplit_shards(server_t *server, mongoc_client_t *client, shard_names_t *shards, err_t *err) {
    size_t all = 0;
    err_t why = {.status = STATUS_USAGE};
    *shards = (shard_names_t){NULL, 0};
    bool ok = ask_router(server, client, shards, &all, err);
    if (!ok && err->status == STATUS_USAGE) {
        ok = ask_config(server, client, shards, &all, &why);
        if (!ok && why.status != STATUS_USAGE)
            *err = why; /* no matter of rights */
    }
    if (ok && !all)
        ok = err_set(err, STATUS_SERVER, "the cluster has no shard; add one with sh.addShard");
    if (!ok)
        presplit_free_shards(shards);
    return ok;
}

/* ---- where the ranges begin ---- */

bool presplit_bounds(const shardkey_t *key, size_t shards, bson_t **bounds) {
    if (!key->id_first && !key->fields[0].hashed)
        return false;
    for (size_t i = 1; i < shards; i++) {
        int64_t first;
        if (key->id_first)
            first = record_id_make((uint32_t)(i * RECORD_ID_LANES / shards), 0);
        else
            first = (int64_t)((uint64_t)INT64_MIN + (uint64_t)(((unsigned __int128)i << 64) / shards));
        bounds[i - 1] = shardkey_from(key, first);
    }
    return true;
}

static int by_order(const void *a, const void *b) {
    return keyorder_documents(*(bson_t *const *)a, *(bson_t *const *)b);
}

/* A range that begins at an end of all keys would be none. */
static bool is_end(const bson_t *key, bson_type_t end) {
    bson_iter_t at;
    bool is = bson_iter_init(&at, key);
    while (is && bson_iter_next(&at))
        is = bson_iter_type(&at) == end;
    return is;
}

/* Of references ($ref, $id, $db) servers say nothing. */
static bool is_operator(const char *name) {
    return *name == '$' && strcmp(name, "$ref") != 0 && strcmp(name, "$id") != 0 && strcmp(name, "$db") != 0;
}

/* Is there a name with a $ in it? Documents may have such ones, and zones and chunks may not begin at them. */
static bool has_operator(bson_iter_t *at, int depth) {
    enum { DEEPEST = 100 };
    bson_iter_t inner;
    while (bson_iter_next(at)) {
        const bool holds = BSON_ITER_HOLDS_DOCUMENT(at) || BSON_ITER_HOLDS_ARRAY(at);
        if (is_operator(bson_iter_key(at)) || (holds && (depth == DEEPEST || !bson_iter_recurse(at, &inner) ||
                                                         has_operator(&inner, depth + 1))))
            return true;
    }
    return false;
}

/* From this key on the first one at which a range may begin; NULL: there is none. */
static const bson_t *first_bound(bson_t *const *keys, size_t count, size_t from) {
    bson_iter_t at;
    for (; from < count; from++)
        if (!is_end(keys[from], BSON_TYPE_MINKEY) && !is_end(keys[from], BSON_TYPE_MAXKEY) &&
            bson_iter_init(&at, keys[from]) && !has_operator(&at, 0))
            return keys[from];
    return NULL;
}

bool presplit_sample(bson_t **keys, size_t key_count, size_t shards, bson_t **bounds, size_t *count) {
    *count = 0;
    if (key_count)
        qsort(keys, key_count, sizeof *keys, by_order);
    for (size_t i = 1; i < shards; i++) {
        const bson_t *key = first_bound(keys, key_count, i * key_count / shards);
        if (!key || (*count && keyorder_documents(bounds[*count - 1], key) >= 0))
            continue;
        if (!(bounds[*count] = bson_copy(key)))
            return false;
        ++*count;
    }
    return true;
}

/* ---- zones ---- */

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
        char zone[ZONES_NAME];
        zones_name(server_namespace(server), i, zone);
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

/* An index or an option of the collection may not go with the key: that is no matter of time. */
static bool shard(server_t *server, mongoc_client_t *client, const shardkey_t *key, err_t *err) {
    bson_t reply, *command = BCON_NEW("shardCollection", BCON_UTF8(server_namespace(server)), "key",
                                      BCON_DOCUMENT(&key->spec));
    const bool ok = server_command(server, client, "admin", command, false, &reply, err);
    const int code = ok ? 0 : server_code(&reply);
    if (code == CODE_INVALID_OPTIONS || code == CODE_INDEX_OPTIONS_CONFLICT ||
        code == CODE_INDEX_KEYS_CONFLICT)
        err->status = STATUS_USAGE;
    bson_destroy(&reply);
    bson_destroy(command);
    return ok;
}

bool presplit_place(server_t *server, mongoc_client_t *client, const shardkey_t *key,
                    const shard_names_t *shards, bson_t *const *bounds, size_t count, err_t *err) {
    if (server_facts(server)->major < 6 &&
        !run(server, client, BCON_NEW("enableSharding", BCON_UTF8(server_database(server))), err))
        return false;
    return set_zones(server, client, key, shards, bounds, count, err) && shard(server, client, key, err);
}
