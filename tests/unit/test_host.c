/* host: what this process has held. */
#include "base/host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_peak_memory(void **state) {
    (void)state;
    enum { MUCH = 64 << 20 };
    uint64_t before = host_peak_memory();
    assert_in_range(before, 100 << 10, 1ull << 40);
    char *much = malloc(MUCH);
    assert_non_null(much);
    memset(much, 7, MUCH);
    uint64_t with = host_peak_memory();
    assert_true(with >= before + MUCH / 2 && with >= MUCH);
    assert_int_equal(much[MUCH - 1], 7);
    free(much);
    assert_true(host_peak_memory() + MUCH / 4 >= with); /* a peak stays, as exactly as the system counts */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_peak_memory)};
    return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
