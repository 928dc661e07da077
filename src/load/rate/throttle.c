#include "load/rate/throttle.h"
#include "base/clock.h"
#include "base/stop.h"
#include "base/threads.h"
#include "load/rate/rate_step.h"

#include <pthread.h>
#include <stdlib.h>

static const int64_t KEPT_NS = 100000000, LOOK_UP_NS = 50000000, LONGEST_REST_NS = 1000000000,
                     STEP_NS = 500000000;

/* ---- the bucket ---- */

bucket_t bucket_new(uint64_t per_second, int64_t now_ns) {
    return (bucket_t){.ns_each = 1e9 / (double)per_second, .paid_ns = now_ns};
}

int64_t bucket_pay(bucket_t *bucket, uint64_t cost, int64_t now_ns) {
    if (bucket->paid_ns < now_ns - KEPT_NS)
        bucket->paid_ns = now_ns - KEPT_NS;
    double takes = (double)cost * bucket->ns_each, most = (double)(INT64_MAX / 2 - bucket->paid_ns);
    bucket->paid_ns += 1 + (int64_t)(takes < most ? takes : most);
    return bucket->paid_ns;
}

/* ---- lines of threads ---- */

typedef struct waiter {
    pthread_cond_t woken;
    struct waiter *next;
} waiter_t;

typedef struct {
    waiter_t *first, *last;
} line_t;

typedef struct {
    line_t line;
    rate_step_t step;
    uint32_t under_way, waiting, largest; /* documents of the largest batch */
    int64_t rests_ns;                     /* nothing goes before this */
    int64_t stepped_ns;                   /* since then: */
    int64_t took_ns, answered;            /* batches, all of them together */
} gate_t;

struct throttle {
    pthread_mutex_t lock;
    bool closed, has_rate, bytes;
    bucket_t bucket;
    line_t line; /* for the bucket */
    throttle_waited_t waited;
    size_t place_count;
    gate_t gates[];
};

static bool over(const throttle_t *throttle) {
    return throttle->closed || stop_signal();
}

static void wake_first(const line_t *line) {
    if (line->first)
        pthread_cond_signal(&line->first->woken);
}

/* To the end of the line; back when it is this thread's turn. */
static void stand_in(throttle_t *throttle, line_t *line, waiter_t *me) {
    condition_init(&me->woken);
    me->next = NULL;
    if (line->last)
        line->last->next = me;
    else
        line->first = me;
    line->last = me;
    while (line->first != me)
        pthread_cond_wait(&me->woken, &throttle->lock);
}

static void stand_out(line_t *line, waiter_t *me) {
    line->first = me->next;
    if (!line->first)
        line->last = NULL;
    pthread_cond_destroy(&me->woken);
    wake_first(line);
}

/* The first in a line waits, until the moment or until it is woken, and never long without looking up. */
static void wait_until(throttle_t *throttle, waiter_t *me, int64_t now, int64_t moment) {
    int64_t until = moment - now < LOOK_UP_NS ? moment : now + LOOK_UP_NS;
    condition_wait_until(&me->woken, &throttle->lock, until);
}

/* ---- the two gates that a batch passes ---- */

/* When the next one may go to this place; INT64_MAX: when another has come back. */
static int64_t free_from(const gate_t *gate) {
    uint32_t most = gate->step.limit < 1 ? 1 : (uint32_t)gate->step.limit;
    return gate->under_way >= most ? INT64_MAX : gate->rests_ns;
}

static bool pass_gate(throttle_t *throttle, gate_t *gate, int64_t *now) {
    int64_t came = *now, moment = 0;
    waiter_t me;
    gate->waiting++;
    stand_in(throttle, &gate->line, &me);
    for (*now = clock_now_ns(); (moment = free_from(gate)) > *now && !over(throttle); *now = clock_now_ns())
        wait_until(throttle, &me, *now, moment);
    bool pass = moment <= *now;
    gate->under_way += pass;
    stand_out(&gate->line, &me);
    gate->waiting--;
    throttle->waited.for_limits_ns += *now - came;
    return pass;
}

static bool pay(throttle_t *throttle, uint64_t cost, int64_t *now) {
    int64_t came = *now;
    waiter_t me;
    stand_in(throttle, &throttle->line, &me);
    *now = clock_now_ns();
    int64_t moment = over(throttle) ? INT64_MAX : bucket_pay(&throttle->bucket, cost, *now);
    for (; *now < moment && !over(throttle); *now = clock_now_ns())
        wait_until(throttle, &me, *now, moment);
    stand_out(&throttle->line, &me);
    throttle->waited.for_rate_ns += *now - came;
    return *now >= moment;
}

static void leave_gate(gate_t *gate) {
    gate->under_way--;
    wake_first(&gate->line);
}

bool throttle_enter(throttle_t *throttle, size_t place, uint32_t documents, uint64_t bytes,
                    int64_t *began_ns) {
    gate_t *gate = place < throttle->place_count ? &throttle->gates[place] : NULL;
    *began_ns = clock_now_ns();
    pthread_mutex_lock(&throttle->lock);
    bool pass = !throttle->closed && (!gate || pass_gate(throttle, gate, began_ns));
    if (pass && throttle->has_rate && !pay(throttle, throttle->bytes ? bytes : documents, began_ns)) {
        pass = false;
        if (gate)
            leave_gate(gate);
    }
    pthread_mutex_unlock(&throttle->lock);
    return pass;
}

void throttle_leave(throttle_t *throttle, size_t place, int64_t began_ns, uint32_t documents) {
    if (place >= throttle->place_count)
        return;
    gate_t *gate = &throttle->gates[place];
    pthread_mutex_lock(&throttle->lock);
    const int64_t now = clock_now_ns(), took = now - began_ns;
    if (documents > gate->largest)
        gate->largest = documents;
    if (documents >= gate->largest / 2) { /* the time of a short batch says little */
        gate->took_ns += took;
        gate->answered++;
    }
    if (gate->answered && now - gate->stepped_ns >= STEP_NS) {
        rate_step(&gate->step, (double)gate->took_ns / (double)gate->answered);
        gate->took_ns = gate->answered = 0;
        gate->stepped_ns = now;
    }
    if (gate->step.limit < 1) {
        double rest = (double)took * (1 / gate->step.limit - 1);
        gate->rests_ns = now + (rest < (double)LONGEST_REST_NS ? (int64_t)rest : LONGEST_REST_NS);
    }
    leave_gate(gate);
    pthread_mutex_unlock(&throttle->lock);
}

/* ---- what it came to ---- */

throttle_place_t throttle_place(throttle_t *throttle, size_t place) {
    const gate_t *gate = &throttle->gates[place];
    pthread_mutex_lock(&throttle->lock);
    const throttle_place_t found = {gate->step.limit, gate->step.worst, gate->waiting};
    pthread_mutex_unlock(&throttle->lock);
    return found;
}

throttle_waited_t throttle_waited(throttle_t *throttle) {
    pthread_mutex_lock(&throttle->lock);
    const throttle_waited_t waited = throttle->waited;
    pthread_mutex_unlock(&throttle->lock);
    return waited;
}

throttle_t *throttle_new(const throttle_options_t *options) {
    throttle_t *throttle = calloc(1, sizeof *throttle + options->places * sizeof *throttle->gates);
    if (!throttle)
        return NULL;
    pthread_mutex_init(&throttle->lock, NULL);
    throttle->has_rate = options->per_second > 0;
    throttle->bytes = options->bytes;
    if (throttle->has_rate)
        throttle->bucket = bucket_new(options->per_second, clock_now_ns());
    throttle->place_count = options->places;
    for (size_t i = 0; i < options->places; i++) {
        throttle->gates[i].step = rate_step_begin(options->limit, options->most);
        throttle->gates[i].stepped_ns = clock_now_ns();
    }
    return throttle;
}

void throttle_free(throttle_t *throttle) {
    if (!throttle)
        return;
    pthread_mutex_destroy(&throttle->lock);
    free(throttle);
}

void throttle_close(throttle_t *throttle) {
    if (!throttle)
        return;
    pthread_mutex_lock(&throttle->lock);
    throttle->closed = true;
    wake_first(&throttle->line);
    for (size_t i = 0; i < throttle->place_count; i++)
        wake_first(&throttle->gates[i].line);
    pthread_mutex_unlock(&throttle->lock);
}
