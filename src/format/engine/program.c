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
} codes[FIELD_TYPES] = {
    [TYPE_TEXT] = {OP_TEXT, OP_TEXT},       [TYPE_TRIMMED] = {OP_TRIMMED, OP_TRIMMED},
    [TYPE_INT] = {OP_INT, OP_WHOLE},        [TYPE_LONG] = {OP_INT, OP_VALUE},
    [TYPE_NUMBER] = {OP_NUMBER, OP_SCALED}, [TYPE_LENGTH] = {OP_VALUE, OP_LENGTH}}; /* all others: OP_VALUE */

static op_code_t code_of(const builder_t *builder, const field_t *field) {
    if (!builder->dialect)
        return field->counted ? OP_COUNTED : (op_code_t)codes[field->type].width;
    if (field->point)
        return OP_VALUE;
    const bool iso = field->type == TYPE_DATE && field->patterns.count == 1 &&
                     strcmp(field->patterns.items[0].text, "YYYY-MM-DD") == 0;
    return iso ? OP_ISO_DATE : (op_code_t)codes[field->type].column;
}

uint16_t program_replaced_by(const schema_t *schema, const field_t *field) {
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
    const size_t index = (size_t)(field - builder->schema->fields);
    op->at = builder->dialect->column_of[index];
    op->divide = (int8_t)field->divide;
    op->flags = (uint8_t)(nulls_of(&field->nulls) | (field->exact ? OP_IS_EXACT : 0) |
                          (field->type == TYPE_LONG ? OP_IS_LONG : 0));
    rest_of(builder, op)->counted = (uint32_t)index;
    if (op->code == OP_VALUE) { /* all fields together are not longer than the record */
        const value_type_t *row = &value_types[field->type];
        builder->bytes += row->bytes;
        builder->times = row->times > builder->times ? row->times : builder->times;
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
    op->unless = program_replaced_by(builder->schema, field);
    set_head(builder, op, value_types[field->type].bson[0], key, strlen(key));
    builder->bytes += field->width;
}

/* ---- lists of fields ---- */

/* Adds all fields whose keys begin with the same `prefix` bytes as `like`; those of one subdocument are kept together. top:
 * only those under this key, or NULL. */
static void add_fields(builder_t *builder, const field_t *fields, size_t count, const char *like,
                       size_t prefix, const schema_text_t *top) {
    for (size_t i = 0; i < count; i++) {
        const field_t *field = &fields[i];
        if (builder->done[i] || strncmp(field->key, like, prefix) != 0 ||
            (top && !schema_leads_to(top->text, top->length, field->key)))
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
        add_op(builder, OP_CLOSE)->head_size = open->head_size;
        open->span = (uint32_t)(builder->ops + builder->count - open);
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
    op->flags = nulls_of(&made->field.nulls);
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
        if (op->code > OP_ISO_DATE || op->at != op - ops->first || op->head_size > OP_SHORT_HEAD ||
            (op->flags & NULLS_OTHER))
            return false;
    return true;
}

/* ---- what follows the fixed part ---- */

/* The lists in their order: sections, then parts. */
static const tail_list_t *list_of(const schema_t *schema, size_t number) {
    return number < schema->section_count ? &schema->sections[number]
                                          : &schema->parts[number - schema->section_count];
}

/* Adds the operations of each list after that of its array's head. */
static void add_lists(builder_t *builder, program_list_t *lists) {
    const schema_t *schema = builder->schema;
    const tail_list_t *part = schema->parts;
    while (schema->section_count && !part->sections) /* sections are always of a part */
        part++;
    for (uint16_t i = 0; i < schema->section_count + schema->part_count; i++) {
        program_list_t *list = &lists[i];
        const tail_list_t *of = list_of(schema, i);
        *list = (program_list_t){.of = of, .part = i < schema->section_count ? part : of};
        if (!of->field_count)
            continue;
        op_t *head = add_op(builder, OP_LIST);
        head->at = i;
        set_head(builder, head, BSON_TYPE_ARRAY, of->name, strlen(of->name));
        memset(builder->done, false, of->field_count);
        add_fields(builder, of->fields, of->field_count, "", 0, NULL);
        list->head = head;
        list->ops = finish(builder, head + 1);
        head->span = (uint32_t)(list->ops.end - head);
        /* an array around it, its index, its identifier, once more in `order`, and a text that is counted */
        const size_t most = (list->ops.bytes + 104) / of->width + 2;
        builder->times = most > builder->times ? most : builder->times;
    }
}

static bool same_layout(const program_list_t *a, const program_list_t *b) {
    const size_t count = (size_t)(a->ops.end - a->ops.first);
    return count == (size_t)(b->ops.end - b->ops.first) &&
           memcmp(a->ops.first, b->ops.first, count * sizeof *a->ops.first) == 0;
}

/* Identifiers by their families of two letters. If all sections of a family have one layout, identifiers that are not listed
 * belong to the family's last section in the file. */
static void index_sections(program_t *program) {
    enum { FAMILY = 10 };
    const tail_list_t *sections = program->schema->sections;
    uint8_t *const all = program->section_of, *const end = all + sizeof program->section_of;
    memset(all, NO_SECTION, sizeof program->section_of);
    for (size_t i = 0; i < program->schema->section_count; i++)
        for (size_t j = 0; j < sections[i].id_count; j++) {
            const char *id = sections[i].ids[j].first;
            uint8_t *first = all + ((id[0] - 'A') * 26 + (id[1] - 'A')) * FAMILY + (id[2] - '0');
            memset(first, (int)i, (size_t)(sections[i].ids[j].last_digit - id[2] + 1));
        }
    for (uint8_t *family = all; family < end; family += FAMILY) {
        int last = -1;
        bool alike = true;
        for (size_t digit = 0; digit < FAMILY; digit++)
            if (family[digit] != NO_SECTION) {
                alike &= last < 0 || same_layout(&program->lists[last], &program->lists[family[digit]]);
                last = family[digit] > last ? family[digit] : last;
            }
        for (size_t digit = 0; digit < FAMILY && alike && last >= 0; digit++)
            family[digit] = family[digit] == NO_SECTION ? (uint8_t)last : family[digit];
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
    for (size_t i = 0; i < lists; i++)
        count += ops_of(list_of(schema, i)->fields, list_of(schema, i)->field_count);
    op_t *const ops = aligned_alloc(sizeof *ops, count * sizeof *ops);
    builder_t builder = {.schema = schema,
                         .dialect = dialect,
                         .ops = ops,
                         .rests = calloc(count, sizeof *builder.rests),
                         .bytes = 128 + 160 * schema->part_count, /* what is around them, and arrays */
                         /* as binary data, or as text */
                         .times = dialect ? encoding_most_bytes(schema->encoding) : 2};
    *program = (program_t){.schema = schema,
                           .ops = ops,
                           .rests = builder.rests,
                           .lists = calloc(lists + 1, sizeof *program->lists)};
    if (!ops || !builder.rests || !program->lists) {
        program_free(program);
        return false;
    }
    program->record = add_record(&builder);
    program->simple = is_simple(&program->record);
    for (size_t i = 0; i < schema->made_count; i++)
        program->file_times += schema->made[i].kind >= MAKE_FILE;
    add_lists(&builder, program->lists);
    index_sections(program);
    program->times = builder.times + builder.made_times * encoding_most_bytes(schema->encoding);
    program->end = ops + builder.count;
    return true;
}

void program_free(program_t *program) {
    free(program->ops);
    free(program->rests);
    free(program->lists);
    *program = (program_t){0};
}
