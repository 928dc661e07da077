/* ratio: intervals of drawn rounds hold the true ratio as often as they say, and single values worked out by hand. */
#include "drawn_rounds.h"
#include "query/ratio.h"
#include "test.h"

#include <stdbool.h>

enum { RUNS = 10000 / TEST_SHARE, MOST_ROUNDS = 20 };
static const size_t sizes[] = {6, 10, 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const double truth = 1.3; /* the second side takes this many times as long */

static bool holds(ratio_t ratio) {
    assert_true(ratio.low <= ratio.ratio && ratio.ratio <= ratio.high);
    return ratio.low <= truth && truth <= ratio.high;
}

static bool turns_hold(const drawn_noise_t *noise, size_t rounds, uint64_t *seed) {
    double moments[2 * MOST_ROUNDS], of[MOST_ROUNDS], to[MOST_ROUNDS];
    drawn_times(noise, seed, moments, 2 * rounds);
    for (size_t i = 0; i < rounds; i++) {
        const size_t first = drawn_bits(seed) & 1;
        of[i] = moments[2 * i + first] * truth;
        to[i] = moments[2 * i + !first];
    }
    return holds(ratio_in_turns(of, to, rounds));
}

static bool runs_hold(const drawn_noise_t *noise, size_t rounds, uint64_t *seed) {
    double of[MOST_ROUNDS], to[MOST_ROUNDS];
    drawn_times(noise, seed, to, rounds);
    drawn_times(noise, seed, of, rounds);
    for (size_t i = 0; i < rounds; i++)
        of[i] *= truth;
    return holds(ratio_of_runs(of, rounds, to, rounds));
}

/* Of 100 intervals 93 to 97; with a sanitizer there are fewer runs, so the margin is wider. */
static void check_coverage(const char *what, const drawn_noise_t *noise, size_t rounds,
                           bool (*hold)(const drawn_noise_t *, size_t, uint64_t *)) {
    const double margin = TEST_SHARE > 1 ? 1.5 : 0;
    uint64_t seed = 66;
    size_t held = 0;
    for (size_t run = 0; run < RUNS; run++)
        held += hold(noise, rounds, &seed);
    const double percent = 100 * (double)held / RUNS;
    if (percent < 93 - margin || percent > 97 + margin)
        fail_msg("%s, %zu rounds, noise %s: %.1f %%", what, rounds, noise->name, percent);
}

TEST(turns_cover) {
    for (size_t i = 0; i < DRAWN_QUICK; i++)
        for (size_t k = 0; k < SIZES; k++)
            check_coverage("in turns", &drawn_noises[i], sizes[k], turns_hold);
}

/* Slower noise than that looks like a difference. */
TEST(runs_cover) {
    for (size_t i = 0; i < DRAWN_QUICK; i++)
        for (size_t k = 0; k < SIZES; k++)
            check_coverage("two runs", &drawn_noises[i], sizes[k], runs_hold);
}

static void near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * expected))
        fail_msg("%.15g instead of %.15g", value, expected);
}

/* Six differences of 1, 2, 4, 8, 16 and 32 (as logarithms of 2): the lowest mean of a pair is 1, the next 1.5; the highest
 * are 32 and 24. Sums of ranks of 0 and 1 have a chance of 1/64 each, so that 1.6 pairs lie below. */
TEST(by_hand) {
    double of[6], to[6];
    for (int i = 0; i < 6; i++) {
        to[i] = 3;
        of[i] = 3 * exp2(1 << i);
    }
    const ratio_t ratio = ratio_in_turns(of, to, 6);
    near(ratio.low, exp2(1 + 0.6 * 0.5));
    near(ratio.high, exp2(32 - 0.6 * 8));
    near(ratio.ratio, exp2(8.5)); /* the eleventh of 21 pairs: 1 and 16 */
    /* nothing scatters */
    const ratio_t same = ratio_in_turns(to, to, 6), runs = ratio_of_runs(to, 6, to, 6);
    assert_true(same.low == 1 && same.ratio == 1 && same.high == 1);
    near(runs.ratio, 1);
    assert_true(runs.low > 0.999999 && runs.high < 1.000001);
}

TEST(too_few) {
    const double times[] = {1, 2, 3, 4, 5, 6};
    assert_true(isnan(ratio_in_turns(times, times, 5).low) && isnan(ratio_of_runs(times, 6, times, 5).ratio));
    assert_true(ratio_in_turns(times, times, 6).low == 1);
}

/* Many rounds are joined with their neighbours, and none is left out. */
TEST(many_rounds) {
    enum { MANY = 1000 };
    static double of[MANY], to[MANY];
    uint64_t seed = 5;
    for (size_t rounds = 60; rounds <= MANY; rounds += 67) {
        for (size_t i = 0; i < rounds; i++) {
            to[i] = exp(0.3 * drawn_normal(&seed));
            of[i] = to[i] * truth * exp(0.1 * drawn_normal(&seed));
        }
        const ratio_t ratio = ratio_in_turns(of, to, rounds), runs = ratio_of_runs(of, rounds, to, rounds);
        assert_true(fabs(log(ratio.ratio / truth)) < 5 * 0.1 / sqrt((double)rounds));
        assert_true(fabs(log(runs.ratio / truth)) < 5 * 0.1 / sqrt((double)rounds));
        assert_true(log(ratio.high / ratio.low) < 8 * 0.1 / sqrt((double)rounds));
    }
}
