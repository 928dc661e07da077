/* tune: finds the best threads, batch size and other options of a load for a target, by real loads into a scratch
 * collection next to it (study.h), which is made like the target and dropped after every trial. Options may have lists of
 * values; the settings are all combinations. matrix.h decides what is tried; tune makes the trials, measures them, and says
 * what limited each setting.
 *
 * A trial is a load that is stopped after TUNE_TRIAL_NS, or later, when its threads have sent TUNE_LEAST_BATCHES each
 * on average, but after TUNE_MOST_NS at the latest, or when the budget is over. It may also end by itself, with the
 * files or with the sample. It is a figure if it lasted for TUNE_LEAST_NS with that number of batches. The first
 * disturbed trial of a setting is left out. One call, main thread. */
#ifndef TIPPLE_STUDY_TUNE_TUNE_H
#define TIPPLE_STUDY_TUNE_TUNE_H

#include "load/spec/options.h"
#include "study/study.h"
#include "study/tune/matrix.h"

#define TUNE_LEAST_NS INT64_C(2000000000)
#define TUNE_TRIAL_NS INT64_C(2500000000)
#define TUNE_MOST_NS  INT64_C(10000000000) /* the longest trial */
#define TUNE_PAUSE_S  1                    /* a server that acknowledges nothing for this long stands still */

enum { TUNE_LEAST_BATCHES = 4, TUNE_VALUES = 16, TUNE_LISTS = 7, TUNE_NAME = 160 };

/* The first two lists; the others are in any order. */
enum { TUNE_THREADS, TUNE_BATCH };

/* An option of load, and the values to try. */
typedef struct {
    const option_t *row;
    const char *values[TUNE_VALUES];
    size_t count; /* 0: of threads and batch the usual ones */
} tune_list_t;

typedef struct {
    load_spec_t load; /* target, files, format, and how they are loaded; limit, rejects: not used */
    tune_list_t lists[TUNE_LISTS];
    size_t list_count;
    uint64_t sample;   /* records in a trial; 0: as many as its time allows */
    int64_t budget_ns; /* for everything */
} tune_spec_t;

/* The defaults. The caller sets the rows of the first two lists. */
void tune_spec_init(tune_spec_t *spec);

/* Sums over the trials that are figures. */
typedef struct {
    uint64_t documents;
    double bytes;                                 /* data and indexes on disk; NAN: not known */
    double seconds;                               /* while threads loaded */
    double client_cores, host_busy, server_cores; /* each multiplied by seconds; NAN: not known */
    uint64_t retries, disturbed;                  /* of all trials */
    char limited_by[160];                         /* of the last trial, as `tipple load` says it */
} tune_figures_t;

/* One combination. */
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
    matrix_t matrix; /* without settings: it ended before that */
    matrix_verdict_t verdict;
    uint64_t records; /* of the largest trial */
    int64_t took_ns;
    bool checkpoints, cluster, warmed, budget_spent;
    double server_cpus; /* NAN: not known */
    study_t study;
} tune_result_t;

/* *result holds everything that was found, also after a failure or a signal. */
bool tune_run(const tune_spec_t *spec, tune_result_t *result, err_t *err);
void tune_free_result(tune_result_t *result);

/* Fills in the lists of threads and batches if they are empty. Threads: powers of two from 1 up to four for each CPU of
 * this host (8 to 32); on a cluster also up to four for each shard (at most 64). */
void tune_fill(tune_list_t *lists, size_t shards);
/* Makes all combinations. Status 1: they are too many. */
bool tune_combine(const load_spec_t *load, tune_result_t *result, err_t *err);

/* "4 x 1000, zstd": threads and batch, and other options where they differ. */
const char *tune_name(const tune_result_t *result, size_t setting, char out[TUNE_NAME]);
/* What limited a setting that has a figure: "client CPU". */
const char *tune_limit(const tune_result_t *result, size_t setting);
/* Documents a second of a trial; of one that was stopped (not 0), from its first to its last acknowledgement before that. */
double tune_rate(const load_result_t *load, int64_t stopped_ns);
/* True if the server stood still during the load, or was away: its rate is not that of the setting. */
bool tune_is_disturbed(const load_result_t *load);

#endif
