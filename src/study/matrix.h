/* matrix: an experiment with many settings (threads x batch, and a choice of everything else, by its number). It finds
 * the fastest setting, and the cheapest of those that are nearly as fast. It only decides which setting is tried next,
 * and what the trials mean; the caller makes the trials, one after the other. No clock, no server, no threads.
 *
 *     for (size_t setting; (setting = matrix_next(matrix)) != MATRIX_DONE;)
 *         matrix_add(matrix, setting, <documents a second>, <what the trial took>);
 *     matrix_judge(matrix, &verdict);
 *
 * Settings take turns, in a new random order each round, so that changes on the machines affect all of them equally. A
 * setting is no longer tried when its mean is known well enough, or when it is certainly slower than the cheapest may
 * be. */
#ifndef TIPPLE_STUDY_MATRIX_H
#define TIPPLE_STUDY_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MATRIX_DONE SIZE_MAX

typedef struct {
    /* a mean is known well enough when half of its 95 % confidence interval is this share of it */
    double precision;
    double nearly;        /* how much slower than the best the cheapest may be: 0.03 */
    int64_t budget_ns;    /* for all trials together */
    uint32_t most_trials; /* of a setting */
    uint64_t seed;        /* for the random order */
    /* no setting is dropped, and all are tried until all are known well enough: for when more is wanted than the
     * fastest */
    bool keep_all;
} matrix_options_t;

typedef enum {
    MATRIX_OPEN,    /* tried again if there is time */
    MATRIX_SETTLED, /* known well enough */
    MATRIX_DROPPED, /* cannot win any more */
} matrix_state_t;

/* Anyone may read it; only matrix.c writes it, except the first three fields, which are the setting and its cost: of
 * two settings the one with fewer threads is cheaper, then the one with smaller batches, then the earlier choice. */
typedef struct {
    uint32_t threads, batch, choice;
    matrix_state_t state;
    uint32_t trials;
    double mean;      /* documents a second; NAN without a trial */
    double low, high; /* 95 % confidence interval of the mean; NAN below two trials */
    double squares;   /* sum of squared deviations from the mean */
    int64_t took_ns;  /* of all of its trials */
} matrix_setting_t;

typedef struct matrix matrix_t;

/* settings: copied; only the first three fields are read. NULL: out of memory. */
matrix_t *matrix_new(const matrix_setting_t *settings, size_t count, const matrix_options_t *options);
void matrix_free(matrix_t *matrix); /* NULL is allowed */

/* The setting to try now; the same one until matrix_add. MATRIX_DONE: every setting is settled or dropped, or the
 * budget has no room for another trial. */
size_t matrix_next(matrix_t *matrix);
/* rate: above 0. */
void matrix_add(matrix_t *matrix, size_t setting, double rate, int64_t took_ns);

typedef struct {
    size_t best, cheapest;            /* MATRIX_DONE: not known, because no setting was tried twice */
    size_t settled, dropped, untried; /* settings; untried: fewer than two trials */
    uint32_t trials, rounds;
    bool budget_spent;
} matrix_verdict_t;

void matrix_judge(const matrix_t *matrix, matrix_verdict_t *verdict);

/* May this setting be as fast compared with `other` as the cheapest must be compared with the best? Doubt counts for
 * it. False if either has fewer than two trials. */
bool matrix_reaches(const matrix_t *matrix, size_t setting, size_t other);

size_t matrix_count(const matrix_t *matrix);
const matrix_setting_t *matrix_setting(const matrix_t *matrix, size_t setting);

/* mean / the best setting's mean, with its 95 % interval; NAN: not known. */
typedef struct {
    double times, low, high;
} matrix_share_t;
matrix_share_t matrix_share(const matrix_t *matrix, size_t setting);

#endif
