/* simulate: a load played over many shards, with servers that are not equally fast, that fail and come back.
 * The same seed gives the same run. No clock, no threads.
 *
 * Each shard has the same work, and a speed of its own. What loaders, routers and their network let through
 * in all is a common bound. Servers and loaders fail at random and are back after a while. The same
 * misfortunes are played through four ways of handing out the work, so that these can be compared. */
#ifndef TIPPLE_STUDY_PLAN_SIMULATE_H
#define TIPPLE_STUDY_PLAN_SIMULATE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef enum {
    SIMULATE_IN_STEP,  /* loaders deal their records to all shards in turn: the slowest shard sets the pace */
    SIMULATE_OWN,      /* each shard is filled at its own speed, by a loader that works for it alone */
    SIMULATE_TAKEOVER, /* and when a loader fails, another goes on in its place */
    SIMULATE_HANDED_OUT, /* and lanes that nobody has begun go to whichever shard is free */
    SIMULATE_WAYS,
} simulate_way_t;

typedef struct {
    uint32_t shards;
    uint32_t lanes;          /* pieces of an even share that can be handed out; at least 1 */
    bool by_lanes;           /* a shard has whole lanes of 1,024, so some have more than others */
    uint32_t loaders;        /* for shards n, n + loaders, ...; 0: none that can fail by themselves */
    double own_seconds;      /* that a shard of ordinary speed takes when nothing else holds it back */
    double common_seconds;   /* that what all shards share takes; 0: it holds nothing back */
    double spread;           /* of the speeds: deviation of their logarithm */
    double slow, slow_speed; /* a share of the shards has only this share of its speed */
    double mtbf,
        repair; /* seconds between failures of one server on average (0: never), and until it is back */
    double loader_mtbf, loader_repair;
    double takeover; /* seconds until another loader takes over */
    uint64_t seed;
    uint32_t runs;
    uint64_t most_events; /* 0: SIMULATE_MOST_EVENTS */
} simulate_spec_t;

/* A run that takes so many times as long as without any misfortune is given up: servers that fail faster than
 * they come back never end. */
enum { SIMULATE_NEVER = 50 };

typedef struct {
    double end;      /* seconds; INFINITY: given up */
    double median;   /* when half of the shards had everything */
    uint32_t failed; /* servers and loaders, before the end */
} simulate_run_t;

typedef struct {
    double p5, p50, p95, least, most; /* of the runs' ends */
    double longer; /* the mean run, over one in which nothing is slow or fails and all shards are equal; minus
                      1 */
    double waiting; /* for the last: the mean share of a run that lies behind its median shard's end */
    double failed;  /* the mean */
} simulate_figures_t;

/* So many events are played at the most, in all runs of all ways: about a minute or two. */
#define SIMULATE_MOST_EVENTS 1000000000u

/* False: a number that makes no sense, more events than spec->most_events, a signal that asks to stop, or no memory. */
bool simulate_run(const simulate_spec_t *spec, simulate_way_t way, uint64_t seed, simulate_run_t *run,
                  err_t *err);

/* All runs of all ways. */
bool simulate_all(const simulate_spec_t *spec, simulate_figures_t figures[SIMULATE_WAYS], err_t *err);

extern const char *const simulate_names[SIMULATE_WAYS];

#endif
