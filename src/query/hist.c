/* hist: times are added while queries run, and read when they have ended. */
#include "query/hist.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void moments_add(moments_t *moments, double value) {
    double from_mean = value - moments->mean;
    moments->mean += from_mean / (double)++moments->count;
    moments->squares += from_mean * (value - moments->mean);
}

void moments_merge(moments_t *to, const moments_t *from) {
    double a = (double)to->count, b = (double)from->count, apart = from->mean - to->mean;
    if (!from->count)
        return;
    to->mean += apart * b / (a + b);
    to->squares += from->squares + apart * apart * a * b / (a + b);
    to->count += from->count;
}

double moments_sd(const moments_t *moments) {
    return moments->count < 2 ? NAN : sqrt(moments->squares / (double)(moments->count - 1));
}

/* ---- how long ---- */

/* Times below HIST_STEPS have a bucket each. Above that, the highest bits within an octave are the step. */
static size_t bucket_of(uint64_t ns) {
    const uint64_t steps = HIST_STEPS;
    if (ns < steps)
        return (size_t)ns;
    int octave = 63 - __builtin_clzll(ns) - __builtin_ctz(HIST_STEPS); /* from 0 */
    size_t bucket = steps * ((size_t)octave + 1) + (size_t)((ns >> octave) - steps);
    return bucket < HIST_BUCKETS ? bucket : HIST_BUCKETS - 1;
}

int64_t hist_bucket_ns(size_t bucket) {
    return bucket < HIST_STEPS ? (int64_t)bucket
                               : (int64_t)(HIST_STEPS + bucket % HIST_STEPS) << (bucket / HIST_STEPS - 1);
}

void hist_add(hist_t *hist, int64_t ns) {
    ns = ns < 0 ? 0 : ns;
    if (!hist->moments.count || ns < hist->least_ns)
        hist->least_ns = ns;
    if (ns > hist->most_ns)
        hist->most_ns = ns;
    moments_add(&hist->moments, (double)ns);
    hist->buckets[bucket_of((uint64_t)ns)]++;
}

void hist_merge(hist_t *to, const hist_t *from) {
    to->beyond += from->beyond;
    if (!from->moments.count)
        return;
    if (!to->moments.count || from->least_ns < to->least_ns)
        to->least_ns = from->least_ns;
    if (from->most_ns > to->most_ns)
        to->most_ns = from->most_ns;
    moments_merge(&to->moments, &from->moments);
    for (size_t i = 0; i < HIST_BUCKETS; i++)
        to->buckets[i] += from->buckets[i];
}

/* Of all times in order, the one at this place, from 0: the middle of its bucket. NAN: it is one of those beyond. */
static double time_at(const hist_t *hist, uint64_t at) {
    uint64_t seen = 0;
    for (size_t i = 0; i < HIST_BUCKETS; i++)
        if ((seen += hist->buckets[i]) > at) {
            const double from = (double)hist_bucket_ns(i), upto = (double)hist_bucket_ns(i + 1),
                         middle = i < HIST_STEPS ? from : (from + upto) / 2;
            return fmin(fmax(middle, (double)hist->least_ns), (double)hist->most_ns);
        }
    return NAN;
}

double hist_quantile_ns(const hist_t *hist, double share) {
    const double all = (double)(hist->moments.count + hist->beyond);
    const double place = share * (all - 1), below = floor(place);
    if (all < 2 || all * (1 - share) < 1)
        return NAN;
    const double least = time_at(hist, (uint64_t)below), most = time_at(hist, (uint64_t)ceil(place));
    return least + (most - least) * (place - below);
}

interval_t hist_interval_ns(const hist_t *hist, double share) {
    static const double SIDE = 0.025,
                        DEVIATIONS = 1.959964; /* of a normal distribution, which the ranks come near */
    const double all = (double)(hist->moments.count + hist->beyond),
                 half = DEVIATIONS * sqrt(all * share * (1 - share)), low = floor(all * share - half),
                 high = ceil(all * share + half);
    const bool told_low = pow(1 - share, all) <= SIDE, told_high = pow(share, all) <= SIDE;
    return (interval_t){told_low ? time_at(hist, (uint64_t)fmax(low, 1) - 1) : NAN,
                        told_high ? time_at(hist, (uint64_t)fmin(high, all) - 1) : NAN};
}

/* ---- when ---- */

static void add_slot(slot_t *to, const slot_t *from) {
    to->count += from->count;
    to->sum_ns += from->sum_ns;
    if (from->most_ns > to->most_ns)
        to->most_ns = from->most_ns;
}

size_t course_reach(course_t *course, int64_t until_ns) {
    course->width_ns = course->width_ns ? course->width_ns : COURSE_SHORTEST_NS;
    for (; until_ns / course->width_ns >= COURSE_SLOTS; course->width_ns *= 2) {
        slot_t slots[COURSE_SLOTS] = {{0}};
        for (size_t i = 0; i < COURSE_SLOTS; i++)
            add_slot(&slots[i / 2], &course->slots[i]);
        memcpy(course->slots, slots, sizeof slots);
    }
    return (size_t)(until_ns / course->width_ns) + 1;
}

static void put(course_t *course, int64_t when_ns, const slot_t *slot) {
    const size_t slots = course_reach(course, when_ns);
    add_slot(&course->slots[slots - 1], slot);
}

void course_add(course_t *course, int64_t when_ns, int64_t took_ns) {
    put(course, when_ns, &(slot_t){1, (double)took_ns, took_ns});
}

/* If *to is finer, the slots of *from go to the first of those that they cover; so it is widened before. */
void course_merge(course_t *to, const course_t *from) {
    if (from->width_ns)
        course_reach(to, (COURSE_SLOTS - 1) * from->width_ns);
    for (size_t i = 0; i < COURSE_SLOTS; i++)
        if (from->slots[i].count)
            put(to, (int64_t)i * from->width_ns, &from->slots[i]);
}
