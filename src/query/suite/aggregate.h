/* aggregate: sends an aggregation as a command of our own, and reads its documents. The driver's own function for it
 * confuses database and collection in some versions (Debian 13 has one of them). One thread, with a client of its
 * own. */
#ifndef TIPPLE_QUERY_SUITE_AGGREGATE_H
#define TIPPLE_QUERY_SUITE_AGGREGATE_H

#include <mongoc/mongoc.h>

typedef struct {
    mongoc_client_session_t *session; /* the cursor's: only the session that made a cursor may continue it */
    mongoc_cursor_t *cursor;
    bson_error_t error; /* if there is no cursor */
} aggregate_t;

/* Sends the aggregation and waits for the first batch. options: as for the driver's own functions; prefs NULL: the
 * client's. */
void aggregate_begin(aggregate_t *aggregate, mongoc_client_t *client, const char *database,
                     const char *collection, const bson_t *pipeline, const bson_t *options,
                     const mongoc_read_prefs_t *prefs);
/* The next document, borrowed until the next call. False: there are no more, or something failed. */
bool aggregate_next(aggregate_t *aggregate, const bson_t **document);
/* Call it once. False: error holds what the driver or the server said. */
bool aggregate_end(aggregate_t *aggregate, bson_error_t *error);

#endif
