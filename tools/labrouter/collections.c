/* Definitions of collections and indexes, which a mongos sends to a database's primary shard or to every
 * shard that owns chunks. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The client's command as it is, except for the fields named. */
static bson_t *same_command(call_t *call, const char *const *but) {
    bson_iter_t iter;
    call_has(call, NULL, &iter);
    bson_t *command = bson_new();
    bson_append_iter(command, bson_iter_key(&iter), -1, &iter);
    call_copy_all(call, command, but);
    return command;
}

static const char *const SESSION[] = {"lsid", "txnNumber", NULL};

bool collections_create(call_t *call) {
    char place[NAME_SIZE];
    return catalog_primary(call, call->database, true, place) &&
           call_finish(call, place, call->database, same_command(call, SESSION));
}

/* ---- commands that a database's primary shard coordinates ---- */

/* Sends `inner` with the client's fields and the version of the database. */
static bool coordinate(call_t *call, const char *inner, const database_t *database) {
    bson_iter_t iter;
    bson_t *command = bson_new();
    call_has(call, NULL, &iter);
    bson_append_iter(command, inner, -1, &iter);
    call_copy_fields(call, command, NULL);
    bson_append_document(command, "databaseVersion", -1, &database->version);
    call_majority(command);
    return call_finish(call, database->primary, call->database, command);
}

static bool coordinate_if_there(call_t *call, const char *inner, const char *when_not) {
    database_t database;
    if (strcmp(call->database, "config") == 0 || strcmp(call->database, "admin") == 0)
        return problem_set(call->problem, CODE_NOT_SUPPORTED, "this router leaves the database %s as it is",
                           call->database);
    if (!catalog_database(call, call->database, false, &database))
        return false;
    if (!database.found) {
        bson_init(call->reply);
        if (!when_not)
            return call_close(call);
        bson_destroy(call->reply);
        return problem_set(call->problem, CODE_NO_SUCH_NAMESPACE, "%s: there is no database %s", when_not,
                           call->database);
    }
    const bool ok = coordinate(call, inner, &database);
    catalog_database_clean(&database);
    return ok;
}

bool collections_drop(call_t *call) {
    return coordinate_if_there(call, "_shardsvrDropCollection", NULL);
}

bool collections_drop_database(call_t *call) {
    return coordinate_if_there(call, "_shardsvrDropDatabase", NULL);
}

bool collections_drop_indexes(call_t *call) {
    return coordinate_if_there(call, "_shardsvrDropIndexes", "ns not found");
}

bool collections_modify(call_t *call) {
    return coordinate_if_there(call, "_shardsvrCollMod", "ns not found");
}

/* ---- indexes ---- */

bool collections_create_indexes(call_t *call) {
    char namespace[NAME_SIZE];
    names_t owners = {0};
    bson_t raw = BSON_INITIALIZER, reply;
    if (!call_namespace(call, namespace) || !catalog_owners(call, namespace, true, &owners))
        return false;
    bool ok = true;
    for (size_t i = 0; i < owners.count && ok; i++) {
        ok = call_ask(call, owners.names[i], call->database, same_command(call, SESSION), &reply);
        if (ok) {
            bson_append_document(&raw, owners.names[i], -1, &reply);
            bson_destroy(&reply);
        }
    }
    names_clean(&owners);
    if (ok) {
        bson_init(call->reply);
        bson_append_document(call->reply, "raw", -1, &raw);
        call_close(call);
    }
    bson_destroy(&raw);
    return ok;
}

/* A cursor of such a reply lives in the shard, where the client cannot reach it: everything must come at
 * once. */
static bson_t *all_at_once(call_t *call) {
    static const char *const BUT[] = {"lsid", "txnNumber", "cursor", NULL};
    bson_t *command = same_command(call, BUT);
    BCON_APPEND(command, "cursor", "{", "batchSize", BCON_INT32(1000000), "}");
    return command;
}

bool collections_list_indexes(call_t *call) {
    char namespace[NAME_SIZE];
    names_t owners = {0};
    if (!call_namespace(call, namespace) || !catalog_owners(call, namespace, false, &owners))
        return false;
    const bool ok =
        owners.count ? call_finish(call, owners.names[0], call->database, all_at_once(call))
                     : problem_set(call->problem, CODE_NO_SUCH_NAMESPACE, "ns does not exist: %s", namespace);
    names_clean(&owners);
    return ok;
}

/* ---- lists ---- */

bool collections_list(call_t *call) {
    char place[NAME_SIZE], namespace[NAME_SIZE];
    bson_t cursor, batch;
    if (!catalog_primary(call, call->database, false, place))
        return false;
    if (place[0])
        return call_finish(call, place, call->database, all_at_once(call));
    snprintf(namespace, sizeof namespace, "%s.$cmd.listCollections", call->database);
    bson_init(call->reply);
    bson_append_document_begin(call->reply, "cursor", -1, &cursor);
    bson_append_int64(&cursor, "id", -1, 0);
    bson_append_utf8(&cursor, "ns", -1, namespace, -1);
    bson_append_array_unsafe_begin(&cursor, "firstBatch", -1, &batch);
    bson_append_array_end(&cursor, &batch);
    bson_append_document_end(call->reply, &cursor);
    return call_close(call);
}

typedef struct {
    struct {
        char name[NAME_SIZE];
        double size;
    } * list;
    size_t count;
} databases_t;

static void databases_add(databases_t *databases, const char *name, double size) {
    size_t at = 0;
    while (at < databases->count && strcmp(databases->list[at].name, name) != 0)
        at++;
    if (at == databases->count) {
        databases->list = realloc(databases->list, (at + 1) * sizeof *databases->list);
        snprintf(databases->list[at].name, NAME_SIZE, "%s", name);
        databases->list[at].size = 0;
        databases->count++;
    }
    databases->list[at].size += size;
}

static bool list_databases_of(call_t *call, const char *place, databases_t *databases) {
    bson_t reply;
    bson_iter_t iter, item, name, size;
    if (!call_ask(call, place, "admin", same_command(call, SESSION), &reply))
        return false;
    const bool of_config = strcmp(place, "config") == 0;
    if (bson_iter_init_find(&iter, &reply, "databases") && bson_iter_recurse(&iter, &item))
        while (bson_iter_next(&item)) {
            if (!bson_iter_recurse(&item, &name) || !bson_iter_find(&name, "name"))
                continue;
            const char *text = bson_iter_utf8(&name, NULL);
            if (strcmp(text, "local") == 0 ||
                of_config != (strcmp(text, "config") == 0 || strcmp(text, "admin") == 0))
                continue;
            bson_iter_recurse(&item, &size);
            databases_add(databases, text,
                          bson_iter_find(&size, "sizeOnDisk") ? bson_iter_as_double(&size) : 0);
        }
    bson_destroy(&reply);
    return true;
}

bool collections_list_databases(call_t *call) {
    names_t shards = {0};
    databases_t databases = {0};
    bson_t list, item;
    bson_iter_t iter;
    char key[32];
    double total = 0;
    bool ok = catalog_shards(call, &shards) && list_databases_of(call, "config", &databases);
    for (size_t i = 0; i < shards.count && ok; i++)
        ok = list_databases_of(call, shards.names[i], &databases);
    names_clean(&shards);
    if (ok) {
        const bool names_only = call_has(call, "nameOnly", &iter) && bson_iter_as_bool(&iter);
        bson_init(call->reply);
        bson_append_array_unsafe_begin(call->reply, "databases", -1, &list);
        for (size_t i = 0; i < databases.count; i++) {
            snprintf(key, sizeof key, "%zu", i);
            bson_append_document_begin(&list, key, -1, &item);
            bson_append_utf8(&item, "name", -1, databases.list[i].name, -1);
            if (!names_only) {
                bson_append_int64(&item, "sizeOnDisk", -1, (int64_t)databases.list[i].size);
                bson_append_bool(&item, "empty", -1, false);
            }
            bson_append_document_end(&list, &item);
            total += databases.list[i].size;
        }
        bson_append_array_end(call->reply, &list);
        if (!names_only)
            bson_append_int64(call->reply, "totalSize", -1, (int64_t)total);
        call_close(call);
    }
    free(databases.list);
    return ok;
}

/* ---- the config server and every shard ---- */

/* Users and roles live in each of them, as a client logs in at the shard that routes for it. */
bool collections_everywhere(call_t *call) {
    names_t shards = {0};
    bson_t reply;
    bool ok = catalog_shards(call, &shards);
    for (size_t i = 0; i < shards.count && ok; i++) {
        ok = call_ask(call, shards.names[i], call->database, same_command(call, SESSION), &reply);
        if (ok)
            bson_destroy(&reply);
    }
    names_clean(&shards);
    return ok && call_finish(call, "config", call->database, same_command(call, SESSION));
}

/* A checkpoint of each shard; as through a mongos of this version, none is locked. */
bool collections_fsync(call_t *call) {
    names_t shards = {0};
    bson_t reply;
    bson_iter_t lock;
    if (call_has(call, "lock", &lock) && bson_iter_as_bool(&lock))
        return problem_set(call->problem, CODE_NOT_SUPPORTED, "shards cannot be locked through this router");
    bool ok = catalog_shards(call, &shards);
    for (size_t i = 0; i < shards.count && ok; i++) {
        ok = call_ask(call, shards.names[i], "admin", same_command(call, SESSION), &reply);
        if (ok)
            bson_destroy(&reply);
    }
    names_clean(&shards);
    return ok && call_done(call);
}
