/* fixed_plan: what a format by width is compiled into: operations in the document's order, sections by their
 * identifier. */
#include "format/fixed/fixed_plan.h"
#include "format_lab.h"
#include "test.h"

typedef struct {
    fixed_code_t code;
    const char *key;
} step_t;

static void expect_steps(const fixed_plan_t *plan, const fixed_ops_t *ops, const step_t *steps,
                         size_t count) {
    assert_int_equal(ops->end - ops->ops, count);
    for (size_t i = 0; i < count; i++) {
        const fixed_op_t *op = &ops->ops[i];
        assert_int_equal(op->code, steps[i].code);
        if (!steps[i].key)
            continue;
        const uint8_t *head = op->head_size > FIXED_HEAD ? plan->rests[op->rest].long_head : op->head;
        assert_int_equal(op->head_size, strlen(steps[i].key) + 2);
        assert_string_equal((const char *)head + 1, steps[i].key);
    }
}

#define KEY31 "abcdefghijklmnopqrstuvwxyz12345"

TEST(operations) {
    schema_t *schema = lab_schema(
        "format: x\nrecord: {fixed: 30}\ndocument: [g, who, d]\nfields:\n"
        "  - {name: a, width: 1}\n  - {name: g.b, width: 2}\n  - {name: d, width: 8, nulls: \"88888888\"}\n"
        "  - {name: t, width: 4}\n  - {name: g.h.i, width: 3, type: int, sign: always}\n"
        "  - {name: " KEY31
        ", width: 4, type: number, divide: 1000}\n  - {name: g.c, width: 4, type: trimmed}\n"
        "  - {name: l, width: 4, type: length}\n"
        "make:\n  - {ts: utc, from: [d, t]}\n  - {who: first, from: [a]}\n"
        "tail:\n  - {marker: \"#!\", name: r, repeat: [{name: k, width: 2, is: \"[A-B]x\"}, {name: v, "
        "lengthWidth: "
        "3}]}\n  - {marker: \"++\", sections: yes}\n"
        "sections:\n  - {ids: AA1, name: s, fields: [{name: x.y, width: 3}, {name: z, width: 1, nulls: "
        "\"9\"}]}\n");
    fixed_plan_t plan;
    assert_true(fixed_plan_compile(schema, &plan));
    /* what is made and has no place in `document` comes first, because fields are left out for its sake; then
     * `document`, then the record's order, each subdocument whole */
    static const step_t record[] = {
        {FIXED_UTC, "ts"},     {FIXED_OPEN, "g"},   {FIXED_TEXT, "b"},      {FIXED_OPEN, "h"},
        {FIXED_INT, "i"},      {FIXED_CLOSE, NULL}, {FIXED_CODE, "c"},      {FIXED_CLOSE, NULL},
        {FIXED_FIRST, "who"},  {FIXED_TEXT, "d"},   {FIXED_CHARACTER, "a"}, {FIXED_TEXT, "t"},
        {FIXED_NUMBER, KEY31}, {FIXED_LENGTH, "l"},
    };
    expect_steps(&plan, &plan.record, record, sizeof record / sizeof *record);
    const fixed_op_t *day = &plan.record.ops[9], *tall = &plan.record.ops[12], *whole = &plan.record.ops[4];
    assert_memory_equal(&day->null_bytes, "88888888", 8);
    assert_true(day->mask == UINT64_MAX);
    assert_int_equal(day->unless, 1); /* when the first of `make` was made */
    assert_int_equal(plan.record.ops[11].unless, 1);
    assert_int_equal(plan.record.ops[10].unless, 0); /* what `first` takes stays */
    assert_int_equal(tall->divide, 3);
    assert_int_equal(tall->offset, 18);
    assert_int_equal(tall->mask, 0);
    assert_ptr_equal(plan.rests[tall->rest].field, &schema->fields[5]);
    assert_int_equal(whole->sign, SIGN_ALWAYS);
    assert_int_equal(whole->shift, 48); /* two digits to the end of a word */
    static const step_t entry[] = {{FIXED_TEXT, "k"}, {FIXED_COUNTED, "v"}};
    expect_steps(&plan, &plan.parts[0].ops, entry, 2);
    assert_int_equal(plan.parts[0].width, 5);
    assert_int_equal(plan.parts[0].counted_offset, 2);
    assert_int_equal(plan.parts[0].counted_width, 3);
    assert_int_equal(plan.parts[0].check_count, 2);
    assert_int_equal(plan.parts[0].checks[1].offset, 1);
    static const step_t section[] = {
        {FIXED_OPEN, "x"}, {FIXED_TEXT, "y"}, {FIXED_CLOSE, NULL}, {FIXED_CHARACTER, "z"}};
    expect_steps(&plan, &plan.sections[0].ops, section, 4);
    assert_int_equal(plan.sections[0].width, 4);
    assert_false(plan.sections[0].several);
    fixed_plan_free(&plan);
    schema_destroy(schema);
}

TEST(identifiers) {
    schema_t *schema = lab_schema(
        "format: x\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail: [{marker: ADD, sections: "
        "yes}]\nsections:\n"
        "  - {ids: AA1-AA4, name: s0, fields: [{name: x, width: 1}]}\n"
        "  - {ids: [AB1-AB2, AC3], name: s1, fields: [{name: x, width: 2}]}\n"
        "  - {ids: AD2, name: s2, fields: [{name: x, width: 1, nulls: \"9\"}]}\n"
        "  - {ids: AD7, name: s3, fields: [{name: y, key: x, width: 1, nulls: \"9\"}]}\n" /* keys alone count
                                                                                            */
        "  - {ids: AE1, name: s4, fields: [{name: x, width: 1}]}\n"
        "  - {ids: AE2, name: s5, fields: [{name: x, width: 1, type: int}]}\n"
        "  - {ids: AF1, name: s6, fields: [{name: x, width: 1, nulls: \"9\"}]}\n"
        "  - {ids: AF2, name: s7, fields: [{name: x, width: 1, nulls: \"8\"}]}\n"
        "  - {ids: AG1, name: s8, fields: [{name: x, width: 1}]}\n"
        "  - {ids: AG2, name: s9, fields: [{name: y, width: 1}]}\n"
        "  - {ids: AH9, name: s10, fields: [{name: x, width: 1}]}\n"
        "  - {ids: AH1, name: s11, fields: [{name: x, width: 1}]}\n"
        "  - {ids: ZZ9, name: s12, fields: [{name: x, width: 1}]}\n");
    fixed_plan_t plan;
    assert_true(fixed_plan_compile(schema, &plan));
    enum { NONE = FIXED_NO_SECTION };
    static const struct {
        const char *id;
        uint8_t section;
    } cases[] = {
        {"AA1", 0},    {"AA4", 0},    {"AA5", 0},    {"AA0", 0}, /* the family's layout */
        {"AB1", 1},    {"AB9", 1},    {"AC3", 1},    {"AC0", 1},    {"AD2", 2},    {"AD7", 3},
        {"AD0", 3},    {"AD5", 3},    {"AD9", 3},                   /* of several names, the last */
        {"AE1", 4},    {"AE2", 5},    {"AE3", NONE}, {"AE0", NONE}, /* layouts that differ: in the type, */
        {"AF1", 6},    {"AF2", 7},    {"AF3", NONE},                /* in the null, */
        {"AG1", 8},    {"AG2", 9},    {"AG3", NONE},                /* in the key */
        {"AH1", 11},   {"AH9", 10},   {"AH5", 11},                  /* the last in the file */
        {"ZZ9", 12},   {"ZZ0", 12},   {"AI1", NONE}, {"aa1", NONE}, {"AA ", NONE}, {"AAA", NONE},
        {"A11", NONE}, {"[A1", NONE}, {"@A1", NONE}, {"AA:", NONE}, {"AA/", NONE}, {"\xFF\xFF\xFF", NONE},
        {"A[1", NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (fixed_plan_section(&plan, (const uint8_t *)cases[i].id) != cases[i].section)
            fail_msg("%s is %d", cases[i].id, fixed_plan_section(&plan, (const uint8_t *)cases[i].id));
    fixed_plan_free(&plan);
    schema_destroy(schema);
}

/* As many sections and fields as a format may have: no index overflows. */
TEST(largest) {
    grown_t yaml = {0};
    char line[200];
    grown_text(&yaml,
               "format: x\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail: [{marker: ADD, sections: "
               "yes}]\nsections:\n");
    for (int i = 0; i < SCHEMA_MOST_SECTIONS; i++) {
        snprintf(line, sizeof line, "  - {ids: A%c%d, name: s%d, fields: [", 'A' + i / 10, i % 10, i);
        grown_text(&yaml, line);
        for (int j = 0; j < 100; j++) {
            snprintf(line, sizeof line, "%s{name: " KEY31 "%d.%c, width: 1}", j ? ", " : "", j, 'a' + j % 26);
            grown_text(&yaml, line);
        }
        grown_text(&yaml, ", {name: z, width: 1}]}\n");
    }
    schema_t *schema = lab_schema((const char *)yaml.at);
    fixed_plan_t plan;
    assert_true(fixed_plan_compile(schema, &plan));
    for (size_t i = 0; i < SCHEMA_MOST_SECTIONS; i++) {
        assert_int_equal(plan.sections[i].ops.end - plan.sections[i].ops.ops, 301);
        for (int j = 0; j < 100; j++) {
            snprintf(line, sizeof line, KEY31 "%d", j);
            const fixed_op_t *open = &plan.sections[i].ops.ops[3 * j];
            assert_int_equal(open->code, FIXED_OPEN);
            assert_string_equal((const char *)plan.rests[open->rest].long_head + 1, line);
            assert_ptr_equal(plan.rests[open[1].rest].field, &schema->sections[i].fields[j]);
        }
    }
    fixed_plan_free(&plan);
    schema_destroy(schema);
    grown_free(&yaml);
}
