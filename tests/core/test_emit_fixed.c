/* emit, records by width: documents that make a record, and those from elsewhere that cannot: a sentence, and
 * never a record that says something else. */
#include "format_lab.h"
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
static const char *emitted(const format_lab_t *lab, const char *json, err_t *err) {
    static char out[2000];
    const uint8_t *record;
    size_t length;
    bson_t *document = lab_value(json);
    *err = (err_t){.text = ""};
    bool ok = emit_record(lab->emit, &lab->dialect, document, NULL, &record, &length, err);
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
    format_lab_t lab = lab_open(lab_schema(yaml), "", 0);
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
    lab_close(&lab);
}

/* Odd values in every place of a document: there is no record for it, or one that is read as that document. */
TEST(odd_values) {
    static const char *const places[] = {
        "@",
        "{\"x\":@}",
        PLAIN(",\"x\":@"),
        DOC_OF("", "\"text\":@,", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("", "", "@", "1", "20", "3.5", "4.0", ""),
        DOC_OF("", "", "\"c\"", "@", "20", "3.5", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "@", "3.5", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "@", "4.0", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "3.5", "@", ""),
        DOC_OF("", "", "\"c\"", "1", "20", "3.5", "4.0", ",\"count\":@"),
        DOC_OF("\"ts\":@,", "", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("\"hour24\":@,", "", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("\"ts\":{\"$date\":{\"$numberLong\":\"60000\"}},\"hour24\":@,", "", "\"c\"", "1", "20", "3.5",
               "4.0", ""),
        DOC_OF("\"p\":@,", "", "\"c\"", "1", "20", "3.5", "4.0", ""),
        DOC_OF("\"p\":{\"type\":\"Point\",\"coordinates\":[0.0,@]},", "", "\"c\"", "1", "20", "3.5", "4.0",
               ""),
        PLAIN(",\"s\":@"),
        PLAIN(",\"s\":[@]"),
        PLAIN(",\"s\":[{\"id\":@,\"x\":\"a\"}]"),
        PLAIN(",\"s\":[{\"id\":\"AA1\",\"x\":@}]"),
        PLAIN(",\"s\":[{\"id\":\"AA1\",\"x\":\"a\",\"y\":@}]"),
        PLAIN(",\"s\":[{\"id\":\"AA2\",\"x\":\"b\"},{\"id\":\"AA1\",\"x\":\"a\"}],\"order\":@"),
        PLAIN(",\"s\":[{\"id\":\"AA1\",\"x\":\"a\"}],\"order\":@"),
        PLAIN(",\"order\":@"),
        PLAIN(",\"one\":@"),
        PLAIN(",\"one\":{\"id\":@}"),
        PLAIN(",\"r\":@"),
        PLAIN(",\"r\":[@]"),
        PLAIN(",\"r\":[{\"k\":@,\"t\":\"a\"}]"),
        PLAIN(",\"r\":[{\"k\":\"A\",\"v\":@,\"t\":\"a\"}]"),
        PLAIN(",\"r\":[{\"k\":\"A\",\"t\":@}]"),
        PLAIN(",\"unparsed\":@"),
        PLAIN(",\"unparsed\":{\"at\":@,\"text\":\"?\"}"),
        PLAIN(",\"unparsed\":{\"at\":40,\"text\":@}"),
    };
    static const char *const odd[] = {
        "{}",
        "[]",
        "[7]",
        "[{}]",
        "[\"AA1\"]",
        "[\"AA2\",\"AA1\"]",
        "[\"AA2\",\"AA1\",\"AA1\"]",
        "[0.0,0.0]",
        "{\"a\":1}",
        "{\"id\":\"AA1\",\"x\":\"a\"}",
        "{\"x\":\"99\"}",
        "null",
        "true",
        "false",
        "\"\"",
        "\"a\"",
        "\"AB\"",
        "\"c \"",
        "\"abc\"",
        "\"abcd\"",
        "\"999\"",
        "\"--\"",
        "\"01\"",
        "\"a\\nb\"",
        "\"AA10\"",
        "\"AB1\"",
        "\"0123456789\"",
        "\"##AA1x\"",
        "0",
        "7",
        "25",
        "39",
        "40",
        "41",
        "-1",
        "100",
        "-2147483648",
        "2147483647",
        "{\"$numberLong\":\"1\"}",
        "1.0",
        "-0.0",
        "-3.5",
        "3.55",
        "90.1",
        "180.1",
        "100.0",
        "-100.0",
        "1e300",
        "5e-324",
        "{\"$numberDouble\":\"NaN\"}",
        "{\"$numberDouble\":\"-Infinity\"}",
        "{\"$date\":{\"$numberLong\":\"1\"}}",
        "{\"$date\":{\"$numberLong\":\"253402300800000\"}}",
        "{\"$date\":{\"$numberLong\":\"-9223372036854775808\"}}",
        "{\"$binary\":{\"base64\":\"YWJj\",\"subType\":\"00\"}}",
        "{\"$binary\":{\"base64\":\"////\",\"subType\":\"05\"}}",
        "{\"type\":\"Point\",\"coordinates\":[0,0]}",
        "{\"coordinates\":[0.0,0.0],\"type\":\"Point\"}",
    };
    enum { PLACES = sizeof places / sizeof *places, ODD = sizeof odd / sizeof *odd };
    format_lab_t lab = lab_open(lab_schema(yaml), "", 0);
    size_t refused = 0;
    for (size_t i = 0; i < PLACES; i++)
        for (size_t j = 0; j < ODD; j++) {
            char json[600];
            err_t err;
            const size_t before = strcspn(places[i], "@");
            if (!before && odd[j][0] != '{')
                continue;
            snprintf(json, sizeof json, "%.*s%s%s", (int)before, places[i], odd[j], places[i] + before + 1);
            const char *is = emitted(&lab, json, &err);
            if (is)
                assert_true(lab_is(&lab, is, strlen(is), json));
            else if (err.status != STATUS_INPUT || strlen(err.text) < 20)
                fail_msg("%s: %s", json, err.text);
            refused += !is;
        }
    assert_true(refused > PLACES * ODD * 9 / 10);
    lab_close(&lab);
}

/* What a refusal says. */
TEST(sentences) {
    static const char listed[] =
        "format: left\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail: [{marker: REM, name: r, "
        "leaveOut: yes, repeat: [{name: x, width: 1}]}]\n";
    format_lab_t lab = lab_open(lab_schema(yaml), "", 0);
    err_t err;
    assert_null(emitted(&lab, "{}", &err));
    assert_non_null(strstr(err.text, "no record of"));
    lab_close(&lab);
    lab = lab_open(lab_schema(listed), "", 0);
    assert_null(emitted(&lab, "{\"a\":\"x\"}", &err));
    assert_non_null(strstr(err.text, "leaveOut"));
    lab_close(&lab);
}

/* Line ends are the caller's; a record's own carriage return needs one of two bytes behind it, or none. */
TEST(line_ends) {
    static const char *const texts[] = {"00ab\n",    "00ab\r\n", "00ab",    "00ab\r",
                                        "00a\r\r\n", "00a\r\r",  "00\r\r\r"};
    format_lab_t lab =
        lab_open(lab_schema("format: x\nrecord: {fixed: 4}\nfields: [{name: n, width: 2, type: "
                            "length}, {name: a, width: 2}]\n"),
                 "", 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lab_records_t all = lab_file(&lab, texts[i], strlen(texts[i]), true);
        const uint8_t *record;
        size_t length;
        err_t err = {.text = ""};
        assert_int_equal(all.count, 1);
        assert_int_equal(all.records[0].record.length, 4);
        bson_t document;
        lab_document(all.records, &document);
        assert_true(
            emit_record(lab.emit, &lab.dialect, &document, &all.records[0].shape, &record, &length, &err));
        assert_int_equal(length, 4);
        assert_memory_equal(record, texts[i], 4);
        lab_records_free(&all);
    }
    lab_close(&lab);
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
    format_lab_t lab = lab_open(lab_schema("format: x\nrecord: {fixed: 1}\nfields: [{name: a, width: "
                                           "1}]\ntail: [{marker: +, sections: yes, list: "
                                           "ids}]\nsections: [{ids: AA1-AA4, name: s, fields: [{name: x, "
                                           "width: 1}]}, {ids: AB1, name: t, fields: "
                                           "[{name: x, width: 1}]}]\n"),
                                "", 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(lab_is(&lab, cases[i].record, strlen(cases[i].record), cases[i].json));
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
    lab_close(&lab);
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
        format_lab_t lab = lab_open(lab_schema(formats[f]), "", 0);
        grown_t text = {0};
        grown_text(&text, "x+");
        for (size_t i = 0; i < MANY; i++)
            grown_text(&text, i < MANY / 2 ? "AB1b" : "AA1a");
        lab_records_t all = lab_file(&lab, text.at, text.size, true);
        const uint8_t *record;
        size_t length;
        err_t err = {.text = ""};
        assert_int_equal(all.count, 1);
        bson_t document;
        lab_document(all.records, &document);
        assert_true(
            emit_record(lab.emit, &lab.dialect, &document, &all.records[0].shape, &record, &length, &err));
        assert_int_equal(length, text.size);
        assert_memory_equal(record, text.at, length);
        lab_records_free(&all);
        grown_free(&text);
        lab_close(&lab);
    }
}
