/* json_fields: types for values of JSON: which texts and numbers become what, where a name leads, and what becomes of what
 * does not fit. */
#include "format/schema/schema.h"
#include "format_lab.h"
#include "test.h"

/* With ' for ". */
static void quotes(char *text) {
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
}

typedef struct {
    const char *type;            /* after the name */
    const char *value, *becomes; /* of the key a; becomes NULL: it stays, and is counted */
    const char *left_out;        /* the whole document instead */
} case_t;

static lab_records_t parse(const char *fields, const char *bad_value, const char *text, records_t **reader) {
    char yaml[900];
    dialect_t dialect;
    err_t err;
    snprintf(yaml, sizeof yaml, "format: x\nrecord: {json: yes}\non_bad_value: %s\nfields:\n%s", bad_value,
             fields);
    schema_t *schema = lab_schema(yaml);
    *reader = records_new(schema);
    LAB_MUST(dialect_sniff(schema, (const uint8_t *)text, strlen(text), "f", &dialect, &err));
    lab_records_t all = lab_parse(*reader, &dialect, text, strlen(text), (lab_how_t){.careful = true});
    schema_destroy(schema);
    return all;
}

static void expect_same(const lab_record_t *one, char *json) {
    bson_error_t problem;
    bson_t is;
    quotes(json);
    bson_t *document = bson_new_from_json((const uint8_t *)json, -1, &problem);
    if (!document)
        fail_msg("%s: %s", json, problem.message);
    assert_int_equal(one->parsed, PARSED_DOCUMENT);
    LAB_MUST(bson_init_static(&is, one->document, one->record.document_length));
    if (!bson_equal(document, &is))
        fail_msg("%s is %s", json, bson_as_canonical_extended_json(&is, NULL));
    bson_destroy(document);
}

static void expect(const case_t *one) {
    char fields[300], text[300], json[300];
    records_t *reader;
    snprintf(fields, sizeof fields, "  - {name: a, type: %s}\n", one->type);
    snprintf(text, sizeof text, "{'x': 1, 'a': %s, 'z': 'a'}", one->value);
    snprintf(json, sizeof json, "{'x': 1, 'a': %s, 'z': 'a'}", one->becomes ? one->becomes : one->value);
    if (one->left_out)
        snprintf(json, sizeof json, "%s", one->left_out);
    quotes(text);
    lab_records_t all = parse(fields, "text", text, &reader);
    assert_int_equal(all.count, 1);
    expect_same(all.records, json);
    assert_int_equal(records_bad(reader)->count, !one->becomes && !one->left_out);
    lab_records_free(&all);
    records_destroy(reader);
}

#define STAYS(type, value)                                                                                   \
    { type, value, value, NULL }
#define BAD(type, value)                                                                                     \
    { type, value, NULL, NULL }
#define OUT  "{'x': 1, 'z': 'a'}"
#define OID  "{'$oid': '507f1f77bcf86cd799439011'}"
#define UUID "{'$binary': {'base64': 'ABEiM0RVZneImaq7zN3u/w==', 'subType': '04'}}"
#define DAY  "{'$date': {'$numberLong': '1709164800000'}}"

static const case_t cases[] = {
    {"date", "'2024-02-29'", DAY, NULL},
    BAD("date", "'2023-02-29'"),
    BAD("date", "''"),
    {"'date', nulls: ['']", "''", NULL, OUT},
    STAYS("date", DAY),
    STAYS("date", "null"),
    BAD("date", "{}"),
    BAD("date", "true"),
    {"date, pattern: [epoch_s, DD/MM/YYYY]", "1709164800", DAY, NULL},
    {"date, pattern: [epoch_s, DD/MM/YYYY]", "'29/02/2024'", DAY, NULL},
    BAD("date, pattern: epoch_s", "1709164800.5"),
    BAD("date", "20240229"),
    {"datetime", "'2024-02-29T00:00:00.000Z'", DAY, NULL},
    {"objectid", "'507F1F77BCF86CD799439011'", OID, NULL},
    STAYS("objectid", OID),
    BAD("objectid", "'507f1f77bcf86cd79943901'"),
    BAD("objectid", "5"),
    {"uuid", "'00112233-4455-6677-8899-aabbccddeeff'", UUID, NULL},
    STAYS("uuid", UUID),
    BAD("uuid", "{'$binary': {'base64': 'AA==', 'subType': '00'}}"),
    {"int", "'42'", "42", NULL},
    {"int", "'-5000000000'", "-5000000000", NULL},
    STAYS("int", "42"),
    STAYS("int", "{'$numberLong': '7'}"),
    BAD("int", "42.5"),
    BAD("int", "'x'"),
    {"long", "42", "{'$numberLong': '42'}", NULL},
    {"long", "'42'", "{'$numberLong': '42'}", NULL},
    {"number", "42", "{'$numberDouble': '42.0'}", NULL},
    {"number", "'1.50'", "1.5", NULL},
    BAD("number", "9007199254740993"),
    STAYS("number", "1.5"),
    {"number, decimal: ','", "'1,5'", "1.5", NULL},
    {"number, decimal: ','", "15", "{'$numberDouble': '15.0'}", NULL},
    {"decimal", "{'$numberDouble': 'NaN'}", NULL, NULL},
    {"int", "{'$numberDouble': '-Infinity'}", NULL, NULL},
    {"text", "{'$numberDouble': 'Infinity'}", NULL, NULL},
    {"decimal", "'12.50'", "{'$numberDecimal': '12.50'}", NULL},
    {"decimal", "7", "{'$numberDecimal': '7'}", NULL},
    {"decimal", "1.25", "{'$numberDecimal': '1.25'}", NULL},
    {"decimal", "0.10000000000000001", "{'$numberDecimal': '0.1'}", NULL}, /* the same double as 0.1 */
    BAD("decimal", "0.1234567890123456789"), /* of which a double keeps 17 digits */
    STAYS("decimal", "{'$numberDecimal': '1E+3'}"),
    {"boolean, true: ['yes', '1'], false: ['no']", "'yes'", "true", NULL},
    {"boolean, true: ['yes', '1'], false: ['no']", "1", "true", NULL},
    STAYS("boolean", "false"),
    BAD("boolean", "'yes'"),
    STAYS("text", "'x'"),
    {"text", "5", "'5'", NULL},
    {"text", "true", "'true'", NULL},
    BAD("text", "1.5"),
    {"trimmed", "'  x '", "'x'", NULL},
    {"trimmed, nulls: ['x']", "'  x '", NULL, OUT},
};

TEST(values) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        case_t one = cases[i];
        expect(&one);
    }
}

static const struct {
    const char *bad_value, *text, *becomes; /* becomes NULL: a reject */
    unsigned bad;
} documents[] = {
    {"text", "{'a': {'b': ['1', [{'c': '2'}], {'c': '3', 'd': '4'}, 'x']}, 'n': 1}",
     "{'a': {'b': ['1', [{'c': 2}], {'c': 3, 'd': '4'}, 'x']}, 'n': {'$numberDecimal': '1'}}", 0},
    {"text", "{'a': [{'b': {'c': ['1', 'y', '2']}}], 'n': ['1', '', '12345']}",
     "{'a': [{'b': {'c': [1, 'y', 2]}}], 'n': [{'$numberDecimal': '1'}, '', {'$numberDecimal': '12345'}]}",
     2},
    {"null", "{'a': [{'b': {'c': ['1', 'y', '2']}}], 'n': 'x', 'z': 1}",
     "{'a': [{'b': {'c': [1, null, 2]}}], 'n': null, 'z': 1}", 2},
    {"null", "{'n': 'x', 'a': {'b': {'c': 'y'}}}", "{'n': null, 'a': {'b': {'c': null}}}", 2},
    {"reject", "{'n': '1', 'a': {'b': {'c': 'y'}}}", NULL, 1},
    {"text", "{'n': {'a': {'b': {'c': '1'}}}, 'a': '1', 'b': {'c': '1'}, 'c': '1'}",
     "{'n': {'a': {'b': {'c': '1'}}}, 'a': '1', 'b': {'c': '1'}, 'c': '1'}", 1},
    {"text", "{}", "{}", 0},
};

TEST(names) {
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        char text[300], json[300];
        records_t *reader;
        snprintf(text, sizeof text, "%s", documents[i].text);
        quotes(text);
        lab_records_t all = parse("  - {name: a.b.c, type: int}\n  - {name: n, type: decimal}\n",
                                  documents[i].bad_value, text, &reader);
        assert_int_equal(all.count, 1);
        if (documents[i].becomes) {
            snprintf(json, sizeof json, "%s", documents[i].becomes);
            expect_same(all.records, json);
        } else {
            assert_int_equal(all.records->parsed, PARSED_REJECT);
            assert_non_null(strstr(all.records->reason, "'y' of 'a.b.c' does not fit"));
        }
        assert_int_equal(records_bad(reader)->count, documents[i].bad);
        assert_int_equal(records_bad(reader)->fields[0].count + records_bad(reader)->fields[1].count,
                         documents[i].bad);
        lab_records_free(&all);
        records_destroy(reader);
    }
}

/* Where each value grows most: the document has room all the same. */
TEST(growth) {
    enum { VALUES = 5000 };
    grown_t text = {0};
    records_t *reader;
    grown_text(&text, "{\"n\": [");
    for (int i = 0; i < VALUES; i++)
        grown_text(&text, i ? ",\"1\"" : "\"1\"");
    grown_text(&text, "]}");
    lab_records_t all = parse("  - {name: n, type: decimal}\n", "text", (const char *)text.at, &reader);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.records->parsed, PARSED_DOCUMENT);
    bson_t document;
    bson_iter_t at, inner;
    size_t count = 0;
    LAB_MUST(bson_init_static(&document, all.records->document, all.records->record.document_length));
    LAB_MUST(bson_iter_init_find(&at, &document, "n") && bson_iter_recurse(&at, &inner));
    while (bson_iter_next(&inner))
        count += BSON_ITER_HOLDS_DECIMAL128(&inner);
    assert_int_equal(count, VALUES);
    lab_records_free(&all);
    records_destroy(reader);
    grown_free(&text);
}
