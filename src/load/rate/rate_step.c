#include "load/rate/rate_step.h"

#include <math.h>

const double RATE_STEP_LEAST = 0.05, RATE_STEP_START = 0.25;

/* Up to GROW times the usual the load grows, from SHRINK on it shrinks; in between it stays. */
static const double GROW = 1.3, SHRINK = 1.7, WEIGHT = 0.4, MOST_CUT = 0.25;

rate_step_t rate_step_begin(double limit, double most) {
    return (rate_step_t){.limit = limit, .most = most};
}

static void learn(rate_step_t *step, double took) {
    step->now = step->now > 0 ? step->now + WEIGHT * (took - step->now) : took;
    if (step->usual <= 0 || step->now < step->usual)
        step->usual = step->now;
    else if (step->limit <= 2 * RATE_STEP_LEAST) /* slow without the load: others are the cause */
        step->usual += WEIGHT / 4 * (step->now - step->usual);
}

void rate_step(rate_step_t *step, double took) {
    learn(step, took);
    const double times = step->now / step->usual;
    if (times >= SHRINK) {
        step->limit *= fmax(GROW / times, MOST_CUT);
        step->worst = fmax(step->worst, times);
    } else if (times < GROW) {
        step->limit = step->limit < 1 ? step->limit * 1.25 : step->limit + fmax(0.25, step->limit / 16);
    }
    step->limit = fmin(fmax(step->limit, RATE_STEP_LEAST), step->most);
}
