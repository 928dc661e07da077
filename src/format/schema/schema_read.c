/* The walk over the keys of a format file, and the values that every part reads in the same way. */
#include "format/schema/schema_read.h"

#include <string.h>

enum { MOST_KEYS = 24, MOST_NOTED = 20 };

bool schema_note(reader_t *reader, bool ok) {
    if (!ok && !reader->mistake_count++)
        reader->mistakes = reader->mistake;
    else if (!ok && reader->mistake_count <= MOST_NOTED)
        err_add(&reader->mistakes, "\n%s", reader->mistake.text);
    return ok;
}

void *schema_room(reader_t *reader, size_t bytes) {
    return schema_own(reader->schema, bytes, reader->err);
}

bool schema_must_be(reader_t *reader, const yaml_item_t *node, const row_t *row) {
    return COMPLAIN(node, "'%s' must be %s", row->key, row->is);
}

words_t schema_either(const char *const *words, size_t count) {
    words_t either = {.text = ""};
    for (size_t i = 0; i < count; i++) {
        strcat(either.text, !i ? "" : i + 1 < count ? ", " : " or ");
        strcat(either.text, words[i]);
    }
    return either;
}

bool schema_texts(reader_t *reader, const yaml_item_t *node, texts_t *texts) {
    const bool list = node->kind == YAML_ITEM_LIST;
    const size_t count = list ? node->count : 1;
    schema_text_t *items = schema_room(reader, count * sizeof *items);
    const yaml_item_t *item = list ? node->first : node;
    for (size_t i = 0; items && i < count; i++, item = item->next) {
        if (item->kind != YAML_ITEM_SCALAR)
            return COMPLAIN(item, "a word or a list of words was expected here");
        items[i] = (schema_text_t){item->text, item->length};
    }
    *texts = (texts_t){items, items ? count : 0};
    return items;
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
    if (node->kind != YAML_ITEM_SCALAR)
        return COMPLAIN(node, "a field's name was expected here");
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
    const yaml_item_t *item = key ? yaml_item_get(reader->map, key) : NULL;
    return item == reader->made ? NULL : item;
}

/* ---- keys ---- */

static bool stands_in(const row_t *row, part_t part) {
    return row->key && row->parts >> part & 1;
}

static bool is_made(part_t part) {
    return part >= PART_MADE && part < PART_SURPLUS;
}

static const row_t *find_row(uint32_t parts, const char *key) {
    for (const row_t *row = schema_rows; row->parts; row++)
        if (row->parts & parts && row->key && strcmp(row->key, key) == 0)
            return row;
    return NULL;
}

bool schema_has_key(part_t part, const char *key) {
    return find_row(1u << part, key);
}

bool schema_is_gone(reader_t *reader, const yaml_item_t *at, const char *key, const char *word) {
    const char *instead = schema_gone(key, word);
    return instead && !COMPLAIN(at, "'%s' is gone: %s", word, instead);
}

/* The key may be one of other kinds of records, or may have been one once. */
static bool is_known(reader_t *reader, const yaml_item_t *item, part_t part) {
    const bool field = (part >= PART_FIELD && part < PART_MADE) || part == PART_PIECE;
    const uint32_t kinds = part < PART_SURPLUS ? 0xFu << part / RECORD_KINDS * RECORD_KINDS : 0;
    const row_t *other = find_row(kinds | (field ? 1u << PART_ENTRY : 0), item->key);
    const char *keys[MOST_KEYS];
    const yaml_item_t at = {.line = item->key_line, .column = item->key_column};
    yaml_item_t alone = *item;
    const yaml_item_t map = {.kind = YAML_ITEM_MAP, .first = &alone, .count = 1};
    size_t count = 0;
    if (item == reader->made || schema_has_key(part, item->key))
        return true;
    if (schema_is_gone(reader, &at, "", item->key))
        return false;
    if (other && other->only)
        return COMPLAIN(item, "'%s' %s", item->key, other->only);
    for (const row_t *row = schema_rows; row->parts; row++)
        if (stands_in(row, part))
            keys[count++] = row->key;
    alone.next = NULL;
    return schema_note(reader,
                       yaml_tree_only_keys(reader->schema->tree, &map, keys, count, &reader->mistake));
}

/* ---- rows ---- */

/* complete: no key of the map is unknown, so that none can be a missing one whose name was mistyped. */
static bool read_row(reader_t *reader, part_t part, void *into, const row_t *row, bool complete) {
    const yaml_item_t *node = schema_item(reader, row->key);
    const bool other = schema_item(reader, row->instead),
               made = !is_made(part) || !row->makes || row->makes >> ((const make_t *)into)->kind & 1;
    if (!node)
        return !row->needed || other || !made ||
               (complete && COMPLAIN(reader->map, "'%s' is missing: %s", row->key, row->is));
    if (other)
        return COMPLAIN(node, "'%s' does not go with '%s'", row->key, row->instead);
    if (row->types && !(row->types >> ((const field_t *)into)->type & 1))
        return COMPLAIN(node, "'%s' goes with the type %s", row->key, schema_type_words(row->types).text);
    if (!made)
        return COMPLAIN(node, "'%s' goes with a key that is made by %s", row->key,
                        schema_made_words(reader->schema->kind, row->makes).text);
    const bool ok = !row->needs || schema_item(reader, row->needs) ||
                    COMPLAIN(node, "'%s' goes with '%s', which is missing", row->key, row->needs);
    return (row->any || node->kind == YAML_ITEM_SCALAR ? row->read(reader, node, into, row)
                                                       : schema_must_be(reader, node, row)) &&
           ok;
}

static bool read_rows(reader_t *reader, part_t part, void *into) {
    bool sound = true;
    for (const yaml_item_t *item = reader->map->first; item; item = item->next)
        sound &= is_known(reader, item, part);
    const bool complete = sound;
    for (const row_t *row = schema_rows; row->parts; row++) {
        if (!stands_in(row, part))
            continue;
        const bool ok = read_row(reader, part, into, row, complete);
        sound &= ok;
        if (!ok && (row->first || !schema_item(reader, row->key)))
            break;
    }
    return sound;
}

/* ---- maps, and lists of maps ---- */

bool schema_read_map(reader_t *reader, const yaml_item_t *map, part_t part, void *items, size_t index) {
    const part_row_t *is = &schema_parts[part];
    const yaml_item_t *outer = reader->map;
    char *item = (char *)items + index * is->size;
    if (map->kind != YAML_ITEM_MAP)
        return COMPLAIN(map, "%s was expected here", is->a_map);
    if (is->at)
        memcpy(item + is->at, &map, sizeof map);
    reader->map = map;
    const bool ok = (!is_made(part) || schema_start_made(reader, (make_t *)(void *)item)) &&
                    read_rows(reader, part, item) && (!is->finish || is->finish(reader, items, index));
    reader->map = outer;
    reader->made = NULL;
    return ok;
}

/* A key of a map, such as {year: {path: year}, source: file}, as a map of its own. */
static const yaml_item_t *alone(reader_t *reader, const yaml_item_t *item) {
    yaml_item_t *map = schema_room(reader, 2 * sizeof *map);
    if (!map)
        return NULL;
    map[0] = (yaml_item_t){.kind = YAML_ITEM_MAP,
                           .line = item->key_line,
                           .column = item->key_column,
                           .first = &map[1],
                           .count = 1};
    map[1] = *item;
    map[1].next = NULL;
    return map;
}

bool schema_read_list(reader_t *reader, const yaml_item_t *list, void *into, const row_t *row) {
    const part_t part = schema_part(reader->schema, row->items);
    const part_row_t *is = &schema_parts[part];
    const bool map = is_made(part) && list->kind == YAML_ITEM_MAP;
    bool sound = true;
    if (!map && list->kind != YAML_ITEM_LIST)
        return COMPLAIN(list, "%s was expected here", is->a_list);
    if (list->count < is->least || list->count > is->most)
        return COMPLAIN(list, "%zu to %zu %s were expected", is->least, is->most, is->things);
    char *items = schema_room(reader, list->count * is->size);
    size_t *count = (size_t *)(void *)((char *)into + row->count_at);
    if (!items)
        return false;
    memcpy((char *)into + row->at, &items, sizeof items);
    for (const yaml_item_t *node = list->first; node; node = node->next) {
        const yaml_item_t *one = map ? alone(reader, node) : node;
        char *item = items + *count * is->size;
        memset(item, 0, is->size);
        const bool ok = one && schema_read_map(reader, one, part, items, *count);
        *count += ok || (row->items == PART_FIELD && ((const field_t *)(const void *)item)->key);
        sound &= ok;
    }
    return sound;
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
    const bool sound = schema_read_map(reader, root, schema_part(schema, PART_FILE), schema, 0);
    return schema_check_top(reader) && sound && schema_digest(schema, reader->err);
}

schema_t *schema_parse(const char *text, size_t length, const char *name, err_t *err) {
    schema_t *schema = calloc(1, sizeof *schema);
    if (!schema) {
        err_memory(err, sizeof *schema);
        return NULL;
    }
    reader_t reader = {.schema = schema, .err = err};
    err->status = STATUS_OK;
    schema->tree = yaml_tree_parse(text, length, name, err);
    if (schema->tree && read_file(&reader, schema))
        return schema;
    if (err->status == STATUS_OK) {
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
