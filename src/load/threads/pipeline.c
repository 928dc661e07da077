#include "load/threads/pipeline.h"
#include "base/clock.h"
#include "base/stop.h"
#include "base/threads.h"
#include "input/cutter.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the queue ---- */

typedef struct {
    void *item;
    uint32_t place;
} slot_t;

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t room, item;
    size_t capacity, count, head;
    bool closed, drained;
    slot_t entries[];
};

queue_t *queue_new(size_t capacity) {
    queue_t *queue = calloc(1, sizeof *queue + capacity * sizeof(slot_t));
    if (!queue)
        return NULL;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->room, NULL);
    condition_init(&queue->item);
    queue->capacity = capacity;
    return queue;
}

void queue_destroy(queue_t *queue) {
    if (!queue)
        return;
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->room);
    pthread_cond_destroy(&queue->item);
    free(queue);
}

static void put(queue_t *queue, void *item, uint32_t place) {
    queue->drained = false;
    queue->entries[(queue->head + queue->count++) % queue->capacity] = (slot_t){item, place};
    pthread_cond_signal(&queue->item);
}

bool queue_push(queue_t *queue, void *item, uint32_t place) {
    pthread_mutex_lock(&queue->lock);
    while (queue->count == queue->capacity && !queue->closed)
        pthread_cond_wait(&queue->room, &queue->lock);
    bool open = !queue->closed;
    if (open)
        put(queue, item, place);
    pthread_mutex_unlock(&queue->lock);
    return open;
}

queue_offer_t queue_offer(queue_t *queue, void *item, uint32_t place) {
    pthread_mutex_lock(&queue->lock);
    const queue_offer_t offer = queue->closed                     ? QUEUE_CLOSED
                                : queue->count == queue->capacity ? QUEUE_FULL
                                                                  : QUEUE_TAKEN;
    if (offer == QUEUE_TAKEN)
        put(queue, item, place);
    pthread_mutex_unlock(&queue->lock);
    return offer;
}

static slot_t *entry_at(queue_t *queue, size_t number) {
    return &queue->entries[(queue->head + number) % queue->capacity];
}

/* Takes one item out; the items before it move up. */
static void *take(queue_t *queue, uint32_t part, uint32_t parts) {
    size_t chosen = 0;
    for (size_t i = 0; parts > 1 && i < queue->count; i++)
        if (entry_at(queue, i)->place * parts / QUEUE_PLACES == part) {
            chosen = i;
            break;
        }
    void *item = entry_at(queue, chosen)->item;
    for (size_t i = chosen; i > 0; i--)
        *entry_at(queue, i) = *entry_at(queue, i - 1);
    queue->head = (queue->head + 1) % queue->capacity;
    queue->count--;
    return item;
}

void *queue_pop(queue_t *queue, int64_t wait_ns, uint32_t part, uint32_t parts) {
    const int64_t due = wait_ns < 0 ? 0 : clock_now_ns() + wait_ns;
    void *item = NULL;
    pthread_mutex_lock(&queue->lock);
    while (!queue->count && !queue->closed) {
        if (wait_ns < 0)
            pthread_cond_wait(&queue->item, &queue->lock);
        else if (queue->drained || condition_wait_until(&queue->item, &queue->lock, due))
            break;
    }
    if (queue->count) {
        item = take(queue, part, parts);
        pthread_cond_signal(&queue->room);
    }
    pthread_mutex_unlock(&queue->lock);
    return item;
}

void queue_drain(queue_t *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->drained = true;
    pthread_cond_broadcast(&queue->item);
    pthread_mutex_unlock(&queue->lock);
}

/* True if the queue is empty and is so marked: `closed` or `drained`. */
static bool is_empty_and(queue_t *queue, const bool *marked) {
    pthread_mutex_lock(&queue->lock);
    const bool is = *marked && !queue->count;
    pthread_mutex_unlock(&queue->lock);
    return is;
}

size_t queue_count(queue_t *queue) {
    pthread_mutex_lock(&queue->lock);
    const size_t count = queue->count;
    pthread_mutex_unlock(&queue->lock);
    return count;
}

bool queue_runs_low(queue_t *queue) {
    return queue_count(queue) < (queue->capacity + 1) / 2;
}

bool queue_ended(queue_t *queue) {
    return is_empty_and(queue, &queue->closed);
}

void queue_close(queue_t *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->room);
    pthread_cond_broadcast(&queue->item);
    pthread_mutex_unlock(&queue->lock);
}

/* ---- the pipeline: its workers ---- */

static const int64_t LOOK_NS = 50000000;

uint32_t pipeline_usual_threads(void) {
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return cpus * 2 < 4 ? 4 : cpus * 2 > 16 ? 16 : (uint32_t)cpus * 2;
}

bool pipeline_open(pipeline_t *pipeline, uint64_t memory, uint32_t threads, err_t *err) {
    const uint64_t half = memory / CUTTER_BUFFER / 2, most = 2 * (uint64_t)threads;
    team_init(&pipeline->team);
    pipeline->pool = pool_new(memory, CUTTER_BUFFER);
    pipeline->queue = queue_new((size_t)(half > most ? most : half < 2 ? 2 : half));
    return (pipeline->pool && pipeline->queue) || err_memory(err, 1);
}

static block_t *next_block(pipeline_worker_t *worker, int64_t wait_ns) {
    const int64_t start = clock_now_ns();
    block_t *block = worker->rest ? worker->rest
                                  : queue_pop(worker->pipeline->queue, wait_ns, worker->part, worker->parts);
    worker->rest = block ? block->next : NULL;
    __atomic_store_n(&worker->waited_ns, worker->waited_ns + clock_now_ns() - start, __ATOMIC_RELAXED);
    return block;
}

static bool work_on(pipeline_worker_t *worker, block_t *block, bool *waiting, err_t *err) {
    const pipeline_work_t *work = worker->work;
    queue_t *queue = worker->pipeline->queue;
    if (block && !work->block(worker->context, block, err))
        return false;
    const bool drained = !block && *waiting && is_empty_and(queue, &queue->drained);
    return !work->between || work->between(worker->context, drained, waiting, err);
}

static void *run(void *context) {
    pipeline_worker_t *worker = context;
    pipeline_t *pipeline = worker->pipeline;
    const int64_t start = clock_now_ns();
    bool waiting = false;
    err_t err;
    for (;;) {
        block_t *block = next_block(worker, waiting ? LOOK_NS : -1);
        if (!block && queue_ended(pipeline->queue))
            break;
        if (stop_signal() || pipeline_failed(pipeline))
            pipeline_free_block(pipeline, block);
        else if (!work_on(worker, block, &waiting, &err))
            pipeline_fail(pipeline, &err);
    }
    if (!pipeline_failed(pipeline) && worker->work->between &&
        !worker->work->between(worker->context, true, &waiting, &err))
        pipeline_fail(pipeline, &err);
    worker->took_ns = clock_now_ns() - start;
    return NULL;
}

bool pipeline_start(pipeline_t *pipeline, pipeline_worker_t *worker, err_t *err) {
    worker->pipeline = pipeline;
    worker->parts = worker->parts ? worker->parts : 1;
    return team_start(&pipeline->team, run, worker, "lower --threads", err);
}

void pipeline_fail(pipeline_t *pipeline, const err_t *err) {
    team_fail(&pipeline->team, err);
    if (pipeline->failed)
        pipeline->failed(pipeline->context);
    pool_close(pipeline->pool);
    queue_close(pipeline->queue);
}

bool pipeline_failed(pipeline_t *pipeline) {
    return team_failed(&pipeline->team);
}

void pipeline_free_block(pipeline_t *pipeline, block_t *block) {
    if (!block)
        return;
    pool_give(pipeline->pool, &block->buffer);
    if (block->counted)
        pipeline->settled(pipeline->context);
    for (late_document_t *late; (late = block->late);) {
        block->late = late->next;
        free(late);
    }
    free(block->rejects);
    free(block);
}

void pipeline_close(pipeline_t *pipeline) {
    if (pipeline->queue)
        queue_close(pipeline->queue);
}

bool pipeline_join(pipeline_t *pipeline, err_t *err) {
    return team_join(&pipeline->team, err);
}

/* ---- its dialects ---- */

struct kept_dialect {
    struct kept_dialect *next;
    dialect_t dialect;
};

const dialect_t *pipeline_keep(pipeline_t *pipeline, const dialect_t *dialect) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* shared by all pipelines; taken once a file */
    pthread_mutex_lock(&lock);
    struct kept_dialect *kept = pipeline->dialects;
    while (kept && memcmp(dialect, &kept->dialect, sizeof *dialect) !=
                       0) // NOLINT(bugprone-suspicious-memory-comparison)
        kept = kept->next;
    if (!kept && (kept = malloc(sizeof *kept))) {
        memcpy(&kept->dialect, dialect, sizeof *dialect); /* with the padding, which is always zero */
        kept->next = pipeline->dialects;
        pipeline->dialects = kept;
    }
    pthread_mutex_unlock(&lock);
    return kept ? &kept->dialect : NULL;
}

void pipeline_free(pipeline_t *pipeline) {
    for (struct kept_dialect *kept; (kept = pipeline->dialects); free(kept))
        pipeline->dialects = kept->next;
    pool_destroy(pipeline->pool);
    queue_destroy(pipeline->queue);
}
