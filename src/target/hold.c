#include "target/hold.h"
#include "target/config.h"

#include <stdio.h>

/* Does config.collections say that the collection is not to be balanced? */
static bool look(server_t *server, mongoc_client_t *client, bool *off, err_t *err) {
    config_list_t list;
    bson_iter_t at;
    bson_t *filter = BCON_NEW("_id", BCON_UTF8(server_namespace(server)));
    bool ok = config_find(server, client, "collections", filter, NULL, &list, NULL, err);
    bson_destroy(filter);
    *off = ok && list.count && bson_iter_init_find(&at, list.documents[0], "noBalance") &&
           bson_iter_as_bool(&at);
    config_free(&list);
    return ok;
}

static bool has_configure(const server_t *server) {
    const server_facts_t *facts = server_facts(server);
    return facts->major > 8 || (facts->major == 8 && facts->minor >= 1);
}

static bool set(server_t *server, mongoc_client_t *client, bool off, err_t *err) {
    const char *name = server_namespace(server);
    bool configure = has_configure(server);
    bson_t *command = configure ? BCON_NEW("configureCollectionBalancing", BCON_UTF8(name), "enableBalancing",
                                           BCON_BOOL(!off))
                                : BCON_NEW("update", BCON_UTF8("collections"), "updates", "[", "{", "q", "{",
                                           "_id", BCON_UTF8(name), "}", "u", "{", "$set", "{", "noBalance",
                                           BCON_BOOL(off), "}", "}", "}", "]");
    bool ok = server_command(server, client, configure ? "admin" : "config", command, !configure, NULL, err);
    bson_destroy(command);
    return ok;
}

/* ---- what the catalog's header says ---- */

static void name_catalog(const server_t *server, char name[300]) {
    snprintf(name, 300, "%s.tipple.files", server_collection(server));
}

static bool read_note(server_t *server, mongoc_client_t *client, bool *ours, err_t *err) {
    char name[300];
    bson_t reply;
    bson_iter_t at, held;
    name_catalog(server, name);
    bson_t *command = BCON_NEW("find", BCON_UTF8(name), "filter", "{", "_id", BCON_UTF8("catalog"), "}",
                               "limit", BCON_INT64(1), "singleBatch", BCON_BOOL(true), "readConcern", "{",
                               "level", BCON_UTF8("majority"), "}");
    bool ok = server_command(server, client, server_database(server), command, false, &reply, err);
    bson_destroy(command);
    *ours = ok && bson_iter_init(&at, &reply) &&
            bson_iter_find_descendant(&at, "cursor.firstBatch.0.balancingHeld", &held) &&
            bson_iter_as_bool(&held);
    bson_destroy(&reply);
    return ok;
}

static bool write_note(server_t *server, mongoc_client_t *client, bool ours, err_t *err) {
    char name[300];
    name_catalog(server, name);
    bson_t *command =
        BCON_NEW("update", BCON_UTF8(name), "updates", "[", "{", "q", "{", "_id", BCON_UTF8("catalog"), "}",
                 "u", "{", "$set", "{", "balancingHeld", BCON_BOOL(ours), "}", "}", "}", "]");
    bool ok = server_command(server, client, server_database(server), command, true, NULL, err);
    bson_destroy(command);
    return ok;
}

bool hold_take(server_t *server, mongoc_client_t *client, err_t *err) {
    bool off;
    if (!look(server, client, &off, err))
        return false;
    if (off)
        return true; /* by a person, or by another load */
    /* the note first: a kill in between leaves a note that says too much, which does no harm */
    return write_note(server, client, true, err) && set(server, client, true, err);
}

bool hold_release(server_t *server, mongoc_client_t *client, bool *changed, err_t *err) {
    bool ours, off;
    *changed = false;
    if (!read_note(server, client, &ours, err))
        return false;
    if (!ours)
        return true;
    if (!look(server, client, &off, err))
        return false;
    *changed = off;
    return (!off || set(server, client, false, err)) && write_note(server, client, false, err);
}
