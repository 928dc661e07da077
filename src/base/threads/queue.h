/* queue: a bounded queue of pointers between threads; a full one makes the producer wait (back-pressure). */
#ifndef TIPPLE_BASE_THREADS_QUEUE_H
#define TIPPLE_BASE_THREADS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct queue queue_t;

queue_t *queue_new(size_t capacity); /* NULL: out of memory */
void queue_destroy(queue_t *queue);  /* whatever is still in it belongs to the caller: drain first */

/* Waits for room; false when the queue was closed. place: a number from 0 to QUEUE_PLACES - 1. */
enum { QUEUE_PLACES = 1024 };
bool queue_push(queue_t *queue, void *item, uint32_t place);

/* Does not wait. */
typedef enum { QUEUE_TAKEN, QUEUE_FULL, QUEUE_CLOSED } queue_offer_t;
queue_offer_t queue_offer(queue_t *queue, void *item, uint32_t place);

/* Waits up to wait_ns (negative: for ever). NULL: nothing came in time, or it is empty and closed (see
 * queue_ended) or drained. The first item whose place lies in this one of `parts` equal ranges; if there is none, the
 * first of all. */
void *queue_pop(queue_t *queue, int64_t wait_ns, uint32_t part, uint32_t parts);

/* Nothing is on its way to the queue for now (until the next push): who waits for a time comes back when it is
 * empty, to finish what it holds. */
void queue_drain(queue_t *queue);
/* Empty, and nothing is on its way? */
bool queue_is_drained(queue_t *queue);

/* Closed and empty: nothing will ever come again. */
bool queue_ended(queue_t *queue);

/* No more pushes; what is inside can still be popped. */
void queue_close(queue_t *queue);

#endif
