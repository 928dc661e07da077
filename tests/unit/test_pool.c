/* pool: buffers with slack under one budget: who waits, who does not, and what a closed pool says. */
#include "base/pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { USUAL = 1000 };

/* The bytes and the slack on both sides can be read, the bytes be written. */
static void use(buffer_t *buffer, uint8_t with) {
    unsigned sum = 0;
    memset(buffer->bytes, with, buffer->capacity);
    for (size_t i = 1; i <= POOL_SLACK; i++)
        sum += *(volatile uint8_t *)(buffer->bytes - i);
    memset(buffer->bytes + buffer->capacity, 0, POOL_SLACK); /* zeros behind a text are the holder's to put */
    for (size_t i = 0; i < POOL_SLACK; i++)
        sum += buffer->bytes[buffer->capacity + i];
    assert_in_range(sum, 0, POOL_SLACK * 255);
}

static void test_take_and_give(void **state) {
    (void)state;
    pool_t *pool = pool_new(1 << 20, USUAL);
    assert_non_null(pool);
    buffer_t a, b, c;
    assert_true(pool_take(pool, 10, &a));
    assert_true(pool_take(pool, USUAL, &b));
    assert_true(pool_take(pool, USUAL + 1, &c));
    assert_true(a.capacity >= 10 && b.capacity >= USUAL && c.capacity >= USUAL + 1);
    assert_true(a.bytes != b.bytes && b.bytes != c.bytes);
    use(&a, 1);
    use(&b, 2);
    use(&c, 3);
    for (size_t i = 0; i < a.capacity; i++)
        assert_int_equal(a.bytes[i], 1);
    pool_give(pool, &a);
    assert_null(a.bytes);
    pool_give(pool, &a); /* nothing is held any more: nothing is given */
    pool_give(pool, &b);
    pool_give(pool, &c);
    assert_false(pool_is_short(pool));
    assert_false(pool_closed(pool));
    pool_destroy(pool);
    pool_destroy(NULL);
}

/* However small the budget, one buffer is granted; a larger record than the whole budget as well. */
static void test_one_is_always_granted(void **state) {
    (void)state;
    pool_t *pool = pool_new(1, USUAL);
    for (int i = 0; i < 3; i++) {
        buffer_t buffer;
        assert_true(pool_take(pool, i == 1 ? 100 * USUAL : 5, &buffer));
        use(&buffer, 4);
        pool_give(pool, &buffer);
    }
    pool_destroy(pool);
}

static void test_grow_keeps_what_was_used(void **state) {
    (void)state;
    pool_t *pool = pool_new(2 * USUAL, USUAL);
    buffer_t buffer;
    assert_true(pool_take(pool, 1, &buffer));
    for (size_t i = 0; i < USUAL; i++)
        buffer.bytes[i] = (uint8_t)(i * 7);
    const uint8_t *before = buffer.bytes;
    assert_true(pool_grow(pool, &buffer, USUAL, 10)); /* large enough already */
    assert_ptr_equal(buffer.bytes, before);
    assert_true(pool_grow(pool, &buffer, USUAL, 50 * USUAL)); /* beyond the budget, and without waiting */
    assert_true(buffer.capacity >= 50 * USUAL);
    for (size_t i = 0; i < USUAL; i++)
        assert_int_equal(buffer.bytes[i], (uint8_t)(i * 7));
    use(&buffer, 5);
    pool_give(pool, &buffer);
    /* the budget is whole again: two fit at once */
    buffer_t a, b;
    assert_true(pool_take(pool, USUAL, &a));
    assert_true(pool_take(pool, USUAL, &b));
    pool_give(pool, &a);
    pool_give(pool, &b);
    pool_destroy(pool);
}

/* What a small text does not need goes back to the budget; a large one stays where it is. */
static void test_shrink(void **state) {
    (void)state;
    pool_t *pool = pool_new(USUAL + USUAL / 2, USUAL);
    buffer_t small, other;
    assert_true(pool_take(pool, 1, &small));
    memset(small.bytes, 3, USUAL);
    memset(small.bytes + 20, 0, POOL_SLACK);
    const uint8_t *before = small.bytes;
    pool_shrink(pool, &small, USUAL / 2);
    assert_ptr_equal(small.bytes, before);
    pool_shrink(pool, &small, 20);
    assert_ptr_not_equal(small.bytes, before);
    assert_int_equal(small.capacity, 20);
    for (size_t i = 0; i < 20 + POOL_SLACK; i++)
        assert_int_equal(small.bytes[i], i < 20 ? 3 : 0);
    assert_true(pool_take(pool, USUAL, &other)); /* would wait for ever */
    assert_ptr_equal(other.bytes, before);
    use(&small, 6);
    use(&other, 7);
    pool_give(pool, &small);
    pool_give(pool, &other);
    assert_true(pool_take(pool, USUAL + USUAL / 2, &other)); /* all of the budget is back */
    pool_give(pool, &other);
    assert_true(pool_take(pool, 1, &small)); /* to nothing at all */
    pool_shrink(pool, &small, 0);
    use(&small, 8);
    pool_give(pool, &small);
    pool_destroy(pool);
}

/* Buffers of the usual size are kept and used again; larger ones go, and never come back as usual ones. */
static void test_reuse(void **state) {
    (void)state;
    pool_t *pool = pool_new(100 * USUAL, USUAL);
    buffer_t a, b, large;
    assert_true(pool_take(pool, USUAL, &a));
    const uint8_t *first = a.bytes;
    pool_give(pool, &a);
    assert_true(pool_take(pool, 10 * USUAL, &large));
    assert_ptr_not_equal(large.bytes, first);
    use(&large, 7);
    pool_give(pool, &large);
    assert_true(pool_take(pool, 3, &a));
    assert_ptr_equal(a.bytes, first);
    assert_int_equal(a.capacity, USUAL);
    assert_true(pool_take(pool, USUAL, &b));
    assert_int_equal(b.capacity, USUAL);
    use(&a, 8);
    use(&b, 9);
    pool_give(pool, &a);
    pool_give(pool, &b);
    pool_destroy(pool);
}

typedef struct {
    pool_t *pool;
    buffer_t buffer;
    size_t bytes;
    atomic_bool done;
    bool granted;
} taker_t;

static void *take(void *context) {
    taker_t *taker = context;
    taker->granted = pool_take(taker->pool, taker->bytes, &taker->buffer);
    taker->done = true;
    return NULL;
}

static void wait_short(pool_t *pool) {
    for (int i = 0; i < 600000 && !pool_is_short(pool); i++)
        usleep(1000);
    assert_true(pool_is_short(pool));
}

static void test_waits_for_the_budget(void **state) {
    (void)state;
    pool_t *pool = pool_new(2 * USUAL, USUAL);
    buffer_t a, b;
    assert_true(pool_take(pool, USUAL, &a));
    assert_true(pool_take(pool, USUAL, &b));
    taker_t taker = {.pool = pool, .bytes = USUAL};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, take, &taker), 0);
    wait_short(pool);
    usleep(20000);
    assert_false(taker.done);
    pool_give(pool, &a);
    pthread_join(thread, NULL);
    assert_true(taker.granted);
    assert_false(pool_is_short(pool));
    use(&taker.buffer, 6);
    pool_give(pool, &taker.buffer);
    pool_give(pool, &b);
    pool_destroy(pool);
}

/* A large one waits until all that is needed was given back, however many small ones that is. */
static void test_waits_for_enough(void **state) {
    (void)state;
    pool_t *pool = pool_new(3 * USUAL, USUAL);
    buffer_t held[3];
    for (int i = 0; i < 3; i++)
        assert_true(pool_take(pool, USUAL, &held[i]));
    taker_t taker = {.pool = pool, .bytes = 2 * USUAL};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, take, &taker), 0);
    wait_short(pool);
    pool_give(pool, &held[0]);
    usleep(20000);
    assert_false(taker.done);
    pool_give(pool, &held[1]);
    pthread_join(thread, NULL);
    assert_true(taker.granted);
    pool_give(pool, &taker.buffer);
    pool_give(pool, &held[2]);
    pool_destroy(pool);
}

static void test_close_wakes_all(void **state) {
    (void)state;
    pool_t *pool = pool_new(USUAL, USUAL);
    buffer_t held, refused;
    assert_true(pool_take(pool, USUAL, &held));
    taker_t takers[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        takers[i] = (taker_t){.pool = pool, .bytes = USUAL};
        assert_int_equal(pthread_create(&threads[i], NULL, take, &takers[i]), 0);
    }
    wait_short(pool);
    usleep(20000);
    pool_close(pool);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_false(takers[i].granted);
    }
    assert_true(pool_closed(pool));
    assert_false(pool_take(pool, 1, &refused));
    pool_give(pool, &held); /* giving back still works */
    pool_destroy(pool);
}

enum { THREADS = 4, ROUNDS = 3000, BUDGET = 5 * USUAL };

static struct {
    pool_t *pool;
    atomic_ulong held, most;
} shared;

static void *hammer(void *context) {
    uint8_t mine = (uint8_t)(uintptr_t)context;
    for (unsigned i = 0; i < ROUNDS; i++) {
        buffer_t buffer;
        size_t bytes = i % 7 == 0 ? 2 * USUAL : 1 + i % USUAL;
        if (!pool_take(shared.pool, bytes, &buffer))
            return context;
        unsigned long now = atomic_fetch_add(&shared.held, buffer.capacity) + buffer.capacity;
        unsigned long most = atomic_load(&shared.most);
        while (now > most && !atomic_compare_exchange_weak(&shared.most, &most, now))
            ;
        memset(buffer.bytes, mine, bytes);
        for (size_t j = 0; j < bytes; j += 97)
            if (buffer.bytes[j] != mine)
                return context;
        shared.held -= buffer.capacity;
        pool_give(shared.pool, &buffer);
    }
    return NULL;
}

/* Never more than the budget is out, and nobody's bytes are another's. */
static void test_many_threads(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    shared.pool = pool_new(BUDGET, USUAL);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *trouble;
        pthread_join(threads[i], &trouble);
        assert_null(trouble);
    }
    assert_in_range(shared.most, USUAL, BUDGET);
    assert_false(pool_is_short(shared.pool));
    pool_destroy(shared.pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_take_and_give),
        cmocka_unit_test(test_one_is_always_granted),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_grow_keeps_what_was_used),
        cmocka_unit_test(test_shrink),
        cmocka_unit_test(test_waits_for_the_budget),
        cmocka_unit_test(test_waits_for_enough),
        cmocka_unit_test(test_close_wakes_all),
        cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
