/* matrix: an experiment of many cells, each a setting (threads x batch, and whatever else is varied, as a
 * choice by its number), that finds the fastest cell and the knee: the cheapest cell that is nearly as fast.
 * It only decides which cell is tried next and what the trials mean; whoever owns it makes them, one after
 * the other. No clock, no server, no threads of its own.
 *
 *     for (size_t cell; (cell = matrix_next(matrix)) != MATRIX_DONE;)
 *         matrix_add(matrix, cell, <documents a second>, <what the trial took>);
 *     matrix_judge(matrix, &verdict);
 *
 * Cells take turns, in an order drawn anew each round, so that what changes on the machines meanwhile meets
 * all of them alike. A cell is not tried any more when its mean is known well enough, or when it is shown to
 * be slower than the knee may be. */
#ifndef TIPPLE_STUDY_MATRIX_H
#define TIPPLE_STUDY_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MATRIX_DONE SIZE_MAX

typedef struct {
    double precision; /* half of a mean's 95 % confidence interval, as a share of it, that is narrow enough */
    double nearly;    /* how much slower than the best the knee may be: 0.03 */
    int64_t budget_ns;    /* for all trials together */
    uint32_t most_trials; /* of a cell */
    uint64_t seed;        /* of the order */
    bool keep_all;        /* no cell is dropped, and all are tried until all are known well enough: what is
                           * asked is not only which one is fastest */
} matrix_options_t;

typedef enum {
    MATRIX_OPEN,    /* tried further, if time is left */
    MATRIX_SETTLED, /* known well enough */
    MATRIX_DROPPED, /* cannot win any more */
} matrix_state_t;

/* Read by anybody, written by matrix.c only, but for the first three, which are its setting and its cost: of
 * two cells the one with fewer threads is cheaper, then the one with smaller batches, then the earlier
 * choice. */
typedef struct {
    uint32_t threads, batch, choice;
    matrix_state_t state;
    uint32_t trials;
    double mean;      /* documents a second; NAN without a trial */
    double low, high; /* 95 % confidence interval of the mean; NAN below two trials */
    double squares;   /* sum of squared deviations from the mean */
    int64_t took_ns;  /* of all of its trials */
} matrix_cell_t;

typedef struct matrix matrix_t;

/* cells: copied, only their settings are read. NULL: out of memory. */
matrix_t *matrix_new(const matrix_cell_t *cells, size_t count, const matrix_options_t *options);
void matrix_free(matrix_t *matrix); /* NULL is allowed */

/* The cell to try now; the same one until matrix_add. MATRIX_DONE: every cell is settled or dropped, or the
 * next trial would not fit into the budget any more. */
size_t matrix_next(matrix_t *matrix);
/* rate: above 0. */
void matrix_add(matrix_t *matrix, size_t cell, double rate, int64_t took_ns);

typedef struct {
    size_t best, knee;                /* MATRIX_DONE: nothing can be said, because no cell was tried twice */
    size_t settled, dropped, untried; /* cells; untried: fewer than two trials */
    uint32_t trials, rounds;
    bool budget_spent;
} matrix_verdict_t;

void matrix_judge(const matrix_t *matrix, matrix_verdict_t *verdict);

/* May it be as fast, beside this other one, as the knee must be beside the best, with doubt in its favour?
 * False below two trials of either. */
bool matrix_reaches(const matrix_t *matrix, size_t cell, size_t other);

size_t matrix_count(const matrix_t *matrix);
const matrix_cell_t *matrix_cell(const matrix_t *matrix, size_t cell);

/* mean / the best cell's mean, with its 95 % interval; NAN where there is none. */
typedef struct {
    double times, low, high;
} matrix_share_t;
matrix_share_t matrix_share(const matrix_t *matrix, size_t cell);

#endif
