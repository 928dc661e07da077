/* units: sizes, counts and times from what people write, and back into what people read. */
#include "base/numbers.h"
#include "test.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { COUNT_OF_NO = -1 };

typedef struct {
    const char *text;
    int64_t value; /* COUNT_OF_NO: it is none */
} case_t;

static const char *const no_numbers[] = {
    "",  " ",     "-1",  "+1",  "x",   "1x",    "1 x", "0x10", "0X10", "nan", "inf", "1e400",   "K",
    ".", "1.2.3", "1k1", "1 0", "--1", "1,000", "ten", "1K ",  "1 ",   "1  ", "1;",  "infinity"};

TEST(sizes) {
    static const case_t cases[] = {{"0", 0},
                                   {"1", 1},
                                   {"4096", 4096},
                                   {"64K", 65536},
                                   {"64k", 65536},
                                   {"64KB", 65536},
                                   {"64kib", 65536},
                                   {"256M", 268435456},
                                   {"256MB", 268435456},
                                   {"256 MB", 268435456},
                                   {"1.5G", 1610612736},
                                   {"1G", 1073741824},
                                   {"1GiB", 1073741824},
                                   {"2T", 2199023255552},
                                   {"10b", 10},
                                   {"0.5K", 512},
                                   {".5K", 512},
                                   {"1024T", 1125899906842624},
                                   {"4503599627370497", 4503599627370497}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 77;
        if (!units_parse_size(cases[i].text, &bytes) || bytes != (uint64_t)cases[i].value)
            fail_msg("%s is read as %llu", cases[i].text, (unsigned long long)bytes);
    }
    static const char *const too_large[] = {"18446744073709551616", "99999999999999999999T", "1e30",
                                            "16777216T"};
    uint64_t bytes;
    for (size_t i = 0; i < sizeof too_large / sizeof *too_large; i++)
        if (units_parse_size(too_large[i], &bytes))
            fail_msg("%s is read as %llu", too_large[i], (unsigned long long)bytes);
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++)
        if (units_parse_size(no_numbers[i], &bytes))
            fail_msg("'%s' is read as %llu", no_numbers[i], (unsigned long long)bytes);
    assert_false(units_parse_size("30s", &bytes));
    assert_false(units_parse_size("1 m s", &bytes));
}

TEST(percents) {
    double percent;
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) {
        char text[40];
        snprintf(text, sizeof text, "%s%%", no_numbers[i]);
        if (units_parse_percent(text, &percent))
            fail_msg("'%s' is read as %g", text, percent);
    }
    assert_false(units_parse_percent("5", &percent) || units_parse_percent("5%%", &percent));
    assert_true(units_parse_percent("0.5%", &percent));
    assert_true(percent == 0.5);
}

TEST(counts) {
    static const case_t cases[] = {{"0", 0},
                                   {"1000", 1000},
                                   {"5k", 5000},
                                   {"5K", 5000},
                                   {"2m", 2000000},
                                   {"1.5M", 1500000},
                                   {"3g", 3000000000},
                                   {"0.001k", 1},
                                   {"1000000000000", 1000000000000},
                                   {"0.5", COUNT_OF_NO},
                                   {"1.0001k", COUNT_OF_NO},
                                   {"1kb", COUNT_OF_NO},
                                   {"1s", COUNT_OF_NO}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t count = 77;
        bool is = units_parse_count(cases[i].text, &count);
        if (is != (cases[i].value >= 0) || (is && count != (uint64_t)cases[i].value))
            fail_msg("%s is read as %d, %llu", cases[i].text, is, (unsigned long long)count);
    }
    uint64_t count;
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++)
        if (units_parse_count(no_numbers[i], &count))
            fail_msg("'%s' is read as %llu", no_numbers[i], (unsigned long long)count);
    assert_false(units_parse_count("1e30", &count));
}

/* A seed or a limit is the number that was written, or none: never its neighbour. */
TEST(counts_are_exact) {
    static const case_t cases[] = {
        {"9007199254740993", 9007199254740993},
        {"9007199254740991k", COUNT_OF_NO}, /* 9.007e18: does it fit? then exactly */
        {"123456789012345679", 123456789012345679},
        {"4611686018427387905", 4611686018427387905}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t count = 0;
        if (units_parse_count(cases[i].text, &count) && count != (uint64_t)cases[i].value &&
            !(cases[i].value == COUNT_OF_NO && count == 9007199254740991000u))
            fail_msg("%s is read as %llu", cases[i].text, (unsigned long long)count);
    }
}

TEST(times) {
    static const case_t cases[] = {
        {"30", 30000000000},    {"30s", 30000000000},   {"500ms", 500000000},  {"5m", 300000000000},
        {"5min", 300000000000}, {"2h", 7200000000000},  {"1.5s", 1500000000},  {"0", 0},
        {"250us", 250000},      {"1d", 86400000000000}, {"30 s", 30000000000}, {"30S", 30000000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ns = -77;
        if (!units_parse_time(cases[i].text, &ns) || ns != cases[i].value)
            fail_msg("%s is read as %lld", cases[i].text, (long long)ns);
    }
    int64_t ns;
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++)
        if (units_parse_time(no_numbers[i], &ns))
            fail_msg("'%s' is read as %lld", no_numbers[i], (long long)ns);
    assert_false(units_parse_time("1e18", &ns));
    assert_false(units_parse_time("300000000d", &ns));
    assert_false(units_parse_time("5k", &ns));
}

TEST(print_counts) {
    static const struct {
        uint64_t count;
        const char *text;
    } cases[] = {{0, "0"},
                 {7, "7"},
                 {999, "999"},
                 {1000, "1,000"},
                 {123456, "123,456"},
                 {6521004, "6,521,004"},
                 {UINT64_MAX, "18,446,744,073,709,551,615"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[UNITS_MAX];
        const char *text = units_count(out, cases[i].count);
        assert_ptr_equal(text, out);
        assert_string_equal(text, cases[i].text);
    }
}

TEST(print_sizes_and_rates) {
    char out[UNITS_MAX];
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {{0, "0 B"},
                 {1, "1 B"},
                 {999, "999 B"},
                 {1000, "1.00 kB"},
                 {1300, "1.30 kB"},
                 {12345, "12.3 kB"},
                 {412000000, "412 MB"},
                 {1300000000, "1.30 GB"},
                 {999499, "999 kB"},
                 {999500, "1.00 MB"},
                 {9995, "10.0 kB"},
                 {99950, "100 kB"},
                 {1u << 30, "1.07 GB"},
                 {UINT64_MAX, "18.4 EB"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_string_equal(units_size(out, (double)sizes[i].bytes), sizes[i].text);
    static const struct {
        double rate;
        const char *text;
    } rates[] = {{0, "0"},           {7, "7"},         {999, "999"},          {611000, "611k"},
                 {1240000, "1.24M"}, {12400, "12.4k"}, {5000000000, "5.00G"}, {999999, "1.00M"}};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        assert_string_equal(units_rate(out, rates[i].rate), rates[i].text);
}

TEST(print_times) {
    char out[UNITS_MAX];
    static const struct {
        int64_t ns;
        const char *text;
    } times[] = {{0, "0 ms"},
                 {1000000, "1 ms"},
                 {7280000, "7.28 ms"},
                 {999000000, "999 ms"},
                 {999900000, "1.0 s"},
                 {1000000000, "1.0 s"},
                 {10700000000, "10.7 s"},
                 {99900000000, "99.9 s"},
                 {99960000000, "1:39"},
                 {192000000000, "3:12"},
                 {3600000000000, "1 h 00 min"},
                 {360000000000000, "100 h 00 min"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_string_equal(units_time(out, (double)times[i].ns / 1e9), times[i].text);
}

/* What was computed may be beyond what a whole number holds. */
TEST(print_computed) {
    static const struct {
        double figure;
        const char *time, *size;
    } cases[] = {{0, "0 ms", "0 B"},
                 {8.9e9, "2472222 h 13 min", "8.90 GB"},
                 {9.3e9, "more than 285 years", "9.30 GB"},
                 {1e300, "more than 285 years", "1e+282 EB"},
                 {INFINITY, "more than 285 years", "inf EB"},
                 {-1e300, "minus more than 285 years", "0 B"},
                 {NAN, "-", "-"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[UNITS_MAX];
        assert_string_equal(units_time(out, cases[i].figure), cases[i].time);
        assert_string_equal(units_size(out, cases[i].figure), cases[i].size);
    }
}

TEST(rates) {
    static const struct {
        const char *text;
        uint64_t per_second;
        bool bytes;
    } cases[] = {{"50k", 50000, false},     {"1", 1, false},
                 {"2m/s", 2000000, false},  {"1.5M", 1500000, false},
                 {"20MB", 20971520, true},  {"20MiB/s", 20971520, true},
                 {"500kB/S", 512000, true}, {"1.5GB", 1610612736, true},
                 {"100B", 100, true},       {"100b", 100, true},
                 {"3g", 3000000000, false}, {"0", 0, false},
                 {"64 KB", 65536, true},    {"18446744073709551615", UINT64_MAX, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t rate = 77;
        bool bytes = !cases[i].bytes;
        if (!units_parse_rate(cases[i].text, &rate, &bytes) || rate != cases[i].per_second ||
            bytes != cases[i].bytes)
            fail_msg("%s is read as %llu%s", cases[i].text, (unsigned long long)rate, bytes ? " bytes" : "");
    }
    uint64_t rate;
    bool bytes;
    static const char *const none[] = {
        "/s",   "s", "5/m", "5 MBs", "k/s", "5k/s/s",
        "-5MB", "B", "kB",  "1.5",   "5k/", "11111111111111111111111111111111111111111111111k"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (units_parse_rate(none[i], &rate, &bytes))
            fail_msg("'%s' is read as %llu", none[i], (unsigned long long)rate);
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++)
        if (units_parse_rate(no_numbers[i], &rate, &bytes))
            fail_msg("'%s' is read as %llu", no_numbers[i], (unsigned long long)rate);
}
