/* command_cursor: sends a find or an aggregation as a command of our own, and reads its documents. The driver's own functions
 * refuse a filter with keys that a server takes (an empty one, one that is no UTF-8), and some versions confuse the
 * database and the collection of an aggregation (Debian 13 has one of them). One thread, with a client of its own. */
#ifndef TIPPLE_SERVER_COMMAND_CURSOR_H
#define TIPPLE_SERVER_COMMAND_CURSOR_H

#include <mongoc/mongoc.h>

typedef struct {
    mongoc_client_session_t *session; /* the cursor's: only the session that made a cursor may continue it */
    mongoc_cursor_t *cursor;          /* NULL: it failed, and this is why: */
    bson_error_t error;
    bson_t reply;
} command_cursor_t;

/* Sends the command and waits for the first batch. options, as for the driver's own functions: batchSize, which the command
 * has to have, too, and readConcern. prefs NULL: the client's. */
void command_cursor_begin(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                          const bson_t *command, const bson_t *options, const mongoc_read_prefs_t *prefs);
/* The same for a find; more options: what it has besides. */
void command_cursor_find(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                         const char *collection, const bson_t *filter, const bson_t *options,
                         const mongoc_read_prefs_t *prefs);
/* The next document, borrowed until the next call. False: there are no more, or something failed. */
bool command_cursor_next(command_cursor_t *cursor, const bson_t **document);
/* What the driver or the server said; the reply belongs to the cursor, and may be NULL. */
bool command_cursor_failed(command_cursor_t *cursor, bson_error_t *error, const bson_t **reply);
void command_cursor_end(command_cursor_t *cursor); /* zeroed is allowed; zeroes it */

#endif
