/* rate: slows a load down while its servers are busy (--polite). It has a thread of its own. Twice a second, that thread
 * looks at the servers (strain) and at the time that the load's batches take, and sets the throttle's limits (pace). The
 * functions here are for the main thread. */
#ifndef TIPPLE_LOAD_RATE_RATE_H
#define TIPPLE_LOAD_RATE_RATE_H

#include "load/rate/throttle.h"
#include "server/chunks/route.h"

typedef struct polite rate_t;

typedef struct {
    server_t *server; /* one connection of its pool is taken */
    route_t *route;   /* NULL: no shards, or none that we may know of */
    size_t places;    /* of the throttle */
    uint32_t threads;
} rate_options_t;

/* Connects to the shards of a cluster, one connection each, and takes a first look. A server that may not be
 * asked is told of in a note; then the time of the batches tells alone. client: to read the config database
 * by. NULL: err. */
rate_t *rate_open(const rate_options_t *options, throttle_t *throttle, mongoc_client_t *client, err_t *err);

/* Ends the thread. why: what made the load slow down most, such as "s1: cache 19% dirty"; empty: nothing did.
 * NULL is allowed. */
void rate_close(rate_t *polite, char *why, size_t size);

#endif
