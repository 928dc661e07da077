/* caller: for whom a thread works, where a program runs several loads: who hears what they say, and may ask each of them to
 * stop. A thread without one works for the command: it speaks on stderr, and a signal stops it. */
#ifndef TIPPLE_BASE_CALLER_H
#define TIPPLE_BASE_CALLER_H

#include "base/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    /* Each may be NULL; what is asked of one caller is asked one at a time. */
    void (*hear)(void *context, log_level_t level, const char *line);
    void *hear_context;
    void (*progress)(void *context, uint64_t documents, uint64_t bytes);
    void *progress_context;
    int64_t told_ns; /* when progress was told last */
    pthread_mutex_t lock;
    atomic_bool stops; /* the only thing that other threads set */
} caller_t;

void caller_init(caller_t *caller);
void caller_free(caller_t *caller);

/* The calling thread's, or NULL. */
caller_t *caller_current(void);
void caller_set(caller_t *caller); /* it must live as long as the thread, and all that are started by it */

/* As pthread_create, but the new thread has the caller of this one. */
int caller_start_thread(pthread_t *thread, void *(*work)(void *context), void *context);

void caller_hear(caller_t *caller, log_level_t level, const char *line);

/* Five times a second at most. Without a caller nothing happens. */
void caller_tell_progress(uint64_t documents, uint64_t bytes);

#endif
