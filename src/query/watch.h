/* watch: what happens beside a measurement: the CPU of this host, and of a server that is on it; the servers'
 * own counters (documents examined, bytes read into the cache); how much disk the collection takes. What
 * cannot be seen is NAN, never zero. Main thread. */
#ifndef TIPPLE_QUERY_WATCH_H
#define TIPPLE_QUERY_WATCH_H

#include "target/server.h"

typedef struct watch watch_t;

/* Shares are of all of this host's cores and add up to 1. */
typedef struct {
    double user, sys, iowait, idle;
    double server_cores; /* that the servers on this host kept busy; NAN: none is on this host */
    double examined;     /* documents that the servers looked at */
    double cached_bytes; /* read into their caches */
} watch_figures_t;

/* Looks who can be asked: the server itself, or, behind a router, a member of each shard. What cannot be
 * asked is told of once (log_note). */
watch_t *watch_open(server_t *server, mongoc_client_t *client, err_t *err);
void watch_close(watch_t *watch); /* NULL is allowed */

/* One stretch of time at a time; watch_stop adds what happened since watch_start to *sum, which began zeroed.
 */
typedef struct {
    watch_figures_t figures; /* shares and cores weighted by time; counters added up */
    double seconds;
} watch_sum_t;
void watch_start(watch_t *watch);
void watch_stop(watch_t *watch, watch_sum_t *sum);

/* Of a collection ($collStats through whoever we talk to): bytes on disk of data and of indexes, documents.
 */
typedef struct {
    double data_bytes, index_bytes, documents, average_bytes;
    bool sharded, clustered;
    uint32_t shards;
} watch_storage_t;
bool watch_storage(server_t *server, mongoc_client_t *client, const char *collection,
                   watch_storage_t *storage, err_t *err);

/* How long the loads of the collection took together, from its books; NAN: there are none, or they do not
 * tell. */
double watch_load_seconds(server_t *server, mongoc_client_t *client);

#endif
