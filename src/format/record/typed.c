#include "format/record/typed.h"
#include "base/chars.h"
#include "base/document.h"
#include "format/record/bsonw.h"
#include "format/schema/schema.h"
#include "format/values/convert.h"
#include "format/values/decimal.h"
#include "format/values/hex.h"
#include "format/values/numeral.h"

#include <stdio.h>

enum { UUID_HEAD = 5 /* a length and a subtype */, SHOWN_NAME = 80, SHOWN_VALUE = 120 };

bool typed_is_rare(field_type_t type) {
    return type == TYPE_BOOLEAN || type == TYPE_DECIMAL || type == TYPE_OBJECTID || type == TYPE_UUID;
}

bool typed_is(const field_t *field) {
    return field->point || typed_is_rare(field->type);
}

/* ---- from text ---- */

static bool read_boolean(const field_t *field, encoding_t encoding, const uint8_t *text, size_t length,
                         typed_t *value) {
    for (int is = 0; is < 2; is++) {
        if (words_find(&field->words[is], encoding, text, length) < 0)
            continue;
        *value = (typed_t){.bson_type = BSON_TYPE_BOOL, .size = 1};
        value->bytes[0] = (uint8_t)is;
        return true;
    }
    return false;
}

static bool read_decimal(const field_t *field, const uint8_t *text, size_t length, typed_t *value) {
    decimal_t decimal;
    if (!decimal_read(text, length, &decimal))
        return false;
    decimal.exponent -= field->divide;
    if (!decimal_fits(&decimal))
        return false;
    *value = (typed_t){.bson_type = BSON_TYPE_DECIMAL128, .size = 16};
    decimal_store(&decimal, value->bytes);
    return true;
}

static bool read_whole(const field_t *field, const uint8_t *text, size_t length, typed_t *value) {
    int64_t whole;
    if (!convert_int(text, length, &whole))
        return false;
    const bool small = field->type == TYPE_INT && whole == (int32_t)whole;
    *value = (typed_t){.bson_type = small ? BSON_TYPE_INT32 : BSON_TYPE_INT64, .size = small ? 4 : 8};
    bsonw_int64(value->bytes, whole); /* of a small one its first bytes */
    return true;
}

static bool read_double(const field_t *field, const uint8_t *text, size_t length, typed_t *value) {
    double number;
    if (!convert_kept(text, length, field->divide, &number))
        return false;
    *value = (typed_t){.bson_type = BSON_TYPE_DOUBLE, .size = 8};
    bsonw_double(value->bytes, number);
    return true;
}

static bool read_plain(const field_t *field, const uint8_t *text, size_t length, typed_t *value) {
    return field->type == TYPE_DECIMAL  ? read_decimal(field, text, length, value)
           : field->type == TYPE_NUMBER ? read_double(field, text, length, value)
                                        : read_whole(field, text, length, value);
}

static bool read_numeral(const field_t *field, const uint8_t *text, size_t length, typed_t *value) {
    const numeral_t numeral = {field->point, field->thousands};
    uint8_t plain[NUMERAL_LONGEST];
    size_t size;
    return numeral_read(&numeral, text, length, plain, &size) && read_plain(field, plain, size, value);
}

static bool read_date(const field_t *field, const pattern_t *patterns, const uint8_t *text, size_t length,
                      typed_t *value) {
    int64_t ms;
    for (size_t i = 0; i < field->patterns.count; i++) {
        if ((patterns[i].length != length && !patterns[i].varies) ||
            !pattern_read(&patterns[i], text, length, &ms))
            continue;
        *value = (typed_t){.bson_type = BSON_TYPE_DATE_TIME, .size = 8};
        bsonw_int64(value->bytes, ms);
        return true;
    }
    return false;
}

static bool read_hex(field_type_t type, bool no_capitals, const uint8_t *text, size_t length,
                     typed_t *value) {
    bool capital;
    *value = (typed_t){.bson_type = BSON_TYPE_OID, .size = HEX_OBJECTID};
    if (type == TYPE_OBJECTID)
        return hex_read_objectid(text, length, value->bytes, &capital) && !(no_capitals && capital);
    *value = (typed_t){.bson_type = BSON_TYPE_BINARY, .size = UUID_HEAD + HEX_UUID};
    bsonw_int32(value->bytes, HEX_UUID);
    value->bytes[UUID_HEAD - 1] = BSON_SUBTYPE_UUID;
    return hex_read_uuid(text, length, value->bytes + UUID_HEAD, &capital);
}

bool typed_read(const field_t *field, encoding_t encoding, const uint8_t *text, size_t length,
                typed_t *value) {
    if (field->point)
        return read_numeral(field, text, length, value);
    if (field->type == TYPE_BOOLEAN)
        return read_boolean(field, encoding, text, length, value);
    if (field->type == TYPE_OBJECTID || field->type == TYPE_UUID)
        return read_hex(field->type, field->no_capitals, text, length, value);
    return read_plain(field, text, length, value);
}

bool typed_convert(const field_t *field, const pattern_t *patterns, encoding_t encoding, const uint8_t *text,
                   size_t length, typed_t *value) {
    return field->type == TYPE_DATE ? read_date(field, patterns, text, length, value)
                                    : typed_read(field, encoding, text, length, value);
}

void typed_misfit(const field_t *field, const uint8_t *text, size_t length, char sentence[TYPED_MISFIT]) {
    char name[SHOWN_NAME], value[SHOWN_VALUE];
    escape_text(name, sizeof name, field->name, strlen(field->name));
    escape_text(value, sizeof value, (const char *)text, length);
    snprintf(sentence, TYPED_MISFIT, "the value '%s%s' of '%s' does not fit its type, %s", value,
             strlen(value) < length ? "..." : "", name, schema_type_name(field->type));
}

/* ---- from a document ---- */

bool typed_take(const field_t *field, const bson_iter_t *at, typed_t *value) {
    bson_decimal128_t decimal;
    bson_subtype_t subtype;
    const uint8_t *bytes;
    uint32_t length;
    *value = (typed_t){.bson_type = (uint8_t)bson_iter_type(at)};
    switch (bson_iter_type(at)) {
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        value->size = value->bson_type == BSON_TYPE_INT32 ? 4 : 8;
        bsonw_int64(value->bytes, bson_iter_as_int64(at));
        return field->type == TYPE_INT || field->type == TYPE_LONG;
    case BSON_TYPE_DOUBLE:
        value->size = 8;
        bsonw_double(value->bytes, bson_iter_double(at));
        return field->type == TYPE_NUMBER;
    case BSON_TYPE_BOOL:
        value->size = 1;
        value->bytes[0] = bson_iter_bool(at);
        return field->type == TYPE_BOOLEAN;
    case BSON_TYPE_DECIMAL128:
        if (field->type != TYPE_DECIMAL || !bson_iter_decimal128(at, &decimal))
            return false;
        value->size = 16;
        bsonw_int64(bsonw_int64(value->bytes, (int64_t)decimal.low), (int64_t)decimal.high);
        return true;
    case BSON_TYPE_OID:
        value->size = HEX_OBJECTID;
        memcpy(value->bytes, bson_iter_oid(at)->bytes, HEX_OBJECTID);
        return field->type == TYPE_OBJECTID;
    case BSON_TYPE_BINARY:
        element_binary(at, &subtype, &length, &bytes);
        if (field->type != TYPE_UUID || subtype != BSON_SUBTYPE_UUID || length != HEX_UUID)
            return false;
        value->size = UUID_HEAD + HEX_UUID;
        bsonw_int32(value->bytes, HEX_UUID);
        value->bytes[UUID_HEAD - 1] = BSON_SUBTYPE_UUID;
        memcpy(value->bytes + UUID_HEAD, bytes, HEX_UUID);
        return true;
    default:
        return false;
    }
}

/* ---- to text ---- */

/* A number as a plain one. 0: it has no text. */
static size_t print_plain(const field_t *field, const typed_t *value, uint8_t *out) {
    decimal_t decimal;
    uint64_t bits;
    double number;
    memcpy(&bits, value->bytes, 8);
    bits = BSON_UINT64_FROM_LE(bits);
    if (field->type == TYPE_DECIMAL) {
        if (!decimal_load(value->bytes, &decimal))
            return 0;
        decimal.exponent += field->divide;
        return decimal_print(&decimal, out);
    }
    if (field->type != TYPE_NUMBER)
        return convert_print_int((int64_t)bits, out);
    memcpy(&number, &bits, 8);
    return convert_print_number(number, field->divide, out);
}

static size_t print_number(const field_t *field, const typed_t *value, uint8_t *out) {
    const numeral_t numeral = {field->point ? field->point : '.', field->thousands};
    uint8_t plain[DECIMAL_PRINTED];
    return numeral_write(&numeral, plain, print_plain(field, value, plain), out);
}

bool typed_print(const field_t *field, const typed_t *value, uint8_t out[TYPED_PRINTED],
                 schema_text_t *text) {
    *text = (schema_text_t){.text = (const char *)out};
    switch (field->type) {
    case TYPE_BOOLEAN:
        *text = field->words[value->bytes[0]].items[0];
        return true;
    case TYPE_OBJECTID:
        text->length = hex_print_objectid(value->bytes, out);
        return true;
    case TYPE_UUID:
        text->length = hex_print_uuid(value->bytes + UUID_HEAD, out);
        return true;
    default:
        text->length = print_number(field, value, out);
        return text->length > 0;
    }
}

/* ---- order ---- */

int typed_order(const typed_t *a, const typed_t *b) {
    decimal_t decimal_a, decimal_b;
    int order;
    if (a->bson_type == BSON_TYPE_DECIMAL128 && decimal_load(a->bytes, &decimal_a) &&
        decimal_load(b->bytes, &decimal_b))
        order = decimal_compare(&decimal_a, &decimal_b);
    else
        order = memcmp(a->bytes, b->bytes, a->size);
    return (order > 0) - (order < 0);
}
