/* watch: what happens next to a measurement, and what the collection is that is measured.
 *
 * An interval lies between watch_start and watch_stop. Both read the CPU times of this host (/proc/stat) and ask
 * each server that holds data for its counters (serverStatus), on a connection of its own with short timeouts, so
 * that a server that stands still delays nothing for long. On a cluster these are the members of all shards; routers
 * on this host are asked for their CPU time. Hidden members are not asked. What is not known is NAN, never zero. Main
 * thread. */
#ifndef TIPPLE_QUERY_WATCH_WATCH_H
#define TIPPLE_QUERY_WATCH_WATCH_H

#include "server/server.h"

/* ---- the CPUs of this host ---- */

/* Seconds of all cores together. `user` includes niced processes and guests; `sys` includes interrupts; `steal` is time
 * that a hypervisor gave to others. */
typedef struct {
    double user, sys, iowait, idle, steal;
} watch_cpu_t;

/* The times since the host was started. False: the kernel does not report them. */
bool watch_cpu(watch_cpu_t *cpu);
bool watch_cpu_parse(const char *text, watch_cpu_t *cpu); /* of /proc/stat */

/* Adds an interval. A kernel counter that went back counts as unchanged. */
void watch_cpu_add(watch_cpu_t *sum, const watch_cpu_t *before, const watch_cpu_t *after);

/* The share of all cores that worked, from 0 to 1. NAN: not known. */
double watch_cpu_busy(const watch_cpu_t *spent);

/* The share of all cores that processes other than the servers and this one held. `servers` and `own`: seconds that these
 * spent. NAN: not known, or less than a second of one core, too short for the kernel's steps of 10 ms. */
double watch_cpu_others(const watch_cpu_t *spent, double servers, double own);

/* ---- intervals ---- */

typedef struct watch watch_t;

typedef struct {
    double user, sys, iowait, idle, steal; /* shares of all cores of this host; they add up to 1 */
    double server_cores; /* how many cores the servers on this host kept busy; NAN: none is on this host */
    double others; /* see watch_cpu_others; NAN, too, if servers on this host do not report their CPU time */
    double examined;     /* documents that the servers examined */
    double cached_bytes; /* read into their caches */
} watch_figures_t;

/* Finds the servers. What cannot be asked is reported once (log_note). */
watch_t *watch_open(server_t *server, mongoc_client_t *client, err_t *err);
void watch_close(watch_t *watch); /* NULL is allowed */

/* watch_stop adds what happened since watch_start to *sum, which must begin zeroed. A counter that was not seen at both
 * ends, because a server was gone or restarted, makes its figure NAN for all later intervals, too. */
typedef struct {
    watch_figures_t figures;
    double seconds;
    watch_cpu_t host; /* the seconds of which the figures are made */
    double servers, own;
} watch_sum_t;
void watch_start(watch_t *watch);
void watch_stop(watch_t *watch, watch_sum_t *sum);

/* What a server says about itself since it was started. NAN, and process 0: it does not say. */
typedef struct {
    double examined, cached_bytes, cpu_seconds;
    int64_t process;
} watch_status_t;
watch_status_t watch_read_status(const bson_t *reply); /* of serverStatus */

/* Does this name, address or socket path lead to this machine? May ask the network to resolve the name. */
bool watch_is_here(const char *host);

/* ---- the collection ---- */

/* $collStats through the server or router of the target: bytes on disk of data and of indexes, and documents,
 * without those that wait to be cleaned away. All zero if there is no such collection; NAN: a view does not have
 * it, or this user may not see it. */
typedef struct {
    double data_bytes, index_bytes, documents;
    bool clustered;  /* only known of the collection of the address */
    uint32_t shards; /* how many shards hold a part of it; 1 without shards */
} watch_storage_t;
bool watch_storage(server_t *server, mongoc_client_t *client, const char *collection,
                   watch_storage_t *storage, err_t *err);

#endif
