#include "format/fixed/fixed_plan.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    fixed_op_t *ops;
    fixed_rest_t *rests; /* by the same index */
    size_t count;
    uint8_t *heads; /* long heads, one after the other */
    uint32_t worst;
} builder_t;

/* Adds the next operation; at first, nothing equals its null value. */
static fixed_op_t *add_op(builder_t *builder, uint8_t code) {
    fixed_op_t *op = &builder->ops[builder->count];
    *op = (fixed_op_t){.code = code, .null_bytes = UINT64_MAX, .rest = (uint32_t)builder->count};
    builder->count++;
    return op;
}

static void set_head(builder_t *builder, fixed_op_t *op, uint8_t type, const char *key, size_t length) {
    op->head_size = (uint8_t)(length + 2);
    op->head[0] = type;
    memcpy(op->head + 1, key, length < FIXED_HEAD - 2 ? length : FIXED_HEAD - 2);
    if (op->head_size > FIXED_HEAD) {
        builder->rests[op->rest].long_head = builder->heads;
        builder->heads[0] = type;
        memcpy(builder->heads + 1, key, length);
        builder->heads[length + 1] = 0;
        builder->heads += op->head_size;
    }
    builder->worst += op->head_size + 16u;
}

static const struct {
    uint8_t code, bson_type;
} of_type[] = {[TYPE_TEXT] = {FIXED_TEXT, 0x02},
               [TYPE_TRIMMED] = {FIXED_CODE, 0x02},
               [TYPE_INT] = {FIXED_INT, 0x10},
               [TYPE_NUMBER] = {FIXED_NUMBER, 0x01},
               [TYPE_LENGTH] = {FIXED_LENGTH, 0x10},
               [TYPE_LONG] = {0, 0},
               [TYPE_DATE] = {0, 0}};

static void add_field(builder_t *builder, const schema_t *schema, const field_t *field, const char *key) {
    bool one = field->type == TYPE_TEXT && field->width == 1;
    fixed_op_t *op = add_op(builder, field->counted ? FIXED_COUNTED
                                     : one          ? FIXED_CHARACTER
                                                    : of_type[field->type].code);
    set_head(builder, op, of_type[field->type].bson_type, key, strlen(key));
    builder->rests[op->rest].field = field;
    op->offset = (uint16_t)field->offset;
    op->width = field->width;
    if (field->nulls.count) {
        size_t bytes = field->width < 8 ? field->width : 8;
        op->null_bytes = 0;
        memcpy(&op->null_bytes, field->nulls.items[0].text, bytes);
        memset(&op->mask, 0xFF, bytes);
    }
    if (field->type == TYPE_INT || field->type == TYPE_NUMBER || field->type == TYPE_LENGTH)
        fixed_plan_number(op, field);
    for (size_t i = 0; i < schema->made_count; i++) {
        const make_t *made = &schema->made[i];
        for (size_t j = 0; j < made->from_count && made->kind != MAKE_FIRST; j++)
            if (field == &schema->fields[made->from[j].fields[0]])
                op->unless |= (uint16_t)(1u << i);
    }
    builder->worst += field->width;
}

static const char *part_at(const char *key, size_t depth) {
    for (; depth; depth--)
        key = strchr(key, '.') + 1;
    return key;
}

static size_t depth_of(const char *key) {
    size_t depth = 0;
    for (; *key; key++)
        depth += *key == '.';
    return depth;
}

/* Adds all fields whose keys begin with the same `depth` parts as `like`; those of one subdocument are kept
 * together. */
static void add_fields(builder_t *builder, const schema_t *schema, const field_t *fields, size_t count,
                       const char *like, size_t depth, bool *done) {
    size_t prefix = (size_t)(part_at(like, depth) - like);
    for (size_t i = 0; i < count; i++) {
        const field_t *field = &fields[i];
        if (done[i] || strncmp(field->key, like, prefix) != 0)
            continue;
        if (depth_of(field->key) == depth) {
            add_field(builder, schema, field, part_at(field->key, depth));
            done[i] = true;
            continue;
        }
        const char *part = part_at(field->key, depth), *dot = strchr(part, '.');
        set_head(builder, add_op(builder, FIXED_OPEN), 0x03, part, (size_t)(dot - part));
        add_fields(builder, schema, fields, count, field->key, depth + 1, done);
        add_op(builder, FIXED_CLOSE);
    }
}

static void add_made(builder_t *builder, const schema_t *schema, size_t index) {
    static const struct {
        uint8_t code, bson_type;
    } of_kind[] = {[MAKE_FIRST] = {FIXED_FIRST, 0x02},
                   [MAKE_UTC] = {FIXED_UTC, 0x09},
                   [MAKE_POINT] = {FIXED_POINT, 0x03}};
    const make_t *made = &schema->made[index];
    fixed_op_t *op = add_op(builder, of_kind[made->kind].code);
    op->made = (uint8_t)index;
    set_head(builder, op, of_kind[made->kind].bson_type, made->field.key, strlen(made->field.key));
    builder->worst += 96; /* a point; hour24 */
    for (size_t i = 0; i < made->from_count; i++) {
        builder->worst += (uint32_t)made->from[i].with.length;
        for (size_t j = 0; j < made->from[i].count; j++)
            builder->worst += schema->fields[made->from[i].fields[j]].width;
    }
}

/* Adds the fields under one top-level key. */
static void add_top(builder_t *builder, const schema_t *schema, const char *key, size_t length, bool *done) {
    for (size_t i = 0; i < schema->field_count; i++) {
        const char *other = schema->fields[i].key;
        if (done[i] || strncmp(other, key, length) != 0 || (other[length] && other[length] != '.'))
            continue;
        bool others[SCHEMA_MOST_FIELDS];
        for (size_t j = 0; j < schema->field_count; j++) {
            const char *it = schema->fields[j].key;
            others[j] = done[j] || strncmp(it, key, length) != 0 || (it[length] && it[length] != '.');
        }
        add_fields(builder, schema, schema->fields, schema->field_count, "", 0, others);
        for (size_t j = 0; j < schema->field_count; j++) {
            const char *it = schema->fields[j].key;
            done[j] |= strncmp(it, key, length) == 0 && (!it[length] || it[length] == '.');
        }
    }
}

static void add_record(builder_t *builder, const schema_t *schema) {
    bool done[SCHEMA_MOST_FIELDS] = {false}, made[SCHEMA_MOST_MADE] = {false};
    for (size_t i = 0; i < schema->document.count; i++) {
        const schema_text_t *key = &schema->document.items[i];
        for (size_t j = 0; j < schema->made_count; j++)
            if (strcmp(schema->made[j].field.key, key->text) == 0)
                made[j] = true;
    }
    for (size_t j = 0; j < schema->made_count; j++)
        if (!made[j])
            add_made(builder, schema, j);
    for (size_t i = 0; i < schema->document.count; i++) {
        const schema_text_t *key = &schema->document.items[i];
        for (size_t j = 0; j < schema->made_count; j++)
            if (strcmp(schema->made[j].field.key, key->text) == 0)
                add_made(builder, schema, j);
        add_top(builder, schema, key->text, key->length, done);
    }
    for (size_t i = 0; i < schema->field_count; i++)
        if (!done[i])
            add_top(builder, schema, schema->fields[i].key, strcspn(schema->fields[i].key, "."), done);
}

static fixed_ops_t finish(builder_t *builder, const fixed_op_t *first) {
    fixed_ops_t ops = {first, builder->ops + builder->count, builder->worst};
    builder->worst = 0;
    return ops;
}

static fixed_ops_t add_list(builder_t *builder, const schema_t *schema, const field_t *fields, size_t count) {
    bool done[SCHEMA_MOST_FIELDS] = {false};
    const fixed_op_t *first = builder->ops + builder->count;
    add_fields(builder, schema, fields, count, "", 0, done);
    return finish(builder, first);
}

static bool same_layout(const section_t *a, const section_t *b) {
    bool same = a->field_count == b->field_count;
    for (size_t i = 0; same && i < a->field_count; i++) {
        const field_t *one = &a->fields[i], *other = &b->fields[i];
        same = strcmp(one->key, other->key) == 0 && one->width == other->width && one->type == other->type &&
               one->sign == other->sign && one->divide == other->divide &&
               one->nulls.count == other->nulls.count &&
               (!one->nulls.count ||
                memcmp(one->nulls.items[0].text, other->nulls.items[0].text, one->width) == 0);
    }
    return same;
}

/* Indexes the sections of a family of two letters by their digit. If the whole family has one layout, identifiers that
 * are not listed belong to the family's last section in the file. */
static void index_family(fixed_plan_t *plan, const char *letters) {
    const schema_t *schema = plan->schema;
    uint8_t *family = plan->section_of + ((size_t)(letters[0] - 'A') * 26 + (size_t)(letters[1] - 'A')) * 10;
    const section_t *last = NULL;
    bool alike = true;
    for (int digit = 0; digit <= 9; digit++) {
        char id[SCHEMA_ID] = {letters[0], letters[1], (char)('0' + digit)};
        for (size_t i = 0; i < schema->section_count; i++) {
            const section_t *section = &schema->sections[i];
            if (!section_lists(section, id))
                continue;
            family[digit] = (uint8_t)i;
            alike &= !last || same_layout(last, section);
            last = last > section ? last : section;
        }
    }
    for (int digit = 0; digit <= 9 && alike && last; digit++)
        if (family[digit] == FIXED_NO_SECTION)
            family[digit] = (uint8_t)(last - schema->sections);
}

static void index_sections(fixed_plan_t *plan) {
    memset(plan->section_of, FIXED_NO_SECTION, sizeof plan->section_of);
    for (char first = 'A'; first <= 'Z'; first++)
        for (char second = 'A'; second <= 'Z'; second++)
            index_family(plan, (const char[]){first, second});
}

/* Type, key and NUL of an array. */
static uint8_t set_array_head(uint8_t *head, const char *key) {
    size_t length = strlen(key);
    head[0] = 0x04;
    memcpy(head + 1, key, length);
    return (uint8_t)(length + 2);
}

static void set_part(fixed_part_t *planned, const tail_part_t *part, fixed_check_t *checks) {
    planned->checks = checks;
    planned->width = part->width;
    planned->head_size = set_array_head(planned->head, part->name);
    for (size_t i = 0; i < part->field_count; i++) {
        const field_t *field = &part->fields[i];
        for (uint16_t j = 0; field->is && j < field->width; j++)
            checks[planned->check_count++] = (fixed_check_t){(uint16_t)(field->offset + j), &field->is[j]};
        if (field->counted) {
            planned->counted_offset = (uint16_t)field->offset;
            planned->counted_width = field->width;
        }
    }
}

static void set_section(fixed_section_t *planned, const section_t *section) {
    planned->section = section;
    planned->head_size = set_array_head(planned->head, section->name);
    planned->several = section_several(section);
    planned->width = section->width;
    /* an array around it, its index, its identifier, and once more in `order` */
    planned->worst = planned->ops.worst + planned->head_size + 80;
}

bool fixed_plan_compile(const schema_t *schema, fixed_plan_t *plan) {
    size_t ops = schema->made_count, heads = 0;
    *plan = (fixed_plan_t){.schema = schema};
    const field_t *lists[1 + SCHEMA_MOST_PARTS + SCHEMA_MOST_SECTIONS];
    size_t counts[1 + SCHEMA_MOST_PARTS + SCHEMA_MOST_SECTIONS], list_count = 0;
    lists[list_count] = schema->fields;
    counts[list_count++] = schema->field_count;
    for (size_t i = 0; i < schema->part_count; i++) {
        lists[list_count] = schema->parts[i].fields;
        counts[list_count++] = schema->parts[i].field_count;
    }
    for (size_t i = 0; i < schema->section_count; i++) {
        lists[list_count] = schema->sections[i].fields;
        counts[list_count++] = schema->sections[i].field_count;
    }
    for (size_t i = 0; i < list_count; i++)
        for (size_t j = 0; j < counts[i]; j++) {
            ops += 1 + 2 * depth_of(lists[i][j].key);
            heads += strlen(lists[i][j].key) + 2 + 2 * depth_of(lists[i][j].key);
        }
    plan->owned[0] = aligned_alloc(64, (ops * sizeof(fixed_op_t) + heads + 63) / 64 * 64);
    plan->owned[1] = plan->sections = calloc(schema->section_count + 1, sizeof *plan->sections);
    size_t checks = 1;
    for (size_t i = 0; i < schema->part_count; i++)
        checks += schema->parts[i].width;
    fixed_check_t *check = plan->owned[2] = calloc(checks, sizeof *check);
    builder_t builder = {.ops = plan->owned[0], .rests = plan->owned[3] = calloc(ops, sizeof(fixed_rest_t))};
    if (!plan->owned[0] || !plan->sections || !check || !builder.rests) {
        fixed_plan_free(plan);
        return false;
    }
    plan->rests = builder.rests;
    builder.heads = (uint8_t *)(builder.ops + ops);
    add_record(&builder, schema);
    plan->record = finish(&builder, builder.ops);
    for (size_t i = 0; i < schema->part_count; i++) {
        const tail_part_t *part = &schema->parts[i];
        if (part->sections)
            continue;
        plan->parts[i].ops = add_list(&builder, schema, part->fields, part->field_count);
        set_part(&plan->parts[i], part, check);
        check += plan->parts[i].check_count;
    }
    for (size_t i = 0; i < schema->section_count; i++) {
        plan->sections[i].ops =
            add_list(&builder, schema, schema->sections[i].fields, schema->sections[i].field_count);
        set_section(&plan->sections[i], &schema->sections[i]);
    }
    index_sections(plan);
    return true;
}

void fixed_plan_free(fixed_plan_t *plan) {
    free(plan->owned[0]);
    free(plan->owned[1]);
    free(plan->owned[2]);
    free(plan->owned[3]);
    *plan = (fixed_plan_t){0};
}
