/* command_cursor: sends a command whose answer is a cursor, and reads its documents, batch by batch. The driver's own functions
 * refuse a filter with keys that a server takes (an empty one, one that is no UTF-8), some versions confuse the database
 * and the collection of an aggregation (Debian 13 has one of them), and they end the process where a reply is not as it
 * should be. One thread, with a client of its own. */
#ifndef TIPPLE_SERVER_COMMAND_CURSOR_H
#define TIPPLE_SERVER_COMMAND_CURSOR_H

#include <mongoc/mongoc.h>

typedef struct {
    mongoc_client_t *client;
    mongoc_client_session_t *session; /* the cursor's: only the session that made a cursor may continue it */
    mongoc_read_prefs_t *prefs;
    bson_t same;      /* the session and the server, for all requests */
    char *namespace;  /* of the cursor, as the server calls it; cut at the first dot */
    int64_t id;       /* at the server; 0: there are no more batches */
    int64_t batch;    /* how many documents a batch is to have; 0: as many as the server likes */
    bson_t reply;     /* the last one */
    bson_iter_t rest; /* what was not read of it */
    bson_t document;
    bool open, failed; /* zeroed: neither was it begun */
    bson_error_t error;
} command_cursor_t;

/* Sends the command and waits for the first batch. options, as for the driver's own functions: batchSize, which the command
 * has to have, too, and readConcern; NULL: none, nor the client's read concern. prefs NULL: the client's. */
void command_cursor_begin(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                          const bson_t *command, const bson_t *options, const mongoc_read_prefs_t *prefs);
/* The same for a find; more options: what it has besides. */
void command_cursor_find(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                         const char *collection, const bson_t *filter, const bson_t *options,
                         const mongoc_read_prefs_t *prefs);
/* The same for a command that lists collections or indexes: of the primary, and without the client's read concern. */
void command_cursor_list(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                         const bson_t *command);
/* The next document, borrowed until the next call. False: there are no more, or something failed. */
bool command_cursor_next(command_cursor_t *cursor, const bson_t **document);
/* Does the server still have documents of it? */
bool command_cursor_has_more(const command_cursor_t *cursor);
/* What the driver or the server said; the reply belongs to the cursor. */
bool command_cursor_failed(command_cursor_t *cursor, bson_error_t *error, const bson_t **reply);
void command_cursor_end(command_cursor_t *cursor); /* zeroed is allowed; zeroes it */

#endif
