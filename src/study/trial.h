/* trial: a load of a sample of somebody's files into the scratch collection beside their target (scratch.h),
 * as `tune` and `storage` make them again and again, with other settings each time. Main thread.
 *
 *     trials_open(&trials, &load, &err);
 *     trials_begin(&trials, &err) && trials_load(&trials, &load, &err);
 *     ... look at trials.result, and at what lies in the scratch collection ...
 *     trials_end(&trials, ok, &err);                  // it is empty again
 *     trials_close(&trials, &err);
 */
#ifndef TIPPLE_STUDY_TRIAL_H
#define TIPPLE_STUDY_TRIAL_H

#include "base/log.h"
#include "load/load.h"
#include "study/matrix.h"
#include "study/scratch.h"
#include "study/supplies.h"

typedef struct {
    scratch_t *scratch;
    load_result_t *result; /* of the last one */
    uint64_t limit;        /* records; UINT64_MAX: all that there are */
    bool checkpoints;      /* the last one began behind one */
    char format[128];      /* its name */
    supplies_rejects_t rejects;
    bool told; /* of rejects */
    int64_t began_ns, longest_ns;
    log_progress_t progress;
} trials_t;

/* Files that can be read again and again, in a format that there is, a name that can be made longer; then the
 * scratch collection and what belongs to it. Whatever it says, trials_close ends it. */
bool trials_open(trials_t *trials, const load_spec_t *load, err_t *err);

/* False: what is left behind. */
bool trials_close(trials_t *trials, err_t *err);

/* The mark renewed, a checkpoint, the clock. */
bool trials_begin(trials_t *trials, err_t *err);

/* load->uri is the scratch collection's; limit and rejects are set here. Says nothing; of rejects once. */
bool trials_load(trials_t *trials, const load_spec_t *load, err_t *err);

/* Drops the collection. ok, *err: how it went so far; what went wrong first is what is told. A trial without
 * a document is a failure, and so is a stop signal. */
bool trials_end(trials_t *trials, bool ok, err_t *err);

int64_t trials_took_ns(const trials_t *trials); /* since trials_begin */
double trials_rate(const trials_t *trials);     /* documents a second of the last one, while threads loaded */

/* How many records a trial has, from the first one, which is not counted: it reads the files into the page
 * cache and lets servers allocate what they keep. asked: 0: 200,000, fewer where all settings together would not
 * come to `rounds` within the budget, or a trial would take longer than it must. */
typedef struct {
    uint64_t asked;
    int64_t budget_ns;
    size_t settings, rounds;
} trials_fit_t;
void trials_fit(trials_t *trials, const trials_fit_t *fit, uint64_t *sample, uint64_t *records);
uint64_t trials_first(const trials_fit_t *fit); /* the limit of the first one */

/* What is tried now, and how far it is. log_progress_end ends it. */
void trials_say(trials_t *trials, const matrix_t *matrix, const matrix_setting_t *setting, const char *name,
                int64_t since_ns, int64_t budget_ns);

#endif
