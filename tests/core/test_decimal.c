/* decimal: their order, and what has none. (The same bits as libbson's: tests/fuzz/fuzz_convert.c.) */
#include "format/values/values.h"
#include "format_lab.h"
#include "test.h"

TEST(order) {
    /* ascending; '=' is before what equals the one before it */
    static const char *const texts[] = {"-1e5000", "-12",  "-1.50",   "=-1.5",
                                        "=-15e-1", "-0.1", "-0",      "=0",
                                        "=0.00",   "=0e9", "1e-6176", "0.1",
                                        "1",       "=1.0", "=10e-1",  "1.000000000000000000000000000000001",
                                        "9",       "10",   "=1e1",    "123456789012345678901234567890",
                                        "1e5000"};
    enum { COUNT_OF = sizeof texts / sizeof *texts };
    bson_decimal128_t decimals[COUNT_OF];
    int rank[COUNT_OF];
    for (int i = 0; i < COUNT_OF; i++) {
        const bool equal = texts[i][0] == '=';
        rank[i] = i ? rank[i - 1] + !equal : 0;
        LAB_MUST(decimal_read((const uint8_t *)texts[i] + equal, strlen(texts[i]) - equal, 0, &decimals[i]));
    }
    for (int i = 0; i < COUNT_OF; i++)
        for (int j = 0; j < COUNT_OF; j++)
            if (decimal_compare(&decimals[i], &decimals[j]) != (rank[i] > rank[j]) - (rank[i] < rank[j]))
                fail_msg("%s to %s", texts[i], texts[j]);
}

/* What servers may hold, but no file says. */
TEST(no_numbers) {
    static const char *const odd[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        bson_decimal128_t decimal;
        LAB_MUST(bson_decimal128_from_string(odd[i], &decimal));
        assert_false(decimal_is_number(&decimal));
    }
}
