#include "load/threads/queue.h"
#include "base/clock.h"
#include "base/threads.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct {
    void *item;
    uint32_t place;
} entry_t;

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t room, item;
    size_t capacity, count, head;
    bool closed, drained;
    entry_t entries[];
};

queue_t *queue_new(size_t capacity) {
    queue_t *queue = calloc(1, sizeof *queue + capacity * sizeof(entry_t));
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
    queue->entries[(queue->head + queue->count++) % queue->capacity] = (entry_t){item, place};
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

static entry_t *entry_at(queue_t *queue, size_t number) {
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

bool queue_is_drained(queue_t *queue) {
    pthread_mutex_lock(&queue->lock);
    bool drained = queue->drained && !queue->count;
    pthread_mutex_unlock(&queue->lock);
    return drained;
}

bool queue_runs_low(queue_t *queue) {
    pthread_mutex_lock(&queue->lock);
    bool low = queue->count < (queue->capacity + 1) / 2;
    pthread_mutex_unlock(&queue->lock);
    return low;
}

bool queue_ended(queue_t *queue) {
    pthread_mutex_lock(&queue->lock);
    bool ended = queue->closed && !queue->count;
    pthread_mutex_unlock(&queue->lock);
    return ended;
}

void queue_close(queue_t *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->room);
    pthread_cond_broadcast(&queue->item);
    pthread_mutex_unlock(&queue->lock);
}
