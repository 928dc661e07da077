/* delimited: records into documents, written down by hand: every trap of the published files, and that
 * neither the way through the parser nor the cut into blocks changes a byte. */
#include "format/records.h"
#include "format/schema/schema.h"
#include "format_lab.h"
#include "test.h"

static const char *json_of(const lab_record_t *one) {
    static char text[4096];
    snprintf(text, sizeof text, "no document (%s)", one->reason);
    if (one->parsed != PARSED_DOCUMENT)
        return text;
    size_t at;
    bson_t document;
    lab_document(one, &document);
    if (!bson_validate(&document, BSON_VALIDATE_UTF8 | BSON_VALIDATE_UTF8_ALLOW_NULL, &at))
        fail_msg("not valid BSON at %zu", at);
    char *json = bson_as_canonical_extended_json(&document, NULL);
    LAB_MUST(json);
    snprintf(text, sizeof text, "%s", json);
    bson_free(json);
    return text;
}

/* The documents of a text. A line starts with '!' for a reject (its column follows), '#' for a header, '-'
 * for a blank line; otherwise it is relaxed extended JSON with ' for " (whole numbers are int32, or int64
 * where they must be; {'$numberLong': ...} says int64). */
static void compare(const lab_records_t *got, const char *const *expected, const char *how) {
    size_t count = 0;
    while (expected[count])
        count++;
    for (size_t i = 0; i < got->count || i < count; i++) {
        const lab_record_t *one = &got->records[i];
        if (i >= got->count || i >= count)
            fail_msg("%s: %zu records, not %zu; record %zu is %s", how, got->count, count, i,
                     i < got->count ? json_of(one) : expected[i]);
        char kind = expected[i][0];
        if (kind == '!' || kind == '#' || kind == '-') {
            parsed_t parsed = kind == '!' ? PARSED_REJECT : kind == '#' ? PARSED_HEADER : PARSED_BLANK;
            if (one->parsed != parsed)
                fail_msg("%s: record %zu is %s, not %s", how, i, json_of(one), expected[i]);
            if (kind == '!' && expected[i][1])
                assert_int_equal(one->record.column, atoi(expected[i] + 1));
            continue;
        }
        bson_t *document = lab_value(expected[i]);
        if (one->parsed != PARSED_DOCUMENT || document->len != one->record.document_length ||
            memcmp(bson_get_data(document), one->document, document->len) != 0)
            fail_msg("%s: record %zu is\n%s\nnot\n%s", how, i, json_of(one), expected[i]);
        bson_destroy(document);
    }
}

/* Fast, carefully, and in blocks of one line each: the same. */
static void expect_parsed(schema_t *schema, const char *text, size_t length, const char *const *expected) {
    format_lab_t lab = lab_open(schema, text, length);
    lab_records_t fast = lab_file(&lab, text, length, false);
    lab_records_t careful = lab_file(&lab, text, length, true);
    compare(&fast, expected, "fast");
    compare(&careful, expected, "carefully");
    size_t record = 0;
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t piece = end ? (size_t)(end - text) + 1 - at : length - at;
        lab_records_t one =
            lab_parse(lab.reader, &lab.dialect, text + at, piece, (lab_how_t){.middle = at > 0});
        const char *const only[] = {one.count ? expected[record] : NULL, NULL};
        compare(&one, only, "alone");
        record += one.count;
        lab_records_free(&one);
        at += piece;
    }
    assert_int_equal(record, fast.count);
    lab_records_free(&fast);
    lab_records_free(&careful);
    lab_close(&lab);
}

#define EXPECT(schema, text, ...)                                                                            \
    expect_parsed(schema, text, sizeof(text) - 1, (const char *const[]){__VA_ARGS__, NULL})

#define DAY(ms) "{'$date':{'$numberLong':'" #ms "'}}"

/* Without `encoding`, what is not UTF-8 is kept as it is, as binary. */
TEST(binary) {
    EXPECT(lab_schema("format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a}, {name: b, type: trimmed}, "
                      "{name: c, type: int}]\n"),
           "caf\xE9,\xE9 ,\xE9\ncaf\xC3\xA9, x ,5\n",
           "{'a':{'$binary':{'base64':'Y2Fm6Q==','subType':'00'}},'b':{'$binary':{'base64':'6Q==','subType':'"
           "00'}},"
           "'c':{'$binary':{'base64':'6Q==','subType':'00'}}}",
           "{'a':'caf\xC3\xA9','b':'x','c':5}");
}

/* Nulls are compared with the field's bytes: one null, not what it means. */
TEST(nulls) {
    EXPECT(lab_schema("format: x\nrecord: {delimiter: \",\"}\nfields:\n"
                      "  - {name: a, type: int, nulls: \"9999\"}\n  - {name: b, type: int, nulls: [\"\", "
                      "\"-1\", \"0\"]}\n"
                      "  - {name: c, nulls: [\"N/A\", \"none\"]}\n  - {name: d, type: date, nulls: "
                      "[\"1900-01-01\"]}\n"
                      "  - {name: e, type: trimmed, nulls: [\"XX\"]}\n"),
           "9999,-1,N/A,1900-01-01,XX\n"
           "999,1,NA,1970-01-01,X\n"
           ",,,,\n"
           "99990,0,none ,1900-01-02,XXX\n"
           "1,5,x,1970-01-01, X \n"
           "1,5,x,1970-01-01,  XX \n",
           "{}", "{'a':999,'b':1,'c':'NA','d':" DAY(0) ",'e':'X'}", "{'a':'','c':'','d':'','e':''}",
           "{'a':99990,'c':'none ','d':" DAY(-2208902400000) ",'e':'XXX'}",
           "{'a':1,'b':5,'c':'x','d':" DAY(0) ",'e':'X'}", "{'a':1,'b':5,'c':'x','d':" DAY(0) "}");
}

/* A made key has what the fields' own keys have: codes without blanks, Latin-1 as UTF-8. */
TEST(first) {
    EXPECT(lab_schema(
               "format: x\nrecord: {delimiter: \"|\", header: no}\n"
               "fields: [{name: a, type: trimmed, nulls: [\"\", XX]}, {name: b, type: trimmed}, {name: c, "
               "type: int}]\n"
               "make:\n  - {k: first, from: [a, b, c], with: [\"\", \"b:\", \"c:\"]}\n"
               "  - {j: first, from: [[a, b, c]]}\n"),
           "  |z|1\n ab |z|1\n XX | z |007\n||7\n|| \n\"a\"\"b \"| |1\n caf\xE9 |z|1\n\xC3|\xA9|1\n",
           "{'k':'b:z','j':'z1','b':'z','c':1}", "{'k':'ab','j':'abz1','a':'ab','b':'z','c':1}",
           "{'k':'b:z','j':'XXz007','b':'z','c':7}", "{'k':'c:7','j':'7','c':7}",
           "{'k':'c: ','j':' ','c':' '}", "{'k':'a\\\"b','j':'a\\\"b1','a':'a\\\"b','c':1}",
           /* no text: not made, and the next one is not tried */
           "{'a':{'$binary':{'base64':'Y2Fm6Q==','subType':'00'}},'b':'z','c':1}",
           /* joined fields can make a character that neither holds */
           "{'j':'\xC3\xA9"
           "1','a':{'$binary':{'base64':'ww==','subType':'00'}},'b':{'$binary':{'base64':'qQ==','subType':'"
           "00'}},"
           "'c':1}");
    EXPECT(lab_schema("format: x\nrecord: {delimiter: \"|\", header: no, encoding: utf-8-or-latin1}\n"
                      "fields: [{name: a, type: trimmed}, {name: b}]\n"
                      "make: [{k: first, from: [a]}, {j: first, from: [[b, a]]}]\n"),
           " caf\xE9 |y\n\xC3\xA9|\xFF\n", "{'k':'caf\xC3\xA9','j':'ycaf\xC3\xA9','a':'caf\xC3\xA9','b':'y'}",
           "{'k':'\xC3\xA9','j':'\xC3\xBF\xC3\xA9','a':'\xC3\xA9','b':'\xC3\xBF'}");
}

/* As many made keys of as many joined fields as there can be, of bytes that take two: in the room asked for. */
static schema_t *joined(void) {
    grown_t yaml = {0};
    grown_text(&yaml, "format: x\nrecord: {delimiter: \"|\", header: no, encoding: latin1}\n"
                      "fields: [{name: a}, {name: b}, {name: c}, {name: d}]\nmake:\n");
    for (int i = 0; i < SCHEMA_MOST_MADE; i++) {
        char line[200];
        snprintf(line, sizeof line,
                 "  - {a_made_key_of_28_bytes_%04d: first, from: [[d, c, b, a]], with: [12345678]}\n", i);
        grown_text(&yaml, line);
    }
    schema_t *schema = lab_schema((const char *)yaml.at);
    grown_free(&yaml);
    return schema;
}

TEST(most_joined) {
    grown_t row = {0};
    for (int i = 0; i < 100000; i++)
        grown_text(&row, i % 25000 ? "\xE9" : i ? "|" : "\xE9");
    grown_text(&row, "\n");
    format_lab_t lab = lab_open(joined(), row.at, row.size);
    for (int careful = 0; careful < 2; careful++) {
        lab_records_t all = lab_file(&lab, row.at, row.size, careful);
        assert_int_equal(all.count, 1);
        assert_int_equal(all.records[0].parsed, PARSED_DOCUMENT);
        assert_uint_in_range(all.records[0].record.document_length, 17 * 2 * 99997, 17 * 2 * 100000 + 2000);
        lab_records_free(&all);
    }
    lab_close(&lab);
    grown_free(&row);
}

/* No document may come near 2 GiB: the room that is asked for is bounded, and the record rejected. */
TEST(too_large) {
    grown_t text = {0};
    uint8_t *line = malloc(33 << 20);
    LAB_MUST(line);
    memset(line, 'x', 33 << 20);
    grown_add(&text, line, 33 << 20); /* it could become 34 times as long */
    grown_text(&text, "|b|c|d\na|b|c|d\n");
    free(line);
    format_lab_t lab = lab_open(joined(), text.at, text.size);
    for (int careful = 0; careful < 2; careful++) {
        lab_records_t all = lab_file(&lab, text.at, text.size, careful);
        assert_int_equal(all.count, 2);
        assert_int_equal(all.records[0].parsed, PARSED_REJECT);
        assert_int_equal(all.records[0].record.column, 1);
        assert_non_null(strstr(all.records[0].reason, "larger than 1 GiB"));
        assert_int_equal(all.records[1].parsed, PARSED_DOCUMENT);
        lab_records_free(&all);
    }
    lab_close(&lab);
    grown_free(&text);
}

TEST(groups) {
    EXPECT(lab_schema(
               "format: x\nrecord: {delimiter: \",\"}\nfields:\n"
               "  - {name: a, key: p.q.a}\n  - {name: b, key: p.q.b, type: int}\n  - {name: c, key: p.c}\n  "
               "- {name: d}\n"
               "  - {name: e, key: a_key_that_is_longer_than_sixteen_bytes.and_another_one_of_that_kind}\n"),
           "1,2,3,4,5\n,,3,4,\n,,,,5\n,2,,,\n,,,,\n",
           "{'p':{'q':{'a':'1','b':2},'c':'3'},'d':'4','a_key_that_is_longer_than_sixteen_bytes':{'and_"
           "another_one_of_that_kind':'5'}}",
           "{'p':{'c':'3'},'d':'4'}",
           "{'a_key_that_is_longer_than_sixteen_bytes':{'and_another_one_of_that_kind':'5'}}",
           "{'p':{'q':{'b':2}}}", "{}");
}

/* Values of every type under keys that are longer than an operation, converted, odd, and absent. */
TEST(long_keys_of_all_types) {
    EXPECT(
        lab_schema("format: x\nrecord: {delimiter: \",\", header: no}\nfields:\n"
                   "  - {name: a, key: a_key_longer_than_an_operation_a}\n"
                   "  - {name: b, key: a_key_longer_than_an_operation_b, type: trimmed}\n"
                   "  - {name: c, key: a_key_longer_than_an_operation_c, type: int}\n"
                   "  - {name: d, key: a_key_longer_than_an_operation_d, type: long}\n"
                   "  - {name: e, key: a_key_longer_than_an_operation_e, type: number}\n"
                   "  - {name: f, key: a_key_longer_than_an_operation_f, type: date}\n"
                   "  - {name: g, key: a_key_longer_than_an_operation_g, type: date, pattern: DD.MM.YYYY}\n"),
        "x, y ,5,6,1.5,1970-01-01,02.01.1970\n,,,,,,\n\xE9,\xE9,+7,x,y,z,w\n",
        "{'a_key_longer_than_an_operation_a':'x','a_key_longer_than_an_operation_b':'y','a_key_longer_than_"
        "an_operation_c':5,"
        "'a_key_longer_than_an_operation_d':{'$numberLong':'6'},'a_key_longer_than_an_operation_e':1.5,"
        "'a_key_longer_than_an_operation_f':" DAY(0) ",'a_key_longer_than_an_operation_g':" DAY(86400000) "}",
        "{}",
        "{'a_key_longer_than_an_operation_a':{'$binary':{'base64':'6Q==','subType':'00'}},"
        "'a_key_longer_than_an_operation_b':{'$binary':{'base64':'6Q==','subType':'00'}},'a_key_longer_than_"
        "an_operation_c':7,"
        "'a_key_longer_than_an_operation_d':'x','a_key_longer_than_an_operation_e':'y','a_key_longer_than_an_"
        "operation_f':'z',"
        "'a_key_longer_than_an_operation_g':'w'}");
}

/* A header may put columns in any order and have some that nobody wants; documents keep the format's order.
 */
TEST(order_of_columns) {
    EXPECT(lab_schema("format: x\nrecord: {delimiter: \",\", header: yes}\nfields: [{name: a, type: int}, "
                      "{name: b}, {name: c, optional: yes}]\n"),
           "B,extra, A \nx,y,1\nx,\"y\",2\n,,\n", "#", "{'a':1,'b':'x'}", "{'a':2,'b':'x'}", "{}");
}

/* Every record of 7 bytes out of 3, which the fast ways may read by the ends of its fields: as when it is split. */
TEST(quotes) {
    grown_t text = {0};
    for (unsigned number = 0; number < 2187; number++) {
        char record[] = "aaaaaaa\n";
        for (unsigned i = 0, rest = number; i < 7; i++, rest /= 3)
            record[i] = "\",a"[rest % 3];
        grown_text(&text, record);
    }
    format_lab_t lab =
        lab_open(lab_schema("format: x\nrecord: {delimiter: \",\", header: no, multiline: no}\n"
                            "fields: [{name: a}, {name: b}, {name: c}]\n"),
                 text.at, text.size);
    lab_records_t fast = lab_file(&lab, text.at, text.size, false),
                  careful = lab_file(&lab, text.at, text.size, true);
    for (size_t i = 0; i < fast.count; i++) {
        const lab_record_t *one = &fast.records[i], *other = &careful.records[i];
        assert_int_equal(one->parsed, other->parsed);
        if (one->parsed != PARSED_DOCUMENT)
            continue;
        assert_int_equal(one->record.document_length, other->record.document_length);
        assert_memory_equal(one->document, other->document, one->record.document_length);
    }
    lab_records_free(&fast);
    lab_records_free(&careful);
    lab_close(&lab);
    grown_free(&text);
}

/* --- lines
 * -------------------------------------------------------------------------------------------------------- */

TEST(line_ends) {
#define AB "format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a}, {name: b, type: int}]\n"
    EXPECT(lab_schema(AB), "x,1\r\ny,2\r\n", "{'a':'x','b':1}", "{'a':'y','b':2}");
    EXPECT(lab_schema(AB), "x,1\ny,2", "{'a':'x','b':1}", "{'a':'y','b':2}");
    EXPECT(lab_schema(AB), "x,1\r\ny,2\r", "{'a':'x','b':1}", "{'a':'y','b':2}");
    EXPECT(lab_schema(AB), "x,\r\n,2", "{'a':'x'}", "{'b':2}");
    EXPECT(lab_schema(AB), "\n\r\nx,1\n\n", "-", "-", "{'a':'x','b':1}", "-");
    EXPECT(lab_schema(AB), "x\rz,1\n", "{'a':'x\\rz','b':1}"); /* a carriage return alone ends nothing */
    EXPECT(lab_schema(AB), "x,1\r\n\r\ny,2\n", "{'a':'x','b':1}", "-", "{'a':'y','b':2}");
    EXPECT(lab_schema(AB), "\xEF\xBB\xBFx,1\n\xEF\xBB\xBFy,2\n", "{'a':'x','b':1}",
           "{'a':'\xEF\xBB\xBFy','b':2}");
    EXPECT(lab_schema(AB),
           "\xEF\xBB\xBF"
           "a,b\nx,1\n",
           "#", "{'a':'x','b':1}");
    EXPECT(lab_schema(AB), "\xEF\xBB\xBF\nx,1\n", "-", "{'a':'x','b':1}");
}

/* Of CR CR LF the first CR is a part of the last value; in a format that was guessed it is a mistake, but in quotes. */
TEST(two_carriages) {
    static const char yaml[] = "format: x\nrecord: {delimiter: \",\", header: no, comment: \"#\"}\n"
                               "fields: [{name: a}, {name: b}]\n",
                      text[] = "1,x\r\r\n2,\"y\"\r\r\n3,\"z\r\"\r\n#\r\r\n4,u\r\n5,v\r\r";
    for (int guessed = 0; guessed < 2; guessed++) {
        format_lab_t lab = lab_open(lab_schema(yaml), text, sizeof text - 1);
        lab.schema->guessed = guessed;
        lab_records_t all = lab_file(&lab, (const uint8_t *)text, sizeof text - 1, false);
        assert_int_equal(all.count, 6);
        assert_int_equal(lab_count(&all, PARSED_REJECT), guessed ? 3 : 0);
        assert_int_equal(lab_count(&all, PARSED_DOCUMENT), guessed ? 2 : 5);
        assert_int_equal(lab_count(&all, PARSED_COMMENT), 1);
        if (guessed) {
            assert_non_null(strstr(all.records[0].reason, "a CR (byte 0d) too many"));
            assert_int_equal(all.records[0].record.column, 4);
        }
        assert_non_null(strstr(json_of(&all.records[2]), "z\\r"));
        lab_records_free(&all);
        lab_close(&lab);
    }
}

static void expect_place(const lab_record_t *one, uint32_t offset, uint32_t length, uint32_t line,
                         uint8_t line_end) {
    assert_int_equal(one->record.offset, offset);
    assert_int_equal(one->record.length, length);
    assert_int_equal(one->record.line, line);
    assert_int_equal(one->record.line_end, line_end);
}

TEST(places) {
    static const char text[] = "\xEF\xBB\xBF"
                               "a,b\r\nx,1\n\ny,2\r\nz\n\"q\",3";
    format_lab_t lab = lab_open(lab_schema(AB), text, strlen(text));
    for (int careful = 0; careful < 2; careful++) {
        lab_records_t got = lab_file(&lab, text, strlen(text), careful);
        assert_int_equal(got.count, 6);
        expect_place(&got.records[0], 3, 3, 0, 2);
        expect_place(&got.records[1], 8, 3, 1, 1);
        expect_place(&got.records[2], 12, 0, 2, 1);
        expect_place(&got.records[3], 13, 3, 3, 2);
        expect_place(&got.records[4], 18, 1, 4, 1);
        expect_place(&got.records[5], 20, 5, 5, 0);
        assert_int_equal(got.records[4].parsed, PARSED_REJECT);
        lab_records_free(&got);
    }
    lab_close(&lab);
}

/* One reader, files of several dialects, one after the other. */
TEST(changing_dialects) {
    schema_t *schema = lab_schema(
        "format: x\nrecord: {delimiter: [\",\", \"|\"]}\nfields: [{name: a}, {name: b, type: int}]\n");
    format_lab_t comma = lab_open(schema, "a,b\nx,1\n", 8);
    dialect_t pipe, turned;
    err_t err;
    assert_true(dialect_sniff(schema, (const uint8_t *)"x|1\n", 4, "p", &pipe, &err));
    schema_t *yes = schema; /* the same schema, columns turned round by a header */
    assert_true(dialect_sniff(yes, (const uint8_t *)"a|z|b\n", 6, "t", &turned, &err));
    for (int round = 0; round < 3; round++) {
        lab_records_t one =
            lab_parse(comma.reader, &comma.dialect, "a,b\nx|,1\n", 9, (lab_how_t){.careful = false});
        lab_records_t two = lab_parse(comma.reader, &pipe, "x,|1\n", 5, (lab_how_t){.middle = true});
        lab_records_t three = lab_parse(comma.reader, &turned, "x|y|1\n", 6, (lab_how_t){.middle = true});
        compare(&one, (const char *const[]){"#", "{'a':'x|','b':1}", NULL}, "comma");
        compare(&two, (const char *const[]){"{'a':'x,','b':1}", NULL}, "pipe");
        compare(&three, (const char *const[]){"{'a':'x','b':1}", NULL}, "turned");
        lab_records_free(&one);
        lab_records_free(&two);
        lab_records_free(&three);
    }
    lab_close(&comma);
}
