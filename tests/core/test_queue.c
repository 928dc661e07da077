/* queue: order, back-pressure, waiting with a limit, and the end. */
#include "base/clock.h"
#include "load/threads/pipeline.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

enum { MS = 1000000 };

static void *item(uintptr_t number) {
    return (void *)number; /* never looked into */
}

TEST(first_in_first_out) {
    queue_t *queue = queue_new(3);
    assert_non_null(queue);
    uintptr_t pushed = 1, popped = 1;
    for (int round = 0; round < 10; round++) { /* the ring goes round */
        for (int i = 0; i < 1 + round % 3; i++)
            assert_true(queue_push(queue, item(pushed++), 0));
        while (popped < pushed)
            assert_ptr_equal(queue_pop(queue, 0, 0, 1), item(popped++));
    }
    assert_null(queue_pop(queue, 0, 0, 1));
    assert_false(queue_ended(queue));
    queue_destroy(queue);
    queue_destroy(NULL);
}

TEST(offer) {
    queue_t *queue = queue_new(2);
    assert_int_equal(queue_offer(queue, item(1), 0), QUEUE_TAKEN);
    assert_true(queue_push(queue, item(2), 0));
    assert_int_equal(queue_offer(queue, item(3), 0), QUEUE_FULL);
    assert_ptr_equal(queue_pop(queue, 0, 0, 1), item(1));
    assert_int_equal(queue_offer(queue, item(3), 0), QUEUE_TAKEN);
    queue_close(queue);
    assert_int_equal(queue_offer(queue, item(4), 0), QUEUE_CLOSED);
    assert_ptr_equal(queue_pop(queue, 0, 0, 1), item(2));
    assert_ptr_equal(queue_pop(queue, 0, 0, 1), item(3));
    assert_true(queue_ended(queue));
    queue_destroy(queue);
}

TEST(near_ones_first) {
    queue_t *queue = queue_new(8);
    static const uint32_t places[] = {0, 256, 511, 512, 767, 1023, 1, 300};
    for (int round = 0; round < 3; round++) { /* the ring goes round */
        for (uintptr_t i = 0; i < 8; i++)
            assert_true(queue_push(queue, item(i + 1), places[i]));
        assert_ptr_equal(queue_pop(queue, 0, 3, 4), item(6)); /* 768 and more */
        assert_ptr_equal(queue_pop(queue, 0, 1, 4), item(2)); /* 256 to 511 */
        assert_ptr_equal(queue_pop(queue, 0, 1, 4), item(3));
        assert_ptr_equal(queue_pop(queue, 0, 3, 4), item(1)); /* there is none left: the first */
        assert_ptr_equal(queue_pop(queue, 0, 1, 2), item(4)); /* 512 and more */
        assert_ptr_equal(queue_pop(queue, 0, 0, 1), item(5));
        assert_ptr_equal(queue_pop(queue, 0, 1, 4), item(8));
        assert_ptr_equal(queue_pop(queue, 0, 1, 4), item(7));
        assert_null(queue_pop(queue, 0, 1, 4));
    }
    queue_destroy(queue);
}

TEST(waits_in_time) {
    queue_t *queue = queue_new(1);
    int64_t began = clock_now_ns();
    assert_null(queue_pop(queue, 30 * MS, 0, 1));
    int64_t took = clock_now_ns() - began;
    assert_true(took >= 29 * MS);
    for (int i = 0; i < 20 && took >= 29 * MS; i++) { /* now and then a busy host is elsewhere */
        began = clock_now_ns();
        assert_null(queue_pop(queue, 0, 0, 1));
        took = clock_now_ns() - began;
    }
    assert_true(took < 29 * MS);
    assert_false(queue_ended(queue));
    queue_destroy(queue);
}

TEST(end) {
    queue_t *queue = queue_new(4);
    assert_true(queue_push(queue, item(1), 0));
    assert_true(queue_push(queue, item(2), 0));
    queue_close(queue);
    assert_false(queue_push(queue, item(3), 0));
    assert_false(queue_ended(queue)); /* what is inside can still be popped */
    assert_ptr_equal(queue_pop(queue, -1, 0, 1), item(1));
    assert_ptr_equal(queue_pop(queue, 0, 0, 1), item(2));
    assert_true(queue_ended(queue));
    assert_null(queue_pop(queue, -1, 0, 1));
    queue_close(queue);
    assert_true(queue_ended(queue));
    queue_destroy(queue);
}

typedef struct {
    queue_t *queue;
    atomic_int pushed;
    bool refused;
} producer_t;

static void *produce(void *context) {
    producer_t *producer = context;
    for (uintptr_t i = 1; i <= 10; i++) {
        if (!queue_push(producer->queue, item(i), 0)) {
            producer->refused = true;
            break;
        }
        producer->pushed++;
    }
    return NULL;
}

static void settle(const atomic_int *count, int wanted) {
    for (int i = 0; i < 600000 && *count < wanted; i++)
        usleep(1000);
}

/* A full queue makes the producer wait, until there is room or nobody wants more. */
TEST(back_pressure) {
    producer_t producer = {.queue = queue_new(2)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, produce, &producer), 0);
    settle(&producer.pushed, 2);
    usleep(20000);
    assert_int_equal(producer.pushed, 2);
    assert_ptr_equal(queue_pop(producer.queue, -1, 0, 1), item(1));
    settle(&producer.pushed, 3);
    usleep(20000);
    assert_int_equal(producer.pushed, 3);
    queue_close(producer.queue); /* wakes who waits for room */
    pthread_join(thread, NULL);
    assert_true(producer.refused);
    assert_int_equal(producer.pushed, 3);
    assert_ptr_equal(queue_pop(producer.queue, -1, 0, 1), item(2));
    assert_ptr_equal(queue_pop(producer.queue, -1, 0, 1), item(3));
    assert_null(queue_pop(producer.queue, -1, 0, 1));
    queue_destroy(producer.queue);
}

static void *pop_one(void *context) {
    return queue_pop(context, -1, 0, 1);
}

/* Closing wakes all who wait for something. */
TEST(close_wakes_consumers) {
    queue_t *queue = queue_new(2);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, pop_one, queue), 0);
    usleep(20000);
    assert_true(queue_push(queue, item(7), 0));
    queue_close(queue);
    int got = 0;
    for (int i = 0; i < 3; i++) {
        void *popped;
        pthread_join(threads[i], &popped);
        got += popped == item(7);
        assert_true(popped == NULL || popped == item(7));
    }
    assert_int_equal(got, 1);
    queue_destroy(queue);
}

enum { PRODUCERS = 3, CONSUMERS = 3, EACH = 20000 };

typedef struct {
    queue_t *queue;
    uintptr_t from;
    uint64_t sum, count;
    bool in_order;
} worker_t;

static void *push_many(void *context) {
    worker_t *worker = context;
    for (uintptr_t i = 0; i < EACH; i++)
        queue_push(worker->queue, item(worker->from + i), 0);
    return NULL;
}

static void *pop_many(void *context) {
    worker_t *worker = context;
    uintptr_t last[PRODUCERS] = {0};
    worker->in_order = true;
    while (!queue_ended(worker->queue)) {
        uintptr_t number = (uintptr_t)queue_pop(worker->queue, 50 * MS, 0, 1);
        if (!number)
            continue;
        /* of one producer, one consumer sees later items later */
        uintptr_t *before = &last[(number - 1) / EACH];
        worker->in_order &= number > *before;
        *before = number;
        worker->sum += number;
        worker->count++;
    }
    return NULL;
}

TEST(nothing_lost_nothing_twice) {
    queue_t *queue = queue_new(5);
    pthread_t producers[PRODUCERS], consumers[CONSUMERS];
    worker_t pushing[PRODUCERS], popping[CONSUMERS];
    for (int i = 0; i < CONSUMERS; i++) {
        popping[i] = (worker_t){.queue = queue};
        assert_int_equal(pthread_create(&consumers[i], NULL, pop_many, &popping[i]), 0);
    }
    for (int i = 0; i < PRODUCERS; i++) {
        pushing[i] = (worker_t){.queue = queue, .from = (uintptr_t)i * EACH + 1};
        assert_int_equal(pthread_create(&producers[i], NULL, push_many, &pushing[i]), 0);
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    queue_close(queue);
    uint64_t sum = 0, count = 0, all = (uint64_t)PRODUCERS * EACH;
    for (int i = 0; i < CONSUMERS; i++) {
        pthread_join(consumers[i], NULL);
        sum += popping[i].sum;
        count += popping[i].count;
        assert_true(popping[i].in_order);
    }
    assert_int_equal(count, all);
    assert_int_equal(sum, all * (all + 1) / 2);
    queue_destroy(queue);
}
