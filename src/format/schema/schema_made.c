#include "base/suggest.h"
#include "format/schema/schema_read.h"

#include <string.h>

static const struct {
    const char *name;
    make_kind_t kind;
    field_type_t type;
    size_t items; /* 0: one or several */
} kinds[] = {{"first", MAKE_FIRST, TYPE_TEXT, 0},
             {"utc", MAKE_UTC, TYPE_DATE, 2},
             {"point", MAKE_POINT, TYPE_TEXT, 2}};

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
        made->field.type = kinds[i].type;
        *items = kinds[i].items;
        if (made->kind == MAKE_UTC)
            made->field.patterns = (texts_t){moments, COUNT(moments)};
        return true;
    }
    const char *near = node->kind == YAML_ITEM_SCALAR ? suggest_word(node->text, words, COUNT(kinds)) : NULL;
    return COMPLAIN(node, "%s%s%sa key is made by first, utc or point", near ? "did you mean '" : "",
                    near ? near : "", near ? "'? " : "");
}

static bool read_item(reader_t *reader, const yaml_item_t *node, make_t *made) {
    size_t count = node->kind == YAML_ITEM_LIST ? node->count : 1;
    const yaml_item_t *name = node->kind == YAML_ITEM_LIST ? node->first : node;
    if (!count || count > SCHEMA_MOST_FROM || (made->kind != MAKE_FIRST && node->kind == YAML_ITEM_LIST))
        return COMPLAIN(node, "a field's name was expected%s",
                        made->kind == MAKE_FIRST ? ", or a list of up to 4 that are joined" : "");
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
    for (size_t i = 0; i < made->from_count && made->kind != MAKE_FIRST; i++) {
        const field_t *field = &fields[made->from[i].fields[0]];
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

static bool read_made(reader_t *reader, const yaml_item_t *node, make_t *made) {
    const yaml_item_t *from = NULL, *with = NULL, *kind = NULL;
    size_t items = 0;
    if (!schema_want(reader, node, YAML_ITEM_MAP, "a map such as {ts: utc, from: [date, time]}"))
        return false;
    for (const yaml_item_t *child = node->first; child; child = child->next) {
        if (strcmp(child->key, "from") == 0)
            from = child;
        else if (strcmp(child->key, "with") == 0)
            with = child;
        else if (kind)
            return COMPLAIN(child, "one key is made at a time: '%s' is here already", kind->key);
        else
            kind = child;
    }
    if (!kind || !from)
        return COMPLAIN(node, "a key and 'from' were expected, such as {ts: utc, from: [date, time]}");
    made->field = (field_t){.name = kind->key, .key = kind->key, .at = node};
    if (strchr(kind->key, '.') || kind->key[0] == '$' || !kind->key[0] || strlen(kind->key) > 28 ||
        strcmp(kind->key, "_id") == 0)
        return COMPLAIN(kind, "'%s' cannot be made: a plain key of at most 28 bytes was expected", kind->key);
    if (!read_kind(reader, kind, made, &items) ||
        !schema_want(reader, from, YAML_ITEM_LIST, "a list of fields"))
        return false;
    if (!from->count || from->count > SCHEMA_MOST_FROM || (items && from->count != items))
        return COMPLAIN(from, "%s fields were expected here", items ? "two" : "1 to 4");
    for (const yaml_item_t *item = from->first; item; item = item->next)
        if (!read_item(reader, item, made))
            return false;
    texts_t prefixes = {0};
    if (with && !schema_texts(reader, with, &prefixes))
        return false;
    if (with && (prefixes.count != made->from_count || made->kind != MAKE_FIRST))
        return COMPLAIN(with, "'with' goes with first and has one prefix for each item of 'from'");
    for (size_t i = 0; i < prefixes.count; i++) {
        if (prefixes.items[i].length > 8)
            return COMPLAIN(with, "a prefix of at most 8 bytes was expected");
        made->from[i].with = prefixes.items[i];
    }
    return check_sources(reader, from, made);
}

bool schema_read_made(reader_t *reader, const yaml_item_t *list) {
    schema_t *schema = reader->schema;
    if (!schema_want(reader, list, YAML_ITEM_LIST, "a list such as [{ts: utc, from: [date, time]}]"))
        return false;
    if (list->count > SCHEMA_MOST_MADE)
        return COMPLAIN(list, "at most %d made keys were expected", SCHEMA_MOST_MADE);
    for (const yaml_item_t *node = list->first; node; node = node->next) {
        make_t *made = &schema->made[schema->made_count];
        if (!read_made(reader, node, made) ||
            !schema_fits(reader, schema->fields, schema->field_count, &made->field))
            return false;
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
