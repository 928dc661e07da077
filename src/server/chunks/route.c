#include "server/chunks/route.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/chunks/config.h"
#include "server/chunks/sharding.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
