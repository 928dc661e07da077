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
enum { SHARES = sizeof shares / sizeof *shares };

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

static void check_quantiles(const hist_t *hist, int64_t *values, size_t count) {
    qsort(values, count, sizeof *values, in_order);
    for (size_t i = 0; i < SHARES; i++) {
        const double quantile = hist_quantile_ns(hist, shares[i]);
        near(quantile, on_lines(values, count, shares[i]), count <= HIST_FEW ? 1e-9 : 0.5 / HIST_STEPS);
    }
    assert_true(hist->least_ns == values[0] && hist->most_ns == values[count - 1]);
    assert_true(hist_quantile_ns(hist, 1) <= (double)values[count - 1]);
    assert_true(hist_quantile_ns(hist, 0) >= (double)values[0]);
}

TEST(quantiles) {
    enum { MOST = 20000 };
    static int64_t values[MOST];
    static const size_t counts[] = {1, 2, 3, 19, 20, 21, 99, 100, 101, HIST_FEW, HIST_FEW + 1, MOST};
    drawn = 11;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        hist_t *hist = new_hist();
        for (size_t i = 0; i < counts[c]; i++)
            hist_add(hist, values[i] = draw_time());
        check_quantiles(hist, values, counts[c]);
        free(hist);
    }
}

/* What Python's statistics.quantiles(..., method="inclusive") says of a few lists. */
TEST(few) {
    static const double at[] = {0.001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999};
    static const struct {
        size_t count;
        int64_t values[8];
        double quantiles[9];
    } lists[] = {
        {2, {10, 20}, {10.01, 10.1, 12.5, 15, 17.5, 19, 19.5, 19.9, 19.99}},
        {3, {5, 1, 9}, {1.008, 1.08, 3, 5, 7, 8.2, 8.6, 8.92, 8.992}},
        {8, {3, 1, 4, 1, 5, 9, 2, 6}, {1, 1, 1.75, 3.5, 5.25, 6.9, 7.95, 8.79, 8.979}},
        {5,
         {1000003, 17, 250000, 99999999, 31},
         {17.056, 17.56, 31, 250000, 1000003, 60400000.6, 80199999.8, 96039999.16, 99603999.016}},
    };
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        hist_t *one = new_hist(), *two = new_hist();
        for (size_t i = 0; i < lists[l].count; i++)
            hist_add(i % 2 ? one : two, lists[l].values[i]);
        hist_merge(one, two);
        for (size_t i = 0; i < sizeof at / sizeof *at; i++)
            near(hist_quantile_ns(one, at[i]), lists[l].quantiles[i], 1e-9);
        free(one);
        free(two);
    }
}

/* In parts, with few and with many in all: as if all had come to one. */
TEST(merged_quantiles) {
    static int64_t values[3 * HIST_FEW];
    drawn = 5;
    for (int round = 0; round < 60; round++) {
        hist_t *parts[3] = {new_hist(), new_hist(), new_hist()};
        const size_t count = 1 + draw() % (round % 3 ? HIST_FEW : 3 * HIST_FEW);
        for (size_t i = 0; i < count; i++)
            hist_add(parts[draw() % 3], values[i] = draw_time());
        hist_merge(parts[0], parts[1]);
        hist_merge(parts[0], parts[2]);
        check_quantiles(parts[0], values, count);
        for (size_t i = 0; i < 3; i++)
            free(parts[i]);
    }
}

/* Of one value each quantile is that value, at each edge of a bucket. */
TEST(edges) {
    hist_t *hist = new_hist();
    for (int bit = 0; bit < 43; bit++)
        for (int64_t off = -1; off <= 1; off++) {
            int64_t ns = (1ll << bit) + off;
            memset(hist, 0, sizeof *hist);
            hist_add(hist, ns);
            for (size_t i = 0; i < SHARES; i++)
                assert_true(hist_quantile_ns(hist, shares[i]) == (double)ns);
            /* between many others, its bucket alone must tell */
            for (int i = 0; i < HIST_FEW; i++) {
                hist_add(hist, 0);
                hist_add(hist, 3 * HOUR);
            }
            near(hist_quantile_ns(hist, 0.5), (double)ns, 0.5 / HIST_STEPS);
            if (ns < HIST_STEPS)
                assert_true(hist_quantile_ns(hist, 0.5) == (double)ns);
        }
    free(hist);
}

/* A slower time never has a smaller quantile. */
TEST(order) {
    double before = -1;
    hist_t *hist = new_hist();
    for (int64_t ns = 0; ns < 2 * HOUR; ns += ns / 300 + 1) {
        memset(hist, 0, sizeof *hist);
        for (int i = 0; i < HIST_FEW; i++) {
            hist_add(hist, 0);
            hist_add(hist, 3 * HOUR);
        }
        hist_add(hist, ns);
        double now = hist_quantile_ns(hist, 0.5);
        assert_true(now >= before);
        before = now;
    }
    free(hist);
}

TEST(beyond) {
    hist_t *hist = new_hist();
    assert_true(isnan(hist_quantile_ns(hist, 0.5)));
    hist_add(hist, -5);
    assert_true(hist->least_ns == 0 && hist->most_ns == 0 && hist_quantile_ns(hist, 0.5) == 0);
    hist_add(hist, INT64_MAX);
    hist_add(hist, 3 * HOUR);
    assert_true(hist->most_ns == INT64_MAX && hist->moments.count == 3);
    assert_true(hist_quantile_ns(hist, 0) == 0);
    double last = hist_quantile_ns(hist, 0.99);
    assert_true(last >= 2.0 * HOUR && last <= (double)INT64_MAX);
    free(hist);
}
