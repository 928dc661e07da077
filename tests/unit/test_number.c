/* number: the shortest digits that read back the same. */
#include "base/number.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_cases(void **state) {
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {{12.067, "12.067"},
                 {0.1, "0.1"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {1.0 / 3, "0.3333333333333333"},
                 {5, "5"},
                 {0, "0"},
                 {-0.0, "-0"},
                 {-1.5e-7, "-1.5e-07"},
                 {123456789012345, "123456789012345"},
                 {9007199254740992, "9007199254740992"},
                 {1e22, "1e+22"},
                 {5e-324, "5e-324"},
                 {2.5e-320, "2.5e-320"},
                 {DBL_MIN, "2.2250738585072014e-308"},
                 {DBL_MAX, "1.7976931348623157e+308"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"}};
    char text[NUMBER_ROOM];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(number_print(text, cases[i].number), cases[i].text);
    assert_non_null(strstr(number_print(text, NAN), "nan"));
}

/* Any bits read back the same, and no fewer digits would. */
static void test_any_bits(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        char text[NUMBER_ROOM], shorter[NUMBER_ROOM];
        double number;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = seed ^ seed >> 29;
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number))
            continue;
        assert_true(strtod(number_print(text, number), NULL) == number);
        int digits = 0;
        for (const char *at = text; *at && *at != 'e'; at++) /* from the first that is not zero */
            digits += *at >= (digits ? '0' : '1') && *at <= '9';
        snprintf(shorter, sizeof shorter, "%.*e", digits > 2 ? digits - 2 : 0, number);
        if (digits > 1 && strtod(shorter, NULL) == number)
            fail_msg("%s is longer than %s", text, shorter);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_any_bits),
    };
    return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
