/* emit, records by width: each record becomes its document, and the document the record again. */
#include "format_lab.h"
#include "test.h"

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

/* Line ends are the caller's; a record's own carriage return needs one of two bytes after it, or none. */
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

/* Lists of identifiers, including those that only their family knows. */
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
