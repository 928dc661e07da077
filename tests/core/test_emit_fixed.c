/* emit, records by width: documents that make a record, and those from elsewhere that cannot: a sentence, and
 * never a record that says something else. */
#include "base/clock.h"
#include "fixed_lab.h"
#include "test.h"

static const char yaml[] =
    "format: x\nrecord: {fixed: 40}\nfields:\n"
    "  - {name: count, width: 2, type: length}\n"
    "  - {name: text, width: 3, nulls: \"999\"}\n"
    "  - {name: code, width: 2, type: trimmed}\n"
    "  - {name: i, width: 2, type: int}\n"
    "  - {name: tens, width: 2, type: int, sign: always, multiply: 10}\n"
    "  - {name: n, width: 3, type: number, divide: 10}\n"
    "  - {name: g.m, width: 3, type: number, sign: minus}\n"
    "  - {name: date, width: 8, nulls: \"99999999\"}\n"
    "  - {name: time, width: 4, nulls: \"9999\"}\n"
    "  - {name: lat, width: 5, type: number, sign: always, divide: 10, nulls: \"+9999\"}\n"
    "  - {name: lon, width: 6, type: number, sign: always, divide: 10, nulls: \"+99999\"}\n"
    "make: [{ts: utc, from: [date, time]}, {p: point, from: [lat, lon]}]\n"
    "tail:\n"
    "  - {marker: \"##\", sections: yes}\n"
    "  - {marker: \"REM\", name: r, repeat: [{name: k, width: 1, is: \"[A-Z]\"}, {name: v, width: 2, nulls: "
    "\"--\"}, {name: t, "
    "lengthWidth: 1}]}\n"
    "sections:\n"
    "  - {ids: AA1-AA4, name: s, fields: [{name: x, width: 1}]}\n"
    "  - {ids: AB1, name: one, fields: [{name: x, width: 2, nulls: \"99\"}]}\n";

/* A document with everything that has no null; `with` stands behind the fixed part's keys. */
#define DOC_OF(made, text, code, i, tens, n, m, with)                                                        \
    "{" made text "\"code\":" code ",\"i\":" i ",\"tens\":" tens ",\"n\":" n ",\"g\":{\"m\":" m "}" with "}"
#define PLAIN(with) DOC_OF("", "", "\"c\"", "1", "20", "3.5", "4.0", with)

/* The record of PLAIN(...). */
static void record_of(char *out, const char *tail) {
    sprintf(out, "%02u999c 01+2035004999999999999+9999+99999%s", (unsigned)strlen(tail), tail);
}

/* What is emitted, or NULL with the sentence in err. */
static const char *emitted(const fixed_lab_t *lab, const char *json, err_t *err) {
    static char out[2000];
    dialect_t dialect = {.columns = 0};
    const uint8_t *record;
    size_t length;
    bson_t *document = fixed_lab_json(json);
    *err = (err_t){.text = ""};
    bool ok = emit_record(lab->emit, &dialect, document, NULL, &record, &length, err);
    bson_destroy(document);
    if (!ok)
        return NULL;
    LAB_MUST(length < sizeof out);
    memcpy(out, record, length);
    out[length] = '\0';
    return out;
}

TEST(records) {
    static const struct {
        const char *json, *tail;
    } cases[] = {
        {PLAIN(""), ""},
        {PLAIN(",\"s\":[{\"id\":\"AA1\",\"x\":\"a\"},{\"id\":\"AA2\",\"x\":\"b\"}]"), "##AA1aAA2b"},
        {PLAIN(",\"s\":[{\"id\":\"AA2\",\"x\":\"b\"},{\"id\":\"AA1\",\"x\":\"a\"}],\"order\":[\"AA2\","
               "\"AA1\"]"),
         "##AA2bAA1a"},
        {PLAIN(",\"one\":{}"), "##AB199"},
        {PLAIN(",\"one\":{\"id\":\"AB3\",\"x\":\"zz\"}"), "##AB3zz"},
        {PLAIN(",\"r\":[{\"k\":\"A\",\"t\":\"\"},{\"k\":\"B\",\"v\":\"vv\",\"t\":\"abc\"}]"),
         "REMA--0Bvv3abc"},
        {PLAIN(",\"one\":{},\"r\":[{\"k\":\"A\",\"t\":\"\"}],\"unparsed\":{\"at\":47,\"text\":\"?\"}"),
         "##AB199?REMA--0"},
        {PLAIN(",\"unparsed\":{\"at\":40,\"text\":\"REM??\"}"), "REM??"},
        {PLAIN(",\"r\":[{\"k\":\"A\",\"t\":\"\"}],\"unparsed\":{\"at\":40,\"text\":\"REM??\"}"), "REM??A--0"},
    };
    static const struct {
        const char *json, *record;
    } parts[] = {
        {DOC_OF("", "\"text\":\"abc\",", "\"c\"", "1", "20", "3.5", "4.0", ""),
         "00abcc 01+2035004999999999999+9999+99999"},
        {DOC_OF("\"ts\":{\"$date\":{\"$numberLong\":\"0\"}},", "", "\"\"", "99", "-90", "99.9", "-9.0", ""),
         "00999  99-9999-09197001010000+9999+99999"},
        {DOC_OF("\"ts\":{\"$date\":{\"$numberLong\":\"0\"}},\"hour24\":true,", "", "\"c\"", "1", "20", "3.5",
                "-0.0", ""),
         "00999c 01+2035-00196912312400+9999+99999"},
        {DOC_OF("\"p\":{\"type\":\"Point\",\"coordinates\":[-180.0,0.1]},", "", "\"c\"", "\"x1\"", "\"+x\"",
                "\"1.5\"", "\"   \"", ""),
         "00999c x1+x1.5   999999999999+0001-01800"},
        {"{\"count\":7,\"code\":\"c\",\"i\":1,\"tens\":20,\"n\":3.5,\"g\":{\"m\":4.0}}",
         "07999c 01+2035004999999999999+9999+99999"},
    };
    fixed_lab_t lab = fixed_lab_of(lab_schema(yaml));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[200];
        err_t err;
        record_of(expected, cases[i].tail);
        const char *is = emitted(&lab, cases[i].json, &err);
        if (!is)
            fail_msg("%s: %s", cases[i].json, err.text);
        assert_string_equal(is, expected);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        err_t err;
        const char *is = emitted(&lab, parts[i].json, &err);
        if (!is)
            fail_msg("%s: %s", parts[i].json, err.text);
        assert_string_equal(is, parts[i].record);
    }
    fixed_lab_end(&lab);
}

TEST(refusals) {
    static const char *const cases[] = {
        "{}",
        "{\"x\":1}",
        PLAIN(",\"x\":1"),                                                    /* a key that no record has */
        DOC_OF("", "\"text\":\"ab\",", "\"c\"", "1", "20", "3.5", "4.0", ""), /* not as wide as its field */
        DOC_OF("", "\"text\":\"abcd\",", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("", "\"text\":\"999\",", "\"c\"", "1", "20", "3.5", "4.0", ""), /* the null, and yet there */
        DOC_OF("", "\"text\":\"a\\nb\",", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("", "\"text\":7,", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("", "\"text\":null,", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("", "\"text\":{\"a\":1},", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("", "\"text\":[\"abc\"],", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("", "\"text\":{\"$binary\":{\"base64\":\"YWJj\",\"subType\":\"00\"}},", "\"c\"", "1", "20",
               "3.5", "4.0", ""), /* bytes that are text after all */
        DOC_OF("", "\"text\":{\"$binary\":{\"base64\":\"////\",\"subType\":\"05\"}},", "\"c\"", "1", "20",
               "3.5", "4.0", ""),
        DOC_OF("", "", "\"c \"", "1", "20", "3.5", "4.0", ""), /* a code has no blanks behind it */
        DOC_OF("", "", "\"abc\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("", "", "5", "1", "20", "3.5", "4.0", ""),
        DOC_OF("", "", "\"c\"", "100", "20", "3.5", "4.0", ""),
        DOC_OF("", "", "\"c\"", "-1", "20", "3.5", "4.0", ""), /* no place for a sign */
        DOC_OF("", "", "\"c\"", "1.0", "20", "3.5", "4.0", ""),
        DOC_OF("", "", "\"c\"", "{\"$numberLong\":\"1\"}", "20", "3.5", "4.0", ""),
        DOC_OF("", "", "\"c\"", "\"01\"", "20", "3.5", "4.0", ""), /* a number, as text */
        DOC_OF("", "", "\"c\"", "true", "20", "3.5", "4.0", ""),
        DOC_OF("", "", "\"c\"", "-2147483648", "20", "3.5", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "25", "3.5", "4.0", ""), /* no ten */
        DOC_OF("", "", "\"c\"", "1", "100", "3.5", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "-2147483648", "3.5", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "3.55", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "-3.5", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "-0.0", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "100.0", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "1e300", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "-1e300", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "5e-324", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "{\"$numberDouble\":\"NaN\"}", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "{\"$numberDouble\":\"Infinity\"}", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "{\"$numberDouble\":\"-Infinity\"}", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "4", "4.0", ""), /* int32 where doubles are */
        DOC_OF("", "", "\"c\"", "1", "20", "3.5", "-100.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "3.5", "4.0", ",\"count\":-1"),
        DOC_OF("", "", "\"c\"", "1", "20", "3.5", "4.0", ",\"count\":100"),
        /* moments */
        DOC_OF("\"ts\":{\"$date\":{\"$numberLong\":\"1\"}},", "", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("\"ts\":{\"$date\":{\"$numberLong\":\"30000\"}},", "", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("\"ts\":{\"$date\":{\"$numberLong\":\"9223372036854775807\"}},", "", "\"c\"", "1", "20", "3.5",
               "4.0", ""),
        DOC_OF("\"ts\":{\"$date\":{\"$numberLong\":\"-9223372036854775808\"}},", "", "\"c\"", "1", "20",
               "3.5", "4.0", ""),
        DOC_OF("\"ts\":{\"$date\":{\"$numberLong\":\"-9223372036854775808\"}},\"hour24\":true,", "", "\"c\"",
               "1", "20", "3.5", "4.0", ""),
        DOC_OF("\"ts\":{\"$date\":{\"$numberLong\":\"253402300800000\"}},", "", "\"c\"", "1", "20", "3.5",
               "4.0", ""),
        DOC_OF("\"ts\":{\"$date\":{\"$numberLong\":\"-62167219260000\"}},", "", "\"c\"", "1", "20", "3.5",
               "4.0", ""),
        DOC_OF("\"ts\":{\"$date\":{\"$numberLong\":\"60000\"}},\"hour24\":true,", "", "\"c\"", "1", "20",
               "3.5", "4.0", ""),
        DOC_OF("\"ts\":{\"$date\":{\"$numberLong\":\"0\"}},\"hour24\":false,", "", "\"c\"", "1", "20", "3.5",
               "4.0", ""),
        DOC_OF("\"hour24\":true,", "", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("\"ts\":\"1970-01-01\",", "", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("\"ts\":{\"$numberLong\":\"0\"},", "", "\"c\"", "1", "20", "3.5", "4.0", ""),
        PLAIN(",\"date\":\"19700101\",\"time\":\"0000\""), /* a moment that is not made */
        /* places */
        DOC_OF("\"p\":{\"type\":\"Point\",\"coordinates\":[180.1,0.0]},", "", "\"c\"", "1", "20", "3.5",
               "4.0", ""),
        DOC_OF("\"p\":{\"type\":\"Point\",\"coordinates\":[0.0,90.1]},", "", "\"c\"", "1", "20", "3.5", "4.0",
               ""),
        DOC_OF("\"p\":{\"type\":\"Point\",\"coordinates\":[0.0,0.05]},", "", "\"c\"", "1", "20", "3.5", "4.0",
               ""),
        DOC_OF("\"p\":{\"type\":\"Point\",\"coordinates\":[0.0]},", "", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("\"p\":{\"type\":\"Point\",\"coordinates\":[0.0,0.0,0.0]},", "", "\"c\"", "1", "20", "3.5",
               "4.0", ""),
        DOC_OF("\"p\":{\"type\":\"Point\",\"coordinates\":[0,0]},", "", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("\"p\":{\"type\":\"Point\",\"coordinates\":[\"+00000\",\"+0000\"]},", "", "\"c\"", "1", "20",
               "3.5", "4.0", ""),
        DOC_OF("\"p\":{\"type\":\"Point\"},", "", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("\"p\":{\"type\":\"Line\",\"coordinates\":[0.0,0.0]},", "", "\"c\"", "1", "20", "3.5", "4.0",
               ""),
        DOC_OF("\"p\":{\"coordinates\":[0.0,0.0],\"type\":\"Point\"},", "", "\"c\"", "1", "20", "3.5", "4.0",
               ""),
        DOC_OF("\"p\":[0.0,0.0],", "", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("\"p\":{\"coordinates\":{\"0\":0.0,\"1\":0.0},\"type\":\"Point\"},", "", "\"c\"", "1", "20",
               "3.5", "4.0", ""),
        PLAIN(",\"lat\":10.0,\"lon\":10.0"),
        /* sections */
        PLAIN(",\"s\":{\"id\":\"AA1\",\"x\":\"a\"}"), /* no array */
        PLAIN(",\"s\":[]"),
        PLAIN(",\"s\":\"AA1a\""),
        PLAIN(",\"s\":[\"AA1a\"]"),
        PLAIN(",\"s\":[{\"x\":\"a\"}]"),
        PLAIN(",\"s\":[{\"id\":\"AA1\"}]"), /* without a key that is always there */
        PLAIN(",\"s\":[{\"x\":\"a\",\"id\":\"AA1\"}]"),
        PLAIN(",\"s\":[{\"id\":\"AA1\",\"x\":\"ab\"}]"),
        PLAIN(",\"s\":[{\"id\":\"AA\",\"x\":\"a\"}]"),
        PLAIN(",\"s\":[{\"id\":\"AA10\",\"x\":\"a\"}]"),
        PLAIN(",\"s\":[{\"id\":\"AB1\",\"x\":\"a\"}]"), /* of another section */
        PLAIN(",\"s\":[{\"id\":\"ZZ1\",\"x\":\"a\"}]"),
        PLAIN(",\"s\":[{\"id\":7,\"x\":\"a\"}]"),
        PLAIN(",\"s\":[{\"id\":\"AA1\",\"x\":\"a\",\"y\":1}]"),
        PLAIN(",\"s\":[{\"id\":\"AA2\",\"x\":\"b\"},{\"id\":\"AA1\",\"x\":\"a\"}]"), /* out of order without
                                                                                        saying so */
        PLAIN(",\"s\":[{\"id\":\"AA1\",\"x\":\"b\"},{\"id\":\"AA1\",\"x\":\"a\"}]"),
        PLAIN(",\"s\":[{\"id\":\"AA1\",\"x\":\"a\"}],\"order\":[\"AA1\"]"), /* saying so without need */
        PLAIN(
            ",\"s\":[{\"id\":\"AA2\",\"x\":\"b\"},{\"id\":\"AA1\",\"x\":\"a\"}],\"order\":[\"AA2\",\"AA3\"]"),
        PLAIN(
            ",\"s\":[{\"id\":\"AA2\",\"x\":\"b\"},{\"id\":\"AA1\",\"x\":\"a\"}],\"order\":[\"AA2\",\"ZZ1\"]"),
        PLAIN(",\"s\":[{\"id\":\"AA2\",\"x\":\"b\"},{\"id\":\"AA1\",\"x\":\"a\"}],\"order\":[\"AA2\"]"),
        PLAIN(",\"s\":[{\"id\":\"AA2\",\"x\":\"b\"},{\"id\":\"AA1\",\"x\":\"a\"}],\"order\":[\"AA2\",\"AA1\","
              "\"AA1\"]"),
        PLAIN(",\"s\":[{\"id\":\"AA2\",\"x\":\"b\"},{\"id\":\"AA1\",\"x\":\"a\"}],\"order\":[\"AA2\",7]"),
        PLAIN(",\"s\":[{\"id\":\"AA2\",\"x\":\"b\"},{\"id\":\"AA1\",\"x\":\"a\"}],\"order\":[\"AA2\",\"\"]"),
        PLAIN(",\"s\":[{\"id\":\"AA2\",\"x\":\"b\"},{\"id\":\"AA1\",\"x\":\"a\"}],\"order\":\"AA2AA1\""),
        PLAIN(",\"order\":[\"AA1\"]"),
        PLAIN(",\"order\":[]"),
        PLAIN(",\"one\":[{}]"),
        PLAIN(",\"one\":[{},{}]"),
        PLAIN(",\"one\":{\"id\":\"AB1\"}"), /* the listed one says none */
        PLAIN(",\"one\":{\"x\":\"99\"}"),
        PLAIN(",\"one\":null"),
        /* entries */
        PLAIN(",\"r\":[]"),
        PLAIN(",\"r\":{}"),
        PLAIN(",\"r\":\"A--0\""),
        PLAIN(",\"r\":[7]"),
        PLAIN(",\"r\":[{}]"),
        PLAIN(",\"r\":[{\"k\":\"A\"}]"),
        PLAIN(",\"r\":[{\"t\":\"a\"}]"),
        PLAIN(",\"r\":[{\"k\":\"a\",\"t\":\"a\"}]"), /* no such entry */
        PLAIN(",\"r\":[{\"k\":\"AB\",\"t\":\"a\"}]"),
        PLAIN(",\"r\":[{\"k\":\"A\",\"t\":7}]"),
        PLAIN(",\"r\":[{\"k\":\"A\",\"t\":\"0123456789\"}]"), /* longer than a length of one digit */
        PLAIN(",\"r\":[{\"k\":\"A\",\"t\":\"a\\nb\"}]"),
        PLAIN(",\"r\":[{\"k\":\"A\",\"v\":\"--\",\"t\":\"a\"}]"),
        /* gaps */
        PLAIN(",\"unparsed\":{\"at\":40,\"text\":\"\"}"),
        PLAIN(",\"unparsed\":{\"at\":41,\"text\":\"?\"}"), /* beyond the end */
        PLAIN(",\"unparsed\":{\"at\":39,\"text\":\"?\"}"),
        PLAIN(",\"unparsed\":{\"at\":0,\"text\":\"?\"}"),
        PLAIN(",\"unparsed\":{\"at\":-1,\"text\":\"?\"}"),
        PLAIN(",\"unparsed\":{\"at\":-2147483648,\"text\":\"?\"}"),
        PLAIN(",\"unparsed\":{\"at\":2147483647,\"text\":\"?\"}"),
        PLAIN(",\"unparsed\":{\"at\":40.0,\"text\":\"?\"}"),
        PLAIN(",\"unparsed\":{\"at\":{\"$numberLong\":\"40\"},\"text\":\"?\"}"),
        PLAIN(",\"unparsed\":{\"text\":\"?\"}"),
        PLAIN(",\"unparsed\":{\"at\":40}"),
        PLAIN(",\"unparsed\":{\"at\":40,\"text\":7}"),
        PLAIN(",\"unparsed\":{\"text\":\"?\",\"at\":40}"),
        PLAIN(",\"unparsed\":\"?\""),
        PLAIN(",\"unparsed\":[40,\"?\"]"),
        PLAIN(",\"unparsed\":{\"at\":40,\"text\":\"##AA1x\"}"), /* what would not be a gap */
        PLAIN(",\"unparsed\":{\"at\":40,\"text\":\"?\\n\"}"),
    };
    fixed_lab_t lab = fixed_lab_of(lab_schema(yaml));
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err;
        const char *is = emitted(&lab, cases[i], &err);
        if (is)
            print_error("%s\nmakes %s\n", cases[i], is);
        wrong += is || err.status != STATUS_INPUT || strlen(err.text) < 20;
    }
    assert_int_equal(wrong, 0);
    fixed_lab_end(&lab);
}

/* What a refusal says. */
TEST(sentences) {
    static const char listed[] =
        "format: left\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail: [{marker: REM, name: r, "
        "leaveOut: yes, repeat: [{name: x, width: 1}]}]\n";
    fixed_lab_t lab = fixed_lab_of(lab_schema(yaml));
    err_t err;
    assert_null(emitted(&lab, DOC_OF("", "", "\"c\"", "-1", "20", "3.5", "4.0", ""), &err));
    assert_non_null(strstr(err.text, "the field i never has"));
    assert_null(emitted(&lab, PLAIN(",\"s\":[{\"id\":\"AA1\",\"x\":7}]"), &err));
    assert_non_null(strstr(err.text, "the field x never has"));
    assert_null(emitted(&lab, "{}", &err));
    assert_non_null(strstr(err.text, "cannot be written"));
    fixed_lab_end(&lab);
    lab = fixed_lab_of(lab_schema(listed));
    assert_null(emitted(&lab, "{\"a\":\"x\"}", &err));
    assert_non_null(strstr(err.text, "comes after REM"));
    fixed_lab_end(&lab);
}

/* Line ends are the caller's; a record's own carriage return needs one of two bytes behind it, or none. */
TEST(line_ends) {
    static const char *const texts[] = {"00ab\n",    "00ab\r\n", "00ab",    "00ab\r",
                                        "00a\r\r\n", "00a\r\r",  "00\r\r\r"};
    fixed_lab_t lab = fixed_lab_of(lab_schema(
        "format: x\nrecord: {fixed: 4}\nfields: [{name: n, width: 2, type: length}, {name: a, width: 2}]\n"));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lab_records_t all = fixed_lab_parse(&lab, texts[i], strlen(texts[i]), true);
        dialect_t dialect = {.columns = 0};
        const uint8_t *record;
        size_t length;
        bson_t document;
        err_t err = {.text = ""};
        assert_int_equal(all.count, 1);
        assert_int_equal(all.records[0].record.length, 4);
        assert_true(
            bson_init_static(&document, all.records[0].document, all.records[0].record.document_length));
        assert_true(
            emit_record(lab.emit, &dialect, &document, &all.records[0].shape, &record, &length, &err));
        assert_int_equal(length, 4);
        assert_memory_equal(record, texts[i], 4);
        lab_records_free(&all);
    }
    fixed_lab_end(&lab);
}

/* Lists of identifiers, also of those that only their family knows. */
TEST(lists) {
    static const struct {
        const char *record, *json;
    } cases[] = {
        {"x+AA1aAB1bAA2c", "{\"a\":\"x\",\"ids\":[\"AA1\",\"AB1\",\"AA2\"],\"s\":[{\"x\":\"a\"},{\"x\":\"c\"}"
                           "],\"t\":{\"x\":\"b\"}}"},
        {"x+AB2aAA9bAB1cAB0d", "{\"a\":\"x\",\"ids\":[\"AB2\",\"AA9\",\"AB1\",\"AB0\"],\"t\":[{\"x\":\"a\"},{"
                               "\"x\":\"c\"},{\"x\":\"d\"}],\"s\":[{\"x\":"
                               "\"b\"}]}"},
        {"x+AB7?", "{\"a\":\"x\",\"ids\":[\"AB7\"],\"t\":{\"x\":\"?\"}}"},
        {"x", "{\"a\":\"x\"}"},
    };
    fixed_lab_t lab = fixed_lab_of(lab_schema("format: x\nrecord: {fixed: 1}\nfields: [{name: a, width: "
                                              "1}]\ntail: [{marker: +, sections: yes, list: "
                                              "ids}]\nsections: [{ids: AA1-AA4, name: s, fields: [{name: x, "
                                              "width: 1}]}, {ids: AB1, name: t, fields: "
                                              "[{name: x, width: 1}]}]\n"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(fixed_lab_is(&lab, cases[i].record, strlen(cases[i].record), cases[i].json));
    static const char *const refused[] = {
        "{\"a\":\"x\",\"ids\":[\"AA1\"]}",
        "{\"a\":\"x\",\"ids\":[\"AA1\",\"AA2\"],\"s\":[{\"x\":\"a\"}]}",
        "{\"a\":\"x\",\"ids\":[\"AA1\"],\"s\":[{\"x\":\"a\"},{\"x\":\"b\"}]}",
        "{\"a\":\"x\",\"ids\":[\"ZZ1\"],\"s\":[{\"x\":\"a\"}]}",
        "{\"a\":\"x\",\"ids\":[\"AB1\"],\"s\":[{\"x\":\"a\"}]}",
        "{\"a\":\"x\",\"ids\":[\"\\u0000\\u0000\\u0000\"],\"s\":[{\"x\":\"a\"}]}",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        err_t err;
        assert_null(emitted(&lab, refused[i], &err));
        assert_true(err.status == STATUS_INPUT && err.text[0]);
    }
    fixed_lab_end(&lab);
}

/* Very many sections in the worst order make no more than a sort's work. */
TEST(many_sections) {
    static const char *const formats[] = {
        "format: x\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail: [{marker: +, sections: "
        "yes}]\nsections: [{ids: "
        "AA1, name: s, fields: [{name: x, width: 1}]}, {ids: AB1, name: t, fields: [{name: x, width: 1}]}]\n",
        "format: x\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail: [{marker: +, sections: yes, "
        "list: l}]\nsections: "
        "[{ids: AA1, name: s, fields: [{name: x, width: 1}]}, {ids: AB1, name: t, fields: [{name: x, width: "
        "1}]}]\n"};
    enum { MANY = 200000 };
    for (size_t f = 0; f < 2; f++) {
        fixed_lab_t lab = fixed_lab_of(lab_schema(formats[f]));
        grown_t text = {0};
        grown_text(&text, "x+");
        for (size_t i = 0; i < MANY; i++)
            grown_text(&text, i < MANY / 2 ? "AB1b" : "AA1a");
        int64_t before = clock_now_ns();
        lab_records_t all = fixed_lab_parse(&lab, text.at, text.size, true);
        dialect_t dialect = {.columns = 0};
        const uint8_t *record;
        size_t length;
        bson_t document;
        err_t err = {.text = ""};
        assert_int_equal(all.count, 1);
        assert_true(
            bson_init_static(&document, all.records[0].document, all.records[0].record.document_length));
        assert_true(
            emit_record(lab.emit, &dialect, &document, &all.records[0].shape, &record, &length, &err));
        assert_int_equal(length, text.size);
        assert_memory_equal(record, text.at, length);
        assert_true(clock_now_ns() - before < 20000000000);
        lab_records_free(&all);
        grown_free(&text);
        fixed_lab_end(&lab);
    }
}
