/* convert: numbers against strtod, dates against counting days. (Their spellings: core.typed; each byte of a date:
 * core.pattern.) */
#include "format/values/values.h"
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
