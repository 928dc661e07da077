/* threads: what threads hand each other and how they end together.
 *
 * A pool is the memory of a load: buffers under one budget. A thread that asks for more than is left waits until another
 * thread gives a buffer back. Two rules keep it from waiting for ever: one buffer is always granted, and one buffer at a
 * time may be larger than the budget. A thread that holds batches checks pool_is_short and sends them early.
 *
 * A team is the threads that work on one thing: they are started one by one, share the first failure of any of them, and
 * are joined together. team_start and team_join belong to one thread; all other functions may be called by any. */
#ifndef TIPPLE_BASE_THREADS_H
#define TIPPLE_BASE_THREADS_H

#include "base/err.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- memory under one budget ---- */

/* Bytes before and after a buffer's text that may be read, but mean nothing: records are read in whole words. */
enum { POOL_SLACK = 64 };

typedef struct {
    uint8_t *bytes; /* capacity bytes, with POOL_SLACK readable bytes on either side */
    size_t capacity;
} buffer_t;

typedef struct pool pool_t;

/* Buffers of usual_bytes are kept and reused; others are freed when given back. NULL: out of memory. */
pool_t *pool_new(uint64_t budget_bytes, size_t usual_bytes);
void pool_destroy(pool_t *pool);

/* Takes a buffer of at least `bytes`, and waits for the budget. False: the pool was closed, or memory is out
 * (see pool_closed). One buffer is always granted, however small the budget. */
bool pool_take(pool_t *pool, size_t bytes, buffer_t *buffer);
/* Waits until such a buffer would be granted, or the pool is closed. */
void pool_wait(pool_t *pool, size_t bytes);

/* Copies the text of a held buffer from `at` to `used` into a buffer of its own. Never waits: a thread that holds a
 * buffer and waits for another may wait for itself. During the copy both buffers may be over the budget. False: memory
 * is out; the buffer is unchanged. */
bool pool_split(pool_t *pool, buffer_t *buffer, size_t at, size_t used, buffer_t *rest);

/* Makes a held buffer larger and keeps its first `used` bytes. What does not fit in the budget waits until it does, or
 * until no other buffer is over the budget: one buffer at a time may be over it, however large, and may continue to
 * grow. So some thread can always continue, as long as each buffer that is over the budget is given back without
 * waiting for another thread's growth. A thread must not hold such a buffer while it grows another. False: the pool was
 * closed, or memory is out; the buffer is unchanged. */
bool pool_grow(pool_t *pool, buffer_t *buffer, size_t used, size_t bytes);

/* Makes a held buffer that is much larger than its `used` bytes as small as they are, if memory allows. Never waits. */
void pool_shrink(pool_t *pool, buffer_t *buffer, size_t used);

void pool_give(pool_t *pool, buffer_t *buffer);

uint64_t pool_held(pool_t *pool); /* bytes of buffers that were taken, and not given back */

/* Does a thread wait for memory? */
bool pool_is_short(pool_t *pool);

/* Wakes all waiting threads; their calls return false. */
void pool_close(pool_t *pool);
bool pool_closed(pool_t *pool);

/* ---- waiting until a time ---- */

/* A condition whose waits end by clock_now_ns; not by pthread_cond_clockwait, which glibc has only since 2.30. */
void condition_init(pthread_cond_t *condition);

/* Waits with the lock held, which the wait gives up meanwhile. True: until_ns has come. */
bool condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ns);

/* ---- threads that work together ---- */

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

/* Calls work(context), which shares out the work itself, in this thread and at most `others` more: as many as this host has
 * CPUs for, and 7 at most, unless the work mostly waits. Returns when all calls have. Fewer threads are no failure. */
void team_share(void *(*work)(void *context), void *context, size_t others, bool waits);

/* Waits until all threads have ended, and frees what the team holds. False: the team has failed, and *err says why. */
bool team_join(team_t *team, err_t *err);

#endif
