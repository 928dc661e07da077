#include "server/presplit/balancer.h"
#include "base/chars/own_names.h"
#include "server/bson_read.h"
#include "server/chunks/config.h"

#include <stdio.h>
#include <string.h>

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
    snprintf(name, 300, "%s" OWN_FILES, server_collection(server));
}

typedef struct {
    balancer_note_t note; /* of a load */
    bool owed;            /* a person had turned it off before --drop */
    bson_oid_t by;        /* whose note it is, */
    bool is_signed;       /* if it says so */
} notes_t;

/* unsaid: what a load's note is where the catalog says nothing, as one that was removed. */
static bool read_notes(server_t *server, mongoc_client_t *client, balancer_note_t unsaid, notes_t *notes,
                       err_t *err) {
    char name[300];
    bson_t reply, header;
    bson_iter_t at;
    name_catalog(server, name);
    bson_t *command = BCON_NEW("find", BCON_UTF8(name), "filter", "{", "_id", BCON_UTF8("catalog"), "}",
                               "limit", BCON_INT64(1), "singleBatch", BCON_BOOL(true), "readConcern", "{",
                               "level", BCON_UTF8("majority"), "}");
    bool ok = server_command(server, client, server_database(server), command, false, &reply, err);
    bson_destroy(command);
    *notes = (notes_t){.note = ok ? unsaid : BALANCER_NO_NOTE};
    for (bool any = ok && bson_read_batch(&reply, &at) && bson_read_next(&at, &header) &&
                    bson_iter_init(&at, &header);
         any && bson_iter_next(&at);) {
        const char *key = bson_iter_key(&at);
        if (strcmp(key, "balancingHeld") == 0)
            notes->note = BSON_ITER_HOLDS_UTF8(&at) ? BALANCER_BEGUN
                          : bson_iter_as_bool(&at)  ? BALANCER_DONE
                                                    : BALANCER_NO_NOTE;
        else if (strcmp(key, "balancingOff") == 0)
            notes->owed = bson_iter_as_bool(&at);
        else if (strcmp(key, "balancingBy") == 0 && (notes->is_signed = BSON_ITER_HOLDS_OID(&at)))
            notes->by = *bson_iter_oid(&at);
    }
    bson_destroy(&reply);
    return ok;
}

/* of: nothing is changed where the note is not the one that was read; NULL: whose it may be. Destroys set. */
static bool write_notes(server_t *server, mongoc_client_t *client, const notes_t *of, bson_t *set,
                        err_t *err) {
    char name[300];
    bson_t which = BSON_INITIALIZER;
    name_catalog(server, name);
    BSON_APPEND_UTF8(&which, "_id", "catalog");
    if (of && of->is_signed)
        BSON_APPEND_OID(&which, "balancingBy", &of->by);
    bson_t *command = BCON_NEW("update", BCON_UTF8(name), "updates", "[", "{", "q", BCON_DOCUMENT(&which),
                               "u", "{", "$set", BCON_DOCUMENT(set), "}", "}", "]");
    bool ok = server_command(server, client, server_database(server), command, true, NULL, err);
    bson_destroy(command);
    bson_destroy(&which);
    bson_destroy(set);
    return ok;
}

static bool note_begun(server_t *server, mongoc_client_t *client, err_t *err) {
    bson_oid_t by;
    bson_oid_init(&by, NULL);
    return write_notes(server, client, NULL,
                       BCON_NEW("balancingHeld", BCON_UTF8("begun"), "balancingBy", BCON_OID(&by)), err);
}

bool balancer_note_off(server_t *server, mongoc_client_t *client, err_t *err) {
    return write_notes(server, client, NULL, BCON_NEW("balancingOff", BCON_BOOL(true)), err);
}

bool balancer_owes(server_t *server, mongoc_client_t *client, bool *owed, err_t *err) {
    notes_t notes;
    const bool ok = read_notes(server, client, BALANCER_NO_NOTE, &notes, err);
    *owed = notes.owed;
    return ok;
}

bool balancer_keep_off(server_t *server, mongoc_client_t *client, bool *owed, err_t *err) {
    return balancer_owes(server, client, owed, err) &&
           (!*owed || (set(server, client, true, err) &&
                       write_notes(server, client, NULL, BCON_NEW("balancingOff", BCON_BOOL(false)), err)));
}

/* ---- */

balancer_t balancer_judge(bool off, balancer_note_t note) {
    static const balancer_t by[] = {[BALANCER_NO_NOTE] = BALANCER_PERSONS,
                                    [BALANCER_BEGUN] = BALANCER_IN_DOUBT,
                                    [BALANCER_DONE] = BALANCER_OURS};
    return off ? by[note] : BALANCER_ON;
}

static bool look_at_both(server_t *server, mongoc_client_t *client, balancer_note_t unsaid, notes_t *notes,
                         balancer_t *hold, err_t *err) {
    bool off;
    if (!read_notes(server, client, unsaid, notes, err) || !look(server, client, &off, err))
        return false;
    *hold = balancer_judge(off, notes->note);
    return true;
}

bool balancer_look(server_t *server, mongoc_client_t *client, balancer_t *hold, err_t *err) {
    notes_t notes;
    return look_at_both(server, client, BALANCER_NO_NOTE, &notes, hold, err);
}

bool balancer_take(server_t *server, mongoc_client_t *client, bool *took, err_t *err) {
    bool off;
    *took = false;
    if (!look(server, client, &off, err))
        return false;
    if (off)
        return true; /* a person, or another load, has turned it off */
    if (!note_begun(server, client, err))
        return false;
    /* a command that seems to fail may have succeeded */
    if (!set(server, client, true, err) && !(look(server, client, &off, err) && off))
        return false;
    *took = true;
    return write_notes(server, client, NULL, BCON_NEW("balancingHeld", BCON_BOOL(true)), err);
}

bool balancer_release(server_t *server, mongoc_client_t *client, bool took, balancer_t *found, err_t *err) {
    notes_t notes;
    *found = BALANCER_ON;
    return look_at_both(server, client, took ? BALANCER_DONE : BALANCER_NO_NOTE, &notes, found, err) &&
           (*found != BALANCER_OURS || set(server, client, false, err)) &&
           (notes.note == BALANCER_NO_NOTE || /* that of a load that has turned it off since then stays */
            write_notes(server, client, &notes, BCON_NEW("balancingHeld", BCON_BOOL(false)), err));
}
