/* cpu: the kernel's tables, in the form of several releases, and this process's own time. */
#include "base/clock.h"
#include "query/watch/cpu.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void host_is(const char *text, uint64_t user, uint64_t sys, uint64_t iowait, uint64_t idle) {
    cpu_times_t times;
    if (!cpu_parse_host(text, &times))
        fail_msg("'%s' is not read", text);
    assert_int_equal(times.user, user);
    assert_int_equal(times.sys, sys);
    assert_int_equal(times.iowait, iowait);
    assert_int_equal(times.idle, idle);
}

TEST(host) {
    /* user nice system idle iowait irq softirq steal guest guest_nice */
    host_is("cpu  1000 200 30 40000 500 6 7 8000 900 100\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 5\n", 1200, 43, 500,
            40000);
    host_is("cpu  1 2 3 4 5 6 7 8 0\n", 3, 16, 5, 4);
    host_is("cpu  1 2 3 4\n", 3, 3, 0, 4);
    host_is("cpu  18446744073709551615 0 9223372036854775808 0 0 0 0 0 0 0\n", UINT64_MAX,
            9223372036854775808u, 0, 0);
}

TEST(not_of_a_host) {
    static const char *const texts[] = {"",
                                        "cpu",
                                        "cpu  ",
                                        "cpu  1 2 3\n",
                                        "cpu  a b c d\n",
                                        "cpu0 1 2 3 4 5\n",
                                        "intr 1 2 3 4 5\n",
                                        "\ncpu  1 2 3 4 5\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cpu_times_t times;
        if (cpu_parse_host(texts[i], &times))
            fail_msg("'%s' is taken for one", texts[i]);
    }
}

static void process_is(const char *text, const char *name, uint64_t ticks) {
    cpu_process_t found;
    if (!cpu_parse_process(text, &found))
        fail_msg("'%s' is not read", text);
    assert_string_equal(found.name, name);
    assert_int_equal(found.ticks, ticks);
}

#define REST " S 1 17 17 0 -1 4194560 5 6 7 8 1200 34 9 10 20 0 33 0 5000 6000 7000\n"

TEST(process) {
    process_is("17 (mongod)" REST, "mongod", 1234);
    process_is("1 (mongod 6.0)" REST, "mongod 6.0", 1234);
    process_is("17 (a) S 1 2 (b) c)" REST, "a) S 1 2 (b) c", 1234);
    process_is("17 ()" REST, "", 1234);
    process_is("17 (\n)" REST, "\n", 1234);
    process_is("4194304 (kworker/u16:0-events_unbound_with_a_long_name)" REST,
               "kworker/u16:0-events_unbound_wi", 1234);
    process_is("17 (x) R 1 17 17 -1 -1 4194560 5 6 7 8 1200 34\n", "x", 1234);
}

TEST(not_of_a_process) {
    static const char *const texts[] = {"",
                                        "17",
                                        "17 (mongod",
                                        "17 mongod)" REST,
                                        ")(" REST,
                                        "17 (mongod) S 1 17 17 0 -1 4194560 5 6 7 8 1200",
                                        "17 (mongod) S 1 17 17 0 -1 4194560 5 6 7 8 - 34"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cpu_process_t found;
        if (cpu_parse_process(texts[i], &found))
            fail_msg("'%s' is taken for one", texts[i]);
    }
}

/* This process, at work for a while: as much as its own clock says, and no more than the host was. */
TEST(this_one) {
    cpu_times_t host_before, host_after;
    cpu_process_t before, after;
    assert_true(cpu_ticks_per_second() >= 1);
    assert_true(cpu_host(&host_before) && cpu_process(getpid(), &before));
    int64_t began = clock_process_cpu_ns();
    while (clock_process_cpu_ns() - began < 200000000)
        ;
    assert_true(cpu_process(getpid(), &after) && cpu_host(&host_after));
    int64_t took = clock_process_cpu_ns() - began;
    assert_string_equal(after.name, program_invocation_short_name);
    double ticks = (double)(after.ticks - before.ticks),
           expected = (double)took / 1e9 * cpu_ticks_per_second();
    assert_true(ticks >= expected - 3 && ticks <= expected + 3); /* each reading is of whole ticks */
    double busy = (double)(host_after.user + host_after.sys - host_before.user - host_before.sys);
    assert_true(busy >= ticks / 2); /* the host's ticks are counted by another clock */
    cpu_process_t none;
    assert_false(cpu_process(0, &none));
    assert_false(cpu_process(-1, &none));
    assert_false(cpu_process(INT64_MAX, &none));
}
