#include "base/queue.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t room, item;
    size_t capacity, count, head;
    bool closed;
    void *items[];
};

queue_t *queue_new(size_t capacity) {
    queue_t *queue = calloc(1, sizeof *queue + capacity * sizeof(void *));
    if (!queue)
        return NULL;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->room, &monotonic);
    pthread_cond_init(&queue->item, &monotonic);
    pthread_condattr_destroy(&monotonic);
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

bool queue_push(queue_t *queue, void *item) {
    pthread_mutex_lock(&queue->lock);
    while (queue->count == queue->capacity && !queue->closed)
        pthread_cond_wait(&queue->room, &queue->lock);
    bool open = !queue->closed;
    if (open) {
        queue->items[(queue->head + queue->count++) % queue->capacity] = item;
        pthread_cond_signal(&queue->item);
    }
    pthread_mutex_unlock(&queue->lock);
    return open;
}

void *queue_pop(queue_t *queue, int64_t wait_ns) {
    int64_t due = wait_ns < 0 ? 0 : clock_now_ns() + wait_ns;
    struct timespec until = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000};
    void *item = NULL;
    pthread_mutex_lock(&queue->lock);
    while (!queue->count && !queue->closed) {
        if (wait_ns < 0)
            pthread_cond_wait(&queue->item, &queue->lock);
        else if (pthread_cond_timedwait(&queue->item, &queue->lock, &until))
            break;
    }
    if (queue->count) {
        item = queue->items[queue->head];
        queue->head = (queue->head + 1) % queue->capacity;
        queue->count--;
        pthread_cond_signal(&queue->room);
    }
    pthread_mutex_unlock(&queue->lock);
    return item;
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
