/* pace: the rule by which a polite load goes, in a world made of formulas. */
#include "load/rate/rate_step.h"
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

TEST(begins_small) {
    rate_step_t pace = rate_step_begin(16);
    assert_true(pace.limit == 0);
    assert_false(rate_step_step(&pace, 1)); /* whatever it was, it was not us */
    assert_true(pace.limit == RATE_STEP_START);
}

/* Nobody suffers: up to all threads, in reasonable time, and no further. */
TEST(grows) {
    static const double mosts[] = {1, 4, 64, 256};
    for (size_t i = 0; i < sizeof mosts / sizeof *mosts; i++) {
        rate_step_t pace = rate_step_begin(mosts[i]);
        double before = 0;
        int steps = 0;
        for (; pace.limit < mosts[i] && steps < 200; steps++) {
            assert_false(rate_step_step(&pace, 0));
            assert_true(pace.limit > before);
            before = pace.limit;
        }
        assert_true(steps < 120); /* a minute, for hundreds of threads */
        rate_step_step(&pace, 0.1);
        assert_true(pace.limit == mosts[i]);
    }
}

/* Somebody suffers: much less at once, but never nothing. */
TEST(shrinks) {
    rate_step_t pace = rate_step_begin(64);
    for (int i = 0; i < 200; i++)
        rate_step_step(&pace, 0);
    double before = pace.limit;
    assert_true(rate_step_step(&pace, 1));
    assert_true(pace.limit <= before / 2 + 1e-9);
    for (int i = 0; i < 40; i++)
        assert_true(rate_step_step(&pace, 1));
    assert_true(pace.limit == RATE_STEP_LEAST && RATE_STEP_LEAST > 0);
    /* and more for more pressure */
    rate_step_t hard = {.limit = 8, .most = 64}, soft = hard;
    rate_step_step(&hard, 1);
    rate_step_step(&soft, 0.75);
    assert_true(hard.limit < soft.limit && soft.limit < 8);
}

TEST(stays) {
    rate_step_t pace = {.limit = 5, .most = 64};
    for (int i = 0; i < 20; i++)
        assert_false(rate_step_step(&pace, 0.55));
    assert_true(pace.limit == 5);
}

/* A server that can bear so much, and presses in proportion: the load finds it and keeps near it, always
 * below what would be too much for long. */
TEST(finds_what_is_borne) {
    static const double bearable[] = {0.1, 0.8, 3, 20};
    for (size_t i = 0; i < sizeof bearable / sizeof *bearable; i++) {
        rate_step_t pace = rate_step_begin(64);
        double sum = 0;
        int too_much = 0;
        for (int step = 0; step < 400; step++) {
            rate_step_step(&pace, fmin(pace.limit / bearable[i] * 0.7, 1));
            if (step < 200)
                continue;
            sum += pace.limit;
            too_much += pace.limit > bearable[i] * 1.3;
        }
        double mean = sum / 200 / bearable[i];
        if (mean < 0.4 || mean > 1 || too_much > 10)
            fail_msg("of %g it takes %g, and %d times too much", bearable[i], mean, too_much);
    }
}

TEST(learns_the_usual) {
    rate_step_usual_t learned;
    rate_step_learn_init(&learned);
    assert_true(isnan(rate_step_times(&learned)));
    rate_step_learn(&learned, NAN, 1, true);
    assert_true(isnan(learned.usual));
    rate_step_learn(&learned, 200, 0.5, true);
    assert_true(rate_step_times(&learned) == 1);
    /* slower while the load is at work: that is not the usual */
    for (int i = 0; i < 50; i++)
        rate_step_learn(&learned, 600, 0.5, false);
    assert_true(learned.usual == 200);
    assert_true(fabs(rate_step_times(&learned) - 3) < 0.01);
    /* still slow although the load does next to nothing: it is not the load */
    for (int i = 0; i < 50; i++)
        rate_step_learn(&learned, 600, 0.5, true);
    assert_true(rate_step_times(&learned) < 1.05);
    /* faster than was known, at any time */
    for (int i = 0; i < 150; i++)
        rate_step_learn(&learned, 100, 0.5, false);
    assert_true(fabs(learned.usual - 100) < 5);
    /* a look that means nothing */
    rate_step_usual_t before = learned;
    rate_step_learn(&learned, 1e9, 0, true);
    assert_true(learned.now == before.now && learned.usual == before.usual);
}

/* One slow look among many is not yet a trend. */
TEST(smooths) {
    rate_step_usual_t learned;
    rate_step_learn_init(&learned);
    for (int i = 0; i < 10; i++)
        rate_step_learn(&learned, 100, 0.3, true);
    rate_step_learn(&learned, 200, 0.1, false);
    assert_true(rate_step_times(&learned) < 1.15);
}

TEST(batches) {
    assert_true(rate_step_batches(NAN) == 0);
    assert_true(rate_step_batches(1) == 0);
    assert_true(rate_step_batches(0.2) == 0);
    assert_true(rate_step_batches(1.9) > 0.4 && rate_step_batches(1.9) < 0.6);
    assert_true(rate_step_batches(5) == 1);
    assert_true(rate_step_batches(INFINITY) == 1);
}
