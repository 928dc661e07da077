/* fixed: documents of records by width, against JSON written by hand; each of them back into its record. */
#include "base/clock.h"
#include "format_lab.h"
#include "test.h"

typedef struct {
    const char *record, *json;
} pair_t;

static void expect_pairs(const format_lab_t *lab, const pair_t *pairs, size_t count) {
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += !lab_is(lab, pairs[i].record, strlen(pairs[i].record), pairs[i].json);
    assert_int_equal(wrong, 0);
}

static void expect_all(const char *yaml, const pair_t *pairs, size_t count) {
    format_lab_t lab = lab_open(lab_schema(yaml), "", 0);
    expect_pairs(&lab, pairs, count);
    lab_close(&lab);
}

#define COUNT_OF(pairs) (sizeof(pairs) / sizeof *(pairs))

TEST(text) {
    static const pair_t pairs[] = {
        {"abc99xyz1", "{\"t\":\"abc\",\"u\":\"99\",\"c\":\"xyz\",\"o\":\"1\"}"},
        {"   999  9", "{\"t\":\"   \",\"u\":\"99\",\"c\":\"9\"}"}, /* 9 is the null of `o` alone */
        {"abc    x1", "{\"t\":\"abc\",\"u\":\"  \",\"c\":\"  x\",\"o\":\"1\"}"},
        {"abc--   1", "{\"t\":\"abc\",\"c\":\"\",\"o\":\"1\"}"},
        {"\xE2\x82\xAC\xC3\xA9x\xC3\xA9\x01",
         "{\"t\":\"\xE2\x82\xAC\",\"u\":\"\xC3\xA9\",\"c\":\"x\xC3\xA9\",\"o\":\"\\u0001\"}"},
        /* a character that two fields share; a code that is no UTF-8 keeps its blanks */
        {"ab\xC3\xA9yx\xFF \x80", "{\"t\":{\"$binary\":{\"base64\":\"YWLD\",\"subType\":\"00\"}},"
                                  "\"u\":{\"$binary\":{\"base64\":\"qXk=\",\"subType\":\"00\"}},"
                                  "\"c\":{\"$binary\":{\"base64\":\"eP8g\",\"subType\":\"00\"}},"
                                  "\"o\":{\"$binary\":{\"base64\":\"gA==\",\"subType\":\"00\"}}}"},
    };
    expect_all("format: x\nrecord: {fixed: 9}\nfields: [{name: t, width: 3}, {name: u, width: 2, nulls: "
               "\"--\"}, {name: c, "
               "width: 3, type: trimmed}, {name: o, width: 1, nulls: \"9\"}]\n",
               pairs, COUNT_OF(pairs));
}

/* Bytes that are zero are bytes like others. */
TEST(zero_bytes) {
    format_lab_t lab =
        lab_open(lab_schema("format: x\nrecord: {fixed: 14}\nfields: [{name: d, width: 8}, {name: t, "
                            "width: 4}, {name: c, width: "
                            "2, "
                            "type: trimmed}]\nmake: [{ts: utc, from: [d, t]}]\ntail: [{marker: R, "
                            "name: r, repeat: [{name: x, "
                            "lengthWidth: 1}]}]\n"),
                 "", 0);
    /* no date, before any other date was read and after one: zero is not 1970 */
    static const char none[] = "\0\0\0\0\0\0\0\0"
                               "0600\0 "
                               "R3a\0b\0";
    static const char json[] = "{\"d\":\"\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\",\"t\":"
                               "\"0600\",\"c\":\"\\u0000\","
                               "\"r\":[{\"x\":\"a\\u0000b\"}],\"unparsed\":{\"at\":19,\"text\":\"\\u0000\"}}";
    assert_true(lab_is(&lab, none, sizeof none - 1, json));
    assert_true(
        lab_is(&lab, "197001010000ab", 14, "{\"ts\":{\"$date\":{\"$numberLong\":\"0\"}},\"c\":\"ab\"}"));
    assert_true(lab_is(&lab, none, sizeof none - 1, json));
    lab_close(&lab);
}

TEST(ints) {
    static const char yaml[] = "format: x\nrecord: {fixed: 15}\nfields: [{name: n, width: 4, type: int, "
                               "nulls: \"9999\"}, {name: a, width: 4, type: "
                               "int, sign: always}, {name: m, width: 3, type: int, sign: minus}, {name: x, "
                               "width: 2, type: int, multiply: 10}, "
                               "{name: w, width: 2, type: int, sign: always}]\n";
    static const pair_t good[] = {
        {"0012+034-5007+7", "{\"n\":12,\"a\":34,\"m\":-50,\"x\":70,\"w\":7}"},
        {"9998-03410599-1", "{\"n\":9998,\"a\":-34,\"m\":105,\"x\":990,\"w\":-1}"},
        {"9999+00000000+0", "{\"a\":0,\"m\":0,\"x\":0,\"w\":0}"},
        {"0000-999-9901-9", "{\"n\":0,\"a\":-999,\"m\":-99,\"x\":10,\"w\":-9}"},
        /* what would not be printed so again stays as it is: a minus before zero, blanks, letters, a sign
         * if there is none or none where there always is one */
        {"  12-000-00 0-0", "{\"n\":\"  12\",\"a\":\"-000\",\"m\":\"-00\",\"x\":\" 0\",\"w\":\"-0\"}"},
        {"+0120034+50-107", "{\"n\":\"+012\",\"a\":\"0034\",\"m\":\"+50\",\"x\":\"-1\",\"w\":\"07\"}"},
        {"-012 034--51x  ", "{\"n\":\"-012\",\"a\":\" 034\",\"m\":\"--5\",\"x\":\"1x\",\"w\":\"  \"}"},
        {"1/2:+12:5-0;0+/", "{\"n\":\"1/2:\",\"a\":\"+12:\",\"m\":\"5-0\",\"x\":\";0\",\"w\":\"+/\"}"},
    };
    format_lab_t lab = lab_open(lab_schema(yaml), "", 0);
    uint64_t before = records_bad(lab.reader)->count;
    assert_int_equal(before, 0);
    expect_pairs(&lab, good, COUNT_OF(good));
    assert_int_equal(records_bad(lab.reader)->count, 20);
    lab_close(&lab);
}

TEST(numbers) {
    static const pair_t good[] = {
        {"0012+0034-5012345678-9999999",
         "{\"n\":1.2,\"a\":0.034,\"m\":-5.0,\"w\":0.12345678,\"l\":-9999999.0}"},
        {"0210-003499900000001+0000000", "{\"n\":21.0,\"a\":-0.034,\"m\":99.9,\"w\":1e-8,\"l\":0.0}"},
        {"9999-0000-0000000000+1234567",
         "{\"a\":-0.0,\"m\":-0.0,\"w\":0.0,\"l\":1234567.0}"}, /* a zero may have a minus */
        {"00 1 0034+50-2345678-999 999",
         "{\"n\":\"00 1\",\"a\":\" 0034\",\"m\":\"+50\",\"w\":\"-2345678\",\"l\":\"-999 999\"}"},
    };
    expect_all("format: x\nrecord: {fixed: 28}\nfields: [{name: n, width: 4, type: number, divide: 10, "
               "nulls: \"9999\"}, "
               "{name: a, width: 5, type: number, sign: always, divide: 1000}, {name: m, width: 3, type: "
               "number, sign: minus, "
               "divide: 10}, {name: w, width: 8, type: number, divide: 100000000}, {name: l, width: 8, type: "
               "number, sign: "
               "always}]\n",
               good, COUNT_OF(good));
}

/* Every number of a field's width is the double nearest to its decimal, which the JSON reader takes from the
 * text. */
TEST(every_number) {
    format_lab_t lab =
        lab_open(lab_schema("format: x\nrecord: {fixed: 6}\nfields: [{name: n, width: 6, type: number, "
                            "sign: always, divide: 1000}]\n"),
                 "", 0);
    for (int n = -99999; n <= 99999; n += 37) {
        char record[32], json[64];
        snprintf(record, sizeof record, "%+06d", n);
        snprintf(json, sizeof json, "{\"n\":%s%d.%03d}", n < 0 ? "-" : "", abs(n) / 1000, abs(n) % 1000);
        assert_true(lab_is(&lab, record, 6, json));
    }
    lab_close(&lab);
}

/* A null of more than 8 characters is all of them, as is one of exactly 8, and one of bytes that are 0xFF. */
TEST(long_nulls) {
    static const pair_t pairs[] = {
        {"9999999999999999999", "{}"},
        {"9999999989999999999", "{\"a\":\"999999998\"}"},
        {"9999999999999999990", "{\"b\":\"9999999990\"}"},
        {"8999999999999999999", "{\"a\":\"899999999\"}"},
    };
    expect_all("format: x\nrecord: {fixed: 19}\nfields: [{name: a, width: 9, nulls: \"999999999\"}, {name: "
               "b, width: 10, "
               "nulls: \"9999999999\"}]\n",
               pairs, COUNT_OF(pairs));
    static const pair_t eight[] = {
        {"12345678", "{}"}, {"12345679", "{\"a\":\"12345679\"}"}, {"02345678", "{\"a\":\"02345678\"}"}};
    expect_all("format: x\nrecord: {fixed: 8}\nfields: [{name: a, width: 8, nulls: \"12345678\"}]\n", eight,
               COUNT_OF(eight));
    static const pair_t eight_bytes[] = {
        {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
         "{\"a\":{\"$binary\":{\"base64\":\"//////////8=\",\"subType\":\"00\"}}}"}};
    expect_all("format: x\nrecord: {fixed: 8}\nfields: [{name: a, width: 8}]\n", eight_bytes,
               COUNT_OF(eight_bytes));
}

#define KEY30  "abcdefghijklmnopqrstuvwxyz1234"
#define KEY31  KEY30 "5"
#define KEY120 KEY30 KEY30 KEY30 KEY30

/* Keys of 30 bytes and fewer are copied whole, longer ones another way; of fields, groups, sections, entries.
 */
TEST(long_keys) {
    static const pair_t good[] = {
        {"12345678", "{\"" KEY30 "\":1,\"" KEY31 "\":{\"" KEY31 "x\":\"2\",\"" KEY30
                     "\":\"3\",\"c\":{\"" KEY31 "\":4.0}},\"z" KEY31 "\":\"5678\"}"},
        {"99999999#x2ab+AA1yAA1yAB1z",
         "{\"" KEY31 "\":{\"c\":{\"" KEY31 "\":9.0}},\"y" KEY31 "\":[{\"" KEY31 "\":\"x\",\"" KEY30
         "6\":\"ab\"}],\"x" KEY31 "\":[{\"" KEY31 "\":\"y\"},{\"" KEY31 "\":\"y\"}],\"v" KEY31 "\":{\"" KEY31
         "\":\"z\"},\"order\":[\"AA1\",\"AA1\",\"AB1\"]}"},
    };
    expect_all("format: x\nrecord: {fixed: 8}\nfields:\n"
               "  - {name: " KEY30 ", width: 1, type: int, nulls: \"9\"}\n"
               "  - {name: " KEY31 "." KEY31 "x, width: 1, nulls: \"9\"}\n"
               "  - {name: " KEY31 "." KEY30 ", width: 1, nulls: \"9\"}\n"
               "  - {name: " KEY31 ".c." KEY31 ", width: 1, type: number}\n"
               "  - {name: z" KEY31 ", width: 4, nulls: \"9999\"}\n"
               "tail:\n"
               "  - {marker: \"#\", name: y" KEY31 ", repeat: [{name: " KEY31 ", width: 1}, {name: " KEY30
               "6, lengthWidth: 1}]}\n"
               "  - {marker: \"+\", sections: yes}\n"
               "sections:\n"
               "  - {ids: AA1, name: x" KEY31 ", fields: [{name: " KEY31 ", width: 1}]}\n"
               "  - {ids: AB1, name: v" KEY31 ", fields: [{name: " KEY31 ", width: 1}]}\n",
               good, COUNT_OF(good));
    /* the longest there are: a document must fit into what was asked for */
    static const pair_t most[] = {{"x#1y+AA1zAA1w",
                                   "{\"" KEY120 "\":\"x\",\"b" KEY30 KEY30 KEY30 "\":[{\"" KEY120
                                   "\":\"y\"}],\"l" KEY30 KEY30 "\":[\"AA1\",\"AA1\"],\"c" KEY30 KEY30 KEY30
                                   "\":[{\"" KEY120 "\":\"z\"},{\"" KEY120 "\":\"w\"}]}"}};
    expect_all(
        "format: x\nrecord: {fixed: 1}\nfields: [{name: " KEY120 ", width: 1}]\ntail:\n"
        "  - {marker: \"#\", name: b" KEY30 KEY30 KEY30 ", repeat: [{name: " KEY120 ", lengthWidth: 1}]}\n"
        "  - {marker: \"+\", sections: yes, list: l" KEY30 KEY30 "}\n"
        "sections: [{ids: AA1, name: c" KEY30 KEY30 KEY30 ", fields: [{name: " KEY120 ", width: 1}]}]\n",
        most, COUNT_OF(most));
}

/* Subdocuments: fields of one stand together wherever they come from; what holds nothing is left out, with
 * what holds only it. */
TEST(groups) {
    static const pair_t pairs[] = {
        {"123456", "{\"a\":{\"b\":{\"c\":\"1\",\"d\":\"4\"},\"e\":\"3\"},\"f\":\"2\",\"g\":{\"h\":{\"i\":{"
                   "\"j\":\"5\"}}},\"k\":\"6\"}"},
        {"9299--", "{\"f\":\"2\",\"g\":{\"h\":{\"i\":{\"j\":\"-\"}}},\"k\":\"-\"}"},
        {"92949-", "{\"a\":{\"b\":{\"d\":\"4\"}},\"f\":\"2\",\"k\":\"-\"}"},
        {"999999", "{}"},
    };
    expect_all("format: x\nrecord: {fixed: 6}\nfields: [{name: a.b.c, width: 1, nulls: \"9\"}, {name: f, "
               "width: 1, nulls: "
               "\"9\"}, {name: a.e, width: 1, nulls: \"9\"}, {name: a.b.d, width: 1, nulls: \"9\"}, {name: "
               "g.h.i.j, width: 1, "
               "nulls: \"9\"}, {name: k, width: 1, nulls: \"9\"}]\n",
               pairs, COUNT_OF(pairs));
    static const pair_t first[] = {
        {"123456", "{\"g\":{\"x\":\"3\",\"y\":\"5\"},\"d\":\"4\",\"a\":\"1\",\"b\":\"2\",\"c\":\"6\"}"}};
    expect_all("format: x\nrecord: {fixed: 6}\ndocument: [g, d]\nfields: [{name: a, width: 1}, {name: b, "
               "width: 1}, {name: "
               "g.x, width: 1}, {name: d, width: 1}, {name: g.y, width: 1}, {name: c, width: 1}]\n",
               first, COUNT_OF(first));
}

/* As deep as a key can name them: 60 parts. */
TEST(depth) {
    grown_t yaml = {0}, json = {0};
    grown_text(&yaml, "format: x\nrecord: {fixed: 2}\nfields: [{name: b, width: 1, nulls: \"9\", key: ");
    for (int i = 0; i < 59; i++)
        grown_text(&yaml, "a.");
    grown_text(&yaml, "b}, {name: c, width: 1, nulls: \"9\", key: ");
    for (int i = 0; i < 59; i++)
        grown_text(&yaml, "a.");
    grown_text(&yaml, "c}]\n");
    for (int i = 0; i < 59; i++)
        grown_text(&json, "{\"a\":");
    grown_text(&json, "{\"b\":\"1\",\"c\":\"2\"}");
    for (int i = 0; i < 59; i++)
        grown_text(&json, "}");
    const pair_t pairs[] = {{"12", (const char *)json.at}, {"99", "{}"}};
    expect_all((const char *)yaml.at, pairs, 2);
    grown_free(&yaml);
    grown_free(&json);
}

#define DATE(ms) "{\"$date\":{\"$numberLong\":\"" #ms "\"}}"

TEST(moments) {
    static const pair_t pairs[] = {
        {"201401020600", "{\"ts\":" DATE(1388642400000) "}"},
        {"000001010000", "{\"ts\":" DATE(-62167219200000) "}"},
        {"999912312359", "{\"ts\":" DATE(253402300740000) "}"},
        {"196912312359", "{\"ts\":" DATE(-60000) "}"},
        {"200002290000", "{\"ts\":" DATE(951782400000) "}"},
        /* midnight at a day's end is the next day's, and says so */
        {"201312312400", "{\"ts\":" DATE(1388534400000) ",\"hour24\":true}"},
        {"201401010000", "{\"ts\":" DATE(1388534400000) "}"},
        {"200002282400", "{\"ts\":" DATE(951782400000) ",\"hour24\":true}"},
        {"999912312400", "{\"ts\":" DATE(253402300800000) ",\"hour24\":true}"},
        {"196912312400", "{\"ts\":" DATE(0) ",\"hour24\":true}"},
        /* no such day, no such time */
        {"190002290600", "{\"d\":\"19000229\",\"t\":\"0600\"}"},
        {"201413010600", "{\"d\":\"20141301\",\"t\":\"0600\"}"},
        {"201400010600", "{\"d\":\"20140001\",\"t\":\"0600\"}"},
        {"201404310600", "{\"d\":\"20140431\",\"t\":\"0600\"}"},
        {"201404002400", "{\"d\":\"20140400\",\"t\":\"2400\"}"},
        {"201401022401", "{\"d\":\"20140102\",\"t\":\"2401\"}"},
        {"201401022500", "{\"d\":\"20140102\",\"t\":\"2500\"}"},
        {"201401020660", "{\"d\":\"20140102\",\"t\":\"0660\"}"},
        {"20140102 600", "{\"d\":\"20140102\",\"t\":\" 600\"}"},
        {"2014010206:0", "{\"d\":\"20140102\",\"t\":\"06:0\"}"},
        {"2014 1020600", "{\"d\":\"2014 102\",\"t\":\"0600\"}"},
        {"20140102XXXX", "{\"d\":\"20140102\"}"}, /* t's null */
    };
    expect_all("format: x\nrecord: {fixed: 12}\nfields: [{name: d, width: 8}, {name: t, width: 4, nulls: "
               "XXXX}]\nmake: [{ts: "
               "utc, from: [d, t]}]\n",
               pairs, COUNT_OF(pairs));
}

TEST(points) {
#define POINT(lon, lat) "{\"p\":{\"type\":\"Point\",\"coordinates\":[" #lon "," #lat "]}}"
    static const pair_t pairs[] = {
        {"+78250+022817", POINT(22.817, 78.25)},
        {"-90000-180000", POINT(-180.0, -90.0)},
        {"+90000+180000", POINT(180.0, 90.0)},
        {"-00000-000000", POINT(-0.0, -0.0)},
        /* beyond the earth, absent, no number: each stands apart */
        {"+90001+022817", "{\"lat\":90.001,\"g\":{\"lon\":22.817}}"},
        {"+78250-180001", "{\"lat\":78.25,\"g\":{\"lon\":-180.001}}"},
        {"-90001-180001", "{\"lat\":-90.001,\"g\":{\"lon\":-180.001}}"},
        {"+99999+022817", "{\"g\":{\"lon\":22.817}}"},
        {"+78250+999999", "{\"lat\":78.25}"},
        {"+99999+999999", "{}"},
        {" 78250+022817", "{\"lat\":\" 78250\",\"g\":{\"lon\":22.817}}"},
        {"+78250+0228-7", "{\"lat\":78.25,\"g\":{\"lon\":\"+0228-7\"}}"},
    };
    expect_all(
        "format: x\nrecord: {fixed: 13}\nfields: [{name: lat, width: 6, type: number, sign: always, divide: "
        "1000, "
        "nulls: \"+99999\"}, {name: g.lon, width: 7, type: number, sign: always, divide: 1000, nulls: "
        "\"+999999\"}]\nmake: [{p: point, from: [lat, g.lon]}]\n",
        pairs, COUNT_OF(pairs));
}

TEST(first) {
    static const pair_t pairs[] = {
        {"12345", "{\"s\":\"u12\",\"a\":\"12\",\"b\":\"345\"}"},
        {"99345", "{\"s\":\"w345\",\"b\":\"345\"}"},
        {"99999", "{\"s\":\"99999\"}"}, /* what is joined is there whatever it says */
        {"\xC3\xA9"
         "345",
         "{\"s\":\"u\xC3\xA9\",\"a\":\"\xC3\xA9\",\"b\":\"345\"}"},
        /* no UTF-8: not made, and the next one is not tried */
        {"\xC3"
         "1345",
         "{\"a\":{\"$binary\":{\"base64\":\"wzE=\",\"subType\":\"00\"}},\"b\":\"345\"}"},
        {"12\xFF"
         "45",
         "{\"s\":\"u12\",\"a\":\"12\",\"b\":{\"$binary\":{\"base64\":\"/zQ1\",\"subType\":\"00\"}}}"},
    };
    expect_all("format: x\nrecord: {fixed: 5}\nfields: [{name: a, width: 2, nulls: \"99\"}, {name: b, "
               "width: 3, nulls: "
               "\"999\"}]\nmake: [{s: first, from: [a, b, [a, b]], with: [u, w, \"\"]}]\n",
               pairs, COUNT_OF(pairs));
    /* joined fields can make a character that neither holds; and nothing may be made at all */
    static const pair_t joined[] = {
        {"a\xC3\xA9"
         "bc",
         "{\"s\":\"a\xC3\xA9"
         "bc\",\"a\":{\"$binary\":{\"base64\":\"YcM=\",\"subType\":\"00\"}},\"b\":{\"$binary\":{"
         "\"base64\":\"qWJj\",\"subType\":\"00\"}}}"}};
    expect_all("format: x\nrecord: {fixed: 5}\nfields: [{name: a, width: 2}, {name: b, width: 3}]\nmake: "
               "[{s: first, from: "
               "[[a, b]]}]\n",
               joined, COUNT_OF(joined));
    /* a code is there as its own key has it */
    static const pair_t codes[] = {{"ab 12", "{\"s\":\"ab\",\"j\":\"ab12\",\"a\":\"ab\",\"b\":\"12\"}"},
                                   {"   12", "{\"s\":\"12\",\"j\":\"12\",\"b\":\"12\"}"},
                                   {" b 1 ", "{\"s\":\" b\",\"j\":\" b1 \",\"a\":\" b\",\"b\":\"1 \"}"}};
    expect_all("format: x\nrecord: {fixed: 5}\nfields: [{name: a, width: 3, type: trimmed, nulls: \"   \"}, "
               "{name: b, "
               "width: 2}]\nmake: [{s: first, from: [a, b]}, {j: first, from: [[a, b]]}]\n",
               codes, COUNT_OF(codes));
    static const pair_t none[] = {{"99", "{}"}, {"98", "{\"s\":\"98\",\"a\":\"98\"}"}};
    expect_all("format: x\nrecord: {fixed: 2}\nfields: [{name: a, width: 2, nulls: \"99\"}]\nmake: [{s: "
               "first, from: [a]}]\n",
               none, COUNT_OF(none));
}

TEST(length) {
    static const pair_t pairs[] = {
        {"x00", "{\"a\":\"x\"}"},
        {"x01#", "{\"a\":\"x\",\"unparsed\":{\"at\":3,\"text\":\"#\"}}"},
        {"x03#1b", "{\"a\":\"x\",\"r\":[{\"t\":\"b\"}]}"},
        {"x04#1b", "{\"a\":\"x\",\"n\":4,\"r\":[{\"t\":\"b\"}]}"},
        {"x00#1b", "{\"a\":\"x\",\"n\":0,\"r\":[{\"t\":\"b\"}]}"},
        {"x 3#1b", "{\"a\":\"x\",\"n\":\" 3\",\"r\":[{\"t\":\"b\"}]}"},
        {"x3 #1b", "{\"a\":\"x\",\"n\":\"3 \",\"r\":[{\"t\":\"b\"}]}"},
        {"x-1", "{\"a\":\"x\",\"n\":\"-1\"}"},
        {"x\xC3\xA9", "{\"a\":\"x\",\"n\":\"\xC3\xA9\"}"},
    };
    format_lab_t lab = lab_open(
        lab_schema("format: x\nrecord: {fixed: 3}\nfields: [{name: a, width: 1}, {name: n, width: 2, "
                   "type: length}]\ntail: [{marker: \"#\", name: r, repeat: [{name: t, "
                   "lengthWidth: 1}]}]\n"),
        "", 0);
    expect_pairs(&lab, pairs, COUNT_OF(pairs));
    assert_int_equal(records_bad(lab.reader)->count, 4);
    /* 103 and 3 characters follow: a count of two digits cannot distinguish them, but the document does */
    char record[200], json[300];
    for (int more = 0; more < 2; more++) {
        int length = snprintf(record, sizeof record, "x03%.*s", 3 + 100 * more,
                              "#1a???????????????????????????????????????????????????????????????????????????"
                              "??????????????????????????????");
        snprintf(json, sizeof json, "{\"a\":\"x\",%s\"r\":[{\"t\":\"a\"}]%s%.*s%s}", more ? "\"n\":3," : "",
                 more ? ",\"unparsed\":{\"at\":6,\"text\":\"" : "", 100 * more, record + 6,
                 more ? "\"}" : "");
        assert_true(lab_is(&lab, record, (size_t)length, json));
    }
    lab_close(&lab);
}

/* A record is one character; sections of 1, 2 and 3 characters; entries of 2, of 1 and as many as they say. */
static const char tails_yaml[] =
    "format: x\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail:\n"
    "  - {marker: \"<\", name: first, repeat: [{name: k, width: 1, is: \"[a-c]\"}, {name: v, width: 1}]}\n"
    "  - {marker: ADD, sections: yes}\n"
    "  - {marker: \"--\", name: last, repeat: [{name: k, width: 1, is: \"[a-c-]\"}, {name: t, lengthWidth: "
    "1}]}\n"
    "  - {marker: \"-\", name: any, repeat: [{name: v, width: 2}]}\n"
    "sections:\n"
    "  - {ids: AA1-AA4, name: s, fields: [{name: x, width: 1}]}\n"
    "  - {ids: AB1, name: t, fields: [{name: x, width: 2}]}\n"
    "  - {ids: AC1, name: u, fields: [{name: x, width: 3}]}\n"
    "  - {ids: AC2, name: v, fields: [{name: x, width: 1}]}\n";

/* What follows the fixed part, from left to right, and where a gap begins and ends. */
TEST(tails) {
#define S1            "\"s\":[{\"id\":\"AA1\",\"x\":\"x\"}]"
#define GAP(at, text) "\"unparsed\":{\"at\":" #at ",\"text\":\"" text "\"}"
    static const pair_t pairs[] = {
        {"x<a1ADDAA1x--b2..-yz", "{\"a\":\"x\",\"first\":[{\"k\":\"a\",\"v\":\"1\"}]," S1
                                 ",\"last\":[{\"k\":\"b\",\"t\":\"..\"}],\"any\":[{\"v\":\"yz\"}]}"},
        {"xADDAA1xAB1xxAA2x",
         "{\"a\":\"x\",\"s\":[{\"id\":\"AA1\",\"x\":\"x\"},{\"id\":\"AA2\",\"x\":\"x\"}],"
         "\"t\":{\"x\":\"xx\"},\"order\":[\"AA1\",\"AB1\",\"AA2\"]}"},
        {"xADDAB1xxAB1yy", "{\"a\":\"x\",\"t\":[{\"x\":\"xx\"},{\"x\":\"yy\"}],\"order\":[\"AB1\",\"AB1\"]}"},
        {"xADDAA9xAB2xx",
         "{\"a\":\"x\",\"s\":[{\"id\":\"AA9\",\"x\":\"x\"}],\"t\":{\"id\":\"AB2\",\"x\":\"xx\"}}"},
        /* gaps to the end, where nothing after them is known */
        {"x<d1", "{\"a\":\"x\"," GAP(1, "<d1") "}"},
        {"x<a1b", "{\"a\":\"x\",\"first\":[{\"k\":\"a\",\"v\":\"1\"}]," GAP(4, "b") "}"},
        {"xADDAA1xAC3x", "{\"a\":\"x\"," S1 "," GAP(8, "AC3x") "}"},
        {"x--a3..", "{\"a\":\"x\",\"any\":[{\"v\":\"-a\"},{\"v\":\"3.\"}]," GAP(6, ".") "}"},
        /* to the nearest place from which everything is known, in the same part */
        {"xADDAA1xAC3xAA2x",
         "{\"a\":\"x\",\"s\":[{\"id\":\"AA1\",\"x\":\"x\"},{\"id\":\"AA2\",\"x\":\"x\"}]," GAP(8,
                                                                                               "AC3x") "}"},
        {"x<a1?b2c?d1c1", "{\"a\":\"x\",\"first\":[{\"k\":\"a\",\"v\":\"1\"},{\"k\":\"c\",\"v\":\"1\"}]," GAP(
                              4, "?b2c?d1") "}"},
        /* or at a later marker; a marker opens its part, and all of it belongs to the gap */
        {"x<a1?--b0",
         "{\"a\":\"x\",\"first\":[{\"k\":\"a\",\"v\":\"1\"}],\"last\":[{\"k\":\"b\",\"t\":\"\"}]," GAP(
             4, "?") "}"},
        {"xADD?AA1x", "{\"a\":\"x\"," S1 "," GAP(1, "ADD?") "}"},
        {"x<?a1", "{\"a\":\"x\",\"first\":[{\"k\":\"a\",\"v\":\"1\"}]," GAP(1, "<?") "}"},
        {"xADD<a1", "{\"a\":\"x\"," GAP(1, "ADD<a1") "}"}, /* what comes before cannot come after */
        /* a marker is one only with an entry after it: `--` without is `-`, or an entry of it */
        {"x--yz", "{\"a\":\"x\",\"any\":[{\"v\":\"-y\"}]," GAP(4, "z") "}"},
        {"x--y", "{\"a\":\"x\",\"any\":[{\"v\":\"-y\"}]}"},
    };
    expect_all(tails_yaml, pairs, COUNT_OF(pairs));
}

/* Where a marker stands where an entry could, it is one when an entry follows it; the first entry after a marker is one
 * whatever it looks like. */
TEST(precedence) {
    static const pair_t pairs[] = {
        {"xa1b22", "{\"a\":\"x\",\"p\":[{\"v\":\"1\"}],\"q\":[{\"v\":\"22\"}]}"},
        {"xab", "{\"a\":\"x\",\"p\":[{\"v\":\"b\"}]}"},
        {"xabb22", "{\"a\":\"x\",\"p\":[{\"v\":\"b\"}],\"q\":[{\"v\":\"22\"}]}"},
        {"xa1b2", "{\"a\":\"x\",\"p\":[{\"v\":\"1\"},{\"v\":\"b\"},{\"v\":\"2\"}]}"},
        {"xb11b2", "{\"a\":\"x\",\"q\":[{\"v\":\"11\"},{\"v\":\"b2\"}]}"},
        {"xb1", "{\"a\":\"x\"," GAP(1, "b1") "}"},
    };
    expect_all("format: x\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail:\n"
               "  - {marker: a, name: p, repeat: [{name: v, width: 1}]}\n"
               "  - {marker: b, name: q, repeat: [{name: v, width: 2}]}\n",
               pairs, COUNT_OF(pairs));
}

/* A record is read in a time that grows as its length does, whatever it holds. */
TEST(hostile) {
    static const char *const pieces[] = {"<a1", "<",  "ADDAA1x", "AA1xAB1xx",  "ADD", "--a0",     "a9..",
                                         "-",   "--", "AA1x?",   "ADDAA1xAC3", "a1?", "AA2xAA1x", "?"};
    static const char *const starts[] = {"x", "x<a1", "xADDAA1x", "x--a0"};
    enum { LONG = (1 << 18) / TEST_SHARE };
    format_lab_t lab = lab_open(lab_schema(tails_yaml), "", 0);
    for (size_t i = 0; i < COUNT_OF(pieces) * COUNT_OF(starts); i++) {
        grown_t text = {0};
        grown_text(&text, starts[i % COUNT_OF(starts)]);
        while (text.size < LONG)
            grown_text(&text, pieces[i / COUNT_OF(starts)]);
        const int64_t before = clock_now_ns();
        lab_records_t all = lab_file(&lab, text.at, text.size, false);
        assert_int_equal(all.count, 1);
        assert_int_equal(all.records[0].parsed, PARSED_DOCUMENT);
        if (clock_now_ns() - before > 10000000000)
            fail_msg("%.20s... took too long", (const char *)text.at);
        lab_records_free(&all);
        grown_free(&text);
    }
    lab_close(&lab);
}

/* ----------------------------------------------------------------------------------------------------- lines
 */

static const char lines_yaml[] =
    "format: lines\nrecord: {fixed: 4}\nfields: [{name: n, width: 2, type: length}, {name: a, "
    "width: 2}]\ntail: [{marker: \"#\", name: r, repeat: [{name: t, width: 1}]}]\n";

/* The file's last line, when nothing ends it: what the record announces must be there. */
TEST(cut_short) {
    static const struct {
        const char *text;
        bool document;
    } cases[] = {
        {"00ab", true},  {"01ab#", true},  {"02ab#", false},  {"02ab#1", true}, {"01ab#1", true},
        {"99ab", false}, {"99ab\n", true}, {"99ab\r", false}, {"5 ab", true}, /* no count: nothing to hold it
                                                                                 to */
        {" 5ab", true},  {"+5ab", true},   {"-5ab", true},    {"xxab", true},
    };
    format_lab_t lab = lab_open(lab_schema(lines_yaml), "", 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        lab_records_t all = lab_file(&lab, cases[i].text, strlen(cases[i].text), false);
        assert_int_equal(all.count, 1);
        if (all.records[0].parsed != (cases[i].document ? PARSED_DOCUMENT : PARSED_REJECT))
            fail_msg("'%s' is %s", cases[i].text, cases[i].document ? "rejected" : "no reject");
        if (!cases[i].document)
            assert_non_null(strstr(all.records[0].reason, "cut short: it announces "));
        lab_records_free(&all);
    }
    lab_close(&lab);
}

/* What is left out is walked over, so that what stands after it is found; nothing reports it. */
TEST(left_out) {
    static const pair_t pairs[] = {
        {"x+AA2bAA1a-1c=1d", "{\"a\":\"x\",\"in\":[{\"t\":\"d\"}]}"},
        {"x+AA2bAA1a", "{\"a\":\"x\"}"},
        {"x\xFF",
         "{\"a\":\"x\",\"unparsed\":{\"at\":1,\"text\":{\"$binary\":{\"base64\":\"/w==\",\"subType\":"
         "\"00\"}}}}"},
        {"x-1cAA?=1d", "{\"a\":\"x\",\"in\":[{\"t\":\"d\"}],\"unparsed\":{\"at\":4,\"text\":\"AA?\"}}"},
    };
    expect_all("format: x\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail:\n"
               "  - {marker: \"+\", sections: yes, leaveOut: yes}\n"
               "  - {marker: \"-\", name: out, leaveOut: yes, repeat: [{name: t, lengthWidth: 1}]}\n"
               "  - {marker: \"=\", name: in, repeat: [{name: t, lengthWidth: 1}]}\n"
               "sections: [{ids: AA1-AA4, name: s, fields: [{name: x, width: 1}]}]\n",
               pairs, COUNT_OF(pairs));
}

/* A document that may not fit BSON's int32 is none; the next record is one again. */
/* Widths count bytes. A record whose columns were counted in characters is rejected, not read wrongly; one whose were
 * counted in bytes is read. */
TEST(characters_of_several_bytes) {
    static const struct {
        const char *record;
        uint32_t column; /* of the reject; 0: a document */
    } cases[] = {
        {"ab12x", 0},
        {"\xC3\xA9\x31\x32x", 0},      /* counted in bytes */
        {"\xC3\xA9\x62\x31\x32x", 1},  /* counted in characters: the x is left over */
        {"a\xE2\x82\xAC\x31\x32x", 2}, /* two are left over */
        {"a\xC3\xA9\x31\x32xADD#", 2}, /* with a tail */
        {"\xC3\xA9\x31\x32xADD#", 0},  /* the tail is in its place */
        {"\xC3\xA9\x31\x32xREM#", 1},  /* what stands there is unknown */
        {"ab12xREM\xC3\xA9", 0},       /* the fixed part is in its place */
        {"a\xE9\x31\x32xREM", 0},      /* Latin-1: a byte is a character */
        {"ab12\xC3\xA9", 5},           /* a character reaches over the end of the fixed part */
    };
    format_lab_t lab =
        lab_open(lab_schema("format: x\nrecord: {fixed: 5}\nfields: [{name: a, width: 2}, {name: b, "
                            "width: 2, type: int}, {name: c, width: 1}]\n"
                            "tail: [{marker: ADD, name: more, repeat: [{name: d, width: 1}]}]\n"),
                 "", 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        lab_records_t all = lab_file(&lab, cases[i].record, strlen(cases[i].record), false);
        assert_int_equal(all.count, 1);
        if ((all.records[0].parsed == PARSED_REJECT) != (cases[i].column > 0))
            fail_msg("case %zu", i);
        if (cases[i].column) {
            assert_int_equal(all.records[0].record.column, cases[i].column);
            assert_non_null(strstr(all.records[0].reason, "count bytes"));
        }
        lab_records_free(&all);
    }
    lab_close(&lab);
}

TEST(too_large) {
    grown_t yaml = {0}, text = {0};
    char line[200];
    grown_text(
        &yaml,
        "format: x\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail: [{marker: +, sections: yes}]\n"
        "sections: [{ids: AA1, name: s, fields: [");
    for (int i = 0; i < 200; i++) {
        snprintf(line, sizeof line, "%s{name: " KEY31 KEY31 KEY31 "%d, width: 1}", i ? ", " : "", i);
        grown_text(&yaml, line);
    }
    grown_text(&yaml, "]}]\n");
    format_lab_t lab = lab_open(lab_schema((const char *)yaml.at), "", 0);
    memset(line, '.', sizeof line);
    grown_text(&text, "x+");
    for (int i = 0; i < 200000; i++) { /* 40 MB, which could become 5 GB */
        grown_text(&text, "AA1");
        grown_add(&text, line, 200);
    }
    grown_text(&text, "\ny\n");
    lab_records_t all = lab_file(&lab, text.at, text.size, false);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.records[0].parsed, PARSED_REJECT);
    assert_non_null(strstr(all.records[0].reason, "larger than 1 GiB"));
    assert_int_equal(all.records[1].parsed, PARSED_DOCUMENT);
    lab_records_free(&all);
    lab_close(&lab);
    grown_free(&yaml);
    grown_free(&text);
}
