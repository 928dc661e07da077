/* What becomes of values that do not fit their field's type: by each word of on_bad_value, in each way that a record is
 * read; what is reported of them; and which formats are the same except for that. */
#include "format/record/record.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "format_lab.h"
#include "test.h"

static schema_t *schema_of(const char *word) {
    char yaml[600];
    snprintf(yaml, sizeof yaml,
             "format: x\nrecord: {delimiter: \",\", header: no}\non_bad_value: %s\nfields:\n"
             "  - {name: n, type: int}\n  - {name: d, type: date}\n"
             "  - {name: s.x, type: number, nulls: [\"\", \"-1\"]}\n  - {name: t}\n",
             word);
    return lab_schema(yaml);
}

typedef struct {
    const char *record, *kept, *null; /* as relaxed JSON with ' for " */
    const char *reason;               /* of the reject; NULL: there is none */
    uint32_t column;
} row_t;

static const row_t rows[] = {
    {"1,2024-02-29,2.5,a", "{'n':1,'d':{'$date':'2024-02-29T00:00:00Z'},'s':{'x':2.5},'t':'a'}",
     "{'n':1,'d':{'$date':'2024-02-29T00:00:00Z'},'s':{'x':2.5},'t':'a'}", NULL, 0},
    {"n/a,,,b", "{'n':'n/a','t':'b'}", "{'n':null,'t':'b'}", "'n/a' of 'n' does not fit", 1},
    {"7,30/02/2024,x,", "{'n':7,'d':'30/02/2024','s':{'x':'x'}}", "{'n':7,'d':null,'s':{'x':null}}",
     "'30/02/2024' of 'd' does not fit", 3},
    {"7,,x,", "{'n':7,'s':{'x':'x'}}", "{'n':7,'s':{'x':null}}", "'x' of 's.x' does not fit", 4},
    /* only the text of a null value is one */
    {"7,,-1.0,c", "{'n':7,'s':{'x':-1.0},'t':'c'}", "{'n':7,'s':{'x':-1.0},'t':'c'}", NULL, 0},
    {"\"a,b\",,,\"q\"", "{'n':'a,b','t':'q'}", "{'n':null,'t':'q'}", "'a,b' of 'n' does not fit", 1},
    {"7,\"a\"\"b\",,", "{'n':7,'d':'a\"b'}", "{'n':7,'d':null}", "'a\"b' of 'd' does not fit", 3},
    {"7,\x1b,,", "{'n':7,'d':'\\u001b'}", "{'n':7,'d':null}", "'\\x1b' of 'd' does not fit", 3},
};

static void expect_document(const lab_record_t *got, const char *expected) {
    if (strchr(expected, '"')) /* of which JSON with ' for " says too little */
        return;
    bson_t *document = lab_value(expected);
    bson_t is;
    lab_document(got, &is);
    if (!bson_equal(document, &is))
        fail_msg("%s is %s", expected, bson_as_canonical_extended_json(&is, NULL));
    bson_destroy(document);
}

static void expect_reject(const lab_record_t *got, const row_t *row) {
    assert_int_equal(got->parsed, PARSED_REJECT);
    assert_non_null(strstr(got->reason, row->reason));
    assert_int_equal(got->record.column, row->column);
}

static void expect_row(const row_t *row, bad_value_t bad, bool careful) {
    format_lab_t lab = lab_open(schema_of(schema_bad_values[bad]), row->record, strlen(row->record));
    lab_records_t got = lab_file(&lab, row->record, strlen(row->record), careful);
    assert_int_equal(got.count, 1);
    if (row->reason && bad == BAD_VALUE_REJECT)
        expect_reject(got.records, row);
    else
        expect_document(got.records, bad == BAD_VALUE_NULL ? row->null : row->kept);
    assert_int_equal(records_bad(lab.reader)->count > 0, row->reason != NULL);
    lab_records_free(&got);
    lab_close(&lab);
}

TEST(each_word) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (bad_value_t bad = BAD_VALUE_TEXT; bad < BAD_VALUES; bad++)
            for (int careful = 0; careful < 2; careful++)
                expect_row(&rows[i], bad, careful);
}

/* ---- where the first ones are ---- */

typedef struct {
    records_t *reader;
    const dialect_t *dialect;
    const filter_t *filter;
} looking_t;

static void read_text(looking_t *looking, const char *text, const void *input, uint64_t offset,
                      uint64_t first_line) {
    slack_t slack = slack_new(text, strlen(text));
    records_place_t place = {NULL, 0};
    record_t record;
    records_begin(looking->reader, looking->dialect, slack.text, (uint32_t)slack.length, !offset, false, 0);
    records_place(looking->reader, &(bad_place_t){.input = input, .offset = offset, .line = first_line});
    for (parsed_t parsed; (parsed = records_next_into(looking->reader, &place, &record, NULL)) != PARSED_END;)
        if (looking->filter && parsed == PARSED_DOCUMENT &&
            !filter_passes(looking->filter, place.bytes, record.document_length))
            records_leave_out(looking->reader, &record);
    free(place.bytes);
    slack_free(&slack);
}

static void expect_places(const bad_field_t *field, uint64_t count, size_t places, const uint64_t *lines) {
    assert_int_equal(field->count, count);
    assert_int_equal(field->place_count, places);
    for (size_t i = 0; i < places; i++)
        assert_int_equal(field->places[i].line, lines[i]);
}

TEST(places) {
    static const char inputs[2], first[] = "x,,,\"two\nlines\"\n1,y,,\n2,,,\nx,x,,\n",
                                 later[] = "3,,,\nz,,,\n";
    schema_t *schema = schema_of("text");
    dialect_t dialect;
    err_t err;
    LAB_MUST(dialect_sniff(schema, (const uint8_t *)first, strlen(first), "f", &dialect, &err));
    looking_t one = {records_new(schema), &dialect, NULL}, other = {records_new(schema), &dialect, NULL};
    bad_values_t *all = bad_values_new(schema);
    /* a thread has blocks in any order */
    read_text(&one, later, &inputs[1], 5000, 200);
    read_text(&one, first, &inputs[0], 0, 1);
    read_text(&one, "1,,,\n", &inputs[0], 9000, 400);
    expect_places(&records_bad(one.reader)->fields[0], 3, 3, (const uint64_t[]){1, 5, 201});
    expect_places(&records_bad(one.reader)->fields[1], 2, 2, (const uint64_t[]){3, 5});
    expect_places(&records_bad(one.reader)->fields[2], 0, 0, NULL);
    read_text(&other, "x,,,\nx,,,\nx,,,\nx,,,\n", &inputs[0], 800, 50);
    expect_places(&records_bad(other.reader)->fields[0], 4, 3, (const uint64_t[]){50, 51, 52});
    bad_values_add(all, records_bad(one.reader));
    bad_values_add(all, records_bad(other.reader));
    expect_places(&all->fields[0], 7, 3, (const uint64_t[]){1, 5, 50});
    records_destroy(one.reader);
    records_destroy(other.reader);
    free(all);
    schema_destroy(schema);
}

/* Of documents that a filter leaves out nothing is stored; of a reject it is not known. */
TEST(filtered) {
    static const char input, text[] = "x,,,no\n1,y,,\nx,y,,no\nx,,,\n2,,,no\n";
    static const struct {
        const char *word, *filter;
        uint64_t n, d, lines_n[2], lines_d[2];
    } cases[] = {{"text", "t!=no", 1, 1, {4}, {2}},
                 {"null", "t==no", 2, 1, {1, 3}, {3}},
                 {"null", "t==other", 0, 0, {0}, {0}},
                 {"reject", "t==other", 3, 2, {1, 3}, {2, 3}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        schema_t *schema = schema_of(cases[i].word);
        dialect_t dialect;
        err_t err;
        char *filter = strdup(cases[i].filter);
        LAB_MUST(dialect_sniff(schema, (const uint8_t *)text, strlen(text), "f", &dialect, &err));
        looking_t one = {records_new(schema), &dialect, filter_parse(schema, &filter, 1, &err)};
        assert_non_null(one.filter);
        read_text(&one, text, &input, 0, 1);
        read_text(&one, text, &input, 500, 100);
        const bad_field_t *n = &records_bad(one.reader)->fields[0], *d = n + 1;
        assert_int_equal(records_bad(one.reader)->count, 2 * (cases[i].n + cases[i].d));
        assert_int_equal(n->count, 2 * cases[i].n);
        assert_int_equal(d->count, 2 * cases[i].d);
        for (size_t j = 0; j < 2 && cases[i].lines_n[j]; j++)
            assert_int_equal(n->places[j].line, cases[i].lines_n[j]);
        for (size_t j = 0; j < 2 && cases[i].lines_d[j]; j++)
            assert_int_equal(d->places[j].line, cases[i].lines_d[j]);
        records_destroy(one.reader);
        filter_free((filter_t *)one.filter);
        schema_destroy(schema);
        free(filter);
    }
}

/* Local times that there were twice are counted apart, with their places, in delimited records and in JSON. */
TEST(twice) {
    static const char input,
        *const texts[] = {"2024-10-27 02:30,a\n2024-10-27 02:30,no\n2024-03-31 02:30,\n2024-10-27 03:00,\n"
                          "2024-10-27 02:00,\n",
                          "{\"d\":\"2024-10-27 02:30\"}\n{\"d\":\"2024-10-27 02:59\",\"t\":\"no\"}\n"
                          "{\"d\":\"2024-03-31 02:30\"}\n{\"d\":\"2024-10-27 03:00\"}\n"
                          "{\"d\":\"2024-10-27 02:00\"}\n"},
               *const kinds[] = {"delimiter: \",\", header: no", "json: yes"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char yaml[300], *filter = "t!=no";
        dialect_t dialect;
        err_t err;
        snprintf(yaml, sizeof yaml,
                 "format: x\nrecord: {%s}\ntimezone: Europe/Berlin\nfields:\n"
                 "  - {name: d, type: date, pattern: YYYY-MM-DD hh:mm}\n  - {name: t, type: text}\n",
                 kinds[i]);
        schema_t *schema = lab_schema(yaml);
        LAB_MUST(dialect_sniff(schema, (const uint8_t *)texts[i], strlen(texts[i]), "f", &dialect, &err));
        looking_t one = {records_new(schema), &dialect, filter_parse(schema, &filter, 1, &err)};
        assert_non_null(one.filter);
        read_text(&one, texts[i], &input, 0, 1);
        const bad_values_t *bad = records_bad(one.reader);
        assert_int_equal(bad->count, 1);
        expect_places(&bad->fields[0], 1, 1, (const uint64_t[]){3});
        expect_places(&bad->fields[bad_values_twice(bad)], 2, 2, (const uint64_t[]){1, 5});
        records_destroy(one.reader);
        filter_free((filter_t *)one.filter);
        schema_destroy(schema);
    }
}

/* ---- formats ---- */

TEST(digests) {
    static const char plain[] = "format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a, type: int}]\n",
                      other[] = "format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a, type: long}]\n";
    schema_t *schema = lab_schema(plain), *unlike = lab_schema(other);
    char digests[BAD_VALUES][33];
    err_t err;
    for (bad_value_t i = BAD_VALUE_TEXT; i < BAD_VALUES; i++) {
        assert_true(schema_set_bad_value(schema, i, &err));
        memcpy(digests[i], schema->digest, sizeof digests[i]);
        for (bad_value_t j = BAD_VALUE_TEXT; j < i; j++)
            assert_string_not_equal(digests[i], digests[j]);
    }
    /* the collection's digest stays; what the user says counts, and else what the collection has */
    for (bad_value_t i = BAD_VALUE_TEXT; i < BAD_VALUES; i++) {
        schema_bind(schema, digests[i]);
        assert_string_equal(schema->digest, digests[i]);
        assert_int_equal(schema->bound, i);
        assert_int_equal(schema->bad_value, BAD_VALUE_REJECT);
        schema_bind(unlike, digests[i]);
        assert_string_not_equal(unlike->digest, digests[i]);
        assert_int_equal(unlike->bad_value, BAD_VALUE_TEXT);
        schema_t *silent = lab_schema(plain);
        schema_bind(silent, digests[i]);
        assert_int_equal(silent->bad_value, i);
        schema_destroy(silent);
    }
    schema_destroy(schema);
    schema = lab_schema(plain); /* and as the key says it */
    assert_string_equal(schema->digest, digests[BAD_VALUE_TEXT]);
    schema_destroy(schema);
    schema = lab_schema("format: x\nrecord: {delimiter: \",\"}\non_bad_value: reject\n"
                        "fields: [{name: a, type: int}]\n");
    assert_string_equal(schema->digest, digests[BAD_VALUE_REJECT]);
    schema_destroy(schema);
    schema_destroy(unlike);
}
