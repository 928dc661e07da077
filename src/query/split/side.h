/* side: runs several pipelines of one request at the same time, each in a thread and with a connection of its own: the
 * driver waits for an answer, and one aggregation uses one core of a server. */
#ifndef TIPPLE_QUERY_SPLIT_SIDE_H
#define TIPPLE_QUERY_SPLIT_SIDE_H

#include "query/suite/ask.h"
#include "server/server.h"

/* The domain of an error that is not from a server: its code is the exit status. */
enum { SIDE_ERROR = 0x51de };

/* Runs pipelines[count] at a moment (NULL: none), the first in this thread with `client`, the others with clients of
 * the pool, and waits for all. replies[count] are always initialised; the caller destroys them. False: error is that of
 * the first pipeline, in their order, that failed. */
bool side_by_side(server_t *server, mongoc_client_t *client, const request_t *request,
                  const bson_t *pipelines, uint32_t count, const moment_t *moment, bson_t *replies,
                  bson_error_t *error);

#endif
