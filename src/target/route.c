#include "target/route.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct route {
    server_t *server;
    shardkey_t key;
    uint8_t uuid[16];
    bool by_uuid;         /* config.chunks knows the collection by its UUID (from 5.0 on) */
    uint64_t newest;      /* the highest lastmod of its chunks */
    pthread_mutex_t lock; /* of the pointer */
    chunkmap_t *map;
};

/* Runs a find on the config database and hands each document over; the last one tells. */
typedef bool take_fn(void *context, const bson_t *document);

static bool find_config(server_t *server, mongoc_client_t *client, const char *collection,
                        const bson_t *filter, const bson_t *options, take_fn *take, void *context,
                        bool *hidden, err_t *err) {
    bson_error_t error;
    const bson_t *document, *reply = NULL;
    patience_t patience = server_patience(server);
    mongoc_collection_t *config = mongoc_client_get_collection(client, "config", collection);
    bool ok = false, again = true;
    while (again) {
        mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(config, filter, options, NULL);
        ok = true;
        while (ok && mongoc_cursor_next(cursor, &document))
            ok = take(context, document);
        bool failed = mongoc_cursor_error_document(cursor, &error, &reply);
        again = false;
        if (!ok) {
            err_memory(err, 1);
        } else if (failed) {
            ok = false;
            *hidden = error.code == 13;
            again = !*hidden &&
                    server_again(server, client, &patience, &error, reply, "read the config database", err);
        }
        mongoc_cursor_destroy(cursor);
    }
    mongoc_collection_destroy(config);
    return ok;
}

typedef struct {
    bson_t found; /* empty: nothing was */
} one_t;

static bool take_one(void *context, const bson_t *document) {
    one_t *one = context;
    bson_reinit(&one->found);
    return bson_concat(&one->found, document);
}

static uint64_t timestamp_of(const bson_t *document, const char *key) {
    bson_iter_t at;
    uint32_t seconds = 0, increment = 0;
    if (bson_iter_init_find(&at, document, key) && BSON_ITER_HOLDS_TIMESTAMP(&at))
        bson_iter_timestamp(&at, &seconds, &increment);
    return (uint64_t)seconds << 32 | increment;
}

/* config.collections: the key, and by what the chunks are known. */
static route_read_t read_collection(route_t *route, mongoc_client_t *client, err_t *err) {
    one_t one;
    bson_iter_t at;
    bool hidden = false;
    bson_init(&one.found);
    bson_t *filter = BCON_NEW("_id", BCON_UTF8(server_namespace(route->server)));
    bool ok = find_config(route->server, client, "collections", filter, NULL, take_one, &one, &hidden, err);
    bson_destroy(filter);
    route_read_t result = !ok ? hidden ? ROUTE_HIDDEN : ROUTE_FAILED : ROUTE_UNSHARDED;
    bool dropped = bson_iter_init_find(&at, &one.found, "dropped") && bson_iter_as_bool(&at);
    if (ok && !dropped && bson_iter_init_find(&at, &one.found, "key") && BSON_ITER_HOLDS_DOCUMENT(&at)) {
        const uint8_t *bytes;
        uint32_t length;
        bson_t spec;
        bson_subtype_t subtype;
        bson_iter_document(&at, &length, &bytes);
        shardkey_free(&route->key);
        ok = bson_init_static(&spec, bytes, length) && shardkey_read(&spec, &route->key);
        if (ok && bson_iter_init_find(&at, &one.found, "uuid") && BSON_ITER_HOLDS_BINARY(&at)) {
            bson_iter_binary(&at, &subtype, &length, &bytes);
            if (length == sizeof route->uuid)
                memcpy(route->uuid, bytes, length);
        }
        route->by_uuid = server_facts(route->server)->major >= 5;
        result = ok ? ROUTE_READ : ROUTE_FAILED;
        if (!ok)
            err_set(err, STATUS_USAGE, "the shard key of %s is not understood",
                    server_namespace(route->server));
    }
    bson_destroy(&one.found);
    return result;
}

static bson_t *chunks_filter(const route_t *route) {
    return route->by_uuid ? BCON_NEW("uuid", BCON_BIN(BSON_SUBTYPE_UUID, route->uuid, sizeof route->uuid))
                          : BCON_NEW("ns", BCON_UTF8(server_namespace(route->server)));
}

typedef struct {
    chunkmap_t *map;
    uint64_t newest;
} chunks_t;

static bool take_chunk(void *context, const bson_t *document) {
    chunks_t *chunks = context;
    bson_iter_t at;
    const uint8_t *bytes;
    uint32_t length;
    bson_t min;
    uint64_t version = timestamp_of(document, "lastmod");
    if (!bson_iter_init_find(&at, document, "min") || !BSON_ITER_HOLDS_DOCUMENT(&at))
        return true;
    bson_iter_document(&at, &length, &bytes);
    if (version > chunks->newest)
        chunks->newest = version;
    return bson_init_static(&min, bytes, length) && bson_iter_init_find(&at, document, "shard") &&
           BSON_ITER_HOLDS_UTF8(&at) && chunkmap_add(chunks->map, &min, bson_iter_utf8(&at, NULL), version);
}

static bool read_chunks(route_t *route, mongoc_client_t *client, bool *hidden, err_t *err) {
    chunks_t chunks = {.map = chunkmap_new(route->map)};
    if (!chunks.map)
        return err_memory(err, 1);
    bson_t *filter = chunks_filter(route), *options = BCON_NEW("sort", "{", "min", BCON_INT32(1), "}");
    bool ok = find_config(route->server, client, "chunks", filter, options, take_chunk, &chunks, hidden, err);
    bson_destroy(filter);
    bson_destroy(options);
    if (!ok || !chunkmap_chunks(chunks.map)) {
        chunkmap_free(chunks.map);
        return ok &&
               err_set(err, STATUS_SERVER, "the cluster says of no chunk that it belongs to %s; try again",
                       server_namespace(route->server));
    }
    pthread_mutex_lock(&route->lock);
    chunkmap_t *old = route->map;
    route->map = chunks.map;
    pthread_mutex_unlock(&route->lock);
    chunkmap_free(old);
    route->newest = chunks.newest;
    return true;
}

route_read_t route_open(server_t *server, mongoc_client_t *client, route_t **route, err_t *err) {
    route_t *it = calloc(1, sizeof *it);
    *route = NULL;
    if (!it)
        return err_memory(err, sizeof *it), ROUTE_FAILED;
    it->server = server;
    bson_init(&it->key.spec);
    pthread_mutex_init(&it->lock, NULL);
    bool hidden = false;
    route_read_t read = read_collection(it, client, err);
    if (read == ROUTE_READ && !read_chunks(it, client, &hidden, err))
        read = hidden ? ROUTE_HIDDEN : ROUTE_FAILED;
    if (read == ROUTE_READ)
        *route = it;
    else
        route_close(it);
    return read;
}

void route_close(route_t *route) {
    if (!route)
        return;
    shardkey_free(&route->key);
    chunkmap_free(route->map);
    pthread_mutex_destroy(&route->lock);
    free(route);
}

const shardkey_t *route_key(const route_t *route) {
    return &route->key;
}

chunkmap_t *route_map(route_t *route) {
    pthread_mutex_lock(&route->lock);
    chunkmap_t *map = chunkmap_share(route->map);
    pthread_mutex_unlock(&route->lock);
    return map;
}

bool route_refresh(route_t *route, mongoc_client_t *client, err_t *err) {
    one_t one;
    bool hidden = false;
    bson_init(&one.found);
    bson_t *filter = chunks_filter(route),
           *options = BCON_NEW("sort", "{", "lastmod", BCON_INT32(-1), "}", "limit", BCON_INT64(1));
    bool ok = find_config(route->server, client, "chunks", filter, options, take_one, &one, &hidden, err);
    uint64_t newest = timestamp_of(&one.found, "lastmod");
    bson_destroy(filter);
    bson_destroy(options);
    bson_destroy(&one.found);
    if (!ok || newest == route->newest)
        return ok;
    return read_chunks(route, client, &hidden, err);
}
