/* ratio: the two intervals. Everything before the last step is logarithms. */
#include "query/ratio.h"

#include <math.h>
#include <stdlib.h>

static const ratio_t unknown = {NAN, NAN, NAN};

static ratio_t from_logs(double middle, double low, double high) {
    return (ratio_t){exp(middle), exp(low), exp(high)};
}

/* ---- in turns ---- */

/* More rounds than this are joined with their neighbours first. */
enum { MOST_DIFFERENCES = 64, MOST_PAIRS = MOST_DIFFERENCES * (MOST_DIFFERENCES + 1) / 2 };

static int in_order(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many of the sorted pairs lie outside of each end: the whole ones, and a part of the next one, in proportion, since
 * the chance of the rank sum goes in steps. */
static double pairs_outside(size_t count) {
    static const double SIDE = 0.025;
    double chance[MOST_PAIRS + 1] = {1}, below = 0; /* of each sum of positive ranks */
    size_t outside = 0;
    for (size_t rank = 1; rank <= count; rank++)
        for (size_t sum = rank * (rank + 1) / 2 + 1; sum-- > 0;)
            chance[sum] = (chance[sum] + (sum >= rank ? chance[sum - rank] : 0)) / 2;
    while (below + chance[outside] <= SIDE)
        below += chance[outside++];
    return (double)outside + (SIDE - below) / chance[outside];
}

/* The value at this place of a sorted list, from 1, on a straight line between two of them. */
static double at_place(const double *sorted, double place) {
    const size_t whole = (size_t)place;
    return sorted[whole - 1] + (place - (double)whole) * (sorted[whole] - sorted[whole - 1]);
}

static ratio_t from_differences(const double *differences, size_t count) {
    double pairs[MOST_PAIRS + 1];
    size_t made = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i; k < count; k++)
            pairs[made++] = (differences[i] + differences[k]) / 2;
    qsort(pairs, made, sizeof *pairs, in_order);
    const double outside = pairs_outside(count), last = (double)made + 1;
    return from_logs(at_place(pairs, last / 2), at_place(pairs, outside), at_place(pairs, last - outside));
}

ratio_t ratio_in_turns(const double *of, const double *to, size_t rounds) {
    const size_t joined = (rounds + MOST_DIFFERENCES - 1) / MOST_DIFFERENCES;
    double differences[MOST_DIFFERENCES];
    size_t count = 0;
    if (rounds < RATIO_ROUNDS)
        return unknown;
    for (size_t at = 0; at < rounds; count++) {
        const size_t from = at, end = at + joined < rounds ? at + joined : rounds;
        double sum = 0;
        for (; at < end; at++)
            sum += log(of[at] / to[at]);
        differences[count] = sum / (double)(end - from);
    }
    return from_differences(differences, count);
}

/* ---- two runs ---- */

static double mean_log(const double *times, size_t rounds) {
    double sum = 0;
    for (size_t i = 0; i < rounds; i++)
        sum += log(times[i]);
    return sum / (double)rounds;
}

/* The square of the n-th cosine of a run: what a round would scatter if all of its noise were as slow. */
static double slow_variance(const double *times, size_t rounds, size_t wave) {
    double sum = 0;
    for (size_t i = 0; i < rounds; i++)
        sum += log(times[i]) * cos(M_PI * (double)wave * ((double)i + 0.5) / (double)rounds);
    return 2 * sum * sum / (double)rounds;
}

ratio_t ratio_of_runs(const double *of, size_t of_rounds, const double *to, size_t to_rounds) {
    enum { TWO_WAVES = 10 }; /* rounds */
    /* Student's are 4.30 and 2.78, of 2 and 4 degrees */
    static const double quantiles[] = {NAN, 5.0, 3.1};
    const size_t fewest = of_rounds < to_rounds ? of_rounds : to_rounds, waves = fewest < TWO_WAVES ? 1 : 2;
    double variance = 0;
    if (fewest < RATIO_ROUNDS)
        return unknown;
    for (size_t wave = 1; wave <= waves; wave++)
        variance += slow_variance(of, of_rounds, wave) + slow_variance(to, to_rounds, wave);
    const double per_round = variance / (2.0 * (double)waves),
                 half = quantiles[waves] * sqrt(per_round * (1 / (double)of_rounds + 1 / (double)to_rounds)),
                 middle = mean_log(of, of_rounds) - mean_log(to, to_rounds);
    return from_logs(middle, middle - half, middle + half);
}
