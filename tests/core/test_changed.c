/* changed: how two documents differ, in words, against JSON written by hand. */
#include "json_lab.h"
#include "test.h"
#include "verify/difference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void check_documents(const bson_t *expected, const bson_t *stored, const char *field,
                            const char *stored_value, const char *expected_value, uint32_t more) {
    changed_t changed;
    changed_describe(bson_get_data(expected), expected->len, bson_get_data(stored), stored->len, &changed);
    assert_string_equal(changed.field, field);
    assert_string_equal(changed.stored, stored_value);
    assert_string_equal(changed.expected, expected_value);
    assert_int_equal(changed.more, more);
}

static void check(const char *expected, const char *stored, const char *field, const char *stored_value,
                  const char *expected_value, uint32_t more) {
    bson_t *from = lab_json(expected), *to = lab_json(stored);
    check_documents(from, to, field, stored_value, expected_value, more);
    bson_destroy(from);
    bson_destroy(to);
}

TEST(fields) {
    check("{\"_id\": 1, \"a\": 1, \"b\": \"x\"}", "{\"_id\": 1, \"a\": 2, \"b\": \"x\"}", "a",
          "{ \"$numberInt\" : \"2\" }", "{ \"$numberInt\" : \"1\" }", 0);
    check("{\"a\": 1, \"b\": \"x\"}", "{\"a\": 2, \"b\": \"y\"}", "a", "{ \"$numberInt\" : \"2\" }",
          "{ \"$numberInt\" : \"1\" }", 1);
    check("{\"a\": \"x\"}", "{\"a\": {\"$numberLong\": \"1\"}}", "a", "{ \"$numberLong\" : \"1\" }", "\"x\"",
          0);
    check("{\"a\": 1, \"b\": true}", "{\"a\": 1}", "b", "", "true", 0);
    check("{\"a\": 1}", "{\"a\": 1, \"b\": null}", "b", "null", "", 0);
    check("{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}", "", "", "", 0);
}

TEST(nested) {
    check("{\"w\": {\"s\": {\"r\": \"a\", \"q\": \"1\"}}}", "{\"w\": {\"s\": {\"r\": \"b\", \"q\": \"1\"}}}",
          "w.s.r", "\"b\"", "\"a\"", 0);
    check("{\"w\": [\"a\", \"b\"]}", "{\"w\": [\"a\", \"c\"]}", "w.1", "\"c\"", "\"b\"", 0);
    check("{\"w\": [\"a\", \"b\"]}", "{\"w\": [\"a\"]}", "w.1", "", "\"b\"", 0);
    check("{\"w\": [\"a\"]}", "{\"w\": {\"0\": \"a\"}}", "w", "{ \"0\" : \"a\" }", "[ \"a\" ]", 0);
    check("{\"w\": {\"a\": \"x\", \"b\": \"y\"}}", "{\"w\": {\"b\": \"y\", \"a\": \"x\"}}", "w",
          "{ \"b\" : \"y\", \"a\" : \"x\" }", "{ \"a\" : \"x\", \"b\" : \"y\" }", 0);
}

/* As everywhere else: short doubles, and nothing that a terminal obeys. */
TEST(shown) {
    check("{\"_id\": 0.1}", "{\"_id\": {\"a\": \"\\u009b\"}}", "_id", "{ \"a\" : \"\\u009b\" }",
          "{ \"$numberDouble\" : \"0.1\" }", 0);
}

/* Neighbours among the doubles print as different numbers, and so do the two zeros. */
TEST(one_bit) {
    const double pairs[][2] = {
        {12.3, nextafter(12.3, 13)}, {0.0, -0.0}, {1e300, nextafter(1e300, 0)}, {-0.1, nextafter(-0.1, 0)}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bson_t from = BSON_INITIALIZER, to = BSON_INITIALIZER;
        changed_t changed;
        BSON_APPEND_DOUBLE(&from, "v", pairs[i][0]);
        BSON_APPEND_DOUBLE(&to, "v", pairs[i][1]);
        changed_describe(bson_get_data(&from), from.len, bson_get_data(&to), to.len, &changed);
        assert_string_equal(changed.field, "v");
        assert_string_not_equal(changed.stored, changed.expected);
        bson_destroy(&from);
        bson_destroy(&to);
    }
}

TEST(long_values) {
    char text[1001] = "", key[1001] = "";
    bson_t from = BSON_INITIALIZER, to = BSON_INITIALIZER;
    changed_t changed;
    for (size_t i = 0; i < 500; i++)
        strcat(text, "\xC3\xA9"), strcat(key, "\xC3\xA9");
    BSON_APPEND_UTF8(&from, key, text);
    BSON_APPEND_UTF8(&to, key, "short");
    changed_describe(bson_get_data(&from), from.len, bson_get_data(&to), to.len, &changed);
    assert_string_equal(changed.stored, "\"short\"");
    assert_true(strlen(changed.expected) < CHANGED_VALUE);
    assert_string_equal(changed.expected + strlen(changed.expected) - 3, "...");
    assert_true(bson_utf8_validate(changed.expected, strlen(changed.expected), false));
    assert_true(strlen(changed.field) < CHANGED_FIELD);
    assert_true(bson_utf8_validate(changed.field, strlen(changed.field), false));
    bson_destroy(&from);
    bson_destroy(&to);
}

/* After a zero byte of code, and after binary data of subtype 2 without its inner length. */
TEST(odd_bytes) {
    static const uint8_t expected[] = "\x19\0\0\0\5b\0\1\0\0\0\2x\x0D"
                                      "c\0\4\0\0\0a\0b\0",
                         stored[] = "\x19\0\0\0\5b\0\1\0\0\0\2x\x0D"
                                    "c\0\4\0\0\0a\0d\0";
    bson_t from, to;
    assert_true(bson_init_static(&from, expected, sizeof expected));
    assert_true(bson_init_static(&to, stored, sizeof stored));
    check_documents(&from, &to, "c", "{ \"$code\" : \"a\\u0000d\" }", "{ \"$code\" : \"a\\u0000b\" }", 0);
}

/* Each element is found at once, in whichever order they are: a scan of all of them for each one would take hours. */
TEST(many_elements) {
    enum { ELEMENTS = 300000 };
    bson_t from = BSON_INITIALIZER, to = BSON_INITIALIZER, list;
    for (int turn = 0; turn < 2; turn++) {
        bson_t *document = turn ? &to : &from;
        BSON_APPEND_ARRAY_UNSAFE_BEGIN(document, "same order", &list);
        for (int i = 0; i < ELEMENTS - turn; i++) { /* the last one is not there */
            char key[16];
            snprintf(key, sizeof key, "%d", i);
            BSON_APPEND_INT32(&list, key, i);
        }
        bson_append_array_end(document, &list);
        BSON_APPEND_DOCUMENT_BEGIN(document, "other order", &list);
        for (int i = 0; i < ELEMENTS; i++) {
            char key[16];
            const int number = turn ? ELEMENTS - 1 - i : i;
            snprintf(key, sizeof key, "k%d", number + (turn && number == 7 ? ELEMENTS : 0));
            BSON_APPEND_INT32(&list, key, turn && number == 5 ? -1 : number);
        }
        bson_append_document_end(document, &list);
    }
    /* another number, a key that is there no more, and one that was not */
    check_documents(&from, &to, "same order.299999", "", "{ \"$numberInt\" : \"299999\" }", 3);
    bson_destroy(&from);
    bson_destroy(&to);
}
