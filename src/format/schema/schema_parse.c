#include "format/schema/schema.h"
#include "format/schema/schema_read.h"
#include "format/types.h"

#include <stdlib.h>
#include <string.h>

static bool read_body(reader_t *reader, const yaml_item_t *root) {
    const yaml_item_t *record = yaml_item_get(root, "record"), *fields = yaml_item_get(root, "fields");
    if (!record && reader->mistake_count)
        return true; /* it may have another name */
    if (!record)
        return COMPLAIN(root, "'record' is missing; a format file has format, record and fields");
    if (!schema_want(reader, record, YAML_ITEM_MAP, "a map such as {delimiter: [\",\"], header: yes}"))
        return false;
    const bool whole = schema_is_whole(record);
    if (!fields && !whole && reader->mistake_count)
        return true;
    if (!fields && !whole)
        return COMPLAIN(root, "'fields' is missing; a format file has format, record and fields");
    return TRY(whole                            ? schema_read_whole(reader, root)
               : yaml_item_get(record, "fixed") ? schema_read_fixed(reader, root)
                                                : schema_read_columns(reader, root)) &&
           TRY(schema_read_bad_value(reader, root)) &&
           (reader->mistake_count || schema_digest(reader->schema, reader->err));
}

static bool read_schema(reader_t *reader) {
    schema_t *schema = reader->schema;
    const yaml_item_t *root = yaml_tree_root(schema->tree);
    if (!schema_want(reader, root, YAML_ITEM_MAP, "a format file starts with 'format: NAME'; a map"))
        return false;
    const yaml_item_t *format = yaml_item_get(root, "format"), *about = yaml_item_get(root, "about");
    if (!schema_only_keys(reader, root, KEYS_FILE))
        return false;
    if (!format && !reader->mistake_count)
        return COMPLAIN(root, "'format' is missing; a format file has format, record and fields");
    if ((format && !TRY(schema_name(reader, format, &schema->name))) ||
        (about && !TRY(schema_want(reader, about, YAML_ITEM_SCALAR, "one line"))))
        return false;
    schema->about = about ? about->text : "";
    return read_body(reader, root);
}

static bool compile_patterns(schema_t *schema, field_t *field, err_t *err) {
    const texts_t *texts = &field->patterns;
    pattern_t *compiled = texts->count ? schema_own(schema, texts->count * sizeof *compiled, err) : NULL;
    for (size_t i = 0; compiled && i < texts->count; i++)
        pattern_compile(texts->items[i].text, texts->items[i].length, &compiled[i]);
    field->compiled = compiled;
    return compiled || !texts->count;
}

static bool compile_all(schema_t *schema, err_t *err) {
    bool ok = true;
    for (size_t i = 0; ok && i < schema->field_count; i++)
        ok = compile_patterns(schema, &schema->fields[i], err);
    for (size_t i = 0; ok && i < schema->made_count; i++)
        ok = compile_patterns(schema, &schema->made[i].field, err);
    return ok;
}

schema_t *schema_parse(const char *text, size_t length, const char *name, err_t *err) {
    schema_t *schema = calloc(1, sizeof *schema);
    if (!schema) {
        err_memory(err, sizeof *schema);
        return NULL;
    }
    reader_t reader = {.schema = schema, .err = err};
    reader.tree = schema->tree = yaml_tree_parse(text, length, name, err);
    const bool ok = schema->tree && read_schema(&reader);
    if (ok && !reader.mistake_count && compile_all(schema, err))
        return schema;
    if (reader.mistake_count && (ok || schema_go_on(&reader)))
        schema_tell_mistakes(&reader);
    schema_destroy(schema);
    return NULL;
}

schema_t *schema_parse_guessed(const char *text, const char *name, err_t *err) {
    schema_t *schema = schema_parse(text, strlen(text), name, err);
    if (schema)
        schema->guessed = true;
    return schema;
}

static const struct {
    const char *key, *what;
    record_kind_t kind;
    keys_part_t keys;
} kinds[] = {{"json", "objects", RECORDS_JSON, KEYS_JSON_FILE},
             {"bson", "BSON documents", RECORDS_BSON, KEYS_BSON_FILE}};

static const yaml_item_t *find(const yaml_item_t *record, size_t *kind) {
    const yaml_item_t *item = NULL;
    for (*kind = 0; *kind < COUNT(kinds) && !(item = yaml_item_get(record, kinds[*kind].key));)
        ++*kind;
    return item;
}

bool schema_is_whole(const yaml_item_t *record) {
    size_t kind;
    return find(record, &kind) != NULL;
}

/* A field says of which type the values under its name are: a key of objects, with dots. */
static bool read_field(reader_t *reader, const yaml_item_t *node, field_t *field) {
    if (!schema_want(reader, node, YAML_ITEM_MAP, "a field such as {name: created.at, type: date}"))
        return false;
    const yaml_item_t *name = yaml_item_get(node, "name"), *key = yaml_item_get(node, "key");
    if (key)
        return COMPLAIN(key, "'key' is for columns: a value of JSON keeps the key that it has there");
    *field = (field_t){.at = node};
    if (!schema_only_keys(reader, node, KEYS_JSON_FIELD))
        return false;
    if (!name || !yaml_item_get(node, "type"))
        return COMPLAIN(node, "a field of JSON needs a name (a key, with dots) and a type");
    if (!schema_name(reader, name, &field->name) || !schema_type(reader, yaml_item_get(node, "type"), field))
        return false;
    if (!value_types[field->type].of_json)
        return COMPLAIN(yaml_item_get(node, "type"), "'%s' is no type of values of JSON",
                        yaml_item_get(node, "type")->text);
    const char *problem =
        strcmp(field->name, "_id") == 0 ? NULL : schema_key_problem(field->name, name->length);
    if (problem)
        return COMPLAIN(name, "'%s' cannot be a document's key: %s", field->name, problem);
    field->key = field->name;
    if (yaml_item_get(node, "nulls") && strcmp(field->key, "_id") == 0)
        return COMPLAIN(yaml_item_get(node, "nulls"), "an _id cannot be left out, so it has no null values");
    return schema_values(reader, node, field) && schema_texts(reader, name, &field->columns);
}

/* Each record brings its own fields; of JSON some may have types. */
bool schema_read_whole(reader_t *reader, const yaml_item_t *root) {
    schema_t *schema = reader->schema;
    size_t kind;
    const yaml_item_t *record = yaml_item_get(root, "record"), *fields = yaml_item_get(root, "fields"),
                      *item = find(record, &kind);
    bool yes;
    if (!schema_only_keys(reader, root, kinds[kind].keys) ||
        !yaml_tree_only_keys(reader->tree, record, &kinds[kind].key, 1, reader->err) ||
        !yaml_tree_bool(reader->tree, item, &yes, reader->err))
        return false;
    if (!yes)
        return COMPLAIN(item, "'%s: yes' was expected; leave '%s' out where records are no %s",
                        kinds[kind].key, kinds[kind].key, kinds[kind].what);
    schema->kind = kinds[kind].kind;
    static const own_id_t kept = {.text = "_id", .kept = true}; /* who loads them may decide otherwise */
    schema->id = &kept;
    schema->header = HEADER_NO;
    schema->surplus_field = -1;
    schema->multiline = true;
    schema->point = '.';
    return schema->kind == RECORDS_BSON || !fields || schema_fields(reader, fields, read_field);
}
