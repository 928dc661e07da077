/* element: elements as a server sees them: by hand where libbson stops, and as libbson goes through all others. */
#include "base/document.h"
#include "bson_lab.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define ROW(bytes) bytes, sizeof bytes - 1

/* Binary data of subtype 2: `xyz` without its inner length, and with one that says something else. */
#define HEADLESS "\5b\0\3\0\0\0\2xyz"
#define LYING    "\5b\0\6\0\0\0\2\7\0\0\0yz"
#define ONE      "\x10k\0\1\0\0\0"

static void view(bson_t *document, const char *bytes, uint32_t length) {
    LAB_MUST(bson_init_static(document, (const uint8_t *)bytes, length));
}

/* keys: of all elements that are found; a ! where it is not known what follows. */
TEST(next) {
    static const struct {
        const char *bytes;
        uint32_t length;
        const char *keys;
    } rows[] = {
        {ROW("\5\0\0\0\0"), ""},
        {ROW("\x0C\0\0\0" ONE "\0"), "k"},
        {ROW("\x10\0\0\0" HEADLESS "\0"), "b"},
        {ROW("\x17\0\0\0" HEADLESS ONE "\0"), "bk"},
        {ROW("\x17\0\0\0" ONE HEADLESS "\0"), "kb"},
        {ROW("\x22\0\0\0" HEADLESS ONE HEADLESS "\0"), "bkb"},
        {ROW("\x1A\0\0\0" LYING ONE "\0"), "bk"},
        {ROW("\x14\0\0\0\5b\0\0\0\0\0\2" ONE "\0"), "bk"}, /* of no byte */
        {ROW("\x17\0\0\0\5b\0\3\0\0\0\2xyz\x55k\0\1\0\0\0\0"), "b!"},
        {ROW("\x10\0\0\0\5b\0\4\0\0\0\2xyz\0"), "!"}, /* longer than its document */
        {ROW("\x10\0\0\0\5b\0\xFF\xFF\xFF\xFF\2xyz\0"), "!"},
        {ROW("\x10\0\0\0\5b\0\4\0\0\0\1xyz\0"), "!"},
        {ROW("\x0A\0\0\0\5b\0\0\0\0"), "!"},
        {ROW("\7\0\0\0\5b\0"), "!"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char keys[20] = "";
        slack_t slack = slack_new(rows[i].bytes, rows[i].length);
        bson_t document;
        bson_iter_t at;
        view(&document, (const char *)slack.text, rows[i].length);
        assert_true(bson_iter_init(&at, &document));
        while (element_next(&at))
            strcat(keys, bson_iter_key(&at));
        if (at.err_off)
            strcat(keys, "!");
        if (strcmp(keys, rows[i].keys) != 0)
            fail_msg("row %zu: %s", i, keys);
        slack_free(&slack);
    }
}

TEST(find) {
    static const char bytes[] = "\x31\0\0\0" HEADLESS "\3d\0\x17\0\0\0" HEADLESS ONE "\0" ONE "\0";
    static const struct {
        const char *path;
        int64_t value; /* 0: there is none */
    } rows[] = {{"k", 1}, {"d.k", 1}, {"d.x", 0}, {"k.d", 0}, {"d.k.k", 0}, {"x", 0}, {"", 0}, {"dd", 0}};
    bson_t document;
    bson_iter_t at;
    view(&document, ROW(bytes));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool found = element_at(&document, rows[i].path, &at);
        assert_int_equal(found, rows[i].value != 0);
        assert_true(!found || bson_iter_int32(&at) == rows[i].value);
    }
    assert_true(element_of(&document, "k", &at) && !element_of(&document, "d.k", &at));
    assert_true(element_of(&document, "b", &at) && element_is_headless(&at));
}

/* Under another key, byte for byte; code with a zero byte, too. */
TEST(append) {
    static const struct {
        const char *bytes;
        uint32_t length;
        const char *expected;
        uint32_t expected_length;
    } rows[] = {
        {ROW("\x10\0\0\0" HEADLESS "\0"), ROW("\x12\0\0\0\5key\0\3\0\0\0\2xyz\0")},
        {ROW("\x10\0\0\0\x0D"
             "c\0\4\0\0\0a\0b\0\0"),
         ROW("\x12\0\0\0\x0Dkey\0\4\0\0\0a\0b\0\0")},
        {ROW("\x10\0\0\0\x0E"
             "c\0\4\0\0\0a\0b\0\0"),
         ROW("\x12\0\0\0\x0Ekey\0\4\0\0\0a\0b\0\0")},
        {ROW("\x19\0\0\0\x0F"
             "c\0\x11\0\0\0\4\0\0\0a\0b\0\5\0\0\0\0\0"),
         ROW("\x1B\0\0\0\x0Fkey\0\x11\0\0\0\4\0\0\0a\0b\0\5\0\0\0\0\0")},
        {ROW("\x1C\0\0\0\x0C"
             "c\0\4\0\0\0a\0b\0"
             "123456789012\0"),
         ROW("\x1E\0\0\0\x0Ckey\0\4\0\0\0a\0b\0"
             "123456789012\0")},
        {ROW("\x08\0\0\0\x0A"
             "c\0\0"),
         ROW("\x0A\0\0\0\x0Akey\0\0")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bson_t document, copy = BSON_INITIALIZER;
        bson_iter_t at;
        view(&document, rows[i].bytes, rows[i].length);
        if (!bson_iter_init(&at, &document) || !element_next(&at))
            fail_msg("row %zu", i);
        assert_true(element_append(&copy, "key", &at));
        assert_int_equal(copy.len, rows[i].expected_length);
        assert_memory_equal(bson_get_data(&copy), rows[i].expected, copy.len);
        bson_iter_t other;
        assert_true(bson_iter_init(&other, &copy) && element_next(&other) && element_same(&at, &other));
        bson_destroy(&copy);
    }
}

TEST(binary) {
    static const struct {
        const char *bytes;
        uint32_t length;
        bool headless;
        const char *data;
        uint32_t data_length;
    } rows[] = {
        {ROW("\x10\0\0\0" HEADLESS "\0"), true, ROW("xyz")},
        {ROW("\x13\0\0\0" LYING "\0"), true, ROW("\7\0\0\0yz")},
        {ROW("\x13\0\0\0\5b\0\6\0\0\0\2\2\0\0\0yz\0"), false, ROW("yz")},
        {ROW("\x10\0\0\0\5b\0\3\0\0\0\0xyz\0"), false, ROW("xyz")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bson_t document;
        bson_iter_t at;
        view(&document, rows[i].bytes, rows[i].length);
        bson_subtype_t subtype;
        uint32_t length;
        const uint8_t *data;
        assert_true(bson_iter_init(&at, &document) && element_next(&at));
        assert_int_equal(rows[i].headless, element_is_headless(&at));
        element_binary(&at, &subtype, &length, &data);
        assert_int_equal(rows[i].data_length, length);
        assert_memory_equal(rows[i].data, data, length);
    }
}

/* All that libbson goes through is copied into an equal document. */
TEST(as_libbson) {
    uint64_t seed = 5;
    for (int round = 0; round < 300; round++) {
        bson_t document = BSON_INITIALIZER, copy = BSON_INITIALIZER;
        bson_iter_t at, other;
        lab_fill(&document, &seed, 2);
        assert_true(bson_iter_init(&at, &document) && bson_iter_init(&other, &document));
        while (bson_iter_next(&other)) {
            assert_true(element_next(&at) && element_same(&at, &other) && !element_is_headless(&at));
            assert_true(element_append(&copy, bson_iter_key(&at), &at));
        }
        assert_true(!element_next(&at) && !at.err_off);
        assert_true(bson_equal(&document, &copy));
        bson_destroy(&copy);
        bson_destroy(&document);
    }
}

static void append_number(bson_t *document, const char *type, const char *text) {
    bson_decimal128_t decimal;
    if (strcmp(type, "double") == 0) {
        BSON_APPEND_DOUBLE(document, "", strtod(text, NULL));
    } else if (strcmp(type, "long") == 0) {
        BSON_APPEND_INT64(document, "", strtoll(text, NULL, 10));
    } else if (strcmp(type, "decimal") == 0) {
        LAB_MUST(bson_decimal128_from_string(text, &decimal));
        BSON_APPEND_DECIMAL128(document, "", &decimal);
    } else {
        BSON_APPEND_UTF8(document, "", text);
    }
}

TEST(floor) {
    static const struct {
        const char *type, *text;
        bool is_number;
        int64_t whole;
    } rows[] = {
        {"long", "-5", true, -5},
        {"double", "1.5", true, 1},
        {"double", "-1.5", true, -2},
        {"double", "9223372036854775808", false, 0},
        {"double", "-9223372036854775808", true, INT64_MIN},
        {"double", "nan", false, 0},
        {"decimal", "2.233785415208463690E+18", true, 2233785415208463690},
        {"decimal", "9223372036854775806.5", true, INT64_MAX - 1},
        {"decimal", "9223372036854775808", false, 0},
        {"decimal", "NaN", false, 0},
        {"decimal", "-Infinity", false, 0},
        {"text", "1", false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bson_t document = BSON_INITIALIZER;
        bson_iter_t at;
        int64_t whole = 0;
        append_number(&document, rows[i].type, rows[i].text);
        LAB_MUST(bson_iter_init(&at, &document) && bson_iter_next(&at));
        if (element_floor(&at, &whole) != rows[i].is_number || whole != rows[i].whole)
            fail_msg("%s %s: %lld", rows[i].type, rows[i].text, (long long)whole);
        bson_destroy(&document);
    }
}
