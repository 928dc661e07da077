#include "format/schema/schema_read.h"
#include "base/text.h"
#include "format/schema/schema.h"

#include <string.h>

enum { MOST_TOLD = 20 };

bool schema_go_on(reader_t *reader) {
    if (reader->err->status != STATUS_USAGE)
        return false;
    if (!reader->mistake_count++)
        reader->mistakes = *reader->err;
    else if (reader->mistake_count <= MOST_TOLD)
        err_add(&reader->mistakes, "\n%s", reader->err->text);
    return true;
}

void schema_tell_mistakes(reader_t *reader) {
    *reader->err = reader->mistakes;
    if (reader->mistake_count > MOST_TOLD)
        err_add(reader->err, "\nand %zu more", reader->mistake_count - MOST_TOLD);
}

bool schema_only_keys(reader_t *reader, const yaml_item_t *map, keys_part_t part) {
    const char *keys[KEYS_MOST];
    const size_t count = schema_keys_of(part, keys);
    yaml_item_t alone = *map, only;
    for (const yaml_item_t *child = map->first; child; child = child->next) {
        only = *child;
        only.next = NULL;
        alone.first = &only;
        const char *instead = schema_gone(GONE_KEY, child->key);
        const yaml_item_t at = {.line = child->key_line, .column = child->key_column};
        if (!TRY(instead ? COMPLAIN(&at, "'%s' is gone: %s", child->key, instead)
                         : yaml_tree_only_keys(reader->tree, &alone, keys, count, reader->err)))
            return false;
    }
    return true;
}

bool schema_want(reader_t *reader, const yaml_item_t *node, yaml_item_kind_t kind, const char *expected) {
    return node->kind == kind || COMPLAIN(node, "%s was expected here", expected);
}

bool schema_not_gone(reader_t *reader, const yaml_item_t *node, gone_part_t part) {
    const char *instead = node->kind == YAML_ITEM_SCALAR ? schema_gone(part, node->text) : NULL;
    return !instead || COMPLAIN(node, "'%s' is gone: %s", node->text, instead);
}

bool schema_texts(reader_t *reader, const yaml_item_t *node, texts_t *texts) {
    size_t count = node->kind == YAML_ITEM_LIST ? node->count : 1;
    schema_text_t *items = schema_keep(reader, (count ? count : 1) * sizeof *items);
    if (!items)
        return false;
    const yaml_item_t *item = node->kind == YAML_ITEM_LIST ? node->first : node;
    for (size_t i = 0; i < count; i++, item = item->next) {
        if (!schema_want(reader, item, YAML_ITEM_SCALAR, "a word or a list of words"))
            return false;
        items[i] = (schema_text_t){item->text, item->length};
    }
    *texts = (texts_t){items, count};
    return true;
}

bool schema_name(reader_t *reader, const yaml_item_t *node, const char **name) {
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, "a name"))
        return false;
    if (!node->length || strlen(node->text) != node->length)
        return COMPLAIN(node, "a name cannot be empty");
    *name = node->text;
    return true;
}

const char *schema_key_problem(const char *key, size_t length) {
    if (!length || key[0] == '$' || key[0] == '.' || key[length - 1] == '.' || strstr(key, "..") ||
        strstr(key, ".$"))
        return "no part of it may be empty or start with '$'";
    if (strcmp(key, "_id") == 0 || strncmp(key, "_id.", 4) == 0)
        return "_id is made from the record's position";
    return length > 120 ? "it has more than 120 bytes" : NULL;
}

bool schema_key(reader_t *reader, const yaml_item_t *node, const char **key) {
    if (!schema_name(reader, node, key))
        return false;
    const char *problem = schema_key_problem(*key, node->length);
    return !problem || COMPLAIN(node, "'%s' cannot be a document's key: %s", *key, problem);
}

bool schema_type(reader_t *reader, const yaml_item_t *node, field_t *field) {
    static const schema_text_t date[] = {{"YYYY-MM-DD", 10}};
    static const schema_text_t datetime[] = {{"YYYY-MM-DDThh:mm:ssZ", 20},
                                             {"YYYY-MM-DD hh:mm:ss", 19},
                                             {"YYYY-MM-DDThh:mm:ss", 19},
                                             {"YYYY-MM-DDThh:mm:ss.SSSZ", 24},
                                             {"YYYY-MM-DD hh:mm:ss.SSS", 23},
                                             {"YYYY-MM-DDThh:mm:ss.SSS", 23},
                                             {"YYYY-MM-DD", 10}};
    const char *words[SCHEMA_TYPES];
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, "a type"))
        return false;
    for (size_t i = 0; i < SCHEMA_TYPES; i++) {
        words[i] = schema_types[i].name;
        if (strcmp(node->text, schema_types[i].name) != 0)
            continue;
        field->type = schema_types[i].type;
        if (strcmp(node->text, "date") == 0)
            field->patterns = (texts_t){date, COUNT(date)};
        if (strcmp(node->text, "datetime") == 0 || strcmp(node->text, "timestamp") == 0)
            field->patterns = (texts_t){datetime, COUNT(datetime)};
        return true;
    }
    return COMPLAIN(node, "'%s' is not a type; types are " SCHEMA_TYPE_WORDS "%s", node->text,
                    suggestion(node->text, words, SCHEMA_TYPES).text);
}

bool schema_divide(reader_t *reader, const yaml_item_t *node, field_t *field) {
    int64_t divide = 1;
    if (field->type != TYPE_NUMBER && field->type != TYPE_DECIMAL)
        return COMPLAIN(node, "'%s' goes with the types number and decimal", node->key);
    if (!yaml_tree_int(reader->tree, node, 1, 1000000000, &divide, reader->err))
        return false;
    for (field->divide = 0; divide % 10 == 0; divide /= 10)
        field->divide++;
    return divide == 1 || COMPLAIN(node, "a power of ten was expected: 1, 10, 100, ...");
}

bool schema_field_start(reader_t *reader, const yaml_item_t *node, field_t *field) {
    const yaml_item_t *name = yaml_item_get(node, "name"), *key = yaml_item_get(node, "key"),
                      *type = yaml_item_get(node, "type");
    field->at = node;
    if (!name)
        return COMPLAIN(node, "this field has no name");
    return schema_name(reader, name, &field->name) && schema_key(reader, key ? key : name, &field->key) &&
           (!type || schema_type(reader, type, field));
}

bool schema_fits(reader_t *reader, const field_t *fields, size_t count, const field_t *field) {
    for (size_t i = 0; i < count; i++) {
        const field_t *other = &fields[i];
        if (strcmp(other->name, field->name) == 0)
            return COMPLAIN(field->at, "a field named '%s' is in line %d already", field->name,
                            other->at->line);
        size_t length = strlen(other->key), mine = strlen(field->key);
        size_t shorter = length < mine ? length : mine;
        if (strncmp(other->key, field->key, shorter) == 0 &&
            (length == mine || (length < mine ? field->key : other->key)[shorter] == '.'))
            return COMPLAIN(field->at,
                            "the key '%s' does not go with '%s' of line %d: one of them is in the way",
                            field->key, other->key, other->at->line);
    }
    return true;
}

bool schema_named(reader_t *reader, const yaml_item_t *node, int *index) {
    const schema_t *schema = reader->schema;
    const char *names[SCHEMA_MOST_FIELDS];
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, "a field's name"))
        return false;
    for (size_t i = 0; i < schema->field_count; i++) {
        names[i] = schema->fields[i].name;
        if (strcmp(names[i], node->text) == 0) {
            *index = (int)i;
            return true;
        }
    }
    return COMPLAIN(node, "there is no field '%s'%s", node->text,
                    suggestion(node->text, names, schema->field_count).text);
}

bool schema_fields(reader_t *reader, const yaml_item_t *list, schema_field_fn *read) {
    schema_t *schema = reader->schema;
    if (!schema_want(reader, list, YAML_ITEM_LIST, "a list of fields"))
        return false;
    if (!list->count || list->count > SCHEMA_MOST_FIELDS)
        return COMPLAIN(list, "1 to %d fields were expected", SCHEMA_MOST_FIELDS);
    if (!(schema->fields = schema_keep(reader, list->count * sizeof *schema->fields)))
        return false;
    for (const yaml_item_t *node = list->first; node; node = node->next) {
        field_t *field = &schema->fields[schema->field_count];
        const size_t before = reader->mistake_count;
        if (!TRY(read(reader, node, field)) ||
            (field->key && !TRY(schema_fits(reader, schema->fields, schema->field_count, field))))
            return false;
        reader->broken[schema->field_count] = reader->mistake_count > before;
        schema->field_count += field->key != NULL; /* without one nothing can be said of it */
    }
    return true;
}
