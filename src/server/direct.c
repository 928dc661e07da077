/* Connections straight to the shards, and the proof that each refuses what was sorted by an old map. */
#include "server/bson_read.h"
#include "server/cluster.h"
#include "server/send.h"
#include "server/server_inner.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_TRIES = 40, PAUSE_NS = 50000000 };

struct direct {
    size_t count;
    server_t *servers[CHUNKMAP_MOST_SHARDS];
};

typedef struct {
    server_t *server; /* the routers */
    mongoc_client_t *client;
    route_t *route;
    uint32_t connections;
} opening_t;

server_t *direct_server(const direct_t *direct, size_t shard) {
    return shard < direct->count ? direct->servers[shard] : NULL;
}

void direct_close(direct_t *direct) {
    if (!direct)
        return;
    for (size_t i = 0; i < direct->count; i++)
        server_destroy(direct->servers[i]);
    free(direct);
}

/* ---- the proof ---- */

/* An update that matches no document, with a version: *code is the shard's answer, 0 or CODE_STALE_CONFIG. False: it
 * answered something else: err has it. */
static bool try_version(server_t *shard, mongoc_client_t *client, const bson_t *version, int *code,
                        err_t *err) {
    bson_t *command =
        BCON_NEW("update", BCON_UTF8(server_collection(shard)), "updates", "[", "{", "q", "{", "_id", "{",
                 "$in", "[", "]", "}", "}", "u", "{", "$set", "{", "_", BCON_INT32(1), "}", "}", "}", "]");
    bson_error_t error;
    bson_t reply;
    bson_concat(command, version);
    const bool ok =
        mongoc_client_command_simple(client, server_database(shard), command, NULL, &reply, &error);
    *code = server_code(&reply);
    const bool answered = (ok && *code == 0) || *code == CODE_STALE_CONFIG;
    if (!answered && ok)
        bson_set_error(&error, MONGOC_ERROR_SERVER, (uint32_t)*code, "it refused a probe");
    if (!answered &&
        !refusal_explain(server_address(shard), &error, &reply, "write straight to a shard", err) &&
        refusal_of(&error, &reply) != CODE_PASSING)
        err->status = STATUS_USAGE;
    bson_destroy(&reply);
    bson_destroy(command);
    return answered;
}

/* A version from before the last move: as in a message that was sorted by an old map. */
static void make_older(const bson_t *version, bson_t *older) {
    bson_iter_t at, field;
    uint32_t major, minor;
    bson_copy_to(version, older);
    if (bson_iter_init_find(&at, older, "shardVersion") && bson_iter_recurse(&at, &field) &&
        bson_iter_find(&field, "v")) {
        bson_iter_timestamp(&field, &major, &minor);
        bson_iter_overwrite_timestamp(&field, major - 1, 0);
    }
}

/* The shard must refuse an older version and accept the current one. A shard that was just elected, or whose chunks are
 * moving, may need a little time for the second. */
static bool prove(server_t *shard, mongoc_client_t *client, route_t *route, size_t number,
                  mongoc_client_t *router, err_t *err) {
    int with_older = 0, with_present = CODE_STALE_CONFIG;
    bool ok = true;
    for (int tries = 0; ok && with_present == CODE_STALE_CONFIG && tries < MOST_TRIES; tries++) {
        bson_t version = BSON_INITIALIZER, older;
        if (tries) {
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
            ok = route_refresh(route, router, err);
        }
        chunkmap_t *map = route_map(route);
        route_version(route, map, number, &version);
        chunkmap_free(map);
        make_older(&version, &older);
        ok = ok && try_version(shard, client, &older, &with_older, err) &&
             try_version(shard, client, &version, &with_present, err);
        bson_destroy(&version);
        bson_destroy(&older);
    }
    if (!ok || (with_older == CODE_STALE_CONFIG && with_present == 0))
        return ok;
    return err_set(err, STATUS_USAGE,
                   "MongoDB %s there does not %s, so that documents that were acknowledged could be lost "
                   "with a chunk that moves",
                   server_facts(shard)->version,
                   with_older != CODE_STALE_CONFIG ? "refuse what was sorted by an old map of the chunks"
                                                   : "know the chunks that the cluster lists");
}

/* ---- the shards ---- */

static server_t *connect_to(const opening_t *opening, const char *host, err_t *err) {
    const char *slash = strchr(host, '/'); /* "s0/a:1,b:2": the replica set and its members */
    char *set = slash ? strndup(host, (size_t)(slash - host)) : NULL;
    server_t *shard = set ? server_of_hosts(opening->server, slash + 1, set, opening->connections,
                                            opening->server->patience_ns, err)
                          : NULL;
    if (!set)
        err_set(err, STATUS_USAGE, "the cluster does not name its hosts");
    free(set);
    return shard;
}

static bool open_shard(direct_t *direct, const opening_t *opening, const config_list_t *shards,
                       const char *name, err_t *err) {
    const char *host = "";
    for (size_t i = 0; i < shards->count; i++)
        if (strcmp(bson_read_text(shards->documents[i], "_id"), name) == 0)
            host = bson_read_text(shards->documents[i], "host");
    server_t *shard = connect_to(opening, host, err);
    bool ok = shard != NULL;
    if (ok) {
        direct->servers[direct->count++] = shard;
        mongoc_client_t *client = server_take(shard, err);
        ok = client && prove(shard, client, opening->route, direct->count - 1, opening->client, err);
        server_give(shard, client);
    }
    if (!ok) {
        err_t why = *err;
        err_set(err, why.status,
                "--direct: the shard %s: %.900s. Without --direct the routers do the sorting; a shard has "
                "users of its own, and from MongoDB 8.0 on they need the role directShardOperations",
                name, why.text);
    }
    return ok;
}

direct_t *direct_open(server_t *server, mongoc_client_t *client, route_t *route, uint32_t connections,
                      err_t *err) {
    const opening_t opening = {server, client, route, connections};
    config_list_t shards;
    direct_t *direct = calloc(1, sizeof *direct);
    if (!direct) {
        err_memory(err, sizeof *direct);
        return NULL;
    }
    bool ok = config_find(server, client, "shards", bson_new(), NULL, &shards, NULL, err);
    chunkmap_t *map = route_map(route);
    for (size_t i = 0; ok && i < chunkmap_shards(map); i++)
        ok = open_shard(direct, &opening, &shards, chunkmap_shard_name(map, i), err);
    chunkmap_free(map);
    config_free(&shards);
    if (ok)
        return direct;
    direct_close(direct);
    return NULL;
}
