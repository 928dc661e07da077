#include "server/presplit/zone_notes.h"
#include "base/text.h"
#include "server/bson_read.h"

#include <stdio.h>
#include <string.h>

/* NAME.tipple.loads, without the database. */
static void name_loads(const server_t *server, char name[300]) {
    snprintf(name, 300, "%s" OWN_LOADS, server_collection(server));
}

void zone_notes_add(zone_notes_t *notes, const uint8_t uuid[16]) {
    if (notes->uuid_count <= ZONE_NOTES)
        memcpy(notes->uuids[notes->uuid_count++], uuid, sizeof *notes->uuids);
}

static void add(zone_notes_t *notes, const bson_t *load) {
    const double zones = bson_read_number(load, "zones");
    bson_iter_t id;
    if (!(zones >= 1 && zones <= INT32_MAX) || notes->load_count == ZONE_NOTES ||
        !bson_iter_init_find(&id, load, "_id") || !BSON_ITER_HOLDS_OID(&id))
        return;
    bson_oid_copy(bson_iter_oid(&id), &notes->loads[notes->load_count++]);
    notes->count = (size_t)zones > notes->count ? (size_t)zones : notes->count;
    const uint8_t *uuid = bson_read_uuid(load, "zonesOf");
    if (uuid)
        zone_notes_add(notes, uuid);
}

bool zone_notes_read(server_t *server, mongoc_client_t *client, zone_notes_t *notes, err_t *err) {
    char name[300];
    bson_t reply, load;
    bson_iter_t loads;
    *notes = (zone_notes_t){.count = 0};
    name_loads(server, name);
    bson_t *command =
        BCON_NEW("find", BCON_UTF8(name), "filter", "{", "zones", "{", "$gt", BCON_INT32(0), "}", "}",
                 "projection", "{", "zones", BCON_BOOL(true), "zonesOf", BCON_BOOL(true), "}", "sort", "{",
                 "zones", BCON_INT32(-1), "}", "limit", BCON_INT64(ZONE_NOTES), "singleBatch",
                 BCON_BOOL(true), "readConcern", "{", "level", BCON_UTF8("majority"), "}");
    bool ok = server_command(server, client, server_database(server), command, false, &reply, err);
    bson_destroy(command);
    if (ok && bson_read_batch(&reply, &loads))
        while (bson_read_next(&loads, &load))
            add(notes, &load);
    bson_destroy(&reply);
    return ok;
}

/* *matched: of so many loads. Destroys update. */
static bool write_update(server_t *server, mongoc_client_t *client, bson_t *update, double *matched,
                         err_t *err) {
    char name[300];
    bson_t reply;
    name_loads(server, name);
    bson_t *command = BCON_NEW("update", BCON_UTF8(name), "updates", "[", BCON_DOCUMENT(update), "]");
    const bool ok = server_command(server, client, server_database(server), command, true, &reply, err);
    *matched = ok ? bson_read_number(&reply, "n") : 0;
    bson_destroy(&reply);
    bson_destroy(command);
    bson_destroy(update);
    return ok;
}

bool zone_notes_write(server_t *server, mongoc_client_t *client, const bson_oid_t *load, size_t count,
                      const uint8_t uuid[16], err_t *err) {
    double matched;
    return write_update(server, client,
                        BCON_NEW("q", "{", "_id", BCON_OID(load), "}", "u", "{", "$max", "{", "zones",
                                 BCON_INT32((int32_t)count), "}", "$set", "{", "zonesOf",
                                 BCON_BIN(BSON_SUBTYPE_UUID, uuid, 16), "}", "}"),
                        &matched, err) &&
           (matched == 1 ||
            err_set(err, STATUS_SERVER,
                    "the catalog of %s was removed or changed by somebody while it was loaded: "
                    "run the same command again",
                    server_namespace(server)));
}

bool zone_notes_clear(server_t *server, mongoc_client_t *client, const zone_notes_t *notes, err_t *err) {
    bson_t loads = BSON_INITIALIZER;
    double matched;
    if (!notes->load_count)
        return true;
    for (size_t i = 0; i < notes->load_count; i++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", i);
        BSON_APPEND_OID(&loads, key, &notes->loads[i]);
    }
    const bool ok = write_update(server, client,
                                 BCON_NEW("q", "{", "_id", "{", "$in", BCON_ARRAY(&loads), "}", "}", "u", "{",
                                          "$unset", "{", "zones", BCON_UTF8(""), "zonesOf", BCON_UTF8(""),
                                          "}", "}", "multi", BCON_BOOL(true)),
                                 &matched, err);
    bson_destroy(&loads);
    return ok;
}
