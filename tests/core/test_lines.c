/* lines: line ends counted as a loop of one byte at a time counts them. */
#include "base/chars.h"
#include "format_lab.h"
#include "test.h"

static uint64_t slowly(const uint8_t *text, size_t length) {
    uint64_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

/* Sums in bytes must not overflow: long stretches of nothing but line ends. */
TEST(many) {
    enum { MOST = 40000 };
    uint8_t *text = malloc(MOST);
    assert_non_null(text);
    memset(text, '\n', MOST);
    for (size_t length = 0; length < 600; length++)
        assert_int_equal(lines_count(text, length), length);
    for (size_t length = 32 * 255 - 40; length < 32 * 255 + 40; length++)
        assert_int_equal(lines_count(text, length), length);
    for (size_t length = 32 * 510 - 40; length < 32 * 510 + 40; length++)
        assert_int_equal(lines_count(text, length), length);
    assert_int_equal(lines_count(text, MOST), MOST);
    free(text);
}

TEST(random) {
    uint64_t seed = 1;
    for (int round = 0; round < 2000; round++) {
        size_t length = lab_chance(&seed, round < 1500 ? 200 : 30000);
        uint8_t *text = malloc(length + 1); /* exactly: a read beyond it is seen by a sanitizer */
        assert_non_null(text);
        for (size_t i = 0; i < length; i++)
            text[i] = lab_chance(&seed, 3) ? (uint8_t)lab_chance(&seed, 256) : '\n';
        size_t from = lab_chance(&seed, length + 1);
        assert_int_equal(lines_count(text + from, length - from), slowly(text + from, length - from));
        free(text);
    }
}
