/* throttle: makes loader threads wait. A thread asks before it sends a batch (throttle_enter), and reports the reply
 * (throttle_leave). There are two reasons to wait: the rate of --max-rate N, for all threads together; and with --max-rate auto,
 * for each place (a shard, as in traffic), a limit of batches under way, which is set twice a second by the time that batches take
 * (rate_step). Threads go in the order in which they came. A thread is woken when it is its turn; the first in a line also wakes
 * now and then, to check for a stop signal. traffic counts what is under way. Both are for any thread. */
#ifndef TIPPLE_LOAD_RATE_THROTTLE_H
#define TIPPLE_LOAD_RATE_THROTTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the rate: a bucket that fills by the clock ---- */

typedef struct {
    double ns_each;  /* time of one document, or byte, at this rate */
    int64_t paid_ns; /* all that was sent is paid for up to this moment */
} bucket_t;

/* Pays for `cost`, and returns the moment from which on that may be sent. Since a bucket was made, no more is ever sent than the
 * rate allows; what was not used is kept for a tenth of a second only. */
bucket_t bucket_new(uint64_t per_second, int64_t now_ns);
int64_t bucket_pay(bucket_t *bucket, uint64_t cost, int64_t now_ns);

/* ---- what threads share ---- */

typedef struct {
    uint64_t per_second; /* 0: no rate */
    bool bytes;          /* the rate counts bytes; else documents */
    size_t places;       /* places with a limit; 0: none */
    double limit, most;  /* of each place: the first limit, and the highest */
} throttle_options_t;

typedef struct throttle throttle_t;

throttle_t *throttle_new(const throttle_options_t *options); /* NULL: out of memory */
void throttle_free(throttle_t *throttle);                    /* NULL is allowed */

/* Ends all waits, and lets no batch through any more: the load has failed. NULL is allowed. */
void throttle_close(throttle_t *throttle);

/* Waits until a batch may go to the place; *began_ns is that moment. False: the throttle was closed or a signal asked to stop.
 * Each true is followed by throttle_leave, with or without a reply. */
bool throttle_enter(throttle_t *throttle, size_t place, uint32_t documents, uint64_t bytes,
                    int64_t *began_ns);
void throttle_leave(throttle_t *throttle, size_t place, int64_t began_ns, uint32_t documents);

typedef struct {
    double limit; /* these two: see rate_step_t */
    double worst;
    uint32_t waiting; /* threads */
} throttle_place_t;
throttle_place_t throttle_place(throttle_t *throttle, size_t place);

/* Time that all threads together have waited since the start. */
typedef struct {
    int64_t for_rate_ns, for_limits_ns;
} throttle_waited_t;
throttle_waited_t throttle_waited(throttle_t *throttle);

/* ---- rate_step: the rule of --max-rate auto ----
 *
 * How many batches may be under way to one place: the number grows slowly while batches take about as long as usual, and
 * shrinks at once when they take longer. A batch is answered when the majority has it, so its time includes replication lag. */

typedef struct {
    double limit;      /* batches under way at once; below 1 the share of the time in which one is */
    double most;       /* the limit never exceeds this */
    double usual, now; /* time of a batch while the load is hardly noticed, and lately; 0: not known */
    double worst;      /* times the usual when the limit shrank most; 0: it never shrank */
} rate_step_t;

extern const double RATE_STEP_LEAST, RATE_STEP_START;

rate_step_t rate_step_begin(double limit, double most);

/* Makes one step. took: the average time of batches since the last step. */
void rate_step(rate_step_t *step, double took);

/* ---- traffic: batches under way to each place (shard, router), so that a summary can say which were kept busy ---- */

typedef struct traffic traffic_t;

typedef struct {
    uint64_t batches, documents;
    int64_t busy_ns;    /* at least one batch was under way */
    int64_t waiting_ns; /* all threads together waited for it */
    uint32_t most;      /* batches at once */
} traffic_figures_t;

traffic_t *traffic_new(size_t places); /* NULL: out of memory */
void traffic_free(traffic_t *traffic); /* NULL is allowed */

/* Notes that a batch is sent; returns the moment, for traffic_end. */
int64_t traffic_begin(traffic_t *traffic, size_t place);
void traffic_end(traffic_t *traffic, size_t place, int64_t began_ns);

/* Adds documents that the place has stored. */
void traffic_add(traffic_t *traffic, size_t place, uint64_t documents);

traffic_figures_t traffic_figures(traffic_t *traffic, size_t place);

#endif
