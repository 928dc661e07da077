#include "server/presplit/balancer.h"
#include "server/chunks/config.h"

#include <stdio.h>

/* Does config.collections say that the collection is not balanced? */
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

/* *note: of a load; unsaid: what it is where the catalog says nothing, as one that was removed; *owed: a person had turned it
 * off before --drop. */
static bool read_notes(server_t *server, mongoc_client_t *client, balancer_note_t unsaid,
                       balancer_note_t *note, bool *owed, err_t *err) {
    char name[300];
    bson_t reply;
    bson_iter_t at, held;
    name_catalog(server, name);
    bson_t *command = BCON_NEW("find", BCON_UTF8(name), "filter", "{", "_id", BCON_UTF8("catalog"), "}",
                               "limit", BCON_INT64(1), "singleBatch", BCON_BOOL(true), "readConcern", "{",
                               "level", BCON_UTF8("majority"), "}");
    bool ok = server_command(server, client, server_database(server), command, false, &reply, err);
    bson_destroy(command);
    *note = ok ? unsaid : BALANCER_NO_NOTE;
    if (ok && bson_iter_init(&at, &reply) &&
        bson_iter_find_descendant(&at, "cursor.firstBatch.0.balancingHeld", &held))
        *note = BSON_ITER_HOLDS_UTF8(&held) ? BALANCER_BEGUN
                : bson_iter_as_bool(&held)  ? BALANCER_DONE
                                            : BALANCER_NO_NOTE;
    *owed = ok && bson_iter_init(&at, &reply) &&
            bson_iter_find_descendant(&at, "cursor.firstBatch.0.balancingOff", &held) &&
            bson_iter_as_bool(&held);
    bson_destroy(&reply);
    return ok;
}

/* Destroys set. */
static bool write_notes(server_t *server, mongoc_client_t *client, bson_t *set, err_t *err) {
    char name[300];
    name_catalog(server, name);
    bson_t *command =
        BCON_NEW("update", BCON_UTF8(name), "updates", "[", "{", "q", "{", "_id", BCON_UTF8("catalog"), "}",
                 "u", "{", "$set", BCON_DOCUMENT(set), "}", "}", "]");
    bool ok = server_command(server, client, server_database(server), command, true, NULL, err);
    bson_destroy(command);
    bson_destroy(set);
    return ok;
}

static bool write_note(server_t *server, mongoc_client_t *client, balancer_note_t note, err_t *err) {
    return write_notes(server, client,
                       note == BALANCER_BEGUN ? BCON_NEW("balancingHeld", BCON_UTF8("begun"))
                                              : BCON_NEW("balancingHeld", BCON_BOOL(note == BALANCER_DONE)),
                       err);
}

bool balancer_note_off(server_t *server, mongoc_client_t *client, err_t *err) {
    return write_notes(server, client, BCON_NEW("balancingOff", BCON_BOOL(true)), err);
}

bool balancer_owes(server_t *server, mongoc_client_t *client, bool *owed, err_t *err) {
    balancer_note_t note;
    return read_notes(server, client, BALANCER_NO_NOTE, &note, owed, err);
}

bool balancer_keep_off(server_t *server, mongoc_client_t *client, bool *owed, err_t *err) {
    return balancer_owes(server, client, owed, err) &&
           (!*owed || (set(server, client, true, err) &&
                       write_notes(server, client, BCON_NEW("balancingOff", BCON_BOOL(false)), err)));
}

/* ---- */

balancer_t balancer_judge(bool off, balancer_note_t note) {
    static const balancer_t by[] = {[BALANCER_NO_NOTE] = BALANCER_PERSONS,
                                    [BALANCER_BEGUN] = BALANCER_IN_DOUBT,
                                    [BALANCER_DONE] = BALANCER_OURS};
    return off ? by[note] : BALANCER_ON;
}

static bool look_at_both(server_t *server, mongoc_client_t *client, balancer_note_t unsaid,
                         balancer_note_t *note, balancer_t *hold, err_t *err) {
    bool off, owed;
    if (!read_notes(server, client, unsaid, note, &owed, err) || !look(server, client, &off, err))
        return false;
    *hold = balancer_judge(off, *note);
    return true;
}

bool balancer_look(server_t *server, mongoc_client_t *client, balancer_t *hold, err_t *err) {
    balancer_note_t note;
    return look_at_both(server, client, BALANCER_NO_NOTE, &note, hold, err);
}

bool balancer_take(server_t *server, mongoc_client_t *client, bool *took, err_t *err) {
    bool off;
    *took = false;
    if (!look(server, client, &off, err))
        return false;
    if (off)
        return true; /* a person, or another load, has turned it off */
    if (!write_note(server, client, BALANCER_BEGUN, err))
        return false;
    /* a command that seems to fail may have succeeded */
    if (!set(server, client, true, err) && !(look(server, client, &off, err) && off))
        return false;
    *took = true;
    return write_note(server, client, BALANCER_DONE, err);
}

bool balancer_release(server_t *server, mongoc_client_t *client, bool took, balancer_t *found, err_t *err) {
    balancer_note_t note;
    *found = BALANCER_ON;
    return look_at_both(server, client, took ? BALANCER_DONE : BALANCER_NO_NOTE, &note, found, err) &&
           (*found != BALANCER_OURS || set(server, client, false, err)) &&
           (note == BALANCER_NO_NOTE || write_note(server, client, BALANCER_NO_NOTE, err));
}
