/* throttle: the bucket by a clock of its own; who waits, who goes first, and who is sent home. */
#include "base/clock.h"
#include "base/stop.h"
#include "load/rate/throttle.h"
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS     1000000ll
#define SECOND (1000 * MS)

static void nap(long ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* ---- the bucket ---- */

TEST(payment_comes_first) {
    bucket_t bucket = bucket_new(1000, 5 * SECOND);
    /* 100 documents at 1000 a second: 100 ms, also for the very first */
    assert_uint_in_range(bucket_pay(&bucket, 100, 5 * SECOND), 5 * SECOND + 100 * MS,
                         5 * SECOND + 100 * MS + 1);
    assert_uint_in_range(bucket_pay(&bucket, 1, 5 * SECOND), 5 * SECOND + 101 * MS,
                         5 * SECOND + 101 * MS + 2);
}

TEST(little_is_kept) {
    bucket_t bucket = bucket_new(1000, 0);
    /* after an hour of silence a tenth of a second's worth goes at once, and no more */
    const int64_t later = 3600 * SECOND;
    assert_true(bucket_pay(&bucket, 99, later) <= later);
    assert_true(bucket_pay(&bucket, 2, later) > later);
    assert_uint_in_range(bucket_pay(&bucket, 1000, later), later + SECOND, later + SECOND + 2 * MS);
}

/* However batches come: what was sent up to any moment is no more than the rate allows since the start. */
TEST(never_faster) {
    static const uint64_t rates[] = {1, 7, 1000, 50000, 20 << 20, 1000000007};
    srandom(7);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const int64_t start = 1234567;
        int64_t now = start;
        bucket_t bucket = bucket_new(rates[i], now);
        uint64_t sent = 0;
        for (int turn = 0; turn < 20000; turn++) {
            if (random() % 3 == 0)
                now += random() % (400 * MS);
            uint64_t cost = (uint64_t)(random() % 3000);
            int64_t due = bucket_pay(&bucket, cost, now);
            now = due > now ? due : now;
            sent += cost;
            long double allowed = (long double)(now - start) / SECOND * (long double)rates[i];
            if ((long double)sent > allowed * (1 + 1e-12L))
                fail_msg("%llu at %lld ns, %llu a second", (unsigned long long)sent, (long long)now,
                         (unsigned long long)rates[i]);
        }
    }
}

/* A loader that always has a batch ready gets the whole rate, also when it wakes a little late each time. */
TEST(not_slower_for_waking_late) {
    bucket_t bucket = bucket_new(10000, 0);
    int64_t now = 0;
    for (int turn = 0; turn < 1000; turn++) {
        int64_t due = bucket_pay(&bucket, 100, now);
        now = (due > now ? due : now) + 7 * MS;
    }
    assert_true(now < 10 * SECOND + 10 * MS);
}

TEST(no_overflow) {
    bucket_t slow = bucket_new(1, SECOND), fast = bucket_new(UINT64_MAX, SECOND);
    int64_t due = 0;
    for (int i = 0; i < 10; i++) {
        int64_t next = bucket_pay(&slow, UINT64_MAX, SECOND);
        assert_true(next > due || next > INT64_MAX / 4);
        due = next;
    }
    assert_true(due > 0);
    assert_true(bucket_pay(&fast, 1000, SECOND) <= SECOND + 10);
}

/* ---- threads ---- */

typedef struct {
    throttle_t *throttle;
    size_t place;
    int number, rounds;
    pthread_t thread;
    bool passed;
    int64_t took_ns;
} guest_t;

static atomic_int passed_count, under_way, most_under_way;
static int order[64];

static void *come_once(void *context) {
    guest_t *guest = context;
    int64_t began, start = clock_now_ns();
    guest->passed = throttle_enter(guest->throttle, guest->place, 10, 1000, &began);
    guest->took_ns = clock_now_ns() - start;
    if (!guest->passed)
        return NULL;
    order[atomic_fetch_add(&passed_count, 1)] = guest->number;
    throttle_leave(guest->throttle, guest->place, began, 10);
    return NULL;
}

static void wait_for_line(throttle_t *throttle, size_t place, uint32_t waiting) {
    while (throttle_place(throttle, place).waiting != waiting)
        nap(1);
}

static void let_come(guest_t *guest, throttle_t *throttle, size_t place, int number) {
    *guest = (guest_t){.throttle = throttle, .place = place, .number = number};
    assert_int_equal(pthread_create(&guest->thread, NULL, come_once, guest), 0);
}

static throttle_t *with_limit(double limit, double most) {
    throttle_t *throttle = throttle_new(&(throttle_options_t){.places = 2, .limit = limit, .most = most});
    assert_non_null(throttle);
    return throttle;
}

TEST(first_come_first) {
    enum { GUESTS = 20 };
    guest_t guests[GUESTS];
    int64_t began;
    throttle_t *throttle = with_limit(1, 64);
    passed_count = 0;
    assert_true(throttle_enter(throttle, 1, 10, 1000, &began));
    for (int i = 0; i < GUESTS; i++) {
        let_come(&guests[i], throttle, 1, i);
        wait_for_line(throttle, 1, (uint32_t)i + 1);
    }
    throttle_leave(throttle, 1, began, 10);
    for (int i = 0; i < GUESTS; i++)
        pthread_join(guests[i].thread, NULL);
    assert_int_equal(passed_count, GUESTS);
    for (int i = 0; i < GUESTS; i++)
        assert_int_equal(order[i], i);
    assert_int_equal(throttle_place(throttle, 1).waiting, 0);
    assert_true(throttle_waited(throttle).for_limits_ns > 0);
    assert_int_equal(throttle_waited(throttle).for_rate_ns, 0);
    throttle_free(throttle);
}

static void *come_often(void *context) {
    guest_t *guest = context;
    for (int i = 0; i < guest->rounds; i++) {
        int64_t began;
        if (!throttle_enter(guest->throttle, guest->place, 1, 1, &began))
            return NULL;
        int now = atomic_fetch_add(&under_way, 1) + 1, most = most_under_way;
        while (now > most && !atomic_compare_exchange_weak(&most_under_way, &most, now))
            ;
        nap(random() % 2);
        atomic_fetch_sub(&under_way, 1);
        throttle_leave(guest->throttle, guest->place, began, 1);
    }
    guest->passed = true;
    return NULL;
}

TEST(no_more_than_the_limit) {
    enum { GUESTS = 12 };
    static const struct {
        double limit;
        int most;
    } cases[] = {{1, 1}, {1.99, 1}, {3, 3}, {0.7, 1}, {64, GUESTS}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        guest_t guests[GUESTS];
        throttle_t *throttle = with_limit(cases[c].limit, cases[c].limit); /* it does not grow */
        under_way = most_under_way = 0;
        for (int i = 0; i < GUESTS; i++) {
            guests[i] = (guest_t){.throttle = throttle, .rounds = 5};
            assert_int_equal(pthread_create(&guests[i].thread, NULL, come_often, &guests[i]), 0);
        }
        for (int i = 0; i < GUESTS; i++) {
            pthread_join(guests[i].thread, NULL);
            assert_true(guests[i].passed);
        }
        if (most_under_way > cases[c].most)
            fail_msg("%d at once with a limit of %g", most_under_way, cases[c].limit);
        throttle_free(throttle);
    }
}

TEST(rest) {
    throttle_t *throttle = with_limit(0.25, 64);
    int64_t began, first;
    assert_true(throttle_enter(throttle, 0, 1, 1, &began));
    nap(20);
    int64_t left = clock_now_ns();
    throttle_leave(throttle, 0, began, 1);
    assert_true(throttle_enter(throttle, 0, 1, 1, &first));
    /* 20 ms of work, then three times as long nothing */
    assert_true(first - left >= 60 * MS - 1 * MS);
    throttle_leave(throttle, 0, first, 1);
    throttle_free(throttle);
}

static void come_back_after(throttle_t *throttle, int64_t took_ns, uint32_t documents) {
    int64_t began;
    assert_true(throttle_enter(throttle, 1, documents, 1, &began));
    throttle_leave(throttle, 1, clock_now_ns() - took_ns, documents);
}

/* Twice a second the limit moves: up while batches take as long as usual, down when they take longer. A short batch says
 * nothing of it, and each place has its own. */
TEST(limits_move) {
    throttle_t *throttle = with_limit(1, 64);
    nap(510);
    come_back_after(throttle, 10 * MS, 100);
    const double first = throttle_place(throttle, 1).limit;
    assert_true(first > 1);
    come_back_after(throttle, 900 * MS, 10);
    nap(510);
    come_back_after(throttle, 10 * MS, 100);
    const double second = throttle_place(throttle, 1).limit;
    assert_true(second > first && throttle_place(throttle, 1).worst == 0);
    nap(510);
    come_back_after(throttle, 40 * MS, 100);
    assert_true(throttle_place(throttle, 1).limit < second);
    assert_true(throttle_place(throttle, 1).worst > 2 && throttle_place(throttle, 1).worst < 3);
    assert_true(throttle_place(throttle, 0).limit == 1 && throttle_place(throttle, 0).worst == 0);
    throttle_free(throttle);
}

TEST(rate_of_threads) {
    enum { GUESTS = 8 };
    static const bool by_bytes[] = {false, true};
    for (size_t c = 0; c < 2; c++) {
        guest_t guests[GUESTS];
        /* each brings 10 documents of 100 bytes */
        throttle_t *throttle = throttle_new(
            &(throttle_options_t){.per_second = by_bytes[c] ? 100000 : 1000, .bytes = by_bytes[c]});
        assert_non_null(throttle);
        int64_t start = clock_now_ns();
        passed_count = 0;
        for (int i = 0; i < GUESTS; i++)
            let_come(&guests[i], throttle, 0, i);
        for (int i = 0; i < GUESTS; i++)
            pthread_join(guests[i].thread, NULL);
        assert_int_equal(passed_count, GUESTS);
        assert_true(clock_now_ns() - start >= 79 * MS);
        assert_true(throttle_waited(throttle).for_rate_ns > 0);
        throttle_free(throttle);
    }
}

/* All that wait go home, whatever they wait for; who comes later, too. */
TEST(close) {
    enum { GUESTS = 6 };
    guest_t guests[3 * GUESTS];
    int64_t began;
    throttle_t *closed = with_limit(1, 64), *slow = throttle_new(&(throttle_options_t){.per_second = 1});
    for (size_t place = 0; place < 2; place++)
        assert_true(throttle_enter(closed, place, 1, 1, &began));
    for (int i = 0; i < 3 * GUESTS; i++)
        let_come(&guests[i], i < 2 * GUESTS ? closed : slow, (size_t)i % 2, i);
    wait_for_line(closed, 0, GUESTS);
    wait_for_line(closed, 1, GUESTS);
    nap(10);
    throttle_close(closed);
    throttle_close(slow);
    for (int i = 0; i < 3 * GUESTS; i++) {
        pthread_join(guests[i].thread, NULL);
        assert_false(guests[i].passed);
    }
    throttle_leave(closed, 0, began, 1);
    assert_false(throttle_enter(closed, 0, 1, 1, &began));
    assert_false(throttle_enter(slow, 0, 1, 1, &began));
    throttle_close(NULL);
    throttle_free(closed);
    throttle_free(slow);
}

/* A stop signal: who would have to wait goes home, who need not may go. In a process of its own, because the
 * flag cannot be taken back. */
TEST(stop_signal) {
    pid_t child = fork();
    if (child == 0) {
        enum { GUESTS = 6 };
        guest_t guests[GUESTS];
        int64_t began;
        stop_install();
        throttle_t *slow = throttle_new(&(throttle_options_t){.per_second = 1});
        for (int i = 0; i < GUESTS; i++)
            let_come(&guests[i], slow, 0, i);
        nap(20);
        raise(SIGTERM);
        bool ok = true;
        for (int i = 0; i < GUESTS; i++) {
            pthread_join(guests[i].thread, NULL);
            ok = ok && !guests[i].passed;
        }
        throttle_t *open = with_limit(1, 64);
        ok = ok && throttle_enter(open, 0, 1, 1, &began);
        ok = ok && !throttle_enter(open, 0, 1, 1, &began);
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status)); /* else the grace of ten seconds was over */
    assert_int_equal(WEXITSTATUS(status), 0);
}
