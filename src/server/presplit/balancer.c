#include "server/presplit/balancer.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/chunks/sharding.h"

#include <stdio.h>
#include <string.h>

/* Of a collection that is sharded; of any other one there is nothing to be turned off. */
typedef struct {
    bool sharded, off;
    char name[SHARDING_NAME];
    uint8_t uuid[SHARDING_UUID];
} switch_t;

/* uuid: as for sharding_read. */
static bool look(server_t *server, mongoc_client_t *client, const uint8_t *uuid, switch_t *at, err_t *err) {
    sharding_t sharding;
    const bool ok = sharding_read(server, client, uuid, &sharding, err) && !sharding.hidden;
    *at = (switch_t){.sharded = ok && sharding.sharded, .off = ok && sharding.unbalanced};
    memcpy(at->name, sharding.name, sizeof at->name);
    memcpy(at->uuid, sharding.uuid, sizeof at->uuid);
    sharding_free(&sharding);
    return ok;
}

static bool has_configure(const server_t *server) {
    const server_facts_t *facts = server_facts(server);
    return facts->major > 8 || (facts->major == 8 && facts->minor >= 1);
}

static bool set(server_t *server, mongoc_client_t *client, const switch_t *at, bool off, err_t *err) {
    const bool configure = has_configure(server);
    if (!at->sharded)
        return true;
    bson_t *command = configure
                          ? BCON_NEW("configureCollectionBalancing", BCON_UTF8(at->name), "enableBalancing",
                                     BCON_BOOL(!off))
                          : BCON_NEW("update", BCON_UTF8("collections"), "updates", "[", "{", "q", "{",
                                     "uuid", BCON_BIN(BSON_SUBTYPE_UUID, at->uuid, sizeof at->uuid), "}", "u",
                                     "{", "$set", "{", "noBalance", BCON_BOOL(off), "}", "}", "}", "]");
    bool ok = server_command(server, client, configure ? "admin" : "config", command, !configure, NULL, err);
    bson_destroy(command);
    return ok;
}

/* ---- what the catalog's header says ---- */

static void name_catalog(const server_t *server, char name[300]) {
    snprintf(name, 300, "%s" OWN_FILES, server_collection(server));
}

typedef struct {
    balancer_note_t note;      /* of a load */
    uint8_t of[SHARDING_UUID]; /* about this collection, */
    bool is_of;                /* if it says so, as older versions did not: else about the one of the name */
    bool owed;                 /* a person had turned it off before --drop */
    bson_oid_t by;             /* whose note it is, */
    bool is_signed;            /* if it says so */
} notes_t;

static void note_collection(notes_t *notes, const uint8_t *uuid) {
    notes->is_of = uuid != NULL;
    if (uuid)
        memcpy(notes->of, uuid, sizeof notes->of);
}

/* took: of which collection a load's note is where the catalog says nothing, as one that was removed; or NULL: of none. */
static bool read_notes(server_t *server, mongoc_client_t *client, const uint8_t *took, notes_t *notes,
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
    *notes = (notes_t){.note = ok && took ? BALANCER_DONE : BALANCER_NO_NOTE};
    note_collection(notes, took);
    bool any = ok && bson_read_batch(&reply, &at) && bson_read_next(&at, &header);
    if (any && bson_has_field(&header, "balancingHeld"))
        note_collection(notes, bson_read_uuid(&header, "balancingOf"));
    for (any = any && bson_iter_init(&at, &header); any && bson_iter_next(&at);) {
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

static bool note_begun(server_t *server, mongoc_client_t *client, const uint8_t uuid[16], err_t *err) {
    bson_oid_t by;
    bson_oid_init(&by, NULL);
    return write_notes(server, client, NULL,
                       BCON_NEW("balancingHeld", BCON_UTF8("begun"), "balancingBy", BCON_OID(&by),
                                "balancingOf", BCON_BIN(BSON_SUBTYPE_UUID, uuid, SHARDING_UUID)),
                       err);
}

bool balancer_note_off(server_t *server, mongoc_client_t *client, err_t *err) {
    return write_notes(server, client, NULL, BCON_NEW("balancingOff", BCON_BOOL(true)), err);
}

bool balancer_owes(server_t *server, mongoc_client_t *client, bool *owed, err_t *err) {
    notes_t notes;
    const bool ok = read_notes(server, client, NULL, &notes, err);
    *owed = notes.owed;
    return ok;
}

bool balancer_keep_off(server_t *server, mongoc_client_t *client, bool *owed, err_t *err) {
    switch_t at;
    return balancer_owes(server, client, owed, err) &&
           (!*owed || (look(server, client, NULL, &at, err) && set(server, client, &at, true, err) &&
                       write_notes(server, client, NULL, BCON_NEW("balancingOff", BCON_BOOL(false)), err)));
}

/* ---- */

balancer_t balancer_judge(bool off, balancer_note_t note) {
    static const balancer_t by[] = {[BALANCER_NO_NOTE] = BALANCER_PERSONS,
                                    [BALANCER_BEGUN] = BALANCER_IN_DOUBT,
                                    [BALANCER_DONE] = BALANCER_OURS};
    return off ? by[note] : BALANCER_ON;
}

/* Is the note about another collection than this one? */
static bool is_of_another(const notes_t *notes, const uint8_t uuid[SHARDING_UUID]) {
    return notes->note != BALANCER_NO_NOTE && notes->is_of && memcmp(notes->of, uuid, sizeof notes->of) != 0;
}

/* here: the collection that has the name now. Where the one of the note is gone, this may be the same one, which gets another
 * UUID when it is resharded, and stays off; or one that a person has made, and turned off. */
static bool look_at_noted(server_t *server, mongoc_client_t *client, const notes_t *notes,
                          const switch_t *here, switch_t *at, balancer_t *hold, err_t *err) {
    *at = *here;
    *hold = balancer_judge(here->off, notes->note);
    if (!is_of_another(notes, here->uuid))
        return true;
    if (!look(server, client, notes->of, at, err))
        return false;
    *hold = balancer_judge(at->off, notes->note);
    if (!at->sharded && here->off) {
        *at = *here;
        *hold = BALANCER_IN_DOUBT;
    }
    return true;
}

static balancer_found_t found_at(balancer_t hold, const switch_t *at) {
    balancer_found_t found = {.hold = hold};
    memcpy(found.name, at->name, sizeof found.name);
    return found;
}

bool balancer_look(server_t *server, mongoc_client_t *client, balancer_t *here, balancer_found_t *noted,
                   err_t *err) {
    notes_t notes;
    switch_t named, at;
    balancer_t hold;
    *here = BALANCER_ON;
    if (!read_notes(server, client, NULL, &notes, err) || !look(server, client, NULL, &named, err) ||
        !look_at_noted(server, client, &notes, &named, &at, &hold, err))
        return false;
    const bool elsewhere = at.sharded && memcmp(at.uuid, named.uuid, sizeof at.uuid) != 0;
    *here = elsewhere ? balancer_judge(named.off, BALANCER_NO_NOTE) : hold;
    if (noted)
        *noted = found_at(hold, &at);
    return true;
}

/* Nobody else would: the next note takes the place of this one. */
static bool put_back_another(server_t *server, mongoc_client_t *client, const uint8_t uuid[SHARDING_UUID],
                             err_t *err) {
    notes_t notes;
    switch_t at;
    return read_notes(server, client, NULL, &notes, err) &&
           (!is_of_another(&notes, uuid) ||
            (look(server, client, notes.of, &at, err) &&
             (balancer_judge(at.off, notes.note) != BALANCER_OURS || set(server, client, &at, false, err))));
}

bool balancer_take(server_t *server, mongoc_client_t *client, const uint8_t uuid[16], bool *took,
                   err_t *err) {
    switch_t at, again;
    *took = false;
    if (!put_back_another(server, client, uuid, err) || !look(server, client, uuid, &at, err))
        return false;
    if (at.off || !at.sharded)
        return true; /* a person, or another load, has turned it off */
    if (!note_begun(server, client, uuid, err))
        return false;
    /* a command that seems to fail may have succeeded */
    if (!set(server, client, &at, true, err) && !(look(server, client, uuid, &again, err) && again.off))
        return false;
    *took = true;
    return write_notes(server, client, NULL, BCON_NEW("balancingHeld", BCON_BOOL(true)), err);
}

bool balancer_release(server_t *server, mongoc_client_t *client, const uint8_t *took, balancer_found_t *found,
                      err_t *err) {
    notes_t notes;
    switch_t here, at;
    balancer_t hold;
    *found = (balancer_found_t){.hold = BALANCER_ON};
    if (!read_notes(server, client, took, &notes, err) || !look(server, client, NULL, &here, err) ||
        !look_at_noted(server, client, &notes, &here, &at, &hold, err))
        return false;
    *found = found_at(hold, &at);
    return (hold != BALANCER_OURS || set(server, client, &at, false, err)) &&
           (notes.note == BALANCER_NO_NOTE || /* that of a load that has turned it off since then stays */
            write_notes(server, client, &notes, BCON_NEW("balancingHeld", BCON_BOOL(false)), err));
}
