/* escape: what controls a terminal or is no text is shown as what it is, and everything else as it stands. */
#include "base/chars.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(text) text, sizeof text - 1

static const struct {
    const char *text;
    size_t length;
    const char *shown, *json;
} cases[] = {
    {TEXT(""), "", ""},
    {TEXT("plain \\x1b"), "plain \\x1b", "plain \\\\x1b"},
    {TEXT("\x1b[31mEVIL\x1b[2J\a"), "\\x1b[31mEVIL\\x1b[2J\\x07", "\\u001b[31mEVIL\\u001b[2J\\u0007"},
    {TEXT("a\n\t\r\b\f\"b\""), "a\\x0a\\x09\\x0d\\x08\\x0c\"b\"", "a\\n\\t\\r\\b\\f\\\"b\\\""},
    {TEXT("\0\x7f"), "\\x00\\x7f", "\\u0000\\u007f"},
    {TEXT("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"), "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
     "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"},
    {TEXT("\xC2\x9B\x32J\xC2\xA0"), "\\xc2\\x9b2J\xC2\xA0", "\\u009b2J\xC2\xA0"}, /* C1, and no longer C1 */
    {TEXT("a\u202Egpj.exe\u2069 \u200E\u2028\u2027\u202F"),
     "a\\u202egpj.exe\\u2069 \\u200e\\u2028\u2027\u202F",
     "a\\u202egpj.exe\\u2069 \\u200e\\u2028\u2027\u202F"},
    {TEXT("bad\xFF.rej"), "bad\\xff.rej", "bad\xEF\xBF\xBD.rej"},
    {TEXT("\xE2\x82"), "\\xe2\\x82", "\xEF\xBF\xBD\xEF\xBF\xBD"},
    {TEXT("\xC3"), "\\xc3", "\xEF\xBF\xBD"},
};

typedef size_t escape_fn(const uint8_t *at, size_t left, char piece[ESCAPE_PIECE]);

/* In memory of its exact size, so that a read beyond the end is seen by a sanitizer. */
static void check(escape_fn *escape, const char *text, size_t length, const char *expected) {
    char out[256] = "", piece[ESCAPE_PIECE];
    uint8_t *exact = malloc(length + 1);
    assert_non_null(exact);
    memcpy(exact + 1, text, length);
    for (size_t at = 0; at < length;) {
        at += escape(exact + 1 + at, length - at, piece);
        strcat(out, piece);
    }
    free(exact);
    assert_string_equal(out, expected);
}

TEST(texts) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[256];
        check(escape_shown, cases[i].text, cases[i].length, cases[i].shown);
        check(escape_json, cases[i].text, cases[i].length, cases[i].json);
        assert_string_equal(escape_text(out, sizeof out, cases[i].text, cases[i].length), cases[i].shown);
    }
}

/* Whatever comes in: what comes out is UTF-8 without a control character. */
TEST(every_triple) {
    for (unsigned first = 0; first < 256; first++) {
        for (unsigned second = 0; second < 256; second++) {
            const uint8_t text[] = {(uint8_t)first, (uint8_t)second, 0xBF};
            escape_fn *const ways[] = {escape_shown, escape_json};
            for (size_t way = 0; way < 2; way++) {
                char piece[ESCAPE_PIECE];
                const size_t used = ways[way](text, sizeof text, piece);
                assert_uint_in_range(used, 1, sizeof text);
                assert_true(utf8_valid((const uint8_t *)piece, strlen(piece)));
                for (const uint8_t *at = (const uint8_t *)piece; *at; at++)
                    assert_false(utf8_is_control(at, 1) || utf8_is_control(at, 2));
            }
        }
    }
}

TEST(room) {
    char out[6];
    assert_string_equal(escape_text(out, sizeof out, TEXT("ab\x1b")), "ab"); /* no piece is torn */
    assert_string_equal(escape_text(out, sizeof out, TEXT("a\x1b")), "a\\x1b");
    assert_string_equal(escape_text(out, 1, TEXT("a")), "");
}

TEST(lines) {
    char out[4 * 12 + 1];
    escape_lines(out, TEXT("a\n\x1b\n\xC2\x9B\xE9\xFF\n\r"));
    assert_string_equal(out, "a\n\\x1b\n\\xc2\\x9b\\xe9\\xff\n\\x0d");
    escape_lines(out, TEXT(""));
    assert_string_equal(out, "");
}

/* Line ends that are none of ours; what has no room is left out, and nothing is written beyond. */
TEST(line_ends) {
    static const struct {
        const char *text, *format, *shown;
        size_t room;
    } ends[] = {
        {"a\nb", "%s", "a\\x0ab", 100},       {"\n", "%s", "\\x0a", 100},
        {"a\n\n", "a%s", "a\\x0a\\x0a", 100}, {"a\n  b\n c", "%s", "a\n  b\\x0a c", 100},
        {"a\nb", "a\n%s", "a\nb", 100},       {"none", "%s", "none", 100},
        {"a\nbcd", "%s", "a\\x0abcd", 9},     {"a\nbcd", "%s", "a\\x0abc", 8},
        {"a\nbcd", "%s", "a\\x0a", 6},        {"a\nbc", "%s", "a\\x0", 5},
        {"\n\n\n", "%s", "\\x0a\\x0a\\", 10},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char text[100];
        memset(text, 'G', sizeof text);
        snprintf(text, sizeof text, "%s", ends[i].text);
        escape_line_ends(text, ends[i].room, ends[i].format);
        if (strcmp(text, ends[i].shown) != 0)
            fail_msg("case %zu: '%s'", i, text);
        for (size_t at = ends[i].room; at < sizeof text; at++)
            assert_int_equal(text[at], 'G');
    }
}
