#include "base/log.h"
#include "query/query.h"
#include "query/suite/suite.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/server.h"

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

static bool same_value(const bson_iter_t *one, const bson_iter_t *other) {
    bson_iter_t a, b;
    if (BSON_ITER_HOLDS_NUMBER(one) && BSON_ITER_HOLDS_NUMBER(other))
        return bson_iter_as_double(one) == bson_iter_as_double(other) &&
               bson_iter_as_int64(one) == bson_iter_as_int64(other);
    if (bson_iter_type(one) != bson_iter_type(other))
        return false;
    if (!BSON_ITER_HOLDS_DOCUMENT(one) && !BSON_ITER_HOLDS_ARRAY(one)) {
        bson_t left = BSON_INITIALIZER, right = BSON_INITIALIZER;
        bson_append_iter(&left, "", 0, one);
        bson_append_iter(&right, "", 0, other);
        const bool same = bson_equal(&left, &right);
        bson_destroy(&left);
        bson_destroy(&right);
        return same;
    }
    if (!bson_iter_recurse(one, &a) || !bson_iter_recurse(other, &b))
        return false;
    for (;;) {
        const bool first = bson_iter_next(&a), second = bson_iter_next(&b);
        if (!first || !second)
            return first == second;
        if (strcmp(bson_iter_key(&a), bson_iter_key(&b)) != 0 || !same_value(&a, &b))
            return false;
    }
}

/* Is it the same text by text, with what a server fills in where nothing is said? */
static bool same_collation(const bson_t *wanted, const bson_t *stored) {
    static const struct {
        const char *name;
        int usual;
    } filled[] = {{"strength", 3}, {"caseLevel", 0}, {"numericOrdering", 0}};
    bson_iter_t mine, theirs;
    for (bool more = bson_iter_init(&mine, wanted) && bson_iter_next(&mine); more;
         more = bson_iter_next(&mine))
        if (!bson_iter_init_find(&theirs, stored, bson_iter_key(&mine)) || !same_value(&mine, &theirs))
            return false;
    for (size_t i = 0; i < sizeof filled / sizeof *filled; i++)
        if (!bson_iter_init_find(&mine, wanted, filled[i].name) &&
            bson_iter_init_find(&theirs, stored, filled[i].name) &&
            bson_iter_as_int64(&theirs) != filled[i].usual)
            return false;
    return true;
}

static bool is_simple(const bson_t *collation) {
    return strcmp(bson_read_text(collation, "locale"), "simple") == 0;
}

/* usual: the collection's own collation, which an index has if it says nothing; NULL: none. */
static bool collates_otherwise(const bson_t *wanted, const bson_t *stored, const bson_t *usual) {
    bson_t own, theirs;
    const bool says_own = bson_read_field(wanted, "collation", &own),
               has = bson_read_field(stored, "collation", &theirs);
    if (says_own && is_simple(&own))
        return has && !is_simple(&theirs);
    if (!says_own && usual)
        return !has || !bson_equal(usual, &theirs);
    return says_own != has || (has && !same_collation(&own, &theirs));
}

const char *indexes_differ(const bson_t *wanted, const bson_t *stored, const bson_t *usual) {
    static const char *const filters[] = {"partialFilterExpression", "wildcardProjection"};
    if (bson_read_true(stored, "hidden") && !bson_read_true(wanted, "hidden"))
        return "it is hidden";
    if (bson_read_true(wanted, "sparse") != bson_read_true(stored, "sparse"))
        return bson_read_true(stored, "sparse") ? "it is sparse" : "it is not sparse";
    /* that of _id is always unique, and a server does not say so */
    if (bson_read_true(wanted, "unique") && !bson_read_true(stored, "unique") &&
        strcmp(bson_read_text(stored, "name"), "_id_") != 0)
        return "it is not unique";
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        bson_iter_t mine, theirs;
        const bool own = bson_iter_init_find(&mine, wanted, filters[i]),
                   has = bson_iter_init_find(&theirs, stored, filters[i]);
        if (own != has || (own && !same_value(&mine, &theirs)))
            return i ? "its wildcardProjection is another one" : "its partialFilterExpression is another one";
    }
    return collates_otherwise(wanted, stored, usual) ? "its collation is another one" : NULL;
}

/* ---- text indexes ---- */

static bool is_text(const bson_iter_t *field) {
    return BSON_ITER_HOLDS_UTF8(field) && strcmp(bson_iter_utf8(field, NULL), "text") == 0;
}

/* The key of an index as a server keeps it: that of a text index has {_fts: "text", _ftsx: 1} in the place of its fields,
 * which are kept as weights. */
static void as_kept(const bson_t *wanted, const bson_t *key, bson_t *kept, bson_t *weights) {
    bson_t given;
    bson_iter_t at, there;
    bson_init(kept);
    bson_init(weights);
    if (bson_read_field(wanted, "weights", &given))
        bson_concat(weights, &given);
    for (bool more = bson_iter_init(&at, key) && bson_iter_next(&at); more; more = bson_iter_next(&at)) {
        const char *name = bson_iter_key(&at);
        if (!is_text(&at)) {
            bson_append_iter(kept, NULL, 0, &at);
            continue;
        }
        if (!bson_iter_init_find(&there, kept, "_fts")) {
            bson_append_utf8(kept, "_fts", -1, "text", -1);
            bson_append_int32(kept, "_ftsx", -1, 1);
        }
        if (!bson_iter_init_find(&there, weights, name))
            bson_append_int32(weights, name, -1, 1);
    }
}

/* Has the stored index the key that is wanted? */
static bool has_key(const bson_t *index, const bson_t *wanted, const bson_t *key) {
    bson_t stored, kept, weights, theirs;
    bson_iter_t mine, other;
    if (!bson_read_field(index, "key", &stored))
        return false;
    as_kept(wanted, key, &kept, &weights);
    bool same = collection_same_keys(&stored, &kept);
    if (same && bson_read_field(index, "weights", &theirs)) {
        same = bson_count_keys(&weights) == bson_count_keys(&theirs);
        for (bool more = bson_iter_init(&mine, &weights) && bson_iter_next(&mine); same && more;
             more = bson_iter_next(&mine))
            same = bson_iter_init_find(&other, &theirs, bson_iter_key(&mine)) && same_value(&mine, &other);
    }
    bson_destroy(&kept);
    bson_destroy(&weights);
    return same;
}

/* What is there of a key. */
typedef struct {
    bool there;     /* the index that is wanted */
    char name[160]; /* of another one; "": none */
    const char *differs;
} found_t;

static void look_at(const bson_t *index, const bson_t *wanted, const bson_t *key, const bson_t *usual,
                    found_t *found) {
    if (found->there || !has_key(index, wanted, key))
        return;
    const char *differs = indexes_differ(wanted, index, usual);
    found->there = !differs;
    if (differs) {
        found->differs = differs;
        snprintf(found->name, sizeof found->name, "%s", bson_read_text(index, "name"));
    }
}

static bool is_there(const looker_t *looker, const bson_t *wanted, const bson_t *key, found_t *found) {
    enum { NO_COLLECTION = 26 }; /* and so no index */
    bson_t *command = BCON_NEW("listIndexes", BCON_UTF8(looker->collection), "cursor", "{", "}");
    command_cursor_t cursor;
    const bson_t *index, *reply;
    bson_error_t error;
    char doing[300];
    bson_t list = BSON_INITIALIZER, usual, one;
    bson_iter_t at;
    bool any = false; /* the collection has a collation of its own: its index of _id has it, too */
    *found = (found_t){.there = false};
    mongoc_read_prefs_t *primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
    command_cursor_begin(&cursor, looker->client, looker->database, command, NULL, primary);
    mongoc_read_prefs_destroy(primary);
    while (command_cursor_next(&cursor, &index)) {
        bson_append_document(&list, "", 0, index);
        if (!any && strcmp(bson_read_text(index, "name"), "_id_") == 0 &&
            bson_read_field(index, "collation", &one)) {
            bson_copy_to(&one, &usual);
            any = true;
        }
    }
    for (bool more = bson_iter_init(&at, &list); more && bson_read_next(&at, &one);)
        look_at(&one, wanted, key, any ? &usual : NULL, found);
    if (any)
        bson_destroy(&usual);
    bson_destroy(&list);
    snprintf(doing, sizeof doing, "list the indexes of %s.%s", looker->database, looker->collection);
    bool ok = !command_cursor_failed(&cursor, &error, &reply) ||
              (error.domain == MONGOC_ERROR_SERVER && error.code == NO_COLLECTION) ||
              refusal_explain(server_address(looker->server), &error, reply, doing, looker->err);
    command_cursor_end(&cursor);
    bson_destroy(command);
    return ok;
}

static bool make(const looker_t *looker, const bson_t *index, const char *name) {
    bson_t command = BSON_INITIALIZER, list, one;
    bson_iter_t option;
    bson_append_utf8(&command, "createIndexes", -1, looker->collection, -1);
    bson_append_array_unsafe_begin(&command, "indexes", -1, &list);
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
    found_t found = {.there = false};
    char usual[COLLECTION_INDEX_NAME] = "";
    bool ok = suite_read_index(looker->suite->tree, node, &index, looker->err) &&
              bson_read_field(&index, "key", &key) && is_there(looker, &index, &key, &found);
    const char *const own = bson_read_text(&index, "name"), *const name = *own ? own : usual;
    if (ok)
        collection_name_index(&key, usual);
    if (ok && !found.there && found.differs)
        ok = err_set(
            looker->err, STATUS_USAGE,
            "the query '%s' needs the index %s on %s.%s, and the index %s has its key, but %s: drop it, or "
            "say in the suite's setup that this is meant",
            looker->query->name, name, looker->database, looker->collection, found.name, found.differs);
    else if (ok && !found.there && !makes)
        ok = err_set(looker->err, STATUS_USAGE,
                     "the query '%s' needs the index %s on %s.%s, which is not there: --setup makes it",
                     looker->query->name, name, looker->database, looker->collection);
    if (ok && !found.there)
        ok = make(looker, &index, name);
    bson_destroy(&index);
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
