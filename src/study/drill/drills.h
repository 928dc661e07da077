/* drills: the drills of a target that came to their ends, one document each in NAME.tipple.drills, beside its
 * catalog but no part of it: dropping the collection leaves it, and a load does not look at it. Main thread. */
#ifndef TIPPLE_STUDY_DRILL_DRILLS_H
#define TIPPLE_STUDY_DRILL_DRILLS_H

#include "study/drill/drill_phase.h"
#include "study/drill/forecast.h"
#include "server/server.h"

/* Seconds are NAN where something did not come or was not predicted. */
typedef struct {
    int64_t when_ms; /* since 1970, by the server's clock: its end */
    char namespace[256], format[128], indexes[8], keys[512], server[32], version[32], host[256], query[256];
    bool scratch;
    uint64_t documents, bytes, differences, rejected;
    uint32_t threads, batch;
    double seconds, verified; /* the whole, and from nothing to verified */
    forecast_t predicted;     /* the latter */
    double phases[DRILL_PHASES];
    forecast_t phases_predicted[DRILL_PHASES];
} drills_entry_t;

double drills_rate(const drills_entry_t *entry); /* documents a second of the loading phase */

/* The server dates it. */
bool drills_write(server_t *server, mongoc_client_t *client, const drills_entry_t *entry, err_t *err);

/* The newest of them, the oldest first. Free *entries. */
enum { DRILLS_MOST = 1000 };
bool drills_read(server_t *server, mongoc_client_t *client, drills_entry_t **entries, size_t *count,
                 err_t *err);

/* The last of these that can be compared with one that came after them: the same format, mode and indexes,
 * about as many documents, and nothing was wrong with it. NULL: none. */
const drills_entry_t *drills_before(const drills_entry_t *entries, size_t count, const drills_entry_t *entry);

#endif
