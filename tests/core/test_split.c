/* split: one record into its fields, by hand; fuzz_split.c reads the same rules plainly, of any bytes. That the fast ways say
 * the same: test_delimited.c. */
#include "format/cut/split.h"
#include "format_lab.h"
#include "test.h"

/* The record stands in memory of its own size and the slack, as in a block. The fields, joined by '^'. */
static void expect(split_t *split, const schema_t *schema, const char *record, const char *fields) {
    slack_t slack = slack_new(record, strlen(record));
    char joined[400] = "";
    size_t used = 0;
    assert_true(split_record(split, schema, ',', slack.text, slack.length));
    for (size_t i = 0; i < split->count; i++)
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%.*s", i ? "^" : "",
                                 (int)split->spans[i].length, (const char *)split->spans[i].text);
    if (strcmp(joined, fields) != 0)
        fail_msg("%s\nis split into %s\nnot into     %s", record, joined, fields);
    /* raw pieces and delimiters are the record again */
    size_t at = 0;
    for (size_t i = 0; i < split->count; i++) {
        assert_int_equal(split->spans[i].at, at);
        at += split->spans[i].raw_length + (i + 1 < split->count);
    }
    assert_int_equal(at, slack.length);
    slack_free(&slack);
}

TEST(fields) {
    static const char both[] = "escape: [double, backslash]", doubled[] = "escape: double",
                      backslash[] = "escape: backslash", pairs[] = "escape: backslashes",
                      both_pairs[] = "escape: [double, backslashes]", none[] = "quote: none",
                      neither[] = "escape: []";
    const struct {
        const char *quoting, *record, *fields;
        bool quoted, backslash;
    } rows[] = {
        {both, "", "", false, false},
        {both, "a,", "a^", false, false}, /* an empty last field is a field */
        {both, " a , b ", " a ^ b ", false, false},
        {both, "5\" RIM,a\\,b", "5\" RIM^a\\^b", false, false}, /* both are themselves in a bare field */
        {none, "\"a,b\",c", "\"a^b\"^c", false, false},         /* a format without quotes */
        {both, "\"a\"\",\"\"b\",\"\"", "a\",\"b^", true, false},
        {backslash, "\"a\"\"b\",c", "\"a\"\"b\"^c", false, false}, /* doubling is not this format's way */
        {both, "\"2T 12\\\"\",GREEN", "2T 12\"^GREEN", true, true},
        {both, "\"a\\b\",\"a\\\\b\"", "a\\b^a\\\\b", true, false}, /* before anything else it is itself */
        {doubled, "\"a\\\"b\",c", "\"a\\\"b\"^c", false, false},
        {pairs, "\"q \\\"h\\\" \\\\\",c\\\\", "q \"h\" \\^c\\\\", true, true},
        {both_pairs, "\"a\\\\\"\"b\",\"\\\"\\\\\"", "a\\\"b^\"\\", true, true},
        {both, "\"a\\\",\"b\\\"", "a\\^b\\", true, false}, /* for itself where nothing else makes sense */
        {both, "\"12\" WHEELS,\"x\"", "\"12\" WHEELS^x", true, false}, /* what is not closed is not quoted */
        {both, "\"a,b", "\"a^b", false, false},
        {neither, "\"a\"\"b\",\"c,d\"", "\"a\"\"b\"^c,d", true, false},
    };
    split_t *split = calloc(1, sizeof *split);
    LAB_MUST(split);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char yaml[200];
        snprintf(yaml, sizeof yaml,
                 "format: x\nrecord: {delimiter: \",\", multiline: no, %s}\nfields: [{name: a}]\n",
                 rows[i].quoting);
        schema_t *schema = lab_schema(yaml);
        expect(split, schema, rows[i].record, rows[i].fields);
        assert_int_equal(split->quoted, rows[i].quoted);
        assert_int_equal(split->backslash, rows[i].backslash);
        schema_destroy(schema);
    }
    split_free(split);
    free(split);
}
