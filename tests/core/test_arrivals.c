/* When requests of an open loop are due: against what is known of a Poisson process, and of a queue with one server whose
 * service always takes the same time (M/D/1: Pollaczek and Khinchine). */
#include "query/query.h"
#include "test.h"

#include <math.h>
#include <stdint.h>

enum { REQUESTS = 1000000 };

static void near(double value, double expected, double share) {
    if (!(fabs(value - expected) <= expected * share))
        fail_msg("%.9g instead of %.9g", value, expected);
}

TEST(even) {
    arrivals_t arrivals = {.rate = 3, .count = 30000, .chance = 7};
    for (int64_t i = 0; i < 30000; i++)
        assert_int_equal(arrivals_next(&arrivals), (int64_t)((double)i * 1e9 / 3));
}

/* Gaps are exponential: their mean is that of the rate, their deviation is the same, and a share of e^-k is longer than k means. */
TEST(gaps) {
    static const double rates[] = {1, 250, 20000};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        const double mean_ns = 1e9 / rates[r];
        arrivals_t arrivals = {.rate = rates[r], .count = REQUESTS, .poisson = true, .chance = r};
        moments_t gaps = {0};
        size_t longer[6] = {0};
        int64_t before = 0;
        for (int i = 0; i < REQUESTS; i++) {
            const int64_t due = arrivals_next(&arrivals);
            assert_true(due >= before);
            moments_add(&gaps, (double)(due - before));
            for (size_t k = 0; k < 6; k++)
                longer[k] += (double)(due - before) > (double)k * mean_ns;
            before = due;
        }
        near(gaps.mean, mean_ns, 0.005);
        near(moments_sd(&gaps), mean_ns, 0.01);
        for (size_t k = 0; k < 6; k++)
            near((double)longer[k] / REQUESTS, exp(-(double)k), 0.05);
    }
}

/* The same chance gives the same moments, whatever the rate; another one gives others. */
TEST(fixed) {
    arrivals_t one = {.rate = 100, .count = 1000, .poisson = true, .chance = 5}, same = one, other = one,
               faster = one;
    size_t equal = 0;
    other.chance = 6;
    faster.rate = 200;
    for (int i = 0; i < 1000; i++) {
        const int64_t due = arrivals_next(&one);
        assert_int_equal(arrivals_next(&same), due);
        near(2 * (double)arrivals_next(&faster), (double)due, 1e-6);
        equal += arrivals_next(&other) == due;
    }
    assert_true(equal < 10);
}

/* A round of few requests has its rate, too: all are due within its time, where as many of them are due early as late. */
TEST(few) {
    enum { COUNT = 10, ROUNDS = 20000 };
    moments_t due[COUNT] = {0};
    for (uint64_t round = 0; round < ROUNDS; round++) {
        arrivals_t arrivals = {.rate = 5, .count = COUNT, .poisson = true, .chance = round * 1000003};
        for (int i = 0; i < COUNT; i++)
            moments_add(&due[i], (double)arrivals_next(&arrivals));
        assert_true(arrivals.poisson_ns < COUNT * 1e9 / 5);
    }
    for (int i = 0; i < COUNT; i++)
        near(due[i].mean, COUNT * 1e9 / 5 * (i + 1) / (COUNT + 1), 0.02);
}

/* How long a request waits on average for those before it. */
static double waits_ns(bool poisson, double load) {
    arrivals_t arrivals = {.rate = 1000, .count = REQUESTS, .poisson = poisson, .chance = 11};
    const double service_ns = load * 1e6;
    double free_ns = 0, sum_ns = 0;
    for (int i = 0; i < REQUESTS; i++) {
        const double due_ns = (double)arrivals_next(&arrivals), begins_ns = fmax(due_ns, free_ns);
        sum_ns += begins_ns - due_ns;
        free_ns = begins_ns + service_ns;
    }
    return sum_ns / REQUESTS;
}

TEST(queue) {
    static const double loads[] = {0.3, 0.5, 0.8};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        near(waits_ns(true, loads[i]), loads[i] * loads[i] * 1e6 / (2 * (1 - loads[i])), 0.03);
        assert_true(waits_ns(false, loads[i]) < 10);
    }
}
