/* pool: buffers with slack under one budget: who waits, who does not, and what a closed pool says. */
#include "base/threads.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { USUAL = 1000 };

/* The bytes and the slack on both sides can be read, the bytes be written. */
static void use(buffer_t *buffer, uint8_t with) {
    unsigned sum = 0;
    memset(buffer->bytes, with, buffer->capacity);
    for (size_t i = 1; i <= POOL_SLACK; i++)
        sum += *(volatile uint8_t *)(buffer->bytes - i);
    memset(buffer->bytes + buffer->capacity, 0, POOL_SLACK); /* zeros after a text are the holder's to put */
    for (size_t i = 0; i < POOL_SLACK; i++)
        sum += buffer->bytes[buffer->capacity + i];
    assert_uint_in_range(sum, 0, POOL_SLACK * 255);
}

TEST(take_and_give) {
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
TEST(one_is_always_granted) {
    pool_t *pool = pool_new(1, USUAL);
    for (int i = 0; i < 3; i++) {
        buffer_t buffer;
        assert_true(pool_take(pool, i == 1 ? 100 * USUAL : 5, &buffer));
        use(&buffer, 4);
        pool_give(pool, &buffer);
    }
    pool_destroy(pool);
}

TEST(grow_keeps_what_was_used) {
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

/* Who holds all of the budget is not made to wait; and what is not needed any more is given back at once. */
TEST(split) {
    pool_t *pool = pool_new(100 * USUAL, USUAL);
    buffer_t first, rest, next;
    assert_non_null(pool);
    assert_true(pool_take(pool, 100 * USUAL, &first));
    memset(first.bytes, 'a', 100 * USUAL);
    memcpy(first.bytes, "short\n", 6);
    assert_true(pool_split(pool, &first, 6, 99 * USUAL, &rest));
    assert_memory_equal(first.bytes, "short\n", 6);
    assert_true(first.capacity < USUAL);
    assert_int_equal(rest.capacity, 99 * USUAL - 6);
    for (size_t i = 0; i < POOL_SLACK; i++)
        assert_true(first.bytes[6 + i] == 0 && rest.bytes[rest.capacity + i] == 0);
    for (size_t i = 0; i < rest.capacity; i++)
        assert_int_equal(rest.bytes[i], 'a');
    pool_give(pool, &first);
    pool_give(pool, &rest);
    assert_true(pool_take(pool, 100 * USUAL, &next)); /* without waiting: nothing is counted twice */
    pool_give(pool, &next);
    pool_destroy(pool);
}

/* What a small text does not need goes back to the budget; a large one stays where it is. */
TEST(shrink) {
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
TEST(reuse) {
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

/* Its first buffer, or a larger one in the place of the one that it has. */
static void *take(void *context) {
    taker_t *taker = context;
    taker->granted = taker->buffer.bytes ? pool_grow(taker->pool, &taker->buffer, 1, taker->bytes)
                                         : pool_take(taker->pool, taker->bytes, &taker->buffer);
    taker->done = true;
    return NULL;
}

static void wait_short(pool_t *pool) {
    for (int i = 0; i < 600000 && !pool_is_short(pool); i++)
        usleep(1000);
    assert_true(pool_is_short(pool));
}

TEST(waits_for_the_budget) {
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
TEST(waits_for_enough) {
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

TEST(close_wakes_all) {
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

/* Who may grow at once, and who waits until the other has given its buffer back. Each holds a usual buffer
 * before. */
TEST(grow_waits) {
    static const struct {
        size_t budget, first, second; /* in usual buffers */
        bool waits;
    } cases[] = {
        {20, 5, 5, false}, /* both fit */
        {8, 5, 2, false},  /* 1 + 5 + 1, then 5 + 1 + 2: together they are the budget */
        {7, 5, 2, false},  /* the first fits, the second alone is over the budget */
        {5, 10, 3, true},  /* the first is over the budget: the second waits, however little it wants */
        {5, 10, 10, true}, /* both are over it */
        {1, 2, 2, true},   /* hardly any budget at all */
        {11, 10, 3, true}, /* the old and the new buffer are there at once */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pool_t *pool = pool_new(cases[i].budget * USUAL, USUAL);
        buffer_t first = {NULL, 0};
        taker_t second = {.pool = pool, .bytes = cases[i].second * USUAL};
        pthread_t thread;
        if (cases[i].budget > 1) {
            assert_true(pool_take(pool, 1, &first));
            assert_true(pool_take(pool, 1, &second.buffer));
            assert_true(pool_grow(pool, &first, 1, cases[i].first * USUAL));
        } else { /* only one is granted: the second one comes when the first has been made small */
            assert_true(pool_take(pool, 1, &first));
            assert_true(pool_grow(pool, &first, 1, cases[i].first * USUAL));
            pool_give(pool, &first);
            assert_true(pool_take(pool, 1, &first));
            pool_shrink(pool, &first, 0);
            assert_true(pool_take(pool, 1, &second.buffer));
            assert_true(pool_grow(pool, &first, 0, cases[i].first * USUAL));
        }
        assert_int_equal(pthread_create(&thread, NULL, take, &second), 0);
        if (cases[i].waits) {
            wait_short(pool);
            usleep(20000);
            assert_false(second.done);
            assert_true(pool_grow(pool, &first, 1, 3 * cases[i].first * USUAL)); /* who is over it goes on */
            assert_false(second.done);
            pool_give(pool, &first);
        }
        pthread_join(thread, NULL);
        assert_true(second.granted);
        assert_int_equal(second.buffer.capacity, second.bytes);
        use(&second.buffer, 1);
        pool_give(pool, &first);
        pool_give(pool, &second.buffer);
        assert_false(pool_is_short(pool));
        pool_destroy(pool);
    }
}

/* Who waits to grow is woken by the end of the pool, and still holds what it had. */
TEST(close_wakes_growers) {
    pool_t *pool = pool_new(2 * USUAL, USUAL);
    buffer_t large;
    taker_t grower = {.pool = pool, .bytes = 9 * USUAL};
    pthread_t thread;
    assert_true(pool_take(pool, 1, &large));
    assert_true(pool_take(pool, 1, &grower.buffer));
    assert_true(pool_grow(pool, &large, 0, 9 * USUAL));
    assert_int_equal(pthread_create(&thread, NULL, take, &grower), 0);
    wait_short(pool);
    pool_close(pool);
    pthread_join(thread, NULL);
    assert_false(grower.granted);
    assert_int_equal(grower.buffer.capacity, USUAL);
    assert_false(pool_grow(pool, &large, 0, 20 * USUAL));
    pool_give(pool, &large);
    pool_give(pool, &grower.buffer);
    pool_destroy(pool);
}

static struct {
    pool_t *pool;
    size_t most_each;
    atomic_ulong held, most;
} grown;

static void note(size_t more, size_t less) {
    unsigned long now = atomic_fetch_add(&grown.held, more) + more;
    unsigned long most = atomic_load(&grown.most);
    while (now > most && !atomic_compare_exchange_weak(&grown.most, &most, now))
        ;
    grown.held -= less;
}

/* A feeder whose records are all of another length: its buffer grows by doubling, and is given back. */
static void *feed(void *context) {
    unsigned mine = (unsigned)(uintptr_t)context;
    for (unsigned i = 0; i < 300; i++) {
        buffer_t buffer;
        size_t wanted = 1 + (mine * 7919u + i * 104729u) % grown.most_each;
        if (!pool_take(grown.pool, 1, &buffer))
            return context;
        note(buffer.capacity, 0);
        memset(buffer.bytes, (int)mine, buffer.capacity);
        while (buffer.capacity < wanted) {
            size_t before = buffer.capacity;
            if (!pool_grow(grown.pool, &buffer, before, 2 * before))
                return context;
            note(buffer.capacity, before);
            if (buffer.bytes[0] != (uint8_t)mine || buffer.bytes[before - 1] != (uint8_t)mine)
                return context;
            memset(buffer.bytes, (int)mine, buffer.capacity);
        }
        grown.held -= buffer.capacity;
        pool_give(grown.pool, &buffer);
    }
    return NULL;
}

/* However small the budget is and however many threads there are: all come through, and next to the budget
 * there is one large buffer at most (while it grows, the old and the new one). */
TEST(many_grow) {
    static const struct {
        size_t budget, most_each, threads;
    } cases[] = {{5, 4, 2}, {5, 50, 2}, {5, 50, 4}, {1, 50, 4}, {20, 200, 8}, {8, 3, 16}, {3, 1000, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pthread_t threads[16];
        grown.pool = pool_new(cases[i].budget * USUAL, USUAL);
        grown.most_each = cases[i].most_each * USUAL;
        grown.most = 0;
        for (uintptr_t t = 0; t < cases[i].threads; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, feed, (void *)(t + 1)), 0);
        for (size_t t = 0; t < cases[i].threads; t++) {
            void *trouble;
            pthread_join(threads[t], &trouble);
            assert_null(trouble);
        }
        /* doubling makes less than twice of what is wanted, and half of it is there before */
        assert_uint_in_range(grown.most, USUAL, cases[i].budget * USUAL + 3 * grown.most_each);
        assert_int_equal(grown.held, 0);
        assert_false(pool_is_short(grown.pool));
        pool_destroy(grown.pool);
    }
}
