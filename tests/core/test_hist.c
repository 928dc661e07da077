/* hist: quantiles against sorted values, moments against sums over all values in two passes. */
#include "query/hist.h"
#include "test.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HOUR 3600000000000ll

static void near(double value, double expected, double share) {
    if (!(fabs(value - expected) <= fabs(expected) * share))
        fail_msg("%.17g instead of %.17g", value, expected);
}

static uint64_t drawn;

static uint64_t draw(void) { /* splitmix64 */
    uint64_t z = drawn += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Of all sizes alike, from one nanosecond to two hours. */
static int64_t draw_time(void) {
    return (int64_t)exp((double)(draw() >> 11) * 0x1p-53 * log(2.0 * HOUR));
}

static int in_order(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static hist_t *new_hist(void) {
    hist_t *hist = calloc(1, sizeof *hist);
    assert_non_null(hist);
    return hist;
}

/* ---- moments ---- */

static void check_moments(const moments_t *moments, const double *values, size_t count) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    for (size_t i = 0; i < count; i++)
        squares += pow(values[i] - sum / (double)count, 2);
    assert_int_equal(moments->count, count);
    near(moments->mean, sum / (double)count, 1e-12);
    near(moments_sd(moments), sqrt(squares / (double)(count - 1)), 1e-9);
}

TEST(moments) {
    moments_t moments = {0};
    assert_true(isnan(moments_sd(&moments)));
    moments_add(&moments, 5);
    assert_true(moments.count == 1 && moments.mean == 5 && isnan(moments_sd(&moments)));
    moments_add(&moments, 5);
    assert_true(moments.mean == 5 && moments_sd(&moments) == 0);
    /* 2 4 4 4 5 5 7 9: mean 5, squares 32 */
    static const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    moments = (moments_t){0};
    for (size_t i = 0; i < 8; i++)
        moments_add(&moments, values[i]);
    near(moments.mean, 5, 1e-15);
    near(moments_sd(&moments), sqrt(32.0 / 7), 1e-15);
}

/* A small spread far from zero, where a sum of squares would have no digit left. */
TEST(moments_keep_digits) {
    moments_t moments = {0};
    for (int i = 0; i < 10000; i++)
        moments_add(&moments, 1e12 + i % 2);
    near(moments.mean, 1e12 + 0.5, 1e-15);
    near(moments_sd(&moments), 0.5, 1e-4);
}

/* In parts of any sizes, empty ones too, in any order: as if all had come to one. */
TEST(moments_merge) {
    enum { COUNT = 1000 };
    double values[COUNT];
    drawn = 3;
    for (int round = 0; round < 50; round++) {
        moments_t parts[5] = {{0}}, left = {0}, right = {0};
        for (size_t i = 0; i < COUNT; i++) {
            values[i] = (double)draw_time();
            moments_add(&parts[draw() % 1000 < 700 ? 0 : draw() % (round ? 5 : 2)], values[i]);
        }
        for (size_t i = 0; i < 5; i++) {
            moments_merge(&left, &parts[i]);
            moments_merge(&right, &parts[4 - i]);
        }
        check_moments(&left, values, COUNT);
        check_moments(&right, values, COUNT);
    }
    moments_t none = {0}, some = {0};
    moments_merge(&none, &some);
    assert_true(none.count == 0 && isnan(moments_sd(&none)));
}

/* ---- quantiles ---- */

static const double shares[] = {0, 0.001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1};
enum { SHARES = sizeof shares / sizeof *shares, MOST = 20000 };

/* The usual rule: the first is at 0, the last at 1, and the others at even distances, with straight lines. */
static double on_lines(const int64_t *sorted, size_t count, double share) {
    for (size_t i = 0; i + 1 < count; i++) {
        const long double from = (long double)i / (long double)(count - 1),
                          step = 1 / (long double)(count - 1);
        if (share <= from + step)
            return (double)((from + step - share) / step * sorted[i] + (share - from) / step * sorted[i + 1]);
    }
    return (double)sorted[count - 1];
}

/* `beyond` of the values were skipped: the longest ones. */
static void check_quantiles(const hist_t *hist, int64_t *values, size_t count, size_t beyond) {
    qsort(values, count, sizeof *values, in_order);
    for (size_t i = 0; i < SHARES; i++) {
        const double quantile = hist_quantile_ns(hist, shares[i]), place = shares[i] * (double)(count - 1);
        if (count < 2 || (double)count * (1 - shares[i]) < 1 || place > (double)(count - beyond - 1))
            assert_true(isnan(quantile));
        else
            near(quantile, on_lines(values, count, shares[i]), 0.5 / HIST_STEPS);
    }
    assert_true(hist->least_ns == values[0] && hist->most_ns == values[count - beyond - 1]);
}

/* In three parts, as if all had come to one. */
static void try_quantiles(size_t count, size_t beyond) {
    static int64_t values[MOST];
    hist_t *parts[3] = {new_hist(), new_hist(), new_hist()};
    for (size_t i = 0; i < count; i++)
        values[i] = draw_time();
    qsort(values, count, sizeof *values, in_order);
    for (size_t i = 0; i + beyond < count; i++)
        hist_add(parts[draw() % 3], values[i]);
    parts[draw() % 3]->beyond = beyond;
    hist_merge(parts[0], parts[1]);
    hist_merge(parts[0], parts[2]);
    check_quantiles(parts[0], values, count, beyond);
    for (size_t i = 0; i < 3; i++)
        free(parts[i]);
}

TEST(quantiles) {
    static const size_t counts[] = {1, 2, 3, 19, 20, 21, 99, 100, 101, 999, 1001, MOST};
    drawn = 11;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t part = 0; part < 8; part++)
            try_quantiles(counts[c], part ? counts[c] >> (part + 1) : 0);
}

/* At each edge of a bucket, between many others, its bucket alone must count it; and what a bucket begins with is in it. */
TEST(edges) {
    hist_t *hist = new_hist();
    for (int bit = 0; bit < 43; bit++)
        for (int64_t off = -1; off <= 1; off++) {
            const int64_t ns = (1ll << bit) + off;
            memset(hist, 0, sizeof *hist);
            for (int i = 0; i < 1000; i++) {
                hist_add(hist, 0);
                hist_add(hist, 3 * HOUR);
            }
            hist_add(hist, ns);
            near(hist_quantile_ns(hist, 0.5), (double)ns, 0.5 / HIST_STEPS);
            if (ns < HIST_STEPS)
                assert_true(hist_quantile_ns(hist, 0.5) == (double)ns);
        }
    for (size_t i = 0; i < HIST_BUCKETS - 1; i++) {
        memset(hist, 0, sizeof *hist);
        hist_add(hist, hist_bucket_ns(i));
        hist_add(hist, hist_bucket_ns(i + 1) - 1);
        assert_int_equal(hist->buckets[i], 2);
    }
    free(hist);
}

TEST(outside) {
    hist_t *hist = new_hist();
    hist_add(hist, -5);
    assert_true(hist->least_ns == 0 && hist->most_ns == 0 && isnan(hist_quantile_ns(hist, 0.5)));
    hist_add(hist, INT64_MAX);
    hist_add(hist, 3 * HOUR);
    assert_true(hist->most_ns == INT64_MAX && hist->moments.count == 3 && hist_quantile_ns(hist, 0) == 0);
    assert_true(hist_quantile_ns(hist, 0.6) >= 2.0 * HOUR);
    free(hist);
}

/* ---- intervals ---- */

/* That fewer than `rank` of n values are below a quantile, by the binomial distribution. */
static double fewer(size_t rank, size_t n, double share) {
    double sum = 0;
    for (size_t k = 0; k < rank; k++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) +
                   (double)k * log(share) + (double)(n - k) * log(1 - share));
    return sum;
}

/* Values are a hundredth apart, so that each has a bucket. */
static size_t rank_of(double ns) {
    return (size_t)lround(log(ns / 1e6) / log(1.01)) + 1;
}

/* The quantile of the distribution is between the two ends 95 times of a hundred, and not much more often. */
TEST(intervals) {
    static const size_t counts[] = {4, 5, 6, 7, 10, 25, 100, 299, 366, 367, 400, 1000};
    static const double of[] = {0.5, 0.99};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t s = 0; s < 2; s++) {
            const size_t n = counts[c];
            hist_t *hist = new_hist();
            for (size_t i = 0; i < n; i++)
                hist_add(hist, llround(1e6 * pow(1.01, (double)i)));
            const interval_t between = hist_interval_ns(hist, of[s]);
            const double never = pow(of[s], (double)n);
            assert_int_equal(isnan(between.high), never > 0.025);
            if (isnan(between.low) || isnan(between.high)) {
                free(hist);
                continue;
            }
            const double below = fewer(rank_of(between.low), n, of[s]),
                         above = 1 - fewer(rank_of(between.high), n, of[s]);
            assert_true(below + above <= 0.05);
            assert_true(n < 10 || below + above > 0.01);
            free(hist);
        }
}

/* ---- the course ---- */

/* A run may end long after the last answer: what was found before then stays where it was. */
TEST(empty_slots) {
    static course_t course;
    assert_int_equal(course_reach(&course, 0), 1);
    course_add(&course, 7 * COURSE_SHORTEST_NS, 5);
    assert_int_equal(course_reach(&course, 10 * COURSE_SHORTEST_NS - 1), 10);
    assert_int_equal(course_reach(&course, 10 * COURSE_SHORTEST_NS), 11);
    assert_int_equal(course.slots[7].count, 1);
    assert_int_equal(course_reach(&course, COURSE_SLOTS * COURSE_SHORTEST_NS), COURSE_SLOTS / 2 + 1);
    assert_true(course.width_ns == 2 * COURSE_SHORTEST_NS && course.slots[3].count == 1);
    for (size_t i = 0; i < COURSE_SLOTS; i++)
        assert_int_equal(course.slots[i].count, i == 3);
}

TEST(courses) {
    drawn = 3;
    for (int round = 0; round < 40; round++) {
        static course_t parts[3];
        static slot_t wanted[COURSE_SLOTS];
        const int64_t longest = COURSE_SHORTEST_NS * (INT64_C(1) << (draw() % 20));
        int64_t whens[500], tooks[500];
        memset(parts, 0, sizeof parts);
        memset(wanted, 0, sizeof wanted);
        for (size_t i = 0; i < 500; i++)
            course_add(&parts[draw() % 3], whens[i] = (int64_t)(draw() % (uint64_t)longest),
                       tooks[i] = draw_time());
        course_merge(&parts[0], &parts[1]);
        course_merge(&parts[0], &parts[2]);
        for (size_t i = 0; i < 500; i++) {
            slot_t *slot = &wanted[whens[i] / parts[0].width_ns];
            slot->count++;
            slot->sum_ns += (double)tooks[i];
            slot->most_ns = tooks[i] > slot->most_ns ? tooks[i] : slot->most_ns;
        }
        assert_true(parts[0].width_ns == COURSE_SHORTEST_NS ||
                    longest > parts[0].width_ns * COURSE_SLOTS / 4);
        for (size_t i = 0; i < COURSE_SLOTS; i++) {
            assert_int_equal(parts[0].slots[i].count, wanted[i].count);
            assert_int_equal(parts[0].slots[i].most_ns, wanted[i].most_ns);
            near(parts[0].slots[i].sum_ns, wanted[i].sum_ns, 1e-12);
        }
    }
}
