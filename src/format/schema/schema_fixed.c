#include "format/schema/schema_read.h"

#include <string.h>

enum { MOST_FIXED = 4096, WIDEST = 512, WIDEST_NUMBER = 8 };

/* "[A-Z][0-9]x": which bytes are allowed at each place. */
static bool read_is(reader_t *reader, const yaml_item_t *node, field_t *field) {
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, "sets of characters such as \"[A-Z][0-9][0-9]\""))
        return false;
    byteset_t *sets = schema_keep(reader, field->width * sizeof *sets);
    const uint8_t *at = (const uint8_t *)node->text, *end = at + node->length;
    size_t count = 0;
    if (!sets)
        return false;
    for (; at < end && count < field->width; count++) {
        bool set = *at == '[';
        at += set;
        if (set && at < end && *at == '^')
            return COMPLAIN(
                node, "a set names the characters that may stand there; all but some, with '^' in front, "
                      "is not known. A '^' itself is put after another one, as in \"[a^]\", or alone");
        do {
            uint8_t first = *at, last = set && end - at > 2 && at[1] == '-' && at[2] != ']' ? at[2] : first;
            if (last < first)
                return COMPLAIN(node, "nothing lies between '%c' and '%c'", first, last);
            for (unsigned byte = first; byte <= last; byte++)
                sets[count].bits[byte >> 6] |= 1ull << (byte & 63);
            at += last == first ? 1 : 3;
        } while (set && at < end && *at != ']');
        if (set && at++ >= end)
            return COMPLAIN(node, "a set is not closed: \"[A-Z]\" was expected");
    }
    if (count != field->width || at != end)
        return COMPLAIN(node, "as many characters or sets as the field is wide (%d) were expected",
                        field->width);
    field->is = sets;
    return true;
}

static bool read_sign(reader_t *reader, const yaml_item_t *node, field_t *field) {
    static const char *const words[] = {
        [SIGN_NEVER] = "never", [SIGN_ALWAYS] = "always", [SIGN_MINUS] = "minus"};
    if (field->type != TYPE_INT && field->type != TYPE_NUMBER)
        return COMPLAIN(node, "'sign' goes with the types int and number");
    for (size_t i = 0; i < COUNT(words); i++)
        if (node->kind == YAML_ITEM_SCALAR && strcmp(node->text, words[i]) == 0) {
            field->sign = (sign_t)i;
            return true;
        }
    return COMPLAIN(node, "never, always or minus was expected: where a number's sign is");
}

static bool read_multiply(reader_t *reader, const yaml_item_t *node, field_t *field) {
    int64_t by;
    if (field->type != TYPE_INT)
        return COMPLAIN(node, "'multiply' goes with the type int");
    if (!yaml_tree_int(reader->tree, node, 1, 10, &by, reader->err))
        return false;
    field->divide = by == 10 ? -1 : 0;
    return by == 1 || by == 10 || COMPLAIN(node, "10 was expected");
}

static bool read_nulls(reader_t *reader, const yaml_item_t *node, field_t *field) {
    if (field->counted || field->type == TYPE_LENGTH)
        return COMPLAIN(node, "a length has no null value: what it says decides what the record is");
    if (!schema_texts(reader, node, &field->nulls))
        return false;
    if (field->nulls.count > 1)
        return COMPLAIN(node, "one null value was expected: which of several it was could not be told again");
    return !field->nulls.count || field->nulls.items[0].length == field->width ||
           COMPLAIN(node, "a null value as wide as the field (%d characters) was expected", field->width);
}

static bool read_width(reader_t *reader, const yaml_item_t *node, field_t *field) {
    const yaml_item_t *width = yaml_item_get(node, "width"), *counted = yaml_item_get(node, "lengthWidth");
    int64_t characters = 0;
    if (!width == !counted)
        return COMPLAIN(node, "'width' was expected: how many characters the field has");
    if (!yaml_tree_int(reader->tree, width ? width : counted, 1, width ? WIDEST : 4, &characters,
                       reader->err))
        return false;
    field->width = (uint16_t)characters;
    field->counted = counted != NULL;
    bool number = field->type == TYPE_INT || field->type == TYPE_NUMBER || field->type == TYPE_LENGTH;
    if (field->type == TYPE_LONG || field->type == TYPE_DATE || field->type > TYPE_LENGTH ||
        (field->counted && field->type != TYPE_TEXT))
        return COMPLAIN(node, "the types of fields by width are text, trimmed, int, number and length");
    if (number && characters > WIDEST_NUMBER)
        return COMPLAIN(node, "a number of at most %d characters was expected", WIDEST_NUMBER);
    return true;
}

static bool read_field(reader_t *reader, const yaml_item_t *node, field_t *field) {
    if (!schema_want(reader, node, YAML_ITEM_MAP, "a field such as {name: depth, width: 4, type: int}") ||
        !schema_only_keys(reader, node, KEYS_FIXED_FIELD))
        return false;
    const yaml_item_t *sign = yaml_item_get(node, "sign"), *divide = yaml_item_get(node, "divide"),
                      *multiply = yaml_item_get(node, "multiply"), *is = yaml_item_get(node, "is"),
                      *nulls = yaml_item_get(node, "nulls");
    *field = (field_t){.type = TYPE_TEXT};
    return schema_field_start(reader, node, field) && read_width(reader, node, field) &&
           (!sign || read_sign(reader, sign, field)) && (!divide || schema_divide(reader, divide, field)) &&
           (!multiply || read_multiply(reader, multiply, field)) && (!is || read_is(reader, is, field)) &&
           (!nulls || read_nulls(reader, nulls, field));
}

/* Reads fields that follow one another. at: the place to name if they are missing. */
static bool read_fields(reader_t *reader, const yaml_item_t *at, const yaml_item_t *list, field_t **fields,
                        size_t *count, uint32_t *width) {
    *width = 0;
    *count = 0;
    if (!list)
        return COMPLAIN(at, "'fields' is missing");
    if (!schema_want(reader, list, YAML_ITEM_LIST, "a list of fields"))
        return false;
    if (!list->count || list->count > SCHEMA_MOST_FIELDS)
        return COMPLAIN(list, "1 to %d fields were expected", SCHEMA_MOST_FIELDS);
    if (!(*fields = schema_keep(reader, list->count * sizeof **fields)))
        return false;
    for (const yaml_item_t *node = list->first; node; node = node->next) {
        field_t *field = &(*fields)[*count];
        if (!TRY(read_field(reader, node, field)) ||
            (field->key && !TRY(schema_fits(reader, *fields, *count, field))))
            return false;
        field->offset = *width;
        *width += field->width;
        *count += field->key != NULL;
        if (*width > MOST_FIXED)
            return COMPLAIN(node, "the fields up to here are %u characters wide; at most %d were expected",
                            *width, MOST_FIXED);
    }
    return true;
}

static bool no_kind(reader_t *reader, const field_t *fields, size_t count, bool entry) {
    for (size_t i = 0; i < count; i++) {
        const field_t *field = &fields[i];
        if (field->type == TYPE_LENGTH)
            return COMPLAIN(field->at, "'length' belongs to the fixed part: the characters that follow it");
        if (field->counted && (!entry || i + 1 < count))
            return COMPLAIN(field->at, "'lengthWidth' goes with the last field of an entry");
        if (field->is && !entry)
            return COMPLAIN(field->at, "'is' goes with the fields of an entry");
        if (!entry && (strcmp(field->key, "id") == 0 || strncmp(field->key, "id.", 3) == 0))
            return COMPLAIN(field->at, "the key 'id' is the section's identifier; choose another key");
    }
    return true;
}

/* Could this be the beginning of an identifier, or begin with one? */
static bool looks_like_id(const char *text, size_t length) {
    return text[0] >= 'A' && text[0] <= 'Z' && (length < 2 || (text[1] >= 'A' && text[1] <= 'Z')) &&
           (length < 3 || (text[2] >= '0' && text[2] <= '9'));
}

/* "AA1-AA4" or "AG1" */
static bool read_range(reader_t *reader, const yaml_item_t *node, section_t *section) {
    const char *text = node->text;
    bool ok = node->kind == YAML_ITEM_SCALAR && (node->length == 3 || node->length == 7);
    for (size_t i = 0; ok && i < node->length; i += 4)
        ok = looks_like_id(text + i, SCHEMA_ID);
    ok = ok && (node->length == 3 || (text[3] == '-' && memcmp(text, text + 4, 2) == 0 && text[6] > text[2]));
    if (!ok)
        return COMPLAIN(node, "identifiers such as AA1-AA4 or AG1 were expected: two capitals and a digit");
    char last = text[node->length - 1];
    const section_t *sections = reader->schema->sections;
    for (const section_t *other = sections; other <= section; other++) {
        char id[SCHEMA_ID] = {text[0], text[1], text[2]};
        for (; id[2] <= last; id[2]++)
            if (section_lists(other, id))
                return COMPLAIN(node, "the identifier %.3s is in line %d already", id, other->at->line);
    }
    memcpy(section->ids[section->id_count].first, text, SCHEMA_ID);
    section->ids[section->id_count++].last_digit = last;
    return true;
}

static bool read_ids(reader_t *reader, const yaml_item_t *node, section_t *section) {
    size_t count = node->kind == YAML_ITEM_LIST ? node->count : 1;
    const yaml_item_t *range = node->kind == YAML_ITEM_LIST ? node->first : node;
    if (!count || count > SCHEMA_MOST_FROM)
        return COMPLAIN(node, "1 to %d ranges of identifiers were expected", SCHEMA_MOST_FROM);
    for (; count; count--, range = range->next)
        if (!read_range(reader, range, section))
            return false;
    return true;
}

static bool read_section(reader_t *reader, const yaml_item_t *node, section_t *section) {
    schema_t *schema = reader->schema;
    if (!schema_want(reader, node, YAML_ITEM_MAP,
                     "a section such as {ids: AA1-AA4, name: rain, fields: [...]}") ||
        !schema_only_keys(reader, node, KEYS_SECTION))
        return false;
    const yaml_item_t *ids = yaml_item_get(node, "ids"), *name = yaml_item_get(node, "name");
    field_t *fields = NULL;
    section->at = node;
    if (!ids || !name)
        return COMPLAIN(node, "'%s' is missing", ids ? "name" : "ids");
    if (!read_ids(reader, ids, section) || !schema_key(reader, name, &section->name) ||
        !read_fields(reader, node, yaml_item_get(node, "fields"), &fields, &section->field_count,
                     &section->width))
        return false;
    section->fields = fields;
    if (strchr(section->name, '.'))
        return COMPLAIN(name, "a section's name cannot have a dot");
    for (size_t i = 0; i < schema->section_count; i++) {
        const section_t *other = &schema->sections[i];
        if (strcmp(other->name, section->name) == 0)
            return COMPLAIN(name, "a section named '%s' is in line %d already", section->name,
                            other->at->line);
    }
    return no_kind(reader, fields, section->field_count, false);
}

static bool read_sections(reader_t *reader, const yaml_item_t *list) {
    schema_t *schema = reader->schema;
    if (!schema_want(reader, list, YAML_ITEM_LIST, "a list of sections"))
        return false;
    if (list->count > SCHEMA_MOST_SECTIONS)
        return COMPLAIN(list, "at most %d sections were expected", SCHEMA_MOST_SECTIONS);
    if (!(schema->sections = schema_keep(reader, (list->count + 1) * sizeof *schema->sections)))
        return false;
    for (const yaml_item_t *node = list->first; node; node = node->next) {
        const size_t before = reader->mistake_count;
        section_t *section = &schema->sections[schema->section_count];
        *section = (section_t){.at = node};
        if (!TRY(read_section(reader, node, section)))
            return false;
        schema->section_count += reader->mistake_count == before;
    }
    return true;
}

static bool read_part(reader_t *reader, const yaml_item_t *node, tail_part_t *part) {
    if (!schema_want(reader, node, YAML_ITEM_MAP, "a part such as {marker: ADD, sections: yes}") ||
        !schema_only_keys(reader, node, KEYS_PART))
        return false;
    const yaml_item_t *marker = yaml_item_get(node, "marker"), *name = yaml_item_get(node, "name"),
                      *sections = yaml_item_get(node, "sections"), *list = yaml_item_get(node, "list"),
                      *repeat = yaml_item_get(node, "repeat"), *leave_out = yaml_item_get(node, "leaveOut");
    const char *text;
    if (!marker || !schema_name(reader, marker, &text) || marker->length > 8)
        return COMPLAIN(marker ? marker : node, "a marker of 1 to 8 characters was expected");
    part->marker = (schema_text_t){text, marker->length};
    if (reader->schema->section_count && looks_like_id(text, marker->length))
        return COMPLAIN(marker,
                        "a marker that starts like a section's identifier could not be told from one");
    if ((sections && !yaml_tree_bool(reader->tree, sections, &part->sections, reader->err)) ||
        (leave_out && !yaml_tree_bool(reader->tree, leave_out, &part->leave_out, reader->err)))
        return false;
    if (part->sections == (repeat != NULL))
        return COMPLAIN(node, "either 'sections: yes' or 'repeat' was expected: what comes after the marker");
    if (list && (!part->sections || !schema_key(reader, list, &part->list) || strchr(part->list, '.')))
        return COMPLAIN(list, "'list' goes with sections: a plain key for their identifiers");
    if (part->sections)
        return true;
    if (!name)
        return COMPLAIN(node, "'name' is missing: the key of the entries");
    field_t *fields = NULL;
    if (!schema_key(reader, name, &part->name) || strchr(part->name, '.'))
        return COMPLAIN(name, "a plain key was expected");
    if (!read_fields(reader, node, repeat, &fields, &part->field_count, &part->width))
        return false;
    part->fields = fields;
    return no_kind(reader, fields, part->field_count, true);
}

static bool read_tail(reader_t *reader, const yaml_item_t *list) {
    schema_t *schema = reader->schema;
    if (!schema_want(reader, list, YAML_ITEM_LIST, "a list of parts"))
        return false;
    if (list->count > SCHEMA_MOST_PARTS)
        return COMPLAIN(list, "at most %d parts were expected", SCHEMA_MOST_PARTS);
    bool sections = false;
    for (const yaml_item_t *node = list->first; node; node = node->next) {
        tail_part_t *part = &schema->parts[schema->part_count];
        if (!read_part(reader, node, part))
            return false;
        for (size_t i = 0; i < schema->part_count; i++)
            if (schema->parts[i].marker.length == part->marker.length &&
                memcmp(schema->parts[i].marker.text, part->marker.text, part->marker.length) == 0)
                return COMPLAIN(node, "two parts have the marker %s", part->marker.text);
        if (part->sections && sections)
            return COMPLAIN(node, "one part of sections was expected");
        sections |= part->sections;
        schema->part_count++;
    }
    return !sections == !schema->section_count ||
           COMPLAIN(list, sections ? "'sections' is missing: what comes after the marker of sections"
                                   : "a part {marker: ..., sections: yes} is missing");
}

/* A key may be at a document's top only once. */
static bool check_keys(reader_t *reader) {
    const schema_t *schema = reader->schema;
    const char *keys[SCHEMA_MOST_SECTIONS + 2 * SCHEMA_MOST_PARTS + 4];
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
        for (size_t j = 0; j < i; j++)
            if (strcmp(keys[i], keys[j]) == 0)
                return COMPLAIN(yaml_tree_root(reader->tree), "the key '%s' would be twice in a document",
                                keys[i]);
        const field_t it = {.name = "", .key = keys[i], .at = yaml_tree_root(reader->tree)};
        if (!schema_fits(reader, schema->fields, schema->field_count, &it))
            return false;
        for (size_t j = 0; j < schema->made_count; j++)
            if (strcmp(keys[i], schema->made[j].field.key) == 0)
                return COMPLAIN(yaml_tree_root(reader->tree), "the key '%s' would be twice in a document",
                                keys[i]);
    }
    return true;
}

/* Is the field under this top-level key? */
static bool stands_under(const field_t *field, const char *key) {
    size_t length = strcspn(field->key, ".");
    return strlen(key) == length && memcmp(field->key, key, length) == 0;
}

/* A field is left out if a key was made of it, so that key must come first. */
static bool check_made_before(reader_t *reader, const yaml_item_t *node, size_t index) {
    const schema_t *schema = reader->schema;
    for (size_t i = 0; i < schema->made_count; i++) {
        const make_t *made = &schema->made[i];
        size_t place = 0;
        while (place < schema->document.count &&
               strcmp(schema->document.items[place].text, made->field.key) != 0)
            place++;
        if (place == schema->document.count || place <= index)
            continue; /* it is made before all others, or before this one */
        for (size_t j = 0; j < made->from_count && made->kind != MAKE_FIRST; j++)
            if (stands_under(&schema->fields[made->from[j].fields[0]], node->text))
                return COMPLAIN(node, "'%s' is before '%s', which is made of it and takes its place",
                                node->text, made->field.key);
    }
    return true;
}

static bool read_document(reader_t *reader, const yaml_item_t *list) {
    schema_t *schema = reader->schema;
    if (!schema_texts(reader, list, &schema->document))
        return false;
    const yaml_item_t *node = list->kind == YAML_ITEM_LIST ? list->first : list;
    for (size_t i = 0; i < schema->document.count; i++, node = node->next) {
        bool known = false;
        for (size_t j = 0; j < schema->made_count; j++)
            known |= strcmp(schema->made[j].field.key, node->text) == 0;
        for (size_t j = 0; j < schema->field_count; j++)
            known |= stands_under(&schema->fields[j], node->text);
        if (!known)
            return COMPLAIN(node, "no field and nothing made has the key '%s'", node->text);
        for (size_t j = 0; j < i; j++)
            if (strcmp(schema->document.items[j].text, node->text) == 0)
                return COMPLAIN(node, "'%s' is here twice", node->text);
        if (!check_made_before(reader, node, i))
            return false;
    }
    return true;
}

bool schema_read_fixed(reader_t *reader, const yaml_item_t *root) {
    static const char *const others[] = {"surplus", "layouts"};
    schema_t *schema = reader->schema;
    const yaml_item_t *record = yaml_item_get(root, "record"), *made = yaml_item_get(root, "make"),
                      *tail = yaml_item_get(root, "tail"), *sections = yaml_item_get(root, "sections"),
                      *document = yaml_item_get(root, "document");
    int64_t fixed;
    uint32_t width;
    for (size_t i = 0; i < COUNT(others); i++)
        if (yaml_item_get(root, others[i]))
            return COMPLAIN(yaml_item_get(root, others[i]), "'%s' goes with delimited records", others[i]);
    if (!schema_only_keys(reader, record, KEYS_FIXED_RECORD) ||
        !yaml_tree_int(reader->tree, yaml_item_get(record, "fixed"), 1, MOST_FIXED, &fixed, reader->err) ||
        !read_fields(reader, root, yaml_item_get(root, "fields"), &schema->fields, &schema->field_count,
                     &width))
        return false;
    schema->kind = RECORDS_FIXED;
    schema->fixed = (uint32_t)fixed;
    schema->surplus_field = -1;
    schema->header = HEADER_NO;
    if (width != schema->fixed && !reader->mistake_count)
        return COMPLAIN(yaml_item_get(root, "fields"), "the fields are %u characters wide, the record is %u",
                        width, schema->fixed);
    for (size_t i = 0; i < schema->field_count; i++)
        if (schema->fields[i].counted || schema->fields[i].is)
            return COMPLAIN(schema->fields[i].at, "'lengthWidth' and 'is' go with the entries of a part");
    if ((made && !TRY(schema_read_made(reader, made))) || (sections && !TRY(read_sections(reader, sections))))
        return false;
    return reader->mistake_count ||
           ((!tail || read_tail(reader, tail)) &&
            (tail || !sections || COMPLAIN(sections, "'tail' is missing: {marker: ..., sections: yes}")) &&
            check_keys(reader) && (!document || read_document(reader, document)));
}
