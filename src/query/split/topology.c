#include "query/split/topology.h"
#include "server/bson_read.h"
#include "server/chunks/config.h"
#include "server/collection.h"
#include "server/command_cursor.h"
#include "server/refusal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { UNKNOWN_CORES = 2, HOST = 256, MOST_SHARDS = 1024 };

/* ---- the collection ---- */

static void read_options(topology_t *ground, const bson_t *options) {
    bson_iter_t option, locale;
    ground->clustered = bson_has_field(options, "clusteredIndex");
    ground->collation = bson_iter_init_find(&option, options, "collation") &&
                        BSON_ITER_HOLDS_DOCUMENT(&option) && bson_iter_recurse(&option, &locale) &&
                        bson_iter_find(&locale, "locale") && BSON_ITER_HOLDS_UTF8(&locale) &&
                        strcmp(bson_iter_utf8(&locale, NULL), "simple") != 0;
}

static bool look_at_collection(topology_t *ground, mongoc_client_t *client, const request_t *request,
                               bson_error_t *error) {
    bson_t *command = BCON_NEW("listCollections", BCON_INT32(1), "filter", "{", "name",
                               BCON_UTF8(request->collection), "}", "cursor", "{", "}");
    command_cursor_t cursor;
    const bson_t *entry, *reply;
    bson_t stated;
    bson_iter_t type;
    command_cursor_list(&cursor, client, request->database, command);
    while (command_cursor_next(&cursor, &entry)) {
        ground->exists = true;
        ground->view = bson_iter_init_find(&type, entry, "type") && BSON_ITER_HOLDS_UTF8(&type) &&
                       strcmp(bson_iter_utf8(&type, NULL), "collection") != 0;
        if (bson_read_field(entry, "options", &stated))
            read_options(ground, &stated);
    }
    bool ok = !command_cursor_failed(&cursor, error, &reply);
    command_cursor_end(&cursor);
    bson_destroy(command);
    if (!ok || !ground->exists || ground->view)
        return ok;
    mongoc_collection_t *collection =
        mongoc_client_get_collection(client, request->database, request->collection);
    int64_t count = mongoc_collection_estimated_document_count(collection, NULL, request->prefs, NULL, error);
    mongoc_collection_destroy(collection);
    ground->count = (double)count;
    return count >= 0;
}

/* ---- cores ---- */

/* "s0/host1:27018,host2:27018": host1 */
static void host_of(const bson_t *shard, char host[HOST]) {
    bson_iter_t at;
    const char *text =
        bson_iter_init_find(&at, shard, "host") && BSON_ITER_HOLDS_UTF8(&at) ? bson_iter_utf8(&at, NULL) : "";
    const char *slash = strchr(text, '/');
    text = slash ? slash + 1 : text;
    size_t length = *text == '[' ? strcspn(text, "]") + 1 : strcspn(text, ":,");
    snprintf(host, HOST, "%.*s", (int)length, text);
}

/* A router and its shards use such names for each other only if all are on one host. */
static bool is_loopback(const char *host) {
    return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 || strncmp(host, "127.", 4) == 0;
}

uint32_t topology_cores(const bson_t *const *shards, size_t count, const char *router_host,
                        uint32_t router_cores) {
    uint32_t hosts = 0;
    bool here = false;
    for (size_t i = 0; i < count; i++) {
        char host[HOST], earlier[HOST];
        bool first = true;
        host_of(shards[i], host);
        here = here || is_loopback(host) || strcmp(host, router_host) == 0;
        for (size_t k = 0; k < i && first; k++) {
            host_of(shards[k], earlier);
            first = strcmp(host, earlier) != 0 && !(is_loopback(host) && is_loopback(earlier));
        }
        hosts += first;
    }
    return here && router_cores ? hosts * router_cores : UNKNOWN_CORES * (uint32_t)count;
}

/* The cores of the server that answers, and the name of its host. 0: it does not tell. */
static uint32_t ask_cores(mongoc_client_t *client, char host[HOST]) {
    bson_t *command = BCON_NEW("hostInfo", BCON_INT32(1)), reply;
    bson_iter_t start, at;
    double cores = 0;
    host[0] = 0;
    if (mongoc_client_command_simple(client, "admin", command, NULL, &reply, NULL)) {
        static const char *const counts[] = {"system.numCores", "system.numCoresAvailableToProcess"};
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            if (bson_iter_init(&start, &reply) && bson_iter_find_descendant(&start, counts[i], &at)) {
                double told =
                    BSON_ITER_HOLDS_DOUBLE(&at) ? bson_iter_double(&at) : (double)bson_iter_as_int64(&at);
                cores = told >= 1 && (!i || told < cores) ? told : cores;
            }
        if (bson_iter_init(&start, &reply) && bson_iter_find_descendant(&start, "system.hostname", &at) &&
            BSON_ITER_HOLDS_UTF8(&at))
            snprintf(host, HOST, "%.*s", (int)strcspn(bson_iter_utf8(&at, NULL), ":"),
                     bson_iter_utf8(&at, NULL));
    }
    bson_destroy(command);
    bson_destroy(&reply);
    return (uint32_t)cores;
}

/* ---- shards ---- */

bool topology_is_id(const bson_t *key) {
    bson_iter_t part;
    return bson_count_keys(key) == 1 && bson_iter_init_find(&part, key, "_id") &&
           BSON_ITER_HOLDS_NUMBER(&part) && bson_iter_as_int64(&part) == 1;
}

static bool read_spread(topology_t *ground, server_t *server, mongoc_client_t *client,
                        const request_t *request, err_t *err) {
    char name[HOST];
    bson_t key;
    config_list_t entries = {.count = 0};
    snprintf(name, sizeof name, "%s.%s", request->database, request->collection);
    bson_t *filter = BCON_NEW("_id", BCON_UTF8(name));
    bool ok = config_find(server, client, "collections", filter, NULL, &entries, &ground->hidden, err);
    bool sharded = ok && entries.count && bson_read_field(entries.documents[0], "key", &key) &&
                   !bson_read_true(entries.documents[0], "dropped");
    ground->by_id = ok && (!sharded || topology_is_id(&key));
    ground->shards = sharded ? 2 : 1; /* until they are counted */
    config_free(&entries);
    bson_destroy(filter);
    return ok;
}

static bool look_at_cluster(topology_t *ground, server_t *server, mongoc_client_t *client,
                            const request_t *request, err_t *err) {
    char host[HOST];
    config_list_t shards = {.count = 0};
    bson_t all = BSON_INITIALIZER;
    bool ok = read_spread(ground, server, client, request, err);
    bool sharded = ground->shards > 1;
    ok = ok && config_find(server, client, "shards", &all, NULL, &shards, &ground->hidden, err);
    if (ok && shards.count) {
        size_t used = sharded ? shards.count : 1;
        ground->shards = (uint32_t)used;
        uint32_t cores = ask_cores(client, host);
        ground->cores = topology_cores((const bson_t *const *)shards.documents, used, host, cores);
    }
    config_free(&shards);
    bson_destroy(&all);
    return ok || ground->hidden;
}

bool topology_look(topology_t *ground, server_t *server, mongoc_client_t *client, const request_t *request,
                   err_t *err) {
    bson_error_t error;
    char host[HOST];
    *ground = (topology_t){.shards = 1, .by_id = true, .router = server_facts(server)->kind == SERVER_ROUTER};
    if (!look_at_collection(ground, client, request, &error))
        return refusal_explain(server_address(server), &error, NULL, "look at the collection", err);
    uint64_t counted = 0;
    /* a server that was killed may have forgotten how many there are */
    if (ground->exists && !ground->view && ground->count == 0) {
        if (!collection_count(server, client, request->collection, NULL, &counted, err))
            return false;
        ground->count = (double)counted;
    }
    if (ground->router)
        return look_at_cluster(ground, server, client, request, err);
    ground->cores = ask_cores(client, host);
    if (!ground->cores)
        ground->cores = UNKNOWN_CORES;
    return true;
}
