#include "base/text.h"
#include "format/schema/schema_read.h"

#include <string.h>

static const struct {
    const char *name;
    make_kind_t kind;
    field_type_t type;
    size_t items; /* 0: one or several */
    text_change_t change;
} kinds[] = {
    {"first", MAKE_FIRST, TYPE_TEXT, 0, TEXT_AS_IS}, {"utc", MAKE_UTC, TYPE_DATE, 2, TEXT_AS_IS},
    {"point", MAKE_POINT, TYPE_TEXT, 2, TEXT_AS_IS}, {"join", MAKE_JOIN, TYPE_TEXT, 0, TEXT_AS_IS},
    {"lower", MAKE_JOIN, TYPE_TEXT, 0, TEXT_LOWER},  {"sha256", MAKE_JOIN, TYPE_TEXT, 0, TEXT_SHA256},
    {"file", MAKE_FILE, TYPE_TEXT, 0, TEXT_AS_IS},   {"constant", MAKE_CONSTANT, TYPE_TEXT, 0, TEXT_AS_IS}};

static bool read_kind(reader_t *reader, const yaml_item_t *node, make_t *made, size_t *items) {
    static const schema_text_t moments[] = {{"YYYY-MM-DDThh:mm:ssZ", 20}, {"YYYY-MM-DDThh:mm:ss", 19},
                                            {"YYYY-MM-DD hh:mm:ss", 19},  {"YYYY-MM-DDThh:mm", 16},
                                            {"YYYY-MM-DD hh:mm", 16},     {"YYYY-MM-DD", 10}};
    const char *words[COUNT(kinds)];
    for (size_t i = 0; i < COUNT(kinds); i++) {
        words[i] = kinds[i].name;
        if (node->kind != YAML_ITEM_SCALAR || strcmp(node->text, kinds[i].name) != 0)
            continue;
        made->kind = kinds[i].kind;
        made->change = kinds[i].change;
        made->field.type = kinds[i].type;
        *items = kinds[i].items;
        if (made->kind == MAKE_UTC)
            made->field.patterns = (texts_t){moments, COUNT(moments)};
        return made->kind < MAKE_JOIN || !reader->schema->fixed ||
               COMPLAIN(
                   node,
                   "'%s' goes with delimited records; of fixed width, a key is made by first, utc or point",
                   node->text);
    }
    if (!schema_not_gone(reader, node, GONE_MADE))
        return false;
    const char *near = node->kind == YAML_ITEM_SCALAR ? suggest_word(node->text, words, COUNT(kinds)) : NULL;
    return COMPLAIN(node, "%s%s%sa key is made by %sfirst, utc or point", near ? "did you mean '" : "",
                    near ? near : "", near ? "'? " : "",
                    reader->schema->fixed ? "" : "join, lower, sha256, constant, file, ");
}

/* Are the items texts that are put together? */
static bool of_texts(const make_t *made) {
    return made->kind == MAKE_FIRST || made->kind == MAKE_JOIN;
}

static bool read_item(reader_t *reader, const yaml_item_t *node, make_t *made) {
    size_t count = node->kind == YAML_ITEM_LIST ? node->count : 1;
    const yaml_item_t *name = node->kind == YAML_ITEM_LIST ? node->first : node;
    if (!count || count > SCHEMA_MOST_FROM || (!of_texts(made) && node->kind == YAML_ITEM_LIST))
        return COMPLAIN(node, "a field's name was expected%s",
                        of_texts(made) ? ", or a list of up to 4 that are joined" : "");
    for (size_t i = 0; i < count; i++, name = name->next) {
        int index;
        if (!schema_named(reader, name, &index))
            return false;
        for (size_t j = 0; j < i; j++)
            if (made->from[made->from_count].fields[j] == index)
                return COMPLAIN(name, "'%s' is joined here already: each field once", name->text);
        made->from[made->from_count].fields[i] = (uint16_t)index;
    }
    made->from[made->from_count++].count = count;
    return true;
}

/* Can the key be made of these fields? */
static bool check_sources(reader_t *reader, const yaml_item_t *from, const make_t *made) {
    const field_t *fields = reader->schema->fields;
    for (size_t i = 0; i < made->from_count && !of_texts(made); i++) {
        const field_t *field = &fields[made->from[i].fields[0]];
        if (reader->broken[made->from[i].fields[0]])
            continue;
        if (made->kind == MAKE_POINT && (field->type != TYPE_NUMBER || field->array.length))
            return COMPLAIN(from, "a point is made of two fields of the type number: latitude, longitude");
        if (made->kind == MAKE_UTC && !reader->schema->fixed)
            return COMPLAIN(from, "utc goes with records of fixed width; a column has the type datetime");
        if (made->kind == MAKE_UTC && (field->type != TYPE_TEXT || field->width != (i ? 4 : 8)))
            return COMPLAIN(from,
                            "utc is made of two text fields: a date of width 8 (YYYYMMDD) and a time of "
                            "width 4 (hhmm)");
    }
    return true;
}

/* Does it stand beside the key that is made? */
static bool is_option(const char *key) {
    const char *options[KEYS_MOST];
    const size_t count = schema_keys_of(KEYS_MADE, options);
    for (size_t i = 0; i < count; i++)
        if (strcmp(options[i], key) == 0)
            return true;
    return false;
}

/* The key that is made: what is no option; or the first, if all could be. */
static const yaml_item_t *find_key(reader_t *reader, const yaml_item_t *node) {
    const yaml_item_t *key = NULL;
    for (const yaml_item_t *child = node->first; child; child = child->next) {
        if (is_option(child->key))
            continue;
        if (key) {
            COMPLAIN(child, "one key is made at a time: '%s' is here already", key->key);
            return NULL;
        }
        key = child;
    }
    if (!key && node->first && node->first->kind == YAML_ITEM_SCALAR)
        key = node->first;
    if (!key)
        COMPLAIN(node, "a key and 'from' were expected, such as {name: join, from: [first, last]}");
    return key;
}

/* An option; NULL: it is not there, or it is the key that is made. */
static const yaml_item_t *option(const yaml_item_t *node, const yaml_item_t *key, const char *name) {
    const yaml_item_t *item = yaml_item_get(node, name);
    return item == key ? NULL : item;
}

static bool read_from(reader_t *reader, const yaml_item_t *from, make_t *made, size_t items) {
    if (!schema_want(reader, from, YAML_ITEM_LIST, "a list of fields"))
        return false;
    if (!from->count || from->count > SCHEMA_MOST_FROM || (items && from->count != items))
        return COMPLAIN(from, "%s fields were expected here", items ? "two" : "1 to 4");
    for (const yaml_item_t *item = from->first; item; item = item->next)
        if (!TRY(read_item(reader, item, made)))
            return false;
    return true;
}

/* One text: between all items of `join`. A list: before each of them. */
static bool read_with(reader_t *reader, const yaml_item_t *with, make_t *made) {
    texts_t prefixes;
    if (!schema_texts(reader, with, &prefixes))
        return false;
    const bool between = made->kind == MAKE_JOIN && with->kind == YAML_ITEM_SCALAR;
    if (!of_texts(made) || (!between && prefixes.count != made->from_count))
        return COMPLAIN(with, "'with' goes with first and has one prefix for each item of 'from'; with join "
                              "it can be one text, too");
    for (size_t i = 0; i < prefixes.count; i++)
        if (prefixes.items[i].length > 8)
            return COMPLAIN(with, "a prefix of at most 8 bytes was expected");
    for (size_t i = 0; !between && i < prefixes.count; i++)
        made->from[i].with = prefixes.items[i];
    made->text = between ? prefixes.items[0] : (schema_text_t){"", 0};
    return true;
}

static bool has_type(const make_t *made) {
    return of_texts(made) || made->kind == MAKE_CONSTANT;
}

/* The type of a text, and how it is written. */
static bool read_type(reader_t *reader, const yaml_item_t *node, const yaml_item_t *key, make_t *made) {
    static const char *const hows[] = {"type", "pattern", "nulls", "true", "false", "decimal", "thousands"};
    const yaml_item_t *type = option(node, key, "type");
    for (size_t i = 0; i < COUNT(hows) && (reader->schema->fixed || !has_type(made)); i++)
        if (option(node, key, hows[i]))
            return COMPLAIN(option(node, key, hows[i]), "'%s' goes with texts of delimited records", hows[i]);
    if (reader->schema->fixed || !has_type(made))
        return true;
    if (type && !schema_type(reader, type, &made->field))
        return false;
    const field_type_t is = made->field.type;
    if (is == TYPE_LENGTH || is == TYPE_BINARY || is == TYPE_JSON)
        return COMPLAIN(type, "nothing can be made with the type %s", schema_type_name(is));
    return schema_values(reader, node, &made->field);
}

static bool read_constant(reader_t *reader, const yaml_item_t *node, const yaml_item_t *value, make_t *made) {
    if (made->kind != MAKE_CONSTANT)
        return !value || COMPLAIN(value, "'value' goes with constant");
    if (!value || value->kind != YAML_ITEM_SCALAR || value->length > SCHEMA_MOST_CONSTANT)
        return COMPLAIN(value ? value : node, "'value' was expected: a text of at most %d bytes",
                        SCHEMA_MOST_CONSTANT);
    made->text = (schema_text_t){value->text, value->length};
    return true;
}

static bool read_made(reader_t *reader, const yaml_item_t *node, make_t *made) {
    size_t items = 0;
    if (!schema_want(reader, node, YAML_ITEM_MAP, "a map such as {name: join, from: [first, last]}"))
        return false;
    const yaml_item_t *key = find_key(reader, node);
    if (!key)
        return false;
    const yaml_item_t *from = option(node, key, "from"), *with = option(node, key, "with");
    made->field = (field_t){.name = key->key, .key = key->key, .at = node};
    if (strchr(key->key, '.') || key->key[0] == '$' || !key->key[0] || strlen(key->key) > 28 ||
        strcmp(key->key, "_id") == 0)
        return COMPLAIN(key, "'%s' cannot be made: a plain key of at most 28 bytes was expected", key->key);
    if (!read_kind(reader, key, made, &items))
        return false;
    if ((made->kind >= MAKE_CONSTANT) == (from != NULL))
        return COMPLAIN(from ? from : node,
                        from ? "this is made from no fields"
                             : "a key and 'from' were expected, such as {name: join, from: "
                               "[first, last]}");
    const size_t before = reader->mistake_count;
    if (from && !read_from(reader, from, made, items))
        return false;
    if (reader->mistake_count > before)
        return true; /* what is wrong with its items was told */
    return (!with || read_with(reader, with, made)) &&
           read_constant(reader, node, option(node, key, "value"), made) &&
           read_type(reader, node, key, made) && (!from || check_sources(reader, from, made));
}

size_t schema_made_words(const char *words[]) {
    for (size_t i = 0; words && i < COUNT(kinds); i++)
        words[i] = kinds[i].name;
    return COUNT(kinds);
}

bool schema_read_made(reader_t *reader, const yaml_item_t *list) {
    schema_t *schema = reader->schema;
    if (!schema_want(reader, list, YAML_ITEM_LIST, "a list such as [{ts: utc, from: [date, time]}]"))
        return false;
    if (list->count > SCHEMA_MOST_MADE)
        return COMPLAIN(list, "at most %d made keys were expected", SCHEMA_MOST_MADE);
    for (const yaml_item_t *node = list->first; node; node = node->next) {
        make_t *made = &schema->made[schema->made_count];
        const size_t before = reader->mistake_count;
        *made = (make_t){.from_count = 0};
        if (!TRY(read_made(reader, node, made)) ||
            (made->field.key && !TRY(schema_fits(reader, schema->fields, schema->field_count, &made->field))))
            return false;
        if (reader->mistake_count > before || !made->field.key)
            continue;
        for (size_t i = 0; i < schema->made_count; i++)
            if (strcmp(schema->made[i].field.key, made->field.key) == 0)
                return COMPLAIN(node, "'%s' is made in line %d already", made->field.key,
                                schema->made[i].field.at->line);
            else if (made->kind == MAKE_UTC && schema->made[i].kind == MAKE_UTC)
                return COMPLAIN(node, "utc is made in line %d already: there is one hour24",
                                schema->made[i].field.at->line);
        schema->made_count++;
    }
    return true;
}
