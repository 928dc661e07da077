/* tune: finds the best threads and batch size for a target, by real loads of a sample into a scratch collection next to
 * it (see scratch.h), which is made like the target and dropped after every trial. matrix.h decides what is tried; tune
 * makes the trials, measures them, and says what limited each setting. One call, main thread. */
#ifndef TIPPLE_STUDY_TUNE_TUNE_H
#define TIPPLE_STUDY_TUNE_TUNE_H

#include "study/choices.h"
#include "study/tune/tuned.h"

#define TUNE_NEARLY 0.03 /* how much slower than the best the cheapest may be */

typedef struct {
    load_spec_t
        load; /* target, files, format, and how they are loaded; threads, batch, limit, rejects: not used */
    choice_lists_t lists;
    uint64_t sample;   /* records in a trial; 0: 200,000, or fewer if that would take long */
    int64_t budget_ns; /* for all trials */
    double precision;  /* a mean is known well enough when half of its interval is this share of it */
    uint64_t seed;     /* of the order */
} tune_spec_t;

void tune_spec_init(tune_spec_t *spec); /* the defaults */

/* Sums over all trials of a setting, to be divided by the trials or documents. */
typedef struct {
    uint64_t trials, documents, retries;
    double seconds;                                        /* while threads loaded */
    double client_cores, host_busy, server_cores, network; /* each multiplied by seconds; NAN: not known */
    char limited_by[160];                                  /* of the last trial, as `tipple load` says it */
} tune_figures_t;

/* What limited a setting. */
typedef enum {
    LIMIT_UNKNOWN,
    LIMIT_CLIENT,  /* this process had no more CPU, or its threads were busy all the time */
    LIMIT_HOST,    /* this host's CPUs are all busy, mostly with other work */
    LIMIT_NETWORK, /* a link of this host was full */
    LIMIT_INPUT,
    LIMIT_SHARD, /* one of several shards */
    LIMIT_ROUTER,
    LIMIT_SERVER_CPU,
    LIMIT_SERVER, /* the load waited for its replies */
} limit_t;

typedef struct {
    choice_lists_t lists; /* after empty ones were filled in */
    choice_t *choices;
    size_t choice_count;
    matrix_t *matrix;        /* NULL: it ended before that */
    tune_figures_t *figures; /* of each setting */
    matrix_verdict_t verdict;
    uint64_t sample, records; /* asked for, and how many there were */
    int64_t took_ns;
    bool checkpoints, cluster, warmed;
    double server_cpus; /* NAN: not known */
    char namespace[256], scratch[256], where[512], format[128];
    char shard_key[512];
} tune_result_t;

/* *result holds everything that was found, also after a failure or a signal. */
bool tune_run(const tune_spec_t *spec, tune_result_t *result, err_t *err);
void tune_free_result(tune_result_t *result);

/* For a tune that succeeded: the cheapest setting; tune_keep stores it on this host for `tipple load --threads auto
 * --batch auto`, and says so. */
tuned_t tune_found(const tune_result_t *result);
void tune_keep(const tune_spec_t *spec, const tune_result_t *result);

limit_t tune_limit(const tune_result_t *result, size_t setting);
const char *tune_limit_name(limit_t limit); /* "client CPU" */

#endif
