/* traffic: who was busy, for how long, with how much at once. */
#include "load/rate/throttle.h"
#include "test.h"

#include <time.h>

static void nap(long ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

TEST(overlaps_count_once) {
    traffic_t *traffic = traffic_new(3);
    int64_t first = traffic_begin(traffic, 1);
    nap(20);
    int64_t second = traffic_begin(traffic, 1);
    nap(20);
    traffic_end(traffic, 1, first);
    nap(20);
    traffic_end(traffic, 1, second);
    traffic_figures_t figures = traffic_figures(traffic, 1);
    assert_int_equal(figures.batches, 2);
    assert_int_equal(figures.most, 2);
    /* 0-40 and 20-60 ms: 60 busy, 80 waited for, on however slow a machine */
    assert_true(figures.busy_ns >= 60000000 && figures.waiting_ns >= figures.busy_ns + 20000000);
    assert_true(figures.waiting_ns <= 2 * figures.busy_ns);
    nap(5);
    assert_int_equal(traffic_figures(traffic, 1).busy_ns, figures.busy_ns);
    traffic_free(traffic);
}

TEST(under_way) {
    traffic_t *traffic = traffic_new(2);
    traffic_begin(traffic, 0);
    nap(5);
    traffic_figures_t figures = traffic_figures(traffic, 0);
    assert_true(figures.busy_ns >= 5000000);
    assert_int_equal(figures.batches, 0);
    assert_int_equal(figures.most, 1);
    assert_int_equal(traffic_figures(traffic, 1).most, 0);
    traffic_free(traffic);
}

TEST(documents) {
    traffic_t *traffic = traffic_new(2);
    traffic_add(traffic, 1, 5);
    traffic_add(traffic, 1, 7);
    assert_int_equal(traffic_figures(traffic, 1).documents, 12);
    assert_int_equal(traffic_figures(traffic, 0).documents, 0);
    traffic_free(traffic);
    traffic_free(NULL);
}
