/* The walk over the keys of a format file, and the keys that are made. */
#include "format/schema/schema_read.h"

#include <string.h>

enum { MOST_KEYS = 24 };

const yaml_item_t *schema_item(const reader_t *reader, const char *key) {
    return yaml_item_get(reader->map, key);
}

/* Says what to do instead of a word that was removed. False: it was never known. */
static bool is_gone(const reader_t *reader, const yaml_item_t *at, const char *word) {
    const char *instead = word ? schema_gone(word) : NULL;
    return instead && !COMPLAIN(at, "'%s' is gone: %s", word, instead);
}

/* ---- words ---- */

/* The ways in which keys are made. */
static const struct {
    const char *name;
    make_kind_t kind;
    text_change_t change;
    uint32_t records; /* bits: the kinds of records */
} ways[] = {
    {"first", MAKE_FIRST, TEXT_AS_IS, DELIMITED | FIXED}, {"utc", MAKE_UTC, TEXT_AS_IS, FIXED},
    {"point", MAKE_POINT, TEXT_AS_IS, DELIMITED | FIXED}, {"join", MAKE_JOIN, TEXT_AS_IS, DELIMITED},
    {"lower", MAKE_JOIN, TEXT_LOWER, DELIMITED},          {"sha256", MAKE_JOIN, TEXT_SHA256, DELIMITED},
    {"path", MAKE_PATH, TEXT_AS_IS, DELIMITED},           {"folder", MAKE_FOLDER, TEXT_AS_IS, DELIMITED},
    {"file", MAKE_FILE, TEXT_AS_IS, DELIMITED},           {"constant", MAKE_CONSTANT, TEXT_AS_IS, DELIMITED}};

static void add_word(words_t *words, const char *word) {
    strcat(words->text, words->text[0] ? ", " : "");
    strcat(words->text, word);
}

words_t schema_made_words(record_kind_t kind, uint32_t makes) {
    words_t words = {.text = ""};
    for (size_t i = 0; i < COUNT(ways); i++)
        if (ways[i].records >> kind & makes >> ways[i].kind & 1)
            add_word(&words, ways[i].name);
    return words;
}

words_t schema_type_words(uint32_t types) {
    words_t words = {.text = ""};
    for (const schema_type_t *type = schema_types; type->name; type++)
        if (types >> type->type & 1)
            add_word(&words, type->name);
    return words;
}

/* ---- rows ---- */

static bool know_keys(reader_t *reader, uint32_t part) {
    const schema_t *schema = reader->schema;
    const yaml_item_t *zone = part == IN_FILE ? schema_item(reader, "timezone") : NULL;
    const char *keys[MOST_KEYS];
    size_t count = 0;
    if (zone && (schema->kind == RECORDS_FIXED || schema->kind == RECORDS_BSON))
        return COMPLAIN(
            zone, "'timezone' does not go with BSON or records of fixed width: their dates are UTC, also "
                  "those that are made by utc");
    for (const yaml_item_t *item = reader->map->first; item; item = item->next)
        if (is_gone(reader, &(yaml_item_t){.line = item->key_line, .column = item->key_column}, item->key))
            return false;
    for (const row_t *row = schema_rows; row->parts; row++)
        if (row->key && schema_row_is_in(row, part, schema->kind))
            keys[count++] = row->key;
    return yaml_tree_only_keys(schema->tree, reader->map, keys, count, reader->err);
}

static bool read_row(reader_t *reader, uint32_t part, const row_t *row) {
    const yaml_item_t *node = schema_item(reader, row->key),
                      *other = row->instead ? schema_item(reader, row->instead) : NULL;
    const bool goes = part != IN_MADE || !row->makes || row->makes >> ((make_t *)reader->into)->kind & 1;
    if (!node)
        return !row->needed || other || !goes ||
               COMPLAIN(reader->map, "'%s' is missing: %s", row->key, row->is);
    if (other)
        return COMPLAIN(node, "'%s' does not go with '%s'", row->key, row->instead);
    if (!goes)
        return COMPLAIN(node, "'%s' goes with a key that is made by %s", row->key,
                        schema_made_words(reader->schema->kind, row->makes).text);
    if (row->types && !(row->types >> ((field_t *)reader->into)->type & 1))
        return COMPLAIN(node, "'%s' goes with the type %s", row->key, schema_type_words(row->types).text);
    reader->row = row;
    if ((row->any || node->kind == YAML_ITEM_SCALAR) && row->read(reader, node))
        return true;
    const bool type = row->read == schema_read_type;
    return reader->err->status == STATUS_OK && !is_gone(reader, node, node->text) &&
           COMPLAIN(node, "'%s' must be %s%s%s", row->key, row->is, type ? ": " : "",
                    type ? schema_type_words(row->types).text : "");
}

/* ---- maps, and lists of maps ---- */

/* Reads a map of the part into a struct. */
static bool read_part(reader_t *reader, const yaml_item_t *map, uint32_t part, finish_fn *finish,
                      void *into) {
    const reader_t outer = *reader;
    if (map->kind != YAML_ITEM_MAP)
        return COMPLAIN(map, "a map was expected here, such as {name: a, type: int}");
    reader->map = map;
    reader->into = into;
    bool ok = know_keys(reader, part);
    for (const row_t *row = schema_rows; ok && row->parts; row++)
        ok = !row->key || !schema_row_is_in(row, part, outer.schema->kind) || read_row(reader, part, row);
    ok = ok && (!finish || finish(reader));
    *reader = outer;
    return ok;
}

bool schema_read_map(reader_t *reader, const yaml_item_t *node) {
    const row_t *row = reader->row;
    return read_part(reader, node, row->items, row->finish, reader->into);
}

/* Finds the way in which a key is made; in braces it is the first key. */
static bool find_way(reader_t *reader, const yaml_item_t *key, make_t *made) {
    const yaml_item_t *within = key->kind == YAML_ITEM_MAP ? key->first : NULL;
    const char *word = within ? within->key : key->text, *path = within ? within->text : key->key;
    bool found = false;
    for (size_t i = 0; word && i < COUNT(ways); i++)
        if (strcmp(word, ways[i].name) == 0 && ways[i].records >> reader->schema->kind & 1) {
            made->kind = ways[i].kind;
            made->change = ways[i].change;
            found = made->kind == MAKE_PATH ? path && *path && !strpbrk(path, "/=") : !within;
        }
    if (made->kind == MAKE_PATH && found)
        made->text = (schema_text_t){path, strlen(path)};
    return found || (!is_gone(reader, key, word) &&
                     COMPLAIN(key,
                              "'%s' makes no key of such records: %s was expected, or {path: NAME} for "
                              "folders such as NAME=2024",
                              word ? word : "...", schema_made_words(reader->schema->kind, ~0u).text));
}

/* Reads {KEY: WAY, OPTIONS}; or KEY: WAY, or KEY: {path: NAME, OPTIONS}, which may be one of several in a map. */
static bool read_made(reader_t *reader, const yaml_item_t *node, bool of_map, make_t *made) {
    const yaml_item_t *key = of_map ? node : node->first;
    const bool within = key && key->kind == YAML_ITEM_MAP;
    if (!key || !key->key || (within && !of_map && node->count > 1))
        return COMPLAIN(node,
                        "a map such as {name: join, from: [first, last]} was expected, or {year: {path: "
                        "year, type: int}} with all options in the inner braces");
    made->field.name = made->field.key = key->key;
    if (strchr(key->key, '.') || schema_key_problem(key->key, strlen(key->key)) ||
        strlen(key->key) > SCHEMA_LONGEST_MADE)
        return COMPLAIN(key, "'%s' cannot be made: a plain key of at most %d bytes was expected", key->key,
                        SCHEMA_LONGEST_MADE);
    if (!find_way(reader, key, made))
        return false;
    yaml_item_t options = within ? *key : *node;
    options.kind = YAML_ITEM_MAP;
    options.first = within ? key->first->next : of_map ? NULL : key->next;
    return read_part(reader, &options, IN_MADE, schema_finish_made, made);
}

bool schema_read_list(reader_t *reader, const yaml_item_t *list) {
    const row_t *row = reader->row;
    const bool made = row->items == IN_MADE, map = made && list->kind == YAML_ITEM_MAP;
    size_t *count = (size_t *)(void *)((char *)reader->into + row->count_at);
    if ((!map && list->kind != YAML_ITEM_LIST) || list->count < (size_t)row->least ||
        list->count > (size_t)row->most)
        return false;
    char *const before_all = schema_own(reader->schema, (list->count + 1) * row->size, reader->err),
                *item = before_all ? before_all + row->size : NULL;
    const bool inner = row->items == IN_ENTRY || row->items == IN_PIECE;
    names_t *names = reader->names;
    const size_t first = names->first, before = names->count;
    names->first = inner ? before : first;
    bool ok = item && (row->items != IN_PIECE || schema_name(reader, "", "id", list));
    memcpy((char *)reader->into + row->at, &item, sizeof item);
    for (const yaml_item_t *node = list->first; ok && node; node = node->next, item += row->size) {
        memcpy(item, &node, sizeof node);
        ok = made ? read_made(reader, node, map, (make_t *)(void *)item)
                  : read_part(reader, node, row->items, row->finish, item);
        ++*count;
    }
    names->first = first;
    names->count = inner ? before : names->count;
    return ok;
}

/* ---- the file ---- */

/* Each kind has its own key in `record`, except delimited records. */
static record_kind_t kind_of(const yaml_item_t *root) {
    static const char *const keys[RECORD_KINDS] = {
        [RECORDS_FIXED] = "fixed", [RECORDS_JSON] = "json", [RECORDS_BSON] = "bson"};
    record_kind_t kind = RECORDS_BSON;
    while (kind && !yaml_item_get(yaml_item_get(root, "record"), keys[kind]))
        kind--;
    return kind;
}

schema_t *schema_parse(const char *text, size_t length, const char *name, err_t *err) {
    static const own_id_t kept = {.text = "_id", .kept = true}; /* who loads them may decide otherwise */
    schema_t *schema = calloc(1, sizeof *schema);
    names_t names;
    names.first = names.count = 0;
    reader_t reader = {.schema = schema, .names = &names, .err = err};
    err->status = STATUS_OK;
    if (!schema)
        err_memory(err, sizeof *schema);
    if (!schema || !(schema->tree = yaml_tree_parse(text, length, name, err))) {
        free(schema);
        return NULL;
    }
    schema->kind = kind_of(yaml_tree_root(schema->tree));
    schema->header = schema->kind == RECORDS_DELIMITED ? HEADER_WORDS : HEADER_NO;
    schema->quote = schema->kind == RECORDS_DELIMITED ? '"' : 0;
    schema->escape_double = schema->kind == RECORDS_DELIMITED;
    schema->multiline = schema_any_fields(schema);
    schema->id = schema_any_fields(schema) ? &kept : NULL;
    schema->about = "";
    schema->surplus_field = -1;
    schema->point = '.';
    schema->bad_value_said = yaml_item_get(yaml_tree_root(schema->tree), "on_bad_value");
    if (read_part(&reader, yaml_tree_root(schema->tree), IN_FILE, schema_finish_file, schema) &&
        schema_digest(schema, err))
        return schema;
    schema_destroy(schema);
    return NULL;
}

schema_t *schema_parse_guessed(const char *text, const char *name, err_t *err) {
    schema_t *schema = schema_parse(text, strlen(text), name, err);
    if (schema) {
        schema->guessed = true;
        schema->bad_value_said = false;
    }
    return schema;
}
