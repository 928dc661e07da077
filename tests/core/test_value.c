/* value: YAML as BSON. Expected documents are written as extended JSON, which libbson reads. */
#include "query/suite/value.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

/* The text's value and the JSON's are the same bytes. */
static void same(const char *yaml, const char *json) {
    err_t err;
    bson_t made = BSON_INITIALIZER;
    char whole[1000];
    bson_error_t error;
    snprintf(whole, sizeof whole, "{\"v\": %s}", json);
    bson_t *wanted = bson_new_from_json((const uint8_t *)whole, -1, &error);
    assert_non_null(wanted);
    if (!value_parse(&made, "v", yaml, &err))
        fail_msg("%s: %s", yaml, err.text);
    if (!bson_equal(&made, wanted)) {
        char *json_made = bson_as_canonical_extended_json(&made, NULL);
        fail_msg("%s: made %s, wanted %s", yaml, json_made, whole);
    }
    bson_destroy(&made);
    bson_destroy(wanted);
}

static void refused(const char *yaml, const char *words) {
    err_t err = {.text = ""};
    bson_t made = BSON_INITIALIZER;
    if (value_parse(&made, "v", yaml, &err))
        fail_msg("%s was taken", yaml);
    assert_int_equal(STATUS_USAGE, err.status);
    if (!strstr(err.text, words))
        fail_msg("%s: '%s' has no '%s'", yaml, err.text, words);
    bson_destroy(&made);
}

TEST(scalars) {
    same("5", "{\"$numberInt\": \"5\"}");
    same("-5", "{\"$numberInt\": \"-5\"}");
    same("2147483647", "{\"$numberInt\": \"2147483647\"}");
    same("2147483648", "{\"$numberLong\": \"2147483648\"}");
    same("-9223372036854775808", "{\"$numberLong\": \"-9223372036854775808\"}");
    same("1.5", "{\"$numberDouble\": \"1.5\"}");
    same("1.0", "{\"$numberDouble\": \"1.0\"}");
    same("-1e9", "{\"$numberDouble\": \"-1e9\"}");
    same(".5", "{\"$numberDouble\": \"0.5\"}");
    same(".inf", "{\"$numberDouble\": \"Infinity\"}");
    same("-.inf", "{\"$numberDouble\": \"-Infinity\"}");
    same("true", "true");
    same("False", "false");
    same("null", "null");
    same("~", "null");
    same("text", "\"text\"");
    same("'5'", "\"5\"");
    same("\"null\"", "\"null\"");
    same("yes", "\"yes\"");
    same("1.2.3", "\"1.2.3\"");
    same("e5", "\"e5\"");
    refused("+Infinity", "{$numberDouble: Infinity}");
    refused("0x10", "write the number itself");
    same("/usr/bin/", "\"/usr/bin/\"");
    same("Double (room)", "\"Double (room)\"");
    same("new car (red)", "\"new car (red)\"");
    same("infinity", "\"infinity\"");
    same("$t", "\"$t\"");
    same("'2014-01-31'", "\"2014-01-31\"");
    same("5 apples", "\"5 apples\"");
    same("''", "\"\"");
    refused("9223372036854775808", "does not fit into 64 bits");
    refused("{k:FORD}", "v:1:2: the key 'k:FORD' has no value");
    refused("[{a}]", "the key 'a' has no value");
    refused("1e999", "1e999 is larger than");
    refused("{$numberDouble: '-1e999'}", "-1e999 is larger than");
    same("{$numberDouble: Infinity}", "{\"$numberDouble\": \"Infinity\"}");
}

/* What a shell, or YAML, has for a value would be a text here, and find something else than what was meant. */
TEST(shells) {
    static const struct {
        const char *yaml, *instead;
    } refusals[] = {
        {"ISODate(\"2024-02-02T01:01:01Z\")", "write {$date: "},
        {"ISODate()", "write {$date: "},
        {"new Date(2024, 1, 1)", "write {$date: "},
        {"[new Date('2024-01-01')]", "write {$date: "},
        {"Date.now()", "write {$date: "},
        {"new  ISODate ('2024-01-01')", "write {$date: "},
        {"ObjectId('507f1f77bcf86cd799439011')", "write {$oid: "},
        {"NumberLong(5)", "write {$numberLong: "},
        {"Long.fromString('5')", "write {$numberLong: "},
        {"NumberInt(5)", "write {$numberInt: "},
        {"NumberDecimal('5')", "write {$numberDecimal: "},
        {"UUID('c8edabc3-f738-4ca3-b68d-ab92a91478a3')", "write {$uuid: "},
        {"BinData(0, 'AQID')", "write {$binary: "},
        {"Timestamp(1, 2)", "write {$timestamp: "},
        {"RegExp('^a')", "write {$regularExpression: "},
        {"new RegExp('^a')", "write {$regularExpression: "},
        {"MinKey()", "write {$minKey: 1}"},
        {"new MaxKey()", "write {$maxKey: 1}"},
        {"new Map()", "write a value of YAML"},
        {"/Pat/", "write {$regularExpression: "},
        {"{name: {$ne: /^a b/i}}", "v:1:14: '/^a b/i' would be a text"},
        {"MinKey", "write {$minKey: 1}"},
        {"MaxKey", "write {$maxKey: 1}"},
        {"Number(5)", "write the number itself"},
        {"parseInt('5')", "write the number itself"},
        {"Math.pow(2, 3)", "write the number itself"},
        {"BigInt(5)", "write {$numberLong: "},
        {"5n", "write {$numberLong: "},
        {"-5n", "write {$numberLong: "},
        {"1_000", "write the number itself"},
        {"-1_000.5", "write the number itself"},
        {"{n: {$gt: 1_000}}", "v:1:11: '1_000' would be a text"},
        {"nan", "write {$numberDouble: NaN}"},
        {"NAN", "write {$numberDouble: NaN}"},
        {"inf", "write {$numberDouble: Infinity}"},
        {"-inf", "write {$numberDouble: -Infinity}"},
        {"undefined", "write null"},
        {"-Infinity", "write {$numberDouble: -Infinity}"},
        {"NaN", "write {$numberDouble: NaN}"},
        {"{d: {$gte: 2024-05-01}}", "v:1:12: '2024-05-01' would be a text"},
        {"2024-5-1", "write {$date: "},
        {"2024-05-01T12:30:00Z", "write {$date: "},
        {"2024-05-01 12:30:00.5 +02:00", "in quotes if"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        refused(refusals[i].yaml, refusals[i].instead);
    static const char *const texts[] = {
        "/var/log",    "/a/b.txt",       "/",       "//",     "new car",    "newDate(5)", "f(x)",
        "Date",        "Datex(5)",       "MinKeys", "_1",     "1_a",        "1_0.2.3",    "5nm",
        "n",           "Undefined",      "info",    "minkey", "01-02-2024", "2024-05",    "12345-1-1",
        "2024-05-01x", "2024-05-01 noon"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char json[100];
        snprintf(json, sizeof json, "\"%s\"", texts[i]);
        same(texts[i], json);
    }
    same("'ISODate(\"2024-02-02\")'", "\"ISODate(\\\"2024-02-02\\\")\"");
    same("\"/Pat/\"", "\"/Pat/\"");
    same("'undefined'", "\"undefined\"");
}

TEST(nested) {
    same("[1, [2, a], {b: 3}]",
         "[{\"$numberInt\": \"1\"}, [{\"$numberInt\": \"2\"}, \"a\"], {\"b\": {\"$numberInt\": \"3\"}}]");
    same("{$match: {m: {$gt: 5}, $or: []}}",
         "{\"$match\": {\"m\": {\"$gt\": {\"$numberInt\": \"5\"}}, \"$or\": []}}");
    same("{$type: '$x'}", "{\"$type\": \"$x\"}");
    same("{}", "{}");
}

TEST(extended) {
    same("{$numberLong: '7'}", "{\"$numberLong\": \"7\"}");
    same("{$numberLong: 7}", "{\"$numberLong\": \"7\"}");
    same("{$numberInt: '7'}", "{\"$numberInt\": \"7\"}");
    same("{$numberDouble: '7'}", "{\"$numberDouble\": \"7.0\"}");
    same("{$numberDouble: NaN}", "{\"$numberDouble\": \"NaN\"}");
    same("{$numberDecimal: '7.10'}", "{\"$numberDecimal\": \"7.10\"}");
    same("{$oid: 507f1f77bcf86cd799439011}", "{\"$oid\": \"507f1f77bcf86cd799439011\"}");
    same("{$date: 1970-01-02}", "{\"$date\": {\"$numberLong\": \"86400000\"}}");
    same("{$date: '2014-06-01T12:30:15.250Z'}", "{\"$date\": {\"$numberLong\": \"1401625815250\"}}");
    same("{$date: 2014-06-01T12:30}", "{\"$date\": {\"$numberLong\": \"1401625800000\"}}");
    same("{$date: 1600-02-29}", "{\"$date\": {\"$numberLong\": \"-11670998400000\"}}");
    same("{$date: {$numberLong: '-5'}}", "{\"$date\": {\"$numberLong\": \"-5\"}}");
    same("{$timestamp: {t: 5, i: 6}}", "{\"$timestamp\": {\"t\": 5, \"i\": 6}}");
    same("{$regularExpression: {pattern: '^a', options: i}}",
         "{\"$regularExpression\": {\"pattern\": \"^a\", \"options\": \"i\"}}");
    same("{$minKey: 1}", "{\"$minKey\": 1}");
    same("{$binary: {base64: AQID, subType: '00'}}",
         "{\"$binary\": {\"base64\": \"AQID\", \"subType\": \"00\"}}");
    same("{$binary: {base64: AQ==, subType: '80'}}",
         "{\"$binary\": {\"base64\": \"AQ==\", \"subType\": \"80\"}}");
    same("{$binary: {base64: '', subType: '05'}}", "{\"$binary\": {\"base64\": \"\", \"subType\": \"05\"}}");
    same("{$uuid: C8edabc3-f738-4ca3-b68d-ab92a91478a3}",
         "{\"$binary\": {\"base64\": \"yO2rw/c4TKO2jauSqRR4ow==\", \"subType\": \"04\"}}");
    refused("{$binary: {base64: 'AQ', subType: '00'}}", "is not base64");
    refused("{$binary: {base64: AQID, subType: x}}", "not a subtype");
    static const char *const not_base64[] = {
        "AQ== ", " AQ==", "AQ=A", "A===", "AQ==AQ==", "AR==", "AQI", "====", "AQ==\\n", "AQ-_", "A"};
    for (size_t i = 0; i < sizeof not_base64 / sizeof *not_base64; i++) {
        char yaml[100];
        snprintf(yaml, sizeof yaml, "{$binary: {base64: \"%s\", subType: '00'}}", not_base64[i]);
        refused(yaml, "is not base64");
    }
    static const char *const not_subtypes[] = {" +5", "0x5", "+5", "-1", "005", "", " 5", "5 ", "0x"};
    for (size_t i = 0; i < sizeof not_subtypes / sizeof *not_subtypes; i++) {
        char yaml[100];
        snprintf(yaml, sizeof yaml, "{$binary: {base64: AQID, subType: \"%s\"}}", not_subtypes[i]);
        refused(yaml, "not a subtype");
    }
    refused("{$regularExpression: {pattern: a, options: zi}}", "'zi' are no options");
    refused("{$regularExpression: {pattern: a, options: ii}}", "'ii' are no options");
    refused("{$uuid: c8edabc3f-738-4ca3-b68d-ab92a91478a3}", "five groups");
    refused("{$uuid: \"\\x118edabc3-f738-4ca3-b68d-ab92a91478a\"}", "five groups");
    refused("{$date: '2014-01-31T12:30:60Z'}", "is not a moment");
    refused("{$binary: AQID}", "$binary holds");
    refused("{$uuid: 5}", "$uuid holds");
    refused("{$date: 2014-02-30}", "not a moment");
    refused("{$date: 2014-13-01}", "not a moment");
    refused("{$date: yesterday}", "v:1:9: 'yesterday' is not a moment");
    refused("{$oid: 5}", "24 hexadecimal digits");
    refused("{$numberInt: 2147483648}", "does not fit into 32 bits");
    refused("{$numberLong: x}", "a whole number");
    refused("{$timestamp: 5}", "$timestamp holds");
    refused("{$param: n}", "there is no parameter 'n'");
}

/* Nothing is guessed: four digits, two, two, and so on. */
TEST(moments) {
    static const char *const none[] = {"-001-01-01",
                                       "+201-01-01",
                                       " 2014-01-01",
                                       "2014-1-01",
                                       "2014-01-1",
                                       "2014-01-31T",
                                       "2014-01-31T12",
                                       "2014-01-31T1:30",
                                       "2014-01-31T24:00",
                                       "2014-01-31T12:60",
                                       "2014-01-31T12:30:61",
                                       "2014-01-31T12:30:0x1p4",
                                       "2014-01-31T12:30:1e1",
                                       "2014-01-31T12:30:5",
                                       "2014-01-31T12:30:00.",
                                       "2014-01-31T12:30:00.5.5",
                                       "2014-01-31T12:30:00Zx",
                                       "2014-01-31 -1:30",
                                       "0000-00-01",
                                       "2014-01-00",
                                       "201-01-01",
                                       "20145-01-01"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char yaml[80];
        snprintf(yaml, sizeof yaml, "{$date: '%s'}", none[i]);
        refused(yaml, "is not a moment");
    }

    same("{$date: '1970-01-01 00:01:02.5'}", "{\"$date\": {\"$numberLong\": \"62500\"}}");
    same("{$date: '1970-01-01T00:00:00.123456Z'}", "{\"$date\": {\"$numberLong\": \"123\"}}");
    same("{$date: '9999-12-31'}", "{\"$date\": {\"$numberLong\": \"253402214400000\"}}");
    same("{$date: 9223372036854775807}", "{\"$date\": {\"$numberLong\": \"9223372036854775807\"}}");
    refused("{$date: 99999999999999999999999}", "do not fit into 64 bits");
    refused("{$date: {$numberLong: '-99999999999999999999999'}}", "do not fit into 64 bits");
    refused("{$date: \"2014-01-31\\0\"}", "$date holds a moment");
    refused("{$numberInt: \"5\\0x\"}", "a whole number");
}

TEST(parameters) {
    static const char text[] = "{$match: {m: {$gt: {$param: least}}, s: {$param: area}}}";
    const char *const names[] = {"least", "area"};
    err_t err;
    bson_t made, *params = BCON_NEW("least", BCON_INT64(5), "area", "[", "A", "B", "]");
    bson_t *wanted =
        BCON_NEW("$match", "{", "m", "{", "$gt", BCON_INT64(5), "}", "s", "[", "A", "B", "]", "}");
    yaml_tree_t *tree = yaml_tree_parse(text, sizeof text - 1, "x", &err);
    assert_non_null(tree);
    assert_true(value_check(yaml_tree_root(tree), tree, names, 2, &err));
    assert_false(value_check(yaml_tree_root(tree), tree, names, 1, &err));
    assert_non_null(strstr(err.text, "x:1:50: there is no parameter 'area'"));
    assert_true(value_document(&made, yaml_tree_root(tree), tree, params, &err));
    assert_true(bson_equal(&made, wanted));
    bson_destroy(&made);
    bson_destroy(wanted);
    bson_destroy(params);
    yaml_tree_destroy(tree);
}
