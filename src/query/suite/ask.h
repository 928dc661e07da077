/* ask: commands of a request's collection, built by hand: what the driver's own aggregations cannot carry is
 * the moment whose data several of them see (readConcern snapshot with atClusterTime). Each is answered by
 * one batch. Any thread, with a client of its own. */
#ifndef TIPPLE_QUERY_SUITE_ASK_H
#define TIPPLE_QUERY_SUITE_ASK_H

#include "query/suite/request.h"

/* A moment of a replica set's or a cluster's clock; zeroed: none. */
typedef struct {
    uint32_t seconds, increment;
} moment_t;

/* Sends the command, to whom the request reads from, with its read concern, or, given a moment, as of that.
 * NULL: none. The reply is always initialised (destroy it). */
bool ask(mongoc_client_t *client, const request_t *request, const bson_t *command, const moment_t *moment,
         bson_t *reply, bson_error_t *error);

/* An aggregation of the request's collection, with its options. */
bool ask_aggregate(mongoc_client_t *client, const request_t *request, const bson_t *pipeline,
                   const moment_t *moment, bson_t *reply, bson_error_t *error);

/* The least _id there is (or the greatest), as {_id: ...}; {}: there is none. */
bool ask_end(mongoc_client_t *client, const request_t *request, bool greatest, const moment_t *moment,
             bson_t *reply, bson_error_t *error);

/* The present moment, by the clocks of all servers that the collection is on. False with no error: they have
 * none. */
bool ask_now(mongoc_client_t *client, const request_t *request, bool router, moment_t *now,
             bson_error_t *error);

/* The first batch of a reply. False: there are more documents than fit into it; the cursor is closed. */
bool ask_batch(mongoc_client_t *client, const request_t *request, const bson_t *reply,
               bson_iter_t *documents);

/* Does the request, or the URI, say what its reads may see? */
bool ask_has_concern(mongoc_client_t *client, const request_t *request);

/* The request's options that an aggregation of ranges takes, and those that the merge takes. */
void ask_options(const request_t *request, bson_t *options);
void ask_merge_options(const request_t *request, bson_t *options);

#endif
