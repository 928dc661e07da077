/* limits: what a load and a verify may be asked for. */
#include "load/load.h"
#include "load/spec/limits.h"
#include "test.h"
#include "verify/verify.h"

#include <string.h>

TEST(ranges) {
    err_t err;
    const uint64_t memory = 256 << 20;
    assert_true(limits_check(0, memory, &err));
    assert_true(limits_check(LIMITS_MOST_THREADS, memory, &err));
    assert_true(limits_check_batch(LIMITS_MOST_BATCH, 4096, &err));
    assert_false(limits_check(LIMITS_MOST_THREADS + 1, memory, &err));
    assert_non_null(strstr(err.text, "threads: 257 is out of range"));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_false(limits_check(1, 1000, &err));
    assert_false(limits_check_batch(0, 4096, &err));
    assert_false(limits_check_batch(4000000000u, 4096, &err));
    assert_false(limits_check_batch(1, 0, &err));
}

/* Whoever asks: nothing is opened before. */
TEST(asked) {
    static load_result_t result;
    load_spec_t spec;
    err_t err = {.text = ""};
    load_spec_init(&spec);
    spec.uri = "mongodb://127.0.0.1:1/a.b";
    spec.format = "no such format";
    spec.threads = LIMITS_MOST_THREADS + 1;
    assert_false(load_run(&spec, &result, &err));
    assert_non_null(strstr(err.text, "threads: 257 is out of range"));
    spec.threads = 1;
    spec.batch = LIMITS_MOST_BATCH + 1;
    assert_false(load_run(&spec, &result, &err));
    assert_non_null(strstr(err.text, "100001 is out of range"));
    verify_spec_t verify;
    verify_result_t verified;
    verify_spec_init(&verify);
    verify.load.uri = spec.uri;
    verify.load.format = spec.format;
    verify.load.threads = LIMITS_MOST_THREADS + 1;
    assert_false(verify_run(&verify, &verified, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, "threads: 257 is out of range"));
    verify_free_result(&verified);
}
