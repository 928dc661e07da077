/* schema_short: documents hold the same values under short keys: both are walked side by side, and the words
 * of their keys must answer to each other one to one. */
#include "fixed_lab.h"
#include "format/filter.h"
#include "format/schema/schema_short.h"
#include "generate/generate.h"
#include "generate_lab.h"
#include "test.h"

enum { MOST_WORDS = 1024 };

typedef struct {
    char own[MOST_WORDS][64], as[MOST_WORDS][8];
    size_t count;
} words_t;

/* What every format's documents may hold, and keeps its name. */
static bool stays(const char *key) {
    static const char *const names[] = {"id", "order", "unparsed", "hour24",
                                        "at", "text",  "type",     "coordinates"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], key) == 0)
            return true;
    return false;
}

static void meet(words_t *words, const char *own, const char *as) {
    if (strcmp(own, as) == 0 && stays(own))
        return;
    assert_true(strlen(as) <= 2);
    for (size_t i = 0; i < words->count; i++) {
        const bool same = strcmp(words->own[i], own) == 0;
        if (same != (strcmp(words->as[i], as) == 0))
            fail_msg("%s is %s, and %s is %s", own, as, words->own[i], words->as[i]);
        if (same)
            return;
    }
    assert_true(words->count < MOST_WORDS);
    snprintf(words->own[words->count], sizeof words->own[0], "%s", own);
    snprintf(words->as[words->count++], sizeof words->as[0], "%s", as);
}

static void enter(const bson_iter_t *at, bson_t *inner) {
    uint32_t length;
    const uint8_t *data;
    if (BSON_ITER_HOLDS_ARRAY(at))
        bson_iter_array(at, &length, &data);
    else
        bson_iter_document(at, &length, &data);
    assert_true(bson_init_static(inner, data, length));
}

/* Every value; the keys go to `words`. Returns the number of values. */
static size_t compare(const bson_t *own, const bson_t *as, bool array, words_t *words) {
    bson_iter_t a, b;
    size_t leaves = 0;
    assert_true(bson_iter_init(&a, own) && bson_iter_init(&b, as));
    while (bson_iter_next(&a)) {
        assert_true(bson_iter_next(&b));
        assert_int_equal(bson_iter_type(&a), bson_iter_type(&b));
        if (array)
            assert_string_equal(bson_iter_key(&a), bson_iter_key(&b));
        else
            meet(words, bson_iter_key(&a), bson_iter_key(&b));
        if (BSON_ITER_HOLDS_ARRAY(&a) || BSON_ITER_HOLDS_DOCUMENT(&a)) {
            bson_t one, other;
            enter(&a, &one);
            enter(&b, &other);
            leaves += compare(&one, &other, BSON_ITER_HOLDS_ARRAY(&a), words);
            continue;
        }
        bson_t one, other;
        bson_init(&one);
        bson_init(&other);
        assert_true(bson_append_iter(&one, "v", 1, &a) && bson_append_iter(&other, "v", 1, &b));
        assert_true(bson_equal(&one, &other));
        bson_destroy(&one);
        bson_destroy(&other);
        leaves++;
    }
    assert_false(bson_iter_next(&b));
    return leaves;
}

/* All documents of a file by the format and by the shortened one; and these as records again. */
static void same_values(const char *format, file_t file, size_t least_leaves) {
    err_t err = {.text = ""};
    words_t *words = calloc(1, sizeof *words);
    fixed_lab_t own = fixed_lab_builtin(format);
    schema_t *schema = format_open(format, &err);
    assert_non_null(schema);
    assert_true(schema_shorten(schema, &err));
    assert_string_not_equal(schema->digest, own.schema->digest);
    fixed_lab_t as = fixed_lab_of(schema);
    dialect_t dialect;
    grown_t out = {0};
    size_t leaves = 0, bytes = 0, short_bytes = 0;
    assert_true(dialect_sniff(schema, (const uint8_t *)file.text, file.size, "lab.txt", &dialect, &err));
    lab_records_t before = fixed_lab_parse(&own, file.text, file.size, true),
                  behind = lab_parse(as.reader, &dialect, file.text, file.size, (lab_how_t){.careful = true});
    assert_int_equal(before.count, behind.count);
    for (size_t i = 0; i < before.count; i++) {
        bson_t one, other;
        assert_int_equal(before.records[i].parsed, behind.records[i].parsed);
        if (before.records[i].parsed != PARSED_DOCUMENT)
            continue;
        bytes += before.records[i].record.document_length;
        short_bytes += behind.records[i].record.document_length;
        assert_true(
            bson_init_static(&one, before.records[i].document, before.records[i].record.document_length));
        assert_true(
            bson_init_static(&other, behind.records[i].document, behind.records[i].record.document_length));
        leaves += compare(&one, &other, false, words);
    }
    assert_true(leaves >= least_leaves);
    assert_true(short_bytes < bytes);
    if (!lab_emit(as.emit, &dialect, &behind, file.text, true, &out, &err))
        fail_msg("%s", err.text);
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.at, file.text, file.size);
    grown_free(&out);
    lab_records_free(&before);
    lab_records_free(&behind);
    fixed_lab_end(&own);
    fixed_lab_end(&as);
    free(words);
    free(file.text);
}

TEST(values) {
    const generate_t isd = {.count = 3000, .seed = 5};
    const generate_t obd = {.count = 500, .seed = 5};
    const generate_t mot = {.count = 2000, .seed = 5};
    same_values("isd", lab_made(&generate_isd, &isd), 3000 * 20);
    same_values("obd", lab_made(&generate_obd, &obd), 500 * 40);
    same_values("mot-long", lab_made(&generate_mot, &mot), 2000 * 10);
}

/* An identifier that is not listed is parsed where its family has one layout only, and is left as it stands
 * where two differ in nothing but their names. */
TEST(families) {
    static const char yaml[] = "format: f\nrecord: {fixed: 2}\nfields: [{name: kind, width: 2}]\n"
                               "tail: [{marker: ADD, sections: yes}]\nsections:\n"
                               "  - {ids: AA1, name: rain, fields: [{name: depth, width: 2}]}\n"
                               "  - {ids: AA2, name: snow, fields: [{name: height, width: 2}]}\n"
                               "  - {ids: BB1, name: wind, fields: [{name: depth, width: 2}]}\n";
    static const char text[] = "xxADDAA112AA234\nxxADDAA956\nxxADDBB956\n";
    err_t err;
    fixed_lab_t lab = fixed_lab_of(lab_schema(yaml));
    schema_t *schema = lab_schema(yaml);
    assert_true(schema_shorten(schema, &err));
    fixed_lab_t as = fixed_lab_of(schema);
    assert_true(fixed_lab_is(&as, "xxADDAA112AA234", 15,
                             "{\"a\": \"xx\", \"b\": {\"c\": \"12\"}, \"d\": {\"e\": \"34\"}}"));
    static words_t words;
    lab_records_t before = fixed_lab_parse(&lab, text, sizeof text - 1, false),
                  behind = fixed_lab_parse(&as, text, sizeof text - 1, false);
    assert_int_equal(before.count, 3);
    for (size_t i = 0; i < 3; i++) {
        bson_t one, other;
        assert_true(
            bson_init_static(&one, before.records[i].document, before.records[i].record.document_length));
        assert_true(
            bson_init_static(&other, behind.records[i].document, behind.records[i].record.document_length));
        compare(&one, &other, false, &words);
    }
    lab_records_free(&before);
    lab_records_free(&behind);
    fixed_lab_end(&lab);
    fixed_lab_end(&as);
}

/* Words: one letter, then two, never one that every format has; the same word is the same everywhere. */
TEST(words) {
    grown_t yaml = {0};
    char line[80];
    err_t err;
    grown_text(&yaml, "format: many\nrecord: {delimiter: [\",\"]}\nfields:\n");
    for (int i = 0; i < 250; i++) {
        snprintf(line, sizeof line, "  - {name: field %d, key: word%d.value}\n", i, i);
        grown_text(&yaml, line);
    }
    schema_t *schema = lab_schema((const char *)yaml.at);
    assert_false(schema_is_short(schema));
    assert_true(schema_shorten(schema, &err));
    assert_true(schema_is_short(schema));
    assert_string_equal(schema->fields[0].key, "a.b");
    assert_string_equal(schema->fields[1].key, "c.b");
    assert_string_equal(schema->fields[24].key, "z.b");
    assert_string_equal(schema->fields[25].key, "aa.b");
    assert_string_equal(schema->fields[25].name, "field 25");
    for (int i = 0; i < 250; i++) {
        assert_string_not_equal(schema->fields[i].key, "id.b");
        for (int j = 0; j < i; j++)
            assert_string_not_equal(schema->fields[i].key, schema->fields[j].key);
    }
    schema_destroy(schema);
    grown_free(&yaml);
}
