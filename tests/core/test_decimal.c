/* decimal: against libbson's own reading of decimals, and the order against integers. */
#include "format/values/decimal.h"
#include "format_lab.h"
#include "test.h"

/* Digits and an exponent at random. */
static size_t random_text(uint64_t *seed, char *text) {
    size_t used = 0, digits = 1 + lab_chance(seed, 38), point = lab_chance(seed, digits + 4);
    if (lab_chance(seed, 2))
        text[used++] = "-+"[lab_chance(seed, 2)];
    for (size_t i = 0; i < digits; i++) {
        if (i == point)
            text[used++] = '.';
        text[used++] = (char)('0' + (lab_chance(seed, 4) ? lab_chance(seed, 10) : 0));
    }
    if (lab_chance(seed, 2) == 0)
        used += (size_t)sprintf(text + used, "e%d",
                                (int)lab_chance(seed, lab_chance(seed, 2) ? 80 : 7000) *
                                    (lab_chance(seed, 2) ? 1 : -1));
    text[used] = '\0';
    return used;
}

static bool same(const decimal_t *a, const decimal_t *b) {
    return a->count == b->count && a->exponent == b->exponent && a->minus == b->minus &&
           memcmp(a->digits, b->digits, sizeof a->digits) == 0;
}

TEST(against_libbson) {
    uint64_t seed = 11;
    size_t fit = 0;
    for (int round = 0; round < 200000; round++) {
        char text[128];
        uint8_t bytes[16], printed[DECIMAL_PRINTED + 1];
        decimal_t decimal, again;
        bson_decimal128_t theirs;
        const size_t length = random_text(&seed, text);
        if (!decimal_read((const uint8_t *)text, length, &decimal))
            fail_msg("%s is no decimal", text);
        if (!decimal_fits(&decimal))
            continue;
        fit++;
        decimal_store(&decimal, bytes);
        if (!bson_decimal128_from_string(text, &theirs))
            fail_msg("%s does not fit there", text);
        if (memcmp(bytes, &theirs.low, 8) != 0 || memcmp(bytes + 8, &theirs.high, 8) != 0)
            fail_msg("%s has other bytes", text);
        printed[DECIMAL_PRINTED] = 'G';
        const size_t size = decimal_print(&decimal, printed);
        assert_uint_in_range(size, 1, DECIMAL_PRINTED);
        assert_int_equal(printed[DECIMAL_PRINTED], 'G');
        if (!decimal_read(printed, size, &again) || !same(&again, &decimal))
            fail_msg("%s is printed as %.*s", text, (int)size, (const char *)printed);
        if (!decimal_load(bytes, &again) || !same(&again, &decimal))
            fail_msg("%s is another one in its bytes", text);
    }
    assert_uint_in_range(fit, 50000, 200000);
}

TEST(order) {
    /* ascending; '=' is before what equals the one before it */
    static const char *const texts[] = {
        "-1e500",  "-12",  "-1.50",   "=-1.5",
        "=-15e-1", "-0.1", "-0",      "=0",
        "=0.00",   "=0e9", "1e-9999", "0.1",
        "1",       "=1.0", "=10e-1",  "1.00000000000000000000000000000000000000001",
        "9",       "10",   "=1e1",    "123456789012345678901234567890",
        "1e500"};
    enum { COUNT_OF = sizeof texts / sizeof *texts };
    decimal_t decimals[COUNT_OF];
    int rank[COUNT_OF];
    for (int i = 0; i < COUNT_OF; i++) {
        const bool equal = texts[i][0] == '=';
        rank[i] = i ? rank[i - 1] + !equal : 0;
        LAB_MUST(decimal_read((const uint8_t *)texts[i] + equal, strlen(texts[i]) - equal, &decimals[i]));
    }
    for (int i = 0; i < COUNT_OF; i++)
        for (int j = 0; j < COUNT_OF; j++)
            if (decimal_compare(&decimals[i], &decimals[j]) != (rank[i] > rank[j]) - (rank[i] < rank[j]))
                fail_msg("%s to %s", texts[i], texts[j]);
}

/* The largest and the least that a server can hold with all of their digits. */
TEST(edges) {
    static const char nines[] = "9999999999999999999999999999999999";
    static const int exponents[] = {-6177, -6176, 6111, 6112};
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        char text[60];
        decimal_t decimal;
        snprintf(text, sizeof text, "%se%d", nines, exponents[i]);
        LAB_MUST(decimal_read((const uint8_t *)text, strlen(text), &decimal));
        assert_int_equal(decimal_fits(&decimal), i == 1 || i == 2);
    }
}

/* What servers may hold, but no file says. */
TEST(odd_bits) {
    static const char *const odd[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        bson_decimal128_t theirs;
        uint8_t bytes[16];
        decimal_t decimal;
        LAB_MUST(bson_decimal128_from_string(odd[i], &theirs));
        memcpy(bytes, &theirs.low, 8);
        memcpy(bytes + 8, &theirs.high, 8);
        assert_false(decimal_load(bytes, &decimal));
    }
    uint8_t ones[16];
    decimal_t decimal;
    memset(ones, 0xFF, sizeof ones);
    ones[15] = 0x3F; /* more than 34 digits */
    assert_false(decimal_load(ones, &decimal));
}
