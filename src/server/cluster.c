#include "base/grow.h"
#include "base/zeroed.h"
#include "server/bson_read.h"
#include "server/cluster.h"
#include "server/server.h"
#include "server/server_errors.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- config ---- */

void config_free(config_list_t *list) {
    for (size_t i = 0; i < list->count; i++)
        bson_destroy(list->documents[i]);
    free(list->documents);
    *list = (config_list_t){NULL, 0};
}

static bool keep(config_list_t *list, size_t *room, const bson_t *document) {
    return GROW(list->documents, *room, list->count + 1, NULL) &&
           (list->documents[list->count] = bson_copy(document)) && ++list->count;
}

bool config_find(server_t *server, mongoc_client_t *client, const char *collection, const bson_t *filter,
                 const bson_t *options, config_list_t *list, bool *hidden, err_t *err) {
    bson_error_t error;
    const bson_t *document, *reply = NULL;
    patience_t patience = server_patience(server);
    mongoc_read_prefs_t *primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
    bson_t *whole = BCON_NEW("readConcern", "{", "level", BCON_UTF8("majority"), "}");
    bool ok, again;
    if (options)
        bson_concat(whole, options);
    *list = (config_list_t){NULL, 0};
    do {
        size_t room = 0;
        command_cursor_t cursor;
        command_cursor_find(&cursor, client, "config", collection, filter, whole, primary);
        config_free(list);
        ok = true;
        while (ok && command_cursor_next(&cursor, &document))
            ok = keep(list, &room, document) || err_memory(err, document->len);
        again = false;
        if (ok && command_cursor_failed(&cursor, &error, &reply)) {
            ok = false;
            again = server_again(server, client, &patience, &error, reply, "read the config database", err);
            if (hidden)
                *hidden = error.code == CODE_UNAUTHORIZED;
        }
        command_cursor_end(&cursor);
    } while (again);
    mongoc_read_prefs_destroy(primary);
    bson_destroy(whole);
    if (!ok)
        config_free(list);
    return ok;
}

/* "s0/a:1,b:2": the replica set and its members. Borrowed; NULL: unknown. */
static const char *find_host(const config_list_t *shards, const char *name) {
    bson_iter_t id, host;
    for (size_t i = 0; i < shards->count; i++)
        if (bson_iter_init_find(&id, shards->documents[i], "_id") && BSON_ITER_HOLDS_UTF8(&id) &&
            strcmp(bson_iter_utf8(&id, NULL), name) == 0)
            return bson_iter_init_find(&host, shards->documents[i], "host") && BSON_ITER_HOLDS_UTF8(&host)
                       ? bson_iter_utf8(&host, NULL)
                       : NULL;
    return NULL;
}

server_t *config_open_shard(const server_t *server, const config_list_t *shards, const char *name,
                            uint32_t connections, int64_t patience_ns, err_t *err) {
    const char *host = find_host(shards, name), *slash = host ? strchr(host, '/') : NULL;
    char *set = slash ? strndup(host, (size_t)(slash - host)) : NULL;
    if (!set) {
        err_set(err, STATUS_USAGE, "the cluster does not tell its hosts");
        return NULL;
    }
    server_t *shard = server_beside(server, slash + 1, set, connections, patience_ns, err);
    free(set);
    return shard;
}

/* ---- sharding ---- */

/* From 8.0 on a collection that is not sharded has an entry, too, when it was moved (moveCollection). */
static bool is_sharded(const bson_t *entry) {
    return !bson_read_true(entry, "dropped") && !bson_read_true(entry, "unsplittable");
}

static bool take(sharding_t *sharding, const bson_t *entry, err_t *err) {
    bson_iter_t at;
    bson_t spec;
    const uint8_t *uuid = bson_read_uuid(entry, "uuid");
    if (!is_sharded(entry) || !bson_read_field(entry, "key", &spec))
        return true;
    if (bson_iter_init_find(&at, entry, "_id") && BSON_ITER_HOLDS_UTF8(&at))
        snprintf(sharding->name, sizeof sharding->name, "%s", bson_iter_utf8(&at, NULL));
    if (!shardkey_read(&spec, &sharding->key))
        return err_set(err, STATUS_USAGE, "the shard key of %s is not understood", sharding->name);
    sharding->sharded = true;
    sharding->unbalanced = bson_read_true(entry, "noBalance");
    sharding->unique = bson_read_true(entry, "unique");
    sharding->unmerged = bson_iter_init_find(&at, entry, "enableAutoMerge") && !bson_iter_as_bool(&at);
    sharding->unmoved = bson_iter_init_find(&at, entry, "permitMigrations") && !bson_iter_as_bool(&at);
    if (bson_iter_init_find(&at, entry, "maxChunkSizeBytes"))
        sharding->chunk_bytes = bson_iter_as_int64(&at);
    if (bson_iter_init_find(&at, entry, "lastmodEpoch") && BSON_ITER_HOLDS_OID(&at))
        bson_oid_copy(bson_iter_oid(&at), &sharding->epoch);
    sharding->timestamp = bson_read_timestamp(entry, "timestamp");
    if (uuid)
        memcpy(sharding->uuid, uuid, sizeof sharding->uuid);
    return true;
}

bool sharding_read(server_t *server, mongoc_client_t *client, const uint8_t *uuid, sharding_t *sharding,
                   err_t *err) {
    config_list_t list;
    bson_t *filter = uuid ? BCON_NEW("uuid", BCON_BIN(BSON_SUBTYPE_UUID, uuid, SHARDING_UUID), "dropped", "{",
                                     "$ne", BCON_BOOL(true), "}")
                          : BCON_NEW("_id", BCON_UTF8(server_namespace(server)));
    *sharding = (sharding_t){.hidden = false};
    bson_init(&sharding->key.spec);
    bool ok = config_find(server, client, "collections", filter, NULL, &list, &sharding->hidden, err);
    bson_destroy(filter);
    ok = ok && (!list.count || take(sharding, list.documents[0], err));
    config_free(&list);
    return ok || sharding->hidden;
}

void sharding_free(sharding_t *sharding) {
    shardkey_free(&sharding->key);
}

bool sharding_is_any(server_t *server, mongoc_client_t *client, bool *sharded, err_t *err) {
    bson_t reply, *command = BCON_NEW("collStats", BCON_UTF8(server_collection(server)));
    const bool ok = server_command(server, client, server_database(server), command, false, &reply, err);
    bson_destroy(command);
    *sharded = ok && bson_read_true(&reply, "sharded");
    bson_destroy(&reply);
    return ok;
}

/* ---- route ---- */

struct route {
    server_t *server;
    sharding_t sharding;
    uint64_t newest;      /* the highest lastmod of its chunks */
    pthread_mutex_t lock; /* protects the pointer */
    chunkmap_t *map;
};

/* A chunk may move while the chunks are read: then they are read again, at most this many times. */
enum { MOST_READINGS = 20 };

static route_read_t read_collection(route_t *route, mongoc_client_t *client, err_t *err) {
    sharding_free(&route->sharding);
    if (!sharding_read(route->server, client, NULL, &route->sharding, err))
        return ROUTE_FAILED;
    return route->sharding.hidden ? ROUTE_HIDDEN : route->sharding.sharded ? ROUTE_READ : ROUTE_UNSHARDED;
}

/* config.chunks knows a collection by its UUID, from 5.0 on. */
static bool find_chunks(const route_t *route, mongoc_client_t *client, bson_t *options, config_list_t *list,
                        bool *hidden, err_t *err) {
    bson_t *filter = server_facts(route->server)->major >= 5
                         ? BCON_NEW("uuid", BCON_BIN(BSON_SUBTYPE_UUID, route->sharding.uuid, SHARDING_UUID))
                         : BCON_NEW("ns", BCON_UTF8(server_namespace(route->server)));
    bool ok = config_find(route->server, client, "chunks", filter, options, list, hidden, err);
    bson_destroy(filter);
    bson_destroy(options);
    return ok;
}

/* The highest lastmod of all chunks: every move and every split raises it. 0: there are no chunks. */
static bool read_newest(const route_t *route, mongoc_client_t *client, uint64_t *newest, bool *hidden,
                        err_t *err) {
    config_list_t list;
    bson_t *last = BCON_NEW("sort", "{", "lastmod", BCON_INT32(-1), "}", "limit", BCON_INT64(1));
    if (!find_chunks(route, client, last, &list, hidden, err))
        return false;
    *newest = list.count ? bson_read_timestamp(list.documents[0], "lastmod") : 0;
    config_free(&list);
    return true;
}

/* *unclear: we cannot order its bounds. */
static chunkmap_t *map_of(const route_t *route, const config_list_t *list, bool *unclear, err_t *err) {
    chunkmap_t *map = chunkmap_read(route->map, route->sharding.key.count, list->documents, list->count);
    if (map)
        return map;
    *unclear = list->count > 0;
    err_set(err, STATUS_SERVER,
            "the %zu chunks that the cluster lists for %s are no use for finding shards: there are gaps, "
            "overlaps or none at all, or more than %d shards, or this host is out of memory",
            list->count, server_namespace(route->server), CHUNKMAP_MOST_SHARDS);
    return NULL;
}

static void replace_map(route_t *route, chunkmap_t *map, uint64_t newest) {
    pthread_mutex_lock(&route->lock);
    chunkmap_t *old = route->map;
    route->map = map;
    pthread_mutex_unlock(&route->lock);
    chunkmap_free(old);
    route->newest = newest;
}

/* newest: as it was before the reading. If it is the same afterwards, no chunk has moved meanwhile. */
static bool read_chunks(route_t *route, mongoc_client_t *client, uint64_t newest, bool *hidden, bool *unclear,
                        err_t *err) {
    for (int reading = 0; reading < MOST_READINGS; reading++) {
        config_list_t list;
        uint64_t newest_after;
        if (!find_chunks(route, client, BCON_NEW("sort", "{", "min", BCON_INT32(1), "}"), &list, hidden, err))
            return false;
        if (!read_newest(route, client, &newest_after, hidden, err)) {
            config_free(&list);
            return false;
        }
        bool whole = newest_after == newest;
        chunkmap_t *map = whole ? map_of(route, &list, unclear, err) : NULL;
        config_free(&list);
        if (whole && map)
            replace_map(route, map, newest);
        if (whole)
            return map != NULL;
        newest = newest_after;
    }
    return err_set(err, STATUS_SERVER, "the chunks of %s move faster than their map can be read",
                   server_namespace(route->server));
}

route_read_t route_open(server_t *server, mongoc_client_t *client, route_t **route, err_t *err) {
    route_t *it = ZEROED(route_t);
    *route = NULL;
    if (!it)
        return err_memory(err, sizeof *it), ROUTE_FAILED;
    it->server = server;
    bson_init(&it->sharding.key.spec);
    pthread_mutex_init(&it->lock, NULL);
    bool hidden = false, unclear = false;
    uint64_t newest;
    route_read_t read = read_collection(it, client, err);
    if (read == ROUTE_READ && !(read_newest(it, client, &newest, &hidden, err) &&
                                read_chunks(it, client, newest, &hidden, &unclear, err)))
        read = hidden ? ROUTE_HIDDEN : unclear ? ROUTE_UNCLEAR : ROUTE_FAILED;
    if (read == ROUTE_READ)
        *route = it;
    else
        route_close(it);
    return read;
}

void route_close(route_t *route) {
    if (!route)
        return;
    sharding_free(&route->sharding);
    chunkmap_free(route->map);
    pthread_mutex_destroy(&route->lock);
    free(route);
}

const shardkey_t *route_key(const route_t *route) {
    return &route->sharding.key;
}

chunkmap_t *route_map(route_t *route) {
    pthread_mutex_lock(&route->lock);
    chunkmap_t *map = chunkmap_share(route->map);
    pthread_mutex_unlock(&route->lock);
    return map;
}

bool route_refresh(route_t *route, mongoc_client_t *client, err_t *err) {
    uint64_t newest;
    bool unclear;
    return read_newest(route, client, &newest, NULL, err) &&
           (newest == route->newest || read_chunks(route, client, newest, NULL, &unclear, err));
}

void route_version(const route_t *route, const chunkmap_t *map, size_t shard, bson_t *version) {
    uint64_t newest = chunkmap_version(map, shard);
    bson_t fields;
    BSON_APPEND_DOCUMENT_BEGIN(version, "shardVersion", &fields);
    BSON_APPEND_OID(&fields, "e", &route->sharding.epoch);
    BSON_APPEND_TIMESTAMP(&fields, "t", (uint32_t)(route->sharding.timestamp >> 32),
                          (uint32_t)route->sharding.timestamp);
    BSON_APPEND_TIMESTAMP(&fields, "v", (uint32_t)(newest >> 32), (uint32_t)newest);
    bson_append_document_end(version, &fields);
}
