/* rate_step: the rule of --polite, without clocks and servers: how many batches may be under way to one place (a
 * shard). The number grows slowly while nobody is slowed down, and shrinks at once when somebody is. */
#ifndef TIPPLE_LOAD_RATE_RATE_STEP_H
#define TIPPLE_LOAD_RATE_RATE_STEP_H

#include <stdbool.h>

/* What something takes usually, and what it takes now: learned while the load is as good as not there. */
typedef struct {
    double usual, now; /* NAN until the first look */
} rate_step_usual_t;

void rate_step_learn_init(rate_step_usual_t *learned);

/* One look at it. weight: of 0 to 1, how much is to be made of this look; at_ease: the load takes so little
 * that this is how things are without it. */
void rate_step_learn(rate_step_usual_t *learned, double value, double weight, bool at_ease);

/* How many times as long as usual; NAN: not known. */
double rate_step_times(const rate_step_usual_t *learned);

typedef struct {
    double limit; /* batches under way at once; below 1 the share of the time in which one is; 0: not begun */
    double most;
} rate_step_t;

extern const double RATE_STEP_LEAST, RATE_STEP_START;

rate_step_t rate_step_begin(double most);

/* One step; the first one begins. for the pressure (0 to 1) of the time since the last one. True: the load
 * slows down (more). */
bool rate_step_step(rate_step_t *pace, double pressure);

/* The pressure that batches tell of which take so many times as long as usual. */
double rate_step_batches(double times);

#endif
