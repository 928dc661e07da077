/* Values of JSON that get the types of a format's fields. A value is read as in any object, and converted when it is there: from
 * its text, or from its digits, as a field of delimited records is. */
#include "base/numbers.h"
#include "base/text.h"
#include "format/json/json_inner.h"
#include "format/values/convert.h"

#include <math.h>

enum {
    SLACK = 64, /* readers of numbers may read so far after a text, and writers write so far after a value */
    SURE_DIGITS = 15, /* a double keeps this number of digits of any number */
};

json_place_t json_below(const schema_t *schema, json_place_t place, const char *key) {
    const size_t begins = place.length + (place.length > 0), length = strlen(key);
    if (place.field->key[place.length] == '\0' || memchr(key, '.', length))
        return (json_place_t){NULL, 0};
    for (const field_t *field = schema->fields; field < schema->fields + schema->field_count; field++)
        if (strncmp(field->key, place.field->key, begins) == 0 &&
            schema_leads_to(key, length, field->key + begins))
            return (json_place_t){field, begins + length};
    return (json_place_t){NULL, 0};
}

/* ---- values ---- */

/* A value as a text. */
typedef struct {
    const uint8_t *text;
    size_t length;
    uint8_t printed[CONVERT_PRINTED + SLACK];
} source_t;

/* False: the value has no text that could be converted, and the source is what a sentence calls it. */
static bool take_source(const field_t *field, const bson_iter_t *at, source_t *source) {
    char digits[NUMBER_DIGITS];
    uint32_t length;
    int exponent;
    source->text = source->printed;
    switch (bson_iter_type(at)) {
    case BSON_TYPE_UTF8:
        source->text = (const uint8_t *)bson_iter_utf8(at, &length);
        source->length = length;
        if (field->type == TYPE_TRIMMED)
            blanks_trim(&source->text, &source->length);
        return true;
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        source->length = convert_print_int(bson_iter_as_int64(at), source->printed);
        return true;
    case BSON_TYPE_DOUBLE: /* a decimal of it has the digits that were in the file, as far as a double keeps them */
        if (!isfinite(bson_iter_double(at)))
            break;
        source->length = convert_print_number(bson_iter_double(at), 0, source->printed);
        return field->type == TYPE_DECIMAL &&
               number_shortest(bson_iter_double(at), digits, &exponent) <= SURE_DIGITS;
    case BSON_TYPE_BOOL:
        source->text = (const uint8_t *)(bson_iter_bool(at) ? "true" : "false");
        source->length = bson_iter_bool(at) ? 4 : 5;
        return field->type == TYPE_TEXT;
    default:
        break;
    }
    source->text = (const uint8_t *)"...";
    source->length = 3;
    return false;
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

bool json_convert(json_value_t *json, const field_t *field, uint8_t *element, bool item) {
    const size_t key = strlen((const char *)element + 1);
    uint8_t *const value = element + 1 + key + 1, *end = NULL, type = 0;
    source_t source;
    bson_iter_t at;
    if (!bson_iter_init_from_data_at_offset(&at, json->start, (size_t)(json->out - json->start) + 1,
                                            (uint32_t)(element - json->start), (uint32_t)key))
        return true;
    const bool has_text = take_source(field, &at, &source), is_text = *element == BSON_TYPE_UTF8;
    if (is_text && words_find(&field->nulls, ENCODING_NONE, source.text, source.length) >= 0) {
        *element = BSON_TYPE_NULL;
        json->out = item ? value : element;
        return true;
    }
    if (is_already(field, &at))
        return true;
    if (!GROW(json->moved, json->moved_room, source.length + 2 * (size_t)SLACK, NULL))
        return false;
    field_t plain = *field; /* numbers of JSON are written without marks */
    plain.point = plain.thousands = 0;
    value_text_t text = {.field = is_text ? field : &plain, .text = source.text, .length = source.length};
    if (has_text)
        end = value_read(&text, &type, json->moved);
    if (text.times == ZONE_TWICE)
        bad_values_note(json->bad, bad_values_twice(json->bad), 1, &json->record);
    if (end) {
        *element = type;
        json->out = (uint8_t *)mempcpy(value, json->moved, (size_t)(end - json->moved));
        return true;
    }
    const bad_value_t bad = json->in->bad_value;
    bad_values_note(json->bad, (size_t)(field - json->schema->fields), 1, &json->record);
    if (bad == BAD_VALUE_NULL && strcmp(field->key, "_id") != 0) {
        *element = BSON_TYPE_NULL;
        json->out = value;
    } else if (bad != BAD_VALUE_TEXT && !*json->misfit) {
        value_misfit(field, source.text, source.length, json->misfit);
    }
    return true;
}
