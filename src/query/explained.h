/* explained: what a server says of how it answers a find (explain with executionStats), and through a router of how
 * many shards did. The find runs once more for it. */
#ifndef TIPPLE_QUERY_EXPLAINED_H
#define TIPPLE_QUERY_EXPLAINED_H

#include "query/suite/request.h"

/* NAN: not told. */
typedef struct {
    bool asked;
    double returned, keys, documents; /* keys of indexes and documents that were looked at */
    double shards, ms, shard_ms;      /* shard_ms: of a shard, on average */
} explained_t;

/* request: a find. False: error holds what the driver or the server said. */
bool explained_ask(const request_t *request, mongoc_client_t *client, explained_t *explained,
                   bson_error_t *error);

#endif
