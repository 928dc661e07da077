/* Values of JSON that get the types of a format's fields. A value is read as in any object, and converted when it is there: from
 * its text, or from its digits, as a field of delimited records is. */
#include "base/numbers.h"
#include "base/text.h"
#include "format/json/json_inner.h"
#include "format/values/blanks.h"
#include "format/values/convert.h"

#include <math.h>
#include <stdlib.h>

enum {
    SLACK = 64, /* readers of numbers may read so far after a text, and writers write so far after a value */
    SURE_DIGITS = 15, /* a double keeps this number of digits of any number */
};

/* ---- the tree of names ---- */

json_node_t *json_child(const json_node_t *node, const char *part, size_t length) {
    json_node_t *child = node->first;
    while (child && (child->length != length || memcmp(child->part, part, length) != 0))
        child = child->next;
    return child;
}

static void add_name(json_fields_t *fields, const field_t *field) {
    json_node_t *node = &fields->root;
    for (const char *part = field->key; *part;) {
        const size_t length = strcspn(part, ".");
        json_node_t *child = json_child(node, part, length);
        if (!child) {
            child = &fields->nodes[fields->count++];
            *child = (json_node_t){.part = part, .length = length, .next = node->first};
            node->first = child;
        }
        node = child;
        part += length + (part[length] == '.');
    }
    node->field = field;
    node->plain = *field;
    node->plain.point = node->plain.thousands = 0;
}

json_fields_t *json_fields_new(const schema_t *schema) {
    size_t parts = 0;
    for (size_t i = 0; i < schema->field_count; i++)
        parts += strlen(schema->fields[i].key) + 1; /* at most */
    json_fields_t *fields = calloc(1, sizeof *fields + parts * sizeof *fields->nodes);
    if (!fields)
        return NULL;
    fields->schema = schema;
    for (size_t i = 0; i < schema->field_count; i++)
        add_name(fields, &schema->fields[i]);
    return fields;
}

/* ---- values that do not fit ---- */

void json_fields_begin(json_fields_t *fields) {
    for (size_t i = 0; i < fields->count; i++)
        fields->nodes[i].misfits = 0;
    *fields->reason = '\0';
}

void json_fields_note(const json_fields_t *fields, bad_values_t *bad, const record_t *record) {
    for (size_t i = 0; i < fields->count; i++)
        if (fields->nodes[i].misfits)
            bad_values_note(bad, (size_t)(fields->nodes[i].field - fields->schema->fields),
                            fields->nodes[i].misfits, record);
}

/* ---- values ---- */

/* A value as a text. */
typedef struct {
    const uint8_t *text;
    size_t length;
    bool number;
    uint8_t printed[CONVERT_PRINTED + SLACK];
} source_t;

static size_t digits_in(const source_t *source) {
    size_t digits = 0;
    for (size_t i = 0; i < source->length && source->text[i] != 'e'; i++)
        digits += source->text[i] >= '0' && source->text[i] <= '9';
    return digits;
}

static void show(source_t *source, const char *text) {
    source->text = (const uint8_t *)text;
    source->length = strlen(text);
}

/* False: the value has no text that could be converted, and the source is what a sentence calls it. */
static bool take_source(const field_t *field, const bson_iter_t *at, source_t *source) {
    uint32_t length;
    *source = (source_t){.text = source->printed, .number = true};
    switch (bson_iter_type(at)) {
    case BSON_TYPE_UTF8:
        source->text = (const uint8_t *)bson_iter_utf8(at, &length);
        source->length = length;
        source->number = false;
        if (field->type == TYPE_TRIMMED)
            blanks_trim(&source->text, &source->length);
        return true;
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        source->length = convert_print_int(bson_iter_as_int64(at), source->printed);
        return true;
    case BSON_TYPE_DOUBLE: /* a decimal of it has the digits that were in the file, as far as a double keeps them */
        if (isfinite(bson_iter_double(at)))
            source->length = convert_print_number(bson_iter_double(at), 0, source->printed);
        else
            show(source, number_print((char *)source->printed, bson_iter_double(at)));
        return field->type == TYPE_DECIMAL && digits_in(source) <= SURE_DIGITS;
    case BSON_TYPE_BOOL:
        show(source, bson_iter_bool(at) ? "true" : "false");
        return field->type == TYPE_TEXT;
    default:
        show(source, "{...}");
        return false;
    }
}

static bool is_already(const field_t *field, const bson_iter_t *at) {
    const bson_type_t type = bson_iter_type(at);
    const uint8_t *const types = value_types[field->type].bson;
    bson_subtype_t subtype = BSON_SUBTYPE_UUID;
    if (type == BSON_TYPE_BINARY)
        bson_iter_binary(at, &subtype, NULL, NULL);
    return type == BSON_TYPE_NULL || (field->type != TYPE_TRIMMED && (type == types[0] || type == types[1]) &&
                                      subtype == BSON_SUBTYPE_UUID);
}

bool json_convert(json_value_t *json, json_node_t *node, uint8_t *element, bool item) {
    json_fields_t *const fields = json->fields;
    const field_t *const field = node->field;
    const size_t key = strlen((const char *)element + 1);
    uint8_t *const value = element + 1 + key + 1, *end = NULL, type = 0;
    source_t source;
    bson_iter_t at;
    if (!bson_iter_init_from_data_at_offset(&at, json->start, (size_t)(json->out - json->start) + 1,
                                            (uint32_t)(element - json->start), (uint32_t)key))
        return true;
    const bool has_text = take_source(field, &at, &source);
    if (has_text && !source.number &&
        words_find(&field->nulls, ENCODING_NONE, source.text, source.length) >= 0) {
        *element = BSON_TYPE_NULL;
        json->out = item ? value : element;
        return true;
    }
    if (is_already(field, &at))
        return true;
    if (!GROW(json->moved, json->moved_room, source.length + 2 * (size_t)SLACK, NULL))
        return false;
    if (has_text)
        end = value_read(source.number ? &node->plain : field, NULL, ENCODING_NONE, source.text,
                         source.length, &type, json->moved);
    const bad_value_t bad = fields->schema->bad_value;
    node->misfits += !end;
    if (end) {
        *element = type;
        json->out = (uint8_t *)mempcpy(value, json->moved, (size_t)(end - json->moved));
    } else if (bad == BAD_VALUE_NULL && strcmp(field->key, "_id") != 0) {
        *element = BSON_TYPE_NULL;
        json->out = value;
    } else if (bad != BAD_VALUE_TEXT && !*fields->reason) {
        value_misfit(field, source.text, source.length, fields->reason);
    }
    return true;
}
