#include "format/delimited/plan.h"
#include "format/delimited/delimited_inner.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    plan_t *plan;
    uint8_t *heads;    /* long heads, one after the other */
    size_t made_times; /* of worst_times, for made keys */
} builder_t;

/* Text of an encoding may be longer in UTF-8; all other text is copied. */
static size_t text_times(const schema_t *schema) {
    return encoding_most_bytes(schema->encoding);
}

static void set_head(builder_t *builder, op_t *op, uint8_t type, const char *key, size_t length) {
    op->head_size = (uint8_t)(length + 2);
    op->head[0] = type;
    if (length + 2 <= PLAN_HEAD) {
        memcpy(op->head + 1, key, length);
    } else {
        op->long_head = builder->heads;
        builder->heads[0] = type;
        memcpy(builder->heads + 1, key, length);
        builder->heads[length + 1] = 0;
        builder->heads += length + 2;
    }
    builder->plan->worst_bytes += length + 2 + 16;
}

static uint8_t code_of(const field_t *field) {
    if (field->array.length || field->point)
        return OP_VALUE;
    switch (field->type) {
    case TYPE_TEXT:
        return OP_TEXT;
    case TYPE_TRIMMED:
        return OP_TRIMMED;
    case TYPE_INT:
        return field->exact ? OP_EXACT : OP_INT;
    case TYPE_LONG:
        return field->exact ? OP_EXACT_LONG : OP_LONG;
    case TYPE_NUMBER:
        return OP_NUMBER;
    case TYPE_BOOLEAN:
    case TYPE_DECIMAL:
    case TYPE_OBJECTID:
    case TYPE_UUID:
    case TYPE_BINARY:
    case TYPE_JSON:
        return OP_VALUE;
    case TYPE_DATE:
    case TYPE_LENGTH:
        break;
    }
    return field->patterns.count == 1 && strcmp(field->patterns.items[0].text, "YYYY-MM-DD") == 0
               ? OP_ISO_DATE
               : OP_DATE;
}

static uint8_t bson_type_of(uint8_t code) {
    static const uint8_t types[] = {[OP_TEXT] = 0x02, [OP_TRIMMED] = 0x02, [OP_INT] = 0x10,
                                    [OP_LONG] = 0x12, [OP_NUMBER] = 0x01,  [OP_ISO_DATE] = 0x09,
                                    [OP_DATE] = 0x09, [OP_VALUE] = 0x00, /* known with the value */
                                    [OP_OPEN] = 0x03, [OP_EXACT] = 0x10,   [OP_EXACT_LONG] = 0x12};
    return types[code];
}

static uint8_t null_kinds_of(const texts_t *nulls) {
    uint8_t kinds = 0;
    for (size_t i = 0; i < nulls->count; i++) {
        const schema_text_t *null = &nulls->items[i];
        kinds |= !null->length ? NULLS_EMPTY : strcmp(null->text, "NULL") == 0 ? NULLS_WORD : NULLS_OTHER;
    }
    return kinds;
}

static void add_field(builder_t *builder, const schema_t *schema, const dialect_t *dialect, size_t index,
                      const char *key) {
    const field_t *field = &schema->fields[index];
    op_t *op = &builder->plan->ops[builder->plan->count++];
    op->code = code_of(field);
    op->column = dialect->column_of[index];
    op->field = (uint16_t)index;
    op->divide = (int8_t)field->divide;
    op->nulls = &field->nulls;
    op->exact = field->exact;
    op->null_kinds = null_kinds_of(&field->nulls);
    if (op->code == OP_VALUE) { /* all fields together are not longer than the record */
        const value_most_t most = value_most(field, text_times(schema));
        builder->plan->worst_bytes += most.bytes;
        if (most.times > builder->plan->worst_times)
            builder->plan->worst_times = most.times;
    }
    set_head(builder, op, bson_type_of(op->code), key, strlen(key));
}

/* How many leading parts two keys share: "a." in "a.b" and "a.c". */
static size_t shared_parts(const char *a, const char *b) {
    size_t parts = 0;
    for (; *a && *a == *b; a++, b++)
        parts += *a == '.';
    return parts;
}

static size_t parts_of(const char *key) {
    size_t parts = 0;
    for (; *key; key++)
        parts += *key == '.';
    return parts;
}

/* The whole element, which is the same in each document. The format has been read with the constant: it fits. */
static void add_constant(builder_t *builder, op_t *op, const make_t *made) {
    uint8_t *const begin = builder->heads, *value = begin + 1 + strlen(made->field.key) + 1, *end;
    memcpy(begin + 1, made->field.key, strlen(made->field.key) + 1);
    memcpy(value + 4, made->text.text, made->text.length);
    made_finish(made, begin, value + 4, made->text.length, &end);
    op->long_head = begin;
    op->constant_size = (uint32_t)(end - begin);
    builder->heads = end + MADE_MOST;
    builder->plan->worst_bytes += op->constant_size;
}

/* Keys made of fields come first: documents are looked up by them. The fields joined in one item are all different, so
 * together they are not longer than the record. */
static void add_made(builder_t *builder, const schema_t *schema, size_t index) {
    static const uint8_t codes[] = {
        [MAKE_FIRST] = OP_FIRST, [MAKE_UTC] = OP_POINT,         [MAKE_POINT] = OP_POINT,
        [MAKE_JOIN] = OP_JOIN,   [MAKE_CONSTANT] = OP_CONSTANT, [MAKE_FILE] = OP_FILE};
    const make_t *made = &schema->made[index];
    op_t *op = &builder->plan->ops[builder->plan->count++];
    op->code = codes[made->kind];
    op->field = (uint16_t)index;
    if (made->kind == MAKE_CONSTANT) {
        add_constant(builder, op, made);
        return;
    }
    set_head(builder, op, made->kind == MAKE_POINT ? 0x03 : 0x02, made->field.key, strlen(made->field.key));
    builder->plan->worst_bytes += MADE_MOST;
    builder->plan->file_times += made->kind == MAKE_FILE;
    if (made->kind == MAKE_FIRST || made->kind == MAKE_JOIN)
        builder->made_times += text_times(schema) * (made->kind == MAKE_JOIN ? made->from_count : 1);
    for (size_t i = 0; i < made->from_count; i++)
        op->null_kinds |= null_kinds_of(&schema->fields[made->from[i].fields[0]].nulls);
}

bool plan_compile(const schema_t *schema, const dialect_t *dialect, plan_t *plan) {
    size_t ops = schema->made_count, heads = schema->made_count * 32;
    for (size_t i = 0; i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i];
        ops += 1 + 2 * parts_of(field->key);
        heads += 4 * strlen(field->key) + 16;
    }
    for (size_t i = 0; i < schema->made_count; i++)
        heads += schema->made[i].text.length + 2 * MADE_MOST;
    *plan = (plan_t){.worst_bytes = 64, .worst_times = text_times(schema)};
    plan->owned = calloc(1, ops * sizeof(op_t) + heads + 1);
    if (!plan->owned)
        return false;
    plan->ops = plan->owned;
    builder_t builder = {plan, (uint8_t *)(plan->ops + ops), 0};
    for (size_t i = 0; i < schema->made_count; i++)
        add_made(&builder, schema, i);
    const char *open = "";
    for (size_t i = 0; i <= schema->field_count; i++) {
        if (i < schema->field_count && dialect->column_of[i] == DIALECT_NO_FIELD)
            continue;
        const char *key = i < schema->field_count ? schema->fields[i].key : "";
        size_t shared = shared_parts(open, key);
        for (size_t depth = parts_of(open); depth > shared; depth--)
            plan->ops[plan->count++].code = OP_CLOSE;
        const char *part = key;
        for (size_t depth = 0; depth < parts_of(key); depth++) {
            const char *dot = strchr(part, '.');
            if (depth >= shared) {
                op_t *op = &plan->ops[plan->count++];
                op->code = OP_OPEN;
                set_head(&builder, op, bson_type_of(OP_OPEN), part, (size_t)(dot - part));
            }
            part = dot + 1;
        }
        if (i < schema->field_count)
            add_field(&builder, schema, dialect, i, part);
        open = key;
    }
    plan->worst_times += builder.made_times;
    plan->simple = true;
    for (size_t i = 0; i < plan->count; i++) {
        const op_t *op = &plan->ops[i];
        plan->simple &= op->code < OP_OPEN && op->column == i && op->head_size <= PLAN_HEAD &&
                        !(op->null_kinds & NULLS_OTHER);
    }
    return true;
}

void plan_free(plan_t *plan) {
    free(plan->owned);
    *plan = (plan_t){0};
}
