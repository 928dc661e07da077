/* watch: what happens during a measurement: the CPU of this host, and of the servers on it; the servers' own counters
 * (documents examined, bytes read into the cache); how much disk the collection uses. What cannot be seen is NAN, never
 * zero. Main thread. */
#ifndef TIPPLE_QUERY_WATCH_WATCH_H
#define TIPPLE_QUERY_WATCH_WATCH_H

#include "query/watch/cpu.h"
#include "server/server.h"

typedef struct watch watch_t;

/* Shares of all cores of this host, without the time that a hypervisor gave to others; they add up to 1. */
typedef struct {
    double user, sys, iowait, idle;
    double server_cores; /* how many cores the servers on this host kept busy; NAN: none is on this host */
    double examined;     /* documents that the servers examined */
    double cached_bytes; /* read into their caches */
    double others;       /* the share that other programs than the servers and this one held */
} watch_figures_t;

/* Finds the servers that can be asked: a standalone, the members of a replica set, or, behind a router, those of each
 * shard; one connection each. What cannot be asked is reported once (log_note). */
watch_t *watch_open(server_t *server, mongoc_client_t *client, err_t *err);
void watch_close(watch_t *watch); /* NULL is allowed */

/* One interval at a time: watch_stop adds what happened since watch_start to *sum, which must begin zeroed. The cost of
 * watching itself is before and after the interval. A counter that was not seen at both ends, because a server was gone
 * or restarted, makes its figure NAN for all later intervals, too. */
typedef struct {
    watch_figures_t figures; /* shares and cores are weighted by time; counters are added up */
    double seconds;
    cpu_times_t host; /* the raw numbers of the figures */
    double server_ticks;
} watch_sum_t;
void watch_start(watch_t *watch);
void watch_stop(watch_t *watch, watch_sum_t *sum);

/* About a collection ($collStats through the server or router of the target): bytes on disk of data and of indexes,
 * documents, their average size, and their size uncompressed, including documents that wait to be cleaned away. All
 * zero if there is no such collection; NAN: a view does not have it, or this user may not see it. */
typedef struct {
    double data_bytes, index_bytes, documents, average_bytes, bson_bytes;
    bool sharded, clustered,
        hidden;      /* hidden: this user may not see it; documents are counted nevertheless */
    uint32_t shards; /* how many shards hold a part of it; 1 without shards */
} watch_storage_t;
bool watch_storage(server_t *server, mongoc_client_t *client, const char *collection,
                   watch_storage_t *storage, err_t *err);

/* How long the loads of the collection took together, from its catalog; loads that ran at the same time count once. A
 * load that was killed counts up to its last sign of life. NAN: there are none, or it is not known. */
double watch_load_seconds(server_t *server, mongoc_client_t *client);

/* The name of the format that the collection was loaded with, from its catalog; "": it was not, or it is not known. */
void watch_format(server_t *server, mongoc_client_t *client, char format[120]);

/* ---- the arithmetic ---- */

/* Adds the ticks of an interval and computes the shares again; a kernel counter that went back counts as unchanged. */
void watch_add_host(watch_sum_t *sum, const cpu_times_t *before, const cpu_times_t *after);

/* The length of time that the spans cover together. Sorts them. */
typedef struct {
    double from, to;
} span_t;
double watch_covered(span_t *spans, size_t count);

/* ---- members: the only server; or every member of a replica set that data can be read from; or those of every shard.
 * Each is asked by a connection of its own. Behind a router, also the routers on this host, for their CPU only. ---- */

/* What a server says about itself. */
typedef struct {
    double examined, cached_bytes; /* since it was started; NAN: it does not tell */
    int64_t process;               /* 0: it does not tell */
} member_status_t;

/* From a reply to serverStatus. */
void member_read(const bson_t *reply, member_status_t *status);

typedef struct {
    char name[300];  /* "127.0.0.1:27017" */
    char group[128]; /* its shard; "": there is only one */
    bool holds_data, is_here;
    address_t address;
    mongoc_client_t *client;
} member_t;

typedef struct {
    member_t *items;
    size_t count;
    bool complete; /* there is a member of every group, so counters are complete */
} members_t;

/* Finds the servers and asks each. A server that does not answer, or may not be asked, is left out, and reported once
 * (log_note). False: out of memory. Call members_close in any case. */
bool members_open(members_t *members, server_t *server, mongoc_client_t *client, err_t *err);
void members_close(members_t *members);

/* Asks a member; connects again if it was restarted. False: err says why not. */
bool member_ask(member_t *member, member_status_t *status, err_t *err);

#endif
