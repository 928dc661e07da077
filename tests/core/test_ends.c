/* ends: where records end whose quoted fields may contain line ends, by hand. (Three ways to find the same in any bytes:
 * tests/fuzz/fuzz_ends.c; a plain reading of the rules: tests/fuzz/fuzz_split.c.) */
#include "ends_lab.h"
#include "test.h"

static schema_t *schema_with(const char *escape) {
    char yaml[200];
    snprintf(yaml, sizeof yaml,
             "format: x\nrecord: {delimiter: \",\", header: no, escape: %s}\nfields: [{name: a}, {name: b}, "
             "{name: c}]\n",
             escape);
    return lab_schema(yaml);
}

TEST(by_hand) {
    static const struct {
        const char *text;
        size_t whole, part; /* the first record's length: of all of the text, and where more may follow */
        const char *escape; /* NULL: double */
    } rows[] = {
        {"a,b\nc\n", 4, 4, NULL},
        {"a,b", 3, 0, NULL},
        {"\na\n", 1, 1, NULL},
        {"\"a\nb\",c\nd\n", 8, 8, NULL},
        {"x,\"a\r\nb\"\r\nd\n", 10, 10, NULL},
        {"\"a\nb\"", 5, 0, NULL},
        {"\"a\nb\"\r", 6, 0, NULL},
        {"\"a\nb\"\rx\n", 3, 3, NULL},         /* a CR alone is no line end, so the quote is never closed */
        {"\"a\"\"\nb\",c\nd\n", 10, 10, NULL}, /* doubled, and then closed */
        {"\"a\"b\nc\"\n", 5, 5, NULL},         /* something else follows in the same line: not quoted */
        {"\"a\nb\"c\nd\n", 3, 3, NULL},        /* in another line: never closed */
        {"1,5\" pipe,x\n2,6\" pipe,x\n", 12, 12, NULL},
        {"\"never\na\nb\n", 7, 0, NULL}, /* the rest may still close it */
        {"\"\"\n\"\"\n", 3, 3, NULL},
        {"\"\"\"\n\"\"\"\n\n", 8, 8, NULL},
        {"a,\"b\nc\",\"d\ne\"\nf\n", 14, 14, NULL},
        {"a,\"b\nc\",\"d\ne\nf\n", 11, 0,
         NULL}, /* the second one is never closed: up to the end of its line */
        {"\"a\\\"\nb\",c\nd\n", 10, 10, "[double, backslash]"}, /* an escaped quote does not close it */
        {"\"a\\\",c\nd\n", 7, 0, "[double, backslash]"}, /* but if nothing else does, it was no escape */
        {"\"a\\\\\",c\nd\n", 8, 0, "[double, backslash]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        schema_t *schema = schema_with(rows[i].escape ? rows[i].escape : "double");
        expect_first(schema, rows[i].text, rows[i].whole, rows[i].part);
        schema_destroy(schema);
    }
}

static void ends_as_records(schema_t *schema, grown_t *text) {
    slack_t slack = slack_new(text->at, text->size);
    list_t find = by_find(schema, slack.text, slack.length), records = by_records(schema, &slack);
    same(&find, &records, "records", slack.text, slack.length);
    free(find.at);
    free(records.at);
    slack_free(&slack);
    grown_free(text);
}

/* Quotes and escapes at the end of 64 bytes and the beginning of the next 64: the same ends as byte by byte. */
TEST(across_64_bytes) {
    static const char *const escapes[] = {"double", "backslash", "backslashes", "[double, backslash]"};
    uint64_t seed = 3;
    for (int round = 0; round < 8000; round++) {
        schema_t *schema = schema_with(escapes[round % 4]);
        grown_t text = {0};
        grown_text(&text, "\"");
        for (uint64_t i = 58 + lab_chance(&seed, 8); i > 0; i--)
            grown_add(&text, "a", 1);
        for (uint64_t i = lab_chance(&seed, 30); i > 0; i--)
            grown_add(&text, &"\n\",\\b\"\\,"[lab_chance(&seed, 8)], 1);
        ends_as_records(schema, &text);
        schema_destroy(schema);
    }
}

/* Any bytes where each line end ends a record. */
TEST(lines) {
    schema_t *schema = schema_with("double, multiline: no");
    uint64_t seed = 9;
    for (int round = 0; round < 2000; round++) {
        grown_t text = {0};
        grown_text(&text, "");
        for (uint64_t i = lab_chance(&seed, round % 10 ? 300 : 40000); i > 0; i--)
            grown_add(&text, &"\n\n\",\r\\\x7f\x80\xff ab"[lab_chance(&seed, 11)], 1);
        ends_as_records(schema, &text);
    }
    schema_destroy(schema);
}

/* A closing quote that is too far away does not count, wherever the text is cut. */
TEST(far) {
    schema_t *schema = schema_with("double");
    for (int over = 0; over < 2; over++) {
        const size_t length = ENDS_MOST + 100, closing = ENDS_MOST - 1 + (size_t)over;
        uint8_t *text = malloc(length);
        LAB_MUST(text);
        memset(text, 'x', length);
        memcpy(text, "\"a\nb", 4);
        memcpy(text + closing, "\",c\nd\n", 6);
        text[length - 1] = '\n';
        const size_t expected = over ? 3 : closing + 4;
        assert_int_equal(ends_find(schema, ',', text, length, true), expected);
        assert_int_equal(ends_find(schema, ',', text, length, false), expected);
        for (size_t step = 1 << 20; step <= length; step *= 4) {
            ends_t ends = ends_begin(schema, ',');
            bool found = false;
            for (size_t have = step; !found; have += step)
                found = ends_on(&ends, text, have < length ? have : length, have >= length, 1);
            assert_int_equal(ends.record, expected);
        }
        free(text);
    }
    schema_destroy(schema);
}
