/* hist: how long many operations took, in constant memory. Mean, deviation, least and most are exact; quantiles are exact
 * while there are few times. Of more, times are counted in buckets that are 1/128 of a power of two wide, so a quantile is
 * known to 0.4 %. Each thread has a hist of its own, and they are merged afterwards. Zeroed memory is an empty hist. */
#ifndef TIPPLE_QUERY_HIST_H
#define TIPPLE_QUERY_HIST_H

#include <stdint.h>

/* Mean and deviation of numbers that are added one at a time (Welford). */
typedef struct {
    uint64_t count;
    double mean, squares; /* squares: sum of squared differences from the mean */
} moments_t;

void moments_add(moments_t *moments, double value);
void moments_merge(moments_t *to, const moments_t *from);
double moments_sd(const moments_t *moments); /* of a sample; NAN for fewer than two */

enum { HIST_STEPS = 128, HIST_OCTAVES = 36, HIST_BUCKETS = HIST_STEPS * (HIST_OCTAVES + 1), HIST_FEW = 1000 };

typedef struct {
    moments_t moments; /* nanoseconds */
    int64_t least_ns, most_ns;
    uint64_t buckets[HIST_BUCKETS];
    int64_t few[HIST_FEW]; /* all times, as long as they fit */
} hist_t;

/* below zero counts as zero; more than two hours goes to the last bucket */
void hist_add(hist_t *hist, int64_t ns);
void hist_merge(hist_t *to, const hist_t *from);

/* The time that a share (0 to 1) of the times did not exceed; NAN if there are none. With few times, a quantile between
 * two of them is interpolated: the median of 1 and 2 is 1.5. */
double hist_quantile_ns(const hist_t *hist, double share);

#endif
