/* hist: how long many things took, in constant memory. Mean, deviation, least and most are exact, and so are
 * quantiles as long as there are few; of more there are counts in buckets that are 1/128 of a power of two wide, so
 * that a quantile is known to 0.4 %. A thread's own; merged afterwards. Zeroed memory is an empty one. */
#ifndef TIPPLE_BASE_NUMBERS_HIST_H
#define TIPPLE_BASE_NUMBERS_HIST_H

#include <stdint.h>

/* Mean and deviation of numbers that come one by one (Welford). */
typedef struct {
    uint64_t count;
    double mean, squares; /* squares: sum of squared differences from the mean */
} moments_t;

void moments_add(moments_t *moments, double value);
void moments_merge(moments_t *to, const moments_t *from);
double moments_sd(const moments_t *moments); /* of a sample; NAN below two */

enum { HIST_STEPS = 128, HIST_OCTAVES = 36, HIST_BUCKETS = HIST_STEPS * (HIST_OCTAVES + 1), HIST_FEW = 1000 };

typedef struct {
    moments_t moments; /* nanoseconds */
    int64_t least_ns, most_ns;
    uint64_t buckets[HIST_BUCKETS];
    int64_t few[HIST_FEW]; /* all of them, where there are no more */
} hist_t;

void hist_add(hist_t *hist, int64_t ns); /* below zero is zero; beyond two hours is the last bucket */
void hist_merge(hist_t *to, const hist_t *from);

/* The time that a share (0 to 1) of them did not exceed; NAN of none. Of few, what lies between two of them is on the
 * straight line between: the median of 1 and 2 is 1.5. */
double hist_quantile_ns(const hist_t *hist, double share);

#endif
