/* out: what reaches stdout, against what was written by hand. */
#include "base/log.h"
#include "heard.h"
#include "test.h"

#include <inttypes.h>

#define SAYS(expected, ...) assert_heard(STDOUT_FILENO, expected, out_print(__VA_ARGS__))

/* Whatever a conversion is like, the next one has its turn after it. */
TEST(as_printf) {
    SAYS("plain\n", "plain\n");
    SAYS("100% of 5 and a", "%d%% of %u and %s", 100, 5u, "a");
    SAYS("-7|  7|007|+7|7  |", "%d|%3d|%03d|%+d|%-3d|", -7, 7, 7, 7, 7);
    SAYS("18446744073709551615 -9223372036854775807 12 3", "%" PRIu64 " %" PRId64 " %zu %hhu", UINT64_MAX,
         -INT64_MAX, (size_t)12, (unsigned char)3);
    SAYS("ff 0A x", "%x %02X %c", 255u, 10u, 'x');
    SAYS("1.50 2 3e+10 nan", "%.2f %g %.0e %f", 1.5, 2.0, 3e10, (double)__builtin_nan(""));
    SAYS("12 12345678901 5", "%ld %lld %d", 12l, 12345678901ll, 5);
    SAYS("   ab|ab   |ab|   ab|abc", "%5s|%-5s|%.2s|%*s|%.*s", "ab", "ab", "abc", 5, "ab", 3, "abcdef");
    SAYS("   1.2", "%*.*f", 6, 1, 1.2);
}

/* Nothing that a terminal obeys, no second line, no secret. */
TEST(of_others) {
    SAYS("a\\x1b[31m\\xc2\\x9b2J\\x0ab\\xff\n", "%s\n", "a\x1b[31m\xC2\x9B\x32J\nb\xFF");
    SAYS("\\x1b|\\x0a    ", "%.1s|%-5c", "\x1b[31m", '\n');
    SAYS("at mongodb://joe:***@h/a.b", "at %s", "mongodb://joe:s3cret@h/a.b");
    assert_heard(STDOUT_FILENO, "one\ntwo\\x1b mongodb://joe:***@h\n",
                 out_lines("one\ntwo\x1b mongodb://joe:s3cret@h\n"));
    assert_heard(STDOUT_FILENO, "\x1b\n", out_bytes("\x1b\n", 2));
}
