/* What is done for each command. */
#include "box_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields of commands, and replies ---- */

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

bool box_fail(bson_t *reply, int code, const char *words) {
    BCON_APPEND(reply, "ok", BCON_DOUBLE(0), "errmsg", BCON_UTF8(words), "code", BCON_INT32(code));
    return false;
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

/* What was counted. */
static void server_status(const call_t *call) {
    BCON_APPEND(call->reply, "opcounters", "{", "update", BCON_INT64(call->box->updates), "}");
    say_ok(call->reply);
}

static void host_info(const call_t *call) {
    BCON_APPEND(call->reply, "system", "{", "numCores", BCON_INT32(4), "}");
    say_ok(call->reply);
}

/* The disk is half full. */
static void database_stats(const call_t *call) {
    bson_t disk = BSON_INITIALIZER;
    BCON_APPEND(&disk, "fsUsedSize", BCON_DOUBLE(5e11), "fsTotalSize", BCON_DOUBLE(1e12));
    if (call->box->kind == BOX_ROUTER)
        BCON_APPEND(call->reply, "raw", "{", "s0/a:1", BCON_DOCUMENT(&disk), "s1/b:1", BCON_DOCUMENT(&disk),
                    "}");
    else
        bson_concat(call->reply, &disk);
    bson_destroy(&disk);
    box_overlay(call->reply, call->box->said_of_stats);
    say_ok(call->reply);
}

static void nothing(const call_t *call) {
    say_ok(call->reply);
}

/* ---- reading ---- */

static void end_cursor(box_cursor_t *cursor) {
    box_free_documents(cursor->documents, cursor->count);
    free(cursor->documents);
    *cursor = (box_cursor_t){0};
}

/* The cursor's reply, of at most `most` documents; the rest is kept. */
static void give_batch(const call_t *call, box_cursor_t *cursor, const char *batch, int64_t most) {
    bson_t outer, list, concern;
    char key[24];
    box_part(call->command, "readConcern", &concern);
    BSON_APPEND_DOCUMENT_BEGIN(call->reply, "cursor", &outer);
    bson_append_array_unsafe_begin(&outer, batch, -1, &list);
    for (size_t i = 0; cursor->at < cursor->count && (int64_t)i < most; i++, cursor->at++)
        BSON_APPEND_DOCUMENT(&list, key_of(i, key), cursor->documents[cursor->at]);
    bson_append_array_end(&outer, &list);
    const bool more = cursor->at < cursor->count;
    BSON_APPEND_INT64(&outer, "id", more ? cursor->id : 0);
    BSON_APPEND_UTF8(&outer, "ns", cursor->name);
    if (strcmp(box_text(&concern, "level"), "snapshot") == 0)
        BSON_APPEND_TIMESTAMP(&outer, "atClusterTime", 1, 1);
    bson_append_document_end(call->reply, &outer);
    say_ok(call->reply);
    if (!more)
        end_cursor(cursor);
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

static box_cursor_t *cursor_of(const call_t *call, int64_t id) {
    for (size_t i = 0; i < BOX_CURSORS; i++)
        if (id && call->box->cursors[i].id == id)
            return &call->box->cursors[i];
    return NULL;
}

static void more(const call_t *call) {
    box_cursor_t *cursor = cursor_of(call, box_number(call->command, "getMore", 0));
    if (cursor)
        give_batch(call, cursor, "nextBatch", box_number(call->command, "batchSize", INT64_MAX));
    else
        box_fail(call->reply, 43, "cursor id not found");
}

static void kill_cursors(const call_t *call) {
    bson_t list, killed = BSON_INITIALIZER;
    bson_iter_t each;
    box_part(call->command, "cursors", &list);
    for (bson_iter_init(&each, &list); bson_iter_next(&each);) {
        box_cursor_t *cursor = cursor_of(call, bson_iter_as_int64(&each));
        if (!cursor)
            continue;
        bson_append_iter(&killed, NULL, 0, &each);
        end_cursor(cursor);
    }
    BSON_APPEND_ARRAY(call->reply, "cursorsKilled", &killed);
    bson_destroy(&killed);
    say_ok(call->reply);
}

static struct {
    const char *path;
    int64_t direction;
} order; /* with the box's lock */

static int in_order(const void *a, const void *b) {
    static const uint8_t null[] = {8, 0, 0, 0, BSON_TYPE_NULL, '0', 0, 0};
    bson_iter_t x, y;
    bson_t nothing;
    bson_init_static(&nothing, null, sizeof null);
    if (!box_at(*(bson_t *const *)a, order.path, &x))
        bson_iter_init_find(&x, &nothing, "0");
    if (!box_at(*(bson_t *const *)b, order.path, &y))
        bson_iter_init_find(&y, &nothing, "0");
    const int is = box_compare(&x, &y);
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

static bool is_kept(const bson_t *projection, const char *field) {
    bson_iter_t found;
    if (!bson_iter_init_find(&found, projection, field))
        return strcmp(field, "_id") == 0;
    return (BSON_ITER_HOLDS_NUMBER(&found) || BSON_ITER_HOLDS_BOOL(&found)) && bson_iter_as_bool(&found);
}

/* Fields as they are, the _id with them unless it is left out, and expressions. */
static bson_t *projected(const bson_t *document, const bson_t *projection) {
    bson_t *made = bson_new();
    bson_iter_t each, value;
    for (bson_iter_init(&each, document); bson_iter_next(&each);)
        if (is_kept(projection, bson_iter_key(&each)))
            bson_append_iter(made, NULL, 0, &each);
    for (bson_iter_init(&each, projection); bson_iter_next(&each);) {
        const char *key = bson_iter_key(&each);
        const bool plain = BSON_ITER_HOLDS_NUMBER(&each) || BSON_ITER_HOLDS_BOOL(&each),
                   is_id = strcmp(key, "_id") == 0;
        bson_t evaluated;
        if (strchr(key, '.') || (plain && !is_id && !bson_iter_as_bool(&each)) || (!plain && is_id))
            box_die("the projection of '%s' is not known here", key);
        if (plain)
            continue;
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

/* By its _id: `min` is in the range, `max` is not. */
static bool is_between(const bson_t *document, const bson_t *command) {
    bson_iter_t id, bound;
    if (!box_at(document, "_id", &id))
        return true;
    if (box_at(command, "min._id", &bound) && box_compare(&id, &bound) < 0)
        return false;
    return !box_at(command, "max._id", &bound) || box_compare(&id, &bound) < 0;
}

static void keep_between(bson_t **documents, size_t *count, const call_t *call) {
    size_t kept = 0;
    bson_iter_t bound;
    if ((box_at(call->command, "min", &bound) || box_at(call->command, "max", &bound)) &&
        !box_at(call->command, "hint._id", &bound))
        box_die("min and max need the hint {_id: 1}");
    for (size_t i = 0; i < *count; i++) {
        if (is_between(documents[i], call->command))
            documents[kept++] = documents[i];
        else
            bson_destroy(documents[i]);
    }
    *count = kept;
}

static void find_documents(const call_t *call) {
    enum { USUAL_BATCH = 101 };
    size_t count;
    bson_t filter, by, projection;
    box_part(call->command, "filter", &filter);
    box_part(call->command, "sort", &by);
    box_part(call->command, "projection", &projection);
    const int64_t limit = box_number(call->command, "limit", 0);
    bson_t **found = box_matching(box_collection_of(call), &filter, &count);
    keep_between(found, &count, call);
    sort(found, count, &by);
    for (; limit > 0 && (int64_t)count > limit; count--)
        bson_destroy(found[count - 1]);
    project(found, count, &projection);
    int64_t most = box_number(call->command, "batchSize", USUAL_BATCH);
    if (box_number(call->command, "singleBatch", 0))
        for (; (int64_t)count > most; count--)
            bson_destroy(found[count - 1]);
    give(call, found, count, most);
}

static void count_documents(const call_t *call) {
    const box_collection_t *collection = box_collection_of(call);
    int32_t count = 0;
    bson_t filter;
    box_part(call->command, "query", &filter);
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
    box_part(call->command, "pipeline", &pipeline);
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

static void fail_by(const call_t *call, box_error_t *error) {
    box_fail(call->reply, error->code, error->words);
    if (error->more)
        bson_concat(call->reply, error->more);
    bson_destroy(error->more);
}

/* Is it still the collection that the command believes in? */
static bool is_it(const call_t *call, box_error_t *error) {
    bson_iter_t uuid;
    bson_subtype_t type;
    uint32_t length;
    const uint8_t *bytes;
    if (!bson_iter_init_find(&uuid, call->command, "collectionUUID"))
        return true;
    const box_collection_t *collection = box_collection_of(call);
    bson_iter_binary(&uuid, &type, &length, &bytes);
    if (collection && length == 16 && memcmp(bytes, collection->uuid, 16) == 0)
        return true;
    bson_t *more = BCON_NEW("db", BCON_UTF8(call->database), "expectedCollection", BCON_UTF8(call->target));
    bson_append_iter(more, NULL, 0, &uuid);
    return box_refused(error, 361, more, "Collection UUID does not match that specified");
}

/* What the statements of a write come to. */
typedef struct {
    const call_t *call;
    box_collection_t *collection; /* NULL: there is none */
    bson_t errors, upserted;
    uint32_t error_count, upserted_count, index;
    int64_t n, modified;
} write_t;

typedef bool statement_fn(write_t *write, const bson_t *statement, box_error_t *error);

/* {index, ...} at the end of a list */
static void add_indexed(bson_t *list, uint32_t *count, uint32_t index, const bson_t *fields) {
    char key[24];
    bson_t entry;
    key_of((*count)++, key);
    BSON_APPEND_DOCUMENT_BEGIN(list, key, &entry);
    BSON_APPEND_INT32(&entry, "index", (int32_t)index);
    bson_concat(&entry, fields);
    bson_append_document_end(list, &entry);
}

static void add_error(write_t *write, const box_error_t *error) {
    bson_t *fields = BCON_NEW("code", BCON_INT32(error->code), "errmsg", BCON_UTF8(error->words));
    if (error->more)
        bson_concat(fields, error->more);
    bson_destroy(error->more);
    add_indexed(&write->errors, &write->error_count, write->index, fields);
    bson_destroy(fields);
}

static void make_collection(write_t *write) {
    if (!write->collection)
        write->collection =
            box_make_collection(&write->call->box->store, write->call->database, write->call->target, NULL);
}

static bool update_one(write_t *write, const bson_t *statement, box_error_t *error);

static void say_written(const write_t *write, bool modifies) {
    bson_t *reply = write->call->reply;
    BSON_APPEND_INT32(reply, "n", (int32_t)write->n);
    if (modifies)
        BSON_APPEND_INT32(reply, "nModified", (int32_t)write->modified);
    if (write->upserted_count)
        BSON_APPEND_ARRAY(reply, "upserted", &write->upserted);
    if (write->error_count)
        BSON_APPEND_ARRAY(reply, "writeErrors", &write->errors);
    say_ok(reply);
}

static void write_all(const call_t *call, const char *field, statement_fn *run) {
    write_t write = {.call = call,
                     .collection = box_collection_of(call),
                     .errors = BSON_INITIALIZER,
                     .upserted = BSON_INITIALIZER};
    const bool ordered = box_number(call->command, "ordered", 1);
    bson_t statements;
    bson_iter_t each;
    box_part(call->command, field, &statements);
    for (bson_iter_init(&each, &statements); bson_iter_next(&each) && !(ordered && write.error_count);
         write.index++) {
        bson_t statement;
        box_error_t error;
        box_inside(&each, &statement);
        if (!is_it(call, &error) || !run(&write, &statement, &error))
            add_error(&write, &error);
    }
    if (write.index)
        say_written(&write, run == update_one);
    else
        box_fail(call->reply, 16, "Write batch sizes must be between 1 and 100000");
    bson_destroy(&write.errors);
    bson_destroy(&write.upserted);
}

/* The document with its _id as the first field, a new one where it has none. */
static bson_t *with_id(const bson_t *document) {
    bson_t *made = bson_new();
    bson_iter_t id;
    bson_oid_t oid;
    bson_oid_init(&oid, NULL);
    if (bson_iter_init_find(&id, document, "_id"))
        bson_append_iter(made, NULL, 0, &id);
    else
        BSON_APPEND_OID(made, "_id", &oid);
    bson_copy_to_excluding_noinit(document, made, "_id", NULL);
    return made;
}

static bool put(box_collection_t *collection, const bson_t *document, box_error_t *error) {
    bson_t *made = with_id(document);
    bson_iter_t id;
    bson_iter_init_find(&id, made, "_id");
    const bool ok = BSON_ITER_HOLDS_ARRAY(&id)
                        ? box_refused(error, 53, NULL, "The '_id' value cannot be of type array")
                        : box_put(collection, made, error);
    bson_destroy(made);
    return ok;
}

static bool insert_one(write_t *write, const bson_t *document, box_error_t *error) {
    make_collection(write);
    const bool ok = put(write->collection, document, error);
    write->n += ok;
    return ok;
}

static void insert(const call_t *call) {
    write_all(call, "documents", insert_one);
}

/* The document that a query describes by the fields that it wants to be equal. */
static bson_t *described(const bson_t *query) {
    bson_t *first = bson_new();
    bson_iter_t each, inside;
    for (bson_iter_init(&each, query); bson_iter_next(&each);)
        if (bson_iter_key(&each)[0] == '$')
            box_die("%s is not known here in an upsert", bson_iter_key(&each));
        else if (!box_has_operators(&each))
            box_set(&first, bson_iter_key(&each), &each);
        else if (bson_iter_recurse(&each, &inside) &&
                 (bson_iter_find(&inside, "$eq") ||
                  (bson_iter_recurse(&each, &inside) && bson_iter_find(&inside, "$in"))))
            box_die("%s is not known here in an upsert", bson_iter_key(&inside));
    return first;
}

static bool upsert(box_collection_t *collection, const bson_t *query, const bson_iter_t *update,
                   box_change_t *change, box_error_t *error) {
    bson_t *first = described(query), *made = box_updated(first, update, true), *whole = with_id(made);
    bson_iter_t id, wanted;
    bson_iter_init_find(&id, whole, "_id");
    const bool same = !bson_iter_init_find(&wanted, first, "_id") || box_compare(&id, &wanted) == 0,
               ok = same ? box_put(collection, whole, error)
                         : box_refused(error, 66, NULL, "the (immutable) field '_id' was altered");
    if (ok) {
        change->matched = 1;
        change->upserted = bson_new();
        bson_append_iter(change->upserted, NULL, 0, &id);
    }
    bson_destroy(first);
    bson_destroy(made);
    bson_destroy(whole);
    return ok;
}

static bool is_replacement(const bson_iter_t *update) {
    return BSON_ITER_HOLDS_DOCUMENT(update) && !box_has_operators(update);
}

/* Is the document another one by the update? A replacement without an _id counts as one in any case. */
static bool modifies(const bson_iter_t *update, const bson_t *before, const bson_t *after) {
    bson_t by;
    box_inside(update, &by);
    return !bson_equal(before, after) || (is_replacement(update) && !bson_has_field(&by, "_id"));
}

bool box_update_one(box_collection_t *collection, const bson_t *statement, box_change_t *change,
                    box_error_t *error) {
    bson_t query;
    bson_iter_t update;
    const bool multi = box_number(statement, "multi", 0);
    *change = (box_change_t){.matched = 0};
    box_part(statement, "q", &query);
    if (!bson_iter_init_find(&update, statement, "u"))
        box_die("an update says nothing");
    if (multi && is_replacement(&update))
        return box_refused(error, 9, NULL, "multi update is not supported for replacement-style update");
    size_t candidates = 0, *places = collection ? box_candidates(collection, &query, &candidates) : NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < candidates && (multi || !change->matched); i++) {
        const bson_t *document = collection->documents[places[i]];
        if (!box_matches(document, &query))
            continue;
        bson_t *next = box_updated(document, &update, false);
        const bool modified = modifies(&update, document, next);
        ok = box_replace(collection, places[i], next, error);
        change->matched += ok;
        change->modified += ok && modified;
    }
    free(places);
    if (ok && !change->matched && box_number(statement, "upsert", 0))
        return upsert(collection, &query, &update, change, error);
    return ok;
}

static bool update_one(write_t *write, const bson_t *statement, box_error_t *error) {
    box_change_t change;
    if (box_number(statement, "upsert", 0))
        make_collection(write);
    write->call->box->updates++;
    const bool ok = box_update_one(write->collection, statement, &change, error);
    write->n += change.matched;
    write->modified += change.modified;
    if (change.upserted)
        add_indexed(&write->upserted, &write->upserted_count, write->index, change.upserted);
    bson_destroy(change.upserted);
    return ok;
}

static void update(const call_t *call) {
    write_all(call, "updates", update_one);
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

static bool delete_one(write_t *write, const bson_t *statement, box_error_t *error) {
    bson_t query;
    (void)error;
    if (!bson_has_field(statement, "limit"))
        box_die("a delete has no limit");
    box_part(statement, "q", &query);
    write->n += box_delete_from(write->collection, &query, box_number(statement, "limit", 0));
    return true;
}

static void delete_documents(const call_t *call) {
    write_all(call, "deletes", delete_one);
}

/* ---- collections ---- */

static void create(const call_t *call) {
    bson_t options = BSON_INITIALIZER;
    bson_copy_to_excluding_noinit(call->command, &options, "create", "writeConcern", "lsid", "$db", NULL);
    if (box_collection_of(call)) {
        box_fail(call->reply, 48, "Collection already exists");
    } else {
        box_make_collection(&call->box->store, call->database, call->target, &options);
        say_ok(call->reply);
    }
    bson_destroy(&options);
}

static void drop(const call_t *call) {
    box_error_t error;
    if (!is_it(call, &error)) {
        fail_by(call, &error);
    } else if (box_collection_of(call)) {
        box_drop_shards(call->box, box_collection_of(call));
        box_drop_collection(&call->box->store, box_collection_of(call));
        say_ok(call->reply);
    } else if (call->box->kind == BOX_ROUTER) {
        say_ok(call->reply);
    } else {
        box_fail(call->reply, 26, "ns not found");
    }
}

static void drop_database(const call_t *call) {
    box_store_t *store = &call->box->store;
    const size_t length = strlen(call->database);
    for (size_t i = store->count; i-- > 0;)
        if (strncmp(store->collections[i].name, call->database, length) == 0 &&
            store->collections[i].name[length] == '.') {
            box_drop_shards(call->box, &store->collections[i]);
            box_drop_collection(store, &store->collections[i]);
        }
    say_ok(call->reply);
}

/* All of them, or none. */
static void create_indexes(const call_t *call) {
    bson_t list;
    bson_iter_t each;
    box_error_t error;
    box_part(call->command, "indexes", &list);
    box_collection_t *collection = box_make_collection(&call->box->store, call->database, call->target, NULL);
    const size_t before = collection->index_count;
    bool ok = true;
    for (bson_iter_init(&each, &list); ok && bson_iter_next(&each);) {
        bson_t spec;
        box_inside(&each, &spec);
        ok = box_add_index(collection, &spec, &error);
    }
    while (!ok && collection->index_count > before)
        box_drop_index(collection);
    if (ok)
        say_ok(call->reply);
    else
        fail_by(call, &error);
}

static void list_indexes(const call_t *call) {
    const box_collection_t *collection = box_collection_of(call);
    if (!collection) {
        box_fail(call->reply, 26, "ns does not exist");
        return;
    }
    bson_t **specs = calloc(collection->index_count + 1, sizeof *specs);
    const bool clustered = bson_has_field(collection->options, "clusteredIndex");
    bson_t *of_id = BCON_NEW("key", "{", "_id", BCON_INT32(1), "}", "name", BCON_UTF8("_id_"));
    specs[0] = box_listed(collection, of_id);
    bson_destroy(of_id);
    if (clustered)
        BCON_APPEND(specs[0], "unique", BCON_BOOL(true), "clustered", BCON_BOOL(true));
    for (size_t i = 0; i < collection->index_count; i++)
        specs[i + 1] = bson_copy(collection->indexes[i].spec);
    give(call, specs, collection->index_count + 1, INT64_MAX);
}

static void list_collections(const call_t *call) {
    const box_store_t *store = &call->box->store;
    const size_t database = strlen(call->database);
    bson_t filter, **found = calloc(BOX_COLLECTIONS, sizeof *found);
    size_t count = 0;
    box_part(call->command, "filter", &filter);
    box_folds = false;
    for (size_t i = 0; i < store->count; i++) {
        const box_collection_t *collection = &store->collections[i];
        if (strncmp(collection->name, call->database, database) != 0 || collection->name[database] != '.')
            continue;
        found[count] = BCON_NEW("name", BCON_UTF8(collection->name + database + 1), "type",
                                BCON_UTF8("collection"), "options", BCON_DOCUMENT(collection->options),
                                "info", "{", "uuid", BCON_BIN(BSON_SUBTYPE_UUID, collection->uuid, 16), "}");
        if (box_matches(found[count], &filter))
            count++;
        else
            bson_destroy(found[count]);
    }
    give(call, found, count, INT64_MAX);
}

/* ---- all commands ---- */

static const struct {
    const char *name;
    void (*run)(const call_t *call);
    const char *fields;
} commands[] = {
    {"hello", hello, "helloOk topologyVersion maxAwaitTimeMS client compression"},
    {"isMaster", hello, "helloOk client compression"},
    {"ismaster", hello, "helloOk client compression"},
    {"buildInfo", build_info, ""},
    {"serverStatus", server_status, "*"}, /* the sections that it should leave out */
    {"hostInfo", host_info, ""},
    {"dbStats", database_stats, ""},
    {"ping", nothing, ""},
    {"connectionStatus", nothing, "showPrivileges"}, /* there are no users */
    {"endSessions", nothing, ""},
    {"killCursors", kill_cursors, "cursors"},
    {"find", find_documents, "filter sort projection limit batchSize singleBatch readConcern min max hint"},
    {"getMore", more, "collection batchSize"},
    {"count", count_documents, "query readConcern"},
    {"aggregate", aggregate, "pipeline cursor readConcern"},
    {"insert", insert, "documents ordered collectionUUID writeConcern"},
    {"update", update, "updates ordered collectionUUID writeConcern"},
    {"delete", delete_documents, "deletes ordered collectionUUID writeConcern"},
    {"create", create, "validator collation clusteredIndex storageEngine writeConcern"},
    {"drop", drop, "collectionUUID writeConcern"},
    {"dropDatabase", drop_database, "writeConcern"},
    {"createIndexes", create_indexes, "indexes writeConcern"},
    {"listIndexes", list_indexes, "cursor"},
    {"listCollections", list_collections, "filter"},
};

void box_run(const call_t *call) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, call->name) == 0) {
            if (box_begin_command(call, commands[i].fields)) {
                commands[i].run(call);
                box_end_command(call);
            }
            return;
        }
    if (call->box->kind != BOX_ROUTER || !box_run_cluster(call))
        box_die("the command '%s' is not known here", call->name);
}
