/* ask: commands to a request's collection, built by hand, because the driver's own aggregations cannot carry the moment
 * whose data several of them see (readConcern snapshot with atClusterTime). Each is answered by one batch. Any thread,
 * with a client of its own. */
#ifndef TIPPLE_QUERY_SUITE_ASK_H
#define TIPPLE_QUERY_SUITE_ASK_H

#include "query/suite/request.h"

/* A moment of the clock of a replica set or cluster; zeroed: none. */
typedef struct {
    uint32_t seconds, increment;
} moment_t;

/* Sends the command to the servers that the request reads from, with its read concern, or, if a moment is given, at
 * that moment. NULL: none. The reply is always initialised; the caller destroys it. */
bool ask_command(mongoc_client_t *client, const request_t *request, const bson_t *command,
                 const moment_t *moment, bson_t *reply, bson_error_t *error);

/* An aggregation of the request's collection, with its options. */
bool ask_aggregate(mongoc_client_t *client, const request_t *request, const bson_t *pipeline,
                   const moment_t *moment, bson_t *reply, bson_error_t *error);

/* The least _id (or the greatest), as {_id: ...}; {}: there is none. */
bool ask_end(mongoc_client_t *client, const request_t *request, bool greatest, const moment_t *moment,
             bson_t *reply, bson_error_t *error);

/* The current moment, by the clocks of all servers that have a part of the collection. False with no error: they have
 * no such clock. */
bool ask_now(mongoc_client_t *client, const request_t *request, bool router, moment_t *now,
             bson_error_t *error);

/* The first batch of a reply. False: there are more documents than fit in it; the cursor is closed. */
bool ask_batch(mongoc_client_t *client, const request_t *request, const bson_t *reply,
               bson_iter_t *documents);

/* Does the request, or the URI, set a read concern? */
bool ask_has_concern(mongoc_client_t *client, const request_t *request);

/* Those of the request's options that both an aggregation of ranges and the merge take. */
void ask_options(const request_t *request, bson_t *options);
void ask_merge_options(const request_t *request, bson_t *options);

#endif
