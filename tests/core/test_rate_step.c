/* rate_step: the rule of --max-rate auto, in a world made of formulas. */
#include "load/rate/throttle.h"
#include "test.h"

#include <math.h>

enum { MS = 1000000 };

/* Batches take as long as ever: up to all threads, in reasonable time, and no further. */
TEST(grows) {
    static const double mosts[] = {1, 4, 64, 256};
    for (size_t i = 0; i < sizeof mosts / sizeof *mosts; i++) {
        rate_step_t step = rate_step_begin(RATE_STEP_START, mosts[i]);
        double before = 0;
        int steps = 0;
        for (; step.limit < mosts[i] && steps < 200; steps++) {
            rate_step(&step, 2 * MS);
            assert_true(step.limit > before);
            before = step.limit;
        }
        assert_true(steps < 120); /* a minute, for hundreds of threads */
        rate_step(&step, 2 * MS);
        assert_true(step.limit == mosts[i] && step.worst == 0);
    }
}

/* Batches take longer: much less at once, but never nothing. */
TEST(shrinks) {
    rate_step_t step = rate_step_begin(RATE_STEP_START, 64);
    for (int i = 0; i < 200; i++)
        rate_step(&step, 2 * MS);
    rate_step(&step, 20 * MS);
    assert_true(step.limit < 32 && step.worst > 2);
    for (int i = 0; i < 6; i++)
        rate_step(&step, 20 * MS);
    assert_true(step.limit < 0.25 && step.limit >= RATE_STEP_LEAST && RATE_STEP_LEAST > 0);
    assert_true(step.worst < 10);
    /* and the more, the longer they take */
    rate_step_t hard = {.limit = 8, .most = 64, .usual = MS, .now = 5 * MS}, soft = hard;
    rate_step(&hard, 5 * MS);
    soft.now = 2 * MS;
    rate_step(&soft, 2 * MS);
    assert_true(hard.limit < soft.limit && soft.limit < 8);
}

/* The server has become slower for other reasons: the load does not starve. */
TEST(learns_what_is_usual) {
    rate_step_t step = rate_step_begin(RATE_STEP_START, 16);
    for (int i = 0; i < 50; i++)
        rate_step(&step, 2 * MS);
    for (int i = 0; i < 8; i++)
        rate_step(&step, 50 * MS);
    assert_true(step.limit < 2);
    for (int i = 0; i < 200; i++)
        rate_step(&step, 50 * MS);
    assert_true(step.limit == 16);
    /* and when it is fast again, that is the usual */
    for (int i = 0; i < 100; i++)
        rate_step(&step, 2 * MS);
    assert_true(step.usual < 3 * MS);
}

/* A server that takes N batches at once, and longer in proportion for more: the load finds it and keeps near it,
 * seldom far above. */
TEST(finds_what_is_borne) {
    static const double bearable[] = {1, 3, 20};
    for (size_t i = 0; i < sizeof bearable / sizeof *bearable; i++) {
        rate_step_t step = rate_step_begin(RATE_STEP_START, 64);
        double sum = 0;
        int too_much = 0;
        for (int turn = 0; turn < 400; turn++) {
            rate_step(&step, 2 * MS * fmax(1, floor(step.limit) / bearable[i]));
            if (turn < 200)
                continue;
            sum += step.limit;
            too_much += step.limit > bearable[i] * 2 + 1;
        }
        const double mean = sum / 200 / bearable[i];
        if (mean < 0.4 || mean > 2 || too_much > 10)
            fail_msg("of %g it takes %g, and %d times too much", bearable[i], mean, too_much);
    }
}

/* One slow round among many is no reason. */
TEST(smooths) {
    rate_step_t step = rate_step_begin(8, 64);
    for (int i = 0; i < 10; i++)
        rate_step(&step, 2 * MS);
    const double before = step.limit;
    rate_step(&step, 3 * MS);
    assert_true(step.limit >= before && step.worst == 0);
}
