#include "base/threads.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- memory under one budget ---- */

typedef struct spare {
    struct spare *next;
} spare_t;

enum { SHRINK_FROM = 8 };

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t given;
    uint64_t budget, out;
    size_t usual;
    spare_t *spares;
    const uint8_t *over; /* the one buffer that is larger than the budget, or NULL */
    atomic_bool closed;
    atomic_int waiting;
};

pool_t *pool_new(uint64_t budget_bytes, size_t usual_bytes) {
    pool_t *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->given, NULL);
    pool->budget = budget_bytes;
    pool->usual = usual_bytes;
    return pool;
}

void pool_destroy(pool_t *pool) {
    if (!pool)
        return;
    while (pool->spares) {
        spare_t *next = pool->spares->next;
        free(pool->spares);
        pool->spares = next;
    }
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->given);
    free(pool);
}

static uint8_t *allocate(size_t capacity) {
    uint8_t *raw = malloc(capacity + 2 * POOL_SLACK);
    if (!raw)
        return NULL;
    memset(raw, 0, POOL_SLACK);
    return raw + POOL_SLACK;
}

/* Locked. False: the pool was closed. */
static bool wait_for(pool_t *pool, size_t capacity) {
    pool->waiting++;
    while (!pool->closed && pool->out && pool->out + capacity > pool->budget)
        pthread_cond_wait(&pool->given, &pool->lock);
    pool->waiting--;
    return !pool->closed;
}

void pool_wait(pool_t *pool, size_t bytes) {
    pthread_mutex_lock(&pool->lock);
    wait_for(pool, bytes);
    pthread_mutex_unlock(&pool->lock);
}

bool pool_take(pool_t *pool, size_t bytes, buffer_t *buffer) {
    size_t capacity = bytes <= pool->usual ? pool->usual : bytes;
    pthread_mutex_lock(&pool->lock);
    const bool closed = !wait_for(pool, capacity);
    uint8_t *reused = NULL;
    if (!closed) {
        pool->out += capacity;
        if (capacity == pool->usual && pool->spares) {
            reused = (uint8_t *)pool->spares;
            pool->spares = pool->spares->next;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    if (closed)
        return false;
    buffer->bytes = reused ? reused + POOL_SLACK : allocate(capacity);
    buffer->capacity = capacity;
    if (buffer->bytes)
        return true;
    pthread_mutex_lock(&pool->lock);
    pool->out -= capacity;
    pthread_mutex_unlock(&pool->lock);
    return false;
}

/* Waits until the budget holds the old and the new buffer together, since both exist while the text is copied. False:
 * the pool was closed. */
static bool wait_to_grow(pool_t *pool, const buffer_t *buffer, size_t bytes) {
    pthread_mutex_lock(&pool->lock);
    pool->waiting++;
    while (!pool->closed && pool->out + bytes > pool->budget && pool->over && pool->over != buffer->bytes)
        pthread_cond_wait(&pool->given, &pool->lock);
    pool->waiting--;
    bool closed = pool->closed;
    if (!closed && pool->out + bytes > pool->budget)
        pool->over = buffer->bytes;
    if (!closed)
        pool->out += bytes;
    pthread_mutex_unlock(&pool->lock);
    return !closed;
}

bool pool_grow(pool_t *pool, buffer_t *buffer, size_t used, size_t bytes) {
    if (bytes <= buffer->capacity)
        return true;
    if (!wait_to_grow(pool, buffer, bytes))
        return false;
    uint8_t *larger = allocate(bytes);
    pthread_mutex_lock(&pool->lock);
    if (!larger)
        pool->out -= bytes;
    else if (pool->over == buffer->bytes)
        pool->over = larger;
    pthread_mutex_unlock(&pool->lock);
    if (!larger)
        return false;
    memcpy(larger, buffer->bytes, used);
    pool_give(pool, buffer);
    *buffer = (buffer_t){larger, bytes};
    return true;
}

bool pool_split(pool_t *pool, buffer_t *buffer, size_t at, size_t used, buffer_t *rest) {
    uint8_t *bytes = allocate(used - at);
    if (!bytes)
        return false;
    memcpy(bytes, buffer->bytes + at, used - at);
    memset(bytes + used - at, 0, POOL_SLACK);
    memset(buffer->bytes + at, 0, POOL_SLACK);
    pthread_mutex_lock(&pool->lock);
    pool->out += used - at;
    pthread_mutex_unlock(&pool->lock);
    *rest = (buffer_t){bytes, used - at};
    pool_shrink(pool, buffer, at);
    return true;
}

void pool_shrink(pool_t *pool, buffer_t *buffer, size_t used) {
    uint8_t *smaller = used < buffer->capacity / SHRINK_FROM ? allocate(used) : NULL;
    if (!smaller)
        return;
    memcpy(smaller, buffer->bytes, used + POOL_SLACK); /* with the readable bytes after the text */
    pthread_mutex_lock(&pool->lock);
    pool->out += used;
    pthread_mutex_unlock(&pool->lock);
    pool_give(pool, buffer);
    *buffer = (buffer_t){smaller, used};
}

void pool_give(pool_t *pool, buffer_t *buffer) {
    uint8_t *raw = buffer->bytes ? buffer->bytes - POOL_SLACK : NULL;
    if (!raw)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->out -= buffer->capacity;
    if (pool->over == buffer->bytes)
        pool->over = NULL;
    if (buffer->capacity == pool->usual) {
        spare_t *spare = (spare_t *)(void *)raw;
        spare->next = pool->spares;
        pool->spares = spare;
        raw = NULL;
    }
    pthread_cond_broadcast(&pool->given);
    pthread_mutex_unlock(&pool->lock);
    free(raw);
    *buffer = (buffer_t){NULL, 0};
}

uint64_t pool_held(pool_t *pool) {
    pthread_mutex_lock(&pool->lock);
    const uint64_t held = pool->out;
    pthread_mutex_unlock(&pool->lock);
    return held;
}

bool pool_is_short(pool_t *pool) {
    return pool->waiting > 0;
}

void pool_close(pool_t *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->closed = true;
    pthread_cond_broadcast(&pool->given);
    pthread_mutex_unlock(&pool->lock);
}

bool pool_closed(pool_t *pool) {
    return pool->closed;
}

/* ---- waiting until a time ---- */

void condition_init(pthread_cond_t *condition) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ns) {
    const struct timespec until = clock_to_timespec(until_ns);
    return pthread_cond_timedwait(condition, lock, &until) != 0;
}

/* ---- threads that work together ---- */

void team_init(team_t *team) {
    *team = (team_t){.count = 0};
    pthread_mutex_init(&team->lock, NULL);
}

bool team_start(team_t *team, void *(*work)(void *context), void *context, const char *remedy, err_t *err) {
    if (!GROW(team->threads, team->room, team->count + 1, err))
        return false;
    if (caller_start_thread(&team->threads[team->count], work, context) != 0)
        return team->count
                   ? err_set(err, STATUS_HOST, "no more than %zu threads can be made; %s", team->count,
                             remedy)
                   : err_set(
                         err, STATUS_HOST,
                         "no thread can be made: this process may have too little memory (ulimit -v) or too "
                         "few processes (ulimit -u)");
    team->count++;
    return true;
}

void team_fail(team_t *team, const err_t *err) {
    pthread_mutex_lock(&team->lock);
    if (!team->failed)
        team->err = *err;
    team->failed = true;
    pthread_mutex_unlock(&team->lock);
}

bool team_failed(team_t *team) {
    return team->failed;
}

void team_share(void *(*work)(void *context), void *context, size_t others, bool waits) {
    enum { MOST_OTHERS = 7 };
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    team_t team;
    err_t ignored;
    others = waits || others < MOST_OTHERS ? others : MOST_OTHERS;
    team_init(&team);
    while (team.count < others && (waits || (long)team.count + 1 < cpus) &&
           team_start(&team, work, context, "", &ignored))
        ;
    work(context);
    team_join(&team, &ignored);
}

bool team_join(team_t *team, err_t *err) {
    for (size_t i = 0; i < team->count; i++)
        pthread_join(team->threads[i], NULL);
    free(team->threads);
    pthread_mutex_destroy(&team->lock);
    if (team->failed)
        *err = team->err;
    return !team->failed;
}
