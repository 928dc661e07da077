/* The walk over the keys of a format file, and the values that every part reads in the same way. */
#include "format/schema/schema_read.h"

#include <string.h>

enum { MOST_KEYS = 24, MOST_NOTED = 20 };

bool schema_go_on(reader_t *reader) {
    if (reader->err->status != STATUS_USAGE)
        return false;
    if (!reader->mistake_count++)
        reader->mistakes = *reader->err;
    else if (reader->mistake_count <= MOST_NOTED)
        err_add(&reader->mistakes, "\n%s", reader->err->text);
    return true;
}

bool schema_want(reader_t *reader, const yaml_item_t *node, yaml_item_kind_t kind, const char *expected) {
    return node->kind == kind || COMPLAIN(node, "%s was expected here", expected);
}

bool schema_texts(reader_t *reader, const yaml_item_t *node, texts_t *texts) {
    const bool list = node->kind == YAML_ITEM_LIST;
    const size_t count = list ? node->count : 1;
    schema_text_t *items = schema_own(reader->schema, count * sizeof *items, reader->err);
    const yaml_item_t *item = list ? node->first : node;
    if (!items)
        return false;
    for (size_t i = 0; i < count; i++, item = item->next) {
        if (!schema_want(reader, item, YAML_ITEM_SCALAR, "a word or a list of words"))
            return false;
        items[i] = (schema_text_t){item->text, item->length};
    }
    *texts = (texts_t){items, count};
    return true;
}

bool schema_text_among(const schema_text_t *text, const schema_text_t *others, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (others[i].length == text->length && memcmp(others[i].text, text->text, text->length) == 0)
            return true;
    return false;
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

const yaml_item_t *schema_item(const reader_t *reader, const char *key) {
    const yaml_item_t *item = yaml_item_get(reader->map, key);
    return item == reader->made ? NULL : item;
}

/* ---- maps ---- */

static bool stands_in(const row_t *row, part_t part) {
    return row->key && row->parts >> part & 1;
}

static const row_t *find_row(uint32_t parts, const char *key) {
    for (const row_t *row = schema_rows; row->parts; row++)
        if (row->parts & parts && row->key && strcmp(row->key, key) == 0)
            return row;
    return NULL;
}

/* The key is not known in this part; it may be one of the other kinds of records, or may have been one once. */
static bool complain_of_key(reader_t *reader, const yaml_item_t *item, part_t part) {
    const uint32_t kinds = part < PART_SURPLUS ? 0xFu << part / RECORD_KINDS * RECORD_KINDS : 0;
    const row_t *other = find_row(kinds, item->key);
    const char *keys[MOST_KEYS], *instead = schema_gone("", item->key);
    const yaml_item_t at = {.line = item->key_line, .column = item->key_column};
    yaml_item_t alone = *item;
    const yaml_item_t map = {.kind = YAML_ITEM_MAP, .first = &alone, .count = 1};
    size_t count = 0;
    if (instead)
        return COMPLAIN(&at, "'%s' is gone: %s", item->key, instead);
    if (other && other->only)
        return COMPLAIN(item, "'%s' %s", item->key, other->only);
    for (const row_t *row = schema_rows; row->parts; row++)
        if (stands_in(row, part))
            keys[count++] = row->key;
    alone.next = NULL;
    return yaml_tree_only_keys(reader->tree, &map, keys, count, reader->err);
}

bool schema_has_key(part_t part, const char *key) {
    return find_row(1u << part, key);
}

static bool only_keys(reader_t *reader, part_t part) {
    for (const yaml_item_t *item = reader->map->first; item; item = item->next)
        if (item != reader->made && !schema_has_key(part, item->key) &&
            !TRY(complain_of_key(reader, item, part)))
            return false;
    return true;
}

static bool read_row(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    const bool goes = !row->types || row->types >> ((const field_t *)into)->type & 1;
    return goes ? row->read(reader, node, into, row)
                : COMPLAIN(node, "'%s' goes with %s", row->key, row->goes);
}

static bool read_rows(reader_t *reader, part_t part, void *into, bool unknown) {
    for (const row_t *row = schema_rows; row->parts; row++) {
        if (!stands_in(row, part))
            continue;
        const yaml_item_t *node = schema_item(reader, row->key);
        const bool other = row->instead && schema_item(reader, row->instead);
        const size_t before = reader->mistake_count;
        if (row->missing && (node != NULL) == other)
            return unknown || COMPLAIN(reader->map, "%s", row->missing); /* the key may have another name */
        if (node && !TRY(read_row(reader, node, into, row)))
            return false;
        if (row->first && reader->mistake_count > before)
            return true;
    }
    return true;
}

bool schema_read_map(reader_t *reader, const yaml_item_t *map, part_t part, void *items, size_t index) {
    const part_row_t *is = &schema_parts[part];
    const yaml_item_t *outer = reader->map;
    const size_t before = reader->mistake_count;
    char *item = (char *)items + index * is->size;
    if (!schema_want(reader, map, YAML_ITEM_MAP, is->a_map))
        return false;
    if (is->at)
        memcpy(item + is->at, &map, sizeof map);
    reader->map = map;
    bool ok =
        (part != PART_MADE || schema_start_made(reader, (make_t *)(void *)item)) && only_keys(reader, part);
    const bool unknown = reader->mistake_count > before;
    ok = ok && read_rows(reader, part, item, unknown) &&
         (reader->mistake_count > before || !is->finish || is->finish(reader, items, index));
    reader->map = outer;
    reader->made = NULL;
    return ok;
}

/* A map, such as {year: {path: year}, source: file}, as a list of maps of one key each. NULL: no memory. */
static const yaml_item_t *list_of(reader_t *reader, const yaml_item_t *map) {
    yaml_item_t *list = schema_own(reader->schema, (1 + 2 * map->count) * sizeof *list, reader->err);
    const yaml_item_t *item = map->first;
    if (!list)
        return NULL;
    *list = *map;
    list->kind = YAML_ITEM_LIST;
    list->first = map->count ? &list[1] : NULL;
    for (size_t i = 0; i < map->count; i++, item = item->next) {
        yaml_item_t *node = &list[1 + 2 * i], *only = node + 1;
        *node = (yaml_item_t){.kind = YAML_ITEM_MAP, .line = item->key_line, .column = item->key_column};
        node->first = only;
        node->count = 1;
        node->next = item->next ? node + 2 : NULL;
        *only = *item;
        only->next = NULL;
    }
    return list;
}

bool schema_read_list(reader_t *reader, const yaml_item_t *list, void *into, const row_t *row) {
    const bool fields = row->items == PART_FIELD;
    const part_t part = schema_part(reader->schema, row->items);
    const part_row_t *is = &schema_parts[part];
    if (part == PART_MADE && list->kind == YAML_ITEM_MAP && !(list = list_of(reader, list)))
        return false;
    if (!schema_want(reader, list, YAML_ITEM_LIST, is->a_list))
        return false;
    if (list->count < is->least || list->count > is->most)
        return is->least ? COMPLAIN(list, "%zu to %zu %s were expected", is->least, is->most, is->things)
                         : COMPLAIN(list, "at most %zu %s were expected", is->most, is->things);
    char *items = schema_own(reader->schema, list->count * is->size, reader->err);
    size_t *count = (size_t *)(void *)((char *)into + row->count_at);
    if (!items)
        return false;
    memcpy((char *)into + row->at, &items, sizeof items);
    for (const yaml_item_t *node = list->first; node; node = node->next) {
        char *item = items + *count * is->size;
        const size_t before = reader->mistake_count;
        memset(item, 0, is->size);
        if (!TRY(schema_read_map(reader, node, part, items, *count)))
            return false;
        const bool sound = reader->mistake_count == before;
        if (fields && into == reader->schema)
            reader->broken[*count] = !sound;
        *count += sound || (fields && ((const field_t *)(const void *)item)->key);
    }
    return true;
}

/* ---- the file ---- */

/* Each kind has its own key in `record`, except delimited records. */
static record_kind_t kind_of(const yaml_item_t *root) {
    static const char *const keys[RECORD_KINDS] = {
        [RECORDS_FIXED] = "fixed", [RECORDS_JSON] = "json", [RECORDS_BSON] = "bson"};
    for (record_kind_t kind = RECORDS_FIXED; kind <= RECORDS_BSON; kind++)
        if (yaml_item_get(yaml_item_get(root, "record"), keys[kind]))
            return kind;
    return RECORDS_DELIMITED;
}

static bool read_file(reader_t *reader, schema_t *schema) {
    static const own_id_t kept = {.text = "_id", .kept = true}; /* who loads them may decide otherwise */
    const yaml_item_t *root = yaml_tree_root(schema->tree);
    schema->kind = kind_of(root);
    const bool delimited = schema->kind == RECORDS_DELIMITED;
    schema->about = "";
    schema->surplus_field = -1;
    schema->header = delimited ? HEADER_WORDS : HEADER_NO;
    schema->quote = delimited ? '"' : 0;
    schema->escape_double = delimited;
    schema->point = '.';
    if (schema_any_fields(schema))
        schema->id = &kept;
    schema->multiline = schema_any_fields(schema);
    return TRY(schema_read_map(reader, root, schema_part(schema, PART_FILE), schema, 0)) &&
           !reader->mistake_count && schema_digest(schema, reader->err);
}

schema_t *schema_parse(const char *text, size_t length, const char *name, err_t *err) {
    schema_t *schema = calloc(1, sizeof *schema);
    if (!schema) {
        err_memory(err, sizeof *schema);
        return NULL;
    }
    reader_t reader = {.schema = schema, .err = err};
    reader.tree = schema->tree = yaml_tree_parse(text, length, name, err);
    if (schema->tree && read_file(&reader, schema))
        return schema;
    if (reader.mistake_count && err->status == STATUS_USAGE) {
        *err = reader.mistakes;
        if (reader.mistake_count > MOST_NOTED)
            err_add(err, "\nand %zu more", reader.mistake_count - MOST_NOTED);
    }
    schema_destroy(schema);
    return NULL;
}

schema_t *schema_parse_guessed(const char *text, const char *name, err_t *err) {
    schema_t *schema = schema_parse(text, strlen(text), name, err);
    if (schema)
        schema->guessed = true;
    return schema;
}
