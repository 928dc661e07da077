/* What is done for each command. */
#include "box_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields of commands, and replies ---- */

static const char *text_of(const bson_t *document, const char *field) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, document, field) && BSON_ITER_HOLDS_UTF8(&iter)
               ? bson_iter_utf8(&iter, NULL)
               : "";
}

static int64_t number_of(const bson_t *document, const char *field, int64_t otherwise) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, document, field) ? bson_iter_as_int64(&iter) : otherwise;
}

/* A view; empty where it is not there. */
static void part_of(const bson_t *document, const char *field, bson_t *part) {
    bson_iter_t iter;
    if (bson_iter_init_find(&iter, document, field))
        box_inside(&iter, part);
    else
        bson_init(part);
}

static const char *key_of(size_t number, char text[24]) {
    snprintf(text, 24, "%zu", number);
    return text;
}

void box_overlay(bson_t *document, const bson_t *said) {
    bson_t both = BSON_INITIALIZER;
    bson_iter_t each;
    for (bson_iter_init(&each, document); bson_iter_next(&each);)
        if (!bson_has_field(said, bson_iter_key(&each)))
            bson_append_iter(&both, NULL, 0, &each);
    bson_concat(&both, said);
    bson_destroy(document);
    bson_steal(document, &both);
}

static void say_ok(bson_t *reply) {
    BSON_APPEND_DOUBLE(reply, "ok", 1);
}

static void refuse(bson_t *reply, int code, const char *words) {
    BCON_APPEND(reply, "ok", BCON_DOUBLE(0), "errmsg", BCON_UTF8(words), "code", BCON_INT32(code));
}

box_collection_t *box_collection_of(const call_t *call) {
    return box_find_collection(&call->box->store, call->database, call->target);
}

/* ---- who is there ---- */

static void hello(const call_t *call) {
    const box_t *box = call->box;
    char host[64];
    snprintf(host, sizeof host, "127.0.0.1:%u", box->port);
    BCON_APPEND(call->reply, "helloOk", BCON_BOOL(true), "ismaster", BCON_BOOL(true), "isWritablePrimary",
                BCON_BOOL(true), "maxBsonObjectSize", BCON_INT32(16 << 20), "maxMessageSizeBytes",
                BCON_INT32(48000000), "maxWriteBatchSize", BCON_INT32(100000), "minWireVersion",
                BCON_INT32(0), "maxWireVersion", BCON_INT32(17), "logicalSessionTimeoutMinutes",
                BCON_INT32(30), "topologyVersion", "{", "processId", BCON_OID(&box->process), "counter",
                BCON_INT64(0), "}");
    if (box->kind == BOX_REPLICA_SET)
        BCON_APPEND(call->reply, "setName", BCON_UTF8("rs"), "setVersion", BCON_INT32(1), "primary",
                    BCON_UTF8(host), "me", BCON_UTF8(host), "hosts", "[", BCON_UTF8(host), "]", "secondary",
                    BCON_BOOL(false));
    if (box->kind == BOX_ROUTER)
        BSON_APPEND_UTF8(call->reply, "msg", "isdbgrid");
    box_overlay(call->reply, box->said_of_hello);
    say_ok(call->reply);
}

static void build_info(const call_t *call) {
    BSON_APPEND_UTF8(call->reply, "version", "6.0.5");
    box_overlay(call->reply, call->box->said_of_build);
    say_ok(call->reply);
}

/* What was counted, and what a test says of it (wiredTiger, globalLock, ...). */
static void server_status(const call_t *call) {
    BCON_APPEND(call->reply, "opcounters", "{", "update", BCON_INT64(call->box->updates), "}");
    box_overlay(call->reply, call->box->said_of_status);
    say_ok(call->reply);
}

static void host_info(const call_t *call) {
    BCON_APPEND(call->reply, "system", "{", "numCores", BCON_INT32(4), "}");
    say_ok(call->reply);
}

static void nothing(const call_t *call) {
    say_ok(call->reply);
}

/* ---- reading ---- */

/* The cursor's reply, of at most `most` documents; the rest is kept. */
static void give_batch(const call_t *call, box_cursor_t *cursor, const char *batch, int64_t most) {
    bson_t outer, list;
    char key[24];
    BSON_APPEND_DOCUMENT_BEGIN(call->reply, "cursor", &outer);
    bson_append_array_unsafe_begin(&outer, batch, -1, &list);
    for (size_t i = 0; cursor->at < cursor->count && (int64_t)i < most; i++, cursor->at++)
        BSON_APPEND_DOCUMENT(&list, key_of(i, key), cursor->documents[cursor->at]);
    bson_append_array_end(&outer, &list);
    const bool more = cursor->at < cursor->count;
    BSON_APPEND_INT64(&outer, "id", more ? cursor->id : 0);
    BSON_APPEND_UTF8(&outer, "ns", cursor->name);
    bson_append_document_end(call->reply, &outer);
    say_ok(call->reply);
    if (more)
        return;
    for (size_t i = 0; i < cursor->count; i++)
        bson_destroy(cursor->documents[i]);
    free(cursor->documents);
    *cursor = (box_cursor_t){0};
}

/* Documents are given away. */
static void give(const call_t *call, bson_t **documents, size_t count, int64_t most) {
    box_t *box = call->box;
    for (size_t i = 0; i < BOX_CURSORS; i++) {
        box_cursor_t *cursor = &box->cursors[i];
        if (cursor->id)
            continue;
        *cursor = (box_cursor_t){.id = ++box->cursor_ids, .documents = documents, .count = count};
        snprintf(cursor->name, sizeof cursor->name, "%s.%s", call->database, call->target);
        give_batch(call, cursor, "firstBatch", most);
        return;
    }
    box_die("too many cursors are open");
}

static void more(const call_t *call) {
    const int64_t id = number_of(call->command, "getMore", 0);
    for (size_t i = 0; i < BOX_CURSORS; i++)
        if (call->box->cursors[i].id == id) {
            give_batch(call, &call->box->cursors[i], "nextBatch",
                       number_of(call->command, "batchSize", INT64_MAX));
            return;
        }
    refuse(call->reply, 43, "cursor id not found");
}

static struct {
    const char *path;
    int64_t direction;
} order; /* with the box's lock */

static int in_order(const void *a, const void *b) {
    bson_iter_t x, y;
    const bool in_a = box_at(*(bson_t *const *)a, order.path, &x),
               in_b = box_at(*(bson_t *const *)b, order.path, &y);
    const int is = in_a && in_b ? box_compare(&x, &y) : in_a - in_b;
    return order.direction < 0 ? -is : is;
}

static void sort(bson_t **documents, size_t count, const bson_t *by) {
    bson_iter_t key;
    bson_iter_init(&key, by);
    if (!bson_iter_next(&key))
        return;
    order.path = bson_iter_key(&key);
    order.direction = bson_iter_as_int64(&key);
    if (bson_iter_next(&key))
        box_die("sorting by several keys is not known here");
    if (count)
        qsort(documents, count, sizeof *documents, in_order);
}

/* Copies of what matches, by _id. */
bson_t **box_matching(const box_collection_t *collection, const bson_t *filter, size_t *count) {
    size_t candidates = 0, *places = collection ? box_candidates(collection, filter, &candidates) : NULL;
    bson_t **found = calloc(candidates + 1, sizeof *found);
    *count = 0;
    for (size_t i = 0; i < candidates; i++)
        if (box_matches(collection->documents[places[i]], filter))
            found[(*count)++] = bson_copy(collection->documents[places[i]]);
    free(places);
    return found;
}

/* Fields as they are, the _id with them unless it is left out, and expressions. */
static bson_t *projected(const bson_t *document, const bson_t *projection) {
    bson_t *made = bson_new();
    bson_iter_t each, value;
    const bool with_id = number_of(projection, "_id", 1) != 0;
    if (with_id && bson_iter_init_find(&value, document, "_id"))
        bson_append_iter(made, NULL, 0, &value);
    for (bson_iter_init(&each, projection); bson_iter_next(&each);) {
        const char *key = bson_iter_key(&each);
        bson_t evaluated;
        if (strcmp(key, "_id") == 0)
            continue;
        if (BSON_ITER_HOLDS_NUMBER(&each) || BSON_ITER_HOLDS_BOOL(&each)) {
            if (!bson_iter_as_bool(&each))
                box_die("leaving out '%s' is not known here", key);
            if (bson_iter_init_find(&value, document, key))
                bson_append_iter(made, NULL, 0, &value);
            continue;
        }
        box_evaluate(&each, document, &evaluated);
        if (bson_iter_init_find(&value, &evaluated, ""))
            bson_append_iter(made, key, -1, &value);
        bson_destroy(&evaluated);
    }
    return made;
}

static void project(bson_t **documents, size_t count, const bson_t *projection) {
    for (size_t i = 0; i < count && !bson_empty(projection); i++) {
        bson_t *made = projected(documents[i], projection);
        bson_destroy(documents[i]);
        documents[i] = made;
    }
}

static void find_documents(const call_t *call) {
    enum { USUAL_BATCH = 101 };
    size_t count;
    bson_t filter, by, projection;
    part_of(call->command, "filter", &filter);
    part_of(call->command, "sort", &by);
    part_of(call->command, "projection", &projection);
    const int64_t limit = number_of(call->command, "limit", 0);
    bson_t **found = box_matching(box_collection_of(call), &filter, &count);
    sort(found, count, &by);
    for (; limit > 0 && (int64_t)count > limit; count--)
        bson_destroy(found[count - 1]);
    project(found, count, &projection);
    int64_t most = number_of(call->command, "batchSize", USUAL_BATCH);
    if (number_of(call->command, "singleBatch", 0))
        for (; (int64_t)count > most; count--)
            bson_destroy(found[count - 1]);
    give(call, found, count, most);
}

static void count_documents(const call_t *call) {
    const box_collection_t *collection = box_collection_of(call);
    int32_t count = 0;
    bson_t filter;
    part_of(call->command, "query", &filter);
    for (size_t i = 0; collection && i < collection->count; i++)
        count += box_matches(collection->documents[i], &filter);
    BSON_APPEND_INT32(call->reply, "n", count);
    say_ok(call->reply);
}

/* ---- aggregations ---- */

void box_free_documents(bson_t **documents, size_t count) {
    for (size_t i = 0; i < count; i++)
        bson_destroy(documents[i]);
}

/* {_id: null, NAME: {$sum: EXPRESSION}, ...} */
static bson_t *group(bson_t **documents, size_t count, const bson_t *stage) {
    bson_t *made = BCON_NEW("_id", BCON_NULL);
    bson_iter_t each, sum, value;
    for (bson_iter_init(&each, stage); bson_iter_next(&each);) {
        int64_t total = 0;
        if (strcmp(bson_iter_key(&each), "_id") == 0 && BSON_ITER_HOLDS_NULL(&each))
            continue;
        if (!bson_iter_recurse(&each, &sum) || !bson_iter_next(&sum) ||
            strcmp(bson_iter_key(&sum), "$sum") != 0)
            box_die("only sums over all documents are known here");
        for (size_t i = 0; i < count; i++) {
            bson_t evaluated;
            box_evaluate(&sum, documents[i], &evaluated);
            if (bson_iter_init_find(&value, &evaluated, ""))
                total += bson_iter_as_int64(&value);
            bson_destroy(&evaluated);
        }
        BSON_APPEND_INT64(made, bson_iter_key(&each), total);
    }
    return made;
}

static bson_t *stats(const call_t *call) {
    const box_collection_t *collection = box_collection_of(call);
    return BCON_NEW("ns", BCON_UTF8(collection ? collection->name : ""), "storageStats", "{", "wiredTiger",
                    "{", "creationString", BCON_UTF8("access_pattern_hint=none,block_compressor=snappy,x=1"),
                    "}", "}");
}

static void aggregate(const call_t *call) {
    bson_t pipeline, all = BSON_INITIALIZER, stage;
    bson_iter_t each, first;
    part_of(call->command, "pipeline", &pipeline);
    size_t count;
    bson_t **documents = box_matching(box_collection_of(call), &all, &count);
    for (bson_iter_init(&each, &pipeline); bson_iter_next(&each);) {
        if (!bson_iter_recurse(&each, &first) || !bson_iter_next(&first))
            box_die("a stage is empty");
        const char *name = bson_iter_key(&first);
        if (BSON_ITER_HOLDS_DOCUMENT(&first))
            box_inside(&first, &stage);
        bson_t *one = NULL;
        if (strcmp(name, "$match") == 0) {
            size_t kept = 0;
            for (size_t i = 0; i < count; i++)
                if (box_matches(documents[i], &stage))
                    documents[kept++] = documents[i];
                else
                    bson_destroy(documents[i]);
            count = kept;
        } else if (strcmp(name, "$project") == 0) {
            project(documents, count, &stage);
        } else if (strcmp(name, "$count") == 0) {
            one = count ? BCON_NEW(bson_iter_utf8(&first, NULL), BCON_INT32((int32_t)count)) : NULL;
            box_free_documents(documents, count);
            count = 0;
        } else if (strcmp(name, "$group") == 0) {
            one = count ? group(documents, count, &stage) : NULL;
            box_free_documents(documents, count);
            count = 0;
        } else if (strcmp(name, "$collStats") == 0) {
            one = stats(call);
            box_free_documents(documents, count);
            count = 0;
        } else {
            box_die("the stage %s is not known here", name);
        }
        if (one)
            documents[count++] = one;
    }
    give(call, documents, count, INT64_MAX);
}

/* ---- writing ---- */

/* Is it still the collection that the command believes in? */
static bool is_it(const call_t *call) {
    bson_iter_t uuid;
    bson_subtype_t type;
    uint32_t length;
    const uint8_t *bytes;
    const box_collection_t *collection = box_collection_of(call);
    if (!bson_iter_init_find(&uuid, call->command, "collectionUUID"))
        return true;
    bson_iter_binary(&uuid, &type, &length, &bytes);
    if (collection && length == 16 && memcmp(bytes, collection->uuid, 16) == 0)
        return true;
    refuse(call->reply, 361, "Collection UUID does not match that specified");
    return false;
}

typedef struct {
    bson_t list;
    size_t count;
} errors_t;

static void add_error(errors_t *errors, size_t index, const box_error_t *error) {
    char key[24];
    bson_t entry;
    BSON_APPEND_DOCUMENT_BEGIN(&errors->list, key_of(errors->count, key), &entry);
    errors->count++;
    BCON_APPEND(&entry, "index", BCON_INT32((int32_t)index), "code", BCON_INT32(error->code), "errmsg",
                BCON_UTF8(error->words));
    if (error->key)
        BCON_APPEND(&entry, "keyPattern", "{", error->key, BCON_INT32(1), "}");
    bson_append_document_end(&errors->list, &entry);
}

static void say_written(const call_t *call, int64_t n, errors_t *errors) {
    BSON_APPEND_INT32(call->reply, "n", (int32_t)n);
    if (errors->count)
        BSON_APPEND_ARRAY(call->reply, "writeErrors", &errors->list);
    say_ok(call->reply);
    bson_destroy(&errors->list);
}

static const bson_oid_t *new_id(bson_oid_t *oid) {
    bson_oid_init(oid, NULL);
    return oid;
}

static void insert(const call_t *call) {
    bson_t documents;
    bson_oid_t oid;
    part_of(call->command, "documents", &documents);
    bson_iter_t each;
    errors_t errors = {.list = BSON_INITIALIZER};
    size_t index = 0, stored = 0;
    if (!is_it(call))
        return;
    box_collection_t *collection = box_make_collection(&call->box->store, call->database, call->target, NULL);
    const bool ordered = number_of(call->command, "ordered", 1);
    for (bson_iter_init(&each, &documents); bson_iter_next(&each) && !(ordered && errors.count); index++) {
        bson_t given, document = BSON_INITIALIZER;
        box_error_t error;
        box_inside(&each, &given);
        if (!bson_has_field(&given, "_id"))
            BSON_APPEND_OID(&document, "_id", new_id(&oid));
        bson_concat(&document, &given);
        if (box_put(collection, &document, &error))
            stored++;
        else
            add_error(&errors, index, &error);
        bson_destroy(&document);
    }
    say_written(call, (int64_t)stored, &errors);
}

/* {_id: X} becomes a document by an upsert. */
static bool upsert(box_collection_t *collection, const bson_t *query, const bson_iter_t *change,
                   box_error_t *error) {
    bson_t first = BSON_INITIALIZER;
    bson_iter_t each;
    for (bson_iter_init(&each, query); bson_iter_next(&each);)
        if (!BSON_ITER_HOLDS_DOCUMENT(&each))
            bson_append_iter(&first, NULL, 0, &each);
    bson_t *made = box_updated(&first, change, true);
    const bool ok = box_put(collection, made, error);
    bson_destroy(made);
    bson_destroy(&first);
    return ok;
}

/* One statement: how many it matched; false: *error. */
bool box_update_one(box_collection_t *collection, const bson_t *statement, int64_t *matched,
                    box_error_t *error) {
    bson_t query;
    part_of(statement, "q", &query);
    const bool multi = number_of(statement, "multi", 0);
    bson_iter_t change;
    *matched = 0;
    if (!bson_iter_init_find(&change, statement, "u"))
        box_die("an update says nothing");
    size_t candidates, *places = box_candidates(collection, &query, &candidates);
    bool ok = true;
    for (size_t i = 0; ok && i < candidates && (multi || !*matched); i++) {
        const bson_t *document = collection->documents[places[i]];
        if (!box_matches(document, &query))
            continue;
        ok = box_replace(collection, places[i], box_updated(document, &change, false), error);
        *matched += ok;
    }
    free(places);
    if (ok && !*matched && number_of(statement, "upsert", 0)) {
        *matched = 1;
        return upsert(collection, &query, &change, error);
    }
    return ok;
}

static void update(const call_t *call) {
    bson_t statements;
    part_of(call->command, "updates", &statements);
    bson_iter_t each;
    errors_t errors = {.list = BSON_INITIALIZER};
    size_t index = 0;
    int64_t n = 0, matched;
    if (!is_it(call))
        return;
    box_collection_t *collection = box_make_collection(&call->box->store, call->database, call->target, NULL);
    const bool ordered = number_of(call->command, "ordered", 1);
    for (bson_iter_init(&each, &statements); bson_iter_next(&each) && !(ordered && errors.count); index++) {
        bson_t statement;
        box_inside(&each, &statement);
        box_error_t error;
        call->box->updates++;
        if (!box_update_one(collection, &statement, &matched, &error))
            add_error(&errors, index, &error);
        n += matched;
    }
    BSON_APPEND_INT32(call->reply, "nModified", (int32_t)n);
    say_written(call, n, &errors);
}

int64_t box_delete_from(box_collection_t *collection, const bson_t *query, int64_t limit) {
    int64_t n = 0;
    size_t candidates = 0, *places = collection ? box_candidates(collection, query, &candidates) : NULL;
    for (size_t i = candidates; i-- > 0 && (!limit || n < limit);)
        if (box_matches(collection->documents[places[i]], query)) {
            box_take_out(collection, places[i]);
            n++;
        }
    free(places);
    return n;
}

static void delete_documents(const call_t *call) {
    bson_t statements;
    part_of(call->command, "deletes", &statements);
    bson_iter_t each;
    errors_t errors = {.list = BSON_INITIALIZER};
    int64_t n = 0;
    if (!is_it(call))
        return;
    for (bson_iter_init(&each, &statements); bson_iter_next(&each);) {
        bson_t statement, query;
        box_inside(&each, &statement);
        part_of(&statement, "q", &query);
        n += box_delete_from(box_collection_of(call), &query, number_of(&statement, "limit", 0));
    }
    say_written(call, n, &errors);
}

/* ---- collections ---- */

static void create(const call_t *call) {
    bson_t options = BSON_INITIALIZER;
    bson_copy_to_excluding_noinit(call->command, &options, "create", "writeConcern", "lsid", "$db", NULL);
    if (box_collection_of(call))
        refuse(call->reply, 48, "Collection already exists");
    else {
        box_make_collection(&call->box->store, call->database, call->target, &options);
        say_ok(call->reply);
    }
    bson_destroy(&options);
}

static void drop(const call_t *call) {
    if (!is_it(call))
        return;
    if (box_collection_of(call)) {
        box_drop_collection(&call->box->store, box_collection_of(call));
        box_drop_shards(call->box, call->database, call->target);
        say_ok(call->reply);
    } else {
        refuse(call->reply, 26, "ns not found");
    }
}

static void drop_database(const call_t *call) {
    box_store_t *store = &call->box->store;
    const size_t length = strlen(call->database);
    for (size_t i = store->count; i-- > 0;)
        if (strncmp(store->collections[i].name, call->database, length) == 0 &&
            store->collections[i].name[length] == '.')
            box_drop_collection(store, &store->collections[i]);
    say_ok(call->reply);
}

static void create_indexes(const call_t *call) {
    bson_t list;
    part_of(call->command, "indexes", &list);
    bson_iter_t each;
    box_collection_t *collection = box_make_collection(&call->box->store, call->database, call->target, NULL);
    for (bson_iter_init(&each, &list); bson_iter_next(&each);) {
        bson_t spec;
        box_inside(&each, &spec);
        box_add_index(collection, &spec);
    }
    say_ok(call->reply);
}

static void list_indexes(const call_t *call) {
    const box_collection_t *collection = box_collection_of(call);
    if (!collection) {
        refuse(call->reply, 26, "ns does not exist");
        return;
    }
    bson_t **specs = calloc(collection->index_count + 1, sizeof *specs);
    const bool clustered = bson_has_field(collection->options, "clusteredIndex");
    specs[0] = BCON_NEW("v", BCON_INT32(2), "key", "{", "_id", BCON_INT32(1), "}", "name", BCON_UTF8("_id_"));
    if (clustered)
        BSON_APPEND_BOOL(specs[0], "clustered", true);
    for (size_t i = 0; i < collection->index_count; i++)
        specs[i + 1] = bson_copy(collection->indexes[i].spec);
    give(call, specs, collection->index_count + 1, INT64_MAX);
}

static void list_collections(const call_t *call) {
    bson_t filter;
    part_of(call->command, "filter", &filter);
    const box_collection_t *collection =
        box_find_collection(&call->box->store, call->database, text_of(&filter, "name"));
    bson_t **found = calloc(1, sizeof *found);
    if (collection)
        *found = BCON_NEW("name", BCON_UTF8(text_of(&filter, "name")), "type", BCON_UTF8("collection"),
                          "options", BCON_DOCUMENT(collection->options), "info", "{", "uuid",
                          BCON_BIN(BSON_SUBTYPE_UUID, collection->uuid, 16), "}");
    give(call, found, collection != NULL, INT64_MAX);
}

/* ---- all commands ---- */

static const struct {
    const char *name;
    void (*run)(const call_t *call);
} commands[] = {{"hello", hello},
                {"isMaster", hello},
                {"ismaster", hello},
                {"buildInfo", build_info},
                {"serverStatus", server_status},
                {"hostInfo", host_info},
                {"ping", nothing},
                {"connectionStatus", nothing}, /* there are no users */
                {"endSessions", nothing},
                {"killCursors", nothing},
                {"find", find_documents},
                {"getMore", more},
                {"count", count_documents},
                {"aggregate", aggregate},
                {"insert", insert},
                {"update", update},
                {"delete", delete_documents},
                {"create", create},
                {"drop", drop},
                {"dropDatabase", drop_database},
                {"createIndexes", create_indexes},
                {"listIndexes", list_indexes},
                {"listCollections", list_collections}};

void box_run(const call_t *call) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, call->name) == 0) {
            commands[i].run(call);
            return;
        }
    if (call->box->kind != BOX_ROUTER || !box_run_cluster(call))
        box_die("the command '%s' is not known here", call->name);
}
