/* What goes without saying in each part of a format file, and what its keys must agree on. */
#include "format/schema/schema_read.h"

#include <string.h>

enum { WIDEST_NUMBER = 8 };

/* ---- names and keys ---- */

bool schema_name(reader_t *reader, const char *name, const char *key, const yaml_item_t *at) {
    names_t *names = reader->names;
    for (const named_t *other = names->items + names->first; other < names->items + names->count; other++)
        if (schema_keys_clash(key, other->key) || (*name && strcmp(name, other->name) == 0))
            return COMPLAIN(at,
                            "'%s' does not go with '%s' of line %d: a name is there once, and no key is "
                            "another one or the beginning of another one",
                            key, other->key, other->at->line);
    names->items[names->count++] = (named_t){name, key, at};
    return true;
}

/* ---- values ---- */

/* What is not said of the numbers of a field is said of those of the record. Numbers that are written plainly have no
 * marks. */
static bool finish_numbers(reader_t *reader, field_t *field) {
    const schema_t *schema = reader->schema;
    const bool number = NUMBERS >> field->type & 1,
               whole = field->type == TYPE_INT || field->type == TYPE_LONG;
    field->point = schema_item(reader, "decimal") ? field->point : schema->point;
    field->thousands = schema_item(reader, "thousands") ? field->thousands : schema->thousands;
    field->exact = number && !schema_item(reader, "exact") ? schema->exact : field->exact;
    if (number && field->point == field->thousands)
        return COMPLAIN(
            reader->map,
            "'decimal' and 'thousands' are both \"%c\" ('decimal' is \".\" where it is not given)",
            field->point);
    if (!number || (!field->thousands && (whole || field->point == '.')))
        field->point = field->thousands = 0;
    return true;
}

static bool finish_booleans(reader_t *reader, field_t *field) {
    static const schema_text_t usual[2][3] = {{{"false", 5}, {"False", 5}, {"FALSE", 5}},
                                              {{"true", 4}, {"True", 4}, {"TRUE", 4}}};
    for (int is = 0; is < 2 && field->type == TYPE_BOOLEAN; is++) {
        texts_t *words = &field->words[is];
        const bool given = words->count > 0;
        *words = given ? *words : (texts_t){usual[is], COUNT(usual[is])};
        for (size_t i = 0; i < words->count; i++)
            if ((given && schema_text_among(&words->items[i], &field->nulls)) ||
                (is && schema_text_among(&words->items[i], &field->words[0])))
                return COMPLAIN(reader->map, "'%s' has two meanings: true, false or a null value",
                                words->items[i].text);
    }
    return true;
}

/* The patterns of what is made by `utc`, of a datetime, and, the last one, of a date. */
static const schema_text_t moments[] = {{"YYYY-MM-DDThh:mm:ssZ", 20}, {"YYYY-MM-DDThh:mm:ss", 19},
                                        {"YYYY-MM-DD hh:mm:ss", 19},  {"YYYY-MM-DDThh:mm", 16},
                                        {"YYYY-MM-DD hh:mm", 16},     {"YYYY-MM-DD", 10}};
static const schema_text_t datetimes[] = {{"YYYY-MM-DDThh:mm:ssZ", 20},
                                          {"YYYY-MM-DD hh:mm:ss", 19},
                                          {"YYYY-MM-DDThh:mm:ss", 19},
                                          {"YYYY-MM-DDThh:mm:ss.SSSZ", 24},
                                          {"YYYY-MM-DD hh:mm:ss.SSS", 23},
                                          {"YYYY-MM-DDThh:mm:ss.SSS", 23},
                                          {"YYYY-MM-DD", 10}};

static bool finish_dates(reader_t *reader, field_t *field) {
    const yaml_item_t *type = schema_item(reader, "type");
    texts_t *texts = &field->patterns;
    if (field->type == TYPE_DATE && !texts->count)
        *texts = !type                             ? (texts_t){moments, COUNT(moments)}
                 : strcmp(type->text, "date") == 0 ? (texts_t){&datetimes[COUNT(datetimes) - 1], 1}
                                                   : (texts_t){datetimes, COUNT(datetimes)};
    pattern_t *compiled = schema_own(reader->schema, texts->count * sizeof *compiled, reader->err);
    field->compiled = compiled;
    for (size_t i = 0; compiled && i < texts->count; i++) {
        const char *problem = pattern_compile(texts->items[i].text, texts->items[i].length, &compiled[i]);
        if (problem)
            return COMPLAIN(schema_item(reader, "pattern"), "'%s' is not a date pattern: %s",
                            texts->items[i].text, problem);
        compiled[i].zone = compiled[i].local ? reader->schema->zone : NULL;
    }
    return compiled && finish_booleans(reader, field) && finish_numbers(reader, field);
}

/* ---- fields ---- */

static bool finish_fixed(reader_t *reader, field_t *field) {
    const bool number = field->type == TYPE_LENGTH || NUMBERS >> field->type & 1;
    field->counted = schema_item(reader, "lengthWidth");
    field->offset = field[-1].offset + field[-1].width;
    if (number && field->width > WIDEST_NUMBER)
        return COMPLAIN(reader->map, "a number of at most %d characters was expected", WIDEST_NUMBER);
    if (field->nulls.count && field->nulls.items[0].length != field->width)
        return COMPLAIN(reader->map, "a null value as wide as the field (%d characters) was expected",
                        field->width);
    if (field[-1].counted)
        return COMPLAIN(field[-1].at, "'lengthWidth' goes with the last field of an entry");
    return field->offset + field->width <= SCHEMA_WIDEST ||
           COMPLAIN(reader->map, "the fields up to here are %u characters wide; at most %d were expected",
                    field->offset + field->width, SCHEMA_WIDEST);
}

bool schema_finish_field(reader_t *reader) {
    static const schema_text_t empty[] = {{"", 0}};
    field_t *field = reader->into;
    if (!schema_name(reader, field->name, field->key, field->at))
        return false;
    if (reader->schema->kind == RECORDS_FIXED)
        return finish_fixed(reader, field);
    schema_text_t *column = schema_own(reader->schema, sizeof *column, reader->err);
    const yaml_item_t *nulls = schema_item(reader, "nulls");
    if (nulls && strcmp(field->key, "_id") == 0)
        return COMPLAIN(nulls, "an _id cannot be left out, so it has no null values");
    if (!nulls && reader->schema->kind == RECORDS_DELIMITED)
        field->nulls = (texts_t){empty, COUNT(empty)};
    if (column)
        *column = (schema_text_t){field->name, strlen(field->name)};
    if (!field->columns.count)
        field->columns = (texts_t){column, 1};
    return column && finish_dates(reader, field);
}

/* Can the key be made of these fields? */
bool schema_finish_made(reader_t *reader) {
    make_t *made = reader->into;
    for (size_t i = 0; i < made->from_count; i++) {
        const field_t *field = &reader->schema->fields[made->from[i].fields[0]];
        if (made->kind == MAKE_POINT && (field->type != TYPE_NUMBER))
            return COMPLAIN(reader->map,
                            "a point is made of two fields of the type number: latitude, longitude");
        if (made->kind == MAKE_UTC && (field->type != TYPE_TEXT || field->width != (i ? 4 : 8)))
            return COMPLAIN(reader->map, "utc is made of two text fields: a date of width 8 (YYYYMMDD) and a "
                                         "time of width 4 (hhmm)");
    }
    made->field.type = made->kind == MAKE_UTC ? TYPE_DATE : made->field.type;
    return schema_name(reader, made->field.name, made->field.key, made->field.at) &&
           (made->kind != MAKE_UTC || schema_name(reader, "", "hour24", made->field.at)) &&
           finish_dates(reader, &made->field);
}

/* ---- delimited records ---- */

bool schema_finish_record(reader_t *reader) {
    schema_t *schema = reader->into;
    schema->header = schema->header_line.length ? HEADER_LINE : schema->header;
    schema->any_lines &= schema->quote != 0;
    if (schema->kind == RECORDS_DELIMITED)
        schema->multiline = schema->any_lines || (schema->quote && !schema_item(reader, "multiline"));
    return true;
}

/* A column that a header names belongs to one field only. */
static bool check_columns(reader_t *reader, const schema_t *schema) {
    const bool named = schema->header == HEADER_WORDS || schema->header == HEADER_YES;
    for (const field_t *field = schema->fields; named && field < schema->fields + schema->field_count;
         field++)
        for (const field_t *other = schema->fields; other < field; other++)
            for (size_t i = 0; i < other->columns.count; i++)
                if (schema_text_among(&other->columns.items[i], &field->columns))
                    return COMPLAIN(field->at,
                                    "its column '%s' is that of '%s' in line %d already; a second key of a "
                                    "column is made of its field (make: [{KEY: first, from: [%s]}])",
                                    other->columns.items[i].text, other->name, other->at->line, other->name);
    return true;
}

static bool add_usual_layouts(reader_t *reader, schema_t *schema) {
    uint16_t *fields = schema_own(schema, schema->field_count * sizeof *fields, reader->err);
    for (size_t i = 0; fields && i < schema->field_count; i++)
        fields[i] = (uint16_t)i;
    schema->usual_layouts = true;
    if (fields)
        schema_usual_layouts(schema, fields, schema->field_count);
    return fields;
}

/* Fields that came later stand at the end, and are found by their names alone. */
static bool check_added(reader_t *reader, const schema_t *schema) {
    for (size_t i = 0; i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i], *next = field + 1;
        const bool last = i + 1 == schema->field_count || next->added;
        if (field->added && (!i || !field->optional || !last || !schema_is_named(schema)))
            return COMPLAIN(field->at, "'added' is for optional fields at the end of a format with "
                                       "'header: yes' or [WORD, ...] and without 'layouts'");
    }
    return true;
}

static bool check_delimited(reader_t *reader, schema_t *schema) {
    const bool by_line = schema->header == HEADER_LINE || schema->header_refused;
    const yaml_item_t *record = schema_item(reader, "record");
    if (schema->header == HEADER_WORDS && !schema->header_words.count)
        schema->header_words = schema->fields[0].columns;
    if (schema_text_among(&(schema_text_t){"", 0}, &schema->header_words))
        return COMPLAIN(record,
                        "a header is not recognised by an empty word, or by the first field's column \"\"; "
                        "say how it begins: header: yes, no, or [WORD, ...]");
    if (!check_columns(reader, schema) || (!schema->layout_count && !add_usual_layouts(reader, schema)) ||
        !check_added(reader, schema))
        return false;
    if (by_line && (schema->delimiter_count > 1 || schema->layout_count > 1))
        return COMPLAIN(record, "'header_line' and 'header: refuse' go with one delimiter and one layout, by "
                                "which the first line is read");
    for (size_t i = 0; schema->surplus_field >= 0 && i < schema->layout_count; i++) {
        const layout_t *layout = &schema->layouts[i];
        if (layout->count <= schema->surplus_left ||
            layout->fields[schema->surplus_left] != schema->surplus_field)
            return COMPLAIN(schema_item(reader, "surplus"), "'%s' is not column %zu of every layout",
                            schema->fields[schema->surplus_field].name, schema->surplus_left + 1);
    }
    return true;
}

/* ---- records of fixed width ---- */

static uint32_t width_of(const field_t *fields, size_t count) {
    return count ? fields[count - 1].offset + fields[count - 1].width : 0;
}

bool schema_finish_tail(reader_t *reader) {
    tail_list_t *tail = reader->into;
    tail->sections = schema_item(reader, "sections");
    tail->width = width_of(tail->fields, tail->field_count) + (tail->id_count ? SCHEMA_ID : 0);
    return (!tail->name || schema_name(reader, tail->name, tail->name, tail->at)) &&
           (!tail->list || schema_name(reader, tail->list, tail->list, tail->at));
}

/* Is the field under this top-level key? */
static bool stands_under(const field_t *field, const schema_text_t *key) {
    return strcspn(field->key, ".") == key->length && memcmp(field->key, key->text, key->length) == 0;
}

static bool check_fixed(reader_t *reader, const schema_t *schema) {
    const uint32_t width = width_of(schema->fields, schema->field_count);
    const yaml_item_t *tail = schema_item(reader, "tail");
    size_t with_sections = 0;
    for (size_t i = 0; i < schema->part_count; i++)
        with_sections += schema->parts[i].sections;
    if (!schema_name(reader, "", "order", reader->map) || !schema_name(reader, "", "unparsed", reader->map))
        return false; /* which the engine makes */
    if (width != schema->fixed)
        return COMPLAIN(schema_item(reader, "fields"), "the fields are %u characters wide, the record is %u",
                        width, schema->fixed);
    if (with_sections != (schema->section_count > 0))
        return COMPLAIN(tail ? tail : schema_item(reader, "sections"),
                        "'sections' and one part {marker: ..., sections: yes} of 'tail' go together");
    for (size_t i = 0; i < schema->document.count; i++) {
        const schema_text_t *key = &schema->document.items[i];
        bool known = false;
        for (size_t j = 0; j < schema_counted(schema); j++)
            known |= stands_under(schema_counted_field(schema, j), key);
        if (!known || schema_text_among(key, &(texts_t){schema->document.items, i}))
            return COMPLAIN(schema_item(reader, "document"),
                            "no field and nothing made has the key '%s', or it is here twice", key->text);
    }
    return true;
}

bool schema_finish_file(reader_t *reader) {
    schema_t *schema = reader->into;
    if (schema->zone && !schema->field_count)
        return COMPLAIN(schema_item(reader, "timezone"),
                        "'timezone' needs 'fields', which say what is a date");
    return schema->kind == RECORDS_DELIMITED ? check_delimited(reader, schema)
                                             : schema->kind != RECORDS_FIXED || check_fixed(reader, schema);
}
