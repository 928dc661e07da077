/* numerals: numbers with a decimal comma and marks between thousands: what they become, and what is written of them. */
#include "field_lab.h"
#include "test.h"

#define INT(number)  "{'$numberInt':'" number "'}"
#define LONG(number) "{'$numberLong':'" number "'}"
#define NUM(number)  "{'$numberDouble':'" number "'}"
#define DEC(number)  "{'$numberDecimal':'" number "'}"

TEST(decimal_commas) {
    FIELD_TABLE("", ", type: number, decimal: \",\"", IS("1,5", NUM("1.5")), IS("-0,25", NUM("-0.25")),
                IS("12", NUM("12.0")), IS("1234", NUM("1234.0")), KEPT("1.5"), KEPT("1.234,5"), KEPT("1,5,"),
                KEPT(","), KEPT("1,2,3"), BACK("+1,50", NUM("1.5"), "1,5"), BACK(" 1,5 ", NUM("1.5"), "1,5"),
                BACK(",5", NUM("0.5"), "0,5"), BACK("1,5e3", NUM("1500.0"), "1500"),
                KEPT("12345678901234567890,12"), IS("-0", NUM("-0.0")));
}

TEST(thousands) {
#define GERMAN ", decimal: \",\", thousands: \".\""
    FIELD_TABLE("", ", type: number" GERMAN, IS("1.234,5", NUM("1234.5")),
                BACK("1234,5", NUM("1234.5"), "1.234,5"), IS("1.234.567", NUM("1234567.0")),
                BACK("1234567", NUM("1234567.0"), "1.234.567"), IS("-123.456,125", NUM("-123456.125")),
                IS("123", NUM("123.0")), IS("12,5", NUM("12.5")), KEPT("1.5"), KEPT("1.23"), KEPT("1.2345"),
                KEPT("1234.567"), KEPT(".123"), KEPT("1..234"), KEPT("1.234."), KEPT("1,234.5"),
                KEPT("1,234,5"), KEPT("12.34.567"), KEPT("1.2a4"), KEPT("0.001"), KEPT("012.345"),
                IS("1e20", NUM("1e+20")), IS("1,5e20", NUM("1.5e+20")));
    FIELD_TABLE("", ", type: int" GERMAN, IS("1.234", INT("1234")), IS("-1.234", INT("-1234")),
                BACK("1234", INT("1234"), "1.234"), IS("2.147.483.648", LONG("2147483648")),
                IS("7", INT("7")), KEPT("1.234,0"), KEPT("-0"), KEPT("x"));
    FIELD_TABLE("", ", type: long, thousands: \",\"", IS("1,234", LONG("1234")),
                IS("9,223,372,036,854,775,807", LONG("9223372036854775807")),
                IS("-9,223,372,036,854,775,808", LONG("-9223372036854775808")),
                KEPT("9,223,372,036,854,775,808"));
    FIELD_TABLE(
        "", ", type: decimal, thousands: \"'\"", IS("1'234'567.50", DEC("1234567.50")),
        BACK("1234567.50", DEC("1234567.50"), "1'234'567.50"),
        IS("-9'999'999'999'999'999'999'999'999'999'999'999", DEC("-9999999999999999999999999999999999")),
        IS("0.1234567890", DEC("0.1234567890")), KEPT("0.123'456"));
    FIELD_TABLE("", ", type: number, thousands: \" \", decimal: \",\"", IS("1 234,5", NUM("1234.5")),
                BACK(" 1 234,5 ", NUM("1234.5"), "1 234,5"), KEPT("1  234"), KEPT("12 34"));
    FIELD_TABLE("", ", type: number, thousands: \".\", decimal: \",\", divide: 100",
                IS("123.456", NUM("1234.56")), IS("1,5", NUM("0.015")));
}

/* For the whole record, and otherwise for one field. */
TEST(of_the_record) {
    FIELD_TABLE(GERMAN, ", type: number", IS("1.234,5", NUM("1234.5")));
    FIELD_TABLE(GERMAN, ", type: int", IS("1.234", INT("1234")));
    FIELD_TABLE(GERMAN, ", type: decimal, thousands: none", IS("1234,50", DEC("1234.50")), KEPT("1.234"));
    FIELD_TABLE(GERMAN, ", type: number, decimal: \".\", thousands: none", IS("1234.5", NUM("1234.5")),
                KEPT("1,5"));
    FIELD_TABLE(GERMAN, ", type: text", IS("1.234,5", "'1.234,5'"));
    FIELD_TABLE(", decimal: \",\"", ", type: int", IS("1234", INT("1234")), KEPT("1,0"));
}

TEST(points) {
    schema_t *schema =
        lab_schema("format: x\nrecord: {delimiter: \";\", header: no, decimal: \",\"}\n"
                   "fields: [{name: a, type: number}, {name: b, type: number, nulls: [\"\", \"1\"]}]\n"
                   "make: [{p: point, from: [a, b]}]\n");
    static const struct {
        const char *text;
        bool made;
    } rows[] = {
        {"51,5;-0,12", true}, {"51.5;0", false}, {"51,5;1,0", true}, {"51,5;1", false}, {"91,0;0", false}};
    records_t *reader = records_new(schema);
    LAB_MUST(reader);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        err_t err = {.text = ""};
        dialect_t dialect;
        bson_t document;
        bson_iter_t at;
        LAB_MUST(
            dialect_sniff(schema, (const uint8_t *)rows[i].text, strlen(rows[i].text), "f", &dialect, &err));
        lab_records_t got =
            lab_parse(reader, &dialect, rows[i].text, strlen(rows[i].text), (lab_how_t){.careful = false});
        LAB_MUST(got.count == 1 && got.records[0].parsed == PARSED_DOCUMENT);
        LAB_MUST(bson_init_static(&document, got.records[0].document, got.records[0].record.document_length));
        if (bson_iter_init_find(&at, &document, "p") != rows[i].made)
            fail_msg("%s", rows[i].text);
        lab_records_free(&got);
    }
    records_destroy(reader);
    schema_destroy(schema);
}

TEST(mistakes) {
    field_mistake("", ", decimal: \",\"", "4:24", "'decimal' goes with the type");
    field_mistake("", ", type: date, thousands: \".\"", "4:38", "'thousands' goes with the type");
    field_mistake("", ", type: number, decimal: \";\"", "4:38", "before the fraction");
    field_mistake("", ", type: number, decimal: none", "4:38", "before the fraction");
    field_mistake("", ", type: number, decimal: [\",\"]", "4:38", "before the fraction");
    field_mistake("", ", type: number, thousands: \"_\"", "4:40", "between groups");
    field_mistake("", ", type: number, thousands: \"\"", "4:40", "between groups");
    field_mistake("", ", type: number, thousands: \".\"", "4:5", "both \".\"");
    field_mistake("", ", type: number, decimal: \",\", thousands: \",\"", "4:5", "both \",\"");
    field_mistake(", thousands: \".\"", ", type: number", "4:5", "both \".\"");
    field_mistake(", thousands: \",\"", ", type: number, decimal: \",\"", "4:5", "both \",\"");
}
