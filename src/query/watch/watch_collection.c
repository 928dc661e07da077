#include "base/log.h"
#include "base/text.h"
#include "query/watch/watch.h"
#include "server/bson_read.h"
#include "server/cluster.h"
#include "server/collection.h"
#include "server/server_errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- disk ---- */

typedef struct {
    double documents, bytes; /* as stored on the shards */
} lying_t;

static void add_shard(const bson_t *stats, watch_storage_t *storage, lying_t *lying) {
    /* documents of ranges that were moved to another shard are still stored here, but no query returns them */
    const double documents = bson_read_number(stats, "s.count"),
                 orphans = bson_read_number(stats, "s.numOrphanDocs");
    storage->documents += orphans > 0 && orphans <= documents ? documents - orphans : documents;
    storage->data_bytes += bson_read_number(stats, "s.storageSize");
    storage->index_bytes += bson_read_number(stats, "s.totalIndexSize");
    storage->shards++;
    lying->documents += documents;
    lying->bytes += bson_read_number(stats, "s.size");
}

/* code: the server's code, if it refused. */
static bool ask_stats(server_t *server, mongoc_client_t *client, const char *collection,
                      watch_storage_t *storage, int *code, err_t *err) {
    bson_t reply, stats;
    bson_iter_t shards;
    lying_t lying = {0, 0};
    /* fields are named one by one: the storage engine's own statistics are far longer */
    bson_t *command = BCON_NEW("aggregate", BCON_UTF8(collection), "pipeline", "[", "{", "$collStats", "{",
                               "storageStats", "{", "}", "}", "}", "{", "$project", "{", "s.count",
                               BCON_UTF8("$storageStats.count"), "s.size", BCON_UTF8("$storageStats.size"),
                               "s.numOrphanDocs", BCON_UTF8("$storageStats.numOrphanDocs"), "s.storageSize",
                               BCON_UTF8("$storageStats.storageSize"), "s.totalIndexSize",
                               BCON_UTF8("$storageStats.totalIndexSize"), "}", "}", "]", "cursor", "{",
                               "batchSize", BCON_INT32(10000), "}");
    bool ok = server_command(server, client, server_database(server), command, false, &reply, err);
    *code = ok ? 0 : server_code(&reply);
    for (bool some = ok && bson_read_batch(&reply, &shards); some && bson_read_next(&shards, &stats);)
        add_shard(&stats, storage, &lying);
    if (lying.documents > 0)
        storage->average_bytes = lying.bytes / lying.documents;
    storage->bson_bytes = lying.bytes;
    bson_destroy(command);
    bson_destroy(&reply);
    return ok;
}

static double count(server_t *server, mongoc_client_t *client, const char *collection) {
    bson_t *command = BCON_NEW("count", BCON_UTF8(collection)), reply;
    err_t ignored;
    bool ok = server_command(server, client, server_database(server), command, false, &reply, &ignored);
    double documents = ok ? bson_read_number(&reply, "n") : NAN;
    bson_destroy(command);
    bson_destroy(&reply);
    return documents;
}

/* If this user may not see it, the answer is false. */
static bool is_clustered(server_t *server, mongoc_client_t *client, const char *collection) {
    bson_t reply, listing;
    bson_iter_t listings, top, at;
    err_t ignored;
    bson_t *command =
        BCON_NEW("listCollections", BCON_INT32(1), "filter", "{", "name", BCON_UTF8(collection), "}");
    bool found = server_command(server, client, server_database(server), command, false, &reply, &ignored) &&
                 bson_read_batch(&reply, &listings) && bson_read_next(&listings, &listing) &&
                 bson_iter_init(&top, &listing) &&
                 bson_iter_find_descendant(&top, "options.clusteredIndex", &at);
    bson_destroy(command);
    bson_destroy(&reply);
    return found;
}

static bool is_sharded(server_t *server, mongoc_client_t *client, const char *collection) {
    sharding_t sharding;
    err_t ignored;
    const bool read = sharding_read_named(server, client, collection, &sharding, &ignored);
    sharding_free(&sharding);
    return read && sharding.sharded;
}

bool watch_storage(server_t *server, mongoc_client_t *client, const char *collection,
                   watch_storage_t *storage, err_t *err) {
    int code;
    *storage = (watch_storage_t){.shards = 0};
    if (!ask_stats(server, client, collection, storage, &code, err)) {
        if (code == CODE_NAMESPACE_NOT_FOUND)
            return true;
        if (code != CODE_UNAUTHORIZED && code != CODE_NOT_ON_A_VIEW)
            return false;
        *storage =
            (watch_storage_t){NAN, NAN, NAN, NAN, NAN, .shards = 1, .hidden = code == CODE_UNAUTHORIZED};
        if (storage->hidden)
            storage->documents = count(server, client, collection);
    }
    uint64_t documents;
    /* a server that did not end in an orderly way may have forgotten how many there are */
    if (storage->documents == 0) {
        if (!collection_count(server, client, collection, NULL, &documents, err))
            return false;
        storage->documents = (double)documents;
    }
    storage->clustered = is_clustered(server, client, collection);
    storage->sharded = storage->shards > 1 || (server_facts(server)->kind == SERVER_ROUTER &&
                                               is_sharded(server, client, collection));
    return true;
}

/* ---- what the catalog tells ---- */

void watch_format(server_t *server, mongoc_client_t *client, char format[120]) {
    char name[300];
    bson_t reply, header;
    bson_iter_t found, at;
    err_t ignored;
    snprintf(name, sizeof name, "%s" OWN_FILES, server_collection(server));
    bson_t *command = BCON_NEW("find", BCON_UTF8(name), "filter", "{", "_id", BCON_UTF8("catalog"), "}",
                               "projection", "{", "format", BCON_INT32(1), "}", "limit", BCON_INT32(1));
    format[0] = 0;
    if (server_command(server, client, server_database(server), command, false, &reply, &ignored) &&
        bson_read_batch(&reply, &found) && bson_read_next(&found, &header) &&
        bson_iter_init_find(&at, &header, "format") && BSON_ITER_HOLDS_UTF8(&at))
        snprintf(format, 120, "%s", bson_iter_utf8(&at, NULL));
    bson_destroy(command);
    bson_destroy(&reply);
}

static int in_order(const void *a, const void *b) {
    const span_t *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

double watch_covered(span_t *spans, size_t count) {
    double covered = 0, upto = -INFINITY;
    if (count)
        qsort(spans, count, sizeof *spans, in_order);
    for (size_t i = 0; i < count; i++) {
        if (spans[i].to > upto)
            covered += spans[i].to - fmax(spans[i].from, upto);
        upto = fmax(upto, spans[i].to);
    }
    return covered;
}

/* By the server's clock: the catalog has its time for each sign of life, also the last. False: the load stored
 * nothing. */
static bool take_span(const bson_t *load, span_t *span) {
    const double seen = bson_read_number(load, "seen") / 1e3, seconds = bson_read_number(load, "seconds");
    const bool ended = !isnan(bson_read_number(load, "ended"));
    span->to = seen;
    span->from = ended ? seen - seconds : bson_read_number(load, "since") / 1e3;
    return !ended || bson_read_number(load, "loaded") > 0 || bson_read_number(load, "alreadyThere") > 0;
}

double watch_load_seconds(server_t *server, mongoc_client_t *client) {
    char name[300];
    bson_t reply, load;
    bson_iter_t loads;
    err_t ignored;
    span_t *spans = NULL;
    size_t count = 0, room = 0;
    bool ok, told = true;
    snprintf(name, sizeof name, "%s" OWN_LOADS, server_collection(server));
    bson_t *command =
        BCON_NEW("find", BCON_UTF8(name), "batchSize", BCON_INT32(100000), "projection", "{", "seen",
                 BCON_INT32(1), "since", BCON_INT32(1), "ended", BCON_INT32(1), "seconds", BCON_INT32(1),
                 "loaded", BCON_INT32(1), "alreadyThere", BCON_INT32(1), "}");
    ok = server_command(server, client, server_database(server), command, false, &reply, &ignored) &&
         bson_read_batch(&reply, &loads);
    while (ok && bson_read_next(&loads, &load)) {
        span_t span;
        if (!take_span(&load, &span))
            continue;
        if (!(ok = GROW(spans, room, count + 1, NULL)))
            break;
        told = told && span.from <= span.to;
        spans[count++] = span;
    }
    double seconds = ok && told && count ? watch_covered(spans, count) : NAN;
    bson_destroy(command);
    bson_destroy(&reply);
    free(spans);
    return seconds;
}
