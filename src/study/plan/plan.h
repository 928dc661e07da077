/* plan: how long a load would take on machines that need not exist yet, what limits it, and how much storage it uses.
 * Arithmetic only: no server, no file, no clock. docs/planning.md has the formulas and their accuracy.
 *
 *     loaders --network--> routers --network--> servers: shards' members, cores, disk
 *
 * All of these work at the same time, so a load takes as long as the slowest of them would take alone. */
#ifndef TIPPLE_STUDY_PLAN_PLAN_H
#define TIPPLE_STUDY_PLAN_PLAN_H

#include "base/err.h"

enum { PLAN_MOST_INDEXES = 16 };

/* What can limit a load. */
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

/* A measured rate: documents or bytes of BSON a second; 0: not measured. */
typedef struct {
    double documents, bytes;
} plan_rate_t;

typedef struct {
    char keys[64];
    double key_bytes; /* of one entry's key */
} plan_index_t;

/* 0 means that a figure is not known, and then it does not limit the load. */
typedef struct {
    double documents, document_bytes /* of BSON */, text_bytes /* a document's, in the files */;
    bool estimated; /* how many documents there are */

    double shards, replicas;      /* members of each shard */
    double servers;               /* machines for them; 0: one for each member */
    double cores, ram_bytes;      /* of a server */
    double disk_bytes;            /* how much fits on a server */
    double disk_write, disk_read; /* bytes a second of a server */
    double iops;                  /* operations a second of its disks; no load is limited by these */
    double network;               /* bytes a second of every machine, in and out */
    bool by_lanes;                /* the shard key is tipple's own _id; false: documents are spread evenly */

    double routers, router_cores; /* 0 routers: there are none, or the load bypasses them */
    double loaders, loader_cores; /* 0 loaders: they run on the servers and use their cores */
    double source_read;           /* bytes of text a second of a loader's disk */

    double client_us, router_us, primary_us, secondary_us; /* CPU for each document */
    double index_us, scan_us;                              /* of one core, for each document of one shard */

    plan_rate_t loader_rate, router_rate, shard_rate, server_rate; /* of one of them; used instead of CPU */

    double stored_ratio; /* bytes of data on disk for a byte of BSON */
    double log_ratio;    /* and what a load writes in addition: journal and oplog */
    plan_index_t indexes[PLAN_MOST_INDEXES];
    size_t index_count;

    double price; /* of a server for an hour */
} plan_spec_t;

enum { PLAN_HOURS_A_YEAR = 8766 };

typedef enum { PLAN_BY_CPU, PLAN_BY_READ, PLAN_BY_WRITE } plan_work_limit_t;

/* Work that all shards do at the same time after the load. */
typedef struct {
    double seconds;
    plan_work_limit_t limit;
} plan_work_t;

typedef struct {
    double servers, members; /* members: the most on one server */
    double largest_shard;    /* its documents, divided by those of an even share */
    double lanes_least, lanes_most;
    double shard_documents, shard_bytes; /* of an even share */
    double use[PLAN_LIMITS];             /* how many seconds each would take alone */
    plan_limit_t limit;                  /* the largest of them; PLAN_LIMITS: nothing is known */
    double common;                       /* the largest of those that all shards share */
    double own;                          /* the largest of those that each shard or server has for itself */
    double placing;                      /* placing the shards' ranges, before the first byte */
    double load;                         /* the whole load, seconds */
    double documents_per_second;
    plan_work_t indexes[PLAN_MOST_INDEXES], scan;
    double index_seconds;
    double text, bson, stored, index_bytes; /* of everything; the last two with all replicas */
    double server_stored;                   /* data and indexes of one server */
    double servers_needed;                  /* for the size of their disks; 0: that size is not known */
    double cache;                           /* of one server, as a mongod sets it; 0: RAM is not known */
    /* what its cache should hold: the indexes; or everything, as BSON */
    double server_indexes, server_all;
    double data_to_memory, disk_to_memory; /* bytes of BSON, and of disk, for a byte of RAM; 0: not known */
    double operation_bytes;   /* of a disk's operation when it writes at full speed; 0: not known */
    double hour, needed_hour; /* the price of an hour: of all servers, of those needed */
    double cost;              /* for load and indexes */
} plan_t;

/* False: the sentence says which number is impossible. */
bool plan_check(const plan_spec_t *spec, err_t *err);

/* Replaces each 0 of the spec for CPU, storage ratios and cores by what was measured (docs/performance.md and
 * docs/planning.md). compressor: a name of the table below. snappy: its ratio for these data, which journals have; 0:
 * not known. */
void plan_fill_in(plan_spec_t *spec, const char *compressor, double snappy);

void plan_work_out(const plan_spec_t *spec, plan_t *plan);

/* By which factor a limit would have to be raised so that the load takes half of its time, including placing the
 * chunks, which no limit changes. 1: it would not help, or placing alone takes more than half. */
double plan_ease(const plan_t *plan, plan_limit_t limit);

/* Block compressors, and their bytes on disk for a byte of BSON. */
typedef struct {
    const char *name;
    double ratio;
} plan_compressor_t;
extern const plan_compressor_t plan_compressors[]; /* ends with an item whose name is NULL */

/* Names of limits, for a person ("shards' CPU") and for programs ("shard"). */
typedef struct {
    const char *name, *word;
} plan_limit_name_t;
extern const plan_limit_name_t plan_limit_names[PLAN_LIMITS];

#endif
