/* aggregate: sends an aggregation as a command of our own, and reads its documents. One thread, with a client of its own. */
#ifndef TIPPLE_QUERY_SUITE_AGGREGATE_H
#define TIPPLE_QUERY_SUITE_AGGREGATE_H

#include "server/command_cursor.h"

typedef command_cursor_t aggregate_t;

/* Sends the aggregation and waits for the first batch. collection NULL: it is one of the database. options: as for the
 * driver's own functions; prefs NULL: the client's. */
void aggregate_begin(aggregate_t *aggregate, mongoc_client_t *client, const char *database,
                     const char *collection, const bson_t *pipeline, const bson_t *options,
                     const mongoc_read_prefs_t *prefs);
/* The next document, borrowed until the next call. False: there are no more, or something failed. */
bool aggregate_next(aggregate_t *aggregate, const bson_t **document);
/* Call it once. False: error holds what the driver or the server said. */
bool aggregate_end(aggregate_t *aggregate, bson_error_t *error);

#endif
