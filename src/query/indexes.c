/* Checks the indexes that a suite's queries need, and builds missing ones. */
#include "base/document.h"
#include "base/log.h"
#include "query/query.h"
#include "query/suite/suite.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/server.h"

#include <stdio.h>
#include <string.h>

/* A server stores a collation with the options that the user left out. */
static bool collates(const bson_t *wanted, const bson_t *stored, bool collated) {
    bson_t own, theirs;
    bson_iter_t mine, other;
    const bool has = bson_read_field(stored, "collation", &theirs);
    if (!bson_read_field(wanted, "collation", &own))
        return has == collated;
    if (strcmp(bson_read_text(&own, "locale"), "simple") == 0)
        return !has;
    bool same = has;
    for (bool more = bson_iter_init(&mine, &own); same && more && bson_iter_next(&mine);)
        same = bson_iter_init_find(&other, &theirs, bson_iter_key(&mine)) && element_same(&mine, &other);
    return same;
}

bool indexes_serves(const index_spec_t *wanted, const bson_t *stored, bool collated) {
    index_spec_t there;
    bson_t plain = BSON_INITIALIZER;
    err_t ignored;
    /* these change no answer */
    bson_copy_to_excluding_noinit(stored, &plain, "clustered", "expireAfterSeconds", "prepareUnique",
                                  bson_has_field(&wanted->options, "unique") ? "" : "unique", NULL);
    const bool serves = collection_take_index(&plain, &there, &ignored) &&
                        collection_same_index(wanted, &there, true) &&
                        collates(&wanted->options, stored, collated);
    collection_free_index(&there);
    bson_destroy(&plain);
    return serves;
}

typedef struct {
    const query_t *query;
    server_t *server;
    mongoc_client_t *client;
    const char *collection;
    bool makes;
} needed_t;

/* *there: an index serves. other: the name of one with the same keys that does not. */
static bool find(const needed_t *needed, const index_spec_t *wanted, bool *there,
                 char other[COLLECTION_INDEX_NAME], err_t *err) {
    bson_t reply, stored, keys;
    bson_iter_t batch;
    bool collated =
        false; /* the collection has a default collation, and so has its first index, of the _id */
    bson_t *command = BCON_NEW("listIndexes", BCON_UTF8(needed->collection), "cursor", "{", "batchSize",
                               BCON_INT32(1000), "}");
    const bool ok = server_ask(needed->server, needed->client, command, &reply, err) ||
                    server_code(&reply) == CODE_NAMESPACE_NOT_FOUND;
    if (ok && bson_read_batch(&reply, &batch))
        while (!*there && bson_read_next(&batch, &stored)) {
            const char *name = bson_read_text(&stored, "name");
            collated = collated || (strcmp(name, "_id_") == 0 && bson_has_field(&stored, "collation"));
            *there = indexes_serves(wanted, &stored, collated);
            if (bson_read_field(&stored, "key", &keys) && collection_same_keys(&keys, &wanted->keys))
                snprintf(other, COLLECTION_INDEX_NAME, "%s", name);
        }
    bson_destroy(&reply);
    return ok;
}

static bool make(const needed_t *needed, const bson_t *index, const char *name, err_t *err) {
    const char *database = server_database(needed->server);
    bson_t *command =
        BCON_NEW("createIndexes", BCON_UTF8(needed->collection), "indexes", "[", BCON_DOCUMENT(index), "]");
    log_note("making the index %s on %s.%s", name, database, needed->collection);
    const bool ok = server_command(needed->server, needed->client, database, command, true, NULL, err);
    bson_destroy(command);
    return ok;
}

static bool find_or_make(const needed_t *needed, const bson_t *index, const index_spec_t *wanted,
                         err_t *err) {
    const char *query = needed->query->name, *database = server_database(needed->server);
    char other[COLLECTION_INDEX_NAME] = "";
    bool there = false;
    if (!find(needed, wanted, &there, other, err))
        return false;
    if (!there && *other)
        return err_set(err, STATUS_USAGE,
                       "the query '%s' needs the index %s on %s.%s, and the index %s has its keys and other "
                       "options: drop it, or give these options in the suite's setup",
                       query, wanted->name, database, needed->collection, other);
    if (!there && !needed->makes)
        return err_set(err, STATUS_USAGE,
                       "the query '%s' needs the index %s on %s.%s, which is not there: --setup makes it",
                       query, wanted->name, database, needed->collection);
    return there || make(needed, index, wanted->name, err);
}

bool indexes_check(const suite_t *suite, const query_t *query, server_t *server, mongoc_client_t *client,
                   bool makes, err_t *err) {
    const needed_t needed = {.query = query,
                             .server = server,
                             .client = client,
                             .collection = query->collection ? query->collection : server_collection(server),
                             .makes = makes};
    bool ok = true;
    for (const yaml_item_t *node = query->indexes ? query->indexes->first : NULL; ok && node;
         node = node->next) {
        bson_t index, keys;
        index_spec_t wanted;
        char name[COLLECTION_INDEX_NAME];
        ok = suite_read_index(suite->tree, node, &index, err);
        if (ok && !bson_has_field(&index, "name") && bson_read_field(&index, "key", &keys)) {
            collection_name_index(&keys, name);
            BSON_APPEND_UTF8(&index, "name", name);
        }
        if (ok && (ok = collection_take_index(&index, &wanted, err))) {
            ok = find_or_make(&needed, &index, &wanted, err);
            collection_free_index(&wanted);
        }
        bson_destroy(&index);
    }
    return ok;
}
