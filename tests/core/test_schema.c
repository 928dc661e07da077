/* schema: what a format file means, and every mistake in one with its line, column and what was expected. */
#include "builtin/builtin.h"
#include "format/schema/schema.h"
#include "format_lab.h"
#include "test.h"

TEST(all_of_it) {
    schema_t *schema =
        lab_schema("format: mine\n"
                   "about: my own files\n"
                   "record:\n"
                   "  delimiter: [\"|\", \"\\t\"]\n"
                   "  quote: \"'\"\n"
                   "  escape: [backslash]\n"
                   "  header: [id, ID]\n"
                   "  encoding: latin1\n"
                   "surplus: {into: note, left: 2}\n"
                   "fields:\n"
                   "  - {name: id, key: i, type: long, column: [id, ID], nulls: [\"\", NULL]}\n"
                   "  - {name: when, type: date, pattern: [DD/MM/YYYY, YYYYMMDD], column: WHEN}\n"
                   "  - {name: note, key: n.text}\n"
                   "  - {name: grams, key: n.g, type: number, divide: 1000, nulls: \"-9\"}\n"
                   "  - {name: more, type: trimmed, optional: yes}\n"
                   "layouts:\n"
                   "  - [id, when, note, grams]\n"
                   "  - [id, when, note]\n");
    assert_string_equal(schema->name, "mine");
    assert_string_equal(schema->about, "my own files");
    assert_int_equal(schema->delimiter_count, 2);
    assert_memory_equal(schema->delimiters, "|\t", 2);
    assert_int_equal(schema->quote, '\'');
    assert_true(schema->escape_backslash);
    assert_false(schema->escape_double);
    assert_int_equal(schema->header, HEADER_WORDS);
    assert_int_equal(schema->header_words.count, 2);
    assert_string_equal(schema->header_words.items[1].text, "ID");
    assert_int_equal(schema->encoding, ENCODING_LATIN1);
    assert_int_equal(schema->surplus_field, 2);
    assert_int_equal(schema->surplus_left, 2);
    assert_int_equal(schema->field_count, 5);
    const field_t *field = schema->fields;
    assert_string_equal(field[0].name, "id");
    assert_string_equal(field[0].key, "i");
    assert_int_equal(field[0].type, TYPE_LONG);
    assert_int_equal(field[0].columns.count, 2);
    assert_int_equal(field[0].nulls.count, 2);
    assert_string_equal(field[0].nulls.items[1].text, "NULL");
    assert_false(field[0].optional);
    assert_string_equal(field[1].key, "when"); /* the name is the key where there is none */
    assert_int_equal(field[1].type, TYPE_DATE);
    assert_int_equal(field[1].patterns.count, 2);
    assert_int_equal(field[1].nulls.count, 1); /* nothing is absent where nothing is said */
    assert_int_equal(field[1].nulls.items[0].length, 0);
    assert_int_equal(field[1].columns.count, 1);
    assert_string_equal(field[1].columns.items[0].text, "WHEN");
    assert_int_equal(field[2].type, TYPE_TEXT);
    assert_string_equal(field[2].columns.items[0].text, "note"); /* and the column */
    assert_int_equal(field[3].divide, 3);
    assert_int_equal(field[3].nulls.count, 1);
    assert_true(field[4].optional);
    assert_int_equal(schema->layout_count, 2);
    assert_int_equal(schema->layouts[0].count, 4);
    assert_int_equal(schema->layouts[1].count, 3);
    assert_int_equal(strlen(schema->digest), 32);
    assert_ptr_equal(schema_field(schema, "grams"), &field[3]);
    assert_ptr_equal(schema_field(schema, "n.g"), &field[3]);
    assert_ptr_equal(schema_field(schema, "i"), &field[0]);
    assert_ptr_equal(schema_field(schema, "id"), &field[0]);
    assert_null(schema_field(schema, "n"));
    assert_null(schema_field(schema, ""));
    schema_destroy(schema);
    schema_destroy(NULL);
}

#define HEAD "format: x\nrecord: {delimiter: [\",\"]}\n"

TEST(types) {
    static const struct {
        const char *word;
        field_type_t type;
    } types[] = {{"text", TYPE_TEXT},     {"trimmed", TYPE_TRIMMED}, {"int", TYPE_INT},
                 {"long", TYPE_LONG},     {"number", TYPE_NUMBER},   {"date", TYPE_DATE},
                 {"datetime", TYPE_DATE}, {"string", TYPE_TEXT},     {"double", TYPE_NUMBER},
                 {"timestamp", TYPE_DATE}};
    static const size_t first_names = 6; /* the names that we print */
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char yaml[200];
        snprintf(yaml, sizeof yaml, HEAD "fields: [{name: a, type: %s}]\n", types[i].word);
        schema_t *schema = lab_schema(yaml);
        assert_int_equal(schema->fields[0].type, types[i].type);
        assert_true(types[i].type != TYPE_DATE || schema->fields[0].patterns.count > 0);
        if (i < first_names)
            assert_string_equal(schema_type_name(types[i].type), types[i].word);
        schema_destroy(schema);
    }
}

TEST(limits) {
    grown_t yaml = {0};
    err_t err = {.text = ""};
    for (int fields = SCHEMA_MOST_FIELDS; fields <= SCHEMA_MOST_FIELDS + 1; fields++) {
        char line[80];
        yaml.size = 0;
        grown_text(&yaml, HEAD "fields:\n");
        for (int i = 0; i < fields; i++) {
            snprintf(line, sizeof line, "  - {name: field%d, key: k.k%d}\n", i, i);
            grown_text(&yaml, line);
        }
        schema_t *schema = schema_parse((const char *)yaml.at, yaml.size, "lab.yaml", &err);
        assert_int_equal(schema != NULL, fields == SCHEMA_MOST_FIELDS);
        schema_destroy(schema);
    }
    assert_non_null(strstr(err.text, "2048"));
    /* keys of 120 bytes, in as many parts as fit */
    for (size_t length = 119; length <= 121; length++) {
        char key[130], text[300];
        for (size_t i = 0; i < length; i++)
            key[i] = i % 2 ? '.' : 'k';
        key[length - 1] = 'k';
        key[length] = '\0';
        snprintf(text, sizeof text, HEAD "fields: [{name: a, key: %s}]\n", key);
        schema_t *schema = schema_parse(text, strlen(text), "lab.yaml", &err);
        assert_int_equal(schema != NULL, length <= 120);
        schema_destroy(schema);
    }
    grown_free(&yaml);
}

static void digest_of(const char *yaml, char out[33]) {
    schema_t *schema = lab_schema(yaml);
    memcpy(out, schema->digest, 33);
    schema_destroy(schema);
}

/* The digest follows from what documents are made of, and from nothing else. */
TEST(digest) {
    static const char *const same[] = {
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "int}]\n",
        "# a comment\nformat: y\nabout: other words\nrecord:\n  header: [a]\n  delimiter: \",\"\nfields:\n"
        "  - name: A\n    column: a\n    key: k\n    type: int\n    nulls: ''\n",
    };
    static const char *const other[] = {
        "format: x\nrecord: {delimiter: [\"|\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "int}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [b]}\nfields: [{name: a, column: a, key: k, type: "
        "int}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: yes}\nfields: [{name: a, column: a, key: k, type: "
        "int}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: no}\nfields: [{name: a, column: a, key: k, type: "
        "int}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a], quote: none}\nfields: [{name: a, column: a, "
        "key: "
        "k, type: int}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a], escape: backslash}\nfields: [{name: a, column: "
        "a, key: k, type: int}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a], encoding: latin1}\nfields: [{name: a, column: "
        "a, "
        "key: k, type: int}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: b, key: k, type: "
        "int}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: kk, type: "
        "int}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "long}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "int, nulls: []}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "int, nulls: NULL}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "int, optional: yes}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "number}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "number, divide: 10}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "date}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "datetime}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "int}, {name: b}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: b}, {name: a, column: a, key: "
        "k, type: int}]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "int}, {name: b}]\nsurplus: {into: b, left: 1}\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "int}, {name: b}]\nlayouts: [[a]]\n",
        "format: x\nrecord: {delimiter: [\",\"], header: [a]}\nfields: [{name: a, column: a, key: k, type: "
        "int}, {name: b}]\nlayouts: [[b]]\n",
        "format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a}]\nmake: [{m: join, from: [a]}]\n",
        "format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a}]\nmake: [{m: join, from: [a], type: "
        "int}]\n",
        "format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a}]\nmake: [{m: join, from: [a], type: "
        "long}]\n",
        "format: x\nrecord: {delimiter: \",\", exact: yes}\nfields: [{name: a}]\nmake: [{m: join, from: [a], "
        "type: int}]\n",
    };
    enum { OTHERS = sizeof other / sizeof *other };
    char first[33], second[33], digests[OTHERS][33];
    digest_of(same[0], first);
    digest_of(same[1], second);
    assert_string_equal(first, second);
    for (size_t i = 0; i < OTHERS; i++) {
        digest_of(other[i], digests[i]);
        if (strcmp(digests[i], first) == 0)
            fail_msg("the same digest: %s", other[i]);
        for (size_t j = 0; j < i; j++)
            if (strcmp(digests[i], digests[j]) == 0)
                fail_msg("the same digest:\n%s%s", other[j], other[i]);
    }
}

/* Collections keep the digest of the format that they were loaded with, so the digests of these formats stay what they are. */
TEST(builtin_digests) {
    static const struct {
        const char *name, *digest;
    } rows[] = {
        {"bson", "fff59fa68c9e5d66bdd796392940d9a6"},
        {"isd-stations", "243a5195139ade6313616d834a583aa4"},
        {"isd-study", "81b33ff533488b64169b6e60bd75fa21"},
        {"isd", "f9223a3d09e3621428065e5fe56552cb"},
        {"json", "005c96a52a797c412490c8c182bc5320"},
        {"mot-item", "d11b3d9b327595543daf9717e012d40e"},
        {"mot-long", "41b5c77cbf029bb0dfcc8c812ab540d8"},
        {"mot", "54d1d4bec98756abf96034d7d3a34469"},
        {"obd", "2ff89406de4cd072cac5dab7ff8c0133"},
        {"ycsb", "06c98093ced5b590c0b5f4ee7d031e01"},
    };
    size_t count = 0;
    for (const builtin_t *builtin = builtin_formats; builtin->name; builtin++, count++) {
        schema_t *schema = lab_builtin(builtin->name);
        assert_string_equal(builtin->name, rows[count].name);
        assert_string_equal(schema->digest, rows[count].digest);
        schema_destroy(schema);
    }
    assert_int_equal(count, sizeof rows / sizeof *rows);
    schema_t *schema =
        lab_schema("format: own\nrecord: {delimiter: [\",\"], header: no}\non_bad_value: reject\n"
                   "fields: [{name: a, type: int}, {name: b, nulls: [\"\", \"x\"]}, "
                   "{name: c, type: boolean}, {name: d, type: datetime}]\n"
                   "make: [{j: lower, from: [a, b]}, {k: sha256, from: [b]}, {f: file}, "
                   "{n: constant, value: \"5\", type: int}]\n");
    assert_string_equal(schema->digest, "4d77dd1a442beabc872a24e4b6afa138");
    schema_destroy(schema);
}
