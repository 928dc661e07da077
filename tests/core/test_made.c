/* Keys that a format makes of columns: what they become, what is reported where they cannot be made, and that records come back. */
#include "format/record/record.h"
#include "format_lab.h"
#include "test.h"

#define FIELDS                                                                                               \
    "format: x\nrecord: {delimiter: \"|\", header: no, encoding: utf-8-or-latin1}\nfields:\n  - {name: a}\n" \
    "  - {name: b, type: trimmed, nulls: [\"\", NULL]}\n  - {name: n, type: number}\n  - {name: m, type: "   \
    "number}\n"

typedef struct {
    const char *made, *record,
        *becomes; /* as relaxed JSON with ' for "; the keys of the columns are left out */
    unsigned bad;
} case_t;

static const case_t cases[] = {
    {"k: join, from: [a, b], with: \" \"", "Ada|Lovelace||", "'k':'Ada Lovelace'", 0},
    {"k: join, from: [a, b], with: \" \"", "|Lovelace||", "'k':'Lovelace'", 0},
    {"k: join, from: [a, b], with: \" \"", "Ada| NULL ||", "'k':'Ada'", 0},
    {"k: join, from: [a, b], with: \" \"", "|||", "", 0},
    {"k: join, from: [a, b]", "Ada| x ||", "'k':'Adax'", 0},
    {"k: join, from: [a, b], with: [\"<\", \"/\"]", "Ada|x||", "'k':'<Ada/x'", 0},
    {"k: join, from: [a, b], with: [\"<\", \"/\"]", "|x||", "'k':'/x'", 0},
    {"k: join, from: [[a, b], a], with: \"-\"", "\xE9|x||", "'k':'\xC3\xA9x-\xC3\xA9'", 0},
    {"k: lower, from: [a]", "ADA \xC9||1|", "'k':'ada \xC3\x89'", 0}, /* ASCII alone */
    {"k: lower, from: [a, b]", "ADA|@[`{Z||", "'k':'ada@[`{z'", 0},
    {"k: sha256, from: [a, b], with: \"|\"", "Ada|Lovelace||",
     "'k':'09bf07014b3d2359096f08c443deba4ddd730664c70039c0a87fcbb1331aa1a7'", 0},
    {"k: sha256, from: [a]", "\xE9|||",
     "'k':'4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c'", 0}, /* of the text in UTF-8 */
    {"k: sha256, from: [[a]]", "\"\"|||", "", 0},
    {"k: sha256, from: [[a, b]]", "\"\"|||",
     "'k':'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'", 0},
    {"k: join, from: [a, b], with: \" \", type: date, pattern: DD/MM/YYYY hh:mm", "29/02/2024|10:30||",
     "'k':{'$date':'2024-02-29T10:30:00Z'}", 0},
    {"k: join, from: [a, b], with: \" \", type: date, pattern: DD/MM/YYYY hh:mm", "30/02/2024|10:30||",
     "'k':'30/02/2024 10:30'", 1},
    {"k: join, from: [a, b], with: \" \", type: date, pattern: [DD/MM/YYYY hh:mm, DD/MM/YYYY]",
     "29/02/2024|||", "'k':{'$date':'2024-02-29T00:00:00Z'}", 0},
    {"k: first, from: [a, b], type: int", "12|13||", "'k':12", 0},
    {"k: first, from: [b, a], type: int, nulls: [\"12\"]", "12|||", "", 0},
    {"k: constant, value: import-2024", "|||", "'k':'import-2024'", 0},
    {"k: constant, value: \"7\", type: int", "|||", "'k':7", 0},
    {"k: constant, value: 2024-02-29, type: date", "|||", "'k':{'$date':'2024-02-29T00:00:00Z'}", 0},
    {"k: point, from: [n, m]", "||45.5|-10", "'k':{'type':'Point','coordinates':[-10.0,45.5]}", 0},
    {"k: point, from: [n, m]", "||91|0", "", 1},
    {"k: point, from: [n, m]", "||45|", "", 1},
    {"k: point, from: [n, m]", "|||", "", 0},
    {"k: point, from: [n, m]", "||x|1", "", 1}, /* the number, not the point */
    {"type: first, from: [a]", "x|||", "'type':'x'", 0},
    /* a key that is called as an option is: what stands next to it counts all the same */
    {"value: first, from: [a, b], type: number, decimal: \",\"", "1,5|||", "'value':1.5", 0},
    {"value: first, from: [a, b], nulls: [\"-\"]", "-|||", "", 0},
    {"with: first, from: [a, b], type: date, pattern: DD/MM/YYYY", "29/02/2024|||",
     "'with':{'$date':'2024-02-29T00:00:00Z'}", 0},
    {"type: first, from: [a, b], nulls: [\"-\"]", "-|||", "", 0},
    {"nulls: first, from: [a], type: boolean", "true|||", "'nulls':true", 0},
    {"decimal: first, from: [a], type: number, nulls: [\"-\"]", "1.5|||", "'decimal':1.5", 0},
    {"exact: first, from: [a], type: int", "7|||", "'exact':7", 0},
};

static schema_t *schema_of(const char *made, const char *bad) {
    char yaml[700];
    snprintf(yaml, sizeof yaml, "%son_bad_value: %s\nmake:\n  - {%s}\n", FIELDS, bad, made);
    return lab_schema(yaml);
}

static void expect(const case_t *one, bool careful) {
    format_lab_t lab = lab_open(schema_of(one->made, "text"), one->record, strlen(one->record));
    err_t err = {.text = ""};
    bson_t rest = BSON_INITIALIZER;
    lab_records_t all = lab_file(&lab, one->record, strlen(one->record), careful);
    assert_int_equal(all.count, 1);
    bson_t is;
    lab_document(all.records, &is);
    bson_copy_to_excluding_noinit(&is, &rest, "a", "b", "n", "m", NULL);
    char json[400];
    snprintf(json, sizeof json, "{%s}", one->becomes);
    bson_t *expected = lab_value(json);
    if (!bson_equal(expected, &rest))
        fail_msg("%s of %s: %s", one->made, one->record, bson_as_canonical_extended_json(&rest, NULL));
    const bad_values_t *bad = records_bad(lab.reader);
    assert_int_equal(bad->count, one->bad);
    uint64_t bad_count = 0;
    for (size_t i = 0; i < schema_counted(lab.schema); i++)
        bad_count += bad->fields[i].count;
    assert_int_equal(bad_count, one->bad);
    grown_t written = {0};
    if (!lab_emit(lab.emit, &lab.dialect, &all, one->record, &written, &err))
        fail_msg("%s: %s", one->record, err.text);
    grown_free(&written);
    bson_destroy(expected);
    bson_destroy(&rest);
    lab_records_free(&all);
    lab_close(&lab);
}

TEST(made) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int careful = 0; careful < 2; careful++)
            expect(&cases[i], careful);
}

/* By each word of on_bad_value. */
TEST(bad) {
    static const struct {
        const char *made, *bad, *record,
            *outcome; /* the reason of the reject, or the key's type in the document */
    } rows[] = {
        {"k: join, from: [a], type: int", "null", "x|||", "null"},
        {"k: join, from: [a], type: int", "reject", "x|||", "the value 'x' of 'k'"},
        {"k: point, from: [n, m]", "null", "||91|0", "null"},
        {"k: point, from: [n, m]", "reject", "||91|0", "no point for 'k'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t length = strlen(rows[i].record);
        format_lab_t lab = lab_open(schema_of(rows[i].made, rows[i].bad), rows[i].record, length);
        bson_iter_t at;
        lab_records_t all = lab_file(&lab, rows[i].record, length, false);
        assert_int_equal(all.count, 1);
        if (all.records->parsed == PARSED_REJECT) {
            assert_non_null(strstr(all.records->reason, rows[i].outcome));
            assert_int_equal(all.records->record.column, 1);
        } else {
            bson_t is;
            lab_document(all.records, &is);
            assert_true(bson_iter_init_find(&at, &is, "k") && BSON_ITER_HOLDS_NULL(&at));
        }
        lab_records_free(&all);
        lab_close(&lab);
    }
}

/* The name of the input: the same in whatever block a record is, and of any length. */
TEST(file) {
    static const char text[] = "a|b|1|2\n\nc|\"d\ne\"||\nf|g||\n";
    static const size_t starts[] = {0, 9, 19};
    char name[5000];
    err_t err;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    format_lab_t lab = lab_open(schema_of("from: file", "text"), text, strlen(text));
    for (size_t first = 0; first < 3; first++)
        for (int careful = 0; careful < 2; careful++) {
            records_from(lab.reader, first ? name : "x.csv");
            lab_records_t all =
                lab_parse(lab.reader, &lab.dialect, text + starts[first], strlen(text) - starts[first],
                          (lab_how_t){.careful = careful, .with_id = true, .id_base = 77});
            size_t documents = 0;
            for (size_t i = 0; i < all.count; i++) {
                bson_iter_t at;
                if (all.records[i].parsed != PARSED_DOCUMENT)
                    continue;
                bson_t is;
                lab_document(&all.records[i], &is);
                documents++;
                assert_true(bson_iter_init_find(&at, &is, "from") && BSON_ITER_HOLDS_UTF8(&at));
                assert_string_equal(bson_iter_utf8(&at, NULL), first ? name : "x.csv");
            }
            assert_int_equal(documents, 3 - first);
            lab_records_free(&all);
        }
    assert_false(emit_possible(lab.schema, &err));
    lab_close(&lab);
}
