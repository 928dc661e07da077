/* team: threads that work on one thing. They are started one by one, share the first failure of any of them, and are
 * joined together. team_start and team_join belong to one thread, the other functions to all. */
#ifndef TIPPLE_BASE_THREADS_TEAM_H
#define TIPPLE_BASE_THREADS_TEAM_H

#include "base/err.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct {
    pthread_t *threads;
    size_t count, room;
    pthread_mutex_t lock;
    atomic_bool failed;
    err_t err; /* the first failure */
} team_t;

void team_init(team_t *team);

/* Starts one more thread. False: status 8, with `remedy`, such as "lower --threads". The team itself has not failed
 * then. */
bool team_start(team_t *team, void *(*work)(void *context), void *context, const char *remedy, err_t *err);

/* Says that the work cannot succeed any more. Only the first failure is kept. */
void team_fail(team_t *team, const err_t *err);
bool team_failed(team_t *team);

/* Waits until all threads have ended, and frees what the team holds. False: the team has failed, and *err says why. */
bool team_join(team_t *team, err_t *err);

#endif
