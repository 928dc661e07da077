#include "format/json/json.h"
#include "base/chars.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/cut/json_span.h"
#include "format/json/json_types.h"
#include "format/json/json_value.h"
#include "format/record/bsonw.h"
#include "format/record/dialect.h"
#include "format/schema/schema.h"
#include "format/types.h"
#include "format/values/blanks.h"
#include "format/values/convert.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* json_fields: values of JSON that get the types that a format says (`fields`), by the converters of delimited fields:
 * texts, and whole numbers, which are taken as their digits. They are changed in the finished document, so that reading
 * objects costs nothing for it where there are no types.
 *
 * A name with dots leads through objects and through all elements of arrays. What has the type already, and null, stays.
 * Anything else that does not fit is a bad value, of which `on_bad_value` decides. One thread at a time. */

typedef struct json_fields json_fields_t;

typedef struct {
    size_t needed;      /* of FULL */
    const char *reason; /* of a reject; valid until the next call */
} json_fields_result_t;

enum {
    SLACK =
        64, /* readers of numbers may look so far beyond a text, and writers write so far beyond a value */
    SURE_DIGITS = 15, /* a double holds so many of any number */
    LONGEST_INDEX = 12,
};

/* A part of a name. */
typedef struct node node_t;
struct node {
    const char *part;
    size_t length;
    node_t *first, *next; /* those within it; the next one beside it */
    const field_t *field; /* whose values are here; NULL: they are further within */
    field_t plain;        /* the same for numbers of JSON, which are always written plainly */
    uint8_t is[2];        /* the types of BSON that need no change; 0: none */
};

struct json_fields {
    const schema_t *schema;
    node_t *nodes, root;
    bad_values_t *bad;
    const record_t *record; /* of the document at hand */
    const field_t *refused;
    char reason[VALUE_MISFIT];

    uint8_t *bytes, *out; /* the new document */
    size_t room;
};

/* ---- the tree of names ---- */

static node_t *within(const node_t *node, const char *part, size_t length) {
    for (node_t *child = node->first; child; child = child->next)
        if (child->length == length && memcmp(child->part, part, length) == 0)
            return child;
    return NULL;
}

static void set_types(node_t *node) {
    static const uint8_t types[][2] = {[TYPE_TEXT] = {BSON_TYPE_UTF8, 0},
                                       [TYPE_TRIMMED] = {0, 0},
                                       [TYPE_INT] = {BSON_TYPE_INT32, BSON_TYPE_INT64},
                                       [TYPE_LONG] = {BSON_TYPE_INT64, 0},
                                       [TYPE_NUMBER] = {BSON_TYPE_DOUBLE, 0},
                                       [TYPE_DATE] = {BSON_TYPE_DATE_TIME, 0},
                                       [TYPE_LENGTH] = {0, 0},
                                       [TYPE_BOOLEAN] = {BSON_TYPE_BOOL, 0},
                                       [TYPE_DECIMAL] = {BSON_TYPE_DECIMAL128, 0},
                                       [TYPE_OBJECTID] = {BSON_TYPE_OID, 0},
                                       [TYPE_UUID] = {0, 0},
                                       [TYPE_BINARY] = {0, 0},
                                       [TYPE_JSON] = {0, 0}};
    memcpy(node->is, types[node->field->type], sizeof node->is);
}

static void add_name(json_fields_t *fields, node_t **unused, const field_t *field) {
    node_t *node = &fields->root;
    for (const char *part = field->key; *part;) {
        const size_t length = strcspn(part, ".");
        node_t *child = within(node, part, length);
        if (!child) {
            child = (*unused)++;
            *child = (node_t){.part = part, .length = length, .next = node->first};
            node->first = child;
        }
        node = child;
        part += length + (part[length] == '.');
    }
    node->field = field;
    node->plain = *field;
    node->plain.point = node->plain.thousands = 0;
    node->plain.nulls.count = 0; /* these are texts */
    set_types(node);
}

/* NULL is allowed */
static void json_fields_destroy(json_fields_t *fields) {
    if (!fields)
        return;
    free(fields->nodes);
    free(fields->bytes);
    free(fields);
}

/* NULL: out of memory */
static json_fields_t *json_fields_new(const schema_t *schema, bad_values_t *bad) {
    json_fields_t *fields = calloc(1, sizeof *fields);
    size_t parts = 1;
    if (!fields)
        return NULL;
    for (size_t i = 0; i < schema->field_count; i++) {
        parts++;
        for (const char *at = schema->fields[i].key; *at; at++)
            parts += *at == '.';
    }
    fields->schema = schema;
    fields->bad = bad;
    fields->nodes = calloc(parts, sizeof *fields->nodes);
    if (!fields->nodes) {
        json_fields_destroy(fields);
        return NULL;
    }
    node_t *unused = fields->nodes;
    for (size_t i = 0; i < schema->field_count; i++)
        add_name(fields, &unused, &schema->fields[i]);
    return fields;
}

/* ---- values ---- */

/* A value as a text. */
typedef struct {
    const uint8_t *text;
    size_t length;
    bool number;
    uint8_t printed[CONVERT_PRINTED + SLACK];
} source_t;

static size_t digits_in(const uint8_t *text, size_t length) {
    size_t digits = 0;
    for (size_t i = 0; i < length && text[i] != 'e'; i++)
        digits += text[i] >= '0' && text[i] <= '9';
    return digits;
}

/* False: the value has no text that could be converted. */
static bool take_source(const node_t *node, const bson_iter_t *at, source_t *source) {
    uint32_t length;
    *source = (source_t){.text = source->printed, .number = true};
    switch (bson_iter_type(at)) {
    case BSON_TYPE_UTF8:
        source->text = (const uint8_t *)bson_iter_utf8(at, &length);
        source->length = length;
        source->number = false;
        return true;
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        source->length = convert_print_int(bson_iter_as_int64(at), source->printed);
        return true;
    case BSON_TYPE_DOUBLE: /* a decimal of it has the digits that were in the file, as far as a double keeps them */
        if (!isfinite(bson_iter_double(at))) {
            source->length = strlen(number_print((char *)source->printed, bson_iter_double(at)));
            return false;
        }
        source->length = convert_print_number(bson_iter_double(at), 0, source->printed);
        return node->field->type == TYPE_DECIMAL && digits_in(source->printed, source->length) <= SURE_DIGITS;
    case BSON_TYPE_BOOL:
        source->text = (const uint8_t *)(bson_iter_bool(at) ? "true" : "false");
        source->length = bson_iter_bool(at) ? 4 : 5;
        return node->field->type == TYPE_TEXT;
    default:
        return false;
    }
}

static bool is_already(const node_t *node, const bson_iter_t *at) {
    const uint8_t type = (uint8_t)bson_iter_type(at);
    bson_subtype_t subtype = BSON_SUBTYPE_BINARY;
    if (type == BSON_TYPE_NULL)
        return true;
    if (type == BSON_TYPE_BINARY && node->field->type == TYPE_UUID)
        bson_iter_binary(at, &subtype, NULL, NULL);
    return type == node->is[0] || type == node->is[1] || subtype == BSON_SUBTYPE_UUID;
}

static void put(json_fields_t *fields, const void *bytes, size_t length) {
    memcpy(fields->out, bytes, length);
    fields->out += length;
}

static void put_key(json_fields_t *fields, uint8_t type, const bson_iter_t *at) {
    *fields->out++ = type;
    put(fields, bson_iter_key(at), strlen(bson_iter_key(at)) + 1);
}

static void put_text(json_fields_t *fields, const bson_iter_t *at, const uint8_t *text, size_t length) {
    put_key(fields, BSON_TYPE_UTF8, at);
    fields->out = bsonw_int32(fields->out, (int32_t)length + 1);
    put(fields, text, length);
    *fields->out++ = 0;
}

/* What has no value: an element of an array keeps its place. */
static void leave_out(json_fields_t *fields, const bson_iter_t *at, bool element) {
    if (element)
        put_key(fields, BSON_TYPE_NULL, at);
}

static void put_bad(json_fields_t *fields, const node_t *node, const bson_iter_t *at, const source_t *source,
                    const uint8_t *raw, size_t size) {
    const bad_value_t bad = fields->schema->bad_value;
    const bool is_id = node->field->key[0] == '_' && strcmp(node->field->key, "_id") == 0;
    bad_values_note(fields->bad, (size_t)(node->field - fields->schema->fields), 1, fields->record);
    if (bad == BAD_VALUE_TEXT) {
        put(fields, raw, size);
    } else if (bad == BAD_VALUE_NULL && !is_id) {
        put_key(fields, BSON_TYPE_NULL, at);
    } else if (!fields->refused) {
        fields->refused = node->field;
        value_misfit(node->field, source->text, source->length, fields->reason);
    }
}

static bool is_null(const field_t *field, const source_t *source) {
    return words_find(&field->nulls, ENCODING_NONE, source->text, source->length) >= 0;
}

/* False, and nothing is put: the source is no value of the field. */
static bool put_typed(json_fields_t *fields, const field_t *field, const bson_iter_t *at,
                      const source_t *source) {
    uint8_t *const begin = fields->out;
    put_key(fields, 0, at);
    uint8_t *end = value_read(field, NULL, ENCODING_NONE, source->text, source->length, begin, fields->out);
    fields->out = end ? end : begin;
    return end != NULL;
}

/* raw: the whole element. */
static void put_value(json_fields_t *fields, const node_t *node, const bson_iter_t *at, const uint8_t *raw,
                      size_t size, bool element) {
    const field_t *field = node->field;
    source_t source;
    const bool has_text = take_source(node, at, &source);
    if (field->type == TYPE_TRIMMED && has_text)
        blanks_trim(&source.text, &source.length);
    if (has_text && !source.number && is_null(field, &source)) {
        leave_out(fields, at, element);
    } else if (is_already(node, at)) {
        put(fields, raw, size);
    } else if (!has_text) {
        static const source_t other = {.text = (const uint8_t *)"{...}", .length = 5};
        put_bad(fields, node, at, source.length ? &source : &other, raw, size);
    } else if (field->type == TYPE_TEXT || field->type == TYPE_TRIMMED) {
        put_text(fields, at, source.text, source.length);
    } else if (!put_typed(fields, source.number ? &node->plain : field, at, &source)) {
        put_bad(fields, node, at, &source, raw, size);
    }
}

/* ---- documents ---- */

static void put_document(json_fields_t *fields, const node_t *node, const uint8_t *document, uint32_t length,
                         bool array);

/* Is there something to do in an element? node: of its key, or of its array. */
static bool concerns(const node_t *node, const bson_iter_t *at) {
    return node && (node->field || BSON_ITER_HOLDS_DOCUMENT(at) || BSON_ITER_HOLDS_ARRAY(at));
}

static void put_element(json_fields_t *fields, const node_t *node, const bson_iter_t *at, const uint8_t *raw,
                        size_t size, bool element) {
    const uint8_t *inner;
    uint32_t length;
    const bool array = BSON_ITER_HOLDS_ARRAY(at);
    if (node->field && !array) {
        put_value(fields, node, at, raw, size, element);
        return;
    }
    (array ? bson_iter_array : bson_iter_document)(at, &length, &inner);
    put_key(fields, raw[0], at);
    put_document(fields, node, inner, length, array);
}

/* Where the element at hand ends: the next one begins there, or there is the zero of the document. */
static uint32_t end_of(const bson_iter_t *at, uint32_t length) {
    bson_iter_t next = *at;
    return bson_iter_next(&next) ? bson_iter_offset(&next) : length - 1;
}

/* What is not concerned is copied as it is. */
static void put_document(json_fields_t *fields, const node_t *node, const uint8_t *document, uint32_t length,
                         bool array) {
    const size_t begin = (size_t)(fields->out - fields->bytes);
    uint32_t copied = 0;
    bson_iter_t at;
    if (!bson_iter_init_from_data(&at, document, length)) {
        put(fields, document, length);
        return;
    }
    while (bson_iter_next(&at)) {
        const node_t *found = array ? node : within(node, bson_iter_key(&at), strlen(bson_iter_key(&at)));
        if (!concerns(found, &at))
            continue;
        const uint32_t from = bson_iter_offset(&at), to = end_of(&at, length);
        put(fields, document + copied, from - copied);
        put_element(fields, found, &at, document + from, to - from, array);
        copied = to;
    }
    put(fields, document + copied, length - copied);
    bsonw_int32(fields->bytes + begin, (int32_t)(fields->out - fields->bytes - (ptrdiff_t)begin));
}

/* A value that is changed takes at least 8 bytes (type, key, a number of 32 bits or an empty text), and the new one at most 16
 * more than a text of its length. */
static size_t most(uint32_t length) {
    return 4 * (size_t)length + LONGEST_INDEX + SLACK;
}

/* Changes the document of a record in `out`, whose length may then be another one. After FULL and MEMORY it is as it was. */
static json_read_t json_fields_apply(json_fields_t *fields, const record_t *record, uint8_t *out, size_t room,
                                     uint32_t *length, json_fields_result_t *result) {
    if (!GROW(fields->bytes, fields->room, most(*length), NULL)) {
        result->needed = most(*length);
        return JSON_MEMORY;
    }
    fields->refused = NULL;
    fields->record = record;
    fields->out = fields->bytes;
    put_document(fields, &fields->root, out, *length, false);
    const size_t made = (size_t)(fields->out - fields->bytes);
    assert(made + SLACK <= most(*length));
    if (made > room) {
        bad_values_take_back(fields->bad, record);
        result->needed = made + JSON_MARGIN;
        return JSON_FULL;
    }
    result->reason = fields->reason;
    if (made > JSON_MOST_BYTES)
        result->reason = "its document is larger than 16 MiB";
    if (fields->refused || made > JSON_MOST_BYTES)
        return JSON_REJECT;
    memcpy(out, fields->bytes, made);
    *length = (uint32_t)made;
    return JSON_DOCUMENT;
}

struct json {
    json_value_t *value;
    json_fields_t *fields; /* NULL: values have the types that they are written with */
    const uint8_t *text;
    uint32_t length, at, line;
    bool keeps_id, with_id;
    int64_t id_base;
};

json_t *json_new(const schema_t *schema, bool keeps_id, bad_values_t *bad) {
    json_t *json = calloc(1, sizeof *json);
    if (!json || !(json->value = json_value_new()) ||
        (schema->field_count && !(json->fields = json_fields_new(schema, bad)))) {
        json_destroy(json);
        return NULL;
    }
    json->keeps_id = keeps_id;
    return json;
}

void json_destroy(json_t *json) {
    if (!json)
        return;
    json_value_destroy(json->value);
    json_fields_destroy(json->fields);
    free(json);
}

void json_begin(json_t *json, const uint8_t *text, uint32_t length, bool file_start, bool with_id,
                int64_t id_base) {
    json->text = text;
    json->length = length;
    json->at = file_start ? (uint32_t)lines_bom(text, length) : 0;
    json->line = 0;
    json->with_id = with_id;
    json->id_base = id_base;
}

/* Where the mistake is, not where its record begins. */
static parsed_t refuse(const json_t *json, record_t *record, uint32_t mistake, const char *reason) {
    const uint32_t at = record->offset + mistake;
    const uint8_t *line = at ? memrchr(json->text, '\n', at) : NULL;
    record->line += (uint32_t)lines_count(json->text + record->offset, mistake);
    record->column = at + 1 - (uint32_t)(line ? line + 1 - json->text : 0);
    record->reason = reason;
    return PARSED_REJECT;
}

/* The next record: [at, at + length) with its line end. Returns where its object begins. */
static uint32_t find(const json_t *json, record_t *record) {
    const uint8_t *text = json->text + json->at;
    json_span_t span = {0};
    uint32_t length = (uint32_t)json_span_find(&span, text, json->length - json->at, true);
    const bool feed = length && text[length - 1] == '\n',
               carriage = feed && length > 1 && text[length - 2] == '\r';
    const uint8_t line_end = (uint8_t)(feed + carriage);
    *record =
        (record_t){.offset = json->at, .length = length - line_end, .line = json->line, .line_end = line_end};
    return span.phase == SPAN_BEFORE ? record->length : (uint32_t)span.object;
}

static void pass(json_t *json, const record_t *record) {
    const uint32_t length = record->length + record->line_end;
    json->line += (uint32_t)lines_count(json->text + json->at, length);
    json->at += length;
}

/* Gives values the types of the format. The object begins `from` bytes after the record. */
static __attribute__((noinline)) json_read_t apply(json_t *json, const record_t *record, uint32_t from,
                                                   uint8_t *out, size_t room, json_result_t *result) {
    json_fields_result_t applied = {.needed = 0};
    record_t object = *record;
    object.line += (uint32_t)lines_count(json->text + record->offset, from);
    const json_read_t read = json_fields_apply(json->fields, &object, out, room, &result->length, &applied);
    result->needed = applied.needed;
    result->reason = applied.reason;
    result->field = NULL;
    result->at = 0;
    return read;
}

parsed_t json_next(json_t *json, uint8_t *out, size_t room, record_t *record) {
    if (json->at >= json->length)
        return PARSED_END;
    const uint32_t from = find(json, record);
    const uint8_t *text = json->text + record->offset;
    uint32_t to = record->length;
    while (to > from + 1 && json_span_is_around(text[to - 1]))
        to--;
    json_result_t result;
    if (from == record->length) {
        pass(json, record);
        return PARSED_BLANK;
    }
    json_read_t read = json_value_read(json->value, text + from, to - from, out, room, json->with_id,
                                       json->id_base + record->offset, &result);
    if (__builtin_expect(read == JSON_DOCUMENT && json->fields, 0))
        read = apply(json, record, from, out, room, &result);
    switch (read) {
    case JSON_FULL:
        record->needed = result.needed;
        return PARSED_FULL;
    case JSON_MEMORY:
        record->needed = to - from;
        return PARSED_MEMORY;
    case JSON_REJECT:
        pass(json, record);
        record->field = result.field;
        return refuse(json, record, from + (uint32_t)result.at, result.reason);
    case JSON_DOCUMENT:
        break;
    }
    pass(json, record);
    if (result.own_id && json->with_id && !json->keeps_id)
        return refuse(
            json, record, from,
            "it brings its own _id, but in this collection the _id of a document is the place of its "
            "record: load it into another collection with --id _id, or take its _id out");
    record->document_length = result.length;
    return PARSED_DOCUMENT;
}
