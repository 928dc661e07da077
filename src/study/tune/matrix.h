/* matrix: an experiment with many settings, each known by its number; of two settings the one with the lower number is
 * the cheaper one. It decides which setting is tried next, which settings may be the fastest, and which of them to take.
 * The caller makes the trials, one after the other, for as long as it likes. No clock, no server, no threads.
 *
 *     for (size_t setting; (setting = matrix_next(matrix)) != MATRIX_DONE;)
 *         matrix_add(matrix, setting, <documents a second>);
 *     matrix_judge(matrix, &verdict);
 *
 * Trials are made in turns. In a turn, each setting that takes part is tried once, in a new random order. A rate is
 * the setting's own rate times what the machines were worth during that turn times scatter:
 *
 *     log(rate of a trial) = level of its setting + level of its turn + scatter
 *
 * Both levels are those at which the shares by which trials are faster or slower add up to 0, in each setting and in each
 * turn, also when turns differ in who took part. (Least squares of the logarithms would let a trial that stood still for
 * a while count for too much.) So a change on the machines that lasts for longer than a turn affects no comparison. The
 * scatter is estimated from all trials together, because one setting never has enough of its own. It gives each setting
 * a range, in which its rate lies with 98 %.
 *
 *   the best      the setting with the highest level
 *   the set       every setting whose range does not lie below that of the best, by 3 % or more: the trials do not
 *                 show which of them is the fastest. All others are given up, and come back if trials turn out to
 *                 scatter more.
 *   the cheapest  of the settings whose level is within 3 % of the best: the one to take. The set may hold cheaper
 *                 ones, which could be as fast; where trials scatter, they mostly are not.
 *   settled       with 98 %, no setting of the set is faster than the cheapest by more than 5 %, and the difference of
 *                 each from the cheapest is known to within 25 %: no setting is in the set only because little is
 *                 known of it. Then it ends. One setting alone is compared with nothing: it ends after MATRIX_LEAST
 *                 trials, and is never settled.
 *
 * Only settings that are close take part in the next turn: those whose range still meets that of the best when both
 * are cut down to 30 % of their width. Where no other setting is that close, the whole set takes part. tests/core/
 * test_matrix.c has how often this finds the best, by scatter, drift and number of trials. */
#ifndef TIPPLE_STUDY_TUNE_MATRIX_H
#define TIPPLE_STUDY_TUNE_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MATRIX_DONE   SIZE_MAX
#define MATRIX_NEARLY 0.03 /* how much slower than the best the cheapest may be by its level */
#define MATRIX_SURELY 0.05 /* and at most, when it is settled */
#define MATRIX_WIDEST 0.25 /* and then so exactly is the difference from the cheapest known */

enum {
    MATRIX_MOST = 512,    /* settings */
    MATRIX_TRIALS = 4096, /* of all settings; then it ends */
    MATRIX_LEAST = 3,     /* trials of the cheapest setting before it is settled */
};

typedef enum {
    MATRIX_UNTRIED,
    MATRIX_CLOSE,   /* in the set */
    MATRIX_DROPPED, /* given up */
    MATRIX_SMALL,   /* a trial of it would be too small to be a figure */
} matrix_state_t;

/* Of a setting, or of a turn. */
typedef struct {
    uint32_t trials;
    double level, sum; /* sum: while levels are computed */
} matrix_level_t;

typedef struct {
    matrix_state_t state;
    bool takes_part; /* in this turn */
    double reach;    /* half of its range, as a logarithm; INFINITY: not known yet */
} matrix_setting_t;

typedef struct {
    uint32_t setting, turn;
    double log_rate;
} matrix_trial_t;

/* Others read `settings` and `count` only. */
typedef struct {
    matrix_setting_t settings[MATRIX_MOST];
    matrix_level_t levels[MATRIX_MOST], turns[MATRIX_TRIALS];
    matrix_trial_t trials[MATRIX_TRIALS];
    size_t count, trial_count, turn_count;
    size_t order[MATRIX_MOST], at; /* of the current turn */
    uint64_t drawn;
} matrix_t;

void matrix_begin(matrix_t *matrix, size_t count);

/* The setting to try now; the same one until matrix_add. MATRIX_DONE: it has ended, or nothing can be tried. */
size_t matrix_next(matrix_t *matrix);
/* rate: above 0. */
void matrix_add(matrix_t *matrix, size_t setting, double rate);
/* Any trial of the setting would be too small. */
void matrix_end_small(matrix_t *matrix, size_t setting);

typedef struct {
    size_t best, cheapest;                 /* MATRIX_DONE: no setting was tried */
    size_t close, dropped, small, untried; /* settings; close: of the set */
    uint32_t trials, turns;
    bool compared; /* two settings or more have a figure; false: best and cheapest mean nothing */
    bool settled;
} matrix_verdict_t;

/* Also brings the states and ranges up to date with trials of a turn that has not ended. */
void matrix_judge(matrix_t *matrix, matrix_verdict_t *verdict);

/* Documents a second in an average turn, and the ends of the range. NAN: without a trial, or too small; low and high
 * also as long as too few trials were made for a range. */
typedef struct {
    uint32_t trials;
    double rate, low, high;
} matrix_figure_t;

matrix_figure_t matrix_figure(const matrix_t *matrix, size_t setting);

#endif
