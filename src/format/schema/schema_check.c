/* The parts of a format file: what goes without saying in each, and what its keys must agree on. */
#include "format/schema/schema_read.h"

#include <string.h>

enum { WIDEST_NUMBER = 8 };

/* ---- fields ---- */

/* Names and keys differ from those of all fields before it, and no key is in the way of another one. */
static bool check_key(reader_t *reader, const field_t *fields, size_t count, const field_t *field) {
    for (size_t i = 0; i < count; i++) {
        const field_t *other = &fields[i];
        if (strcmp(other->name, field->name) == 0)
            return COMPLAIN(field->at, "a field named '%s' is in line %d already", field->name,
                            other->at->line);
        const size_t length = strlen(other->key), mine = strlen(field->key);
        const size_t shorter = length < mine ? length : mine;
        if (strncmp(other->key, field->key, shorter) == 0 &&
            (length == mine || (length < mine ? field->key : other->key)[shorter] == '.'))
            return COMPLAIN(field->at,
                            "the key '%s' does not go with '%s' of line %d: one of them is in the way",
                            field->key, other->key, other->at->line);
    }
    return true;
}

static bool check_marks(reader_t *reader, char point, char thousands) {
    const yaml_item_t *marks = schema_item(reader, "thousands"),
                      *at = marks ? marks : schema_item(reader, "decimal");
    return point != thousands || !at ||
           COMPLAIN(at,
                    "'decimal' and 'thousands' are both \"%c\" ('decimal' is \".\" where it is not given)",
                    point);
}

/* What is not said of the numbers of a field is said of those of the record. Numbers that are written plainly have no
 * marks. */
static bool finish_numbers(reader_t *reader, field_t *field) {
    const schema_t *schema = reader->schema;
    const bool number = NUMBERS >> field->type & 1,
               whole = field->type == TYPE_INT || field->type == TYPE_LONG;
    field->point = schema_item(reader, "decimal") ? field->point : schema->point;
    field->thousands = schema_item(reader, "thousands") ? field->thousands : schema->thousands;
    field->exact = number && !schema_item(reader, "exact") ? schema->exact : field->exact;
    if (!check_marks(reader, field->point, field->thousands))
        return false;
    if (!number || (!field->thousands && (whole || field->point == '.')))
        field->point = field->thousands = 0;
    return !field->exact || field->type != TYPE_TRIMMED || !field->array.length ||
           COMPLAIN(reader->map, "of a trimmed text, 'exact' does not go with 'array'");
}

/* Each word means one thing only. */
static bool finish_booleans(reader_t *reader, field_t *field) {
    static const schema_text_t usual[2][3] = {{{"false", 5}, {"False", 5}, {"FALSE", 5}},
                                              {{"true", 4}, {"True", 4}, {"TRUE", 4}}};
    for (int is = 0; is < 2 && field->type == TYPE_BOOLEAN; is++) {
        const yaml_item_t *at = schema_item(reader, is ? "true" : "false");
        texts_t *words = &field->words[is], *others = &field->words[0];
        *words = at ? *words : (texts_t){usual[is], COUNT(usual[is])};
        for (size_t i = 0; i < words->count; i++) {
            const schema_text_t *word = &words->items[i];
            if (at && schema_text_among(word, field->nulls.items, field->nulls.count))
                return COMPLAIN(at, "'%s' is a null value of this field already", word->text);
            if (schema_text_among(word, words->items, i))
                return COMPLAIN(at, "'%s' is here twice", word->text);
            if (is && schema_text_among(word, others->items, others->count))
                return COMPLAIN(reader->map, "'%s' cannot be both true and false", word->text);
        }
    }
    return true;
}

static bool finish_dates(reader_t *reader, field_t *field) {
    const texts_t *texts = &field->patterns;
    pattern_t *compiled = schema_own(reader->schema, texts->count * sizeof *compiled, reader->err);
    field->compiled = compiled;
    for (size_t i = 0; compiled && i < texts->count; i++) {
        const char *problem = pattern_compile(texts->items[i].text, texts->items[i].length, &compiled[i]);
        if (problem)
            return COMPLAIN(schema_item(reader, "pattern"), "'%s' is not a date pattern: %s",
                            texts->items[i].text, problem);
    }
    return compiled;
}

static bool finish_values(reader_t *reader, field_t *field) {
    return finish_dates(reader, field) && finish_booleans(reader, field) && finish_numbers(reader, field);
}

static bool finish_field(reader_t *reader, void *items, size_t index) {
    static const schema_text_t empty[] = {{"", 0}};
    field_t *field = (field_t *)items + index;
    const yaml_item_t *nulls = schema_item(reader, "nulls");
    if (nulls && strcmp(field->key, "_id") == 0)
        return COMPLAIN(nulls, "an _id cannot be left out, so it has no null values");
    if (!nulls && reader->schema->kind == RECORDS_DELIMITED)
        field->nulls = (texts_t){empty, COUNT(empty)};
    return (field->columns.count || schema_texts(reader, schema_item(reader, "name"), &field->columns)) &&
           finish_values(reader, field) && check_key(reader, items, index, field);
}

static bool finish_fixed(reader_t *reader, void *items, size_t index) {
    field_t *field = (field_t *)items + index;
    const yaml_item_t *nulls = schema_item(reader, "nulls");
    const bool length = field->type == TYPE_LENGTH, number = length || NUMBERS >> field->type & 1;
    field->counted = schema_item(reader, "lengthWidth");
    if (field->type > TYPE_LENGTH || field->type == TYPE_LONG || field->type == TYPE_DATE ||
        (field->counted && field->type != TYPE_TEXT))
        return COMPLAIN(reader->map,
                        "the types of fields by width are text, trimmed, int, number and length");
    if (number && field->width > WIDEST_NUMBER)
        return COMPLAIN(reader->map, "a number of at most %d characters was expected", WIDEST_NUMBER);
    if (nulls && (field->counted || length))
        return COMPLAIN(nulls, "a length has no null value: what it says decides what the record is");
    if (field->nulls.count && field->nulls.items[0].length != field->width)
        return COMPLAIN(nulls, "a null value as wide as the field (%d characters) was expected",
                        field->width);
    field->offset = index ? field[-1].offset + field[-1].width : 0;
    if (field->offset + field->width > SCHEMA_WIDEST)
        return COMPLAIN(reader->map, "the fields up to here are %u characters wide; at most %d were expected",
                        field->offset + field->width, SCHEMA_WIDEST);
    return check_key(reader, items, index, field);
}

static uint32_t width_of(const field_t *fields, size_t count) {
    return count ? fields[count - 1].offset + fields[count - 1].width : 0;
}

/* ---- delimited records ---- */

static bool finish_record(reader_t *reader, void *items, size_t index) {
    schema_t *schema = (schema_t *)items + index;
    const yaml_item_t *multiline = schema_item(reader, "multiline");
    schema->multiline = schema->any_lines || (schema->quote && !multiline);
    if (schema->any_lines && !schema->quote)
        return COMPLAIN(multiline, "without a quote character no field can contain a line end");
    return check_marks(reader, schema->point, schema->thousands);
}

/* The fields of one subdocument must be next to each other: the document is written from front to back. */
static bool check_groups(reader_t *reader) {
    const field_t *fields = reader->schema->fields;
    for (size_t i = 2; i < reader->schema->field_count; i++) {
        const char *key = fields[i].key;
        for (const char *dot = strchr(key, '.'); dot; dot = strchr(dot + 1, '.')) {
            const size_t prefix = (size_t)(dot - key) + 1;
            bool apart = strncmp(fields[i - 1].key, key, prefix) != 0;
            for (size_t j = 0; apart && j + 1 < i; j++)
                if (strncmp(fields[j].key, key, prefix) == 0)
                    return COMPLAIN(
                        fields[i].at,
                        "'%s' must be next to '%s': fields of one subdocument must follow each other", key,
                        fields[j].key);
        }
    }
    return true;
}

/* A column that a header names belongs to one field only. */
static bool check_column(reader_t *reader, const field_t *field, const field_t *other) {
    for (size_t i = 0; i < other->columns.count; i++) {
        const schema_text_t *column = &other->columns.items[i];
        if (schema_text_among(column, field->columns.items, field->columns.count))
            return COMPLAIN(field->at,
                            "its column '%.*s' is that of '%s' in line %d already; a second key of a column "
                            "is made of its field (make: [{KEY: first, from: [%s]}])",
                            (int)column->length, column->text, other->name, other->at->line, other->name);
    }
    return true;
}

static bool check_header(reader_t *reader, schema_t *schema) {
    if (schema->header == HEADER_WORDS && !schema->header_words.count)
        schema->header_words = schema->fields[0].columns;
    for (size_t i = 0; schema->header == HEADER_WORDS && i < schema->header_words.count; i++)
        if (!schema->header_words.items[i].length)
            return COMPLAIN(
                schema->fields[0].at,
                "the first field's column is \"\", and a header cannot be told by an empty word; say "
                "in 'record' how it begins: header: yes, no, or [WORD, ...]");
    const bool named = schema->header == HEADER_WORDS || schema->header == HEADER_YES;
    for (size_t i = 0; named && i < schema->field_count; i++)
        for (size_t j = 0; j < i; j++)
            if (!check_column(reader, &schema->fields[i], &schema->fields[j]))
                return false;
    return true;
}

bool schema_add_layout(reader_t *reader, const uint16_t *fields, size_t count, const yaml_item_t *at) {
    schema_t *schema = reader->schema;
    if (schema->layout_count == SCHEMA_MOST_LAYOUTS)
        return COMPLAIN(at, "at most %d layouts were expected", SCHEMA_MOST_LAYOUTS);
    for (size_t i = 0; i < schema->layout_count; i++)
        if (schema->layouts[i].count == count)
            return COMPLAIN(at, "two layouts of %zu columns cannot be told apart", count);
    schema->layouts[schema->layout_count++] = (layout_t){fields, count};
    return true;
}

/* Where the file has none: all fields in order, and the same without the optional fields at the end. */
static bool add_usual_layouts(reader_t *reader, const schema_t *schema) {
    uint16_t *fields = schema_own(reader->schema, schema->field_count * sizeof *fields, reader->err);
    size_t needed = schema->field_count;
    if (!fields)
        return false;
    for (size_t i = 0; i < schema->field_count; i++)
        fields[i] = (uint16_t)i;
    while (needed > 1 && schema->fields[needed - 1].optional)
        needed--;
    return (needed == schema->field_count || schema_add_layout(reader, fields, needed, reader->map)) &&
           schema_add_layout(reader, fields, schema->field_count, reader->map);
}

static bool check_surplus(reader_t *reader, const schema_t *schema) {
    for (size_t i = 0; schema->surplus_field >= 0 && i < schema->layout_count; i++) {
        const layout_t *layout = &schema->layouts[i];
        if (layout->count <= schema->surplus_left ||
            layout->fields[schema->surplus_left] != schema->surplus_field)
            return COMPLAIN(schema_item(reader, "surplus"), "'%s' is not column %zu of every layout",
                            schema->fields[schema->surplus_field].name, schema->surplus_left + 1);
    }
    return true;
}

static bool finish_delimited(reader_t *reader, void *items, size_t index) {
    schema_t *schema = (schema_t *)items + index;
    const bool by_line = schema->header == HEADER_LINE || schema->header == HEADER_REFUSE;
    if (!schema->layout_count && !add_usual_layouts(reader, schema))
        return false;
    if (by_line && (schema->delimiter_count > 1 || schema->layout_count > 1))
        return COMPLAIN(schema_item(reader, "record"),
                        "'%s' goes with one delimiter and one layout, by which the first line is read",
                        schema->header == HEADER_LINE ? "header_line" : "header: refuse");
    return check_surplus(reader, schema);
}

/* ---- records of fixed width ---- */

typedef enum { IN_RECORD, IN_ENTRY, IN_SECTION } place_t;

/* Not all fields by width may stand everywhere. */
static bool check_places(reader_t *reader, const field_t *fields, size_t count, place_t place) {
    for (size_t i = 0; i < count; i++) {
        const field_t *field = &fields[i];
        if (place == IN_RECORD && (field->counted || field->is))
            return COMPLAIN(field->at, "'lengthWidth' and 'is' go with the entries of a part");
        if (place == IN_RECORD)
            continue;
        if (field->type == TYPE_LENGTH)
            return COMPLAIN(field->at, "'length' belongs to the fixed part: the characters that follow it");
        if (field->counted && (place == IN_SECTION || i + 1 < count))
            return COMPLAIN(field->at, "'lengthWidth' goes with the last field of an entry");
        if (field->is && place == IN_SECTION)
            return COMPLAIN(field->at, "'is' goes with the fields of an entry");
        if (place == IN_SECTION && (strcmp(field->key, "id") == 0 || strncmp(field->key, "id.", 3) == 0))
            return COMPLAIN(field->at, "the key 'id' is the section's identifier; choose another key");
    }
    return true;
}

static bool finish_section(reader_t *reader, void *items, size_t index) {
    const section_t *sections = items;
    section_t *section = (section_t *)items + index;
    section->width = width_of(section->fields, section->field_count);
    for (size_t i = 0; i < index; i++)
        if (strcmp(sections[i].name, section->name) == 0)
            return COMPLAIN(schema_item(reader, "name"), "a section named '%s' is in line %d already",
                            section->name, sections[i].at->line);
    return check_places(reader, section->fields, section->field_count, IN_SECTION);
}

static bool finish_part(reader_t *reader, void *items, size_t index) {
    const tail_part_t *parts = items;
    tail_part_t *part = (tail_part_t *)items + index;
    if (part->sections == (part->fields != NULL))
        return COMPLAIN(reader->map,
                        "either 'sections: yes' or 'repeat' was expected: what comes after the marker");
    if (part->list && !part->sections)
        return COMPLAIN(schema_item(reader, "list"), LIST_WITH_SECTIONS);
    if (!part->name && !part->sections)
        return COMPLAIN(reader->map, "'name' is missing: the key of the entries");
    part->width = width_of(part->fields, part->field_count);
    for (size_t i = 0; i < index; i++) {
        if (schema_text_among(&part->marker, &parts[i].marker, 1))
            return COMPLAIN(reader->map, "two parts have the marker %s", part->marker.text);
        if (part->sections && parts[i].sections)
            return COMPLAIN(reader->map, "one part of sections was expected");
    }
    return check_places(reader, part->fields, part->field_count, IN_ENTRY);
}

static bool check_tail(reader_t *reader, const schema_t *schema) {
    const yaml_item_t *tail = schema_item(reader, "tail"), *sections = schema_item(reader, "sections");
    bool has_sections = false;
    for (size_t i = 0; i < schema->part_count; i++)
        has_sections |= schema->parts[i].sections;
    if (sections && !tail)
        return COMPLAIN(sections, "'tail' is missing: {marker: ..., sections: yes}");
    return has_sections == (schema->section_count > 0) ||
           COMPLAIN(tail, has_sections ? "'sections' is missing: what comes after the marker of sections"
                                       : "a part {marker: ..., sections: yes} is missing");
}

static const make_t *made_as(const schema_t *schema, const char *key) {
    for (size_t i = 0; i < schema->made_count; i++)
        if (strcmp(schema->made[i].field.key, key) == 0)
            return &schema->made[i];
    return NULL;
}

/* A key may be at a document's top only once. */
static bool check_top(reader_t *reader, const schema_t *schema) {
    const char *keys[SCHEMA_MOST_SECTIONS + 2 * SCHEMA_MOST_PARTS + 3];
    size_t count = 0;
    for (size_t i = 0; i < schema->section_count; i++)
        keys[count++] = schema->sections[i].name;
    for (size_t i = 0; i < schema->part_count; i++) {
        if (schema->parts[i].name)
            keys[count++] = schema->parts[i].name;
        if (schema->parts[i].list)
            keys[count++] = schema->parts[i].list;
    }
    keys[count++] = "order";
    keys[count++] = "unparsed";
    keys[count++] = "hour24";
    for (size_t i = 0; i < count; i++) {
        const field_t it = {.name = "", .key = keys[i], .at = reader->map};
        bool twice = made_as(schema, keys[i]) != NULL;
        for (size_t j = 0; j < i; j++)
            twice |= strcmp(keys[i], keys[j]) == 0;
        if (twice)
            return COMPLAIN(reader->map, "the key '%s' would be twice in a document", keys[i]);
        if (!check_key(reader, schema->fields, schema->field_count, &it))
            return false;
    }
    return true;
}

/* Is the field under this top-level key? */
static bool stands_under(const field_t *field, const char *key) {
    const size_t length = strcspn(field->key, ".");
    return strlen(key) == length && memcmp(field->key, key, length) == 0;
}

/* A field is left out if a key was made of it, so that key must come first. */
static bool check_made_before(reader_t *reader, const yaml_item_t *node, const texts_t *later) {
    const schema_t *schema = reader->schema;
    for (size_t i = 0; i < schema->made_count; i++) {
        const make_t *made = &schema->made[i];
        const schema_text_t key = {made->field.key, strlen(made->field.key)};
        if (made->kind == MAKE_FIRST || !schema_text_among(&key, later->items, later->count))
            continue;
        for (size_t j = 0; j < made->from_count; j++)
            if (stands_under(&schema->fields[made->from[j].fields[0]], node->text))
                return COMPLAIN(node, "'%s' is before '%s', which is made of it and takes its place",
                                node->text, made->field.key);
    }
    return true;
}

static bool check_document(reader_t *reader, const schema_t *schema) {
    const texts_t *keys = &schema->document;
    const yaml_item_t *list = schema_item(reader, "document"),
                      *node = list && list->kind == YAML_ITEM_LIST ? list->first : list;
    for (size_t i = 0; i < keys->count; i++, node = node->next) {
        const texts_t later = {keys->items + i + 1, keys->count - i - 1};
        bool known = made_as(schema, node->text) != NULL;
        for (size_t j = 0; j < schema->field_count; j++)
            known |= stands_under(&schema->fields[j], node->text);
        if (!known)
            return COMPLAIN(node, "no field and nothing made has the key '%s'", node->text);
        if (schema_text_among(&keys->items[i], keys->items, i))
            return COMPLAIN(node, "'%s' is here twice", node->text);
        if (!check_made_before(reader, node, &later))
            return false;
    }
    return true;
}

static bool finish_by_width(reader_t *reader, void *items, size_t index) {
    const schema_t *schema = (schema_t *)items + index;
    return check_tail(reader, schema) && check_top(reader, schema) && check_document(reader, schema);
}

bool schema_check_fields(reader_t *reader) {
    schema_t *schema = reader->schema;
    const uint32_t width = width_of(schema->fields, schema->field_count);
    if (schema->kind == RECORDS_DELIMITED)
        return check_groups(reader) && check_header(reader, schema);
    if (schema->kind == RECORDS_FIXED && width != schema->fixed)
        return COMPLAIN(schema_item(reader, "fields"), "the fields are %u characters wide, the record is %u",
                        width, schema->fixed);
    return schema->kind != RECORDS_FIXED ||
           check_places(reader, schema->fields, schema->field_count, IN_RECORD);
}

/* ---- what is made ---- */

static const struct {
    const char *name;
    make_kind_t kind;
    text_change_t change;
} ways[] = {{"first", MAKE_FIRST, TEXT_AS_IS}, {"utc", MAKE_UTC, TEXT_AS_IS},
            {"point", MAKE_POINT, TEXT_AS_IS}, {"join", MAKE_JOIN, TEXT_AS_IS},
            {"lower", MAKE_JOIN, TEXT_LOWER},  {"sha256", MAKE_JOIN, TEXT_SHA256},
            {"path", MAKE_PATH, TEXT_AS_IS},   {"folder", MAKE_FOLDER, TEXT_AS_IS},
            {"file", MAKE_FILE, TEXT_AS_IS},   {"constant", MAKE_CONSTANT, TEXT_AS_IS}};

size_t schema_made_words(const char *words[]) {
    for (size_t i = 0; i < COUNT(ways); i++)
        words[i] = ways[i].name;
    return COUNT(ways);
}

bool schema_made_of_texts(const make_t *made) {
    return made->kind == MAKE_FIRST || made->kind == MAKE_JOIN;
}

/* The key that is made: what is no option; or the first, if all could be. */
static const yaml_item_t *find_made(reader_t *reader) {
    const yaml_item_t *key = NULL, *first = reader->map->first;
    for (const yaml_item_t *child = first; child; child = child->next) {
        if (schema_has_key(PART_MADE, child->key))
            continue;
        if (key)
            return COMPLAIN(child, "one key is made at a time: '%s' is here already", key->key), NULL;
        key = child;
    }
    key = key || !first || first->kind != YAML_ITEM_SCALAR ? key : first;
    if (!key)
        COMPLAIN(reader->map, MADE_EXPECTED);
    return key;
}

/* `path`, for a folder that has the name of the key; or {path: NAME}, for another one, with its options in the braces. */
static bool read_path(reader_t *reader, const yaml_item_t *node, make_t *made) {
    const yaml_item_t *name = yaml_item_get(node, "path");
    if (name && (reader->map->count > 1 || name->kind != YAML_ITEM_SCALAR || !name->length ||
                 strpbrk(name->text, "/=")))
        return COMPLAIN(node, "{path: NAME} was expected, for folders such as NAME=2024, with all options in "
                              "its braces");
    made->text = name ? (schema_text_t){name->text, name->length}
                      : (schema_text_t){made->field.key, strlen(made->field.key)};
    reader->map = name ? node : reader->map;
    reader->made = name ? name : reader->made;
    return true;
}

static bool read_way(reader_t *reader, const yaml_item_t *node, make_t *made) {
    static const schema_text_t moments[] = {{"YYYY-MM-DDThh:mm:ssZ", 20}, {"YYYY-MM-DDThh:mm:ss", 19},
                                            {"YYYY-MM-DD hh:mm:ss", 19},  {"YYYY-MM-DDThh:mm", 16},
                                            {"YYYY-MM-DD hh:mm", 16},     {"YYYY-MM-DD", 10}};
    const bool fixed = reader->schema->kind == RECORDS_FIXED;
    const char *words[COUNT(ways)], *word = node->kind == YAML_ITEM_SCALAR ? node->text
                                            : yaml_item_get(node, "path")  ? "path"
                                                                           : "";
    const size_t count = schema_made_words(words);
    size_t way = 0;
    while (way < count && strcmp(word, words[way]) != 0)
        way++;
    if (way == count) {
        const char *instead = schema_gone("make", word), *near = suggest_word(word, words, count);
        return instead ? COMPLAIN(node, "'%s' is gone: %s", word, instead)
                       : COMPLAIN(node, "%s%s%sa key is made by %sfirst, utc or point",
                                  near ? "did you mean '" : "", near ? near : "", near ? "'? " : "",
                                  fixed ? "" : "join, lower, sha256, constant, path, folder, file, ");
    }
    made->kind = ways[way].kind;
    made->change = ways[way].change;
    made->field.type = made->kind == MAKE_UTC ? TYPE_DATE : TYPE_TEXT;
    if (made->kind == MAKE_UTC)
        made->field.patterns = (texts_t){moments, COUNT(moments)};
    if (made->kind == MAKE_PATH && !read_path(reader, node, made))
        return false;
    return made->kind < MAKE_JOIN || !fixed ||
           COMPLAIN(node,
                    "'%s' goes with delimited records; of fixed width, a key is made by first, utc or point",
                    word);
}

bool schema_start_made(reader_t *reader, make_t *made) {
    const yaml_item_t *key = find_made(reader);
    if (!key)
        return false;
    made->field.name = made->field.key = key->key;
    reader->made = key;
    if (strchr(key->key, '.') || key->key[0] == '$' || !key->key[0] || strlen(key->key) > 28 ||
        strcmp(key->key, "_id") == 0)
        return COMPLAIN(key, "'%s' cannot be made: a plain key of at most 28 bytes was expected", key->key);
    if (!read_way(reader, key, made))
        return false;
    const bool typed = made->kind == MAKE_CONSTANT || made->kind == MAKE_PATH || schema_made_of_texts(made);
    for (const yaml_item_t *item = reader->map->first; item; item = item->next)
        if (item != key && (reader->schema->fixed || !typed) &&
            schema_has_key(PART_FIELD + RECORDS_DELIMITED, item->key))
            return COMPLAIN(item, "'%s' goes with texts of delimited records", item->key);
    return made->kind >= MAKE_CONSTANT || schema_item(reader, "from") || COMPLAIN(reader->map, MADE_EXPECTED);
}

/* Can the key be made of these fields? */
static bool check_from(reader_t *reader, const make_t *made) {
    const yaml_item_t *from = schema_item(reader, "from");
    const bool fixed = reader->schema->kind == RECORDS_FIXED;
    for (size_t i = 0; i < made->from_count && !schema_made_of_texts(made); i++) {
        const field_t *field = &reader->schema->fields[made->from[i].fields[0]];
        if (reader->broken[made->from[i].fields[0]])
            continue;
        if (made->kind == MAKE_POINT && (field->type != TYPE_NUMBER || field->array.length))
            return COMPLAIN(from, "a point is made of two fields of the type number: latitude, longitude");
        if (made->kind == MAKE_UTC && !fixed)
            return COMPLAIN(from, "utc goes with records of fixed width; a column has the type datetime");
        if (made->kind == MAKE_UTC && (field->type != TYPE_TEXT || field->width != (i ? 4 : 8)))
            return COMPLAIN(from,
                            "utc is made of two text fields: a date of width 8 (YYYYMMDD) and a time of "
                            "width 4 (hhmm)");
    }
    return true;
}

static bool finish_made(reader_t *reader, void *items, size_t index) {
    const make_t *all = items;
    make_t *made = (make_t *)items + index;
    const schema_t *schema = reader->schema;
    if (made->kind == MAKE_CONSTANT && !made->text.text)
        return COMPLAIN(reader->map, CONSTANT_EXPECTED);
    if (!finish_values(reader, &made->field) || !check_from(reader, made) ||
        !check_key(reader, schema->fields, schema->field_count, &made->field))
        return false;
    for (size_t i = 0; i < index; i++)
        if (strcmp(all[i].field.key, made->field.key) == 0)
            return COMPLAIN(reader->map, "'%s' is made in line %d already", made->field.key,
                            all[i].field.at->line);
        else if (made->kind == MAKE_UTC && all[i].kind == MAKE_UTC)
            return COMPLAIN(reader->map, "utc is made in line %d already: there is one hour24",
                            all[i].field.at->line);
    return true;
}

/* ---- the parts ---- */

#define FIELDS "a list of fields", "fields", 1, SCHEMA_MOST_FIELDS, sizeof(field_t), offsetof(field_t, at)
#define ALONE  NULL, NULL, 0, 0, sizeof(schema_t), 0
#define A_FILE "a format file starts with 'format: NAME'; a map"

const part_row_t schema_parts[PARTS] = {
    [PART_FILE + RECORDS_DELIMITED] = {"A format file", A_FILE, finish_delimited, ALONE},
    [PART_FILE + RECORDS_FIXED] = {NULL, A_FILE, finish_by_width, ALONE},
    [PART_FILE + RECORDS_JSON] = {"A format file with `record: {json: yes}`", A_FILE, NULL, ALONE},
    [PART_FILE + RECORDS_BSON] = {"A format file with `record: {bson: yes}`", A_FILE, NULL, ALONE},
    [PART_RECORD + RECORDS_DELIMITED] = {"`record` of delimited files",
                                         "a map such as {delimiter: [\",\"], header: yes}", finish_record,
                                         ALONE},
    [PART_RECORD + RECORDS_FIXED] = {"`record` of fixed width", NULL, NULL, ALONE},
    [PART_RECORD + RECORDS_JSON] = {NULL, NULL, NULL, ALONE},
    [PART_RECORD + RECORDS_BSON] = {NULL, NULL, NULL, ALONE},
    [PART_FIELD + RECORDS_DELIMITED] = {"A field of delimited files",
                                        "a field such as {name: testId, key: t, type: int}", finish_field,
                                        FIELDS},
    [PART_FIELD + RECORDS_FIXED] = {"A field of fixed width",
                                    "a field such as {name: depth, width: 4, type: int}", finish_fixed,
                                    FIELDS},
    [PART_FIELD + RECORDS_JSON] = {"A field of JSON", "a field such as {name: created.at, type: date}",
                                   finish_field, FIELDS},
    [PART_SURPLUS] = {"`surplus`", "a map such as {into: model, left: 9}", NULL, ALONE},
    [PART_MADE] = {"`make`, besides the key that is made and how",
                   "a map such as {name: join, from: [first, last]}", finish_made,
                   "a list such as [{ts: utc, from: [date, time]}]", "made keys", 0, SCHEMA_MOST_MADE,
                   sizeof(make_t), offsetof(make_t, field.at)},
    [PART_TAIL] = {"`tail`", "a part such as {marker: ADD, sections: yes}", finish_part, "a list of parts",
                   "parts", 0, SCHEMA_MOST_PARTS, sizeof(tail_part_t), 0},
    [PART_SECTION] = {"`sections`", "a section such as {ids: AA1-AA4, name: rain, fields: [...]}",
                      finish_section, "a list of sections", "sections", 0, SCHEMA_MOST_SECTIONS,
                      sizeof(section_t), offsetof(section_t, at)},
};
