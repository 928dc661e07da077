/* trial: loads a sample of the user's files into the scratch collection next to their target (scratch.h), with one
 * setting each time, and measures it. Main thread.
 *
 *     trials_open(&trials, &load, &err);
 *     trials_make(&trials, &load, &figures, &err);    // the collection is empty again
 *     trials_close(&trials, &err); */
#ifndef TIPPLE_STUDY_TUNE_TRIAL_H
#define TIPPLE_STUDY_TUNE_TRIAL_H

#include "base/step.h"
#include "study/scratch.h"
#include "study/supplies.h"

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

#endif
