/* encoding: every byte of Latin-1 and of windows-1252, against iconv. */
#include "format/values/values.h"
#include "test.h"

#include <iconv.h>
#include <string.h>

/* What iconv makes of one byte; 0: it is no character there. */
static size_t by_iconv(const char *encoding, uint8_t byte, uint8_t *out) {
    iconv_t converter = iconv_open("UTF-8", encoding);
    char *from = (char *)&byte, *to = (char *)out;
    size_t left = 1, room = 8;
    assert_true(converter != (iconv_t)-1);
    const size_t failed = iconv(converter, &from, &left, &to, &room);
    iconv_close(converter);
    return failed == (size_t)-1 ? 0 : 8 - room;
}

TEST(every_byte) {
    static const struct {
        encoding_t encoding;
        const char *name;
        size_t none;
    } all[] = {{ENCODING_LATIN1, "ISO-8859-1", 0}, {ENCODING_WINDOWS_1252, "WINDOWS-1252", 5}};
    for (size_t i = 0; i < 2; i++) {
        size_t none = 0;
        for (unsigned byte = 0; byte < 256; byte++) {
            const uint8_t text = (uint8_t)byte;
            uint8_t expected[8], is[ENCODING_MOST_BYTES];
            const size_t length = by_iconv(all[i].name, text, expected);
            assert_int_equal(encoding_character(all[i].encoding, text, is), length);
            assert_memory_equal(is, expected, length);
            assert_int_equal(encoding_is(all[i].encoding, &text, 1), length > 0);
            assert_int_equal(encoding_to_utf8(all[i].encoding, is, &text, 1), length);
            none += !length;
        }
        assert_int_equal(none, all[i].none);
    }
    assert_false(encoding_is(ENCODING_NONE, (const uint8_t *)"a", 1));
    assert_true(encoding_is(ENCODING_WINDOWS_1252, (const uint8_t *)"\x80\x9F", 2));
    assert_false(encoding_is(ENCODING_WINDOWS_1252, (const uint8_t *)"\x80\x90", 2));
}

/* Of one encoding, UTF-8 is text like any other, and comes back as the same bytes. */
TEST(one_encoding) {
    const uint8_t *const text = (const uint8_t *)"\xC3\xA9\x80z";
    uint8_t made[12], again[12];
    assert_true(encoding_converts(ENCODING_WINDOWS_1252, text, 2));
    assert_false(encoding_converts(ENCODING_UTF8_OR_WINDOWS_1252, text, 2));
    assert_true(encoding_doubts(ENCODING_WINDOWS_1252_NOT_UTF8, text, 2));
    assert_false(encoding_doubts(ENCODING_WINDOWS_1252_NOT_UTF8, text, 4));
    const size_t length = encoding_to_utf8(ENCODING_WINDOWS_1252, made, text, 4);
    assert_int_equal(encoding_from_utf8(ENCODING_WINDOWS_1252, again, made, length), 4);
    assert_memory_equal(again, text, 4);
    assert_int_equal(encoding_from_utf8(ENCODING_LATIN1, again, made, length), SIZE_MAX); /* the euro sign */
}

TEST(same) {
    static const struct {
        encoding_t encoding;
        const char *words, *text;
        bool any_case;
        bool is;
    } rows[] = {{ENCODING_UTF8_OR_LATIN1, "r\xC3\xB6\xC3\x9F,", "r\xF6\xDF,", false, true},
                {ENCODING_UTF8_OR_LATIN1, "gR\xC3\xB6", "Gr\xF6", true, true},
                {ENCODING_UTF8_OR_LATIN1, "gR\xC3\xB6", "Gr\xF6", false, false},
                {ENCODING_UTF8_OR_LATIN1, "\xC3\x96", "\xF6", true, false}, /* of ASCII's letters only */
                {ENCODING_UTF8_OR_LATIN1, "\xC2\x80", "\x80", false, true},
                {ENCODING_UTF8_OR_LATIN1, "\xC3\xBF", "\xFF", false, true},
                {ENCODING_UTF8_OR_LATIN1, "\xC4\x80", "\xC0", false, false}, /* Latin-1 does not have it */
                {ENCODING_UTF8_OR_LATIN1, "\xC3\x83\xC2\xA9", "\xC3\xA9", false, false}, /* that is UTF-8 */
                {ENCODING_UTF8_OR_LATIN1, "abc", "abc", false, true},
                {ENCODING_UTF8_OR_LATIN1, "a\xC3\xB6", "a", false, false},
                {ENCODING_UTF8_OR_LATIN1, "a\xC3", "a\xC3", false, true},
                {ENCODING_UTF8_OR_WINDOWS_1252, "\xE2\x82\xACZ", "\x80z", true, true},
                {ENCODING_WINDOWS_1252, "\xE2\x82", "\x80", true, false},
                {ENCODING_LATIN1, "\xE2\x82\xAC", "\x80", true, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (encoding_same(rows[i].encoding, rows[i].words, strlen(rows[i].words),
                          (const uint8_t *)rows[i].text, strlen(rows[i].text),
                          rows[i].any_case) != rows[i].is)
            fail_msg("row %zu", i);
}

TEST(knows_encodings_without_shift_states) {
    static const char *const names[] = {"shift_jis",    "gb18030",     "euc-kr",      "big5", "koi8-r",
                                        "WINDOWS-1250", "iso-2022-jp", "iso-2022-kr", "hz",   "",
                                        "utf-8",        "big5//IGNORE"};
    for (size_t i = 0; i < 12; i++)
        if (encoding_iconv_knows(names[i]) != (i < 6))
            fail_msg("%s", names[i]);
}
