#include "input/file/pushed.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pushed {
    pthread_mutex_t lock;
    pthread_cond_t come, gone; /* bytes */
    size_t room, at, count;    /* bytes are at[count], around the end */
    bool ended, left;
    uint8_t bytes[];
};

pushed_t *pushed_new(size_t room) {
    pushed_t *pushed = malloc(sizeof *pushed + room);
    if (!pushed)
        return NULL;
    memset(pushed, 0, sizeof *pushed);
    pushed->room = room;
    pthread_mutex_init(&pushed->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pushed->come, &monotonic);
    pthread_cond_init(&pushed->gone, NULL);
    pthread_condattr_destroy(&monotonic);
    return pushed;
}

void pushed_free(pushed_t *pushed) {
    if (!pushed)
        return;
    pthread_cond_destroy(&pushed->come);
    pthread_cond_destroy(&pushed->gone);
    pthread_mutex_destroy(&pushed->lock);
    free(pushed);
}

static size_t least(size_t one, size_t other) {
    return one < other ? one : other;
}

static size_t put_some(pushed_t *pushed, const uint8_t *bytes, size_t length) {
    const size_t size = least(length, pushed->room - pushed->count);
    const size_t to = (pushed->at + pushed->count) % pushed->room, first = least(size, pushed->room - to);
    if (first)
        memcpy(pushed->bytes + to, bytes, first);
    if (size > first)
        memcpy(pushed->bytes, bytes + first, size - first);
    if (size && !pushed->count)
        pthread_cond_signal(&pushed->come);
    pushed->count += size;
    return size;
}

bool pushed_put(pushed_t *pushed, const void *bytes, size_t length) {
    pthread_mutex_lock(&pushed->lock);
    for (size_t done = 0; !pushed->left && done < length;) {
        done += put_some(pushed, (const uint8_t *)bytes + done, length - done);
        if (done < length)
            pthread_cond_wait(&pushed->gone, &pushed->lock);
    }
    const bool ok = !pushed->left;
    pthread_mutex_unlock(&pushed->lock);
    return ok;
}

void pushed_end(pushed_t *pushed) {
    pthread_mutex_lock(&pushed->lock);
    pushed->ended = true;
    pthread_cond_signal(&pushed->come);
    pthread_mutex_unlock(&pushed->lock);
}

int pushed_wait(pushed_t *pushed, int milliseconds) {
    const struct timespec until = clock_to_timespec(clock_now_ns() + milliseconds * INT64_C(1000000));
    int failure = 0;
    pthread_mutex_lock(&pushed->lock);
    while (!pushed->count && !pushed->ended && !failure)
        failure = pthread_cond_timedwait(&pushed->come, &pushed->lock, &until);
    const int ready = pushed->count || pushed->ended;
    pthread_mutex_unlock(&pushed->lock);
    return ready;
}

ssize_t pushed_take(pushed_t *pushed, void *out, size_t size) {
    pthread_mutex_lock(&pushed->lock);
    size = least(size, pushed->count);
    const size_t first = least(size, pushed->room - pushed->at);
    memcpy(out, pushed->bytes + pushed->at, first);
    memcpy((uint8_t *)out + first, pushed->bytes, size - first);
    pushed->at = (pushed->at + size) % pushed->room;
    pushed->count -= size;
    if (size)
        pthread_cond_signal(&pushed->gone);
    pthread_mutex_unlock(&pushed->lock);
    return (ssize_t)size;
}

void pushed_leave(pushed_t *pushed) {
    pthread_mutex_lock(&pushed->lock);
    pushed->left = true;
    pthread_cond_signal(&pushed->gone);
    pthread_mutex_unlock(&pushed->lock);
}
