/* watch: the kernel's tables in the form of several releases, shares of made-up times, the length of spans against a
 * count of whole seconds, and a server's words. */
#include "base/clock.h"
#include "json_lab.h"
#include "query/watch/watch.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static void near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-12 * fmax(fabs(expected), 1)))
        fail_msg("%.17g instead of %.17g", value, expected);
}

/* ---- the CPUs of this host ---- */

static void host_is(const char *text, double user, double sys, double iowait, double idle, double steal) {
    const double second = (double)sysconf(_SC_CLK_TCK);
    watch_cpu_t cpu;
    if (!watch_cpu_parse(text, &cpu))
        fail_msg("'%s' is not read", text);
    near(cpu.user * second, user);
    near(cpu.sys * second, sys);
    near(cpu.iowait * second, iowait);
    near(cpu.idle * second, idle);
    near(cpu.steal * second, steal);
}

TEST(host) {
    static const char *const others[] = {"",
                                         "cpu",
                                         "cpu  ",
                                         "cpu  1 2 3\n",
                                         "cpu  a b c d\n",
                                         "cpu0 1 2 3 4 5\n",
                                         "intr 1 2 3 4 5\n",
                                         "\ncpu  1 2 3 4 5\n"};
    watch_cpu_t cpu;
    /* user nice system idle iowait irq softirq steal guest guest_nice */
    host_is("cpu  1000 200 30 40000 500 6 7 8000 900 100\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 5\n", 1200, 43, 500,
            40000, 8000);
    host_is("cpu  1 2 3 4 5 6 7 8 0\n", 3, 16, 5, 4, 8);
    host_is("cpu  1 2 3 4\n", 3, 3, 0, 4, 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (watch_cpu_parse(others[i], &cpu))
            fail_msg("'%s' is taken for the CPU times of a host", others[i]);
}

TEST(shares) {
    const watch_cpu_t first = {100, 200, 300, 400, 0};
    watch_cpu_t sum = {.user = 0};
    watch_cpu_add(&sum, &first, &first);
    assert_true(isnan(watch_cpu_busy(&sum)) && isnan(watch_cpu_others(&sum, 0, 0)));
    watch_cpu_add(&sum, &first, &(watch_cpu_t){105, 203, 301, 401, 0});
    near(watch_cpu_busy(&sum), 0.8);
    /* what the kernel counted less than before has not moved */
    watch_cpu_add(&sum, &first, &(watch_cpu_t){100, 200, 290, 490, 0});
    near(watch_cpu_busy(&sum), 0.08);
    near(watch_cpu_others(&sum, 4, 1), 0.03);
    near(watch_cpu_others(&sum, 0, 0), 0.08);
    /* the servers' times and the kernel's are not read at the same moment */
    near(watch_cpu_others(&sum, 8, 1), 0);
    assert_true(isnan(watch_cpu_others(&sum, NAN, 1)));
    /* what the hypervisor took is a part of all that there was */
    watch_cpu_add(&sum, &first, &(watch_cpu_t){100, 200, 300, 400, 100});
    near(watch_cpu_others(&sum, 0, 0), 0.04);
    /* less than a second */
    assert_true(isnan(watch_cpu_others(&(watch_cpu_t){0.5, 0.1, 0, 0.3, 0}, 0, 0)));
    near(watch_cpu_others(&(watch_cpu_t){0.5, 0.1, 0, 0.4, 0}, 0.1, 0), 0.5);
}

/* This process works for a while, and then it is the others. */
TEST(this_host) {
    watch_cpu_t before, after, spent = {.user = 0};
    const int64_t began = clock_process_cpu_ns();
    assert_true(watch_cpu(&before));
    while (clock_process_cpu_ns() - began < 1500000000)
        ;
    assert_true(watch_cpu(&after));
    watch_cpu_add(&spent, &before, &after);
    /* the host's time is counted by another clock */
    assert_true(spent.user + spent.sys >= 0.75);
    assert_true(watch_cpu_others(&spent, 0, 0) > watch_cpu_others(&spent, 0, 1.5) ||
                watch_cpu_others(&spent, 0, 1.5) == 0);
}

/* ---- a server's words ---- */

static watch_status_t read_json(const char *text) {
    bson_t *reply = lab_json(text);
    const watch_status_t status = watch_read_status(reply);
    bson_destroy(reply);
    return status;
}

TEST(server_status) {
    watch_status_t status = read_json(
        "{\"host\": \"a:27017\", \"version\": \"6.0.5\", \"process\": \"mongod\", \"pid\": {\"$numberLong\": "
        "\"4711\"},"
        " \"metrics\": {\"queryExecutor\": {\"scanned\": {\"$numberLong\": \"5\"}, \"scannedObjects\": "
        "{\"$numberLong\": \"8000000000\"}}}, \"extra_info\": {\"user_time_us\": 2500000, "
        "\"system_time_us\": "
        "{\"$numberLong\": \"500000\"}},"
        " \"wiredTiger\": {\"cache\": {\"bytes written from cache\": 1, \"bytes read into cache\": "
        "123456.0}}}");
    near(status.examined, 8e9);
    near(status.cached_bytes, 123456);
    near(status.cpu_seconds, 3);
    assert_int_equal(status.process, 4711);
}

/* Another storage engine, a router, something that is no server at all. */
TEST(less_of_it) {
    watch_status_t status =
        read_json("{\"pid\": 17, \"metrics\": {\"queryExecutor\": {\"scannedObjects\": 0}}}");
    assert_true(status.examined == 0 && isnan(status.cached_bytes) && status.process == 17);
    static const char *const others[] = {
        "{}", "{\"pid\": \"17\", \"metrics\": 3, \"wiredTiger\": {\"cache\": []}}",
        "{\"pid\": -1, \"metrics\": {\"queryExecutor\": {\"scannedObjects\": \"many\"}}}",
        "{\"pid\": 1e300}"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        status = read_json(others[i]);
        assert_true(isnan(status.examined) && isnan(status.cached_bytes) && isnan(status.cpu_seconds) &&
                    status.process == 0);
    }
}
