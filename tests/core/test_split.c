/* split: one record into its fields, by hand; fuzz_split.c reads the same rules plainly, of any bytes. */
#include "format/cut/split.h"
#include "format_lab.h"
#include "test.h"

typedef struct {
    schema_t *both, *doubled, *backslash, *pairs, *both_pairs, *none, *neither;
    split_t *split;
} lab_t;

static schema_t *schema_with(const char *quoting) {
    char yaml[200];
    snprintf(yaml, sizeof yaml,
             "format: x\nrecord: {delimiter: \",\", multiline: no%s}\nfields: [{name: a}]\n", quoting);
    return lab_schema(yaml);
}

static int set_up(void **state) {
    lab_t *lab = calloc(1, sizeof *lab);
    LAB_MUST(lab && (lab->split = calloc(1, sizeof *lab->split)));
    lab->both = schema_with(", escape: [double, backslash]");
    lab->doubled = schema_with(", escape: double");
    lab->backslash = schema_with(", escape: backslash");
    lab->pairs = schema_with(", escape: backslashes");
    lab->both_pairs = schema_with(", escape: [double, backslashes]");
    lab->none = schema_with(", quote: none");
    lab->neither = schema_with(", escape: []");
    *state = lab;
    return 0;
}

static int tear_down(void **state) {
    lab_t *lab = *state;
    schema_destroy(lab->both);
    schema_destroy(lab->doubled);
    schema_destroy(lab->backslash);
    schema_destroy(lab->pairs);
    schema_destroy(lab->both_pairs);
    schema_destroy(lab->none);
    schema_destroy(lab->neither);
    split_free(lab->split);
    free(lab->split);
    free(lab);
    return 0;
}

/* The record stands in memory of its own size and the slack, as in a block. The fields, joined by '^'. */
static void expect(lab_t *lab, const schema_t *schema, const char *record, const char *fields) {
    slack_t slack = slack_new(record, strlen(record));
    char joined[400] = "";
    size_t used = 0;
    assert_true(split_record(lab->split, schema, ',', slack.text, slack.length));
    for (size_t i = 0; i < lab->split->count; i++)
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%.*s", i ? "^" : "",
                                 (int)lab->split->spans[i].length, (const char *)lab->split->spans[i].text);
    if (strcmp(joined, fields) != 0)
        fail_msg("%s\nis split into %s\nnot into     %s", record, joined, fields);
    /* raw pieces and delimiters are the record again */
    size_t at = 0;
    for (size_t i = 0; i < lab->split->count; i++) {
        assert_int_equal(lab->split->spans[i].at, at);
        at += lab->split->spans[i].raw_length + (i + 1 < lab->split->count);
    }
    assert_int_equal(at, slack.length);
    slack_free(&slack);
}

TEST(fields) {
    lab_t *lab = *state;
    const struct {
        const schema_t *schema;
        const char *record, *fields;
        bool quoted, backslash;
    } rows[] = {
        {lab->both, "", "", false, false},
        {lab->both, "a,", "a^", false, false}, /* an empty last field is a field */
        {lab->both, " a , b ", " a ^ b ", false, false},
        {lab->both, "5\" RIM,a\\,b", "5\" RIM^a\\^b", false, false}, /* both are themselves in a bare field */
        {lab->none, "\"a,b\",c", "\"a^b\"^c", false, false},         /* a format without quotes */
        {lab->both, "\"a\"\",\"\"b\",\"\"", "a\",\"b^", true, false},
        {lab->backslash, "\"a\"\"b\",c", "\"a\"\"b\"^c", false,
         false}, /* doubling is not this format's way */
        {lab->both, "\"2T 12\\\"\",GREEN", "2T 12\"^GREEN", true, true},
        {lab->both, "\"a\\b\",\"a\\\\b\"", "a\\b^a\\\\b", true,
         false}, /* before anything else it is itself */
        {lab->doubled, "\"a\\\"b\",c", "\"a\\\"b\"^c", false, false},
        {lab->pairs, "\"q \\\"h\\\" \\\\\",c\\\\", "q \"h\" \\^c\\\\", true, true},
        {lab->both_pairs, "\"a\\\\\"\"b\",\"\\\"\\\\\"", "a\\\"b^\"\\", true, true},
        {lab->both, "\"a\\\",\"b\\\"", "a\\^b\\", true,
         false}, /* for itself where nothing else makes sense */
        {lab->both, "\"12\" WHEELS,\"x\"", "\"12\" WHEELS^x", true,
         false}, /* what is not closed is not quoted */
        {lab->both, "\"a,b", "\"a^b", false, false},
        {lab->neither, "\"a\"\"b\",\"c,d\"", "\"a\"\"b\"^c,d", true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect(lab, rows[i].schema, rows[i].record, rows[i].fields);
        assert_int_equal(lab->split->quoted, rows[i].quoted);
        assert_int_equal(lab->split->backslash, rows[i].backslash);
    }
}

TEST(too_many) {
    lab_t *lab = *state;
    grown_t record = {0};
    for (int i = 1; i < SPLIT_MOST; i++)
        grown_text(&record, "x,");
    for (int i = 0; i < 2; i++, grown_text(&record, ",,")) {
        slack_t slack = slack_new(record.at, record.size);
        assert_true(split_record(lab->split, lab->both, ',', slack.text, slack.length));
        assert_int_equal(lab->split->count, SPLIT_MOST);
        slack_free(&slack);
    }
    grown_free(&record);
}

/* Where commas are, or only those outside of quotes; the end, too. */
static size_t ends_of(const slack_t *slack, bool outside, uint32_t *ends, uint32_t *quotes) {
    size_t count = 0;
    *quotes = 0;
    for (size_t i = 0; i < slack->length; i++) {
        *quotes += slack->text[i] == '"';
        if (slack->text[i] == ',' && (!outside || *quotes % 2 == 0))
            ends[count++] = (uint32_t)i;
    }
    ends[count++] = (uint32_t)slack->length;
    return count;
}

/* What it says is what split_record says of the record; it may say nothing. */
static bool is_same_at_ends(lab_t *lab, const char *record, bool outside) {
    slack_t slack = slack_new(record, strlen(record));
    uint32_t ends[64], quotes;
    const size_t count = ends_of(&slack, outside, ends, &quotes);
    split_t *found = calloc(1, sizeof *found);
    LAB_MUST(found);
    const bool told = split_at_ends(found, lab->doubled, slack.text, slack.text, ends, count, quotes);
    assert_true(split_record(lab->split, lab->doubled, ',', slack.text, slack.length));
    bool same = !told || found->count == lab->split->count;
    for (size_t i = 0; told && same && i < count; i++) {
        const span_t *a = &found->spans[i], *b = &lab->split->spans[i];
        same = a->length == b->length && a->at == b->at && a->raw_length == b->raw_length &&
               memcmp(a->text, b->text, a->length) == 0;
    }
    if (!same)
        fail_msg("%s is split otherwise by its ends", record);
    assert_true(told || !split_encloses(lab->doubled, slack.text, slack.text, ends, count, quotes));
    assert_false(split_at_ends(found, lab->both, slack.text, slack.text, ends, count, quotes));
    assert_false(split_at_ends(found, lab->doubled, slack.text, slack.text, ends, count, quotes + 1));
    split_free(found);
    free(found);
    slack_free(&slack);
    return told;
}

TEST(at_ends) {
    assert_true(is_same_at_ends(*state, "1,\"a \"\"b\"\"\",\"c, d\",\"\",\"\"\"\"", true));
    assert_true(is_same_at_ends(*state, "\"\"\"\"\"\",x,\"a\nb\"\"\"", true));
    assert_false(is_same_at_ends(*state, "1,\"a, b\"", false));
    assert_false(is_same_at_ends(*state, "1,5\" pipe,\"a\"\"b\"", true));
    size_t told = 0;
    for (unsigned number = 0; number < 6561; number++) { /* all of 8 bytes out of 3 */
        char record[9] = "";
        for (unsigned i = 0, rest = number; i < 8; i++, rest /= 3)
            record[i] = "\",a"[rest % 3];
        told += is_same_at_ends(*state, record, true) + is_same_at_ends(*state, record, false);
    }
    assert_uint_in_range(told, 1000, 13000);
}

/* Where a quoted text holds a delimiter, and is not followed by one: that would be two fields with half a quote each. */
TEST(torn) {
    lab_t *lab = *state;
    schema_t *many = lab_schema("format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a}]\n");
    static const struct {
        const char *record;
        size_t torn;
    } rows[] = {
        {"\"x,y\"z,4", 1},          {"1,\"a,\"\"b\"\",\" ,2", 3}, {"1,2,\"x,y\" ", 5}, {"\"x\"y,4", 0},
        {"\"odd\" one,\"a,b\"", 0}, {"5\" pipe,6\" pipe", 0},     {"\"x,y\",4", 0},    {"\"x,y\"", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        slack_t slack = slack_new(rows[i].record, strlen(rows[i].record));
        assert_true(split_record(lab->split, many, ',', slack.text, slack.length));
        assert_int_equal(rows[i].torn, lab->split->torn);
        assert_int_equal(!rows[i].torn, split_is_sound(lab->split));
        assert_true(split_record(lab->split, lab->doubled, ',', slack.text, slack.length));
        assert_true(split_is_sound(lab->split)); /* multiline: no: they are ordinary characters */
        slack_free(&slack);
    }
    schema_destroy(many);
}

TEST_GROUP(set_up, tear_down);
