/* ratio: how many times as long one thing takes as another, with a 95 % interval. The unit is the round, not the request:
 * requests of one round meet the same neighbours, caches and checkpoints, so a thousand of them say little more than one.
 * All is done on logarithms, since noise multiplies times. A figure of a round is its median, or its 99th percentile.
 *
 *     in turns   Each round measures both sides, in an order that a coin decides. If nothing differs between the sides, the
 *                coin alone decides the sign of each round's difference, whatever the noise does: bursts, drift,
 *                neighbouring rounds that are alike. So Wilcoxon's test of signed ranks is exact, and the interval is the
 *                set of ratios that it does not reject. Its ends are two of the means of all pairs of differences (Walsh
 *                averages), and its middle is their median (Hodges and Lehmann).
 *
 *     two runs   Rounds of then and of now met different noise, and slow noise makes the rounds of a run alike, so that
 *                their scatter is less than that between runs. It is taken from the slowest waves instead (the first one
 *                or two cosines of each run: Lazarus, Lewis, Stock and Watson, 2018), with Student's quantile for as few
 *                degrees of freedom, somewhat widened (ratio.c). A difference between two runs that lasts for the whole of
 *                a run is not noise to this interval: only turns can show that.
 *
 * Covered, by drawn rounds (tests/core/test_ratio.c; tests/bench/coverage.c has more of them): in turns 94 to 97 of 100
 * with any noise; two runs 93 to 97 of 100 up to a correlation of 0.5 between neighbouring rounds.
 *
 * Pure. Any thread. */
#ifndef TIPPLE_QUERY_RATIO_H
#define TIPPLE_QUERY_RATIO_H

#include <stddef.h>

/* Fewer give no interval: six signs that all agree happen once in 32 times by chance, five once in 16. */
enum { RATIO_ROUNDS = 6 };

typedef struct {
    double ratio, low, high;
} ratio_t;

/* of / to, by the times of rounds, which are above 0. NAN: fewer rounds than RATIO_ROUNDS on a side, or no memory. */
ratio_t ratio_in_turns(const double *of, const double *to, size_t rounds);
ratio_t ratio_of_runs(const double *of, size_t of_rounds, const double *to, size_t to_rounds);

#endif
