/* topology: what ranges would run on: the collection, how it is spread, and how many cores there are for it. */
#ifndef TIPPLE_QUERY_SPLIT_TOPOLOGY_H
#define TIPPLE_QUERY_SPLIT_TOPOLOGY_H

#include "query/suite/request.h"
#include "server/server.h"

typedef struct {
    bool exists, view; /* view: or whatever else is no collection of documents of its own */
    bool clustered;
    bool collation; /* its own, by which texts compare otherwise than by their bytes */
    double count;   /* estimated */
    bool router;
    bool by_id;      /* it is on one shard, or on several by ranges of _id */
    bool hidden;     /* the user may not read how it is spread */
    uint32_t shards; /* that it may be on; 1 without a router */
    uint32_t cores;  /* of all of these; two each where they do not tell */
} topology_t;

bool topology_look(topology_t *ground, server_t *server, mongoc_client_t *client, const request_t *request,
                   err_t *err);

/* The pure parts. The cores of shards (documents of config.shards) by the router's own, when they are on its
 * host or one of them is: all hosts are taken for alike. */
uint32_t topology_cores(const bson_t *const *shards, size_t count, const char *router_host,
                        uint32_t router_cores);

/* Is it {_id: 1}? */
bool topology_is_id(const bson_t *key);

#endif
