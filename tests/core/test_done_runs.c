/* done_runs: against a plain array of blocks, each with a hash. */
#include "catalog/store/done_runs.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static void expect(const done_runs_t *set, const char *text) {
    char out[400] = "";
    for (size_t i = 0; i < set->count; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%llu-%llu:%llu", i ? " " : "",
                 (unsigned long long)set->runs[i].from, (unsigned long long)set->runs[i].to,
                 (unsigned long long)set->runs[i].hash);
    assert_string_equal(out, text);
}

static bool add(done_runs_t *set, uint64_t from, uint64_t to, uint64_t hash) {
    bool is_new;
    assert_true(done_runs_add(set, from, to, hash, &is_new));
    return is_new;
}

TEST(by_hand) {
    done_runs_t set = {0}, copy = {0};
    assert_false(done_runs_cover(&set, 0, 1));
    assert_true(done_runs_cover(&set, 4, 4)); /* nothing is always there */
    assert_null(done_runs_find(&set, 0));
    assert_true(add(&set, 5, 7, 10));
    assert_false(add(&set, 9, 9, 1)); /* no block */
    assert_true(add(&set, 9, 10, 3));
    expect(&set, "5-7:10 9-10:3");
    assert_true(done_runs_would_grow(&set, 11, 12));
    assert_true(done_runs_would_grow(&set, 2, 4));
    assert_false(done_runs_would_grow(&set, 10, 11));
    assert_false(done_runs_would_grow(&set, 4, 5));
    assert_false(done_runs_would_grow(&set, 7, 9));
    assert_true(add(&set, 7, 9, 100)); /* two become one */
    expect(&set, "5-10:113");
    assert_false(add(&set, 6, 8, 7)); /* there already: its hash does not count again */
    assert_false(add(&set, 5, 10, 7));
    expect(&set, "5-10:113");
    assert_true(done_runs_cover(&set, 5, 10));
    assert_false(done_runs_cover(&set, 5, 11));
    assert_false(done_runs_cover(&set, 4, 6));
    assert_ptr_equal(done_runs_find(&set, 9), &set.runs[0]);
    assert_null(done_runs_find(&set, 10));
    assert_null(done_runs_find(&set, 4));
    assert_true(done_runs_copy(&copy, &set));
    assert_true(add(&set, 0, 1, 1));
    expect(&set, "0-1:1 5-10:113");
    expect(&copy, "5-10:113");
    done_runs_free(&copy);
    done_runs_free(&set);
    expect(&set, "");
}

/* In any order the same runs, and the same hash. */
TEST(any_order) {
    uint32_t random = 1;
    for (int round = 0; round < 300; round++) {
        enum { BLOCKS = 40 };
        bool is[BLOCKS] = {false};
        done_runs_t set = {0};
        for (int i = 0; i < 30; i++) {
            random = random * 1664525 + 1013904223;
            const uint64_t block = (random >> 16) % BLOCKS;
            assert_int_equal(add(&set, block, block + 1, block * block + 1), !is[block]);
            is[block] = true;
        }
        size_t runs = 0;
        for (uint64_t at = 0; at < BLOCKS; at++) {
            const done_run_t *run = done_runs_find(&set, at);
            assert_int_equal(run != NULL, is[at]);
            if (!is[at] || (at && is[at - 1]))
                continue;
            uint64_t end = at, hash = 0;
            for (; end < BLOCKS && is[end]; end++)
                hash += end * end + 1;
            runs++;
            assert_int_equal(run->from, at);
            assert_int_equal(run->to, end);
            assert_int_equal(run->hash, hash);
            assert_true(done_runs_cover(&set, at, end));
            assert_false(done_runs_cover(&set, at, end + 1));
        }
        assert_int_equal(set.count, runs);
        done_runs_free(&set);
    }
}
