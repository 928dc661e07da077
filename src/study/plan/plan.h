/* plan: what a load would take on machines that need not exist yet, what holds it back, and what it leaves
 * behind. Arithmetic only: no server, no file, no clock. docs/planning.md has the formulas and how well they
 * hold.
 *
 *     loaders --network--> routers --network--> servers: shards' members, cores, disk
 *
 * All of these work side by side, so a load takes as long as the slowest of them alone would. */
#ifndef TIPPLE_STUDY_PLAN_PLAN_H
#define TIPPLE_STUDY_PLAN_PLAN_H

#include "base/err.h"

enum { PLAN_MOST_INDEXES = 16 };

/* What can hold a load back. */
typedef enum {
    PLAN_SOURCE,
    PLAN_CLIENT_CPU,
    PLAN_CLIENT_NETWORK,
    PLAN_ROUTER,
    PLAN_ROUTER_NETWORK,
    PLAN_SHARD,
    PLAN_SERVER,
    PLAN_SERVER_NETWORK,
    PLAN_DISK,
    PLAN_LIMITS,
} plan_limit_t;

/* A rate that somebody has measured: documents or bytes of BSON a second; 0: nobody has. */
typedef struct {
    double documents, bytes;
} plan_rate_t;

typedef struct {
    char keys[64];
    double key_bytes; /* of one entry's key */
} plan_index_t;

/* Where a figure is 0 nothing is known of that thing, and it holds nothing back. */
typedef struct {
    double documents, document_bytes /* of BSON */, text_bytes /* a document's, in the files */;

    double shards, replicas;      /* members of each shard */
    double servers;               /* machines that carry them; 0: one each */
    double cores, ram_bytes;      /* of a server */
    double disk_bytes;            /* that fit on a server */
    double disk_write, disk_read; /* bytes a second of a server */
    double network;               /* bytes a second of every machine, in and out */
    bool by_lanes;                /* the shard key is tipple's own _id; else documents are spread evenly */

    double routers, router_cores; /* 0 routers: none, or past them */
    double loaders, loader_cores; /* 0 loaders: on the servers, using their cores */
    double source_read;           /* bytes of text a second of a loader's disk */

    double client_us, router_us, primary_us, secondary_us; /* CPU a document */
    double index_us, scan_us;                              /* of one core, a document of one shard */

    plan_rate_t loader_rate, router_rate, shard_rate, server_rate; /* of one of them; instead of CPU */

    double stored_ratio; /* bytes of data on disk for a byte of BSON */
    double log_ratio;    /* and bytes that a load writes besides: journal and oplog */
    plan_index_t indexes[PLAN_MOST_INDEXES];
    size_t index_count;

    double price; /* of a server, an hour */
} plan_spec_t;

typedef enum { PLAN_BY_CPU, PLAN_BY_READ, PLAN_BY_WRITE } plan_work_limit_t;

/* Work that all shards do side by side after the load. */
typedef struct {
    double seconds;
    plan_work_limit_t limit;
} plan_work_t;

typedef struct {
    double servers, members; /* members: of a server, at most */
    double largest_shard;    /* its documents, over those of an even share */
    double lanes_least, lanes_most;
    double shard_documents, shard_bytes; /* of an even share */
    double use[PLAN_LIMITS];             /* seconds that each would take alone */
    plan_limit_t limit;                  /* the largest of them; PLAN_LIMITS: nothing is known */
    double common;                       /* the largest of those that all shards share */
    double own;                          /* the largest of those that each shard or server has for itself */
    double placing;                      /* laying the shards' ranges out, before the first byte */
    double load;                         /* all of it, seconds */
    double documents_per_second;
    plan_work_t indexes[PLAN_MOST_INDEXES], scan;
    double index_seconds;
    double text, bson, stored, index_bytes; /* of everything, all replicas in the last two */
    double server_stored;                   /* data and indexes of one server */
    double servers_needed;                  /* for their disks; 0: their size is not known */
    double cache;                           /* of one server, as a mongod chooses it; 0: RAM is not known */
    double server_indexes, server_all;      /* what its cache should hold: indexes; all of it, as BSON */
    double hour, cost;                      /* of an hour; of load and indexes */
} plan_t;

/* False: the sentence says which number makes no sense. */
bool plan_check(const plan_spec_t *spec, err_t *err);

/* CPU, ratios of storage and cores as they were measured (docs/performance.md and docs/planning.md), where
 * the spec has 0. compressor: one of the table below. snappy: its ratio with these data, which is that of
 * journals; 0: not known. */
void plan_fill_in(plan_spec_t *spec, const char *compressor, double snappy);

void plan_work_out(const plan_spec_t *spec, plan_t *plan);

/* By how much a limit would have to be eased for the load to take half of its time, the laying out of chunks
 * included, which nothing eases; 1: it would not matter, or laying out alone takes more than half. */
double plan_ease(const plan_t *plan, plan_limit_t limit);

/* Block compressors and the bytes on disk for a byte of BSON. */
typedef struct {
    const char *name;
    double ratio;
} plan_compressor_t;
extern const plan_compressor_t plan_compressors[]; /* ends with a NULL name */

/* Names of limits, for a person ("shards' CPU") and for programs ("shard"). */
typedef struct {
    const char *name, *word;
} plan_limit_name_t;
extern const plan_limit_name_t plan_limit_names[PLAN_LIMITS];

#endif
