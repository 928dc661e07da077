#include "load/feed/feeder.h"

#include <stdlib.h>

struct hand_out {
    load_file_t *files;
    size_t file_count;
    load_state_t *loading;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t added;
    size_t *numbers;            /* a ring: each piece waits at most once, */
    bool *waits;                /* also if it was lost while it waited, and taken again */
    size_t head, count, staged; /* staged: pieces after them, not to be given out yet */
    uint32_t feeders, waiting;
    bool closed;
};

hand_out_t *hand_out_new(load_file_t *files, size_t count, uint32_t feeders, load_state_t *loading) {
    hand_out_t *hand_out = calloc(1, sizeof *hand_out);
    if (!hand_out || !(hand_out->numbers = calloc(count + 1, sizeof *hand_out->numbers)) ||
        !(hand_out->waits = calloc(count + 1, sizeof *hand_out->waits))) {
        free(hand_out ? hand_out->numbers : NULL);
        free(hand_out);
        return NULL;
    }
    hand_out->files = files;
    hand_out->file_count = count;
    hand_out->feeders = feeders;
    hand_out->loading = loading;
    pthread_mutex_init(&hand_out->lock, NULL);
    pthread_cond_init(&hand_out->added, NULL);
    return hand_out;
}

void hand_out_free(hand_out_t *hand_out) {
    if (!hand_out)
        return;
    pthread_mutex_destroy(&hand_out->lock);
    pthread_cond_destroy(&hand_out->added);
    free(hand_out->numbers);
    free(hand_out->waits);
    free(hand_out);
}

void hand_out_add(hand_out_t *hand_out, size_t number, bool more) {
    pthread_mutex_lock(&hand_out->lock);
    if (!hand_out->waits[number]) {
        const size_t at = hand_out->head + hand_out->count + hand_out->staged++;
        hand_out->numbers[at % (hand_out->file_count + 1)] = number;
        hand_out->waits[number] = true;
    }
    if (!more) {
        hand_out->count += hand_out->staged;
        hand_out->staged = 0;
        pthread_cond_signal(&hand_out->added);
    }
    pthread_mutex_unlock(&hand_out->lock);
}

static size_t take_first(hand_out_t *hand_out) {
    const size_t number = hand_out->numbers[hand_out->head];
    hand_out->head = (hand_out->head + 1) % (hand_out->file_count + 1);
    hand_out->count--;
    hand_out->waits[number] = false;
    return number;
}

static bool are_of_one_stream(const hand_out_t *hand_out, size_t a, size_t b) {
    const input_file_t *left = hand_out->files[a].input, *right = hand_out->files[b].input;
    return input_is_in_stream(left) && input_is_in_stream(right) && left->archive == right->archive;
}

/* Called with the lock, which is released meanwhile. The last feeder that waits says that nothing is on its way. */
static void wait_for_more(hand_out_t *hand_out) {
    if (++hand_out->waiting == hand_out->feeders) {
        pthread_mutex_unlock(&hand_out->lock);
        queue_drain(hand_out->loading->pipeline.queue);
        pthread_mutex_lock(&hand_out->loading->lock);
        pthread_cond_signal(&hand_out->loading->changed);
        pthread_mutex_unlock(&hand_out->loading->lock);
        pthread_mutex_lock(&hand_out->lock);
    }
    while (!hand_out->count && !hand_out->closed)
        pthread_cond_wait(&hand_out->added, &hand_out->lock);
    hand_out->waiting--;
}

static bool next(hand_out_t *hand_out, bool waits, size_t *first, size_t *end) {
    pthread_mutex_lock(&hand_out->lock);
    while (waits && !hand_out->count && !hand_out->closed)
        wait_for_more(hand_out);
    const bool given = hand_out->count && !hand_out->closed;
    if (given) {
        *first = take_first(hand_out);
        *end = *first + 1;
        while (hand_out->count && hand_out->numbers[hand_out->head] >= *end &&
               are_of_one_stream(hand_out, *first, hand_out->numbers[hand_out->head]))
            *end = take_first(hand_out) + 1;
    }
    pthread_mutex_unlock(&hand_out->lock);
    return given;
}

bool hand_out_next(hand_out_t *hand_out, size_t *first, size_t *end) {
    return next(hand_out, true, first, end);
}

bool hand_out_try(hand_out_t *hand_out, size_t *first, size_t *end) {
    return next(hand_out, false, first, end);
}

void hand_out_close(hand_out_t *hand_out) {
    if (!hand_out)
        return;
    pthread_mutex_lock(&hand_out->lock);
    hand_out->closed = true;
    pthread_cond_broadcast(&hand_out->added);
    pthread_mutex_unlock(&hand_out->lock);
}

size_t hand_out_waiting(hand_out_t *hand_out, bool *idle) {
    pthread_mutex_lock(&hand_out->lock);
    const size_t count = hand_out->count;
    *idle = hand_out->waiting > 0;
    pthread_mutex_unlock(&hand_out->lock);
    return count;
}

bool hand_out_is_idle(hand_out_t *hand_out) {
    pthread_mutex_lock(&hand_out->lock);
    const bool idle = !hand_out->count && hand_out->waiting == hand_out->feeders;
    pthread_mutex_unlock(&hand_out->lock);
    return idle;
}
