/* The table of a load's options: each name once for each who takes it, and what was said last counts. */
#include "load/spec/load_options.h"
#include "test.h"

#include <string.h>

TEST(a_name_is_one_row) {
    for (unsigned taker = TAKEN_BY_LOAD; taker <= TAKEN_BY_LIBRARY; taker <<= 1)
        for (const option_t *row = load_options; row->name; row++)
            if (row->takers & taker)
                assert_ptr_equal(load_options_find(row->name, taker), row);
}

static void set(load_options_t *options, const char *name, const char *text) {
    err_t err;
    assert_true(option_set(load_options_find(name, TAKEN_BY_LOAD), text, options, &err));
}

TEST(the_last_rate_counts) {
    load_options_t options;
    load_options_init(&options);
    set(&options, "max-rate", "50k");
    set(&options, "max-rate", "auto");
    assert_true(options.spec.max_rate_auto);
    assert_int_equal(options.spec.max_rate, 0);
    set(&options, "max-rate", "20MB");
    assert_false(options.spec.max_rate_auto);
    assert_int_equal(options.spec.max_rate, 20 << 20);
    assert_true(options.spec.max_rate_bytes);
}
