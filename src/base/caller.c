#include "base/caller.h"
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>

static const int64_t PROGRESS_NS = 200000000;

static _Thread_local caller_t *current;

typedef struct {
    caller_t *caller;
    void *(*work)(void *context);
    void *context;
} started_t;

void caller_init(caller_t *caller) {
    *caller = (caller_t){.hear = NULL};
    pthread_mutex_init(&caller->lock, NULL);
}

void caller_free(caller_t *caller) {
    pthread_mutex_destroy(&caller->lock);
}

caller_t *caller_current(void) {
    return current;
}

void caller_set(caller_t *caller) {
    current = caller;
}

static void *start(void *context) {
    const started_t started = *(started_t *)context;
    free(context);
    current = started.caller;
    return started.work(started.context);
}

int caller_start_thread(pthread_t *thread, void *(*work)(void *context), void *context) {
    if (!current)
        return pthread_create(thread, NULL, work, context);
    started_t *started = malloc(sizeof *started);
    if (!started)
        return ENOMEM;
    *started = (started_t){current, work, context};
    const int failure = pthread_create(thread, NULL, start, started);
    if (failure)
        free(started);
    return failure;
}

void caller_hear(caller_t *caller, log_level_t level, const char *line) {
    if (!caller->hear)
        return;
    pthread_mutex_lock(&caller->lock);
    caller->hear(caller->hear_context, level, line);
    pthread_mutex_unlock(&caller->lock);
}

void caller_tell_progress(uint64_t documents, uint64_t bytes) {
    caller_t *caller = current;
    const int64_t now_ns = clock_now_ns();
    if (!caller || !caller->progress)
        return;
    pthread_mutex_lock(&caller->lock);
    if (now_ns - caller->told_ns >= PROGRESS_NS) {
        caller->told_ns = now_ns;
        caller->progress(caller->progress_context, documents, bytes);
    }
    pthread_mutex_unlock(&caller->lock);
}
