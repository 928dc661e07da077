/* convert: numbers against strtod and by hand, dates against counting days, and back into text. */
#include "format/values/calendar.h"
#include "format/values/convert.h"
#include "format_lab.h"
#include "test.h"

#include <inttypes.h>
#include <math.h>

/* Behind the text there is something that must not count. */
static slack_t text_of(const char *text) {
    return slack_new(text, strlen(text));
}

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

TEST(int) {
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"0000000000000000000000000000042", 42},
                {"+5", 5},
                {" 5", 5},
                {"5  ", 5},
                {"  -5 ", -5},
                {"+0", 0},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    static const char *const bad[] = {"9223372036854775808",
                                      "-9223372036854775809",
                                      "18446744073709551615",
                                      "18446744073709551616",
                                      "18446744073709551617",
                                      "99999999999999999999999999",
                                      "-0",
                                      "-000",
                                      "",
                                      " ",
                                      "-",
                                      "+",
                                      "--5",
                                      "+-5",
                                      "5-",
                                      "- 5",
                                      "1 2",
                                      "1.0",
                                      "1e3",
                                      "0x1",
                                      "1,000",
                                      "\t5",
                                      "5\r",
                                      "NULL"};
    int64_t value = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        slack_t slack = text_of(good[i].text);
        if (!convert_int(slack.text, slack.length, &value) || value != good[i].value)
            fail_msg("'%s' is read as %" PRId64, good[i].text, value);
        slack_free(&slack);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        slack_t slack = text_of(bad[i]);
        if (convert_int(slack.text, slack.length, &value))
            fail_msg("'%s' is read as %" PRId64, bad[i], value);
        slack_free(&slack);
    }
}

/* (There and back: tests/fuzz/fuzz_convert.c; INT64_MIN is written in core.numerals.) */

/* --- numbers
 * ------------------------------------------------------------------------------------------------------ */

static bool number(const char *text, int divide, double *value) {
    slack_t slack = text_of(text);
    bool is = convert_number(slack.text, slack.length, divide, value);
    slack_free(&slack);
    return is;
}

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

TEST(numbers) {
    static const struct {
        const char *text;
        int divide;
        double value;
    } good[] = {{"+0105", 1, 10.5},
                {"25e1", 1, 25.0},
                {".5", 0, 0.5},
                {"5.", 0, 5.0},
                {" 5 ", 0, 5.0},
                {"007", 0, 7.0},
                {"-0.0", 0, -0.0},
                {"1E3", 0, 1000.0},
                {"9007199254740993", 0, 9007199254740992.0},
                {"4.9e-324", 0, 4.9e-324},
                {"1.7976931348623157e308", 0, 1.7976931348623157e308},
                {"0e99999", 0, 0.0}};
    static const char *const bad[] = {"",       " ",
                                      ".",      "-",
                                      "+",      "e5",
                                      "1e",     "1e+",
                                      "1.2.3",  "inf",
                                      "-inf",   "nan",
                                      "0x10",   "1f",
                                      "1,5",    "--1",
                                      "+-1",    "1 2",
                                      "1e5.5",  "infinity",
                                      "1e400",  "1e-400", /* it would become 0 */
                                      "-1e400", "1e99999999999999999999",
                                      "NULL",   "1e1e1",
                                      "1_000",  "\xd9\xa1"};
    double value = 4711;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!number(good[i].text, good[i].divide, &value) || !same_bits(value, good[i].value))
            fail_msg("%s / 10^%d is read as %.17g", good[i].text, good[i].divide, value);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (number(bad[i], 0, &value))
            fail_msg("%s is read as %.17g", bad[i], value);
}

/* Exponents that no machine word holds. */
TEST(exponents_beyond_all) {
    static const char *const beyond[] = {"1e-99999999999999999999",
                                         "1e-9223372036854775808",
                                         "1e-9223372036854775807",
                                         "1e-2147483649",
                                         "123.456e-100000",
                                         "1e9223372036854775807",
                                         "1e2147483648",
                                         "1e99999999999999999999"};
    double value = 1;
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        for (int divide = 0; divide <= 9; divide += 3)
            assert_false(number(beyond[i], divide, &value));
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

/* (Texts at random: tests/fuzz/fuzz_convert.c.) */
TEST(kept) {
    static const struct {
        const char *text;
        bool kept;
    } cases[] = {{"0.1", true},
                 {"0.10000000000000000000", true},
                 {"0.30000000000000004", true},
                 {"0.30000000000000002", false},
                 {"9007199254740993", false},
                 {"123456789012345680000", true},
                 {"123456789012345678901", false},
                 {"5e-324", true},
                 {"4.9406564584124654e-324", false},
                 {"0e999", true},
                 {"1e-400", false},
                 {"5.858190679279809e-244", true}, /* 2^-808, whose neighbours lie unevenly */
                 {"5.8581906792798085e-244", false}};
    double value;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slack_t slack = text_of(cases[i].text);
        if (convert_kept(slack.text, slack.length, 0, &value) != cases[i].kept)
            fail_msg("%s", cases[i].text);
        slack_free(&slack);
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

/* Any byte at any of the ten places. */
TEST(dates_every_byte) {
    static const char *const bases[] = {"2013-01-01", "2012-02-29", "1999-12-31", "0004-02-20", "1900-10-10"};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        for (size_t place = 0; place < 10; place++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                char text[11];
                int year, month, day;
                int64_t ms;
                strcpy(text, bases[i]);
                text[place] = (char)byte;
                bool digits = true;
                for (size_t j = 0; j < 10; j++)
                    digits &= j == 4 || j == 7 ? text[j] == '-' : text[j] >= '0' && text[j] <= '9';
                bool is = digits && sscanf(text, "%4d-%2d-%2d", &year, &month, &day) == 3 && month >= 1 &&
                          month <= 12 && day >= 1 && day <= days_of(year, month);
                slack_t slack = slack_new(text, 10);
                if (calendar_iso(slack.text, &ms) != is)
                    fail_msg("%.10s", text);
                slack_free(&slack);
            }
        }
    }
}
