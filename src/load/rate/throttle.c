/* A batch passes two gates, at which threads stand in line: the limit of its place (pass_gate), then the rate (pay). */
#include "load/rate/throttle.h"
#include "base/clock.h"
#include "base/stop.h"
#include "base/threads.h"

#include <math.h>
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
    int64_t rests_ns;                     /* no batch goes before this */
    int64_t stepped_ns;                   /* the last step; since then: */
    int64_t took_ns, answered;            /* time of all batches, and their number */
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

/* Joins the end of the line, and returns when it is this thread's turn. */
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

/* Waits, as the first in a line, for the moment or to be woken; at most LOOK_UP_NS, to check for a stop signal. */
static void wait_until(throttle_t *throttle, waiter_t *me, int64_t now, int64_t moment) {
    int64_t until = moment - now < LOOK_UP_NS ? moment : now + LOOK_UP_NS;
    condition_wait_until(&me->woken, &throttle->lock, until);
}

/* ---- the two gates that a batch passes ---- */

/* Returns when the next batch may go to this place; INT64_MAX: after another has come back. */
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

/* ---- figures, begin and end ---- */

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

/* ---- rate_step ---- */

const double RATE_STEP_LEAST = 0.05, RATE_STEP_START = 0.25;

/* Below GROW times the usual time the limit grows, from SHRINK times on it shrinks; in between it stays. */
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

/* ---- traffic ---- */

typedef struct {
    traffic_figures_t figures;
    uint32_t under_way;
    int64_t since_ns; /* when under_way rose from 0 */
} collection_t;

struct traffic {
    pthread_mutex_t lock;
    size_t count;
    collection_t places[];
};

traffic_t *traffic_new(size_t places) {
    traffic_t *traffic = calloc(1, sizeof *traffic + places * sizeof *traffic->places);
    if (!traffic)
        return NULL;
    pthread_mutex_init(&traffic->lock, NULL);
    traffic->count = places;
    return traffic;
}

void traffic_free(traffic_t *traffic) {
    if (traffic)
        pthread_mutex_destroy(&traffic->lock);
    free(traffic);
}

int64_t traffic_begin(traffic_t *traffic, size_t at) {
    collection_t *place = &traffic->places[at];
    pthread_mutex_lock(&traffic->lock);
    int64_t now = clock_now_ns();
    if (place->under_way++ == 0)
        place->since_ns = now;
    if (place->under_way > place->figures.most)
        place->figures.most = place->under_way;
    pthread_mutex_unlock(&traffic->lock);
    return now;
}

void traffic_end(traffic_t *traffic, size_t at, int64_t began_ns) {
    collection_t *place = &traffic->places[at];
    pthread_mutex_lock(&traffic->lock);
    int64_t now = clock_now_ns();
    place->figures.batches++;
    place->figures.waiting_ns += now - began_ns;
    if (--place->under_way == 0)
        place->figures.busy_ns += now - place->since_ns;
    pthread_mutex_unlock(&traffic->lock);
}

void traffic_add(traffic_t *traffic, size_t at, uint64_t documents) {
    pthread_mutex_lock(&traffic->lock);
    traffic->places[at].figures.documents += documents;
    pthread_mutex_unlock(&traffic->lock);
}

traffic_figures_t traffic_figures(traffic_t *traffic, size_t at) {
    pthread_mutex_lock(&traffic->lock);
    const collection_t *place = &traffic->places[at];
    traffic_figures_t figures = place->figures;
    if (place->under_way)
        figures.busy_ns += clock_now_ns() - place->since_ns;
    pthread_mutex_unlock(&traffic->lock);
    return figures;
}
