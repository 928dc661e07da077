/* ejson: as libbson prints it, except for doubles and control characters. */
#include "base/document.h"
#include "test.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check(const bson_t *document, bool relaxed, const char *expected) {
    size_t length;
    char *json = ejson_print(document, relaxed, &length);
    assert_non_null(json);
    assert_string_equal(json, expected);
    assert_int_equal(length, strlen(json));
    free(json);
}

/* Every type there is, in documents and arrays. */
static bson_t *of_every_type(void) {
    bson_t *all = bson_new(), inner, items;
    bson_oid_t oid;
    bson_decimal128_t decimal;
    bson_oid_init_from_string(&oid, "0123456789abcdef01234567");
    bson_decimal128_from_string("1.500", &decimal);
    bson_t *scope = BCON_NEW("x", BCON_INT32(1));
    bson_append_utf8(all, "text \"\\\n\t", -1, "a\0b \"\\/\b\f\r\x1b caf\xC3\xA9", 17);
    BSON_APPEND_INT32(all, "int", -5);
    BSON_APPEND_INT64(all, "long", INT64_MIN);
    BSON_APPEND_INT64(all, "longer", 9007199254740993);
    BSON_APPEND_BOOL(all, "yes", true);
    BSON_APPEND_NULL(all, "null");
    BSON_APPEND_OID(all, "oid", &oid);
    BSON_APPEND_DATE_TIME(all, "date", 1675123200123);
    BSON_APPEND_DATE_TIME(all, "early", -1);
    BSON_APPEND_TIMESTAMP(all, "timestamp", 7, 8);
    BSON_APPEND_DECIMAL128(all, "decimal", &decimal);
    BSON_APPEND_BINARY(all, "binary", BSON_SUBTYPE_BINARY, (const uint8_t *)"\xFF\0\1", 3);
    BSON_APPEND_REGEX(all, "regex", "^a\"b", "i");
    BSON_APPEND_CODE(all, "code", "function() { return \"}\"; }");
    BSON_APPEND_CODE_WITH_SCOPE(all, "scoped", "x", scope);
    BSON_APPEND_SYMBOL(all, "symbol", "s");
    BSON_APPEND_DBPOINTER(all, "pointer", "db.c", &oid);
    BSON_APPEND_UNDEFINED(all, "undefined");
    BSON_APPEND_MINKEY(all, "min");
    BSON_APPEND_MAXKEY(all, "max");
    BSON_APPEND_DOUBLE(all, "nan", NAN);
    BSON_APPEND_DOUBLE(all, "inf", INFINITY);
    BSON_APPEND_DOUBLE(all, "-inf", -INFINITY);
    BSON_APPEND_DOUBLE(all, "whole", 5);
    BSON_APPEND_DOUBLE(all, "exact", -1019.5);
    BSON_APPEND_DOUBLE(all, "zero", -0.0);
    BSON_APPEND_DOCUMENT_BEGIN(all, "inner", &inner);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(&inner, "items", &items);
    BSON_APPEND_INT32(&items, "0", 1);
    BSON_APPEND_UTF8(&items, "1", "two");
    bson_append_array_end(&inner, &items);
    bson_append_document_end(all, &inner);
    bson_destroy(scope);
    return all;
}

/* One text that is not UTF-8: only its odd bytes are shown otherwise. */
TEST(not_utf8) {
    bson_t all = BSON_INITIALIZER;
    bson_oid_t oid;
    bson_oid_init_from_string(&oid, "0123456789abcdef01234567");
    bson_t *scope = BCON_NEW("x", BCON_DOUBLE(0.1), "y", BCON_REGEX("\xFF", "i"));
    BSON_APPEND_REGEX(&all, "r", "a\xFF(", "i");
    BSON_APPEND_CODE(&all, "c", "\xE9");
    BSON_APPEND_CODE_WITH_SCOPE(&all, "w", "\xC3", scope);
    BSON_APPEND_SYMBOL(&all, "s", "\x80\x1b");
    BSON_APPEND_DBPOINTER(&all, "p", "d\xFF.c", &oid);
    BSON_APPEND_INT32(&all, "n", 1);
    check(&all, true,
          "{ \"r\" : { \"$regularExpression\" : { \"pattern\" : \"a\xEF\xBF\xBD(\", \"options\" : \"i\" } }, "
          "\"c\" : { \"$code\" : \"\xEF\xBF\xBD\" }, "
          "\"w\" : { \"$code\" : \"\xEF\xBF\xBD\", \"$scope\" : { \"x\" : 0.1, \"y\" : { "
          "\"$regularExpression\" : { \"pattern\" : \"\xEF\xBF\xBD\", \"options\" : \"i\" } } } }, "
          "\"s\" : { \"$symbol\" : \"\xEF\xBF\xBD\\u001b\" }, "
          "\"p\" : { \"$dbPointer\" : { \"$ref\" : \"d\xEF\xBF\xBD.c\", \"$id\" : { \"$oid\" : "
          "\"0123456789abcdef01234567\" } } }, \"n\" : 1 }");
    bson_destroy(scope);
    bson_destroy(&all);
}

TEST(as_libbson) {
    bson_t *all = of_every_type(), empty = BSON_INITIALIZER;
    char *canonical = bson_as_canonical_extended_json(all, NULL),
         *relaxed = bson_as_relaxed_extended_json(all, NULL),
         *nothing = bson_as_relaxed_extended_json(&empty, NULL);
    check(all, false, canonical);
    check(all, true, relaxed);
    check(&empty, true, nothing);
    bson_free(canonical);
    bson_free(relaxed);
    bson_free(nothing);
    bson_destroy(all);
}

/* libbson prints these in one way or another, by its version. */
TEST(empty) {
    bson_t *document = BCON_NEW("none", "[", "]", "empty", "{", "}");
    check(document, true, "{ \"none\" : [  ], \"empty\" : {  } }");
    bson_destroy(document);
}

TEST(dates) {
    bson_t *document = BCON_NEW("a", BCON_DATE_TIME(253402300799999), "b", BCON_DATE_TIME(253402300800000),
                                "c", BCON_DATE_TIME(-1));
    check(document, true,
          "{ \"a\" : { \"$date\" : \"9999-12-31T23:59:59.999Z\" }, "
          "\"b\" : { \"$date\" : { \"$numberLong\" : \"253402300800000\" } }, "
          "\"c\" : { \"$date\" : { \"$numberLong\" : \"-1\" } } }");
    bson_destroy(document);
}

TEST(doubles) {
    bson_t *document = BCON_NEW("a", BCON_DOUBLE(12.067), "b", "[", BCON_DOUBLE(0.1), BCON_DOUBLE(1e22),
                                BCON_DOUBLE(5e-324), "]");
    check(document, true, "{ \"a\" : 12.067, \"b\" : [ 0.1, 1e+22, 5e-324 ] }");
    check(document, false,
          "{ \"a\" : { \"$numberDouble\" : \"12.067\" }, \"b\" : [ { \"$numberDouble\" : \"0.1\" }, "
          "{ \"$numberDouble\" : \"1e+22\" }, { \"$numberDouble\" : \"5e-324\" } ] }");
    bson_destroy(document);
}

/* In keys, texts, and what libbson prints for us. */
TEST(controls) {
    bson_t *document =
        BCON_NEW("k\xC2\x9B", BCON_UTF8("\xC2\x9B\x32J\x7F\x1b"), "r", BCON_REGEX("\xC2\x85", "i"));
    check(document, true,
          "{ \"k\\u009b\" : \"\\u009b2J\\u007f\\u001b\", \"r\" : { \"$regularExpression\" : { \"pattern\" : "
          "\"\\u0085\", \"options\" : \"i\" } } }");
    bson_destroy(document);
}

/* One word of a command, too, whatever is in it. */
TEST(text) {
    text_t text = {.length = 0};
    ejson_append_text(&text, "x\"); db.dropDatabase(); (\"\\\n\xC2\x9B\xFF");
    assert_string_equal(text.bytes, "\"x\\\"); db.dropDatabase(); (\\\"\\\\\\n\\u009b\xEF\xBF\xBD\"");
    text_free(&text);
}

TEST(wrong) {
    static const uint8_t torn[] = {12, 0, 0, 0, 0x02, 'a', 0, 99, 0, 0, 0, 0};
    bson_t document;
    assert_true(bson_init_static(&document, torn, sizeof torn));
    assert_null(ejson_print(&document, true, NULL));
    bson_t *deep = bson_new();
    for (int i = 0; i < 300; i++) {
        bson_t *outer = BCON_NEW("d", BCON_DOCUMENT(deep));
        bson_destroy(deep);
        deep = outer;
    }
    assert_null(ejson_print(deep, true, NULL));
    bson_destroy(deep);
}

/* Binary data of subtype 2 without its inner length, and code with a zero byte. */
TEST(odd_bytes) {
    static const uint8_t bytes[] = "\x2C\0\0\0\5b\0\3\0\0\0\2xyz\x0D"
                                   "c\0\4\0\0\0a\0b\0\4l\0\x0E\0\0\0\5"
                                   "0\0\1\0\0\0\2x\0";
    bson_t document;
    assert_true(bson_init_static(&document, bytes, sizeof bytes));
    check(&document, true,
          "{ \"b\" : { \"$binary\" : { \"base64\" : \"eHl6\", \"subType\" : \"02\" } }, "
          "\"c\" : { \"$code\" : \"a\\u0000b\" }, "
          "\"l\" : [ { \"$binary\" : { \"base64\" : \"eA==\", \"subType\" : \"02\" } } ] }");
}
