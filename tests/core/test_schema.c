/* schema: which formats are taken, how large they may be, and what their digests follow from. What formats mean is seen in
 * the documents of tests/cli, and the mistakes in tests/cli/tables/formats-mistakes.table. */
#include "builtin/builtin.h"
#include "format/schema/schema.h"
#include "format_lab.h"
#include "test.h"

static const char delimited[] = "format: x\nrecord: {delimiter: [\",\"], header: [a]}\n"
                                "fields: [{name: a, column: a, key: k, type: int}, {name: b}]\n";

static const char fixed[] =
    "format: mine\n"
    "record: {fixed: 30}\n"
    "document: [who, when, a]\n"
    "fields:\n"
    "  - {name: count, width: 2, type: length}\n"
    "  - {name: station, width: 3, nulls: \"999\"}\n"
    "  - {name: day, width: 8}\n"
    "  - {name: time, width: 4}\n"
    "  - {name: a.b, width: 5, type: number, sign: always, divide: 100}\n"
    "  - {name: a.c, key: a.sea, width: 4, type: number, sign: minus}\n"
    "  - {name: tens, width: 3, type: int, multiply: 10}\n"
    "  - {name: code, width: 1, type: trimmed}\n"
    "make:\n"
    "  - {who: first, from: [station, [day, time]], with: [s, \"\"]}\n"
    "  - {when: utc, from: [day, time]}\n"
    "  - {where: point, from: [a.b, a.c]}\n"
    "tail:\n"
    "  - {marker: ADD, sections: yes, list: ids}\n"
    "  - {marker: R., name: remarks, leaveOut: yes, repeat: [{name: k, width: 2, is: "
    "\"[A-C0]x\"}, {name: text, lengthWidth: 3}]}\n"
    "sections:\n"
    "  - {ids: [AA1-AA4, AB2], name: rain, fields: [{name: hours, width: 2, type: int, nulls: "
    "\"99\"}, {name: how, width: 1}]}\n"
    "  - {ids: AG1, name: snow, fields: [{name: x, width: 7}]}\n";

#define HEAD   "format: x\nrecord: {fixed: 6}\n"
#define FIELDS HEAD "fields: [{name: a, width: 4}, {name: b, width: 2}]\n"
#define ONE    HEAD "fields:\n  - {name: a, width: 6, "
#define MAKE                                                                                                 \
    "format: x\nrecord: {fixed: 20}\nfields: [{name: d, width: 8}, {name: t, width: 4}, {name: lat, width: " \
    "4, "                                                                                                    \
    "type: number}, {name: lon, width: 4, type: number}]\nmake:\n"
#define TAIL     FIELDS "tail:\n"
#define SECTIONS FIELDS "tail: [{marker: ADD, sections: yes}]\nsections:\n"

/* What looks like a mistake and is none. */
TEST(good_ones) {
    static const char *const good[] = {
        FIELDS,
        ONE "type: text, nulls: []}\n",
        ONE "type: int, multiply: 1, sign: never}\n",
        FIELDS "tail: []\n",
        FIELDS "document: b\n",
        HEAD
        "fields: [{name: p.a, width: 2}, {name: b, width: 2}, {name: p.c, width: 2}]\ndocument: [b, p]\n",
        TAIL
        "  - {marker: A, name: r, repeat: [{name: x, width: 1, is: \"[-A]\"}]}\n", /* a dash for itself */
        TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 1, is: \"[]]\"}]}\n",
        TAIL
        "  - {marker: AA1, name: r, repeat: [{name: x, width: 1}]}\n", /* no sections to take it for one */
        TAIL "  - {marker: A, name: r, repeat: [{name: id, width: 1}]}\n",
        MAKE "  - {ts: utc, from: [d, t]}\ndocument: [ts, t, d]\n",
        MAKE "  - {ts: utc, from: [d, t]}\ndocument: [t, d]\n", /* what is not named comes first of all */
        MAKE "  - {s: first, from: [d]}\ndocument: [d, s]\n",   /* takes no field's place */
        TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 2, is: \"[a^]^\"}]}\n",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        schema_t *schema = lab_schema(good[i]);
        assert_true(schema->fixed > 0);
        schema_destroy(schema);
    }
    schema_t *schema = lab_schema(good[6]);
    assert_true(byteset_has(schema->parts[0].fields->is, '-') &&
                byteset_has(schema->parts[0].fields->is, 'A'));
    assert_false(byteset_has(schema->parts[0].fields->is, '['));
    schema_destroy(schema);
    schema = lab_schema(good[7]);
    assert_true(byteset_has(schema->parts[0].fields->is, ']'));
    schema_destroy(schema);
}

/* The largest list of each kind is taken, and not one item more. */
TEST(limits) {
    err_t err = {.text = ""};
    static const struct {
        const char *before, *each; /* %1$d: the list's length, or the item's number */
        int most;
    } lists[] = {
        {"format: x\nrecord: {delimiter: \",\"}\nfields:\n", "  - {name: f%1$d, key: k.k%1$d}\n",
         SCHEMA_MOST_FIELDS},
        {"format: x\nrecord: {fixed: %1$d}\nfields:\n", "  - {name: f%1$d, width: 1}\n", SCHEMA_MOST_FIELDS},
        {TAIL, "  - {marker: m%1$d, name: n%1$d, repeat: [{name: x, width: 1}]}\n", 7},
        {MAKE, "  - {m%1$d: first, from: [d]}\n", 16},
        {SECTIONS, "  - {ids: A%2$c%3$d, name: s%1$d, fields: [{name: x, width: 1}]}\n", 254},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (int count = lists[i].most; count <= lists[i].most + 1; count++) {
            grown_t yaml = {0};
            char line[400];
            snprintf(line, sizeof line, lists[i].before, count);
            grown_text(&yaml, line);
            for (int n = 0; n < count; n++) {
                snprintf(line, sizeof line, lists[i].each, n, 'A' + n / 10, n % 10);
                grown_text(&yaml, line);
            }
            schema_t *schema = schema_parse((const char *)yaml.at, yaml.size, "lab.yaml", &err);
            if ((schema != NULL) != (count == lists[i].most))
                fail_msg("list %zu of %d: %s", i, count, err.text);
            snprintf(line, sizeof line, "%d", lists[i].most);
            assert_true(schema || strstr(err.text, line));
            schema_destroy(schema);
            grown_free(&yaml);
        }
}

/* ---- digests ---- */

typedef struct {
    const char *from, *to;
    bool same;
} change_t;

static void digest_of(const char *yaml, char out[33]) {
    schema_t *schema = lab_schema(yaml);
    memcpy(out, schema->digest, 33);
    schema_destroy(schema);
}

/* The text with the first place of `from` made `to`. */
static char *changed(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    grown_t other = {0};
    LAB_MUST(at);
    grown_add(&other, text, (size_t)(at - text));
    grown_text(&other, to);
    grown_text(&other, at + strlen(from));
    return (char *)other.at;
}

/* The digest follows from what documents are made of, and from nothing else. */
static void check_digests(const char *text, const change_t *changes, size_t count) {
    char first[33], digests[50][33];
    LAB_MUST(count <= sizeof digests / sizeof *digests);
    digest_of(text, first);
    for (size_t i = 0; i < count; i++) {
        char *yaml = changed(text, changes[i].from, changes[i].to);
        digest_of(yaml, digests[i]);
        const bool same = strcmp(digests[i], first) == 0;
        if (same != changes[i].same)
            fail_msg("%s -> %s: %s digest", changes[i].from, changes[i].to, same ? "the same" : "another");
        for (size_t j = 0; j < i && !same; j++)
            if (strcmp(digests[i], digests[j]) == 0)
                fail_msg("changes %zu and %zu have one digest", i, j);
        free(yaml);
    }
}

TEST(digests_of_delimited) {
    static const change_t changes[] = {
        {"format: x", "format: y", true},
        {"record:", "about: other words\n# a comment\nrecord:", true},
        {"[\",\"]", "\",\"", true},
        {"key: k", "key: k, nulls: ''", true},
        {"[\",\"]", "[\"|\"]", false},
        {"header: [a]", "header: [b]", false},
        {"header: [a]", "header: yes", false},
        {"header: [a]", "header: no", false},
        {"header: [a]", "header: [a], quote: none", false},
        {"header: [a]", "header: [a], escape: backslash", false},
        {"header: [a]", "header: [a], encoding: latin1", false},
        {"header: [a]", "header: [a], exact: yes", false},
        {"column: a", "column: z", false},
        {"key: k", "key: kk", false},
        {"type: int", "type: long", false},
        {"type: int", "type: int, nulls: []", false},
        {"type: int", "type: int, nulls: NULL", false},
        {"type: int", "type: int, optional: yes", false},
        {"type: int", "type: number", false},
        {"type: int", "type: number, divide: 10", false},
        {"type: int", "type: boolean", false},
        {"type: int", "type: boolean, true: yes", false},
        {"type: int", "type: boolean, true: [yes, y]", false},
        {"type: int", "type: boolean, false: \"no\"", false},
        {"type: int", "type: date", false},
        {"type: int", "type: datetime", false},
        {"type: int", "type: objectid", false},
        {"type: int", "type: objectid, exact: yes", false},
        {"type: int", "type: trimmed, exact: yes", false},
        {"{name: b}", "{name: b}, {name: c}", false},
        {"fields: [", "fields: [{name: c}, ", false},
        {"{name: b}]", "{name: b}]\nsurplus: {into: b, left: 1}", false},
        {"{name: b}]", "{name: b}]\nlayouts: [[a]]", false},
        {"{name: b}]", "{name: b}]\nlayouts: [[b]]", false},
        {"{name: b}]", "{name: b}]\nmake: [{m: join, from: [a]}]", false},
        {"{name: b}]", "{name: b}]\nmake: [{m: join, from: [a], type: int}]", false},
        {"{name: b}]", "{name: b}]\nmake: [{m: join, from: [a], type: long}]", false},
    };
    check_digests(delimited, changes, sizeof changes / sizeof *changes);
}

TEST(digests_of_fixed) {
    static const change_t changes[] = {
        {"mine", "yours", true},
        {"record:", "about: other words\n# a comment\nrecord:", true},
        {"name: tens", "name: scores, key: tens", true},
        {"[who, when, a]", "[who, when]", false},
        {"[who, when, a]", "[when, who, a]", false},
        {"name: station", "name: station, key: s", false},
        {"\"999\"", "\"998\"", false},
        {"type: length", "type: int", false},
        {"sign: always", "sign: minus", false},
        {"divide: 100", "divide: 10", false},
        {", multiply: 10", "", false},
        {"type: trimmed", "type: text", false},
        {"width: 3, type: int, multiply: 10}\n  - {name: code, width: 1",
         "width: 2, type: int, multiply: 10}\n  - {name: "
         "code, width: 2",
         false},
        {"where: point", "spot: point", false},
        {"[station, [day", "[count, [day", false},
        {"[day, time]],", "[time, day]],", false},
        {"with: [s, \"\"]", "with: [t, \"\"]", false},
        {", with: [s, \"\"]", "", false},
        {"where: point, from: [a.b, a.c]", "where: point, from: [a.c, a.b]", false},
        {"where: point, from: [a.b, a.c]", "where: first, from: [a.b, a.c]", false},
        {"marker: ADD", "marker: ADE", false},
        {", list: ids", "", false},
        {", list: ids", ", list: identifiers", false},
        {"name: remarks", "name: remark", false},
        {"leaveOut: yes", "leaveOut: no", false},
        {"\"[A-C0]x\"", "\"[A-D0]x\"", false},
        {", is: \"[A-C0]x\"", "", false},
        {"lengthWidth: 3", "lengthWidth: 2", false},
        {"lengthWidth: 3", "width: 3", false},
        {"AA1-AA4, AB2", "AA1-AA4, AB3", false},
        {"AA1-AA4, AB2", "AA1-AA5, AB2", false},
        {"AA1-AA4, AB2", "AA1-AA4", false},
        {"name: rain", "name: rains", false},
        {"name: hours", "name: hour", false},
        {"\"99\"", "\"98\"", false},
        {"width: 7", "width: 8", false},
    };
    check_digests(fixed, changes, sizeof changes / sizeof *changes);
}

/* Collections keep the digest of the format that they were loaded with, so the digests of these formats stay what they are. */
TEST(builtin_digests) {
    static const struct {
        const char *name, *digest;
    } rows[] = {
        {"arrow1", "4f90da7a21d88b89f6f0fa08755c1d54"},
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
