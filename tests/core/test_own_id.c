/* own_id, id_hash: `_id`s that are made of fields, and which of them a server takes for one. */
#include "format/record/record.h"
#include "format/records.h"
#include "format_lab.h"
#include "test.h"
#include "verify/own_ids.h"

#include <stdlib.h>
#include <string.h>

static const char orders[] = "format: x\nrecord: {delimiter: \",\"}\nfields:\n"
                             "  - {name: shop, type: int}\n  - {name: order, key: o}\n"
                             "  - {name: size.width, type: number}\n";

/* The document of a record in canonical JSON, or why there is none. The caller frees it. */
static char *made(const char *yaml, const char *fields, const char *text) {
    err_t err = {.text = ""};
    schema_t *schema = lab_schema(yaml);
    if (!own_id_set(schema, fields, &err)) {
        schema_destroy(schema);
        return strdup(err.text);
    }
    dialect_t dialect;
    record_t record;
    records_place_t place = {NULL, 0};
    records_t *records = records_new(schema);
    slack_t slack = slack_new(text, strlen(text));
    LAB_MUST(records && dialect_sniff(schema, (const uint8_t *)text, strlen(text), "a", &dialect, &err));
    char *found;
    bson_t document;
    records_begin(records, &dialect, slack.text, (uint32_t)slack.length, true, true, 77);
    if (records_next_into(records, &place, &record, NULL) == PARSED_DOCUMENT) {
        LAB_MUST(bson_init_static(&document, place.bytes, record.document_length));
        char *json = bson_as_relaxed_extended_json(&document, NULL);
        found = strdup(json);
        bson_free(json);
    } else {
        found = strdup(record.reason);
    }
    slack_free(&slack);
    free(place.bytes);
    records_destroy(records);
    schema_destroy(schema);
    return found;
}

TEST(made) {
    static const char json[] = "format: json\nrecord: {json: yes}\n";
    static const struct {
        const char *yaml, *fields, *text, *expected;
    } cases[] = {
        {orders, "", "3,A7,1.5\n",
         "{ \"_id\" : 77, \"shop\" : 3, \"o\" : \"A7\", \"size\" : { \"width\" : 1.5 } }"},
        {orders, "order", "3,A7,1.5\n",
         "{ \"_id\" : \"A7\", \"shop\" : 3, \"o\" : \"A7\", \"size\" : { \"width\" : 1.5 } }"},
        {orders, "o", "3,A7,1.5\n",
         "{ \"_id\" : \"A7\", \"shop\" : 3, \"o\" : \"A7\", \"size\" : { \"width\" : 1.5 } }"},
        {orders, "order,size.width", "3,A7,1.5\n",
         "{ \"_id\" : { \"o\" : \"A7\", \"width\" : 1.5 }, \"shop\" : 3, \"o\" : \"A7\", \"size\" : { "
         "\"width\" : 1.5 } }"},
        {orders, "shop", "x3,A7,1.5\n",
         "{ \"_id\" : \"x3\", \"shop\" : \"x3\", \"o\" : \"A7\", \"size\" : { \"width\" : 1.5 } }"},
        {orders, "shop", ",A7,1.5\n", "the field of --id"},
        {orders, "shop,order", "3,,1.5\n", "the field of --id"},
        {orders, "shops", "3,A7,1.5\n", "no field 'shops'; did you mean 'shop'?"},
        {orders, "shop,shop", "3,A7,1.5\n", "--id shop,shop: two of its"},
        {orders, "shop,,order", "3,A7,1.5\n", "no field ''"},
        {json, "", "{\"a\": 1}", "{ \"_id\" : 77, \"a\" : 1 }"},
        {json, "_id", "{\"a\": 1, \"_id\": \"x\", \"b\": 2}", "{ \"_id\" : \"x\", \"a\" : 1, \"b\" : 2 }"},
        {json, "_id", "{\"a\": 1}", "{ \"_id\" : 77, \"a\" : 1 }"},
        {json, "a.b", "{\"a\": {\"b\": [1]}}", "cannot be an _id"},
        {json, "a", "{\"a\": {\"$regularExpression\": {\"pattern\": \"x\", \"options\": \"\"}}}",
         "cannot be an _id"},
        {json, "a", "{\"a\": null}", "the field of --id"},
        {json, "a.b", "{\"a\": 1}", "the field of --id"},
        {json, "a", "{\"a\": {\"c\": 2}, \"d\": 1}",
         "{ \"_id\" : { \"c\" : 2 }, \"a\" : { \"c\" : 2 }, \"d\" : 1 }"},
        {json, "_id", "{\"a\": 1, \"_id\": [2]}", "cannot be an _id"},
        {json, "_id", "{\"_id\": {\"$undefined\": true}}", "cannot be an _id"},
        {json, "_id", "{\"_id\": {\"$regularExpression\": {\"pattern\": \"\", \"options\": \"\"}}}",
         "cannot be an _id"},
        {json, "_id", "{\"_id\": 1, \"t\": {\"$timestamp\": {\"t\": 0, \"i\": 0}}}",
         "in place of Timestamp(0, 0)"},
        {json, "_id", "{\"_id\": {\"$timestamp\": {\"t\": 0, \"i\": 0}}, \"a\": 1}",
         "{ \"_id\" : { \"$timestamp\" : { \"t\" : 0, \"i\" : 0 } }, \"a\" : 1 }"},
        {json, "_id", "{\"a\": 1, \"_id\": {\"$timestamp\": {\"t\": 0, \"i\": 0}}}",
         "{ \"_id\" : { \"$timestamp\" : { \"t\" : 0, \"i\" : 0 } }, \"a\" : 1 }"},
        {json, "_id", "{\"a\": 1, \"_id\": 5, \"t\": {\"$timestamp\": {\"t\": 0, \"i\": 0}}}",
         "in place of Timestamp(0, 0)"},
        {json, "_id", "{\"_id\": 1, \"t\": [{\"$timestamp\": {\"t\": 0, \"i\": 0}}]}",
         "{ \"_id\" : 1, \"t\" : [ { \"$timestamp\" : { \"t\" : 0, \"i\" : 0 } } ] }"},
        {json, "a", "{\"a\": 1, \"t\": {\"$timestamp\": {\"t\": 0, \"i\": 0}}}",
         "in place of Timestamp(0, 0)"},
        {json, "a", "{\"a\": {\"$timestamp\": {\"t\": 0, \"i\": 0}}}", "in place of Timestamp(0, 0)"},
        {json, "a", "{\"a\": 1, \"t\": {\"$timestamp\": {\"t\": 0, \"i\": 1}}}",
         "{ \"_id\" : 1, \"a\" : 1, \"t\" : { \"$timestamp\" : { \"t\" : 0, \"i\" : 1 } } }"},
        {json, "a", "{\"a\": 1, \"_id\": 2}", "brings its own _id"},
        {json, "_id", "{\"_id\": {\"$ref\": \"c\", \"$id\": 1}}",
         "{ \"_id\" : { \"$ref\" : \"c\", \"$id\" : 1 } }"},
        {json, "a", "{\"a\": {\"$ref\": \"c\", \"$id\": 1, \"$db\": \"d\"}}",
         "{ \"_id\" : { \"$ref\" : \"c\", \"$id\" : 1, \"$db\" : \"d\" }, "
         "\"a\" : { \"$ref\" : \"c\", \"$id\" : 1, \"$db\" : \"d\" } }"},
        {json, "_id", "{\"_id\": {\"$ref\": \"c\"}}", "begins with $"},
        {json, "_id", "{\"_id\": {\"$id\": 1, \"$ref\": \"c\"}}", "begins with $"},
        {json, "_id", "{\"_id\": {\"a\": 1, \"$ref\": \"c\", \"$id\": 1}}", "begins with $"},
        {json, "_id", "{\"_id\": {\"$ref\": \"c\", \"$id\": {\"$x\": 1}}}", "begins with $"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *found = made(cases[i].yaml, cases[i].fields, cases[i].text);
        if (strcmp(found, cases[i].expected) != 0 && (*found == '{' || !strstr(found, cases[i].expected)))
            fail_msg("case %zu: %s", i, found);
        free(found);
    }
}

/* BSON, and what becomes of it: old binary data and code with a zero byte stay as they are. NULL: it is a reject, for the
 * reason. */
TEST(bytes) {
#define OLD        "\5b\0\7\0\0\0\2\3\0\0\0xyz"
#define ID         "\x10_id\0\7\0\0\0"
#define REFERENCE  "\3_id\0\x1A\0\0\0\2$ref\0\2\0\0\0c\0\x10$id\0\7\0\0\0\0"
#define ROW(bytes) bytes, sizeof bytes - 1
    static const struct {
        const char *fields, *bytes;
        uint32_t length;
        const char *made;
        uint32_t made_length;
        const char *reason;
    } cases[] = {
        {"_id", ROW("\x1D\0\0\0" OLD ID "\0"), ROW("\x1D\0\0\0" ID OLD "\0"), NULL},
        {"_id", ROW("\x24\0\0\0" OLD ID "\x10k\0\7\0\0\0\0"), ROW("\x24\0\0\0" ID OLD "\x10k\0\7\0\0\0\0"),
         NULL},
        {"k", ROW("\x1B\0\0\0" OLD "\x10k\0\7\0\0\0\0"), ROW("\x24\0\0\0" ID OLD "\x10k\0\7\0\0\0\0"), NULL},
        {"k", ROW("\x10\0\0\0\x0Dk\0\4\0\0\0a\0b\0\0"),
         ROW("\x1D\0\0\0\x0D_id\0\4\0\0\0a\0b\0\x0Dk\0\4\0\0\0a\0b\0\0"), NULL},
        {"k", ROW("\x1D\0\0\0" OLD ID "\0"), NULL, 0, "brings its own _id"},
        {"b", ROW("\x10\0\0\0\5b\0\3\0\0\0\2xyz\0"), NULL, 0, "the second length"},
        {"_id", ROW("\x12\0\0\0\5_id\0\3\0\0\0\2xyz\0"), NULL, 0, "the second length"},
        {"_id", ROW("\x25\0\0\0\3_id\0\x1B\0\0\0" OLD "\x10$\0\1\0\0\0\0\0"), NULL, 0, "begins with $"},
        {"_id", ROW("\x24\0\0\0" REFERENCE "\0"), ROW("\x24\0\0\0" REFERENCE "\0"), NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err;
        record_t record;
        records_place_t place = {NULL, 0};
        schema_t *schema = lab_schema("format: bson\nrecord: {bson: yes}\n");
        LAB_MUST(own_id_set(schema, cases[i].fields, &err));
        records_t *records = records_new(schema);
        slack_t slack = slack_new(cases[i].bytes, cases[i].length);
        records_begin(records, NULL, slack.text, cases[i].length, true, true, 77);
        const bool whole = records_next_into(records, &place, &record, NULL) == PARSED_DOCUMENT;
        if (!whole && (!cases[i].reason || !strstr(record.reason, cases[i].reason)))
            fail_msg("case %zu: %s", i, record.reason);
        if (whole && (record.document_length != cases[i].made_length ||
                      memcmp(place.bytes, cases[i].made, cases[i].made_length) != 0))
            fail_msg("case %zu: another document", i);
        slack_free(&slack);
        free(place.bytes);
        records_destroy(records);
        schema_destroy(schema);
    }
#undef OLD
#undef ID
#undef REFERENCE
#undef ROW
}

/* A document's `_id` may be as large as the rest of it. */
TEST(large) {
    static const char json[] = "format: json\nrecord: {json: yes}\n";
    const size_t length = 3 << 20;
    char *text = malloc(length + 20);
    strcpy(text, "{\"a\": \"");
    memset(text + 7, 'x', length);
    strcpy(text + 7 + length, "\"}");
    char *found = made(json, "a", text);
    assert_int_equal(strlen(found), 2 * length + strlen("{ \"_id\" : \"\", \"a\" : \"\" }"));
    free(found);
    free(text);
}

static uint64_t hash(const char *json) {
    bson_error_t problem;
    bson_t *document = bson_new_from_json((const uint8_t *)json, -1, &problem);
    LAB_MUST(document);
    const uint64_t found = id_hash(bson_get_data(document), document->len);
    bson_destroy(document);
    return found;
}

TEST(hashes) {
    static const char *const same[][2] = {
        {"{\"_id\": 1}", "{\"_id\": {\"$numberDouble\": \"1.0\"}}"},
        {"{\"_id\": 1}", "{\"x\": 3, \"_id\": {\"$numberLong\": \"1\"}}"},
        {"{\"_id\": -5}", "{\"_id\": {\"$numberDecimal\": \"-5.00\"}}"},
        {"{\"_id\": 0.5}", "{\"_id\": {\"$numberDecimal\": \"5.00E-1\"}}"},
        {"{\"_id\": {\"$numberDecimal\": \"0.1\"}}", "{\"_id\": {\"$numberDecimal\": \"0.100\"}}"},
        {"{\"_id\": {\"$numberDouble\": \"9223372036854775808.0\"}}",
         "{\"_id\": {\"$numberDecimal\": \"9223372036854775808\"}}"},
        {"{\"_id\": {\"$numberDouble\": \"-Infinity\"}}", "{\"_id\": {\"$numberDecimal\": \"-Infinity\"}}"},
        {"{\"_id\": {\"$numberDouble\": \"NaN\"}}", "{\"_id\": {\"$numberDecimal\": \"NaN\"}}"},
        {"{\"_id\": 0}", "{\"_id\": {\"$numberDouble\": \"-0.0\"}}"},
        {"{\"_id\": {\"$numberLong\": \"9223372036854775807\"}}",
         "{\"_id\": {\"$numberDecimal\": \"9223372036854775807\"}}"},
        {"{\"_id\": {\"$numberLong\": \"-9223372036854775808\"}}",
         "{\"_id\": {\"$numberDecimal\": \"-9223372036854775808\"}}"},
        {"{\"_id\": 1000000000000}", "{\"_id\": {\"$numberDecimal\": \"1E+12\"}}"},
        {"{\"_id\": 0}", "{\"_id\": {\"$numberDecimal\": \"-0E-6000\"}}"},
        {"{\"_id\": {\"$numberDecimal\": \"1E+5000\"}}", "{\"_id\": {\"$numberDecimal\": \"10E+4999\"}}"},
    };
    static const char *const other[][2] = {
        {"{\"_id\": 1}", "{\"_id\": \"1\"}"},
        {"{\"_id\": 1}", "{\"_id\": 2}"},
        {"{\"_id\": 1}", "{\"_id\": 1.5}"},
        {"{\"_id\": 0.1}", "{\"_id\": {\"$numberDecimal\": \"0.1\"}}"},
        {"{\"_id\": {\"$numberDouble\": \"Infinity\"}}", "{\"_id\": {\"$numberDecimal\": \"1E+400\"}}"},
        {"{\"_id\": {\"$numberDecimal\": \"1E+5000\"}}", "{\"_id\": {\"$numberDecimal\": \"2E+5000\"}}"},
        {"{\"_id\": {\"$numberDecimal\": \"1E-6000\"}}", "{\"_id\": {\"$numberDecimal\": \"0\"}}"},
        {"{\"_id\": {\"$numberDecimal\": \"1E-6000\"}}", "{\"_id\": {\"$numberDecimal\": \"-1E-6000\"}}"},
        {"{\"_id\": 1}", "{\"_id\": {\"$numberDecimal\": \"1.000000000000000000000000000000001\"}}"},
        {"{\"_id\": {\"$numberLong\": \"-9223372036854775808\"}}",
         "{\"_id\": {\"$numberDecimal\": \"9223372036854775808\"}}"},
        {"{\"_id\": {\"$numberDecimal\": \"9223372036854775808\"}}",
         "{\"_id\": {\"$numberDecimal\": \"9223372036854775809\"}}"},
        {"{\"_id\": 0.5}", "{\"_id\": {\"$numberDecimal\": \"-0.5\"}}"},
        {"{\"_id\": \"a\"}", "{\"_id\": \"A\"}"},
        {"{\"_id\": {\"$numberLong\": \"9223372036854775807\"}}",
         "{\"_id\": {\"$numberDouble\": \"9223372036854775808.0\"}}"},
        {"{\"_id\": true}", "{\"_id\": 1}"},
        {"{\"_id\": {\"a\": 1}}", "{\"_id\": {\"b\": 1}}"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_true(hash(same[i][0]) == hash(same[i][1]));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_true(hash(other[i][0]) != hash(other[i][1]));
    assert_true(hash("{\"a\": 1}") == 0);
}

TEST(decides) {
    err_t err;
    schema_t *schema = lab_schema(orders);
    assert_true(own_id_set(schema, "shop,order", &err));
    assert_true(own_id_decides(schema->id, "_id", &err));
    assert_true(own_id_decides(schema->id, "shop", &err));
    assert_true(own_id_decides(schema->id, "o", &err));
    assert_false(own_id_decides(schema->id, "size.width", &err));
    schema_destroy(schema);
}
