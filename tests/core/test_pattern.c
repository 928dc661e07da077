/* pattern: dates by patterns. (Each day: core.convert; spellings: core.dates.) */
#include "format/values/values.h"
#include "format_lab.h"
#include "test.h"

static pattern_t compile(const char *text) {
    pattern_t pattern;
    const char *problem = pattern_compile(text, strlen(text), &pattern);
    if (problem)
        fail_msg("%s: %s", text, problem);
    return pattern;
}

static int days_of(int year, int month) {
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 ? 28 + leap : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

static int32_t day_number(uint32_t year, uint32_t month, uint32_t day) {
    int32_t number;
    assert_true(calendar_days(year, month, day, &number));
    return number;
}

/* Any byte at any place of a moment: digits where digits are, the literals themselves, a real day and time.
 */
TEST(every_byte) {
    static const struct {
        const char *pattern, *moment;
    } cases[] = {{"YYYY-MM-DDThh:mm:ssZ", "2024-02-29T23:59:59Z"},
                 {"YYYY-MM-DD hh:mm:ss", "1999-12-31 00:00:00"},
                 {"YYYY-MM-DDThh:mm:ss", "0004-10-20T10:20:30"},
                 {"YYYY-MM-DD hh:mm:ss.SSS", "2013-01-01 19:09:49.999"},
                 {"DD/MM/YYYY hh.mm", "30/06/2000 12.34"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pattern_t pattern = compile(cases[i].pattern);
        size_t length = strlen(cases[i].moment);
        assert_int_equal(pattern.length, length);
        for (size_t place = 0; place < length; place++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                char text[40];
                int value[128] = {['h'] = 0};
                bool is = true;
                memcpy(text, cases[i].moment, length);
                text[place] = (char)byte;
                for (size_t j = 0; j < length; j++) {
                    char part = cases[i].pattern[j];
                    if (strchr("YMDhmsS", part)) {
                        is &= text[j] >= '0' && text[j] <= '9';
                        value[(int)part] = value[(int)part] * 10 + text[j] - '0';
                    } else {
                        is &= text[j] == part;
                    }
                }
                is = is && value['M'] >= 1 && value['M'] <= 12 && value['D'] >= 1 &&
                     value['D'] <= days_of(value['Y'], value['M']) && value['h'] < 24 && value['m'] < 60 &&
                     value['s'] < 60;
                int64_t ms = 0, expected = 0;
                slack_t slack = slack_new(text, length);
                if (is)
                    expected =
                        ((day_number((uint32_t)value['Y'], (uint32_t)value['M'], (uint32_t)value['D']) *
                              24ll +
                          value['h']) *
                             3600 +
                         value['m'] * 60 + value['s']) *
                            1000 +
                        value['S'];
                if (pattern_read(&pattern, slack.text, length, &ms) != is || (is && ms != expected))
                    fail_msg("%.*s by %s is read as %lld", (int)length, text, cases[i].pattern,
                             (long long)ms);
                slack_free(&slack);
            }
        }
    }
}

/* A pattern writes only what it can show whole. */
TEST(cannot_be_shown) {
    pattern_t day = compile("YYYY-MM-DD"), seconds = compile("YYYY-MM-DD hh:mm:ss");
    uint8_t out[PATTERN_LONGEST];
    assert_true(pattern_write(&day, 0, out));
    assert_false(pattern_write(&day, 1, out));
    assert_false(pattern_write(&day, -1, out));
    assert_false(pattern_write(&day, 3600000, out));
    assert_true(pattern_write(&seconds, 3600000, out));
    assert_false(pattern_write(&seconds, 3600001, out));
    const int64_t first = -62167219200000, last = 253402300799000; /* 0000-01-01, 9999-12-31 23:59:59 */
    assert_true(pattern_write(&seconds, first, out));
    assert_memory_equal(out, "0000-01-01 00:00:00", 19);
    assert_true(pattern_write(&seconds, last, out));
    assert_memory_equal(out, "9999-12-31 23:59:59", 19);
    assert_false(pattern_write(&seconds, first - 1000, out));
    assert_false(pattern_write(&seconds, last + 1000, out));
    assert_false(pattern_write(&seconds, INT64_MAX, out));
    assert_false(pattern_write(&seconds, INT64_MIN, out));
}
