#include "base/text.h"
#include "catalog/store/store_mongo_inner.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/server_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool store_mongo_run(store_mongo_t *mongo, const bson_t *command, bool writes, bson_t *reply, err_t *err) {
    return server_command(mongo->server, mongo->client, server_database(mongo->server), command, writes,
                          reply, err);
}

bool store_mongo_update(store_mongo_t *mongo, const char *collection, const bson_t *statements,
                        uint64_t *matched, err_t *err) {
    bson_t command = BSON_INITIALIZER, reply;
    BSON_APPEND_UTF8(&command, "update", collection);
    BSON_APPEND_ARRAY(&command, "updates", statements);
    BSON_APPEND_BOOL(&command, "ordered", false);
    const bool ok = store_mongo_run(mongo, &command, true, &reply, err);
    if (!ok && server_code(&reply) == CODE_DUPLICATE_KEY) /* keys of inputs are the only ones that change */
        err_set(err, STATUS_SERVER,
                "%s.%s: another load has registered the same file meanwhile: run the same command again",
                server_database(mongo->server), collection);
    bson_destroy(&command);
    *matched = ok ? store_mongo_number(&reply, "n") : 0;
    bson_destroy(&reply);
    return ok;
}

static bool refuse_answer(const store_mongo_t *mongo, err_t *err) {
    return err_set(err, STATUS_SERVER,
                   "the server at %s answers a 'find' with something else: is it a MongoDB server?",
                   server_where(mongo->server));
}

bool store_mongo_find(store_mongo_t *mongo, bson_t *find, bson_t *reply, bson_iter_t *documents, err_t *err) {
    const bool ok = store_mongo_run(mongo, find, false, reply, err);
    bson_destroy(find);
    return ok && (bson_read_batch(reply, documents) || refuse_answer(mongo, err));
}

bool store_mongo_next(const store_mongo_t *mongo, bson_iter_t *documents, bson_t *document, bool *ok,
                      err_t *err) {
    if (!*ok || (!bson_iter_next(documents) && !documents->err_off))
        return false;
    *ok = !documents->err_off && bson_read_document(documents, document);
    return *ok || refuse_answer(mongo, err);
}

uint64_t store_mongo_number(const bson_t *document, const char *field) {
    bson_iter_t iter;
    const int64_t value = bson_iter_init_find(&iter, document, field) ? bson_iter_as_int64(&iter) : 0;
    return value > 0 ? (uint64_t)value : 0;
}

bool store_mongo_whole(const bson_iter_t *iter, uint64_t most, uint64_t *number) {
    const double value = BSON_ITER_HOLDS_DOUBLE(iter) ? bson_iter_double(iter) : 0;
    if (!BSON_ITER_HOLDS_NUMBER(iter) || !(value >= 0 && value < 0x1p62))
        return false;
    const int64_t whole = bson_iter_as_int64(iter);
    *number = (uint64_t)whole;
    return whole >= 0 && *number <= most && (!BSON_ITER_HOLDS_DOUBLE(iter) || (double)whole == value);
}

bool store_mongo_damaged(const store_mongo_t *mongo, err_t *err, const char *what, const char *then) {
    return err_set(err, STATUS_SERVER,
                   "the catalog of %s is damaged: %s (in %s) was not written by tipple. Load into another "
                   "collection, or %sstart over with --drop",
                   server_namespace(mongo->server), what, mongo->files, then);
}

bool store_mongo_prepare(store_t *store, err_t *err) {
    store_mongo_t *mongo = store_mongo_of(store);
    bson_t *command = BCON_NEW("createIndexes", BCON_UTF8(mongo->files), "indexes", "[", "{", "key", "{",
                               "key", BCON_INT32(1), "}", "name", BCON_UTF8("key"), "unique", BCON_BOOL(true),
                               "}", "{", "key", "{", "follows", BCON_INT32(1), "}", "name",
                               BCON_UTF8("follows"), "unique", BCON_BOOL(true), "partialFilterExpression",
                               "{", "follows", "{", "$exists", BCON_BOOL(true), "}", "}", "}", "]");
    bool ok = store_mongo_run(mongo, command, true, NULL, err);
    bson_destroy(command);
    return ok;
}

static bool collection(store_t *store, uint8_t uuid[STORE_UUID], err_t *err) {
    collection_t place;
    memset(uuid, 0, STORE_UUID);
    if (!collection_identity(store_mongo_of(store)->server, store_mongo_of(store)->client, &place, err))
        return false;
    if (place.exists)
        memcpy(uuid, place.uuid, STORE_UUID);
    return true;
}

store_t *store_mongo_open(server_t *server, mongoc_client_t *client, err_t *err) {
    store_mongo_t *mongo = calloc(1, sizeof *mongo);
    if (!mongo) {
        err_memory(err, sizeof *mongo);
        return NULL;
    }
    mongo->server = server;
    mongo->client = client;
    snprintf(mongo->files, sizeof mongo->files, "%s" OWN_FILES, server_collection(server));
    snprintf(mongo->loads, sizeof mongo->loads, "%s" OWN_LOADS, server_collection(server));
    mongo->store = (store_t){.read_header = store_mongo_read_header,
                             .make_header = store_mongo_make_header,
                             .change_header = store_mongo_change_header,
                             .read_entries = store_mongo_read_entries,
                             .add_entries = store_mongo_add_entries,
                             .change_entries = store_mongo_change_entries,
                             .remove_entries = store_mongo_remove_entries,
                             .read_loads = store_mongo_read_loads,
                             .beat = store_mongo_beat,
                             .collection = collection};
    return &mongo->store;
}

void store_mongo_close(store_t *store) {
    free(store);
}
