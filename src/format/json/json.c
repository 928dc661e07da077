/* Records of JSON, one after the other; texts in memory that are one document; and values that get the types of a format's
 * fields. */
#include "format/json/json.h"
#include "base/chars.h"
#include "base/numbers.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/cut/ends.h"
#include "format/json/json_inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- records ---- */

json_value_t *json_new(const schema_t *schema, bad_values_t *bad, record_text_t *in) {
    json_value_t *json = values_new();
    if (!json)
        return NULL;
    json->schema = schema;
    json->root.field = schema->fields;
    json->bad = bad;
    json->in = in;
    return json;
}

/* Where the mistake is, not where its record begins. */
static parsed_t refuse(const json_value_t *json, record_t *record, uint32_t mistake, const char *reason) {
    const uint32_t at = record->offset + mistake;
    const uint8_t *line = at ? memrchr(json->in->text, '\n', at) : NULL;
    record->line += (uint32_t)lines_count(json->in->text + record->offset, mistake);
    return record_refuse(record, at + 1 - (uint32_t)(line ? line + 1 - json->in->text : 0), reason);
}

/* Reads the record at hand from its object's bracket on, which is at *begin; it ends where the object does, with what stands
 * around it. Where no object can be read so, json_span finds the end: the object may end elsewhere, or be missing, and then the
 * record is blank. */
INLINED parsed_t read_record(json_value_t *json, uint8_t *out, size_t room, record_t *record, uint32_t *begin,
                             uint32_t *lines) {
    enum { MOST_BEFORE = 32 };
    const int64_t place = json->in->id_base + json->in->at, *const id = json->in->with_id ? &place : NULL;
    const uint8_t *const text = json->in->text + json->in->at;
    const uint32_t left = json->in->length - json->in->at;
    uint32_t from = 0;
    while (from < MOST_BEFORE &&
           (text[from] == ' ' || text[from] == '\t' || text[from] == ',' || text[from] == 0x1E))
        from++;
    if (json->root.field)
        json->record = (record_t){.offset = json->in->at, .line = json->in->line};
    if (from < left && text[from] == '{' &&
        json_value_read(json, text + from, left - from, false, out, room, id) == PARSED_DOCUMENT) {
        const uint32_t at = (uint32_t)(json->place - text);
        const bool usual = at < left && text[at] == '\n';
        const uint32_t end = usual ? at + 1 : (uint32_t)json_span_after(text, left, at);
        *lines = json->lines + (usual ? 1 : (uint32_t)lines_count(text + at, end - at));
        *begin = from;
        *record = record_at(json->in, end);
        return PARSED_DOCUMENT;
    }
    json_span_t span = {0};
    *record = record_at(json->in, (uint32_t)json_span_find(&span, text, left, true));
    uint32_t to = record->length;
    *lines = (uint32_t)lines_count(text, to + record->line_end);
    *begin = span.phase == SPAN_BEFORE ? to : (uint32_t)span.object;
    if (*begin == to)
        return PARSED_BLANK;
    if (json->root.field)
        json->record.line += (uint32_t)lines_count(text, *begin);
    while (to > *begin + 1 && json_span_is_around(text[to - 1]))
        to--;
    return json_value_read(json, text + *begin, to - *begin, true, out, room, id);
}

parsed_t json_next(json_value_t *json, uint8_t *out, size_t room, record_t *record) {
    uint32_t from, lines;
    if (json->in->at >= json->in->length)
        return PARSED_END;
    const parsed_t parsed = read_record(json, out, room, record, &from, &lines);
    if (parsed == PARSED_FULL || parsed == PARSED_MEMORY) {
        record->needed = json->needed;
        return parsed;
    }
    json->in->line += lines;
    json->in->at += record->length + record->line_end;
    if (parsed == PARSED_REJECT)
        return refuse(json, record, (uint32_t)(json->place - json->in->text) - record->offset, json->reason);
    if (parsed == PARSED_DOCUMENT && json->has_own_id && json->in->with_id &&
        !(json->schema->id && json->schema->id->kept))
        return refuse(json, record, from, RECORD_OWN_ID);
    record->document_length = (uint32_t)(json->out - json->start);
    return parsed;
}

/* ---- texts in memory ---- */

bson_t *json_document(const char *text, bool placed, err_t *err) {
    const size_t length = strlen(text), room = JSON_TIMES * length + JSON_AROUND;
    uint8_t *padded = calloc(1, length + 2 * POOL_SLACK + room);
    json_value_t *json = values_new();
    parsed_t parsed = PARSED_MEMORY;
    bson_t *made = NULL;
    if (padded && json) {
        uint8_t *const at = padded + POOL_SLACK, *const document = at + length + POOL_SLACK;
        memcpy(at, text, length);
        parsed = json_value_read(json, at, length, true, document, room, NULL);
        if (parsed == PARSED_DOCUMENT)
            made = bson_new_from_data(document, (size_t)(json->out - document));
        else if (parsed == PARSED_REJECT)
            err_set(err, STATUS_USAGE, placed ? "%s, at byte %zu" : "%s", json->reason,
                    (size_t)(json->place - at));
    }
    if (!made && parsed != PARSED_REJECT)
        err_memory(err, length);
    values_free(json);
    free(padded);
    return made;
}

/* ---- values with the types of fields ----
 *
 * A value is read as in any object, and converted when it is there: from its text, or from its digits, as a field of delimited
 * records is. */

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
