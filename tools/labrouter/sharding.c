/* The administration commands of a sharded cluster, as translations into what a mongos would say to the
 * config server and the shards. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

/* ---- the same thing under another name, at the config server ---- */

static const struct {
    const char *name, *inner;
    bool majority;
} RENAMED[] = {
    {"addShardToZone", "_configsvrAddShardToZone", true},
    {"removeShardFromZone", "_configsvrRemoveShardFromZone", true},
    {"updateZoneKeyRange", "_configsvrUpdateZoneKeyRange", true},
    {"addShard", "_configsvrAddShard", true},
    {"addshard", "_configsvrAddShard", true},
    {"moveRange", "_configsvrMoveRange", true},
    {"configureCollectionBalancing", "_configsvrConfigureCollectionBalancing", false},
    {"clearJumboFlag", "_configsvrClearJumboFlag", true},
    {"balancerStart", "_configsvrBalancerStart", false},
    {"balancerStop", "_configsvrBalancerStop", false},
    {"balancerStatus", "_configsvrBalancerStatus", false},
    {"balancerCollectionStatus", "_configsvrBalancerCollectionStatus", false},
};

bool sharding_renamed(call_t *call) {
    bson_iter_t iter;
    const char *name = command_name(call->command);
    size_t at = 0;
    while (strcmp(RENAMED[at].name, name) != 0)
        at++;
    call_has(call, NULL, &iter);
    bson_t *command = bson_new();
    bson_append_iter(command, RENAMED[at].inner, -1, &iter);
    call_copy_fields(call, command, NULL);
    if (RENAMED[at].majority)
        call_majority(command);
    return call_finish(call, "config", "admin", command);
}

bool sharding_list_shards(call_t *call) {
    bson_t reply;
    bson_iter_t iter, batch;
    if (!call_ask(call, "config", "config",
                  BCON_NEW("find", "shards", "sort", "{", "_id", BCON_INT32(1), "}"), &reply))
        return false;
    bson_init(call->reply);
    if (bson_iter_init(&iter, &reply) && bson_iter_find_descendant(&iter, "cursor.firstBatch", &batch))
        bson_append_iter(call->reply, "shards", -1, &batch);
    bson_destroy(&reply);
    return call_close(call);
}

/* ---- databases and collections ---- */

bool sharding_enable(call_t *call) {
    static const char *const BUT[] = {"primaryShard", NULL};
    bson_iter_t iter;
    const char *database = call_text(call, NULL);
    if (!database)
        return false;
    bson_t *command = BCON_NEW("_configsvrCreateDatabase", BCON_UTF8(database));
    if (call_has(call, "primaryShard", &iter))
        bson_append_iter(command, "primaryShardId", -1, &iter);
    call_copy_fields(call, command, BUT);
    call_majority(command);
    bson_t raw;
    if (!call_ask(call, "config", "admin", command, &raw))
        return false;
    bson_destroy(&raw);
    return call_done(call);
}

/* "database.collection" of a command on the database admin that names it; the two parts. */
static const char *full_name(call_t *call, char *database) {
    const char *namespace = call_text(call, NULL), *dot = namespace ? strchr(namespace, '.') : NULL;
    if (namespace && (!dot || !dot[1])) {
        problem_set(call->problem, 73, "%s is not the name of a collection: DATABASE.COLLECTION is wanted",
                    namespace);
        return NULL;
    }
    if (namespace)
        snprintf(database, NAME_SIZE, "%.*s", (int)(dot - namespace), namespace);
    return namespace;
}

bool sharding_shard_collection(call_t *call) {
    static const char *const BUT[] = {"key", NULL};
    char name[NAME_SIZE];
    bson_iter_t key;
    database_t database;
    const char *namespace = full_name(call, name);
    if (!namespace)
        return false;
    if (!call_has(call, "key", &key) || !BSON_ITER_HOLDS_DOCUMENT(&key))
        return problem_set(call->problem, CODE_FAILED_TO_PARSE,
                           "shardCollection: the field key must be a document");
    if (!catalog_database(call, name, true, &database))
        return false;
    bson_t *command = BCON_NEW("_shardsvrCreateCollection", BCON_UTF8(namespace + strlen(name) + 1));
    bson_append_iter(command, "shardKey", -1, &key);
    call_copy_fields(call, command, BUT);
    bson_append_document(command, "databaseVersion", -1, &database.version);
    call_majority(command);
    catalog_database_clean(&database);
    bson_t raw;
    if (!call_ask(call, database.primary, name, command, &raw))
        return false;
    bson_destroy(&raw);
    bson_init(call->reply);
    bson_append_utf8(call->reply, "collectionsharded", -1, namespace, -1);
    return call_close(call);
}

/* ---- chunks ---- */

static bool document_field(call_t *call, const char *key, bson_t *document) {
    bson_iter_t iter;
    const uint8_t *data;
    uint32_t size;
    if (!call_has(call, key, &iter) || !BSON_ITER_HOLDS_DOCUMENT(&iter))
        return problem_set(call->problem, CODE_FAILED_TO_PARSE, "%s: the field %s must be a document",
                           command_name(call->command), key);
    bson_iter_document(&iter, &size, &data);
    return bson_init_static(document, data, size);
}

/* The server's own hash of a value. */
static bool append_hash(call_t *call, bson_t *to, const char *key, const bson_iter_t *value) {
    bson_t *command = bson_new(), pipeline, stage, list, document, field, hash, reply;
    bson_iter_t iter, found;
    BSON_APPEND_INT32(command, "aggregate", 1);
    bson_append_array_unsafe_begin(command, "pipeline", -1, &pipeline);
    bson_append_document_begin(&pipeline, "0", -1, &stage);
    bson_append_array_unsafe_begin(&stage, "$documents", -1, &list);
    bson_append_document_begin(&list, "0", -1, &document);
    bson_append_document_begin(&document, "h", -1, &field);
    bson_append_document_begin(&field, "$toHashedIndexKey", -1, &hash);
    bson_append_iter(&hash, "$literal", -1, value);
    bson_append_document_end(&field, &hash);
    bson_append_document_end(&document, &field);
    bson_append_document_end(&list, &document);
    bson_append_array_end(&stage, &list);
    bson_append_document_end(&pipeline, &stage);
    bson_append_array_end(command, &pipeline);
    bson_append_document_begin(command, "cursor", -1, &field);
    bson_append_document_end(command, &field);
    if (!call_ask(call, "config", "admin", command, &reply))
        return false;
    const bool ok =
        bson_iter_init(&iter, &reply) && bson_iter_find_descendant(&iter, "cursor.firstBatch.0.h", &found);
    if (ok)
        bson_append_iter(to, key, -1, &found);
    else
        problem_set(call->problem, 8, "the server did not hash the value of %s", key);
    bson_destroy(&reply);
    return ok;
}

/* The shard key of the document in the field find. */
static bool key_of(call_t *call, const collection_t *collection, const bson_t *find, bson_t *key) {
    bson_iter_t iter, in, value;
    bson_iter_init(&iter, &collection->key);
    while (bson_iter_next(&iter)) {
        const char *name = bson_iter_key(&iter);
        if (!bson_iter_init_find(&in, find, name) &&
            !(bson_iter_init(&in, find) && bson_iter_find_descendant(&in, name, &value)))
            return problem_set(call->problem, 61, "find does not have the shard key's field %s", name);
        if (bson_iter_init_find(&in, find, name))
            value = in;
        if (!BSON_ITER_HOLDS_UTF8(&iter))
            bson_append_iter(key, name, -1, &value);
        else if (!append_hash(call, key, name, &value))
            return false;
    }
    return true;
}

static bool bounds_of(call_t *call, const char *key, bson_t *min, bson_t *max) {
    bson_iter_t iter, bound;
    const uint8_t *data;
    uint32_t size;
    bson_t *bounds[] = {min, max};
    bool ok = call_has(call, key, &iter) && BSON_ITER_HOLDS_ARRAY(&iter) && bson_iter_recurse(&iter, &bound);
    for (int i = 0; ok && i < 2; i++) {
        ok = bson_iter_next(&bound) && BSON_ITER_HOLDS_DOCUMENT(&bound);
        if (ok) {
            bson_iter_document(&bound, &size, &data);
            bson_init_static(bounds[i], data, size);
        }
    }
    return ok || problem_set(call->problem, CODE_FAILED_TO_PARSE, "%s: %s must be a list of two documents",
                             command_name(call->command), key);
}

/* The chunk that find, bounds, or middle (when `middle`) names. */
static bool named_chunk(call_t *call, const collection_t *collection, bool middle, chunk_t *chunk) {
    bson_iter_t iter;
    bson_t min, max, key = BSON_INITIALIZER;
    if (call_has(call, "bounds", &iter))
        return bounds_of(call, "bounds", &min, &max) && catalog_chunk(call, collection, &min, &max, chunk);
    if (middle && call_has(call, "middle", &iter))
        return document_field(call, "middle", &min) && catalog_chunk(call, collection, &min, NULL, chunk);
    const bool ok = document_field(call, "find", &min) && key_of(call, collection, &min, &key) &&
                    catalog_chunk(call, collection, &key, NULL, chunk);
    bson_destroy(&key);
    return ok;
}

bool sharding_move_chunk(call_t *call) {
    char name[NAME_SIZE];
    collection_t collection;
    chunk_t chunk;
    bson_iter_t iter;
    const char *namespace = full_name(call, name), *to = namespace ? call_text(call, "to") : NULL;
    if (!to || !catalog_sharded(call, namespace, &collection))
        return false;
    bool ok = named_chunk(call, &collection, false, &chunk);
    catalog_collection_clean(&collection);
    if (!ok)
        return false;
    const bool waits = (call_has(call, "_waitForDelete", &iter) || call_has(call, "waitForDelete", &iter)) &&
                       bson_iter_as_bool(&iter);
    bson_t *command = BCON_NEW("_configsvrMoveRange", BCON_UTF8(namespace), "toShard", BCON_UTF8(to), "min",
                               BCON_DOCUMENT(&chunk.min), "max", BCON_DOCUMENT(&chunk.max), "waitForDelete",
                               BCON_BOOL(waits));
    if (call_has(call, "forceJumbo", &iter))
        bson_append_bool(command, "forceJumbo", -1, bson_iter_as_bool(&iter));
    call_majority(command);
    catalog_chunk_clean(&chunk);
    return call_finish(call, "config", "admin", command);
}

/* The key in the middle of a chunk, as its shard counts it. */
static bool split_point(call_t *call, const char *namespace, const collection_t *collection,
                        const chunk_t *chunk, bson_t *point) {
    char name[NAME_SIZE];
    bson_t reply, part;
    bson_iter_t iter, found;
    const uint8_t *data;
    uint32_t size;
    bson_t *command =
        BCON_NEW("splitVector", BCON_UTF8(namespace), "keyPattern", BCON_DOCUMENT(&collection->key), "min",
                 BCON_DOCUMENT(&chunk->min), "max", BCON_DOCUMENT(&chunk->max), "force", BCON_BOOL(true));
    snprintf(name, sizeof name, "%.*s", (int)strcspn(namespace, "."), namespace);
    if (!call_ask(call, chunk->shard, name, command, &reply))
        return false;
    const bool ok = bson_iter_init(&iter, &reply) &&
                    bson_iter_find_descendant(&iter, "splitKeys.0", &found) &&
                    BSON_ITER_HOLDS_DOCUMENT(&found);
    if (ok) {
        bson_iter_document(&found, &size, &data);
        bson_init_static(&part, data, size);
        bson_copy_to(&part, point);
    } else {
        problem_set(call->problem, CODE_INVALID_OPTIONS,
                    "the chunk cannot be split: it holds fewer than two keys");
    }
    bson_destroy(&reply);
    return ok;
}

static bool commit_split(call_t *call, const char *namespace, const collection_t *collection,
                         const chunk_t *chunk, const bson_t *point) {
    bson_iter_t iter;
    bson_t *command = BCON_NEW("_configsvrCommitChunkSplit", BCON_UTF8(namespace));
    if (bson_iter_init_find(&iter, &collection->document, "lastmodEpoch"))
        bson_append_iter(command, "collEpoch", -1, &iter);
    if (bson_iter_init_find(&iter, &collection->document, "timestamp"))
        bson_append_iter(command, "collTimestamp", -1, &iter);
    BCON_APPEND(command, "min", BCON_DOCUMENT(&chunk->min), "max", BCON_DOCUMENT(&chunk->max), "splitPoints",
                "[", BCON_DOCUMENT(point), "]", "shard", BCON_UTF8(chunk->shard));
    call_majority(command);
    bson_t raw;
    if (!call_ask(call, "config", "admin", command, &raw))
        return false;
    bson_destroy(&raw);
    return call_done(call);
}

bool sharding_split(call_t *call) {
    char name[NAME_SIZE];
    collection_t collection;
    chunk_t chunk;
    bson_t point;
    bson_iter_t iter;
    const char *namespace = full_name(call, name);
    if (!namespace || !catalog_sharded(call, namespace, &collection))
        return false;
    bool ok = named_chunk(call, &collection, true, &chunk);
    if (ok) {
        if (call_has(call, "middle", &iter))
            ok = document_field(call, "middle", &point) &&
                 commit_split(call, namespace, &collection, &chunk, &point);
        else if ((ok = split_point(call, namespace, &collection, &chunk, &point))) {
            ok = commit_split(call, namespace, &collection, &chunk, &point);
            bson_destroy(&point);
        }
        catalog_chunk_clean(&chunk);
    }
    catalog_collection_clean(&collection);
    return ok;
}

bool sharding_merge_chunks(call_t *call) {
    char name[NAME_SIZE];
    collection_t collection;
    chunk_t chunk;
    bson_t min, max;
    bson_iter_t iter;
    const char *namespace = full_name(call, name);
    if (!namespace || !bounds_of(call, "bounds", &min, &max) ||
        !catalog_sharded(call, namespace, &collection))
        return false;
    bool ok = catalog_chunk(call, &collection, &min, NULL, &chunk);
    if (ok) {
        bson_t *command = BCON_NEW("mergeChunks", BCON_UTF8(namespace), "bounds", "[", BCON_DOCUMENT(&min),
                                   BCON_DOCUMENT(&max), "]");
        if (bson_iter_init_find(&iter, &collection.document, "lastmodEpoch"))
            bson_append_iter(command, "epoch", -1, &iter);
        if (bson_iter_init_find(&iter, &collection.document, "timestamp"))
            bson_append_iter(command, "timestamp", -1, &iter);
        ok = call_finish(call, chunk.shard, "admin", command);
        catalog_chunk_clean(&chunk);
    }
    catalog_collection_clean(&collection);
    return ok;
}
