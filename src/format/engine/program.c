/* Compiles a format. Operations are counted first: they and their rests do not move, so that lists are pointers to them. */
#include "format/engine/program.h"
#include "format/types.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const schema_t *schema;
    const dialect_t *dialect; /* NULL: records of fixed width */
    op_t *ops;
    op_rest_t *rests;
    size_t count;
    size_t bytes, times, made_times;
    bool done[SCHEMA_MOST_FIELDS]; /* fields of the list at hand that have their operation */
} builder_t;

/* ---- operations ---- */

/* Adds the next operation; at first, nothing equals its null value. */
static op_t *add_op(builder_t *builder, op_code_t code) {
    op_t *op = &builder->ops[builder->count];
    *op = (op_t){.code = (uint8_t)code, .null_bytes = UINT64_MAX, .span = 1};
    builder->rests[builder->count++] = (op_rest_t){.field = NULL};
    return op;
}

static op_rest_t *rest_of(const builder_t *builder, const op_t *op) {
    return &builder->rests[op - builder->ops];
}

/* The operations since `op` belong to what it opens. */
static void set_span(const builder_t *builder, op_t *op) {
    op->span = (uint32_t)(builder->ops + builder->count - op);
}

static void set_head(builder_t *builder, op_t *op, uint8_t type, const char *key, size_t length) {
    op->head_size = (uint8_t)(length + 2);
    op->head[0] = type;
    memcpy(op->head + 1, key, length < OP_HEAD - 2 ? length : OP_HEAD - 2);
    rest_of(builder, op)->key = key;
    builder->bytes += op->head_size + 16u;
}

static uint8_t nulls_of(const texts_t *nulls) {
    uint8_t kinds = 0;
    for (size_t i = 0; i < nulls->count; i++) {
        const schema_text_t *null = &nulls->items[i];
        kinds |= !null->length ? NULLS_EMPTY : strcmp(null->text, "NULL") == 0 ? NULLS_WORD : NULLS_OTHER;
    }
    return kinds;
}

/* By type, of columns and of fields by width. */
static const struct {
    uint8_t column, width;
} codes[TYPE_JSON + 1] = {
    [TYPE_TEXT] = {OP_TEXT, OP_TEXT},       [TYPE_TRIMMED] = {OP_TRIMMED, OP_TRIMMED},
    [TYPE_INT] = {OP_INT, OP_WHOLE},        [TYPE_LONG] = {OP_INT, OP_VALUE},
    [TYPE_NUMBER] = {OP_NUMBER, OP_SCALED}, [TYPE_LENGTH] = {OP_VALUE, OP_LENGTH}}; /* all others: OP_VALUE */

static op_code_t code_of(const builder_t *builder, const field_t *field) {
    if (!builder->dialect)
        return field->counted                                  ? OP_COUNTED
               : field->type == TYPE_TEXT && field->width == 1 ? OP_CHARACTER
                                                               : (op_code_t)codes[field->type].width;
    if (field->array.length || field->point)
        return OP_VALUE;
    const bool iso = field->type == TYPE_DATE && field->patterns.count == 1 &&
                     strcmp(field->patterns.items[0].text, "YYYY-MM-DD") == 0;
    return iso ? OP_ISO_DATE : (op_code_t)codes[field->type].column;
}

/* The keys, made from a field, that take its place where they can be made. */
static uint16_t replaced_by(const schema_t *schema, const field_t *field) {
    uint16_t keys = 0;
    for (size_t i = 0; schema->fixed && i < schema->made_count; i++) {
        const make_t *made = &schema->made[i];
        for (size_t j = 0; j < made->from_count && made->kind != MAKE_FIRST; j++)
            if (field == &schema->fields[made->from[j].fields[0]])
                keys |= (uint16_t)(1u << i);
    }
    return keys;
}

static void set_place(op_t *op, const field_t *field) {
    op->at = (uint16_t)field->offset;
    op->width = field->width;
    if (field->nulls.count) {
        const size_t bytes = field->width < 8 ? field->width : 8;
        op->null_bytes = 0;
        memcpy(&op->null_bytes, field->nulls.items[0].text, bytes);
        memset(&op->null_mask, 0xFF, bytes);
    }
    op_set_number(op, field);
}

static void set_column(builder_t *builder, op_t *op, const field_t *field) {
    const schema_t *schema = builder->schema;
    const size_t index = (size_t)(field - schema->fields);
    op->at = builder->dialect->column_of[index];
    op->divide = (int8_t)field->divide;
    op->flags = (uint8_t)(nulls_of(&field->nulls) | (field->exact ? OP_IS_EXACT : 0) |
                          (field->type == TYPE_LONG ? OP_IS_LONG : 0));
    rest_of(builder, op)->counted = (uint32_t)index;
    if (op->code == OP_VALUE) { /* all fields together are not longer than the record */
        const value_most_t most = value_most(field, encoding_most_bytes(schema->encoding));
        builder->bytes += most.bytes;
        builder->times = most.times > builder->times ? most.times : builder->times;
    }
}

static void add_field(builder_t *builder, const field_t *field, const char *key) {
    op_t *op = add_op(builder, code_of(builder, field));
    op_rest_t *rest = rest_of(builder, op);
    rest->field = field;
    rest->counted = (uint32_t)schema_counted(builder->schema);
    if (builder->dialect)
        set_column(builder, op, field);
    else
        set_place(op, field);
    op->unless = replaced_by(builder->schema, field);
    set_head(builder, op, value_types[field->type].bson[0], key, strlen(key));
    builder->bytes += field->width;
}

/* ---- lists of fields ---- */

/* Is the key `top`, or does it begin with this part? */
static bool is_under(const char *key, const schema_text_t *top) {
    return strncmp(key, top->text, top->length) == 0 && (!key[top->length] || key[top->length] == '.');
}

/* Adds all fields whose keys begin with the same `prefix` bytes as `like`; those of one subdocument are kept together. top:
 * only those under this key, or NULL. */
static void add_fields(builder_t *builder, const field_t *fields, size_t count, const char *like,
                       size_t prefix, const schema_text_t *top) {
    for (size_t i = 0; i < count; i++) {
        const field_t *field = &fields[i];
        if (builder->done[i] || strncmp(field->key, like, prefix) != 0 || (top && !is_under(field->key, top)))
            continue;
        const char *part = field->key + prefix, *dot = strchr(part, '.');
        if (!dot) {
            add_field(builder, field, part);
            builder->done[i] = true;
            continue;
        }
        op_t *open = add_op(builder, OP_OPEN);
        set_head(builder, open, BSON_TYPE_DOCUMENT, part, (size_t)(dot - part));
        add_fields(builder, fields, count, field->key, (size_t)(dot + 1 - field->key), top);
        add_op(builder, OP_CLOSE);
        set_span(builder, open);
    }
}

static ops_t finish(builder_t *builder, const op_t *first) {
    const ops_t ops = {first, builder->ops + builder->count, builder->bytes};
    builder->bytes = 0;
    return ops;
}

/* ---- made keys ---- */

/* The fields that are joined in one item are all different, so together they are not longer than the record. */
static void add_made(builder_t *builder, size_t index) {
    const schema_t *schema = builder->schema;
    const make_t *made = &schema->made[index];
    op_t *op = add_op(builder, OP_MADE);
    *rest_of(builder, op) =
        (op_rest_t){.field = &made->field, .made = made, .counted = (uint32_t)(schema->field_count + index)};
    const bson_type_t type = made->kind == MAKE_UTC     ? BSON_TYPE_DATE_TIME
                             : made->kind == MAKE_POINT ? BSON_TYPE_DOCUMENT
                                                        : BSON_TYPE_UTF8;
    set_head(builder, op, (uint8_t)type, made->field.key, strlen(made->field.key));
    builder->bytes += MADE_MOST + made->text.length + schema->fixed;
    if (builder->dialect)
        builder->made_times += made->kind == MAKE_JOIN ? made->from_count : made->kind == MAKE_FIRST;
    for (size_t i = 0; i < made->from_count; i++)
        builder->bytes += made->from[i].with.length + made->text.length;
}

/* Which of the keys that `document:` of the format names a made key is; -1: none, so it comes first. */
static int place_of(const schema_t *schema, const make_t *made) {
    for (size_t i = 0; i < schema->document.count; i++)
        if (strcmp(made->field.key, schema->document.items[i].text) == 0)
            return (int)i;
    return -1;
}

static ops_t add_record(builder_t *builder) {
    const schema_t *schema = builder->schema;
    for (size_t i = 0; i < schema->field_count; i++)
        builder->done[i] = builder->dialect && builder->dialect->column_of[i] == DIALECT_NO_FIELD;
    for (int i = -1; i < (int)schema->document.count; i++) {
        for (size_t j = 0; j < schema->made_count; j++)
            if (place_of(schema, &schema->made[j]) == i)
                add_made(builder, j);
        if (i >= 0)
            add_fields(builder, schema->fields, schema->field_count, "", 0, &schema->document.items[i]);
    }
    add_fields(builder, schema->fields, schema->field_count, "", 0, NULL);
    return finish(builder, builder->ops);
}

static bool is_simple(const ops_t *ops) {
    for (const op_t *op = ops->first; op < ops->end; op++)
        if (op->code >= OP_CHARACTER || op->at != op - ops->first || op->head_size > OP_SHORT_HEAD ||
            (op->flags & NULLS_OTHER))
            return false;
    return true;
}

/* ---- what follows the fixed part ---- */

static bool same_layout(const program_list_t *a, const program_list_t *b) {
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

static uint8_t *family_of(program_t *program, const char *id) {
    return program->section_of + ((size_t)(id[0] - 'A') * 26 + (size_t)(id[1] - 'A')) * 10;
}

/* If all sections of a family of two letters have one layout, identifiers that are not listed belong to the family's last
 * section in the file. */
static void index_others(program_t *program, size_t index, const char *id) {
    const section_t *sections = program->schema->sections;
    uint8_t *family = family_of(program, id);
    bool alike = true;
    for (size_t digit = 0; digit <= 9; digit++)
        alike &= family[digit] == NO_SECTION ||
                 same_layout(&program->lists[index], &program->lists[family[digit]]);
    for (size_t digit = 0; digit <= 9 && alike; digit++)
        if (family[digit] == NO_SECTION ||
            !section_lists(&sections[family[digit]], (const char[]){id[0], id[1], (char)('0' + digit)}))
            family[digit] = (uint8_t)index;
}

static void index_sections(program_t *program) {
    const schema_t *schema = program->schema;
    memset(program->section_of, NO_SECTION, sizeof program->section_of);
    for (size_t i = 0; i < schema->section_count; i++)
        for (size_t j = 0; j < schema->sections[i].id_count; j++) {
            const char *first = schema->sections[i].ids[j].first;
            for (char digit = first[2]; digit <= schema->sections[i].ids[j].last_digit; digit++)
                family_of(program, first)[digit - '0'] = (uint8_t)i;
        }
    for (size_t i = 0; i < schema->section_count; i++)
        for (size_t j = 0; j < schema->sections[i].id_count; j++)
            index_others(program, i, schema->sections[i].ids[j].first);
}

static void set_lists(const schema_t *schema, program_list_t *lists) {
    const tail_part_t *sections = NULL;
    for (size_t i = 0; i < schema->part_count; i++) {
        const tail_part_t *part = &schema->parts[i];
        lists[schema->section_count + i] = (program_list_t){.part = part,
                                                            .several = true,
                                                            .name = part->name,
                                                            .fields = part->fields,
                                                            .field_count = part->field_count,
                                                            .width = part->width};
        sections = part->sections ? part : sections;
    }
    for (size_t i = 0; i < schema->section_count; i++) {
        const section_t *section = &schema->sections[i];
        lists[i] = (program_list_t){.section = section,
                                    .several = section_several(section),
                                    .with_ids = !sections->list,
                                    .part = sections,
                                    .name = section->name,
                                    .fields = section->fields,
                                    .field_count = section->field_count,
                                    .width = SCHEMA_ID + section->width};
    }
}

/* Adds the operations of each list after that of its array's head. */
static void add_lists(builder_t *builder, program_list_t *lists, size_t count) {
    for (size_t i = 0; i < count; i++) {
        program_list_t *list = &lists[i];
        if (!list->field_count)
            continue;
        op_t *head = add_op(builder, OP_LIST);
        head->at = (uint16_t)i;
        set_head(builder, head, BSON_TYPE_ARRAY, list->name, strlen(list->name));
        memset(builder->done, false, list->field_count);
        add_fields(builder, list->fields, list->field_count, "", 0, NULL);
        set_span(builder, head);
        list->head = head;
        list->ops = finish(builder, head + 1);
        /* an array around it, its index, its identifier, once more in `order`, and a text that is counted */
        const size_t most = (list->ops.bytes + 104) / list->width + 2;
        builder->times = most > builder->times ? most : builder->times;
    }
}

/* ---- a program ---- */

static size_t ops_of(const field_t *fields, size_t count) {
    size_t ops = 1 + count;
    for (size_t i = 0; i < count; i++)
        for (const char *key = fields[i].key; (key = strchr(key, '.')); key++)
            ops += 2;
    return ops;
}

bool program_compile(const schema_t *schema, const dialect_t *dialect, program_t *program) {
    const size_t lists = schema->section_count + schema->part_count;
    size_t count = schema->made_count + ops_of(schema->fields, schema->field_count);
    *program = (program_t){.schema = schema, .lists = calloc(lists + 1, sizeof *program->lists)};
    if (!(program->owned[0] = program->lists))
        return false;
    set_lists(schema, program->lists);
    for (size_t i = 0; i < lists; i++)
        count += ops_of(program->lists[i].fields, program->lists[i].field_count);
    builder_t builder = {.schema = schema, .dialect = dialect};
    builder.ops = program->owned[1] = aligned_alloc(sizeof *builder.ops, count * sizeof *builder.ops);
    program->rests = builder.rests = program->owned[2] = calloc(count, sizeof *builder.rests);
    if (!builder.ops || !builder.rests) {
        program_free(program);
        return false;
    }
    builder.bytes = 128 + 160 * schema->part_count;                      /* what is around them, and arrays */
    builder.times = dialect ? encoding_most_bytes(schema->encoding) : 2; /* as binary data, or as text */
    program->record = add_record(&builder);
    program->simple = is_simple(&program->record);
    for (size_t i = 0; i < schema->made_count; i++)
        program->file_times += schema->made[i].kind >= MAKE_FILE;
    add_lists(&builder, program->lists, lists);
    index_sections(program);
    program->times = builder.times + builder.made_times * encoding_most_bytes(schema->encoding);
    program->end = builder.ops + builder.count;
    return true;
}

void program_free(program_t *program) {
    for (size_t i = 0; i < sizeof program->owned / sizeof *program->owned; i++)
        free(program->owned[i]);
    *program = (program_t){0};
}
