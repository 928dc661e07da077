/* emit: documents back into records: the same bytes where they were written the usual way, else the same values, and a
 * refusal where the one way of writing a row cannot say it. */
#include "format/records.h"
#include "format/schema/schema.h"
#include "format_lab.h"
#include "test.h"

static void show(const char *what, const void *text, size_t length, grown_t *out) {
    grown_text(out, what);
    for (size_t i = 0; i < length; i++) {
        char byte[8];
        uint8_t c = ((const uint8_t *)text)[i];
        snprintf(byte, sizeof byte, c >= ' ' && c < 0x7F ? "%c" : "\\x%02X", c);
        grown_text(out, byte);
    }
    grown_text(out, "\n");
}

/* parse(emit(parse(text))) == parse(text). False: a document was refused. */
static bool same_values_again(format_lab_t *lab, const void *text, size_t length, grown_t *written) {
    err_t err = {.text = ""};
    lab_records_t first = lab_file(lab, text, length, true);
    grown_t both = {0};
    show("\n", text, length, &both);
    if (!lab_emit(lab->emit, &lab->dialect, &first, text, written, &err)) {
        assert_int_equal(err.status, STATUS_INPUT);
        grown_free(&both);
        lab_records_free(&first);
        return false;
    }
    lab_records_t second = lab_file(lab, written->at, written->size, false);
    show("", written->at, written->size, &both);
    if (second.count != first.count)
        fail_msg("%zu records afterwards, not %zu:%s", second.count, first.count, (char *)both.at);
    for (size_t i = 0; i < first.count; i++) {
        const lab_record_t *one = &first.records[i], *other = &second.records[i];
        if (one->parsed != other->parsed ||
            (one->parsed == PARSED_DOCUMENT && !lab_same_document(one, other)))
            fail_msg("record %zu is another one afterwards:%s", i, (char *)both.at);
    }
    grown_free(&both);
    lab_records_free(&first);
    lab_records_free(&second);
    return true;
}

static void expect(schema_t *schema, const void *text, size_t length, bool same_bytes, bool refused) {
    format_lab_t lab = lab_open(schema, text, length);
    grown_t written = {0};
    if (same_values_again(&lab, text, length, &written) == refused)
        fail_msg("%s: %s", refused ? "taken" : "refused", (const char *)text);
    if (same_bytes && (written.size != length || memcmp(written.at, text, length) != 0)) {
        grown_t both = {0};
        show("\n", text, length, &both);
        show("", written.at, written.size, &both);
        fail_msg("other bytes than before:%s", (char *)both.at);
    }
    grown_free(&written);
    lab_close(&lab);
}

#define SAME_BYTES(schema, text)  expect(schema, text, sizeof(text) - 1, true, false)
#define SAME_VALUES(schema, text) expect(schema, text, sizeof(text) - 1, false, false)
#define REFUSED(schema, text)     expect(schema, text, sizeof(text) - 1, false, true)

#define ABC                                                                                                  \
    "format: x\nrecord: {delimiter: \",\", escape: [double, backslash]}\nfields: [{name: a}, {name: b}, "    \
    "{name: c}]\n"

/* Every field of quotes, backslashes, delimiters and nothing, in every place of a row. */
TEST(every_quoting) {
    static const char *const fields[] = {
        "",      "x",       "\"",         "\"\"",       "\"\"\"\"",      "\\",       "\\\\",
        "\"x\"", "\"x,y\"", "\"x\"\"y\"", "\"x\\\"y\"", "\"x\\\"",       "\"\\\"\"", "x\"y",
        "x\"",   "\"x",     "\"x\"y",     "\"\\\\\"",   "\"x\\\\\"\"\"", " \"x\"",   "\"x\" "};
    enum { FIELDS = sizeof fields / sizeof *fields };
    static const char *const escapes[] = {"[double, backslash]", "double", "backslash", "[]"};
    unsigned refused = 0;
    for (int way = 0; way < 7; way++) {
        char yaml[200];
        snprintf(yaml, sizeof yaml,
                 "format: x\nrecord: {delimiter: \",\", escape: %s, multiline: %s, header: no}\nfields: "
                 "[{name: a}, "
                 "{name: b}]\nlayouts: [[a, b]]\n",
                 escapes[way % 4], way < 4 ? "no" : "yes");
        format_lab_t lab = lab_open(lab_schema(yaml), "1,2\n", 4);
        for (int i = 0; i < FIELDS; i++) {
            for (int j = 0; j < FIELDS; j++) {
                char row[64];
                int length = snprintf(row, sizeof row, "%s,%s\n", fields[i], fields[j]);
                grown_t written = {0};
                refused += !same_values_again(&lab, row, (size_t)length, &written);
                grown_free(&written);
            }
        }
        lab_close(&lab);
    }
    if (refused > 7 * FIELDS * FIELDS / 10)
        fail_msg("%u of %d rows are refused", refused, 7 * FIELDS * FIELDS);
}

/* Spellings of dates and numbers, in and out of their usual form. */
TEST(types) {
#define TYPES                                                                                                \
    "format: x\nrecord: {delimiter: \";\", header: no}\nfields:\n"                                           \
    "  - {name: l, type: long}\n  - {name: n, type: number}\n  - {name: p, type: number, divide: 10}\n"      \
    "  - {name: d, type: date, pattern: [DD/MM/YYYY, YYYYMMDD]}\n  - {name: w, type: datetime}\n  - {name: " \
    "t, "                                                                                                    \
    "nulls: []}\n"
    SAME_BYTES(lab_schema(TYPES), "7;1.5;125;31/12/1999;1970-01-01 00:00:01;x\n"
                                  "-7;-0;-125;19991231;1970-01-01T00:00:01.250Z;NULL\n"
                                  "9999999999;1000;x;1999-12-31;1970-01-01;NULL\n"
                                  "9223372036854775807;0.1;1;00010101;1970-01-01T00:00:01Z;\n"
                                  "0;0;5;;1970-01-01T00:00:01;\n"
                                  ";;;;;\n");
    SAME_VALUES(lab_schema(TYPES), "007;1.50;0125;31/12/1999; ;x\n"
                                   "+7;1e3;1e300;x;2024-01-01T00:00:00+01:00;x\n"
                                   " 7 ;123456789012345678901234567890;0.1;;1970-01-01T00:00:01.25Z;x\n"
                                   "1;0.1000000000000000055511151231257827;12.5;;;x\n"
                                   "1;1e-320;-0;;;x\n");
    /* zero tenths are "0", as they were */
    SAME_BYTES(lab_schema(TYPES), "1;1;0;;;x\n");
}

/* Of two hours that look alike in local time only the first one can be written. */
TEST(hours_that_are_there_twice) {
    static const char row[] = "2024-10-27 02:30:00";
    format_lab_t lab = lab_open(lab_schema("format: x\nrecord: {delimiter: \";\", header: no}\n"
                                           "timezone: Europe/Berlin\nfields:\n"
                                           "  - {name: w, type: datetime, pattern: YYYY-MM-DD hh:mm:ss}\n"),
                                row, strlen(row));
    bson_t *first = lab_value("{'w':{'$date':'2024-10-27T00:30:00Z'}}"),
           *second = lab_value("{'w':{'$date':'2024-10-27T01:30:00Z'}}");
    const shape_t shape = {.quoted = false};
    const uint8_t *written;
    size_t length;
    err_t err;
    assert_true(emit_record(lab.emit, &lab.dialect, first, &shape, &written, &length, &err));
    assert_true(length == strlen(row) && memcmp(written, row, length) == 0);
    assert_false(emit_record(lab.emit, &lab.dialect, second, &shape, &written, &length, &err));
    assert_int_equal(err.status, STATUS_INPUT);
    bson_destroy(first);
    bson_destroy(second);
    lab_close(&lab);
}

/* What reads back as something else is not given out: nulls that a value may look like. */
TEST(values_like_nulls) {
#define NULLS                                                                                                \
    "format: x\nrecord: {delimiter: \",\", header: no}\nfields:\n"                                           \
    "  - {name: a, type: int, nulls: [\"0\", \"9999\"]}\n  - {name: b, type: trimmed, nulls: [\"XX\", "      \
    "\"\"]}\n"                                                                                               \
    "  - {name: c, type: number, nulls: \"1\"}\n  - {name: d, type: date, pattern: [YYYYMMDD, YYYY-MM-DD], " \
    "nulls: \"19000101\"}\n"
    SAME_BYTES(lab_schema(NULLS), "0,XX,1,19000101\n9999,,1,19000101\n1,X,2,19000102\n");
    REFUSED(lab_schema(NULLS), "00,X,2,19000102\n");
    REFUSED(lab_schema(NULLS), " 9999,X,2,19000102\n");
    REFUSED(lab_schema(NULLS), "+0,X,2,19000102\n");
    SAME_VALUES(lab_schema(NULLS), "1, XX,2,19000102\n"); /* nothing, after trimming */
    REFUSED(lab_schema(NULLS), "1,X,1.0,19000102\n");
}

/* A record must not come out as a header or as a blank line. */
TEST(not_a_header_not_blank) {
    REFUSED(
        lab_schema("format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a, type: trimmed}, {name: b}]\n"),
        " a,5\nb,6\n");
    SAME_VALUES(lab_schema("format: x\nrecord: {delimiter: \",\", header: yes}\nfields: [{name: a, type: "
                           "trimmed}, {name: b}]\n"),
                "a,b\n a,b\n1,2\n");
    SAME_VALUES(lab_schema("format: x\nrecord: {delimiter: \",\", header: no}\nfields: [{name: a, nulls: "
                           "[\"\", NULL]}]\nlayouts: [[a]]\n"),
                "x\nNULL\ny\n");
    SAME_VALUES(
        lab_schema(
            "format: x\nrecord: {delimiter: \",\", header: no}\nfields: [{name: a}]\nlayouts: [[a]]\n"),
        "x\n\"\"\ny\n");
    SAME_VALUES(lab_schema("format: x\nrecord: {delimiter: \",\", header: no}\nfields: [{name: a, type: "
                           "trimmed}]\nlayouts: [[a]]\n"),
                "x\n   \ny\n");
    SAME_VALUES(lab_schema("format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a}, {name: b}]\n"),
                "\"a\"\"\",5\n");
}

/* Carriage returns inside of a row, and at its end. */
TEST(carriage_returns) {
    SAME_BYTES(lab_schema(ABC), "x\ry,\r,z\n");
    SAME_BYTES(lab_schema(ABC),
               "\"x,y\",y\r,z\n"); /* only at the end of a row it could be taken for a line end */
    SAME_VALUES(lab_schema(ABC), "x,y,\"z\r\"\r\n");
    SAME_VALUES(lab_schema(ABC), "x,y,\"z\r\"\n");
    SAME_VALUES(lab_schema(ABC), "x,y,z\r\r\n");
    SAME_VALUES(lab_schema("format: x\nrecord: {delimiter: \"|\", header: no}\nfields: [{name: a}, {name: b, "
                           "type: trimmed}]\n"),
                "1|x\r \n2|\r \n3|y\r");
    SAME_VALUES(
        lab_schema("format: x\nrecord: {delimiter: \"|\", header: no}\nfields: [{name: a, type: trimmed}]\n"),
        "\r \nx\r \n");
}

/* A last value of CRs, blanks and letters, in front of each line end: what is written is read as the same documents again. Only
 * delimited records without quotes may be refused. */
TEST(line_ends) {
    static const char *const records[] = {"fixed: 4}\nfields: [{name: b, width: 4",
                                          "delimiter: \"|\", header: no%s}\nfields: [{name: b",
                                          "delimiter: \"|\", header: no%s}\nfields: [{name: a}, {name: b",
                                          "delimiter: \"~~\", header: no%s}\nfields: [{name: a}, {name: b"};
    static const char *const before[] = {"", "", "a|", "a~~"}, *const ends[] = {"\n", "\r\n", "\r", ""};
    static const char *const quotes[] = {", quote: none", "", ", quote: \"'\""}, *const types[] = {"text",
                                                                                                   "trimmed"};
    for (int way = 0; way < 4 * 3 * 2; way++) {
        char yaml[200], head[100], row[32];
        snprintf(head, sizeof head, records[way % 4], quotes[way / 4 % 3]);
        snprintf(yaml, sizeof yaml, "format: x\nrecord: {%s, type: %s}]\n", head, types[way / 12]);
        format_lab_t lab = lab_open(lab_schema(yaml), "", 0);
        for (int code = 0; code < 1024; code++) {
            const char value[] = {"\0\r x"[code >> 2 & 3], "\0\r x"[code >> 4 & 3], "\0\r x"[code >> 6 & 3],
                                  "\0\r x"[code >> 8 & 3], 0};
            const int length = snprintf(row, sizeof row, way % 4 ? "%s%s%s" : "%s%-4s%s", before[way % 4],
                                        value, ends[code & 3]);
            grown_t written = {0};
            if (!same_values_again(&lab, row, (size_t)length, &written) && (way % 4 == 0 || way / 4 % 3))
                fail_msg("refused: %s: %d", yaml, code);
            grown_free(&written);
        }
        lab_close(&lab);
    }
}
