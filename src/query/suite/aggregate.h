/* aggregate: an aggregation as a command of our own making, and the documents that come back. The driver's own
 * function for it confuses database and collection in some of its versions (Debian 13 has one). One thread, with
 * a client of its own. */
#ifndef TIPPLE_QUERY_SUITE_AGGREGATE_H
#define TIPPLE_QUERY_SUITE_AGGREGATE_H

#include <mongoc/mongoc.h>

typedef struct {
    mongoc_client_session_t *session; /* the cursor's: whoever goes on with it must be who has made it */
    mongoc_cursor_t *cursor;
    bson_error_t error; /* where there is no cursor */
} aggregate_t;

/* Sends it, and waits for the first batch. options: of the command, as the driver's own functions take them;
 * prefs NULL: the client's. */
void aggregate_begin(aggregate_t *aggregate, mongoc_client_t *client, const char *database,
                     const char *collection, const bson_t *pipeline, const bson_t *options,
                     const mongoc_read_prefs_t *prefs);
/* The next document, borrowed until the next call. False: there is none, or something failed. */
bool aggregate_next(aggregate_t *aggregate, const bson_t **document);
/* To be called once. False: what the driver or the server said. */
bool aggregate_end(aggregate_t *aggregate, bson_error_t *error);

#endif
