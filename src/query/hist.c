/* hist: times are added while queries run, and read when they have ended. */
#include "query/hist.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void moments_add(moments_t *moments, double value) {
    double from_mean = value - moments->mean;
    moments->mean += from_mean / (double)++moments->count;
    moments->squares += from_mean * (value - moments->mean);
}

void moments_merge(moments_t *to, const moments_t *from) {
    double a = (double)to->count, b = (double)from->count, apart = from->mean - to->mean;
    if (!from->count)
        return;
    to->mean += apart * b / (a + b);
    to->squares += from->squares + apart * apart * a * b / (a + b);
    to->count += from->count;
}

double moments_sd(const moments_t *moments) {
    return moments->count < 2 ? NAN : sqrt(moments->squares / (double)(moments->count - 1));
}

/* Times below HIST_STEPS have a bucket each. Above that, the highest bits within an octave are the step. */
static size_t bucket_of(uint64_t ns) {
    const uint64_t steps = HIST_STEPS;
    if (ns < steps)
        return (size_t)ns;
    int octave = 63 - __builtin_clzll(ns) - __builtin_ctz(HIST_STEPS); /* from 0 */
    size_t bucket = steps * ((size_t)octave + 1) + (size_t)((ns >> octave) - steps);
    return bucket < HIST_BUCKETS ? bucket : HIST_BUCKETS - 1;
}

/* The middle of a bucket. */
static double middle_of(size_t bucket) {
    if (bucket < HIST_STEPS)
        return (double)bucket;
    double step = ldexp(1, (int)(bucket / HIST_STEPS) - 1);
    return step * ((double)(HIST_STEPS + bucket % HIST_STEPS) + 0.5);
}

void hist_add(hist_t *hist, int64_t ns) {
    ns = ns < 0 ? 0 : ns;
    if (hist->moments.count < HIST_FEW)
        hist->few[hist->moments.count] = ns;
    if (!hist->moments.count || ns < hist->least_ns)
        hist->least_ns = ns;
    if (ns > hist->most_ns)
        hist->most_ns = ns;
    moments_add(&hist->moments, (double)ns);
    hist->buckets[bucket_of((uint64_t)ns)]++;
}

void hist_merge(hist_t *to, const hist_t *from) {
    if (!from->moments.count)
        return;
    if (!to->moments.count || from->least_ns < to->least_ns)
        to->least_ns = from->least_ns;
    if (from->most_ns > to->most_ns)
        to->most_ns = from->most_ns;
    if (to->moments.count + from->moments.count <= HIST_FEW)
        memcpy(to->few + to->moments.count, from->few, from->moments.count * sizeof *from->few);
    moments_merge(&to->moments, &from->moments);
    for (size_t i = 0; i < HIST_BUCKETS; i++)
        to->buckets[i] += from->buckets[i];
}

static int in_order(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Of all times in order, the one at this place, from 0. */
static double time_at(const hist_t *hist, const int64_t *sorted, uint64_t at) {
    uint64_t seen = 0;
    if (sorted)
        return (double)sorted[at];
    for (size_t i = 0; i < HIST_BUCKETS; i++)
        if ((seen += hist->buckets[i]) > at)
            return fmin(fmax(middle_of(i), (double)hist->least_ns), (double)hist->most_ns);
    return (double)hist->most_ns;
}

double hist_quantile_ns(const hist_t *hist, double share) {
    int64_t sorted[HIST_FEW];
    const uint64_t count = hist->moments.count;
    const bool few = count <= HIST_FEW;
    if (!count)
        return NAN;
    if (few) {
        memcpy(sorted, hist->few, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, in_order);
    }
    const double place = share * (double)(count - 1), before = floor(place);
    const uint64_t at = (uint64_t)before;
    const double least = time_at(hist, few ? sorted : NULL, at),
                 most = time_at(hist, few ? sorted : NULL, at + 1 < count ? at + 1 : at);
    return least + (most - least) * (place - before);
}
