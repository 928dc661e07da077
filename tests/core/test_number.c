/* number: the shortest digits that read back the same. */
#include "base/numbers.h"
#include "format/values/values.h"
#include "test.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(cases) {
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

/* How much of a text is the number; beyond what a double holds it is infinite, or zero. */
TEST(read) {
    static const struct {
        const char *text;
        size_t length;
        double number;
    } cases[] = {{"12.5%", 4, 12.5},
                 {"+1", 2, 1},
                 {".5", 2, 0.5},
                 {"5.x", 2, 5},
                 {"1e5", 3, 1e5},
                 {"1e", 1, 1},
                 {"0x10", 1, 0},
                 {"-Infinity", 9, -INFINITY},
                 {"1e400", 5, INFINITY},
                 {"-1e309", 6, -INFINITY},
                 {"-1e-400", 7, -0.0},
                 {"0.00001e-99999999999999999999", 29, 0},
                 {"5e-324", 6, 4.9406564584124654e-324},
                 {"2.4703282292062327e-324", 23, 0},
                 {"2.4703282292062328e-324", 23, 5e-324},
                 {"1.7976931348623158e308", 22, DBL_MAX},
                 {"1.7976931348623159e308", 22, INFINITY},
                 {"9007199254740993", 16, 9007199254740992},
                 {"9007199254740993.00000000000000000000001", 40, 9007199254740994}};
    double number;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (number_read(cases[i].text, strlen(cases[i].text), &number) != cases[i].length ||
            memcmp(&number, &cases[i].number, sizeof number) != 0)
            fail_msg("%s is read as %.17g", cases[i].text, number);
    static const char *const none[] = {"", "+", "-", ".", "e5", " 1", "+-1", "++1", "x"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(number_read(none[i], strlen(none[i]), &number), 0);
    char zeros[800] = "0.";
    memset(zeros + 2, '0', 700);
    strcpy(zeros + 702, "1e1010"); /* 10^309, and 10^-1711 */
    assert_true(number_read(zeros, strlen(zeros), &number) && number == INFINITY);
    zeros[703] = '\0';
    assert_true(number_read(zeros, strlen(zeros), &number) && number == 0);
}

/* Any bits read back the same, and no fewer digits would. */
TEST(any_bits) {
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

/* In a program that has said setlocale(LC_ALL, "") where people write 1,5. Such a locale is made here. */
TEST(other_locale) {
    char folder[] = "/tmp/tipple-locale-XXXXXX", command[400], text[NUMBER_ROOM];
    double value;
    long double wide;
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "cd %s && printf 'LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND "
             "LC_NUMERIC\n' "
             "> source && localedef -c -i source -f UTF-8 ./xx_XX.utf8 > log 2>&1",
             folder);
    const int ended = system(command);
    setenv("LOCPATH", folder, 1);
    const bool there = setlocale(LC_NUMERIC, "xx_XX.utf8") != NULL;
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (!there) {
        print_message("no locale could be made here (localedef ended with %d)\n", ended);
        skip();
    }
    snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_equal(text, "1,5"); /* it is another one */
    assert_string_equal(number_print(text, 12.067), "12.067");
    assert_true(number_read("1.5,", 4, &value) == 3 && value == 1.5);
    assert_true(number_read_long("2.25E+18", 8, &wide) == 8 && wide == 2.25E+18L);
    assert_true(number_read_long("+0.125,", 7, &wide) == 6 && wide == 0.125L);
    assert_true(number_read_long("-1E+4000", 8, &wide) == 8 && wide == -1E+4000L);
    assert_true(number_read_long("Infinity", 8, &wide) == 8 && isinf(wide));
    assert_true(number_read_long("+-1", 3, &wide) == 0 && number_read_long("", 0, &wide) == 0);
    uint8_t out[64];
    assert_true(convert_number((const uint8_t *)"1234567890.12345678901234", 25, 0, &value));
    assert_true(value == 1234567890.12345678901234);
    const size_t length = convert_print_number(1234567890.5, 0, out);
    assert_memory_equal(out, "1234567890.5", length);
    snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_equal(text, "1,5"); /* and it is still there */
    setlocale(LC_NUMERIC, "C");
}
