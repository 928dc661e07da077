/* runs: a set of numbers, against a plain array of bits. */
#include "base/runs.h"
#include "format_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void expect(const runs_t *set, const char *text) {
    char out[400] = "";
    for (size_t i = 0; i < set->count; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%llu-%llu", i ? " " : "",
                 (unsigned long long)set->runs[i].from, (unsigned long long)set->runs[i].to);
    assert_string_equal(out, text);
}

static void test_by_hand(void **state) {
    (void)state;
    runs_t set = {0};
    assert_false(runs_has(&set, 0));
    assert_false(runs_cover(&set, 0, 1));
    assert_int_equal(runs_total(&set), 0);
    assert_true(runs_add(&set, 5, 7));
    expect(&set, "5-7");
    assert_true(runs_add(&set, 9, 9)); /* nothing */
    assert_true(runs_add(&set, 9, 3));
    expect(&set, "5-7");
    assert_true(runs_add(&set, 10, 12));
    assert_true(runs_add(&set, 1, 2));
    expect(&set, "1-2 5-7 10-12");
    assert_true(runs_add(&set, 7, 8)); /* runs never touch */
    expect(&set, "1-2 5-8 10-12");
    assert_true(runs_add(&set, 9, 10));
    expect(&set, "1-2 5-8 9-12");
    assert_true(runs_add(&set, 8, 9));
    expect(&set, "1-2 5-12");
    assert_true(runs_add(&set, 6, 7)); /* there already */
    expect(&set, "1-2 5-12");
    assert_int_equal(runs_total(&set), 8);
    assert_true(runs_has(&set, 5));
    assert_true(runs_has(&set, 11));
    assert_false(runs_has(&set, 12));
    assert_false(runs_has(&set, 4));
    assert_true(runs_cover(&set, 5, 12));
    assert_false(runs_cover(&set, 5, 13));
    assert_false(runs_cover(&set, 4, 6));
    assert_false(runs_cover(&set, 1, 6)); /* a hole between */
    assert_true(runs_add(&set, 0, 100));
    expect(&set, "0-100");
    runs_free(&set);
    assert_int_equal(set.count, 0);
    assert_null(set.runs);
}

static void test_far_ends(void **state) {
    (void)state;
    runs_t set = {0};
    assert_true(runs_add(&set, UINT64_MAX - 1, UINT64_MAX));
    assert_true(runs_add(&set, 0, 1));
    assert_true(runs_has(&set, 0));
    assert_true(runs_has(&set, UINT64_MAX - 1));
    assert_false(runs_has(&set, 1));
    assert_int_equal(set.count, 2);
    assert_true(runs_add(&set, 0, UINT64_MAX));
    assert_int_equal(set.count, 1);
    assert_true(runs_total(&set) == UINT64_MAX);
    runs_free(&set);
}

static void check(const runs_t *set, const bool *bits, uint64_t most) {
    uint64_t total = 0, runs = 0;
    for (uint64_t i = 0; i < most; i++) {
        if (runs_has(set, i) != bits[i])
            fail_msg("%llu", (unsigned long long)i);
        total += bits[i];
        runs += bits[i] && (i == 0 || !bits[i - 1]);
    }
    assert_int_equal(runs_total(set), total);
    assert_int_equal(set->count, runs);
    for (size_t i = 1; i < set->count; i++)
        assert_true(set->runs[i - 1].to < set->runs[i].from);
}

static void test_random(void **state) {
    (void)state;
    enum { MOST = 300 };
    uint64_t seed = 2;
    for (int round = 0; round < 60; round++) {
        runs_t set = {0};
        bool bits[MOST] = {false};
        for (int step = 0; step < 120; step++) {
            uint64_t from = lab_chance(&seed, MOST), length = lab_chance(&seed, round % 2 ? 3 : 20);
            uint64_t to = from + length < MOST ? from + length : MOST;
            assert_true(runs_add(&set, from, to));
            for (uint64_t i = from; i < to; i++)
                bits[i] = true;
            uint64_t a = lab_chance(&seed, MOST), b = a + 1 + lab_chance(&seed, 30);
            bool all = b <= MOST;
            for (uint64_t i = a; i < b && i < MOST; i++)
                all = all && bits[i];
            assert_int_equal(runs_cover(&set, a, b), all);
        }
        check(&set, bits, MOST);
        runs_free(&set);
    }
}

/* Blocks that are done out of order, as many as a large file has. */
static void test_many(void **state) {
    (void)state;
    enum { MOST = 20000 };
    runs_t set = {0};
    for (uint64_t i = 0; i < MOST; i += 2)
        assert_true(runs_add(&set, i, i + 1));
    assert_int_equal(set.count, MOST / 2);
    for (uint64_t i = MOST - 1; i < MOST; i -= 2)
        assert_true(runs_add(&set, i, i + 1));
    assert_int_equal(set.count, 1);
    assert_true(runs_cover(&set, 0, MOST));
    runs_free(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_far_ends),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
