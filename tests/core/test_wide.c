/* Binary data and JSON in columns of delimited files. */
#include "field_lab.h"
#include "test.h"

#define BINARY(base64)  "{'$binary':{'base64':'" base64 "','subType':'00'}}"
#define NO_TEXT(base64) "{'$binary':{'base64':'" base64 "','subType':'80'}}"

TEST(binary) {
    FIELD_TABLE("", ", type: binary", IS("aGVsbG8=", BINARY("aGVsbG8=")), IS("QQ==", BINARY("QQ==")),
                IS("+/+/", BINARY("+/+/")), KEPT("aGVsbG8"), KEPT("QR=="), KEPT("a"), KEPT("-_-_"),
                KEPT("QQ== "));
    FIELD_TABLE("", ", type: binary, encoding: hex", IS("00ff7f", BINARY("AP9/")),
                BACK("00FF", BINARY("AP8="), "00ff"), KEPT("0"), KEPT("0g"), KEPT("fF"));
    FIELD_TABLE("", ", type: binary, nulls: []", IS("\"\"", BINARY("")));
}

TEST(json) {
    static const struct {
        const char *text, *becomes; /* NULL: the text */
    } rows[] = {
        {"{\"a\": [1, {\"b\": null}]}", "{'a':[1,{'b':null}]}"},
        {"[]", "[]"},
        {"12", "12"},
        {" 1.5 ", "1.5"},
        {"\"x\\ny\"", "'x\\ny'"},
        {"null", "null"},
        {"{\"$date\": \"2024-02-29T00:00:00Z\"}", "{'$date':'2024-02-29T00:00:00Z'}"},
        {"x", NULL},
        {"{", NULL},
        {"1, \"b\": 2", NULL},
        {"1}", NULL},
        {"1} {\"a\": 1", NULL},
        {"{\"a\": 1, \"a\": 2}", NULL},
        {"Timestamp(0, 0)", NULL},
        {"\xE9", NULL},
    };
    schema_t *schema = lab_schema("format: x\nrecord: {delimiter: \"|\", header: no, quote: none}\n"
                                  "fields: [{name: a, type: json}]\n");
    records_t *reader = records_new(schema);
    err_t err;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dialect_t dialect;
        bson_t is;
        LAB_MUST(
            dialect_sniff(schema, (const uint8_t *)rows[i].text, strlen(rows[i].text), "f", &dialect, &err));
        const uint64_t before = records_bad(reader)->count;
        lab_records_t all =
            lab_parse(reader, &dialect, rows[i].text, strlen(rows[i].text), (lab_how_t){.careful = i % 2});
        assert_int_equal(all.count, 1);
        assert_int_equal(records_bad(reader)->count - before, !rows[i].becomes);
        LAB_MUST(bson_init_static(&is, all.records->document, all.records->record.document_length));
        bson_iter_t at;
        LAB_MUST(bson_iter_init_find(&at, &is, "a"));
        if (rows[i].becomes) {
            bson_t *expected = field_document("", rows[i].becomes);
            if (!bson_equal(expected, &is))
                fail_msg("%s is %s", rows[i].text, bson_as_canonical_extended_json(&is, NULL));
            bson_destroy(expected);
        } else if (rows[i].text[0] != '\xE9') {
            assert_string_equal(bson_iter_utf8(&at, NULL), rows[i].text);
        }
        lab_records_free(&all);
    }
    assert_false(emit_possible(schema, &err));
    records_destroy(reader);
    schema_destroy(schema);
}

/* Text that is not UTF-8 has another subtype. */
TEST(other_bytes) {
    FIELD_TABLE("", ", type: binary", {"\xFF\xFE", NO_TEXT("//4="), NULL, true}, IS("//4=", BINARY("//4=")));
}
