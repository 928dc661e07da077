/* done_runs: against a plain array of blocks, each with a hash. */
#include "catalog/store/entry.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static bool add(done_runs_t *set, uint64_t from, uint64_t to, uint64_t hash) {
    bool is_new;
    assert_true(done_runs_add(set, from, to, hash, &is_new));
    return is_new;
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
