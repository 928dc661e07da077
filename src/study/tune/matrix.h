/* matrix: an experiment with many settings, each known by its number; of two settings the one with the lower number is
 * the cheaper one. It decides which setting is tried next, and which is the fastest, and the cheapest of those that are
 * nearly as fast: by the medians of their trials. The caller makes the trials, one after the other, for as
 * long as it likes. No clock, no server, no threads.
 *
 *     for (size_t setting; (setting = matrix_next(matrix)) != MATRIX_DONE;)
 *         matrix_add(matrix, setting, <documents a second>);
 *     matrix_judge(matrix, &verdict);
 *
 * Settings take turns, in a new random order each round, so that changes on the machines affect all of them equally. A
 * setting that is much slower than the best is given up after few trials. */
#ifndef TIPPLE_STUDY_TUNE_MATRIX_H
#define TIPPLE_STUDY_TUNE_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MATRIX_DONE   SIZE_MAX
#define MATRIX_NEARLY 0.03 /* how much slower than the best the cheapest may be */

enum { MATRIX_TRIALS = 5, MATRIX_MOST = 512 }; /* trials of a setting; settings */

typedef enum {
    MATRIX_OPEN,    /* tried again if there is time */
    MATRIX_SETTLED, /* tried often enough */
    MATRIX_DROPPED, /* too slow to be the best or the cheapest */
    MATRIX_SMALL,   /* a trial of it would be too small to be a figure */
} matrix_state_t;

typedef struct {
    matrix_state_t state;
    uint32_t trials;
    double rates[MATRIX_TRIALS]; /* documents a second of each trial, ascending */
} matrix_setting_t;

/* Others read `settings` and `count` only. */
typedef struct {
    matrix_setting_t settings[MATRIX_MOST];
    size_t count;
    size_t order[MATRIX_MOST], at; /* of the current round */
    uint64_t drawn;
} matrix_t;

void matrix_begin(matrix_t *matrix, size_t count);

/* The setting to try now; the same one until matrix_add. MATRIX_DONE: none is open. */
size_t matrix_next(matrix_t *matrix);
/* rate: above 0. */
void matrix_add(matrix_t *matrix, size_t setting, double rate);
/* Any trial of the setting would be too small. */
void matrix_end_small(matrix_t *matrix, size_t setting);

typedef struct {
    size_t best, cheapest;                   /* MATRIX_DONE: no setting was tried */
    size_t settled, dropped, small, untried; /* settings */
    uint32_t trials, rounds;
} matrix_verdict_t;

void matrix_judge(const matrix_t *matrix, matrix_verdict_t *verdict);

double matrix_median(const matrix_setting_t *setting); /* NAN without a trial */

#endif
