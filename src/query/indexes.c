#include "query/indexes.h"
#include "base/log.h"
#include "query/suite/value.h"
#include "server/bson_read.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const suite_t *suite;
    const query_t *query;
    server_t *server;
    mongoc_client_t *client;
    const char *database, *collection;
    err_t *err;
} looker_t;

/* {ts: 1, st: -1} and {ts: 1.0, st: -1.0} are the same key: shells write doubles. */
static bool same_key(const bson_t *one, const bson_t *other) {
    bson_iter_t a, b;
    bool more = bson_iter_init(&a, one) && bson_iter_init(&b, other);
    while (more) {
        bool first = bson_iter_next(&a), second = bson_iter_next(&b);
        if (first != second)
            return false;
        if (!first)
            return true;
        bool numbers = BSON_ITER_HOLDS_NUMBER(&a) && BSON_ITER_HOLDS_NUMBER(&b);
        bool texts = BSON_ITER_HOLDS_UTF8(&a) && BSON_ITER_HOLDS_UTF8(&b);
        more = strcmp(bson_iter_key(&a), bson_iter_key(&b)) == 0 &&
               ((numbers && bson_iter_as_int64(&a) == bson_iter_as_int64(&b)) ||
                (texts && strcmp(bson_iter_utf8(&a, NULL), bson_iter_utf8(&b, NULL)) == 0));
    }
    return false;
}

static bool is_there(const looker_t *looker, const bson_t *wanted, bool *there) {
    mongoc_collection_t *of =
        mongoc_client_get_collection(looker->client, looker->database, looker->collection);
    mongoc_cursor_t *cursor = mongoc_collection_find_indexes_with_opts(of, NULL);
    const bson_t *index;
    bson_error_t error;
    char doing[300];
    *there = false;
    while (mongoc_cursor_next(cursor, &index)) {
        bson_t stored;
        *there = *there || (bson_read_field(index, "key", &stored) && same_key(&stored, wanted));
    }
    snprintf(doing, sizeof doing, "list the indexes of %s.%s", looker->database, looker->collection);
    bool ok = !mongoc_cursor_error(cursor, &error) ||
              server_explain(looker->server, &error, NULL, doing, looker->err);
    mongoc_cursor_destroy(cursor);
    mongoc_collection_destroy(of);
    return ok;
}

/* "ts_1_st_1", as shells name indexes. */
static void name_of(const bson_t *key, char *out, size_t room) {
    bson_iter_t at;
    size_t used = 0;
    out[0] = 0;
    for (bool more = bson_iter_init(&at, key) && bson_iter_next(&at); more && used < room;
         more = bson_iter_next(&at)) {
        used += (size_t)snprintf(out + used, room - used, "%s%s_", used ? "_" : "", bson_iter_key(&at));
        if (used < room && BSON_ITER_HOLDS_UTF8(&at))
            used += (size_t)snprintf(out + used, room - used, "%s", bson_iter_utf8(&at, NULL));
        else if (used < room)
            used += (size_t)snprintf(out + used, room - used, "%lld", (long long)bson_iter_as_int64(&at));
    }
}

static bool make(const looker_t *looker, const bson_t *index, const char *name) {
    bson_t command = BSON_INITIALIZER, list, one;
    bson_iter_t option;
    bson_append_utf8(&command, "createIndexes", -1, looker->collection, -1);
    bson_append_array_begin(&command, "indexes", -1, &list);
    bson_append_document_begin(&list, "0", -1, &one);
    bson_iter_init(&option, index);
    while (bson_iter_next(&option))
        bson_append_iter(&one, NULL, 0, &option);
    if (!bson_has_field(index, "name"))
        bson_append_utf8(&one, "name", -1, name, -1);
    bson_append_document_end(&list, &one);
    bson_append_array_end(&command, &list);
    log_note("making the index %s on %s.%s", name, looker->database, looker->collection);
    bool ok =
        server_command(looker->server, looker->client, looker->database, &command, true, NULL, looker->err);
    bson_destroy(&command);
    return ok;
}

static bool check(const looker_t *looker, const yaml_item_t *node, bool makes) {
    bson_t index, key;
    bool there = false;
    char name[128];
    bool ok = value_document(&index, node, looker->suite->tree, NULL, looker->err);
    ok = value_document(&key, yaml_item_get(node, "key"), looker->suite->tree, NULL, looker->err) && ok &&
         is_there(looker, &key, &there);
    name_of(&key, name, sizeof name);
    if (ok && !there && !makes)
        ok = err_set(looker->err, STATUS_USAGE,
                     "the query '%s' needs the index %s on %s.%s, which is not there: --setup makes it",
                     looker->query->name, name, looker->database, looker->collection);
    if (ok && !there)
        ok = make(looker, &index, name);
    bson_destroy(&index);
    bson_destroy(&key);
    return ok;
}

bool indexes_check(const suite_t *suite, const query_t *query, server_t *server, mongoc_client_t *client,
                   bool makes, err_t *err) {
    const looker_t looker = {.suite = suite,
                             .query = query,
                             .server = server,
                             .client = client,
                             .database = server_database(server),
                             .collection = query->collection ? query->collection : server_collection(server),
                             .err = err};
    for (const yaml_item_t *node = query->indexes ? query->indexes->first : NULL; node; node = node->next)
        if (!check(&looker, node, makes))
            return false;
    return true;
}
