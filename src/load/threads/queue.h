/* queue: a bounded queue of pointers between threads. When it is full, the producer waits (back-pressure). */
#ifndef TIPPLE_LOAD_THREADS_QUEUE_H
#define TIPPLE_LOAD_THREADS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct queue queue_t;

queue_t *queue_new(size_t capacity); /* NULL: out of memory */
void queue_destroy(queue_t *queue);  /* items that are still in it belong to the caller: pop them all first */

/* Waits for room; false: the queue was closed. place: a number from 0 to QUEUE_PLACES - 1. */
enum { QUEUE_PLACES = 1024 };
bool queue_push(queue_t *queue, void *item, uint32_t place);

/* Does not wait. */
typedef enum { QUEUE_TAKEN, QUEUE_FULL, QUEUE_CLOSED } queue_offer_t;
queue_offer_t queue_offer(queue_t *queue, void *item, uint32_t place);

/* Waits up to wait_ns (negative: without limit). NULL: nothing came in time, or the queue is empty and closed (see
 * queue_ended) or drained. The places are divided into `parts` equal ranges: returns the first item whose place is in
 * range number `part`; if there is none, the first item of all. */
void *queue_pop(queue_t *queue, int64_t wait_ns, uint32_t part, uint32_t parts);

/* Says that nothing is on its way to the queue, until the next push. A thread that waits with a time limit then returns
 * when the queue is empty, to finish what it holds. */
void queue_drain(queue_t *queue);
/* Empty, and nothing is on its way? */
bool queue_is_drained(queue_t *queue);

/* So little is in it that who takes items out may soon have to wait. */
bool queue_runs_low(queue_t *queue);

/* Closed and empty: no item will come any more. */
bool queue_ended(queue_t *queue);

/* Ends pushes; items inside can still be popped. */
void queue_close(queue_t *queue);

#endif
