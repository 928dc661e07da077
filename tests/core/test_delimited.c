/* delimited: records into documents, written down by hand: every trap of the published files, and that
 * neither the way through the parser nor the cut into blocks changes a byte. */
#include "format/format.h"
#include "format/records.h"
#include "format_lab.h"
#include "test.h"

typedef struct {
    schema_t *schema;
    dialect_t dialect;
    records_t *reader;
} lab_t;

static lab_t lab_for(schema_t *schema, const void *text, size_t length) {
    lab_t lab = {.schema = schema, .reader = records_new(schema)};
    err_t err = {.text = ""};
    LAB_MUST(lab.reader);
    if (!dialect_sniff(schema, text, length, "f.csv", &lab.dialect, &err))
        fail_msg("%s", err.text);
    return lab;
}

static void lab_end(lab_t *lab) {
    records_destroy(lab->reader);
    schema_destroy(lab->schema);
}

static const char *json_of(const lab_record_t *one) {
    static char text[4096];
    bson_t document;
    snprintf(text, sizeof text, "no document (%s)", one->reason);
    if (one->parsed != PARSED_DOCUMENT)
        return text;
    size_t at;
    LAB_MUST(bson_init_static(&document, one->document, one->record.document_length));
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
        char json[4096];
        size_t length = 0;
        for (const char *at = expected[i]; *at; at++)
            json[length++] = *at == '\'' ? '"' : *at;
        bson_error_t problem;
        bson_t *document = bson_new_from_json((const uint8_t *)json, (ssize_t)length, &problem);
        if (!document)
            fail_msg("%s: %s", expected[i], problem.message);
        if (one->parsed != PARSED_DOCUMENT || document->len != one->record.document_length ||
            memcmp(bson_get_data(document), one->document, document->len) != 0)
            fail_msg("%s: record %zu is\n%s\nnot\n%s", how, i, json_of(one), expected[i]);
        bson_destroy(document);
    }
}

/* Fast, carefully, and in blocks of one line each: the same. */
static void expect_parsed(schema_t *schema, const char *text, size_t length, const char *const *expected) {
    lab_t lab = lab_for(schema, text, length);
    lab_records_t fast = lab_parse(lab.reader, &lab.dialect, text, length, (lab_how_t){.careful = false});
    lab_records_t careful = lab_parse(lab.reader, &lab.dialect, text, length, (lab_how_t){.careful = true});
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
    lab_end(&lab);
}

#define EXPECT(schema, text, ...)                                                                            \
    expect_parsed(schema, text, sizeof(text) - 1, (const char *const[]){__VA_ARGS__, NULL})

#define COMMAS                                                                                               \
    "test_id,vehicle_id,test_date,test_class_id,test_type,test_result,test_mileage,postcode_area,make,"      \
    "model,"                                                                                                 \
    "colour,fuel_type,cylinder_capacity,first_use_date\n"
#define DAY(ms)  "{'$date':{'$numberLong':'" #ms "'}}"
#define JAN_2013 DAY(1356998400000)

/* --- the published releases
 * -------------------------------------------------------------------------------------- */

/* --- values
 * ------------------------------------------------------------------------------------------------------- */

#define ROW(id, first_use) #id "|200|2013-01-01|4|N|P|45|SO|FORD|KA|BLUE|P|1242|" first_use "\n"
#define DOC(id, first_use)                                                                                   \
    "{'t':" #id ",'v':200,'d':" JAN_2013 ",'c':'4','y':'N','r':'P','m':45,'s':'SO','k':'FORD','o':'KA',"     \
    "'u':'BLUE','f':'P','e':1242" first_use "}"

/* An impossible date stays text: nothing is lost, nothing is refused. */
TEST(odd_dates) {
    EXPECT(lab_builtin("mot"),
           ROW(1, "0004-02-20") ROW(2, "4-02-20") ROW(3, "2013-02-30") ROW(4, "0000-00-00")
               ROW(5, "1894-01-01") ROW(6, "2013-2-3") ROW(7, "NULL") ROW(8, "") ROW(9, "null")
                   ROW(10, "01/02/2013") ROW(11, "9999-12-31") ROW(12, " 2001-03-01") ROW(13, "0000-01-01")
                       ROW(14, "2001-03-01T00:00:00Z") ROW(15, "1900-02-29"),
           DOC(1, ",'i':" DAY(-62036668800000)), DOC(2, ",'i':'4-02-20'"), DOC(3, ",'i':'2013-02-30'"),
           DOC(4, ",'i':'0000-00-00'"), DOC(5, ",'i':" DAY(-2398291200000)), DOC(6, ",'i':'2013-2-3'"),
           DOC(7, ""), DOC(8, ""), DOC(9, ",'i':'null'"), DOC(10, ",'i':'01/02/2013'"),
           DOC(11, ",'i':" DAY(253402214400000)), DOC(12, ",'i':' 2001-03-01'"),
           DOC(13, ",'i':" DAY(-62167219200000)), DOC(14, ",'i':'2001-03-01T00:00:00Z'"),
           DOC(15, ",'i':'1900-02-29'"));
}

#define MILES(id, text) #id "|200|2013-01-01|4|N|P|" text "|SO|FORD|KA|BLUE|P|1242|\n"
#define MILES_DOC(id, value)                                                                                 \
    "{'t':" #id ",'v':200,'d':" JAN_2013 ",'c':'4','y':'N','r':'P'," value "'s':'SO','k':'FORD','o':'KA',"   \
    "'u':'BLUE','f':'P','e':1242}"

TEST(whole_numbers) {
    EXPECT(lab_builtin("mot"),
           MILES(1, "0") MILES(2, "2147483647") MILES(3, "2147483648") MILES(4, "-2147483648")
               MILES(5, "-2147483649") MILES(6, "9223372036854775807") MILES(7, "9223372036854775808")
                   MILES(8, "-5") MILES(9, "+5") MILES(10, " 12 ") MILES(11, "007") MILES(12, "-0")
                       MILES(13, "12.5") MILES(14, "1e3") MILES(15, "12x") MILES(16, "NULL") MILES(17, " ")
                           MILES(18, "1 2") MILES(19, "00000000000000000000000000007")
                               MILES(20, "-9223372036854775808") MILES(21, "unknown") MILES(22, "1,234"),
           MILES_DOC(1, "'m':0,"), MILES_DOC(2, "'m':2147483647,"), MILES_DOC(3, "'m':2147483648,"),
           MILES_DOC(4, "'m':-2147483648,"), MILES_DOC(5, "'m':-2147483649,"),
           MILES_DOC(6, "'m':9223372036854775807,"), MILES_DOC(7, "'m':'9223372036854775808',"),
           MILES_DOC(8, "'m':-5,"), MILES_DOC(9, "'m':5,"), MILES_DOC(10, "'m':12,"), MILES_DOC(11, "'m':7,"),
           MILES_DOC(12, "'m':'-0',"), MILES_DOC(13, "'m':'12.5',"), MILES_DOC(14, "'m':'1e3',"),
           MILES_DOC(15, "'m':'12x',"), MILES_DOC(16, ""), MILES_DOC(17, "'m':' ',"),
           MILES_DOC(18, "'m':'1 2',"), MILES_DOC(19, "'m':7,"),
           MILES_DOC(20, "'m':{'$numberLong':'-9223372036854775808'},"), MILES_DOC(21, "'m':'unknown',"),
           MILES_DOC(22, "'m':'1,234',"));
}

#define CLASS(id, text) #id "|200|2013-01-01|" text "|N|P|45|SO|FORD|KA|BLUE|P|1242|\n"
#define CLASS_DOC(id, value)                                                                                 \
    "{'t':" #id ",'v':200,'d':" JAN_2013 "," value "'y':'N','r':'P','m':45,'s':'SO','k':'FORD','o':'KA',"    \
    "'u':'BLUE','f':'P','e':1242}"

TEST(codes) {
    EXPECT(lab_builtin("mot"),
           CLASS(1, "4") CLASS(2, "4 ") CLASS(3, "  4") CLASS(4, " 4  ") CLASS(5, "") CLASS(6, "  ")
               CLASS(7, "NULL") CLASS(8, "4 5") CLASS(9, "\t4") CLASS(10, "007") CLASS(11, " NULL ")
                   CLASS(12, "NULLS") CLASS(13, "NUL"),
           CLASS_DOC(1, "'c':'4',"), CLASS_DOC(2, "'c':'4',"), CLASS_DOC(3, "'c':'4',"),
           CLASS_DOC(4, "'c':'4',"), CLASS_DOC(5, ""), CLASS_DOC(6, ""), CLASS_DOC(7, ""),
           CLASS_DOC(8, "'c':'4 5',"), CLASS_DOC(9, "'c':'\\t4',"), CLASS_DOC(10, "'c':'007',"),
           CLASS_DOC(11, ""), CLASS_DOC(12, "'c':'NULLS',"), CLASS_DOC(13, "'c':'NUL',"));
}

#define MODEL(id, text) #id "|200|2013-01-01|4|N|P|45|SO|FORD|" text "|BLUE|P|1242|\n"
#define MODEL_DOC(id, value)                                                                                 \
    "{'t':" #id ",'v':200,'d':" JAN_2013 ",'c':'4','y':'N','r':'P','m':45,'s':'SO','k':'FORD'," value        \
    "'u':'BLUE','f':'P','e':1242}"

/* Latin-1 becomes UTF-8, UTF-8 stays; one row's bytes do not change what its neighbours are. */
TEST(bytes) {
    EXPECT(lab_builtin("mot"),
           MODEL(1, "CITRO\xCBN") MODEL(2, "CITRO\xC3\x8BN") MODEL(3, "KA") MODEL(4, "\xA3\xA3")
               MODEL(5, "A\xE9\xC3\xA9") MODEL(6, " KA ") MODEL(7, "") MODEL(8, "\xFF") MODEL(9, "K\xC3")
                   MODEL(10, "\xEF\xBB\xBFKA"),
           MODEL_DOC(1, "'o':'CITRO\xC3\x8BN',"), MODEL_DOC(2, "'o':'CITRO\xC3\x8BN',"),
           MODEL_DOC(3, "'o':'KA',"), MODEL_DOC(4, "'o':'\xC2\xA3\xC2\xA3',"),
           MODEL_DOC(5, "'o':'A\xC3\xA9\xC3\x83\xC2\xA9',"), MODEL_DOC(6, "'o':' KA ',"), MODEL_DOC(7, ""),
           MODEL_DOC(8, "'o':'\xC3\xBF',"), MODEL_DOC(9, "'o':'K\xC3\x83',"),
           MODEL_DOC(10, "'o':'\xEF\xBB\xBFKA',"));
}

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

TEST(types) {
    EXPECT(
        lab_schema(
            "format: x\nrecord: {delimiter: \";\"}\nfields:\n"
            "  - {name: l, type: long}\n  - {name: n, type: number}\n  - {name: tenths, type: number, "
            "divide: 10}\n"
            "  - {name: d, type: date, pattern: [DD/MM/YYYY, YYYYMMDD]}\n  - {name: w, type: datetime}\n"
            "  - {name: t, nulls: []}\n"),
        "7;1.5;125;31/12/1999;1970-01-01 00:00:01;x\n"
        "-7;-0;-125;19991231;1970-01-01T00:00:01.250Z;\n"
        "9999999999;1e3;x;1999-12-31;1970-01-01;NULL\n"
        ";;;;;\n",
        "{'l':{'$numberLong':'7'},'n':1.5,'tenths':12.5,'d':" DAY(946598400000) ",'w':" DAY(1000) ",'t':'x'}",
        "{'l':{'$numberLong':'-7'},'n':{'$numberDouble':'-0.0'},'tenths':-12.5,'d':" DAY(
            946598400000) ",'w':" DAY(1250) ",'t':''}",
        "{'l':9999999999,'n':{'$numberDouble':'1000.0'},'tenths':'x','d':'1999-12-31','w':" DAY(
            0) ",'t':'NULL'}",
        "{'t':''}");
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

/* Subdocuments open and close; one with nothing in it is not there. */
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

#define POINT "{'type':'Point','coordinates':[20.0,10.0]}"

/* A point is made of two numbers, and only where both became numbers. */
TEST(point) {
    EXPECT(lab_schema("format: x\nrecord: {delimiter: \"|\", header: no}\nfields:\n"
                      "  - {name: a, type: number, divide: 100, nulls: [\"\", \"5000\"]}\n  - {name: o, "
                      "type: number}\n"
                      "make: [{p: point, from: [a, o]}]\n"),
           "1000|20\n5000|20\n05000|20\n |20\n1000|x\n1000|181\n 01000.0|20\n",
           "{'p':" POINT ",'a':10.0,'o':20.0}", "{'o':20.0}",
           "{'p':{'type':'Point','coordinates':[20.0,50.0]},'a':50.0,'o':20.0}", "{'a':' ','o':20.0}",
           "{'a':10.0,'o':'x'}", "{'a':10.0,'o':181.0}", "{'p':" POINT ",'a':10.0,'o':20.0}");
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
    lab_t lab = lab_for(joined(), row.at, row.size);
    for (int careful = 0; careful < 2; careful++) {
        lab_records_t all =
            lab_parse(lab.reader, &lab.dialect, row.at, row.size, (lab_how_t){.careful = careful});
        assert_int_equal(all.count, 1);
        assert_int_equal(all.records[0].parsed, PARSED_DOCUMENT);
        assert_uint_in_range(all.records[0].record.document_length, 17 * 2 * 99997, 17 * 2 * 100000 + 2000);
        lab_records_free(&all);
    }
    lab_end(&lab);
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
    lab_t lab = lab_for(joined(), text.at, text.size);
    for (int careful = 0; careful < 2; careful++) {
        lab_records_t all =
            lab_parse(lab.reader, &lab.dialect, text.at, text.size, (lab_how_t){.careful = careful});
        assert_int_equal(all.count, 2);
        assert_int_equal(all.records[0].parsed, PARSED_REJECT);
        assert_int_equal(all.records[0].record.column, 1);
        assert_non_null(strstr(all.records[0].reason, "larger than 1 GiB"));
        assert_int_equal(all.records[1].parsed, PARSED_DOCUMENT);
        lab_records_free(&all);
    }
    lab_end(&lab);
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
        lab_t lab = lab_for(lab_schema(yaml), text, sizeof text - 1);
        lab.schema->guessed = guessed;
        lab_records_t all = lab_parse(lab.reader, &lab.dialect, (const uint8_t *)text, sizeof text - 1,
                                      (lab_how_t){.careful = false});
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
        lab_end(&lab);
    }
}

/* `header: yes`: the first line of the file, whatever it says, and the same line again; not the first of a
 * block. */
TEST(header_yes) {
    EXPECT(lab_schema("format: x\nrecord: {delimiter: \",\", header: yes}\nfields: [{name: a}, {name: b}]\n"),
           "\na,b\n1,2\na,b\na,bb\n", "-", "#", "{'a':'1','b':'2'}", "#", "{'a':'a','b':'bb'}");
    EXPECT(lab_schema("format: x\nrecord: {delimiter: \",\", header: no}\nfields: [{name: a}, {name: b}]\n"),
           "a,b\n1,2\n", "{'a':'a','b':'b'}", "{'a':'1','b':'2'}");
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
    lab_t lab = lab_for(lab_schema(AB), text, strlen(text));
    for (int careful = 0; careful < 2; careful++) {
        lab_records_t got =
            lab_parse(lab.reader, &lab.dialect, text, strlen(text), (lab_how_t){.careful = careful});
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
    lab_end(&lab);
}

/* --- rejects
 * ------------------------------------------------------------------------------------------------------ */

/* --- ids, room, counts
 * -------------------------------------------------------------------------------------------- */

TEST(values_kept_as_text_are_counted) {
    static const char text[] = "x,1\ny,z\n\"q\",\"w\"\n,\nv,1.5\nx\n";
    lab_t lab = lab_for(lab_schema(AB), text, strlen(text));
    lab_records_t got =
        lab_parse(lab.reader, &lab.dialect, text, strlen(text), (lab_how_t){.careful = false});
    assert_int_equal(records_bad(lab.reader)->count, 3); /* text is never odd */
    lab_records_free(&got);
    lab_end(&lab);
}

/* One reader, files of several dialects, one after the other. */
TEST(changing_dialects) {
    schema_t *schema = lab_schema(
        "format: x\nrecord: {delimiter: [\",\", \"|\"]}\nfields: [{name: a}, {name: b, type: int}]\n");
    lab_t comma = lab_for(schema, "a,b\nx,1\n", 8);
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
    lab_end(&comma);
}
