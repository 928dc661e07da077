/* zone_notes: how many zones loads of the collection have set, or were about to set. Each load notes it in its own document of
 * NAME.tipple.loads before it sets the first one, and of which collection; whoever takes the zones away takes the notes away behind them. So a zone
 * without a note is a person's, whatever its name. Main thread. */
#ifndef TIPPLE_SERVER_PRESPLIT_ZONE_NOTES_H
#define TIPPLE_SERVER_PRESPLIT_ZONE_NOTES_H

#include "server/server.h"

enum { ZONE_NOTES = 64 /* of so many loads; more are looked at when these are gone */ };

typedef struct {
    size_t count; /* the most that a load has noted */
    size_t load_count;
    bson_oid_t loads[ZONE_NOTES]; /* whose notes these are */
    size_t uuid_count;
    uint8_t uuids[ZONE_NOTES + 1]
                 [16]; /* of collections that they placed, which may have other names by now */
} zone_notes_t;

bool zone_notes_read(server_t *server, mongoc_client_t *client, zone_notes_t *notes, err_t *err);

/* The load has enrolled, and is about to set zones of the numbers below count, for the collection of this UUID. */
bool zone_notes_write(server_t *server, mongoc_client_t *client, const bson_oid_t *load, size_t count,
                      const uint8_t uuid[16], err_t *err);

/* As if a load had noted this collection. */
void zone_notes_add(zone_notes_t *notes, const uint8_t uuid[16]);

/* These notes, and not those that loads have written since. */
bool zone_notes_clear(server_t *server, mongoc_client_t *client, const zone_notes_t *notes, err_t *err);

#endif
