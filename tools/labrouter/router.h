/* router: what all threads of the router share: its options, the mongod that does the routing, faults and
 * counts.
 *
 * The routing is done by the primary of one of the shards, the same one for every client, because a cursor
 * lives in the mongod that made it. When that primary fails, the next one that answers takes its place. */
#ifndef LABROUTER_ROUTER_H
#define LABROUTER_ROUTER_H

#include "fault.h"
#include "stream.h"

#include <pthread.h>

enum { PATIENCE_MS = 20000, PROBE_MS = 2000 };

typedef struct {
    uint16_t port;
    const char *bind;
    char **via, **config; /* hosts, ended by NULL */
    char *user, *password;
    tls_t *tls;

    faults_t faults;

    pthread_mutex_t lock;                                          /* the rest is under it */
    char host[HOST_SIZE];                                          /* which routes now; "" when not known */
    int32_t wire_version, most_document, most_message, most_batch; /* as that mongod says */
} router_t;

/* Is this host a primary that takes commands? hello, when it is not NULL, gets its answer (to be destroyed).
 */
bool router_probe(const router_t *router, const char *host, bson_t *hello);

/* The host that routes, found anew when it is `failed` (which may be NULL). Waits for a primary for a while.
 */
bool router_via(router_t *router, const char *failed, char *host, problem_t *problem);

/* The answer to a hello: that of a mongos. */
void router_hello(router_t *router, const bson_t *asked, int32_t connection, bson_t *reply);

#endif
