/* schema of records by width: what such a format file means, and every mistake in one with its place. */
#include "builtin/builtin.h"
#include "format/schema/schema.h"
#include "format_lab.h"
#include "test.h"

static const char all[] =
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

TEST(all_of_it) {
    schema_t *schema = lab_schema(all);
    static const struct {
        const char *name, *key;
        field_type_t type;
        uint32_t offset, width;
        sign_t sign;
        int divide;
    } fields[] = {
        {"count", "count", TYPE_LENGTH, 0, 2, SIGN_NEVER, 0},
        {"station", "station", TYPE_TEXT, 2, 3, SIGN_NEVER, 0},
        {"day", "day", TYPE_TEXT, 5, 8, SIGN_NEVER, 0},
        {"time", "time", TYPE_TEXT, 13, 4, SIGN_NEVER, 0},
        {"a.b", "a.b", TYPE_NUMBER, 17, 5, SIGN_ALWAYS, 2},
        {"a.c", "a.sea", TYPE_NUMBER, 22, 4, SIGN_MINUS, 0},
        {"tens", "tens", TYPE_INT, 26, 3, SIGN_NEVER, -1},
        {"code", "code", TYPE_TRIMMED, 29, 1, SIGN_NEVER, 0},
    };
    assert_int_equal(schema->fixed, 30);
    assert_int_equal(schema->field_count, 8);
    for (size_t i = 0; i < 8; i++) {
        const field_t *field = &schema->fields[i];
        assert_string_equal(field->name, fields[i].name);
        assert_string_equal(field->key, fields[i].key);
        assert_int_equal(field->type, fields[i].type);
        assert_int_equal(field->offset, fields[i].offset);
        assert_int_equal(field->width, fields[i].width);
        assert_int_equal(field->sign, fields[i].sign);
        assert_int_equal(field->divide, fields[i].divide);
        assert_int_equal(field->nulls.count, i == 1);
    }
    assert_int_equal(schema->document.count, 3);
    assert_int_equal(schema->made_count, 3);
    const make_t *made = schema->made;
    assert_int_equal(made[0].kind, MAKE_FIRST);
    assert_string_equal(made[0].field.key, "who");
    assert_int_equal(made[0].from_count, 2);
    assert_int_equal(made[0].from[0].fields[0], 1);
    assert_string_equal(made[0].from[0].with.text, "s");
    assert_int_equal(made[0].from[1].count, 2);
    assert_int_equal(made[0].from[1].fields[1], 3);
    assert_int_equal(made[0].from[1].with.length, 0);
    assert_int_equal(made[1].kind, MAKE_UTC);
    assert_int_equal(made[1].field.type, TYPE_DATE);
    assert_int_equal(made[2].kind, MAKE_POINT);
    assert_int_equal(made[2].from[1].fields[0], 5);
    assert_int_equal(schema->part_count, 2);
    assert_true(schema->parts[0].sections);
    assert_false(schema->parts[0].leave_out);
    assert_string_equal(schema->parts[0].list, "ids");
    assert_string_equal(schema->parts[1].marker.text, "R.");
    assert_string_equal(schema->parts[1].name, "remarks");
    assert_true(schema->parts[1].leave_out);
    assert_int_equal(schema->parts[1].width, 5);
    const field_t *kind = &schema->parts[1].fields[0], *text = &schema->parts[1].fields[1];
    for (unsigned byte = 0; byte < 256; byte++) {
        assert_int_equal(byteset_has(&kind->is[0], (uint8_t)byte),
                         (byte >= 'A' && byte <= 'C') || byte == '0');
        assert_int_equal(byteset_has(&kind->is[1], (uint8_t)byte), byte == 'x');
    }
    assert_true(text->counted);
    assert_int_equal(text->offset, 2);
    assert_int_equal(schema->section_count, 2);
    const section_t *rain = &schema->sections[0], *snow = &schema->sections[1];
    assert_string_equal(rain->name, "rain");
    assert_int_equal(rain->width, 3);
    assert_true(section_several(rain));
    assert_false(section_several(snow));
    assert_true(section_lists(rain, "AA1") && section_lists(rain, "AA4") && section_lists(rain, "AB2"));
    assert_false(section_lists(rain, "AA0") || section_lists(rain, "AA5") || section_lists(rain, "AB1"));
    assert_true(section_lists(snow, "AG1"));
    assert_ptr_equal(schema_field(schema, "who"), &made[0].field); /* made keys can be compared, points not */
    assert_ptr_equal(schema_field(schema, "when"), &made[1].field);
    assert_null(schema_field(schema, "where"));
    assert_ptr_equal(schema_field(schema, "a.sea"), &schema->fields[5]);
    schema_destroy(schema);
}

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
        TAIL "  - {marker: A, sections: no, name: r, repeat: [{name: id, width: 1}]}\n",
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

TEST(limits) {
    err_t err = {.text = ""};
    static const struct {
        const char *before, *each; /* %1$d: the list's length, or the item's number */
        int most;
    } lists[] = {
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

static void digest_of(const char *yaml, char out[33]) {
    schema_t *schema = lab_schema(yaml);
    memcpy(out, schema->digest, 33);
    schema_destroy(schema);
}

/* `all` with the first place of `from` made `to`. */
static char *changed(const char *from, const char *to) {
    const char *at = strstr(all, from);
    grown_t text = {0};
    LAB_MUST(at);
    grown_add(&text, all, (size_t)(at - all));
    grown_text(&text, to);
    grown_text(&text, at + strlen(from));
    return (char *)text.at;
}

/* The digest follows from what documents are made of, and from nothing else. */
TEST(digest) {
    static const struct {
        const char *from, *to;
        bool same;
    } changes[] = {
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
    enum { CHANGES = sizeof changes / sizeof *changes };
    char first[33], digests[CHANGES][33];
    digest_of(all, first);
    for (size_t i = 0; i < CHANGES; i++) {
        char *yaml = changed(changes[i].from, changes[i].to);
        digest_of(yaml, digests[i]);
        bool same = strcmp(digests[i], first) == 0;
        if (same != changes[i].same)
            fail_msg("%s -> %s: %s digest", changes[i].from, changes[i].to, same ? "the same" : "another");
        for (size_t j = 0; j < i && !same; j++)
            if (strcmp(digests[i], digests[j]) == 0)
                fail_msg("changes %zu and %zu have one digest", i, j);
        free(yaml);
    }
}
