/* The collection that is measured: its size on disk, and what its catalog says of its loads. */
#include "base/text.h"
#include "query/watch/watch.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/server_errors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- disk ---- */

static void add_shard(const bson_t *stats, watch_storage_t *storage) {
    /* documents of ranges that were moved to another shard are still stored here, but no query returns them */
    const double documents = bson_read_number(stats, "s.count"),
                 orphans = bson_read_number(stats, "s.numOrphanDocs");
    storage->documents += orphans > 0 && orphans <= documents ? documents - orphans : documents;
    storage->data_bytes += bson_read_number(stats, "s.storageSize");
    storage->index_bytes += bson_read_number(stats, "s.totalIndexSize");
    storage->shards++;
}

bool watch_storage(server_t *server, mongoc_client_t *client, const char *collection,
                   watch_storage_t *storage, err_t *err) {
    bson_t reply, stats;
    bson_iter_t shards;
    collection_t place;
    uint64_t documents;
    err_t ignored;
    /* fields are named one by one: the storage engine's own statistics are far longer */
    bson_t *command = BCON_NEW(
        "aggregate", BCON_UTF8(collection), "pipeline", "[", "{", "$collStats", "{", "storageStats", "{", "}",
        "}", "}", "{", "$project", "{", "s.count", BCON_UTF8("$storageStats.count"), "s.numOrphanDocs",
        BCON_UTF8("$storageStats.numOrphanDocs"), "s.storageSize", BCON_UTF8("$storageStats.storageSize"),
        "s.totalIndexSize", BCON_UTF8("$storageStats.totalIndexSize"), "}", "}", "]", "cursor", "{",
        "batchSize", BCON_INT32(10000), "}");
    *storage = (watch_storage_t){.shards = 0};
    const bool ok = server_ask(server, client, command, &reply, err);
    const int code = ok ? 0 : server_code(&reply);
    for (bool some = ok && bson_read_batch(&reply, &shards); some && bson_read_next(&shards, &stats);)
        add_shard(&stats, storage);
    bson_destroy(&reply);
    if (code == CODE_NAMESPACE_NOT_FOUND)
        return true;
    const bool hidden = code == CODE_UNAUTHORIZED;
    if (!ok && !hidden && code != CODE_NOT_ON_A_VIEW)
        return false;
    if (!ok)
        *storage = (watch_storage_t){NAN, NAN, hidden ? 0 : NAN, .shards = 1};
    /* a server that did not end in an orderly way may have forgotten how many there are */
    if (storage->documents == 0) {
        if (!collection_count(server, client, collection, NULL, &documents, err))
            return false;
        storage->documents = (double)documents;
    }
    storage->clustered = strcmp(collection, server_collection(server)) == 0 &&
                         collection_identity(server, client, &place, &ignored) && place.clustered;
    return true;
}
