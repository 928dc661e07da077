/* trial: a load of a sample of the user's files into the scratch collection next to their target (scratch.h). `tune`
 * and `storage` make many of them, each with other settings. Main thread.
 *
 *     trials_open(&trials, &load, &err);
 *     trials_begin(&trials, &err) && trials_load(&trials, &load, &err);
 *     ... look at trials.result, and at what is in the scratch collection ...
 *     trials_end(&trials, ok, &err);                  // it is empty again
 *     trials_close(&trials, &err); */
#ifndef TIPPLE_STUDY_TRIAL_H
#define TIPPLE_STUDY_TRIAL_H

#include "base/log.h"
#include "base/step.h"
#include "load/load.h"
#include "study/matrix.h"
#include "study/scratch.h"
#include "study/supplies.h"

typedef struct {
    scratch_t *scratch;
    load_result_t *result; /* of the last trial */
    uint64_t limit;        /* records; UINT64_MAX: all */
    bool checkpoints;      /* the last trial began after a checkpoint */
    char format[128];      /* its name */
    char *guessed;         /* the format file, without --format; else NULL */
    supplies_rejects_t rejects;
    bool told; /* rejects were reported */
    int64_t began_ns, longest_ns;
    step_t step;
} trials_t;

/* Checks that the files can be read several times, that the format exists, and that the name can be made longer; then
 * makes the scratch collection and what it needs. Call trials_close whatever it returns. */
bool trials_open(trials_t *trials, const load_spec_t *load, err_t *err);

/* False: the sentence says what is left. */
bool trials_close(trials_t *trials, err_t *err);

/* Renews the mark, makes a checkpoint, starts the clock. */
bool trials_begin(trials_t *trials, err_t *err);

/* load->uri must be the scratch collection's; limit and rejects are set here. The load says nothing; rejects are
 * reported once. */
bool trials_load(trials_t *trials, const load_spec_t *load, err_t *err);

/* Drops the collection. ok, *err: how the trial went so far; the first failure is kept. A trial without a document is a
 * failure, and so is a stop signal. */
bool trials_end(trials_t *trials, bool ok, err_t *err);

int64_t trials_took_ns(const trials_t *trials); /* since trials_begin */
/* documents a second of the last trial, while threads loaded */
double trials_rate(const trials_t *trials);

/* Finds how many records a trial has, from the first trial, which is not counted: it reads the files into the page
 * cache and lets servers allocate memory. asked 0: 200,000, or fewer if all settings together would not get `rounds`
 * trials within the budget, or if a trial would take longer than necessary. */
typedef struct {
    uint64_t asked;
    int64_t budget_ns;
    size_t settings, rounds;
} trials_fit_t;
void trials_fit(trials_t *trials, const trials_fit_t *fit, uint64_t *sample, uint64_t *records);
uint64_t trials_first(const trials_fit_t *fit); /* the limit of the first trial */

/* Shows what is tried now, and the progress. */
void trials_say(trials_t *trials, const matrix_t *matrix, const matrix_setting_t *setting, const char *name,
                int64_t since_ns, int64_t budget_ns);

#endif
