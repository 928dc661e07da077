/* drills: the history of a target's drills that were completed, one document each in NAME.tipple.drills. It is next to
 * the catalog but not a part of it: it survives a drop of the collection, and loads do not read it. Main thread. */
#ifndef TIPPLE_STUDY_DRILL_DRILLS_H
#define TIPPLE_STUDY_DRILL_DRILLS_H

#include "server/server.h"
#include "study/drill/drill_phase.h"
#include "study/drill/forecast.h"

/* Seconds are NAN if a phase did not happen or was not predicted. */
typedef struct {
    int64_t when_ms; /* when it ended: since 1970, by the server's clock */
    char namespace[256], format[128], indexes[8], keys[512], server[32], version[32], host[256], query[256];
    bool scratch;
    uint64_t documents, bytes, differences, rejected;
    uint32_t threads, batch;
    double seconds, verified; /* of the whole drill; from nothing to verified */
    forecast_t predicted;     /* of `verified` */
    double phases[DRILL_PHASES];
    forecast_t phases_predicted[DRILL_PHASES];
} drills_entry_t;

double drills_rate(const drills_entry_t *entry); /* documents a second in the loading phase */

/* The server sets the date. */
bool drills_write(server_t *server, mongoc_client_t *client, const drills_entry_t *entry, err_t *err);

/* The newest drills, sorted by age, the oldest first. The caller frees *entries. */
enum { DRILLS_MOST = 1000 };
bool drills_read(server_t *server, mongoc_client_t *client, drills_entry_t **entries, size_t *count,
                 err_t *err);

/* The last of these entries that can be compared with a later drill: the same format, mode and indexes, about as many
 * documents, and no difference found. NULL: none. */
const drills_entry_t *drills_before(const drills_entry_t *entries, size_t count, const drills_entry_t *entry);

#endif
