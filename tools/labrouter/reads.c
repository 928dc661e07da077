/* Reads, and the one write, for which a mongod has no router's command. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

/* Sends a command to the mongod that routes. */
static bool ask_route(call_t *call, bson_t *command, bson_t *reply) {
    bool ok = links_ask_route(call->links, call->database, command, reply, call->problem);
    bson_destroy(command);
    if (ok && !reply_ok(reply, call->problem)) {
        bson_destroy(reply);
        ok = false;
    }
    return ok;
}

/* A clusterAggregate whose pipeline is still open. */
static bson_t *begin_aggregate(call_t *call, bson_t *pipeline) {
    bson_iter_t iter;
    bson_t *command = bson_new();
    call_has(call, NULL, &iter);
    bson_append_iter(command, "clusterAggregate", -1, &iter);
    bson_append_array_unsafe_begin(command, "pipeline", -1, pipeline);
    return command;
}

static void end_aggregate(call_t *call, bson_t *command, bson_t *pipeline, const char *const *but) {
    bson_append_array_end(command, pipeline);
    BCON_APPEND(command, "cursor", "{", "batchSize", BCON_INT32(1 << 30), "}");
    call_copy_all(call, command, but);
}

static void append_stage(bson_t *pipeline, int *count, const char *name, const bson_iter_t *value) {
    bson_t stage;
    char key[16];
    snprintf(key, sizeof key, "%d", (*count)++);
    bson_append_document_begin(pipeline, key, -1, &stage);
    bson_append_iter(&stage, name, -1, value);
    bson_append_document_end(pipeline, &stage);
}

static void append_bson_stage(bson_t *pipeline, int *count, bson_t *stage) {
    char key[16];
    snprintf(key, sizeof key, "%d", (*count)++);
    bson_append_document(pipeline, key, -1, stage);
    bson_destroy(stage);
}

/* Without a query the shards just say how many they have. */
static bool count_all(call_t *call, const char *namespace) {
    names_t owners = {0};
    bson_t reply;
    bson_iter_t iter;
    int64_t total = 0;
    bool ok = catalog_owners(call, namespace, false, &owners);
    for (size_t i = 0; i < owners.count && ok; i++) {
        bson_t *command = BCON_NEW("count", BCON_UTF8(strchr(namespace, '.') + 1));
        ok = call_ask(call, owners.names[i], call->database, command, &reply);
        if (ok) {
            total += bson_iter_init_find(&iter, &reply, "n") ? bson_iter_as_int64(&iter) : 0;
            bson_destroy(&reply);
        }
    }
    names_clean(&owners);
    if (!ok)
        return false;
    bson_init(call->reply);
    if (total <= INT32_MAX)
        bson_append_int32(call->reply, "n", -1, (int32_t)total);
    else
        bson_append_int64(call->reply, "n", -1, total);
    return call_close(call);
}

static bool is_empty(const bson_iter_t *document) {
    bson_iter_t inner;
    return BSON_ITER_HOLDS_DOCUMENT(document) && bson_iter_recurse(document, &inner) &&
           !bson_iter_next(&inner);
}

bool reads_count(call_t *call) {
    static const char *const BUT[] = {"query", "skip", "limit", "fields", NULL};
    char namespace[NAME_SIZE];
    bson_t pipeline, reply;
    bson_iter_t query, skip, limit, iter, n;
    int count = 0;
    if (!call_namespace(call, namespace))
        return false;
    const bool has_query = call_has(call, "query", &query) && !is_empty(&query);
    const bool has_skip = call_has(call, "skip", &skip) && bson_iter_as_int64(&skip) != 0;
    const bool has_limit = call_has(call, "limit", &limit) && bson_iter_as_int64(&limit) != 0;
    if (!has_query && !has_skip && !has_limit)
        return count_all(call, namespace);
    bson_t *command = begin_aggregate(call, &pipeline);
    if (has_query)
        append_stage(&pipeline, &count, "$match", &query);
    if (has_skip)
        append_stage(&pipeline, &count, "$skip", &skip);
    if (has_limit)
        append_stage(&pipeline, &count, "$limit", &limit);
    append_bson_stage(&pipeline, &count, BCON_NEW("$count", "n"));
    end_aggregate(call, command, &pipeline, BUT);
    if (!ask_route(call, command, &reply))
        return false;
    bson_init(call->reply);
    if (bson_iter_init(&iter, &reply) && bson_iter_find_descendant(&iter, "cursor.firstBatch.0.n", &n))
        bson_append_iter(call->reply, "n", -1, &n);
    else
        bson_append_int32(call->reply, "n", -1, 0);
    bson_destroy(&reply);
    return call_close(call);
}

bool reads_distinct(call_t *call) {
    static const char *const BUT[] = {"key", "query", NULL};
    char path[NAME_SIZE + 1] = "$";
    bson_t pipeline, reply, values;
    bson_iter_t query, iter, batch, item;
    int count = 0;
    const char *key = call_text(call, "key");
    if (!key)
        return false;
    snprintf(path + 1, sizeof path - 1, "%s", key);
    bson_t *command = begin_aggregate(call, &pipeline);
    if (call_has(call, "query", &query) && BSON_ITER_HOLDS_DOCUMENT(&query))
        append_stage(&pipeline, &count, "$match", &query);
    append_bson_stage(&pipeline, &count,
                      BCON_NEW("$unwind", "{", "path", BCON_UTF8(path), "preserveNullAndEmptyArrays",
                               BCON_BOOL(true), "}"));
    append_bson_stage(&pipeline, &count,
                      BCON_NEW("$match", "{", BCON_UTF8(key), "{", "$exists", BCON_BOOL(true), "}", "}"));
    append_bson_stage(&pipeline, &count, BCON_NEW("$group", "{", "_id", BCON_UTF8(path), "}"));
    append_bson_stage(&pipeline, &count, BCON_NEW("$sort", "{", "_id", BCON_INT32(1), "}"));
    end_aggregate(call, command, &pipeline, BUT);
    if (!ask_route(call, command, &reply))
        return false;
    bson_init(call->reply);
    bson_append_array_unsafe_begin(call->reply, "values", -1, &values);
    count = 0;
    if (bson_iter_init(&iter, &reply) && bson_iter_find_descendant(&iter, "cursor.firstBatch", &batch) &&
        bson_iter_recurse(&batch, &item))
        while (bson_iter_next(&item)) {
            char index[16];
            bson_iter_t value;
            snprintf(index, sizeof index, "%d", count);
            if (bson_iter_recurse(&item, &value) && bson_iter_find(&value, "_id"))
                count += bson_append_iter(&values, index, -1, &value);
        }
    bson_append_array_end(call->reply, &values);
    bson_destroy(&reply);
    return call_close(call);
}

bool reads_explain(call_t *call) {
    bson_iter_t iter, first;
    const uint8_t *data;
    uint32_t size;
    bson_t inner, renamed = BSON_INITIALIZER, part;
    if (!call_has(call, NULL, &iter) || !BSON_ITER_HOLDS_DOCUMENT(&iter))
        return problem_set(call->problem, CODE_FAILED_TO_PARSE, "explain: a command is wanted");
    bson_iter_document(&iter, &size, &data);
    bson_init_static(&inner, data, size);
    const command_t *command = command_find(command_name(&inner));
    if (!command || command->kind != COMMAND_ROUTE) {
        bson_destroy(&renamed);
        return problem_set(call->problem, CODE_NOT_SUPPORTED, "this router cannot explain %s",
                           command_name(&inner));
    }
    bson_iter_init(&first, &inner);
    bson_iter_next(&first);
    bson_append_iter(&renamed, command->to, -1, &first);
    while (bson_iter_next(&first))
        bson_append_iter(&renamed, bson_iter_key(&first), -1, &first);
    bson_t *explain = bson_new();
    bson_append_document(explain, "explain", -1, &renamed);
    call_copy_all(call, explain, NULL);
    bson_destroy(&renamed);
    if (!ask_route(call, explain, &part))
        return false;
    bson_copy_to(&part, call->reply);
    bson_destroy(&part);
    return true;
}

/* A router's cursors are kept elsewhere than those that a mongod can kill; they end by themselves, unused for
 * long. */
bool reads_kill_cursors(call_t *call) {
    static const char *const EMPTY[] = {"cursorsNotFound", "cursorsAlive", "cursorsUnknown"};
    bson_iter_t iter;
    bson_t list;
    bson_init(call->reply);
    if (call_has(call, "cursors", &iter))
        bson_append_iter(call->reply, "cursorsKilled", -1, &iter);
    for (size_t i = 0; i < sizeof EMPTY / sizeof *EMPTY; i++) {
        bson_append_array_unsafe_begin(call->reply, EMPTY[i], -1, &list);
        bson_append_array_end(call->reply, &list);
    }
    return call_close(call);
}

bool reads_find_and_modify(call_t *call) {
    char namespace[NAME_SIZE], place[NAME_SIZE];
    collection_t collection;
    bson_iter_t iter;
    if (!call_namespace(call, namespace) || !catalog_collection(call, namespace, &collection))
        return false;
    catalog_collection_clean(&collection);
    if (collection.sharded)
        return problem_set(call->problem, CODE_NOT_SUPPORTED,
                           "this router does findAndModify only where a collection is not sharded; %s is",
                           namespace);
    const bool creates = call_has(call, "upsert", &iter) && bson_iter_as_bool(&iter);
    if (!catalog_primary(call, call->database, creates, place))
        return false;
    if (!place[0]) {
        bson_init(call->reply);
        bson_append_null(call->reply, "value", -1);
        return call_close(call);
    }
    bson_t *command = bson_new();
    call_has(call, NULL, &iter);
    bson_append_iter(command, "findAndModify", -1, &iter);
    call_copy_all(call, command, NULL);
    return call_finish(call, place, call->database, command);
}

bool reads_at_config(call_t *call) {
    bson_iter_t iter;
    bson_t *command = bson_new();
    call_has(call, NULL, &iter);
    bson_append_iter(command, bson_iter_key(&iter), -1, &iter);
    call_copy_all(call, command, (const char *const[]){"lsid", NULL});
    return call_finish(call, "config", call->database, command);
}

/* ---- sums over shards ---- */

typedef struct {
    const char *name;
    bool of_first; /* not summed */
} stat_t;

static const stat_t COLLECTION_STATS[] = {
    {"count", false},          {"size", false},       {"storageSize", false},   {"freeStorageSize", false},
    {"totalIndexSize", false}, {"totalSize", false},  {"numOrphanDocs", false}, {"capped", true},
    {"nindexes", true},        {"scaleFactor", true}, {"clustered", true},      {NULL, false},
};
static const stat_t DATABASE_STATS[] = {
    {"objects", false},    {"dataSize", false},    {"storageSize", false}, {"totalSize", false},
    {"indexSize", false},  {"collections", false}, {"views", false},       {"indexes", false},
    {"scaleFactor", true}, {NULL, false},
};

static void sum_stats(call_t *call, const stat_t *stats, const bson_t *replies, size_t count) {
    bson_iter_t iter;
    for (; stats->name; stats++) {
        double total = 0;
        bool found = false;
        for (size_t i = 0; i < count; i++) {
            if (!bson_iter_init_find(&iter, &replies[i], stats->name))
                continue;
            if (stats->of_first && !found)
                bson_append_iter(call->reply, stats->name, -1, &iter);
            found = true;
            total += bson_iter_as_double(&iter);
        }
        if (found && !stats->of_first)
            bson_append_int64(call->reply, stats->name, -1, (int64_t)total);
    }
}

static double stat_of(const bson_t *reply, const char *name) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, reply, name) ? bson_iter_as_double(&iter) : 0;
}

/* Asks each of the shards, sums what they say, and shows each one's answer, too. */
static bool stats_of(call_t *call, const names_t *shards, const stat_t *stats, const char *per_shard,
                     const char *count_name, const char *size_name) {
    bson_t *replies = bson_malloc0((shards->count + 1) * sizeof *replies), part;
    bson_iter_t iter;
    size_t count = 0;
    bool ok = true;
    while (ok && count < shards->count) {
        bson_t *command = bson_new();
        call_has(call, NULL, &iter);
        bson_append_iter(command, bson_iter_key(&iter), -1, &iter);
        call_copy_fields(call, command, NULL);
        ok = call_ask(call, shards->names[count], call->database, command, &replies[count]);
        count += ok;
    }
    if (ok) {
        sum_stats(call, stats, replies, count);
        const double objects = stat_of(call->reply, count_name);
        bson_append_double(call->reply, "avgObjSize", -1,
                           objects > 0 ? stat_of(call->reply, size_name) / objects : 0);
        bson_append_document_begin(call->reply, per_shard, -1, &part);
        for (size_t i = 0; i < count; i++)
            bson_append_document(&part, shards->names[i], -1, &replies[i]);
        bson_append_document_end(call->reply, &part);
        call_close(call);
    } else {
        bson_destroy(call->reply);
    }
    for (size_t i = 0; i < count; i++)
        bson_destroy(&replies[i]);
    bson_free(replies);
    return ok;
}

bool reads_collection_stats(call_t *call) {
    char namespace[NAME_SIZE];
    collection_t collection;
    names_t owners = {0};
    if (!call_namespace(call, namespace) || !catalog_collection(call, namespace, &collection))
        return false;
    catalog_collection_clean(&collection);
    bool ok = catalog_owners(call, namespace, false, &owners);
    if (ok) {
        bson_init(call->reply);
        bson_append_bool(call->reply, "sharded", -1, collection.sharded);
        bson_append_utf8(call->reply, "ns", -1, namespace, -1);
        ok = stats_of(call, &owners, COLLECTION_STATS, "shards", "count", "size");
    }
    names_clean(&owners);
    return ok;
}

bool reads_database_stats(call_t *call) {
    names_t shards = {0};
    bool ok = catalog_shards(call, &shards);
    if (ok) {
        bson_init(call->reply);
        bson_append_utf8(call->reply, "db", -1, call->database, -1);
        ok = stats_of(call, &shards, DATABASE_STATS, "raw", "objects", "dataSize");
    }
    names_clean(&shards);
    return ok;
}
