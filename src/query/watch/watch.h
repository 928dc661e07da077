/* watch: what happens beside a measurement: the CPU of this host, and of the servers that are on it; the
 * servers' own counters (documents examined, bytes read into the cache); how much disk the collection takes.
 * What cannot be seen is NAN, never zero. Main thread. */
#ifndef TIPPLE_QUERY_WATCH_WATCH_H
#define TIPPLE_QUERY_WATCH_WATCH_H

#include "base/host/cpu.h"
#include "server/server.h"

typedef struct watch watch_t;

/* Shares are of all of this host's cores, of the time that a hypervisor left them, and add up to 1. */
typedef struct {
    double user, sys, iowait, idle;
    double server_cores; /* that the servers on this host kept busy; NAN: none is on this host */
    double examined;     /* documents that the servers looked at */
    double cached_bytes; /* read into their caches */
} watch_figures_t;

/* Looks who can be asked: a standalone, the members of a replica set, or, behind a router, those of each
 * shard; each by one connection. What cannot be asked is told of once (log_note). */
watch_t *watch_open(server_t *server, mongoc_client_t *client, err_t *err);
void watch_close(watch_t *watch); /* NULL is allowed */

/* One stretch of time at a time; watch_stop adds what happened since watch_start to *sum, which began zeroed.
 * What the looking itself costs lies before and behind the stretch. A counter that was not seen at both ends,
 * because a server was gone or restarted, makes that figure NAN for good. */
typedef struct {
    watch_figures_t figures; /* shares and cores weighted by time; counters added up */
    double seconds;
    cpu_times_t host; /* what the figures are made of */
    double server_ticks;
} watch_sum_t;
void watch_start(watch_t *watch);
void watch_stop(watch_t *watch, watch_sum_t *sum);

/* Of a collection ($collStats through whoever we talk to): bytes on disk of data and of indexes, documents,
 * their average size, and what they are uncompressed, with those that wait to be cleared away. All zero where
 * there is no such collection; NAN what a view does not have, or what this user may not see. */
typedef struct {
    double data_bytes, index_bytes, documents, average_bytes, bson_bytes;
    bool sharded, clustered,
        hidden;      /* hidden: this user may not see it; documents are counted all the same */
    uint32_t shards; /* that hold some of it; 1 where there are no shards */
} watch_storage_t;
bool watch_storage(server_t *server, mongoc_client_t *client, const char *collection,
                   watch_storage_t *storage, err_t *err);

/* How long the loads of the collection took together, from its catalog: those that ran side by side count once.
 * A load that was killed counts up to its last sign of life. NAN: there are none, or they do not tell. */
double watch_load_seconds(server_t *server, mongoc_client_t *client);

/* ---- the arithmetic of these ---- */

/* Adds a stretch's ticks and makes the shares anew; a kernel's counter that went back counts as standing. */
void watch_add_host(watch_sum_t *sum, const cpu_times_t *before, const cpu_times_t *after);

/* The length of what the spans cover together. Sorts them. */
typedef struct {
    double from, to;
} span_t;
double watch_covered(span_t *spans, size_t count);

#endif
