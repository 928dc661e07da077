/* json_value: texts by hand, with what must become of them; rooms, guards, ends. (The same as
 * libbson makes of it: tests/fuzz/fuzz_json.c.) */
#include "json_value_lab.h"
#include "test.h"

static json_value_t *json;

static int make_reader(TEST_UNUSED void **state) {
    return (json = json_value_new()) ? 0 : -1;
}

static int drop_reader(TEST_UNUSED void **state) {
    json_value_destroy(json);
    return 0;
}

/* As canonical extended JSON; an empty array as the driver writes it from 1.30 on. */
static char *printed(const lab_json_t *one) {
    bson_t document;
    if (!bson_init_static(&document, one->document, one->result.length))
        fail_msg("this is no BSON");
    assert_true(lab_valid_json(one));
    char *text = bson_as_canonical_extended_json(&document, NULL);
    assert_non_null(text);
    for (char *empty; (empty = strstr(text, "[  ]")) || (empty = strstr(text, "{  }"));)
        memmove(empty + 1, empty + 2, strlen(empty + 2) + 1);
    return text;
}

static void becomes(const char *text, size_t length, const char *expected) {
    lab_json_t one = lab_json_read(json, text, length);
    if (one.read != JSON_DOCUMENT)
        fail_msg("%s is rejected: %s, at %zu", text, one.reason, one.result.at);
    char *now = printed(&one);
    if (strcmp(now, expected) != 0)
        fail_msg("%s\nbecomes %s\nnot     %s", text, now, expected);
    bson_free(now);
    lab_json_free(&one);
}

/* --- what becomes of texts ---------------------------------------------------------------------------------------- */

static const struct {
    const char *text, *expected;
} accepted[] = {
    {"{}", "{ }"},
    {" \t\r\n{ \n} \r", "{ }"},
    {"{\"a\":1}", "{ \"a\" : { \"$numberInt\" : \"1\" } }"},
    {"{ \"a\" : \"b\" , \"c\" : true }", "{ \"a\" : \"b\", \"c\" : true }"},
    {"{\"a\":[]}", "{ \"a\" : [ ] }"},
    {"{\"a\":[ ]}", "{ \"a\" : [ ] }"},
    {"{\"a\":{}}", "{ \"a\" : { } }"},
    {"{\"a\":[1,[2],{\"b\":null}]}",
     "{ \"a\" : [ { \"$numberInt\" : \"1\" }, [ { \"$numberInt\" : \"2\" } ], { \"b\" : null } ] }"},
    {"{\"\":false}", "{ \"\" : false }"},
    {"{\"a.b\":1,\"$x\":{\"$y\":2}}",
     "{ \"a.b\" : { \"$numberInt\" : \"1\" }, \"$x\" : { \"$y\" : { \"$numberInt\" : \"2\" } } }"},
    {"{\"a key that is longer than sixteen bytes\":\"and a text that is longer than sixteen\"}",
     "{ \"a key that is longer than sixteen bytes\" : \"and a text that is longer than sixteen\" }"},
    /* escapes */
    {"{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "{ \"a\" : \"\\\"\\\\/\\b\\f\\n\\r\\t\" }"},
    {"{\"\\u0061\\u00e9\":\"\\u20AC\\ud83d\\uDE00\"}",
     "{ \"a\xC3\xA9\" : \"\xE2\x82\xAC\xF0\x9F\x98\x80\" }"},
    {"{\"a\":\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBF\"}",
     "{ \"a\" : \"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBF\" }"},
    {"{\"a\":\"123456789012345\\n\"}", "{ \"a\" : \"123456789012345\\n\" }"},
    {"{\"a\":\"\x7F\"}", "{ \"a\" : \"\x7F\" }"},
    /* numbers */
    {"{\"a\":0}", "{ \"a\" : { \"$numberInt\" : \"0\" } }"},
    {"{\"a\":-0}", "{ \"a\" : { \"$numberDouble\" : \"-0.0\" } }"},
    {"{\"a\":2147483647}", "{ \"a\" : { \"$numberInt\" : \"2147483647\" } }"},
    {"{\"a\":-2147483648}", "{ \"a\" : { \"$numberInt\" : \"-2147483648\" } }"},
    {"{\"a\":2147483648}", "{ \"a\" : { \"$numberLong\" : \"2147483648\" } }"},
    {"{\"a\":-2147483649}", "{ \"a\" : { \"$numberLong\" : \"-2147483649\" } }"},
    {"{\"a\":9223372036854775807}", "{ \"a\" : { \"$numberLong\" : \"9223372036854775807\" } }"},
    {"{\"a\":-9223372036854775808}", "{ \"a\" : { \"$numberLong\" : \"-9223372036854775808\" } }"},
    /* exactly a double, or printed with the same digits */
    {"{\"a\":9223372036854775808}", "{ \"a\" : { \"$numberDouble\" : \"9223372036854775808.0\" } }"},
    {"{\"a\":100000000000000000000}", "{ \"a\" : { \"$numberDouble\" : \"1e+20\" } }"},
    {"{\"a\":-12345678901234567000}", "{ \"a\" : { \"$numberDouble\" : \"-12345678901234567168.0\" } }"},
    {"{\"a\":1.5,\"b\":-0.0,\"c\":1e2,\"d\":-25E-1}",
     "{ \"a\" : { \"$numberDouble\" : \"1.5\" }, \"b\" : { \"$numberDouble\" : \"-0.0\" }, \"c\" : { "
     "\"$numberDouble\" : \"100.0\" }, \"d\" : { \"$numberDouble\" : \"-2.5\" } }"},
    {"{\"a\":NaN,\"b\":Infinity,\"c\":-Infinity}",
     "{ \"a\" : { \"$numberDouble\" : \"NaN\" }, \"b\" : { \"$numberDouble\" : \"Infinity\" }, \"c\" : { "
     "\"$numberDouble\" : \"-Infinity\" } }"},
    /* extended JSON */
    {"{\"a\":{\"$oid\":\"0123456789abcdefABCDEF01\"}}",
     "{ \"a\" : { \"$oid\" : \"0123456789abcdefabcdef01\" } }"},
    {"{\"a\":{\"\\u0024oid\":\"0123456789abcdef0123456\\u0037\"}}",
     "{ \"a\" : { \"$oid\" : \"0123456789abcdef01234567\" } }"},
    {"{\"a\":{ \"$numberInt\" : \"-5\" }}", "{ \"a\" : { \"$numberInt\" : \"-5\" } }"},
    {"{\"a\":{\"$numberLong\":\"5\"}}", "{ \"a\" : { \"$numberLong\" : \"5\" } }"},
    {"{\"a\":{\"$numberDouble\":\"5\"}}", "{ \"a\" : { \"$numberDouble\" : \"5.0\" } }"},
    {"{\"a\":{\"$numberDouble\":\"-Infinity\"}}", "{ \"a\" : { \"$numberDouble\" : \"-Infinity\" } }"},
    {"{\"a\":{\"$numberDecimal\":\"1.500\"}}", "{ \"a\" : { \"$numberDecimal\" : \"1.500\" } }"},
    {"{\"a\":{\"$date\":\"2024-05-31T23:59:59.123Z\"}}",
     "{ \"a\" : { \"$date\" : { \"$numberLong\" : \"1717199999123\" } } }"},
    {"{\"a\":{\"$date\":\"2024-05-31T23:59:59.5+01:30\"}}",
     "{ \"a\" : { \"$date\" : { \"$numberLong\" : \"1717194599500\" } } }"},
    {"{\"a\":{\"$date\":\"2024-05-31T23:59-0130\"}}",
     "{ \"a\" : { \"$date\" : { \"$numberLong\" : \"1717205340000\" } } }"},
    {"{\"a\":{\"$date\":\"1969-12-31T23:59:59.999000000Z\"}}",
     "{ \"a\" : { \"$date\" : { \"$numberLong\" : \"-1\" } } }"},
    {"{\"a\":{\"$date\":{\"$numberLong\":\"-62135596800001\"}}}",
     "{ \"a\" : { \"$date\" : { \"$numberLong\" : \"-62135596800001\" } } }"},
    {"{\"a\":{\"$binary\":{\"base64\":\"AAEC\",\"subType\":\"80\"}}}",
     "{ \"a\" : { \"$binary\" : { \"base64\" : \"AAEC\", \"subType\" : \"80\" } } }"},
    {"{\"a\":{\"$binary\":{\"subType\":\"2\",\"base64\":\"AAE=\"}}}",
     "{ \"a\" : { \"$binary\" : { \"base64\" : \"AAE=\", \"subType\" : \"02\" } } }"},
    {"{\"a\":{\"$binary\":\"\\/\\/8=\",\"$type\":\"0\"}}",
     "{ \"a\" : { \"$binary\" : { \"base64\" : \"//8=\", \"subType\" : \"00\" } } }"},
    {"{\"a\":{\"$type\":128,\"$binary\":\"AA==\"}}",
     "{ \"a\" : { \"$binary\" : { \"base64\" : \"AA==\", \"subType\" : \"80\" } } }"},
    {"{\"a\":{\"$binary\":{\"base64\":\"\",\"subType\":\"00\"}}}",
     "{ \"a\" : { \"$binary\" : { \"base64\" : \"\", \"subType\" : \"00\" } } }"},
    {"{\"a\":{\"$uuid\":\"01234567-89ab-CDEF-0123-456789abcdef\"}}",
     "{ \"a\" : { \"$binary\" : { \"base64\" : \"ASNFZ4mrze8BI0VniavN7w==\", \"subType\" : \"04\" } } }"},
    {"{\"a\":{\"$timestamp\":{\"t\":4294967295,\"i\":7}}}",
     "{ \"a\" : { \"$timestamp\" : { \"t\" : 4294967295, \"i\" : 7 } } }"},
    {"{\"a\":{\"$timestamp\":{\"i\":7,\"t\":1}}}",
     "{ \"a\" : { \"$timestamp\" : { \"t\" : 1, \"i\" : 7 } } }"},
    {"{\"a\":{\"$regularExpression\":{\"pattern\":\"^a\",\"options\":\"xi\"}}}",
     "{ \"a\" : { \"$regularExpression\" : { \"pattern\" : \"^a\", \"options\" : \"ix\" } } }"},
    {"{\"a\":{\"$options\":\"\",\"$regex\":\"a\\\"b\"}}",
     "{ \"a\" : { \"$regularExpression\" : { \"pattern\" : \"a\\\"b\", \"options\" : \"\" } } }"},
    {"{\"a\":{\"$code\":\"f()\"}}", "{ \"a\" : { \"$code\" : \"f()\" } }"},
    {"{\"a\":{\"$code\":\"f()\",\"$scope\":{\"x\":1,\"$oid\":2}}}",
     "{ \"a\" : { \"$code\" : \"f()\", \"$scope\" : { \"x\" : { \"$numberInt\" : \"1\" }, \"$oid\" : { "
     "\"$numberInt\" : \"2\" } } } }"},
    {"{\"a\":{\"$scope\":{\"x\":1},\"$code\":\"a longer text of code\"},\"b\":2}",
     "{ \"a\" : { \"$code\" : \"a longer text of code\", \"$scope\" : { \"x\" : { \"$numberInt\" : \"1\" } } "
     "}, "
     "\"b\" : { \"$numberInt\" : \"2\" } }"},
    {"{\"a\":{\"$symbol\":\"s\"}}", "{ \"a\" : { \"$symbol\" : \"s\" } }"},
    {"{\"a\":{\"$dbPointer\":{\"$id\":{\"$oid\":\"0123456789abcdef01234567\"},\"$ref\":\"d.c\"}}}",
     "{ \"a\" : { \"$dbPointer\" : { \"$ref\" : \"d.c\", \"$id\" : { \"$oid\" : \"0123456789abcdef01234567\" "
     "} } } }"},
    {"{\"a\":{\"$minKey\":1},\"b\":{\"$maxKey\":1},\"c\":{\"$undefined\":true}}",
     "{ \"a\" : { \"$minKey\" : 1 }, \"b\" : { \"$maxKey\" : 1 }, \"c\" : { \"$undefined\" : true } }"},
    {"{\"a\":{\"$ref\":\"c\",\"$id\":{\"$oid\":\"0123456789abcdef01234567\"},\"$db\":\"d\"}}",
     "{ \"a\" : { \"$ref\" : \"c\", \"$id\" : { \"$oid\" : \"0123456789abcdef01234567\" }, \"$db\" : \"d\" } "
     "}"},
    /* operators of queries, which are no typed values */
    {"{\"a\":{\"$regex\":\"x\"}}", "{ \"a\" : { \"$regex\" : \"x\" } }"},
    {"{\"a\":{\"$regex\":\"x\",\"$options\":\"i\",\"$ne\":1}}",
     "{ \"a\" : { \"$regex\" : \"x\", \"$options\" : \"i\", \"$ne\" : { \"$numberInt\" : \"1\" } } }"},
    {"{\"a\":{\"$regex\":{\"$oid\":\"0123456789abcdef01234567\"},\"$options\":\"i\"}}",
     "{ \"a\" : { \"$regex\" : { \"$oid\" : \"0123456789abcdef01234567\" }, \"$options\" : \"i\" } }"},
    {"{\"a\":{\"$type\":\"array\"}}", "{ \"a\" : { \"$type\" : \"array\" } }"},
    {"{\"a\":{\"$type\":2}}", "{ \"a\" : { \"$type\" : { \"$numberInt\" : \"2\" } } }"},
    /* only the first key makes a typed value, and never of the document itself */
    {"{\"a\":{\"x\":1,\"$oid\":2}}",
     "{ \"a\" : { \"x\" : { \"$numberInt\" : \"1\" }, \"$oid\" : { \"$numberInt\" : \"2\" } } }"},
    {"{\"$oid\":\"0\"}", "{ \"$oid\" : \"0\" }"},
    /* the shell */
    {"{\"a\":ISODate(\"2024-05-31T23:59:59.123Z\")}",
     "{ \"a\" : { \"$date\" : { \"$numberLong\" : \"1717199999123\" } } }"},
    {"{\"a\":ISODate( \"2024-05-31T23:59:59\" )}",
     "{ \"a\" : { \"$date\" : { \"$numberLong\" : \"1717199999000\" } } }"},
    {"{\"a\":new Date(\"2024-05-31\")}",
     "{ \"a\" : { \"$date\" : { \"$numberLong\" : \"1717113600000\" } } }"},
    {"{\"a\":new Date(-5),\"b\":Date(5)}", "{ \"a\" : { \"$date\" : { \"$numberLong\" : \"-5\" } }, \"b\" : "
                                           "{ \"$date\" : { \"$numberLong\" : \"5\" } } }"},
    {"{\"a\":ObjectId(\"0123456789abcdef01234567\")}",
     "{ \"a\" : { \"$oid\" : \"0123456789abcdef01234567\" } }"},
    {"{\"a\":[NumberInt(1),NumberInt(\"2\"),NumberLong(3),NumberLong(\"-4\")]}",
     "{ \"a\" : [ { \"$numberInt\" : \"1\" }, { \"$numberInt\" : \"2\" }, { \"$numberLong\" : \"3\" }, { "
     "\"$numberLong\" : \"-4\" } ] }"},
    {"{\"a\":NumberDecimal(\"1.50\"),\"b\":NumberDecimal(-2.5)}",
     "{ \"a\" : { \"$numberDecimal\" : \"1.50\" }, \"b\" : { \"$numberDecimal\" : \"-2.5\" } }"},
    {"{\"a\":Timestamp(1, 2)}", "{ \"a\" : { \"$timestamp\" : { \"t\" : 1, \"i\" : 2 } } }"},
    {"{\"a\":BinData(5,\"AAE=\")}",
     "{ \"a\" : { \"$binary\" : { \"base64\" : \"AAE=\", \"subType\" : \"05\" } } }"},
    {"{\"a\":UUID(\"01234567-89ab-cdef-0123-456789abcdef\")}",
     "{ \"a\" : { \"$binary\" : { \"base64\" : \"ASNFZ4mrze8BI0VniavN7w==\", \"subType\" : \"04\" } } }"},
    {"{\"a\":MinKey,\"b\":MaxKey(),\"c\":undefined,\"d\":MinKey ( )}",
     "{ \"a\" : { \"$minKey\" : 1 }, \"b\" : { \"$maxKey\" : 1 }, \"c\" : { \"$undefined\" : true }, \"d\" : "
     "{ "
     "\"$minKey\" : 1 } }"},
    {"{\"a\":/^a[/]\\/b/mi}",
     "{ \"a\" : { \"$regularExpression\" : { \"pattern\" : \"^a[/]\\\\/b\", \"options\" : \"im\" } } }"},
};

TEST(accepted) {
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++)
        becomes(accepted[i].text, strlen(accepted[i].text), accepted[i].expected);
}

/* A NUL in a text is written as an escape, and libbson prints it so. */
TEST(nul) {
    becomes("{\"a\":\"b\\u0000c\"}", 16, "{ \"a\" : \"b\\u0000c\" }");
}

TEST(bytes) {
    static const char text[] = "{\"a\":[1,\"b\"],\"c\":3000000000}";
    static const uint8_t expected[] = "\x28\0\0\0\x04"
                                      "a\0\x15\0\0\0\x10"
                                      "0\0\1\0\0\0\x02"
                                      "1\0\2\0\0\0b\0\0"
                                      "\x12"
                                      "c\0\0\x5E\xD0\xB2\0\0\0\0";
    lab_json_t one = lab_json_read(json, text, sizeof text - 1);
    assert_int_equal(one.read, JSON_DOCUMENT);
    assert_int_equal(one.result.length, sizeof expected);
    assert_memory_equal(one.document, expected, sizeof expected);
    lab_json_free(&one);
}

/* --- rejects ------------------------------------------------------------------------------------------------------ */

#define SHORT "text ends"
#define COMMA "a comma or }"

static const struct {
    const char *text;
    size_t at;
    const char *field, *reason;
} rejected[] = {
    {"", 0, "", SHORT},
    {"  ", 2, "", SHORT},
    {"[1]", 0, "", "must be an object"},
    {" 5", 1, "", "must be an object"},
    {"\"a\"", 0, "", "must be an object"},
    {"{} x", 3, "", "something follows"},
    {"{}{}", 2, "", "something follows"},
    {"{", 1, "", SHORT},
    {"{\"a\"", 4, "", SHORT},
    {"{\"a\":", 5, "", SHORT},
    {"{\"a\":1", 6, "", SHORT},
    {"{\"a\":1,", 7, "", SHORT},
    {"{\"a\":tru", 5, "a", "a value"},
    {"{\"a\":{}", 7, "", SHORT},
    {"{\"a\":[", 6, "a", SHORT},
    {"{\"a\":[1", 7, "a", SHORT},
    {"{\"a\":[1,", 8, "a", SHORT},
    {"{a:1}", 1, "", "a key in quotes"},
    {"{'a':1}", 1, "", "a key in quotes"},
    {"{\"a\":1,}", 7, "", "a key in quotes"},
    {"{,}", 1, "", "a key in quotes"},
    {"{\"a\" 1}", 5, "", "a colon"},
    {"{\"a\":1 \"b\":2}", 7, "", COMMA},
    {"{\"a\":1]", 6, "", COMMA},
    {"{\"a\":truex}", 9, "", COMMA},
    {"{\"a\":[1 2]}", 8, "a", "a comma or ]"},
    {"{\"a\":[1,]}", 8, "a.1", "a value"},
    {"{\"a\":[1,2}}", 9, "a", "a comma or ]"},
    {"{\"a\":}", 5, "a", "a value"},
    {"{\"a\":TRUE}", 5, "a", "a value"},
    {"{\"a\":'b'}", 5, "a", "a value"},
    {"{\"a\":{\"b\":[0,{\"c\":x}]}}", 18, "a.b.1.c", "a value"},
    /* texts */
    {"{\"a\":\"b}", 5, "a", "has no end"},
    {"{\"a\":\"0123456789012345678901234567890123456789}", 5, "a", "has no end"},
    {"{\"a\":\"b\\", 5, "a", "has no end"},
    {"{\"a\":\"b\\\"", 5, "a", "has no end"},
    {"{\"a", 1, "", "has no end"},
    {"{\"a\":\"b\nc\"}", 7, "a", "0x0A"},
    {"{\"a\tb\":1}", 3, "", "0x09"},
    {"{\"a\":\"\\x\"}", 6, "a", "\\x is not an escape"},
    {"{\"a\":\"\\\xC3\xA9\"}", 6, "a", "a backslash"},
    {"{\"a\":\"\\u12g4\"}", 6, "a", "four hexadecimal digits"},
    {"{\"a\":\"\\ud800\"}", 6, "a", "\\ud800 is one half"},
    {"{\"a\":\"\\uDC00x\"}", 6, "a", "\\uDC00 is one half"},
    {"{\"a\":\"\\ud800\\u0041\"}", 6, "a", "\\ud800 is one half"},
    {"{\"a\\u0000\":1}", 1, "", "a key contains"},
    {"{\"a\":\"b\xFF\"}", 7, "a", "not UTF-8: byte 0xFF"},
    {"{\"a\":\"\xC3\"}", 6, "a", "not UTF-8: byte 0xC3"},
    {"{\"a\":\"\xC0\x80\"}", 6, "a", "not UTF-8: byte 0xC0"},
    {"{\"a\":\"\xE0\x80\x80\"}", 6, "a", "not UTF-8: byte 0xE0"},
    {"{\"a\":\"\xED\xA0\x80\"}", 6, "a", "not UTF-8: byte 0xED"},
    {"{\"a\":\"\xF4\x90\x80\x80\"}", 6, "a", "not UTF-8: byte 0xF4"},
    {"{\"a\":\"\\n0123456789012345678\xE2\x82\"}", 27, "a", "not UTF-8: byte 0xE2"},
    {"{\"\x80\":1}", 2, "", "not UTF-8: byte 0x80"},
    /* keys */
    {"{\"a\":1,\"b\":2,\"a\":3}", 13, "", "one is at byte 2"},
    {"{\"a\":{\"bc\":1,\"b\\u0063\":2}}", 13, "a", "one is at byte 7"},
    {"{\"\":1,\"\":2}", 6, "", "one is at byte 2"},
    {"{\"_id\":1,\"_id\":2}", 9, "", "one is at byte 2"},
    /* numbers */
    {"{\"a\":01}", 5, "a", "a number begins with 0"},
    {"{\"a\":-01}", 6, "a", "a number begins with 0"},
    {"{\"a\":-}", 6, "a", "no digit"},
    {"{\"a\":-a}", 6, "a", "no digit"},
    {"{\"a\":1.}", 7, "a", "no digit"},
    {"{\"a\":1.e5}", 7, "a", "no digit"},
    {"{\"a\":1e}", 7, "a", "no digit"},
    {"{\"a\":1e+}", 8, "a", "no digit"},
    {"{\"a\":.5}", 5, "a", "a value"},
    {"{\"a\":+5}", 5, "a", "a value"},
    {"{\"a\":0x10}", 6, "", COMMA},
    {"{\"a\":1.5.2}", 8, "", COMMA},
    {"{\"a\":1e400}", 5, "a", "larger than a double"},
    {"{\"a\":1e-400}", 5, "a", "smaller than a double"},
    {"{\"a\":-0.002e-321}", 5, "a", "smaller than a double"},
    {"{\"a\":9223372036854775809}", 5, "a", "write {\"$numberDecimal\""},
    {"{\"a\":-123456789012345678901}", 5, "a", "write {\"$numberDecimal\""},
    /* typed values */
    {"{\"a\":{\"$oid\":\"0123\"}}", 14, "a", "24 hexadecimal digits"},
    {"{\"a\":{\"$oid\":\"0123456789abcdef0123456g\"}}", 14, "a", "24 hexadecimal digits"},
    {"{\"a\":{\"$oid\":1}}", 13, "a", "written {\"$oid\""},
    {"{\"a\":{\"$oid\":\"0123456789abcdef01234567\",\"b\":1}}", 13, "a", "written {\"$oid\""},
    {"{\"a\":{\"$oid\":\"0123456789abcdef01234567\"", 39, "a", SHORT},
    {"{\"a\":{\"$numberInt\":\"2147483648\"}}", 20, "a", "whole number of 32 bits"},
    {"{\"a\":{\"$numberInt\":\" 1\"}}", 20, "a", "whole number of 32 bits"},
    {"{\"a\":{\"$numberInt\":1}}", 19, "a", "written {\"$numberInt\""},
    {"{\"a\":{\"$numberLong\":\"9223372036854775808\"}}", 21, "a", "whole number of 64 bits"},
    {"{\"a\":{\"$numberLong\":\"1.5\"}}", 21, "a", "whole number of 64 bits"},
    {"{\"a\":{\"$numberDouble\":\"x\"}}", 23, "a", "this is no double"},
    {"{\"a\":{\"$numberDouble\":\"1e-400\"}}", 23, "a", "this is no double"},
    {"{\"a\":{\"$numberDecimal\":\"x\"}}", 24, "a", "decimal128"},
    {"{\"a\":{\"$date\":\"2024-02-30T00:00:00Z\"}}", 15, "a", "no such day"},
    {"{\"a\":{\"$date\":\"2024-02-28T24:00:00Z\"}}", 15, "a", "no such time"},
    {"{\"a\":{\"$date\":\"2024-02-28T23:59:60Z\"}}", 15, "a", "no such time"},
    {"{\"a\":{\"$date\":\"2024-02-28T23:59:59\"}}", 15, "a", "a date ends with"},
    {"{\"a\":{\"$date\":\"2024-02-28T23:59:59.1234Z\"}}", 15, "a", "in milliseconds"},
    {"{\"a\":{\"$date\":\"2024-02-28\"}}", 15, "a", "a date is written"},
    {"{\"a\":{\"$date\":42}}", 14, "a", "written {\"$date\""},
    {"{\"a\":{\"$date\":1717199999123}}", 14, "a", "written {\"$date\""},
    {"{\"a\":{\"$date\":{\"$numberInt\":\"5\"}}}", 14, "a", "written {\"$date\""},
    {"{\"a\":{\"$date\":{\"$numberLong\":\"5.5\"}}}", 30, "a.$date", "64 bits"},
    {"{\"a\":{\"$date\":\"2024-02-28T23:59:59.123456Z\"}}", 15, "a", "in milliseconds"},
    {"{\"a\":{\"$date\":1.5}}", 14, "a",
     "a date is written {\"$date\": \"2024-05-31T23:59:59Z\"}, or {\"$date\": {\"$numberLong\": \"0\"}} in "
     "milliseconds"},
    {"{\"a\":{\"$binary\":{\"base64\":\"A\",\"subType\":\"00\"}}}", 27, "a", "this is not base64"},
    {"{\"a\":{\"$binary\":{\"base64\":\"AB==\",\"subType\":\"00\"}}}", 27, "a", "this is not base64"},
    {"{\"a\":{\"$binary\":{\"base64\":\"AA==\",\"subType\":\"0g\"}}}", 44, "a", "two hexadecimal digits"},
    {"{\"a\":{\"$binary\":{\"base64\":\"AA==\"}}}", 16, "a", "written {\"$binary\""},
    {"{\"a\":{\"$binary\":{\"base64\":\"AA==\",\"subType\":0}}}", 16, "a", "written {\"$binary\""},
    {"{\"a\":{\"$uuid\":\"0123456789abcdef0123456789abcdef\"}}", 15, "a", "a UUID is"},
    {"{\"a\":{\"$timestamp\":{\"t\":4294967296,\"i\":1}}}", 19, "a", "written {\"$timestamp\""},
    {"{\"a\":{\"$regularExpression\":{\"pattern\":\"a\",\"options\":\"g\"}}}", 53, "a", "ilmsux"},
    {"{\"a\":{\"$regex\":\"a\",\"$options\":\"g\"}}", 31, "a", "ilmsux"},
    {"{\"a\":{\"$regex\":\"a\\u0000\",\"$options\":\"i\"}}", 16, "a", "must not contain"},
    {"{\"a\":{\"$minKey\":2}}", 16, "a", "written {\"$minKey\""},
    {"{\"a\":{\"$undefined\":false}}", 19, "a", "written {\"$undefined\""},
    {"{\"a\":{\"$code\":\"f\",\"$scope\":1}}", 14, "a", "written {\"$code\""},
    {"{\"a\":{\"$code\":\"f\",\"$scope\":{\"x\":y}}}", 32, "a.$scope.x", "a value"},
    {"{\"a\":{\"$dbPointer\":{\"$ref\":\"a\",\"$ref\":\"b\"}}}", 31, "a.$dbPointer", "twice"},
    {"{\"a\":{\"$regex\":\"\xFF\",\"$options\":\"i\"}}", 16, "a.$regex", "not UTF-8: byte 0xFF"},
    {"{\"a\":{\"$dbPointer\":{:1}}}", 20, "a.$dbPointer", "a key in quotes"},
    /* the shell */
    {"{\"a\":ISODate()}", 13, "a", "written ISODate("},
    {"{\"a\":new Date(\"2024-05-31T23:59:59\")}", 15, "a", "a date ends with"},
    {"{\"a\":NumberInt(1.5)}", 15, "a", "whole number of 32 bits"},
    {"{\"a\":BinData(256,\"\")}", 13, "a", "up to 255"},
    {"{\"a\":new MinKey}", 5, "a", "a value"},
    {"{\"a\":Foo(1)}", 5, "a", "a value"},
    {"{\"a\":/b}", 5, "a", "has no end"},
    {"{\"a\":/b/g}", 8, "a", "ilmsux"},
};

TEST(rejected) {
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof rejected / sizeof *rejected; i++) {
        lab_json_t one = lab_json_read(json, rejected[i].text, strlen(rejected[i].text));
        if (one.read != JSON_REJECT)
            fail_msg("%s is taken", rejected[i].text);
        if (one.result.at != rejected[i].at || strcmp(one.field, rejected[i].field) != 0 ||
            !strstr(one.reason, rejected[i].reason))
            print_error("%s\nis rejected at %zu, field '%s': %s\nnot at         %zu, field '%s': %s\n",
                        rejected[i].text, one.result.at, one.field, one.reason, rejected[i].at,
                        rejected[i].field, rejected[i].reason),
                wrong++;
        lab_json_free(&one);
    }
    assert_int_equal(wrong, 0);
}

/* Whatever stands after the end of a text must not complete it. */
TEST(every_beginning) {
    static const char *const behind[] = {"\"}",     "}",  "]}",   ":1}", "7}",      "\"}\"}}}}",
                                         "\":1}}}", "e}", "rue}", " }",  "77777777"};
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        const char *const text = accepted[i].text;
        const size_t whole = (size_t)(strrchr(text, '}') - text);
        for (size_t length = 0; length <= whole; length++) {
            for (size_t j = 0; j < sizeof behind / sizeof *behind; j++) {
                uint8_t out[8192], room[512] = {0};
                json_result_t result;
                memcpy(room + POOL_SLACK, text, length);
                for (size_t at = POOL_SLACK + length; at < sizeof room; at++)
                    room[at] = (uint8_t)behind[j][(at - POOL_SLACK - length) % strlen(behind[j])];
                if (json_value_read(json, room + POOL_SLACK, length, out, sizeof out, false, 0, &result) !=
                    JSON_REJECT)
                    fail_msg("%.*s", (int)length, text);
                assert_true(result.at <= length);
            }
        }
    }
}

/* --- _id ---------------------------------------------------------------------------------------------------------- */

static void with_id(const char *text, bool own, const char *expected) {
    lab_json_t one = lab_json_id(json, text, strlen(text), true, 1LL << 40);
    if (one.read != JSON_DOCUMENT)
        fail_msg("%s: %s", text, one.reason);
    char *now = printed(&one);
    assert_string_equal(now, expected);
    assert_int_equal(one.result.own_id, own);
    bson_free(now);
    lab_json_free(&one);
}

TEST(id) {
    with_id("{}", false, "{ \"_id\" : { \"$numberLong\" : \"1099511627776\" } }");
    with_id("{\"a\":{\"_id\":1}}", false,
            "{ \"_id\" : { \"$numberLong\" : \"1099511627776\" }, \"a\" : { \"_id\" : { \"$numberInt\" : "
            "\"1\" } } }");
    with_id("{\"_id\":\"x\",\"a\":1}", true, "{ \"_id\" : \"x\", \"a\" : { \"$numberInt\" : \"1\" } }");
    with_id("{\"a\":1,\"_id\":\"x\",\"b\":2}", true,
            "{ \"_id\" : \"x\", \"a\" : { \"$numberInt\" : \"1\" }, \"b\" : { \"$numberInt\" : \"2\" } }");
    with_id("{\"a\":\"a text that is longer than the id\",\"_i\\u0064\":{\"b\":[],\"c\":{\"_id\":0}}}", true,
            "{ \"_id\" : { \"b\" : [ ], \"c\" : { \"_id\" : { \"$numberInt\" : \"0\" } } }, \"a\" : \"a "
            "text that is "
            "longer than the id\" }");
    with_id("{\"_id\":{\"$oid\":\"0123456789abcdef01234567\"}}", true,
            "{ \"_id\" : { \"$oid\" : \"0123456789abcdef01234567\" } }");
    becomes("{\"a\":1,\"_id\":2}", 15,
            "{ \"a\" : { \"$numberInt\" : \"1\" }, \"_id\" : { \"$numberInt\" : \"2\" } }");
    lab_json_t twice = lab_json_id(json, "{\"_id\":1,\"a\":0,\"_id\":2}", 24, true, 1);
    assert_int_equal(twice.read, JSON_REJECT);
    lab_json_free(&twice);
}

/* --- limits ------------------------------------------------------------------------------------------------------- */

static void nest(grown_t *text, size_t levels, bool arrays) {
    grown_text(text, "{\"a\":");
    for (size_t i = 1; i < levels; i++)
        grown_text(text, arrays ? "[" : "{\"a\":");
    grown_text(text, "1");
    for (size_t i = 1; i < levels; i++)
        grown_text(text, arrays ? "]" : "}");
    grown_text(text, "}");
}

TEST(levels) {
    for (int arrays = 0; arrays < 2; arrays++) {
        for (size_t levels = 178; levels < 184; levels++) {
            grown_t text = {0};
            nest(&text, levels, arrays);
            lab_json_t one = lab_json_read(json, text.at, text.size);
            assert_int_equal(one.read, levels <= 180 ? JSON_DOCUMENT : JSON_REJECT);
            if (levels > 180)
                assert_non_null(strstr(one.reason, "180 levels"));
            lab_json_free(&one);
            grown_free(&text);
        }
        grown_t text = {0};
        nest(&text, 100000, arrays);
        lab_json_t one = lab_json_read(json, text.at, text.size);
        assert_int_equal(one.read, JSON_REJECT);
        lab_json_free(&one);
        grown_free(&text);
    }
}

/* {"a": "xxx..."} of exactly this many bytes of BSON. */
static lab_json_t of_size(size_t size, bool add_id) {
    grown_t text = {0};
    char *content = malloc(size);
    memset(content, 'x', size);
    grown_text(&text, "{\"a\":\"");
    grown_add(&text, content, size - 13);
    grown_text(&text, add_id ? "\",\"_id\":7}" : "\"}");
    lab_json_t one = lab_json_id(json, text.at, text.size, add_id, 0);
    grown_free(&text);
    free(content);
    return one;
}

TEST(largest) {
    for (int add_id = 0; add_id < 2; add_id++) {
        const size_t id = add_id ? 9 : 0;
        lab_json_t largest = of_size(16777216 - id, add_id), larger = of_size(16777217 - id, add_id),
                   much = of_size(30000000, add_id);
        assert_int_equal(largest.read, JSON_DOCUMENT);
        assert_int_equal(largest.result.length, 16777216);
        assert_true(lab_valid_json(&largest));
        assert_int_equal(larger.read, JSON_REJECT);
        assert_non_null(strstr(larger.reason, "larger than 16 MiB"));
        assert_int_equal(much.read, JSON_REJECT);
        assert_non_null(strstr(much.reason, "larger than 16 MiB"));
        lab_json_free(&largest);
        lab_json_free(&larger);
        lab_json_free(&much);
    }
}

TEST(every_room) {
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        const char *const text = accepted[i].text;
        lab_json_t whole = lab_json_id(json, text, strlen(text), true, 5);
        for (size_t room = 0; room <= whole.result.length + JSON_MARGIN; room++) {
            lab_json_t one = lab_json_room(json, text, strlen(text), room, true, 5);
            if (one.read == JSON_DOCUMENT) {
                assert_int_equal(one.result.length, whole.result.length);
                assert_memory_equal(one.document, whole.document, whole.result.length);
            } else {
                assert_int_equal(one.read, JSON_FULL);
                assert_true(one.result.needed > room);
            }
            lab_json_free(&one);
        }
        lab_json_free(&whole);
    }
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

TEST(many_keys) {
    for (int twice = 0; twice < 2; twice++) {
        grown_t text = {0};
        char key[80];
        grown_text(&text, "{");
        for (int i = 0; i < 100000; i++) {
            snprintf(key, sizeof key, "%s\"%s%d\":{\"a\":0,\"b\":{}}", i ? "," : "",
                     i % 3 ? "k" : "a key that is longer than others ", i);
            grown_text(&text, key);
        }
        grown_text(&text, twice ? ",\"k77777\":1}" : "}");
        lab_json_t one = lab_json_read(json, text.at, text.size);
        assert_int_equal(one.read, twice ? JSON_REJECT : JSON_DOCUMENT);
        if (twice)
            assert_non_null(strstr(one.reason, "\"k77777\" is there twice"));
        lab_json_free(&one);
        grown_free(&text);
    }
}

/* Keys of all lengths that differ in one byte only, or not at all. */
TEST(similar_keys) {
    for (size_t length = 1; length < 40; length++) {
        for (size_t at = 0; at <= length; at++) {
            char text[200], first[41], second[41];
            memset(first, 'k', length);
            first[length] = '\0';
            memcpy(second, first, length + 1);
            if (at < length)
                second[at] = 'l';
            const int size = snprintf(text, sizeof text, "{\"%s\":1,\"%s\":2}", first, second);
            lab_json_t one = lab_json_read(json, text, (size_t)size);
            assert_int_equal(one.read, at < length ? JSON_DOCUMENT : JSON_REJECT);
            lab_json_free(&one);
        }
    }
}

/* --- numbers against libc ----------------------------------------------------------------------------------------- */

static void check_double(const char *number) {
    char text[600];
    bson_iter_t iter;
    bson_t document;
    const int size = snprintf(text, sizeof text, "{\"a\":%s}", number);
    const double expected = strtod(number, NULL);
    const bool vanishes = expected == 0 && strcspn(number, "123456789") < strcspn(number, "e");
    lab_json_t one = lab_json_read(json, text, (size_t)size);
    if (!isfinite(expected) || vanishes) {
        assert_int_equal(one.read, JSON_REJECT);
    } else {
        assert_int_equal(one.read, JSON_DOCUMENT);
        assert_true(bson_init_static(&document, one.document, one.result.length));
        assert_true(bson_iter_init_find(&iter, &document, "a"));
        assert_int_equal(bson_iter_type(&iter), BSON_TYPE_DOUBLE);
        const double now = bson_iter_double(&iter);
        if (memcmp(&now, &expected, sizeof now) != 0)
            fail_msg("%s is read as %.17g, not %.17g", number, now, expected);
    }
    lab_json_free(&one);
}

TEST(doubles) {
    uint64_t seed = 1;
    char number[600];
    for (int i = 0; i < 200000 / TEST_SHARE; i++) {
        uint64_t bits = lab_chance(&seed, UINT64_MAX);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (i % 2) /* of a usual size */
            value = ((double)bits - 9e18) / pow(10, (double)lab_chance(&seed, 25));
        if (!isfinite(value))
            continue;
        snprintf(number, sizeof number,
                 i % 3   ? "%.*e"
                 : i % 2 ? "%.*f"
                         : "%.*e",
                 (int)lab_chance(&seed, 18) + 1, value);
        check_double(number);
    }
    /* digits on both sides of the point, of every length */
    for (size_t whole = 1; whole < 30; whole++) {
        for (size_t part = 1; part < 30; part++) {
            size_t at = 0;
            for (size_t i = 0; i < whole; i++)
                number[at++] = (char)('1' + lab_chance(&seed, 9));
            number[at++] = '.';
            for (size_t i = 0; i < part; i++)
                number[at++] = (char)('0' + lab_chance(&seed, 10));
            number[at] = '\0';
            check_double(number);
        }
    }
    /* in the middle between two doubles, or nearly */
    static const char *const odd[] = {"9007199254740993.0",
                                      "9007199254740993.00000000000000000000000001",
                                      "9007199254740992.9999999999999999",
                                      "0.500000000000000166533453693773481063544750213623046875",
                                      "1.7976931348623157e308",
                                      "1.7976931348623159e308",
                                      "4.9e-324",
                                      "2e-324",
                                      "0.0e999999999999",
                                      "0.000e-999",
                                      "-0e-400",
                                      "3e-324",
                                      "1e-999999999",
                                      "1e999999999",
                                      "-0.0",
                                      "-0e0"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        check_double(odd[i]);
    memset(number, '7', 500);
    memcpy(number + 500, "e-400", 6);
    check_double(number);
}

TEST_GROUP(make_reader, drop_reader);
