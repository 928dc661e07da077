#include "load/rate/rate_step.h"

#include <math.h>

const double RATE_STEP_LEAST = 0.02, RATE_STEP_START = 0.25;

/* Up to GROW the load grows, from SHRINK on it shrinks; in between it stays. */
static const double GROW = 0.4, SHRINK = 0.7, MOST_CUT = 0.5, BATCHES_EASE = 1.3, BATCHES_TROUBLE = 2.5;

void rate_step_learn_init(rate_step_usual_t *learned) {
    *learned = (rate_step_usual_t){NAN, NAN};
}

void rate_step_learn(rate_step_usual_t *learned, double value, double weight, bool at_ease) {
    if (isnan(value) || weight <= 0)
        return;
    learned->now = isnan(learned->now) ? value : learned->now + weight * (value - learned->now);
    if (isnan(learned->usual))
        learned->usual = learned->now;
    else if (at_ease)
        learned->usual += weight / 2 * (learned->now - learned->usual);
    else if (learned->now < learned->usual) /* slowly: it may be chance */
        learned->usual += weight / 8 * (learned->now - learned->usual);
}

double rate_step_times(const rate_step_usual_t *learned) {
    return learned->now / learned->usual;
}

rate_step_t rate_step_begin(double most) {
    return (rate_step_t){0, most};
}

bool rate_step_step(rate_step_t *pace, double pressure) {
    if (pace->limit <= 0) {
        pace->limit = RATE_STEP_START; /* the first look was without us */
        return false;
    }
    if (pressure >= SHRINK)
        pace->limit *= 1 - MOST_CUT * (pressure - SHRINK / 2) / (1 - SHRINK / 2);
    else if (pressure < GROW && pace->limit < 1)
        pace->limit *= 1.25;
    else if (pressure < GROW)
        pace->limit += fmax(0.25, pace->limit / 16);
    pace->limit = fmin(fmax(pace->limit, RATE_STEP_LEAST), pace->most);
    return pressure >= SHRINK;
}

double rate_step_batches(double times) {
    return isnan(times) ? 0 : fmin(fmax((times - BATCHES_EASE) / (BATCHES_TROUBLE - BATCHES_EASE), 0), 1);
}
