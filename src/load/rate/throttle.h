/* throttle: makes loader threads wait. A thread asks before it sends a batch, and tells when it has the reply. There are
 * two reasons to wait: the rate of --max-rate N, for all threads together; and with --max-rate auto, for each place (a
 * shard, as in traffic), a limit of batches under way, which is set twice a second by the time that batches take
 * (rate_step). Threads go in the order in which they came. A thread is woken when it is its turn; the first in a line
 * also wakes now and then, to look for a stop signal. */
#ifndef TIPPLE_LOAD_RATE_THROTTLE_H
#define TIPPLE_LOAD_RATE_THROTTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the rate: a bucket that fills by the clock ---- */

typedef struct {
    double ns_each;  /* that one document, or byte, takes at this rate */
    int64_t paid_ns; /* everything that was sent is paid for up to this moment */
} bucket_t;

/* Pays for `cost`, and gives the moment from which on it may be sent. From the moment that a bucket was made
 * with, no more is ever sent than the rate allows; what was not used is kept for a tenth of a second only. */
bucket_t bucket_new(uint64_t per_second, int64_t now_ns);
int64_t bucket_pay(bucket_t *bucket, uint64_t cost, int64_t now_ns);

/* ---- what threads share ---- */

typedef struct {
    uint64_t per_second; /* 0: no rate */
    bool bytes;          /* a second; else documents */
    size_t places;       /* that have a limit; 0: none has */
    double limit, most;  /* of each place: to begin with, and ever */
} throttle_options_t;

typedef struct throttle throttle_t;

throttle_t *throttle_new(const throttle_options_t *options); /* NULL: out of memory */
void throttle_free(throttle_t *throttle);                    /* NULL is allowed */

/* Nobody waits any more, and nobody is let through: the load has failed. NULL is allowed. */
void throttle_close(throttle_t *throttle);

/* Waits until a batch may go to the place, and gives the moment at which it does. False: it must not go,
 * because a signal asked to stop or the throttle was closed, and it would have had to wait. Each true is
 * followed by throttle_leave, with or without a reply. */
bool throttle_enter(throttle_t *throttle, size_t place, uint32_t documents, uint64_t bytes,
                    int64_t *began_ns);
void throttle_leave(throttle_t *throttle, size_t place, int64_t began_ns, uint32_t documents);

typedef struct {
    double limit; /* how many batches may be under way at once: see rate_step_t */
    /* how many times as long as usual batches took when the limit shrank most; 0: it never did */
    double worst;
    uint32_t waiting; /* threads */
} throttle_place_t;
throttle_place_t throttle_place(throttle_t *throttle, size_t place);

/* Thread time that went by waiting, since the start. */
typedef struct {
    int64_t for_rate_ns, for_limits_ns;
} throttle_waited_t;
throttle_waited_t throttle_waited(throttle_t *throttle);

#endif
