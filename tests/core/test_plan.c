/* plan: a schema and a dialect as a flat list of operations: their order, keys, columns, and the room they
 * ask for. */
#include "format/delimited/plan.h"
#include "format_lab.h"
#include "test.h"

typedef struct {
    schema_t *schema;
    dialect_t dialect;
    plan_t plan;
} lab_t;

static lab_t lab_for(const char *yaml, const char *text) {
    lab_t lab = {.schema = lab_schema(yaml)};
    err_t err = {.text = ""};
    if (!dialect_sniff(lab.schema, (const uint8_t *)text, strlen(text), "f.csv", &lab.dialect, &err))
        fail_msg("%s", err.text);
    assert_true(plan_compile(lab.schema, &lab.dialect, &lab.plan));
    return lab;
}

static void lab_end(lab_t *lab) {
    plan_free(&lab->plan);
    assert_int_equal(lab->plan.count, 0);
    plan_free(&lab->plan);
    schema_destroy(lab->schema);
}

/* Operations as text: KEY:TYPE:COLUMN, KEY{ and }. */
static void expect(const lab_t *lab, const char *expected) {
    char out[2000] = "";
    size_t used = 0;
    for (size_t i = 0; i < lab->plan.count; i++) {
        const op_t *op = &lab->plan.ops[i];
        const uint8_t *head = op->head_size > PLAN_HEAD ? op->long_head : op->head;
        used += (size_t)snprintf(out + used, sizeof out - used, "%s", i ? " " : "");
        if (op->code == OP_CLOSE) {
            used += (size_t)snprintf(out + used, sizeof out - used, "}");
            continue;
        }
        assert_int_equal(head[op->head_size - 1], 0); /* BSON type, key, NUL */
        assert_int_equal(strlen((const char *)head + 1) + 2, op->head_size);
        if (op->code == OP_OPEN) {
            assert_int_equal(head[0], BSON_TYPE_DOCUMENT);
            used += (size_t)snprintf(out + used, sizeof out - used, "%s{", (const char *)head + 1);
        } else {
            used += (size_t)snprintf(out + used, sizeof out - used, "%s:%02x:%u", (const char *)head + 1,
                                     head[0], op->column);
            assert_int_equal(lab->dialect.field_of[op->column], op->field);
        }
    }
    assert_string_equal(out, expected);
}

TEST(types_and_order) {
    lab_t lab = lab_for(
        "format: x\nrecord: {delimiter: \",\"}\nfields:\n  - {name: a}\n  - {name: b, type: trimmed}\n"
        "  - {name: c, type: int}\n  - {name: d, type: long}\n  - {name: e, type: number}\n"
        "  - {name: f, type: date}\n  - {name: g, type: date, pattern: YYYYMMDD}\n  - {name: h, type: "
        "datetime}\n",
        "1,2,3,4,5,6,7,8\n");
    expect(&lab, "a:02:0 b:02:1 c:10:2 d:12:3 e:01:4 f:09:5 g:09:6 h:09:7");
    assert_int_equal(lab.plan.ops[5].code, OP_ISO_DATE);
    assert_int_equal(lab.plan.ops[6].code, OP_DATE);
    assert_int_equal(lab.plan.ops[6].pattern_count, 1);
    assert_true(lab.plan.ops[7].pattern_count > 1);
    lab_end(&lab);
}

/* The document's order is the format's, whatever the header's is; columns that are not there are left out. */
TEST(columns) {
    lab_t lab = lab_for("format: x\nrecord: {delimiter: \",\", header: yes}\nfields:\n  - {name: a}\n  - "
                        "{name: b, optional: yes}\n"
                        "  - {name: c}\n",
                        "c,a\n1,2\n");
    expect(&lab, "a:02:1 c:02:0");
    lab_end(&lab);
}

TEST(groups) {
    lab_t lab = lab_for(
        "format: x\nrecord: {delimiter: \",\", header: yes}\nfields:\n  - {name: a, key: p.q.a}\n  - {name: "
        "b, "
        "key: p.q.b}\n"
        "  - {name: c, key: p.c}\n  - {name: d}\n  - {name: e, key: r.s.t.e}\n  - {name: f, key: pp.f}\n",
        "a,b,c,d,e,f\n");
    expect(&lab, "p{ q{ a:02:0 b:02:1 } c:02:2 } d:02:3 r{ s{ t{ e:02:4 } } } pp{ f:02:5 }");
    lab_end(&lab);
    /* a whole group may be missing */
    lab = lab_for("format: x\nrecord: {delimiter: \",\", header: yes}\nfields:\n  - {name: a, key: p.a, "
                  "optional: yes}\n"
                  "  - {name: b, key: p.b, optional: yes}\n  - {name: c, key: q.c}\n",
                  "c\n");
    expect(&lab, "q{ c:02:0 }");
    lab_end(&lab);
    lab = lab_for("format: x\nrecord: {delimiter: \",\", header: yes}\nfields:\n  - {name: a, key: p.a}\n"
                  "  - {name: b, key: p.q.b, optional: yes}\n  - {name: c, key: p.c}\n",
                  "c,a\n");
    expect(&lab, "p{ a:02:1 c:02:0 }");
    lab_end(&lab);
}

/* Keys of 14 bytes fit into an operation, longer ones stand apart. */
TEST(long_keys) {
    for (size_t length = 12; length <= 120; length += length < 18 ? 1 : 34) {
        char key[130], yaml[600], expected[400];
        memset(key, 'k', length);
        key[length] = '\0';
        snprintf(
            yaml, sizeof yaml,
            "format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a, key: %s}, {name: b, key: b%.119s}]\n",
            key, key + 1);
        lab_t lab = lab_for(yaml, "1,2\n");
        snprintf(expected, sizeof expected, "%s:02:0 b%s:02:1", key, key + 1);
        expect(&lab, expected);
        assert_int_equal(lab.plan.ops[0].head_size > PLAN_HEAD, length > 14);
        lab_end(&lab);
    }
}

TEST(nulls) {
    lab_t lab = lab_for("format: x\nrecord: {delimiter: \",\"}\nfields:\n  - {name: a}\n  - {name: b, nulls: "
                        "[]}\n  - {name: c, nulls: NULL}\n"
                        "  - {name: d, nulls: [\"\", NULL]}\n  - {name: e, nulls: [\"\", \"-1\"]}\n  - "
                        "{name: f, nulls: [NULLS]}\n",
                        "1,2,3,4,5,6\n");
    static const uint8_t kinds[] = {
        NULLS_EMPTY, 0, NULLS_WORD, NULLS_EMPTY | NULLS_WORD, NULLS_EMPTY | NULLS_OTHER, NULLS_OTHER};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(lab.plan.ops[i].null_kinds, kinds[i]);
    lab_end(&lab);
}

/* A plan is simple only when fields can be taken one after the other without looking: if it says so falsely,
 * documents are wrong, which the tests of the record path would see; here the cases that must not be. */
TEST(simple) {
    static const struct {
        const char *yaml, *text;
    } not_simple[] = {
        {"format: x\nrecord: {delimiter: \",\", header: yes}\nfields: [{name: a}, {name: b}]\n", "b,a\n"},
        {"format: x\nrecord: {delimiter: \",\", header: yes}\nfields: [{name: a}, {name: b}]\n", "a,x,b\n"},
        {"format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a, key: p.a}, {name: b}]\n", "1,2\n"},
        {"format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a, nulls: \"-1\"}, {name: b}]\n", "1,2\n"},
        {"format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a, key: a_key_of_15_byte}, {name: b}]\n",
         "1,2\n"},
    };
    for (size_t i = 0; i < sizeof not_simple / sizeof *not_simple; i++) {
        lab_t lab = lab_for(not_simple[i].yaml, not_simple[i].text);
        if (lab.plan.simple)
            fail_msg("%s", not_simple[i].yaml);
        lab_end(&lab);
    }
    lab_t lab = lab_for("format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a}, {name: b, type: int}, "
                        "{name: c, nulls: [\"\", NULL]}]\n",
                        "1,2,3\n");
    assert_true(lab.plan.simple);
    lab_end(&lab);
}
