/* send: sends requests and reads their answers. Any thread, with a client of its own. */
#ifndef TIPPLE_QUERY_SUITE_SEND_H
#define TIPPLE_QUERY_SUITE_SEND_H

#include "query/suite/answer.h"
#include "query/suite/request.h"

/* Sends the request and reads everything that comes back. False: error holds what the driver or the server said. */
bool request_send(const request_t *request, mongoc_client_t *client, answer_t *answer, bson_error_t *error);

/* Sends an aggregation and waits for the first batch. options: as for the driver's own functions; prefs NULL: the
 * client's. */
void aggregate_begin(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                     const char *collection, const bson_t *pipeline, const bson_t *options,
                     const mongoc_read_prefs_t *prefs);

/* How a server answers a find (explain with executionStats), and through a router how many shards did. NAN: not told. */
typedef struct {
    bool asked;
    double returned, keys, documents; /* keys of indexes and documents that were looked at */
    double shards, ms, shard_ms;      /* shard_ms: of a shard, on average */
} explained_t;

/* request: a find, which runs once more for it. False: error holds what the driver or the server said. */
bool explained_ask(const request_t *request, mongoc_client_t *client, explained_t *explained,
                   bson_error_t *error);

#endif
