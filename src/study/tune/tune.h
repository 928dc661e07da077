/* tune: finds the best threads, batch size and other options of a load for a target, by real loads of a sample into a
 * scratch collection next to it (see scratch.h), which is made like the target and dropped after every trial. Each
 * option may have a list of values; the settings are all combinations. matrix.h decides what is tried; tune makes the
 * trials, measures them, and says what limited each setting. One call, main thread. */
#ifndef TIPPLE_STUDY_TUNE_TUNE_H
#define TIPPLE_STUDY_TUNE_TUNE_H

#include "base/log.h"
#include "load/spec/options.h"
#include "study/scratch.h"
#include "study/supplies.h"
#include "study/tune/matrix.h"
#include "study/tune/tuned.h"

/* trial: loads a sample of the user's files into the scratch collection next to their target (scratch.h), with one
 * setting each time, and measures it. Main thread.
 *
 *     trials_open(&trials, &load, &err);
 *     trials_make(&trials, &load, &figures, &err);    // the collection is empty again
 *     trials_close(&trials, &err); */

typedef struct {
    scratch_t *scratch;
    load_result_t *result; /* of the last trial */
    bool checkpoints;      /* the last trial ended with a checkpoint */
    char format[128];      /* its name */
    char *guessed;         /* the format file, without --format; else NULL */
    bool told;             /* rejects were reported */
    int64_t took_ns;       /* the whole of the last trial */
    step_t step;
} trials_t;

/* Sums over trials, to be divided by their number, documents or seconds. */
typedef struct {
    uint64_t trials, documents, retries;
    double bytes;                                          /* data and indexes on disk; NAN: not known */
    double seconds;                                        /* while threads loaded */
    double client_cores, host_busy, server_cores, network; /* each multiplied by seconds; NAN: not known */
    char limited_by[160];                                  /* of the last trial, as `tipple load` says it */
} tune_figures_t;
void tune_figures_add(tune_figures_t *sum, const tune_figures_t *one);

/* Checks that the files can be read several times and that the format exists; then makes room for the scratch
 * collection. Call trials_close whatever it returns. */
bool trials_open(trials_t *trials, const load_spec_t *load, err_t *err);

/* False: the sentence says what is left. */
bool trials_close(trials_t *trials, err_t *err);

/* load: with a limit. Its target is set here. The load says nothing; rejects are reported once. A trial
 * without a document is a failure, and so is a stop signal. */
bool trials_make(trials_t *trials, const load_spec_t *load, tune_figures_t *figures, err_t *err);

/* CPUs that the server has; NAN: not known. */
double trials_server_cpus(const trials_t *trials);

enum { TUNE_VALUES = 16, TUNE_VALUE = 32, TUNE_LISTS = 8, TUNE_SETTINGS = 512 };

/* The first two lists; the others are in any order. */
enum { TUNE_THREADS, TUNE_BATCH };

/* An option of load, and the values to try. */
typedef struct {
    const char *option; /* "compressor" */
    char values[TUNE_VALUES][TUNE_VALUE];
    size_t count; /* 0: of threads and batch the usual ones; of others what load takes */
    const option_t *row;
} tune_list_t;

typedef struct {
    load_spec_t load; /* target, files, format, and how they are loaded; limit, rejects: not used */
    tune_list_t lists[TUNE_LISTS];
    size_t list_count;
    uint64_t sample;   /* records in a trial; 0: what takes long enough */
    int64_t budget_ns; /* for all trials */
} tune_spec_t;

void tune_spec_init(tune_spec_t *spec); /* the defaults */

/* A trial is a figure if its threads loaded this long, and had at least so many batches each. */
#define TUNE_LEAST_NS 2000000000
enum { TUNE_LEAST_BATCHES = 4 };

/* What limited a setting. */
typedef enum {
    LIMIT_UNKNOWN,
    LIMIT_CLIENT,  /* this process had no more CPU, or its threads were busy all the time */
    LIMIT_HOST,    /* this host's CPUs are all busy, mostly with other work */
    LIMIT_NETWORK, /* a link of this host was full */
    LIMIT_INPUT,
    LIMIT_SHARD, /* one of several shards */
    LIMIT_SERVER_CPU,
    LIMIT_SERVER, /* the load waited for its replies */
} limit_t;

/* One combination, and the sums over its trials. */
typedef struct {
    load_spec_t load;
    const char *values[TUNE_LISTS]; /* of each list; NULL: what load takes */
    size_t order;                   /* as the lists name them */
    tune_figures_t figures;
} tune_setting_t;

typedef struct {
    tune_list_t lists[TUNE_LISTS]; /* after empty ones were filled in */
    size_t list_count;
    tune_setting_t *settings; /* the cheapest first */
    size_t count;
    matrix_t *matrix; /* NULL: it ended before that */
    matrix_verdict_t verdict;
    uint64_t records; /* of a trial, at the end */
    int64_t took_ns;
    bool checkpoints, cluster, warmed;
    double server_cpus; /* NAN: not known */
    char namespace[256], scratch[256], where[512], format[128];
    target_settings_t of_target;
} tune_result_t;

/* *result holds everything that was found, also after a failure or a signal. */
bool tune_run(const tune_spec_t *spec, tune_result_t *result, err_t *err);
void tune_free_result(tune_result_t *result);

/* Fills in the lists of threads and batches if they are empty. Threads: powers of two from 1 up to four for each CPU of
 * this host (8 to 32); on a cluster also up to four for each shard (at most 64). */
void tune_fill(tune_list_t *lists, size_t shards);
/* Makes all combinations. Status 1: they are too many. */
bool tune_combine(const load_spec_t *load, tune_result_t *result, err_t *err);

/* For a tune that succeeded: keeps the cheapest setting on this host for `tipple load --threads auto --batch auto`, and
 * says so. */
void tune_keep(const tune_spec_t *spec, const tune_result_t *result);

/* "4 x 1000, zstd": threads and batch, and other options where they differ. */
enum { TUNE_NAME = 160 };
const char *tune_name(const tune_result_t *result, size_t setting, char out[TUNE_NAME]);

limit_t tune_limit(const tune_result_t *result, size_t setting);
const char *tune_limit_name(limit_t limit); /* "client CPU" */

#endif
