/* emit, records by width: each record becomes its document, and the document the record again. */
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
        char record[200];
        record_of(record, cases[i].tail);
        assert_true(lab_is(&lab, record, strlen(record), cases[i].json));
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_true(lab_is(&lab, parts[i].record, strlen(parts[i].record), parts[i].json));
    lab_close(&lab);
}

/* Records of which a part is left out do not come back. */
TEST(left_out) {
    schema_t *schema =
        lab_schema("format: left\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail: [{marker: REM, "
                   "name: r, leaveOut: yes, repeat: [{name: x, width: 1}]}]\n");
    err_t err;
    assert_false(emit_possible(schema, &err));
    assert_non_null(strstr(err.text, "leaveOut"));
    schema_destroy(schema);
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
