/* Values of JSON that get the types of a format's fields. A document is changed when it is finished, so that objects are read
 * as fast as ever where no field has a type: what no field concerns is copied, anything else is read from its text, or from
 * its digits, as a field of delimited records is. */
#include "base/numbers.h"
#include "base/text.h"
#include "format/json/json_inner.h"
#include "format/types.h"
#include "format/values/blanks.h"
#include "format/values/convert.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum {
    SLACK = 64, /* readers of numbers may read so far after a text, and writers write so far after a value */
    SURE_DIGITS = 15, /* a double keeps this number of digits of any number */
    LONGEST_INDEX = 12,
};

/* One part of a field's name: the names of all fields are a tree, from json_fields_t.root on. */
typedef struct node node_t;
struct node {
    const char *part;
    size_t length;
    node_t *first, *next; /* its first child, its next sibling */
    const field_t *field; /* whose values are here; NULL: they are below */
    field_t plain;        /* the field as numbers of JSON are written: without its marks */
};

struct json_fields {
    const schema_t *schema;
    node_t *nodes, root;
    bad_values_t *bad;
    const record_t *record; /* of the document at hand */
    bool refused;
    char reason[VALUE_MISFIT];
    uint8_t *bytes, *out; /* the new document */
    size_t room;
};

/* ---- the tree of names ---- */

static node_t *child_of(const node_t *node, const char *part, size_t length) {
    node_t *child = node->first;
    while (child && (child->length != length || memcmp(child->part, part, length) != 0))
        child = child->next;
    return child;
}

static void add_name(json_fields_t *fields, node_t **unused, const field_t *field) {
    node_t *node = &fields->root;
    for (const char *part = field->key; *part;) {
        const size_t length = strcspn(part, ".");
        node_t *child = child_of(node, part, length);
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
}

void json_fields_destroy(json_fields_t *fields) {
    if (!fields)
        return;
    free(fields->nodes);
    free(fields->bytes);
    free(fields);
}

json_fields_t *json_fields_new(const schema_t *schema, bad_values_t *bad) {
    json_fields_t *fields = calloc(1, sizeof *fields);
    size_t parts = schema->field_count;
    if (!fields)
        return NULL;
    for (size_t i = 0; i < schema->field_count; i++)
        for (const char *at = schema->fields[i].key; *at; at++)
            parts += *at == '.';
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
        if (!isfinite(bson_iter_double(at))) {
            show(source, number_print((char *)source->printed, bson_iter_double(at)));
            return false;
        }
        source->length = convert_print_number(bson_iter_double(at), 0, source->printed);
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

static void put(json_fields_t *fields, const void *bytes, size_t length) {
    memcpy(fields->out, bytes, length);
    fields->out += length;
}

static void put_key(json_fields_t *fields, uint8_t type, const bson_iter_t *at) {
    *fields->out++ = type;
    put(fields, bson_iter_key(at), strlen(bson_iter_key(at)) + 1);
}

/* raw: the whole element. */
static void put_bad(json_fields_t *fields, const field_t *field, const bson_iter_t *at,
                    const source_t *source, const uint8_t *raw, size_t size) {
    const bad_value_t bad = fields->schema->bad_value;
    bad_values_note(fields->bad, (size_t)(field - fields->schema->fields), 1, fields->record);
    if (bad == BAD_VALUE_TEXT) {
        put(fields, raw, size);
    } else if (bad == BAD_VALUE_NULL && strcmp(field->key, "_id") != 0) {
        put_key(fields, BSON_TYPE_NULL, at);
    } else if (!fields->refused) {
        fields->refused = true;
        value_misfit(field, source->text, source->length, fields->reason);
    }
}

/* False, and nothing is put: the source is no value of the field. */
static bool put_typed(json_fields_t *fields, const field_t *field, const bson_iter_t *at,
                      const source_t *source) {
    uint8_t *const begin = fields->out;
    put_key(fields, 0, at);
    uint8_t *const end =
        value_read(field, NULL, ENCODING_NONE, source->text, source->length, begin, fields->out);
    fields->out = end ? end : begin;
    return end != NULL;
}

/* element: of an array; one that has no value keeps its place. */
static void put_value(json_fields_t *fields, const node_t *node, const bson_iter_t *at, const uint8_t *raw,
                      size_t size, bool element) {
    const field_t *const field = node->field;
    source_t source;
    const bool has_text = take_source(field, at, &source);
    if (has_text && !source.number &&
        words_find(&field->nulls, ENCODING_NONE, source.text, source.length) >= 0) {
        if (element)
            put_key(fields, BSON_TYPE_NULL, at);
    } else if (is_already(field, at)) {
        put(fields, raw, size);
    } else if (!has_text || !put_typed(fields, source.number ? &node->plain : field, at, &source)) {
        put_bad(fields, field, at, &source, raw, size);
    }
}

/* ---- documents ---- */

/* Where the element at hand ends: the next one begins there, or there is the zero of the document. */
static uint32_t end_of(const bson_iter_t *at, uint32_t length) {
    bson_iter_t next = *at;
    return bson_iter_next(&next) ? bson_iter_offset(&next) : length - 1;
}

/* node: of the document's elements, or of the array, whose elements have the same one. */
static void put_document(json_fields_t *fields, const node_t *node, const uint8_t *document, uint32_t length,
                         bool array) {
    uint8_t *const begin = fields->out;
    uint32_t copied = 0;
    bson_iter_t at, inside;
    bson_iter_init_from_data(&at, document, length);
    while (bson_iter_next(&at)) {
        const node_t *const found =
            array ? node : child_of(node, bson_iter_key(&at), strlen(bson_iter_key(&at)));
        const bool is_array = BSON_ITER_HOLDS_ARRAY(&at),
                   has_values = found && (is_array || (!found->field && BSON_ITER_HOLDS_DOCUMENT(&at)));
        if (!has_values && !(found && found->field))
            continue;
        const uint32_t from = bson_iter_offset(&at), to = end_of(&at, length);
        put(fields, document + copied, from - copied);
        copied = to;
        if (has_values && bson_iter_recurse(&at, &inside)) {
            put_key(fields, document[from], &at);
            put_document(fields, found, inside.raw, inside.len, is_array);
        } else {
            put_value(fields, found, &at, document + from, to - from, array);
        }
    }
    put(fields, document + copied, length - copied);
    bsonw_int32(begin, (int32_t)(fields->out - begin));
}

/* A value that is changed takes at least 8 bytes (type, key, a number of 32 bits or an empty text), and the new one at most 16
 * more than a text of its length. */
static size_t most(uint32_t length) {
    return 4 * (size_t)length + LONGEST_INDEX + SLACK;
}

json_read_t json_fields_apply(json_fields_t *fields, const record_t *record, uint8_t *out, size_t room,
                              json_result_t *result) {
    result->needed = most(result->length);
    if (!GROW(fields->bytes, fields->room, result->needed, NULL))
        return JSON_MEMORY;
    fields->refused = false;
    fields->record = record;
    fields->out = fields->bytes;
    put_document(fields, &fields->root, out, result->length, false);
    const size_t made = (size_t)(fields->out - fields->bytes);
    assert(made + SLACK <= most(result->length));
    if (made > room) {
        bad_values_take_back(fields->bad, record); /* it will be read again */
        result->needed = made + JSON_MARGIN;
        return JSON_FULL;
    }
    result->field = NULL;
    result->at = 0;
    result->reason = made > JSON_MOST_BYTES ? JSON_TOO_LARGE : fields->reason;
    if (fields->refused || made > JSON_MOST_BYTES)
        return JSON_REJECT;
    memcpy(out, fields->bytes, made);
    result->length = (uint32_t)made;
    return JSON_DOCUMENT;
}
