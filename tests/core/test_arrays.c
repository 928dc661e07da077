/* Arrays of delimited files: what a text with separators becomes, and what is written of it again. */
#include "field_lab.h"
#include "test.h"

#define DAY "{'$date': {'$numberLong': '1709164800000'}}"

TEST(elements) {
    FIELD_TABLE("", ", array: \";\"", IS("a;b", "['a','b']"), IS("a", "['a']"), IS(";", "['','']"),
                IS("a;;b", "['a','','b']"), IS(" a ; b", "[' a ',' b']"), IS("\"a|b;c\"", "['a|b','c']"),
                IS("\xC3\xA9;x", "['\xC3\xA9','x']"));
    FIELD_TABLE("", ", type: trimmed, array: \",\"", BACK("a, b ", "['a','b']", "a,b"));
    FIELD_TABLE("", ", type: int, array: \";\"", IS("1;2", "[1,2]"), IS("1;;2", "[1,null,2]"),
                IS(";", "[null,null]"), BACK("007; 8", "[7,8]", "7;8"), IS("5000000000;1", "[5000000000,1]"),
                KEPT("1;x"), KEPT("x"), KEPT("1,2"));
    FIELD_TABLE("", ", type: number, decimal: \",\", array: \" \"",
                IS("1,5 2", "[1.5,{'$numberDouble':'2.0'}]"));
    FIELD_TABLE("", ", type: boolean, true: [yes, Y], false: [no], array: \", \"",
                BACK("Y, no, yes", "[true,false,true]", "yes, no, yes"), KEPT("yes,no"));
    FIELD_TABLE("", ", type: date, pattern: [DD/MM/YYYY, YYYY-MM-DD], array: \";\"",
                BACK("2024-02-29;29/02/2024", "[" DAY "," DAY "]", "29/02/2024;29/02/2024"),
                KEPT("29/02/2024;30/02/2024"));
    FIELD_TABLE("", ", type: decimal, divide: 10, array: \"--\"",
                IS("15--2", "[{'$numberDecimal':'1.5'},{'$numberDecimal':'0.2'}]"));
}

/* The nulls of a field are those of its whole text. */
TEST(nulls) {
    FIELD_TABLE("", ", nulls: [], array: \";\"", IS("\"\"", "['']"));
    FIELD_TABLE("", ", type: int, nulls: [\"0\"], array: \";\"", IS("0;1", "[0,1]"), IS("\"\"", "[null]"));
}

/* The most that elements take: ten thousand of nothing, of one letter, of one digit. */
TEST(room) {
    static const char *const fields[] = {"text", "decimal", "long", "objectid"};
    static const char *const texts[] = {";", "1;", ";1"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++) {
            char yaml[200];
            dialect_t dialect;
            err_t err;
            grown_t text = {0};
            snprintf(yaml, sizeof yaml,
                     "format: x\nrecord: {delimiter: \"|\", header: no}\nfields: [{name: a, type: %s, array: "
                     "\";\"}]\n",
                     fields[i]);
            for (int times = 0; times < 10000; times++)
                grown_text(&text, texts[j]);
            schema_t *schema = lab_schema(yaml);
            records_t *reader = records_new(schema);
            LAB_MUST(dialect_sniff(schema, text.at, text.size, "f", &dialect, &err));
            lab_records_t all =
                lab_parse(reader, &dialect, text.at, text.size, (lab_how_t){.careful = false});
            assert_int_equal(all.count, 1);
            assert_int_equal(all.records->parsed, PARSED_DOCUMENT);
            bson_t document;
            bson_iter_t at, inner;
            size_t count = 0;
            LAB_MUST(bson_init_static(&document, all.records->document, all.records->record.document_length));
            LAB_MUST(bson_iter_init_find(&at, &document, "a"));
            if (BSON_ITER_HOLDS_ARRAY(&at) && bson_iter_recurse(&at, &inner))
                while (bson_iter_next(&inner))
                    count++;
            assert_int_equal(count, i == 3 && j ? 0 : 10001);
            lab_records_free(&all);
            records_destroy(reader);
            schema_destroy(schema);
            grown_free(&text);
        }
}
