/* watch: shares of made-up ticks, the length of spans against a count of whole seconds, and a server's words.
 */
#include "json_lab.h"
#include "query/watch/watch.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

static void near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-12 * fmax(fabs(expected), 1)))
        fail_msg("%.17g instead of %.17g", value, expected);
}

/* ---- shares ---- */

TEST(shares) {
    watch_sum_t sum = {.seconds = 0};
    const cpu_times_t first = {100, 200, 300, 400};
    /* less than a tick: nothing is known */
    watch_add_host(&sum, &first, &first);
    assert_true(isnan(sum.figures.user) && isnan(sum.figures.sys) && isnan(sum.figures.iowait) &&
                isnan(sum.figures.idle));
    watch_add_host(&sum, &first, &(cpu_times_t){150, 230, 310, 410});
    near(sum.figures.user, 0.5);
    near(sum.figures.sys, 0.3);
    near(sum.figures.iowait, 0.1);
    near(sum.figures.idle, 0.1);
    /* another stretch, nine times as long: it weighs nine times as much */
    watch_add_host(&sum, &first, &(cpu_times_t){100, 200, 300, 1300});
    near(sum.figures.user, 0.05);
    near(sum.figures.sys, 0.03);
    near(sum.figures.iowait, 0.01);
    near(sum.figures.idle, 0.91);
    /* one without a tick changes nothing */
    watch_add_host(&sum, &first, &first);
    near(sum.figures.idle, 0.91);
}

/* The kernel does not promise that iowait and idle only grow. */
TEST(going_back) {
    watch_sum_t sum = {.seconds = 0};
    watch_add_host(&sum, &(cpu_times_t){100, 200, 300, 400}, &(cpu_times_t){106, 202, 290, 399});
    near(sum.figures.user, 0.75);
    near(sum.figures.sys, 0.25);
    near(sum.figures.iowait, 0);
    near(sum.figures.idle, 0);
}

/* ---- spans ---- */

TEST(spans) {
    assert_true(watch_covered(NULL, 0) == 0);
    near(watch_covered((span_t[]){{5, 8}}, 1), 3);
    near(watch_covered((span_t[]){{5, 5}}, 1), 0);
    near(watch_covered((span_t[]){{5, 8}, {10, 11}}, 2), 4);                   /* one after the other */
    near(watch_covered((span_t[]){{10, 11}, {5, 8}}, 2), 4);                   /* in no order */
    near(watch_covered((span_t[]){{5, 8}, {6, 9}}, 2), 4);                     /* side by side for a while */
    near(watch_covered((span_t[]){{5, 8}, {8, 9}}, 2), 4);                     /* touching */
    near(watch_covered((span_t[]){{5, 15}, {6, 7}, {8, 9}, {14, 16}}, 4), 11); /* inside */
    near(watch_covered((span_t[]){{5, 8}, {5, 8}, {5, 8}}, 3), 3);
    near(watch_covered((span_t[]){{1.7e9, 1.7e9 + 0.25}, {1.7e9 + 0.125, 1.7e9 + 0.5}}, 2), 0.5);
}

/* Spans of whole seconds: as many as are in at least one of them. */
TEST(drawn_spans) {
    enum { SECONDS = 200, MOST = 40 };
    uint32_t drawn = 12345;
    for (int round = 0; round < 500; round++) {
        span_t spans[MOST];
        bool covered[SECONDS] = {false};
        size_t count = 0, expected = 0;
        for (size_t i = 0; i < (size_t)round % MOST; i++) {
            drawn = drawn * 1664525 + 1013904223;
            unsigned from = (drawn >> 8) % SECONDS, to = from + (drawn >> 20) % 12;
            to = to < SECONDS ? to : SECONDS;
            spans[count++] = (span_t){from, to};
            for (unsigned second = from; second < to; second++)
                covered[second] = true;
        }
        for (size_t second = 0; second < SECONDS; second++)
            expected += covered[second];
        near(watch_covered(spans, count), (double)expected);
    }
}

/* ---- a server's words ---- */

static member_status_t read_json(const char *text) {
    member_status_t status;
    bson_t *reply = lab_json(text);
    member_read(reply, &status);
    bson_destroy(reply);
    return status;
}

TEST(server_status) {
    member_status_t status = read_json(
        "{\"host\": \"a:27017\", \"version\": \"6.0.5\", \"process\": \"mongod\", \"pid\": {\"$numberLong\": "
        "\"4711\"},"
        " \"metrics\": {\"queryExecutor\": {\"scanned\": {\"$numberLong\": \"5\"}, \"scannedObjects\": "
        "{\"$numberLong\": \"8000000000\"}}},"
        " \"wiredTiger\": {\"cache\": {\"bytes written from cache\": 1, \"bytes read into cache\": "
        "123456.0}}}");
    near(status.examined, 8e9);
    near(status.cached_bytes, 123456);
    assert_int_equal(status.process, 4711);
}

/* Another storage engine, a router, something that is no server at all. */
TEST(less_of_it) {
    member_status_t status =
        read_json("{\"pid\": 17, \"metrics\": {\"queryExecutor\": {\"scannedObjects\": 0}}}");
    assert_true(status.examined == 0 && isnan(status.cached_bytes) && status.process == 17);
    static const char *const others[] = {
        "{}", "{\"pid\": \"17\", \"metrics\": 3, \"wiredTiger\": {\"cache\": []}}",
        "{\"pid\": -1, \"metrics\": {\"queryExecutor\": {\"scannedObjects\": \"many\"}}}",
        "{\"pid\": 1e300}"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        status = read_json(others[i]);
        assert_true(isnan(status.examined) && isnan(status.cached_bytes) && status.process == 0);
    }
}
