/* simulate: simulates a load over many shards whose servers differ in speed, fail, and come back. The same seed gives
 * the same run. No clock, no threads.
 *
 * Each shard has the same work and its own speed. What loaders, routers and their network carry in all is a common
 * bound. Servers and loaders fail at random and come back after a time. The same failures are simulated with four ways
 * of handing out the work, so that these can be compared. */
#ifndef TIPPLE_STUDY_PLAN_SIMULATE_H
#define TIPPLE_STUDY_PLAN_SIMULATE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef enum {
    SIMULATE_IN_STEP,  /* loaders give their records to all shards in turn: the slowest shard sets the pace */
    SIMULATE_OWN,      /* each shard is filled at its own speed, by a loader of its own */
    SIMULATE_TAKEOVER, /* also: when a loader fails, another one continues its work */
    SIMULATE_HANDED_OUT, /* also: lanes that no shard has begun go to any shard that is free */
    SIMULATE_WAYS,
} simulate_way_t;

typedef struct {
    uint32_t shards;
    uint32_t lanes;          /* pieces into which an even share is divided for handing out; at least 1 */
    bool by_lanes;           /* a shard has whole lanes of the 1,024, so some shards have more than others */
    uint32_t loaders;        /* loader n works for shards n, n + loaders, ...; 0: no loader fails by itself */
    double own_seconds;      /* for a shard of ordinary speed, if nothing else limits it */
    double common_seconds;   /* for what all shards share; 0: it does not limit them */
    double spread;           /* of the speeds: standard deviation of their logarithm */
    double slow, slow_speed; /* this share of the shards has only this share of the speed */
    double mtbf, repair; /* average seconds between failures of one server (0: never), and until it is back */
    double loader_mtbf, loader_repair;
    double takeover; /* seconds until another loader continues */
    uint64_t seed;
    uint32_t runs;
    uint64_t most_events; /* 0: SIMULATE_MOST_EVENTS */
} simulate_spec_t;

/* A run that takes this many times as long as one without failures is given up: if servers fail faster than they come
 * back, it never ends. */
enum { SIMULATE_NEVER = 50 };

typedef struct {
    double end;      /* seconds; INFINITY: given up */
    double median;   /* when half of the shards were done */
    uint32_t failed; /* servers and loaders that failed before the end */
} simulate_run_t;

typedef struct {
    double p5, p50, p95, least, most; /* of the ends of the runs */
    /* how much longer the mean run takes than one in which nothing is slow or fails and all shards are equal: ratio
     * minus 1 */
    double longer;
    double waiting; /* for the last shard: the mean share of a run that comes after the median shard's end */
    double failed;  /* the mean */
} simulate_figures_t;

/* At most this many events are simulated, in all runs of all ways: that takes about one or two minutes. */
#define SIMULATE_MOST_EVENTS 1000000000u

/* The seed of one of many runs. */
uint64_t simulate_seed(uint64_t seed, uint32_t run);

/* False: an impossible number, more events than spec->most_events, a signal that asks to stop, or out of memory. */
bool simulate_run(const simulate_spec_t *spec, simulate_way_t way, uint64_t seed, simulate_run_t *run,
                  err_t *err);

/* All runs of all ways. */
bool simulate_all(const simulate_spec_t *spec, simulate_figures_t figures[SIMULATE_WAYS], err_t *err);

extern const char *const simulate_names[SIMULATE_WAYS];

#endif
