/* convert: numbers against strtod, dates against counting days, and back into text. (Their spellings: core.typed; each byte of a date:
 * core.pattern.) */
#include "format/values/calendar.h"
#include "format/values/convert.h"
#include "format_lab.h"
#include "test.h"

#include <inttypes.h>
#include <math.h>

/* --- whole numbers
 * ---------------------------------------------------------------------------------------------- */

/* Each length, each place, each byte. */
TEST(digits_every_byte) {
    uint64_t seed = 4;
    for (size_t length = 1; length <= 16; length++) {
        for (size_t place = 0; place < length; place++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                uint8_t text[16];
                uint64_t expected = 0, value;
                for (size_t i = 0; i < length; i++)
                    text[i] = (uint8_t)('0' + lab_chance(&seed, 10));
                text[place] = (uint8_t)byte;
                for (size_t i = 0; i < length; i++)
                    expected = expected * 10 + (uint64_t)text[i] - '0';
                slack_t slack = slack_new(text, length);
                bool is = convert_digits(slack.text, length, &value), digit = byte >= '0' && byte <= '9';
                if (is != digit || (is && value != expected))
                    fail_msg("%.*s", (int)length, (const char *)text);
                slack_free(&slack);
            }
        }
    }
}

/* (Their spellings: core.typed.) */

/* --- numbers
 * ------------------------------------------------------------------------------------------------------ */

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

/* A decimal text at random: the kinds that files hold, and the nasty ones. */
static size_t random_decimal(uint64_t *seed, char *text) {
    size_t used = 0, digits = 1 + lab_chance(seed, lab_chance(seed, 4) ? 8 : 25);
    size_t point = lab_chance(seed, 3) ? digits + 1 : lab_chance(seed, digits + 1);
    uint64_t sign = lab_chance(seed, 4);
    if (sign < 2)
        text[used++] = "-+"[sign];
    for (size_t i = 0; i < digits; i++) {
        if (i == point)
            text[used++] = '.';
        text[used++] = (char)('0' + (lab_chance(seed, 8) ? lab_chance(seed, 10) : 0));
    }
    if (lab_chance(seed, 3) == 0)
        used += (size_t)sprintf(text + used, "%c%s%d", "eE"[lab_chance(seed, 2)],
                                lab_chance(seed, 2)   ? "-"
                                : lab_chance(seed, 2) ? "+"
                                                      : "",
                                (int)lab_chance(seed, lab_chance(seed, 3) ? 30 : 330));
    text[used] = '\0';
    return used;
}

/* The nearest double, always: a million decimal texts against strtod, the division put into the exponent. */
TEST(against_strtod) {
    uint64_t seed = 6;
    for (int round = 0; round < 1000000 / TEST_SHARE; round++) {
        char text[64], shifted[96];
        uint8_t padded[64 + 64];
        size_t length = random_decimal(&seed, text);
        int divide = round % 3 ? 0 : (int)lab_chance(&seed, 10);
        const char *exponent = strpbrk(text, "eE");
        snprintf(shifted, sizeof shifted, "%.*se%ld", (int)(exponent ? exponent - text : (long)length), text,
                 (exponent ? strtol(exponent + 1, NULL, 10) : 0) - divide);
        double expected = strtod(shifted, NULL), value = 4711;
        memset(padded, '9', sizeof padded);
        memcpy(padded, text, length);
        bool is = convert_number(padded, length, divide, &value);
        const bool vanishes = expected == 0 && strcspn(text, "123456789") < strcspn(text, "eE");
        if (is != (isfinite(expected) && !vanishes) || (is && !same_bits(value, expected)))
            fail_msg("%s / 10^%d is read as %.17g, not %.17g", text, divide, value, expected);
    }
}

static void expect_number_back(double value, int divide) {
    uint8_t out[48];
    double back = 4711;
    memset(out, 'G', sizeof out);
    size_t length = convert_print_number(value, divide, out);
    assert_uint_in_range(length, 1, 40);
    for (size_t i = 40; i < sizeof out; i++)
        assert_int_equal(out[i], 'G');
    if (!convert_number(out, length, divide, &back) || !same_bits(back, value))
        fail_msg("%.17g x 10^%d is written as %.*s, which is %.17g", value, divide, (int)length,
                 (const char *)out, back);
}

TEST(number_there_and_back) {
    static const double edges[] = {0.0,
                                   -0.0,
                                   1e-5,
                                   1e-6,
                                   1e-7,
                                   1e15,
                                   1e16,
                                   1e17,
                                   1e22,
                                   1e23,
                                   4.9e-324,
                                   2.2250738585072014e-308,
                                   1.7976931348623157e308,
                                   99999999999999990.0};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        for (int divide = 0; divide <= 9; divide++)
            if (!(divide && fabs(edges[i]) > 1e298)) /* times 10^divide there is no such text */
                expect_number_back(edges[i], divide);
    uint64_t seed = 7;
    for (int round = 0; round < 300000 / TEST_SHARE; round++) {
        uint64_t bits = lab_chance(&seed, UINT64_MAX);
        double value;
        memcpy(&value, &bits, 8);
        if (round % 2)
            value = (double)(int64_t)(bits >> lab_chance(&seed, 64)) / pow(10, (double)lab_chance(&seed, 8));
        if (isfinite(value) && fabs(value) < 1e298)
            expect_number_back(value, (int)lab_chance(&seed, 10));
    }
}

/* --- dates
 * -------------------------------------------------------------------------------------------------------- */

static int days_of(int year, int month) {
    static const int usual[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0);
    return usual[month] + (month == 2 && leap);
}

TEST(every_day) {
    int64_t number = 0,
            anchor = 719528; /* days from 0000-01-01 to 1970-01-01: 1970 x 365 and 478 leap days */
    uint8_t text[10 + 64];
    memset(text, '9', sizeof text);
    for (int year = 0; year < 10000; year++) {
        for (int month = 1; month <= 12; month++) {
            for (int day = 1; day <= days_of(year, month); day++, number++) {
                int64_t ms = 4711;
                char spelled[64];
                snprintf(spelled, sizeof spelled, "%04d-%02d-%02d", year, month, day);
                memcpy(text, spelled, 10);
                if (!calendar_iso(text, &ms) || ms != (number - anchor) * 86400000)
                    fail_msg("%s is read as %" PRId64, spelled, ms);
            }
        }
    }
    assert_int_equal(number, 3652425);
}
