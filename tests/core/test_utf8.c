/* utf8: every code point there is, and nothing else. */
#include "base/chars.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* By the definition: the number of a code point cut into six bits a byte. */
static size_t encode(uint32_t point, uint8_t *out) {
    if (point < 0x80) {
        out[0] = (uint8_t)point;
        return 1;
    }
    size_t tails = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const uint8_t leads[] = {0, 0xC0, 0xE0, 0xF0};
    out[0] = (uint8_t)(leads[tails] | point >> 6 * tails);
    for (size_t i = 1; i <= tails; i++)
        out[i] = (uint8_t)(0x80 | (point >> 6 * (tails - i) & 0x3F));
    return tails + 1;
}

/* In memory of its exact size, so that a read beyond the end is seen by a sanitizer. */
static bool valid(const uint8_t *bytes, size_t length) {
    uint8_t *exact = malloc(length ? length : 1);
    assert_non_null(exact);
    if (length)
        memcpy(exact, bytes, length);
    bool is = utf8_valid(exact, length);
    free(exact);
    return is;
}

TEST(every_code_point) {
    uint8_t bytes[4];
    for (uint32_t point = 0; point < 0x120000; point++) {
        size_t length = encode(point, bytes);
        bool is = point < 0xD800 || (point > 0xDFFF && point < 0x110000);
        if (utf8_valid(bytes, length) != is)
            fail_msg("U+%04X", point);
        for (size_t less = 1; less < length; less++)
            if (point % 61 == 0 && valid(bytes, less))
                fail_msg("U+%04X cut to %zu bytes", point, less);
    }
}

TEST(put) {
    for (uint32_t point = 0; point < 0x110000; point++) {
        uint8_t expected[4], bytes[4] = {0};
        const size_t length = encode(point, expected);
        if (utf8_put(bytes, point) != length || memcmp(bytes, expected, length) != 0)
            fail_msg("U+%04X", point);
    }
}

/* Two bytes: a code point, or two of one byte. */
TEST(every_pair) {
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            uint8_t pair[] = {(uint8_t)a, (uint8_t)b};
            bool is = (a < 0x80 && b < 0x80) || (a >= 0xC2 && a <= 0xDF && b >= 0x80 && b <= 0xBF);
            if (utf8_valid(pair, 2) != is)
                fail_msg("%02x %02x", a, b);
        }
    }
}

TEST(wrong) {
    static const struct {
        const char *bytes;
        size_t length;
    } cases[] = {{"\xC0\x80", 2},
                 {"\xC1\xBF", 2},
                 {"\xE0\x9F\xBF", 3},
                 {"\xF0\x8F\xBF\xBF", 4},
                 {"\xED\xA0\x80", 3},
                 {"\xED\xBF\xBF", 3},
                 {"\xF4\x90\x80\x80", 4},
                 {"\xF5\x80\x80\x80", 4},
                 {"\xFF", 1},
                 {"\xFE", 1},
                 {"\x80", 1},
                 {"abc\xE9", 4},
                 {"caf\xE9 x", 6},
                 {"\xC3", 1},
                 {"\xE2\x82", 2},
                 {"\xE2\x82X", 3},
                 {"\xE2\x82\xC3", 3},
                 {"\xF0\x9F\x98", 3},
                 {"a\xC3\xA9\xA9", 4},
                 {"\xF8\x88\x80\x80\x80", 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (valid((const uint8_t *)cases[i].bytes, cases[i].length))
            fail_msg("case %zu", i);
    assert_true(valid((const uint8_t *)"", 0));
    assert_true(valid((const uint8_t *)"\0", 1)); /* NUL is a character like any other */
    assert_true(valid((const uint8_t *)"a\0\xC3\xA9\0", 5));
}

/* After texts of all lengths around the eight bytes that are looked at at once: the first byte of what is cut short. */
TEST(first_wrong_place) {
    uint8_t text[64];
    for (size_t before = 0; before < 32; before++)
        for (size_t more = 0; more < 16; more++) {
            memset(text, 'a', before);
            memcpy(text + before, "\xC3\xA9\xE6\x97\xA5\xF0\x9F\x98\x80\xED\x9F\xBF\xE2\x82", 14);
            memset(text + before + 14, 'b', more);
            assert_ptr_equal(utf8_wrong(text, text + before + 14 + more), text + before + 12);
            assert_null(utf8_wrong(text, text + before + 12));
        }
}
