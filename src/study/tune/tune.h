/* tune: the best threads and batch size for a target, found by real loads of a sample into a scratch
 * collection beside it (see scratch.h), which is made as the target would be and dropped after every trial.
 * matrix.h decides what is tried; here it is done, measured, and said what held each setting back. One call,
 * main thread. */
#ifndef TIPPLE_STUDY_TUNE_TUNE_H
#define TIPPLE_STUDY_TUNE_TUNE_H

#include "study/choices.h"
#include "study/tune/tuned.h"

#define TUNE_NEARLY 0.03 /* how much slower than the best the cheapest may be */

typedef struct {
    load_spec_t
        load; /* target, files, format, and how they are loaded; threads, batch, limit, rejects: not used */
    choice_lists_t lists;
    uint64_t sample;   /* records a trial; 0: 200,000, fewer where that would take long */
    int64_t budget_ns; /* for all trials */
    double precision;  /* half of an interval, as a share of the mean, that is narrow enough */
    uint64_t seed;     /* of the order */
} tune_spec_t;

void tune_spec_init(tune_spec_t *spec); /* the defaults */

/* Of all trials of a setting: sums, to be divided by the trials or documents. */
typedef struct {
    uint64_t trials, documents, retries;
    double seconds;                                        /* while threads loaded */
    double client_cores, host_busy, server_cores, network; /* each times seconds; NAN: not known */
    char limited_by[160];                                  /* by the last trial, as `tipple load` says it */
} tune_figures_t;

/* What held a setting back. */
typedef enum {
    LIMIT_UNKNOWN,
    LIMIT_CLIENT,  /* this process had no more CPU, or its threads were at work all of the time */
    LIMIT_HOST,    /* this host's CPUs are all at work, and most of it is not ours */
    LIMIT_NETWORK, /* a link of this host was full */
    LIMIT_INPUT,
    LIMIT_SHARD, /* one of several */
    LIMIT_ROUTER,
    LIMIT_SERVER_CPU,
    LIMIT_SERVER, /* its replies were waited for */
} limit_t;

typedef struct {
    choice_lists_t lists; /* filled up */
    choice_t *choices;
    size_t choice_count;
    matrix_t *matrix;        /* NULL: it did not come so far */
    tune_figures_t *figures; /* of each setting */
    matrix_verdict_t verdict;
    uint64_t sample, records; /* asked for, and what was there of it */
    int64_t took_ns;
    bool checkpoints, cluster, warmed;
    double server_cpus; /* NAN: not known */
    char namespace[256], scratch[256], where[512], format[128];
    char shard_key[512];
} tune_result_t;

/* Everything that was found is in *result, also after a failure or a signal. */
bool tune_run(const tune_spec_t *spec, tune_result_t *result, err_t *err);
void tune_free_result(tune_result_t *result);

/* Of a tune that succeeded: the cheapest; kept on this host for `tipple load --threads auto --batch auto`, which
 * is said. */
tuned_t tune_found(const tune_result_t *result);
void tune_keep(const tune_spec_t *spec, const tune_result_t *result);

limit_t tune_limit(const tune_result_t *result, size_t setting);
const char *tune_limit_name(limit_t limit); /* "client CPU" */

#endif
