/* topology: where ranges would run: the collection, how it is spread over shards, and how many cores there are. */
#ifndef TIPPLE_QUERY_SPLIT_TOPOLOGY_H
#define TIPPLE_QUERY_SPLIT_TOPOLOGY_H

#include "query/suite/request.h"
#include "server/server.h"

typedef struct {
    bool exists, view; /* view: or anything else that is not an ordinary collection */
    bool clustered;
    bool collation; /* it has its own, so texts are not compared by their bytes */
    double count;   /* estimated */
    bool router;
    bool by_id;      /* it is on one shard, or spread by ranges of _id */
    bool hidden;     /* this user may not read how it is spread */
    uint32_t shards; /* on how many shards it may be; 1 without a router */
    uint32_t cores;  /* of all these shards; two for each that does not tell */
} topology_t;

bool topology_look(topology_t *ground, server_t *server, mongoc_client_t *client, const request_t *request,
                   err_t *err);

/* The cores of all shards (documents of config.shards), computed from the router's own, if a shard is on the router's
 * host: all hosts are taken as equal. Pure. */
uint32_t topology_cores(const bson_t *const *shards, size_t count, const char *router_host,
                        uint32_t router_cores);

/* Is it {_id: 1}? */
bool topology_is_id(const bson_t *key);

#endif
