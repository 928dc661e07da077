/* The parts of a format file: what goes without saying in each, and what its keys must agree on. */
#include "base/threads.h"
#include "format/schema/schema_read.h"
#include "format/types.h"

#include <string.h>

enum { WIDEST_NUMBER = 8, DELIMITED = 1 << RECORDS_DELIMITED, FIXED = 1 << RECORDS_FIXED };

/* ---- fields ---- */

/* A name and a key of a document. */
typedef struct {
    const char *name, *key;
    const yaml_item_t *at;
} named_t;

static bool go_together(reader_t *reader, const named_t *one, const named_t *other) {
    const size_t length = strlen(other->key), mine = strlen(one->key);
    const size_t shorter = length < mine ? length : mine;
    if (one->name[0] && strcmp(other->name, one->name) == 0)
        return COMPLAIN(one->at, "the name '%s' is in line %d already", one->name, other->at->line);
    return strncmp(other->key, one->key, shorter) != 0 ||
           (length != mine && (length < mine ? one->key : other->key)[shorter] != '.') ||
           COMPLAIN(one->at, "the key '%s' does not go with '%s' of line %d: one of them is in the way",
                    one->key, other->key, other->at->line);
}

/* Those from `first` on are compared with all before them. */
static bool check_names(reader_t *reader, const named_t *names, size_t first, size_t count) {
    bool sound = true;
    for (size_t i = first; i < count; i++) {
        bool ok = true;
        for (size_t j = 0; ok && j < i; j++)
            ok = go_together(reader, &names[i], &names[j]);
        sound &= ok;
    }
    return sound;
}

static size_t add_fields(named_t *names, const field_t *fields, size_t count) {
    for (size_t i = 0; i < count; i++)
        names[i] = (named_t){fields[i].name, fields[i].key, fields[i].at};
    return count;
}

bool schema_check_names(reader_t *reader, const field_t *fields, size_t count) {
    named_t names[SCHEMA_MOST_FIELDS];
    return check_names(reader, names, 0, add_fields(names, fields, count));
}

bool schema_check_top(reader_t *reader) {
    static const char *const own[] = {"order", "unparsed", "hour24"}; /* which tipple makes */
    const schema_t *schema = reader->schema;
    named_t names[SCHEMA_MOST_FIELDS + SCHEMA_MOST_MADE + SCHEMA_MOST_SECTIONS + 2 * SCHEMA_MOST_PARTS +
                  COUNT(own)];
    const size_t first = add_fields(names, schema->fields, schema->field_count);
    size_t count = first;
    for (size_t i = 0; i < schema->made_count; i++)
        count += add_fields(names + count, &schema->made[i].field, 1);
    for (size_t i = 0; i < schema->section_count; i++)
        names[count++] =
            (named_t){schema->sections[i].name, schema->sections[i].name, schema->sections[i].at};
    for (size_t i = 0; i < schema->part_count; i++) {
        const tail_part_t *part = &schema->parts[i];
        if (part->name)
            names[count++] = (named_t){part->name, part->name, part->at};
        if (part->list)
            names[count++] = (named_t){part->list, part->list, part->at};
    }
    for (size_t i = 0; schema->kind == RECORDS_FIXED && i < COUNT(own); i++)
        names[count++] = (named_t){"", own[i], yaml_tree_root(schema->tree)};
    return check_names(reader, names, first, count);
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
    pattern_t *compiled = schema_room(reader, texts->count * sizeof *compiled);
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
           finish_values(reader, field);
}

static bool finish_fixed(reader_t *reader, void *items, size_t index) {
    field_t *field = (field_t *)items + index;
    const bool number = field->type == TYPE_LENGTH || NUMBERS >> field->type & 1;
    field->counted = schema_item(reader, "lengthWidth");
    if (number && field->width > WIDEST_NUMBER)
        return COMPLAIN(reader->map, "a number of at most %d characters was expected", WIDEST_NUMBER);
    if (field->nulls.count && field->nulls.items[0].length != field->width)
        return COMPLAIN(schema_item(reader, "nulls"),
                        "a null value as wide as the field (%d characters) was expected", field->width);
    if (index && field[-1].counted)
        return COMPLAIN(field[-1].at, "'lengthWidth' goes with the last field of an entry");
    field->offset = index ? field[-1].offset + field[-1].width : 0;
    return field->offset + field->width <= SCHEMA_WIDEST ||
           COMPLAIN(reader->map, "the fields up to here are %u characters wide; at most %d were expected",
                    field->offset + field->width, SCHEMA_WIDEST);
}

static uint32_t width_of(const field_t *fields, size_t count) {
    return count ? fields[count - 1].offset + fields[count - 1].width : 0;
}

/* ---- delimited records ---- */

static bool finish_record(reader_t *reader, void *items, size_t index) {
    schema_t *schema = (schema_t *)items + index;
    const yaml_item_t *multiline = schema_item(reader, "multiline");
    schema->header = schema->header_line.length ? HEADER_LINE : schema->header;
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
    uint16_t *fields = schema_room(reader, schema->field_count * sizeof *fields);
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

/* Is the field under this top-level key? */
static bool stands_under(const field_t *field, const char *key) {
    const size_t length = strcspn(field->key, ".");
    return strlen(key) == length && memcmp(field->key, key, length) == 0;
}

static bool finish_section(reader_t *reader, void *items, size_t index) {
    section_t *section = (section_t *)items + index;
    section->width = width_of(section->fields, section->field_count);
    for (size_t i = 0; i < section->field_count; i++)
        if (stands_under(&section->fields[i], "id"))
            return COMPLAIN(section->fields[i].at,
                            "the key 'id' is the section's identifier; choose another key");
    return true;
}

static bool finish_part(reader_t *reader, void *items, size_t index) {
    const tail_part_t *parts = items;
    tail_part_t *part = (tail_part_t *)items + index;
    part->width = width_of(part->fields, part->field_count);
    if (part->sections == (part->fields != NULL))
        return COMPLAIN(reader->map,
                        "either 'sections: yes' or 'repeat' was expected: what comes after the marker");
    if (part->list && !part->sections)
        return COMPLAIN(schema_item(reader, "list"), "'list' goes with 'sections: yes'");
    if (!part->name && !part->sections)
        return COMPLAIN(reader->map, "'name' is missing: the key of the entries");
    for (size_t i = 0; i < index; i++) {
        if (schema_text_among(&part->marker, &parts[i].marker, 1))
            return COMPLAIN(reader->map, "two parts have the marker %s", part->marker.text);
        if (part->sections && parts[i].sections)
            return COMPLAIN(reader->map, "one part of sections was expected");
    }
    return true;
}

static bool check_tail(reader_t *reader, const schema_t *schema) {
    bool has_sections = false;
    for (size_t i = 0; i < schema->part_count; i++)
        has_sections |= schema->parts[i].sections;
    return has_sections == (schema->section_count > 0) ||
           COMPLAIN(schema_item(reader, "tail"),
                    "'sections' and a part {marker: ..., sections: yes} go together: one of them is missing");
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
        bool known = false;
        for (size_t j = 0; j < schema->made_count; j++)
            known |= strcmp(schema->made[j].field.key, node->text) == 0;
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
    return check_tail(reader, schema) && check_document(reader, schema);
}

bool schema_check_fields(reader_t *reader) {
    schema_t *schema = reader->schema;
    const uint32_t width = width_of(schema->fields, schema->field_count);
    if (schema->kind == RECORDS_DELIMITED)
        return check_groups(reader) && check_header(reader, schema);
    return schema->kind != RECORDS_FIXED || width == schema->fixed ||
           COMPLAIN(schema_item(reader, "fields"), "the fields are %u characters wide, the record is %u",
                    width, schema->fixed);
}

/* ---- what is made ---- */

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

words_t schema_made_words(record_kind_t kind, uint32_t makes) {
    const char *words[COUNT(ways)];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(ways); i++)
        if (ways[i].records >> kind & makes >> ways[i].kind & 1)
            words[count++] = ways[i].name;
    return schema_either(words, count);
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
        COMPLAIN(reader->map, "a key and 'from' were expected, such as {name: join, from: [first, last]}");
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
    const record_kind_t kind = reader->schema->kind;
    const char *words[COUNT(ways)], *word = node->kind == YAML_ITEM_SCALAR ? node->text
                                            : yaml_item_get(node, "path")  ? "path"
                                                                           : "{...}";
    size_t count = 0;
    for (size_t i = 0; i < COUNT(ways); i++) {
        if (!(ways[i].records >> kind & 1))
            continue;
        words[count++] = ways[i].name;
        if (strcmp(word, ways[i].name) != 0)
            continue;
        made->kind = ways[i].kind;
        made->change = ways[i].change;
        made->field.type = made->kind == MAKE_UTC ? TYPE_DATE : TYPE_TEXT;
        if (made->kind == MAKE_UTC)
            made->field.patterns = (texts_t){moments, COUNT(moments)};
        return made->kind != MAKE_PATH || read_path(reader, node, made);
    }
    return !schema_is_gone(reader, node, "make", word) &&
           COMPLAIN(node, "'%s' makes no key of such records; %s was expected%s", word,
                    schema_made_words(kind, ~0u).text, suggestion(word, words, count).text);
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
    return read_way(reader, key, made);
}

/* Can the key be made of these fields? */
static bool check_from(reader_t *reader, const make_t *made) {
    const yaml_item_t *from = schema_item(reader, "from");
    for (size_t i = 0; i < made->from_count; i++) {
        const field_t *field = &reader->schema->fields[made->from[i].fields[0]];
        if (made->kind == MAKE_POINT && (field->type != TYPE_NUMBER || field->array.length))
            return COMPLAIN(from, "a point is made of two fields of the type number: latitude, longitude");
        if (made->kind == MAKE_UTC && (field->type != TYPE_TEXT || field->width != (i ? 4 : 8)))
            return COMPLAIN(from,
                            "utc is made of two text fields: a date of width 8 (YYYYMMDD) and a time of "
                            "width 4 (hhmm)");
    }
    return true;
}

/* A constant is a value of its type. */
static bool check_constant(reader_t *reader, const make_t *made) {
    uint8_t text[SCHEMA_MOST_CONSTANT + POOL_SLACK] = {0}, value[TYPES_VALUE], type;
    const field_t *field = &made->field;
    char sentence[VALUE_MISFIT];
    if (made->kind != MAKE_CONSTANT || field->type == TYPE_TEXT || field->type == TYPE_TRIMMED)
        return true;
    memcpy(text, made->text.text, made->text.length);
    if (value_read(field, NULL, ENCODING_NONE, text, made->text.length, &type, value))
        return true;
    value_misfit(field, text, made->text.length, sentence);
    return COMPLAIN(reader->map, "%s", sentence);
}

static bool finish_made(reader_t *reader, void *items, size_t index) {
    const make_t *all = items;
    make_t *made = (make_t *)items + index;
    for (size_t i = 0; i < index; i++)
        if (made->kind == MAKE_UTC && all[i].kind == MAKE_UTC)
            return COMPLAIN(reader->map, "utc is made in line %d already: there is one hour24",
                            all[i].field.at->line);
    /* a field with a mistake may have another type than it says */
    return finish_values(reader, &made->field) && check_constant(reader, made) &&
           (reader->mistake_count || check_from(reader, made));
}

/* ---- the parts ---- */

#define BY_FIXED "a field such as {name: depth, width: 4, type: int}", finish_fixed, FIELDS
#define MADE_PART                                                                                            \
    "a map such as {name: join, from: [first, last]}", finish_made,                                          \
        "a list such as [{ts: utc, from: [date, time]}]", "made keys", 0, SCHEMA_MOST_MADE, sizeof(make_t),  \
        offsetof(make_t, field.at)
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
    [PART_FIELD + RECORDS_FIXED] = {"A field of fixed width", BY_FIXED},
    [PART_FIELD + RECORDS_JSON] = {"A field of JSON", "a field such as {name: created.at, type: date}",
                                   finish_field, FIELDS},
    [PART_SURPLUS] = {"`surplus`", "a map such as {into: model, left: 9}", NULL, ALONE},
    [PART_MADE + RECORDS_DELIMITED] = {"`make`, besides the key that is made and how", MADE_PART},
    [PART_MADE + RECORDS_FIXED] = {NULL, MADE_PART},
    [PART_TAIL] = {"`tail`", "a part such as {marker: ADD, sections: yes}", finish_part, "a list of parts",
                   "parts", 0, SCHEMA_MOST_PARTS, sizeof(tail_part_t), offsetof(tail_part_t, at)},
    [PART_ENTRY] = {NULL, BY_FIXED},
    [PART_PIECE] = {NULL, BY_FIXED},
    [PART_SECTION] = {"`sections`", "a section such as {ids: AA1-AA4, name: rain, fields: [...]}",
                      finish_section, "a list of sections", "sections", 0, SCHEMA_MOST_SECTIONS,
                      sizeof(section_t), offsetof(section_t, at)},
};
