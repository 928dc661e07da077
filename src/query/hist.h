/* hist: how long many operations took, in constant memory. Each thread has one of its own, and they are merged afterwards.
 * Zeroed memory is an empty one.
 *
 *     moments   mean and deviation, exact
 *     buckets   how many operations took how long: each bucket is 1/128 of a power of two wide (below 128 ns: 1 ns), so a
 *               quantile is known to 0.4 %; the same buckets everywhere, so histograms of several runs can be added up
 *     course    the same operations by the time at which they ended: mean and longest of each interval, of which one may be
 *               empty. When a run is longer than the intervals reach, two and two of them become one
 *
 * An operation that was given up before it was sent (beyond) is longer than all others, but nobody knows how long. So a
 * quantile that would lie among them is not known, and neither are the mean and the longest. */
#ifndef TIPPLE_QUERY_HIST_H
#define TIPPLE_QUERY_HIST_H

#include <stddef.h>
#include <stdint.h>

/* Mean and deviation of numbers that are added one at a time (Welford). */
typedef struct {
    uint64_t count;
    double mean, squares; /* squares: sum of squared differences from the mean */
} moments_t;

void moments_add(moments_t *moments, double value);
void moments_merge(moments_t *to, const moments_t *from);
double moments_sd(const moments_t *moments); /* of a sample; NAN for fewer than two */

enum { HIST_STEPS = 128, HIST_OCTAVES = 36, HIST_BUCKETS = HIST_STEPS * (HIST_OCTAVES + 1) };

typedef struct {
    moments_t moments; /* nanoseconds */
    int64_t least_ns, most_ns;
    uint64_t beyond;
    uint64_t buckets[HIST_BUCKETS];
} hist_t;

/* A time below 0 counts as 0; one of more than two hours goes to the last bucket. */
void hist_add(hist_t *hist, int64_t ns);
void hist_merge(hist_t *to, const hist_t *from);

/* The least time that belongs to a bucket. */
int64_t hist_bucket_ns(size_t bucket);

/* The time that a share (0 to 1) of the operations did not exceed, interpolated between two of them. NAN if it is not
 * known: fewer than two operations, none that takes longer, or it lies among those `beyond`. */
double hist_quantile_ns(const hist_t *hist, double share);

/* Its 95 % interval by the ranks of a binomial distribution, if operations do not depend on one another. An end is NAN if
 * there are too few operations. */
typedef struct {
    double low, high;
} interval_t;
interval_t hist_interval_ns(const hist_t *hist, double share);

enum { COURSE_SLOTS = 128 };

typedef struct {
    uint64_t count;
    double sum_ns;
    int64_t most_ns;
} slot_t;

typedef struct {
    int64_t width_ns; /* of a slot; 0: COURSE_SHORTEST_NS */
    slot_t slots[COURSE_SLOTS];
} course_t;

#define COURSE_SHORTEST_NS INT64_C(100000000)

void course_add(course_t *course, int64_t when_ns, int64_t took_ns);
void course_merge(course_t *to, const course_t *from);
/* Makes slots up to this moment, also where no request has ended. Returns the number of slots. */
size_t course_reach(course_t *course, int64_t until_ns);

#endif
