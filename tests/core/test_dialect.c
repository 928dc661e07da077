/* dialect: what a file's first bytes say about it: every layout and release of the published files, and
 * worse. */
#include "base/chars.h"
#include "format/cut/split.h"
#include "format/record/dialect.h"
#include "format/schema/schema.h"
#include "format_lab.h"
#include "test.h"

/* The text before, of whatever test, changes nothing; nor does the same text. */
static void sniff_again(const schema_t *schema, const uint8_t *text, size_t length,
                        const dialect_t *dialect) {
    static dialect_before_t before;
    static char digest[sizeof schema->digest];
    dialect_t again;
    err_t err;
    text_t unknown[3] = {0};
    if (strcmp(digest, schema->digest) != 0)
        before.length = 0;
    memcpy(digest, schema->digest, sizeof digest);
    for (int i = 0; i < 3; i++) { /* without another text, after one, and after itself */
        const dialect_head_t head = {text, length, .quiet = true, .unknown = &unknown[i],
                                     .before = i ? &before : NULL};
        assert_true(dialect_sniff_head(schema, &head, "f.csv", &again, &err));
        assert_memory_equal(&again, dialect, sizeof again);
        assert_int_equal(unknown[i].length, unknown[0].length);
    }
    for (int i = 0; i < 3; i++)
        text_free(&unknown[i]);
}

/* In memory of exactly its size: a dialect is found without any slack. */
static bool sniff(const schema_t *schema, const void *text, size_t length, dialect_t *dialect, err_t *err) {
    uint8_t *exact = malloc(length ? length : 1);
    LAB_MUST(exact);
    if (length)
        memcpy(exact, text, length);
    memset(dialect, 0xA5, sizeof *dialect);
    bool ok = dialect_sniff(schema, exact, length, "f.csv", dialect, err);
    if (ok)
        sniff_again(schema, exact, length, dialect);
    free(exact);
    return ok;
}

static void columns_of(const schema_t *schema, const dialect_t *dialect, char *out, size_t room) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < dialect->columns; i++)
        used += (size_t)snprintf(
            out + used, room - used, "%s%s", i ? "," : "",
            dialect->field_of[i] == DIALECT_NO_FIELD ? "-" : schema->fields[dialect->field_of[i]].name);
    for (size_t i = 0; i < schema->field_count; i++)
        if (dialect->column_of[i] != DIALECT_NO_FIELD)
            assert_int_equal(dialect->field_of[dialect->column_of[i]], i);
}

typedef struct {
    const char *text;
    char delimiter;
    bool header;
    const char *columns;
} case_t;

static void expect(const schema_t *schema, const case_t *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        dialect_t dialect;
        err_t err = {.text = ""};
        char columns[2000];
        if (!sniff(schema, cases[i].text, strlen(cases[i].text), &dialect, &err))
            fail_msg("%s\n%s", cases[i].text, err.text);
        columns_of(schema, &dialect, columns, sizeof columns);
        if (dialect.delimiter != cases[i].delimiter || dialect.header != cases[i].header ||
            strcmp(columns, cases[i].columns) != 0)
            fail_msg("%s\nis taken for: delimiter %c, header %d, columns %s", cases[i].text,
                     dialect.delimiter, dialect.header, columns);
    }
}

#define COMMA_HEADER                                                                                         \
    "test_id,vehicle_id,test_date,test_class_id,test_type,test_result,test_mileage,postcode_area,make,"      \
    "model,"                                                                                                 \
    "colour,fuel_type,cylinder_capacity,first_use_date"
#define OLD_HEADER                                                                                           \
    "TESTID|VEHICLEID|TESTDATE|TESTCLASSID|TESTTYPE|TESTRESULT|TESTMILEAGE|POSTCODEREGION|MAKE|MODEL|"       \
    "COLOUR|"                                                                                                \
    "FUELTYPE|CYLCPCTY|FIRSTUSEDATE"
#define QUOTED_HEADER                                                                                        \
    "\"test_id\",\"vehicle_id\",\"test_date\",\"test_class_id\",\"test_type\",\"test_result\","              \
    "\"test_mileage\",\"postcode_area\",\"make\",\"model\",\"colour\",\"fuel_type\",\"cylinder_capacity\","  \
    "\"first_use_date\""

/* A record whose quote is open does not say how many columns there are: it may go on, or is a reject. */
TEST(open_quotes) {
    schema_t *schema =
        lab_schema("format: x\nrecord: {delimiter: [\"|\", \",\"], header: no}\n"
                   "fields: [{name: a}, {name: b}, {name: c}]\nlayouts: [[a, b, c], [a, b]]\n");
    const case_t cases[] = {
        {"1|\"x\n", '|', false, "a,b,c"},
        {"1|\"x", '|', false, "a,b,c"},
        {"1|\"x\nmore\n2|y\n", '|', false, "a,b"},
        {"1|2|3\n4|\"x\n5|\"y\n", '|', false, "a,b,c"},
    };
    expect(schema, cases, sizeof cases / sizeof *cases);
    schema_destroy(schema);
}

static void refuse(const schema_t *schema, const char *text, const char *place, const char *says) {
    dialect_t dialect;
    err_t err = {.text = ""};
    if (sniff(schema, text, strlen(text), &dialect, &err))
        fail_msg("this is taken: %s", text);
    assert_int_equal(err.status, STATUS_INPUT);
    if (strncmp(err.text, place, strlen(place)) != 0 || !strstr(err.text, says))
        fail_msg("%s\nis not at %s or does not say %s", err.text, place, says);
    text_t unknown = {0}; /* adding the other columns would not help where one is missing */
    const dialect_head_t head = {(const uint8_t *)text, strlen(text), .quiet = true, .unknown = &unknown};
    assert_false(dialect_sniff_head(schema, &head, "f.csv", &dialect, &err));
    if (strstr(err.text, "no column '"))
        assert_int_equal(unknown.length, 0);
    text_free(&unknown);
}

static parsed_t line_of(const schema_t *schema, const dialect_t *dialect, const uint8_t *line,
                        size_t length) {
    split_t *split = calloc(1, sizeof *split);
    const char *reason;
    assert_non_null(split);
    const parsed_t found = dialect_line(schema, dialect, split, line, length, &reason);
    split_free(split);
    free(split);
    return found;
}

static void expect_line(parsed_t expected, const schema_t *schema, const dialect_t *dialect,
                        const char *line) {
    const parsed_t found = line_of(schema, dialect, (const uint8_t *)line, strlen(line));
    if (found != expected)
        fail_msg("'%s' is %d, not %d", line, found, expected);
}

TEST(header_lines) {
    err_t err;
    dialect_t dialect;
    schema_t *mot = lab_builtin("mot");
    assert_true(sniff(mot, COMMA_HEADER "\n", strlen(COMMA_HEADER) + 1, &dialect, &err));
    expect_line(PARSED_HEADER, mot, &dialect, COMMA_HEADER);
    expect_line(PARSED_HEADER, mot, &dialect, QUOTED_HEADER);
    expect_line(PARSED_OTHER_HEADER, mot, &dialect, OLD_HEADER);
    expect_line(PARSED_OTHER_HEADER, mot, &dialect, COMMA_HEADER ",completed_date");
    expect_line(PARSED_OTHER_HEADER, mot, &dialect, "test_id,vehicle_id");
    expect_line(PARSED_REJECT, mot, &dialect, "test_id,something");
    expect_line(PARSED_REJECT, mot, &dialect, "test_id");
    expect_line(PARSED_DOCUMENT, mot, &dialect, "test_ident,2");
    expect_line(PARSED_DOCUMENT, mot, &dialect, "1,test_id");
    expect_line(PARSED_DOCUMENT, mot, &dialect, " test_id,2");
    expect_line(PARSED_DOCUMENT, mot, &dialect, "");
    expect_line(PARSED_DOCUMENT, mot, &dialect, "\"test_id,2");
    /* a file without a header is read by a layout: a header of that layout may stand in it, and no other */
    char line[400] = "1|2|3|4|5|6|7|8|9|10|11|12|13|14\n", other[400];
    assert_true(sniff(mot, line, strlen(line), &dialect, &err));
    assert_false(dialect.header);
    snprintf(line, sizeof line, "%s", COMMA_HEADER);
    for (char *at = line; (at = strchr(at, ','));)
        *at = '|';
    expect_line(PARSED_HEADER, mot, &dialect, line);
    snprintf(other, sizeof other, "%s|completed_date", line);
    expect_line(PARSED_OTHER_HEADER, mot, &dialect, other);
    expect_line(PARSED_OTHER_HEADER, mot, &dialect, COMMA_HEADER);
    schema_destroy(mot);
    /* header: no: nothing is one */
    schema_t *none =
        lab_schema("format: x\nrecord: {delimiter: \",\", header: no}\nfields: [{name: a}, {name: b}]\n");
    assert_true(sniff(none, "a,b\n1,2\n", 8, &dialect, &err));
    assert_false(dialect.header);
    expect_line(PARSED_DOCUMENT, none, &dialect, "a,b");
    schema_destroy(none);
    /* header: yes: the first line is one, and the same line again */
    schema_t *yes = lab_schema("format: x\nrecord: {delimiter: [\";\", \",\"], header: yes}\nfields: [{name: "
                               "a}, {name: b, optional: yes}]\n");
    assert_true(sniff(yes, "b,a\n1,2\n", 8, &dialect, &err));
    assert_true(dialect.header);
    assert_int_equal(dialect.delimiter, ',');
    assert_int_equal(dialect.column_of[0], 1);
    assert_int_equal(dialect.column_of[1], 0);
    expect_line(PARSED_HEADER, yes, &dialect, "b,a");
    expect_line(PARSED_HEADER, yes, &dialect, "\"B\", a");
    expect_line(PARSED_OTHER_HEADER, yes, &dialect, "a,b");
    expect_line(PARSED_OTHER_HEADER, yes, &dialect, "b,a,");
    expect_line(PARSED_DOCUMENT, yes, &dialect, "a,c"); /* some texts that columns are called, too */
    expect_line(PARSED_DOCUMENT, yes, &dialect, "b,b");
    expect_line(PARSED_DOCUMENT, yes, &dialect, "b");
    refuse(yes, "b,c\n", "f.csv:1", "'a'");
    assert_true(sniff(yes, "b,x,a\n1,2,3\n", 12, &dialect, &err)); /* x is reported each time */
    schema_destroy(yes);
}

TEST(print_and_read) {
    schema_t *item = lab_builtin("mot-item");
    dialect_t dialect, back;
    err_t err;
    text_t line = {0};
    assert_true(sniff(item, "1|2|A|7|\n", 9, &dialect, &err));
    dialect_print(&dialect, &line);
    assert_string_equal(line.bytes, "delimiter=7c columns=0,1,2,3,7");
    text_free(&line);
    assert_true(dialect_read(item, "delimiter=7c columns=0,1,2,3,7 file=a.csv -- and so on\n", &back));
    assert_true(back.hash == dialect.hash && back.columns == 5);
    assert_memory_equal(back.column_of, dialect.column_of, sizeof back.column_of);
    static const char *const bad[] = {"",
                                      "delimiter=7c",
                                      "columns=0",
                                      "delimiter=zz columns=0",
                                      "delimiter=7c columns=",
                                      "delimiter=7c columns=nobody",
                                      "delimiter=7c columns=0,nobody",
                                      "delimiter=7c columns=0,,1",
                                      "delimiter=7c columns=0,1,0",
                                      "delimiter=7c columns=9",
                                      "delimiter=7c columns=0,99999999999999999999",
                                      "delimiter=7c columns=-1",
                                      "delimiter=7c columns=+1",
                                      "delimiter=7c columns=0x1",
                                      "delimiter=7c columns=1x",
                                      "delimiter=7c columns=1.5",
                                      "delimiter=ff columns=0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (dialect_read(item, bad[i], &dialect))
            fail_msg("this is taken: %s", bad[i]);
    grown_t many = {0};
    grown_text(&many, "delimiter=7c columns=-");
    for (int i = 0; i < 3 * SCHEMA_MOST_FIELDS; i++)
        grown_text(&many, ",-");
    assert_false(dialect_read(item, (const char *)many.at, &dialect));
    grown_free(&many);
    schema_destroy(item);
}
