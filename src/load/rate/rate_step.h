/* rate_step: the rule of --max-rate auto, without clocks: how many batches may be under way to one place (a shard). The
 * number grows slowly while batches take about as long as usual, and shrinks at once when they take longer. A batch is
 * answered when the majority has it, so its time includes replication lag. */
#ifndef TIPPLE_LOAD_RATE_RATE_STEP_H
#define TIPPLE_LOAD_RATE_RATE_STEP_H

typedef struct {
    double limit; /* batches under way at once; below 1 the share of the time in which one is */
    double most;
    double usual,
        now;      /* what a batch takes while the load is as good as not there, and lately; 0: not known */
    double worst; /* times the usual when the limit shrank most; 0: it never shrank */
} rate_step_t;

extern const double RATE_STEP_LEAST, RATE_STEP_START;

rate_step_t rate_step_begin(double limit, double most);

/* One step: what batches took on average since the last one. */
void rate_step(rate_step_t *step, double took);

#endif
