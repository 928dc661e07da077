/* step: when a line is due, by times that the test makes, and what it says. */
#include "base/step.h"
#include "test.h"

#include <stdint.h>

static const int64_t SECOND = 1000000000, MS = 1000000;

TEST(line) {
    char line[STEP_LINE];
    assert_string_equal(step_line("building the index k:1", 1900 * MS, line), "building the index k:1");
    assert_string_equal(step_line("building the index k:1", 2 * SECOND, line),
                        "building the index k:1   2 s");
    assert_string_equal(step_line("building the index k:1", 12 * SECOND + 900 * MS, line),
                        "building the index k:1   12 s");
    assert_string_equal(step_line("building the index k:1", 192 * SECOND, line),
                        "building the index k:1   3:12 min");
}

/* Soon, and then every second; what is done next is shown without a gap, but not faster than anybody reads. */
TEST(terminal) {
    step_times_t times = {.terminal = true, .began_ns = 5 * SECOND, .said_ns = 0};
    assert_int_equal(step_due_ns(&times), 5 * SECOND + 300 * MS);
    times.drawn = true;
    times.said_ns = 6 * SECOND;
    assert_int_equal(step_due_ns(&times), 7 * SECOND);
    times.changed = true;
    assert_int_equal(step_due_ns(&times), 6 * SECOND + 170 * MS);
}

/* A line every half minute, however often the steps change. */
TEST(elsewhere) {
    step_times_t times = {.began_ns = 5 * SECOND, .said_ns = 1 * SECOND};
    assert_int_equal(step_due_ns(&times), 31 * SECOND);
    times.changed = true;
    times.began_ns = 30 * SECOND;
    assert_int_equal(step_due_ns(&times), 31 * SECOND);
}

/* Short steps, within one another, with nothing to show: none of them waits for anything. */
TEST(nested) {
    step_t outer, inner, silent;
    for (int i = 0; i < 200; i++) {
        step_begin(&outer, "outer %d", i);
        step_begin(&inner, "%s", "");
        step_change(&inner, "inner");
        step_end(&inner);
        log_set_level(LOG_SILENT);
        step_begin(&silent, "not shown");
        log_set_level(LOG_NORMAL);
        step_end(&silent);
        step_end(&outer);
        step_end(&outer);
    }
}
