#include "format/types.h"
#include "base/chars.h"
#include "base/document.h"
#include "format/json/json.h"
#include "format/values/values.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

enum {
    FIXED = 24,     /* bytes of a value of fixed size, with what is stored after it */
    BINARY_HEAD = 5 /* a length and a subtype */
};

/* ---- words ---- */

const schema_type_t schema_types[] = {
    {"text", TYPE_TEXT},       {"trimmed", TYPE_TRIMMED},   {"int", TYPE_INT},
    {"long", TYPE_LONG},       {"number", TYPE_NUMBER},     {"date", TYPE_DATE},
    {"datetime", TYPE_DATE},   {"length", TYPE_LENGTH},     {"boolean", TYPE_BOOLEAN},
    {"decimal", TYPE_DECIMAL}, {"objectid", TYPE_OBJECTID}, {"uuid", TYPE_UUID},
    {"binary", TYPE_BINARY},   {"json", TYPE_JSON},         {NULL, TYPE_TEXT}};
const schema_type_t schema_foreign_types[] = {
    {"string", TYPE_TEXT},  {"double", TYPE_NUMBER},      {"timestamp", TYPE_DATE},
    {"bool", TYPE_BOOLEAN}, {"decimal128", TYPE_DECIMAL}, {"integer", TYPE_INT},
    {"int32", TYPE_INT},    {"int64", TYPE_LONG},         {NULL, TYPE_TEXT}};

const schema_type_t *schema_type_find(const char *word, size_t length, uint32_t types) {
    static const schema_type_t *const tables[] = {schema_types, schema_foreign_types};
    for (size_t i = 0; i < COUNT(tables); i++)
        for (const schema_type_t *type = tables[i]; type->name; type++)
            if (strlen(type->name) == length && strncmp(type->name, word, length) == 0 &&
                types >> type->type & 1)
                return type;
    return NULL;
}

const char *schema_type_name(field_type_t type) {
    const schema_type_t *row = schema_types;
    while (row->name && row->type != type)
        row++;
    return row->name ? row->name : "";
}

/* ---- from text ---- */

static uint8_t *read_text(value_text_t *from, uint8_t *type, uint8_t *out) {
    const uint8_t *text = from->text;
    size_t length = from->length;
    if (from->field->type == TYPE_TRIMMED)
        blanks_trim(&text, &length);
    if (!utf8_valid(text, length))
        return NULL;
    *type = BSON_TYPE_UTF8;
    return bsonw_text(out, text, length);
}

static uint8_t *read_whole(value_text_t *from, uint8_t *type, uint8_t *out) {
    int64_t whole;
    if (!convert_int(from->text, from->length, &whole))
        return NULL;
    const bool small = from->field->type == TYPE_INT && whole == (int32_t)whole;
    *type = small ? BSON_TYPE_INT32 : BSON_TYPE_INT64;
    return small ? bsonw_int32(out, (int32_t)whole) : bsonw_int64(out, whole);
}

static uint8_t *read_double(value_text_t *from, uint8_t *type, uint8_t *out) {
    double number;
    if (!convert_kept(from->text, from->length, from->field->divide, &number))
        return NULL;
    *type = BSON_TYPE_DOUBLE;
    return bsonw_double(out, number);
}

static uint8_t *read_decimal(value_text_t *from, uint8_t *type, uint8_t *out) {
    bson_decimal128_t decimal;
    if (!decimal_read(from->text, from->length, from->field->divide, &decimal))
        return NULL;
    *type = BSON_TYPE_DECIMAL128;
    return bsonw_int64(bsonw_int64(out, (int64_t)decimal.low), (int64_t)decimal.high);
}

static uint8_t *read_date(value_text_t *from, uint8_t *type, uint8_t *out) {
    int64_t ms;
    for (size_t i = 0; i < from->field->patterns.count && from->times <= ZONE_NEVER; i++) {
        const zone_times_t times = pattern_read(&from->field->compiled[i], from->text, from->length, &ms);
        from->times = times ? times : from->times;
        from->choice = times > ZONE_NEVER ? (uint8_t)i : 0;
    }
    *type = BSON_TYPE_DATE_TIME;
    return from->times > ZONE_NEVER ? bsonw_int64(out, ms) : NULL;
}

bool value_is_skipped(const field_t *field, const uint8_t *text, size_t length) {
    value_text_t value = {.field = field, .text = text, .length = length};
    uint8_t out[TYPES_VALUE], type;
    return field->type == TYPE_DATE && !read_date(&value, &type, out) && value.times == ZONE_SKIPPED;
}

static uint8_t *read_boolean(value_text_t *from, uint8_t *type, uint8_t *out) {
    for (int is = 0; is < 2; is++) {
        if (words_find(&from->field->words[is], from->encoding, from->text, from->length) < 0)
            continue;
        *type = BSON_TYPE_BOOL;
        *out = (uint8_t)is;
        return out + 1;
    }
    return NULL;
}

static uint8_t *read_objectid(value_text_t *from, uint8_t *type, uint8_t *out) {
    bool capital;
    *type = BSON_TYPE_OID;
    return from->length == 2 * (size_t)HEX_OBJECTID && hex_read(from->text, from->length, out, &capital) &&
                   !(from->field->exact && capital)
               ? out + HEX_OBJECTID
               : NULL;
}

static uint8_t *read_binary(value_text_t *from, uint8_t *type, uint8_t *out) {
    uint8_t *const bytes = out + BINARY_HEAD, *end;
    const bool uuid = from->field->type == TYPE_UUID;
    bool capital;
    if (uuid)
        end = hex_read_uuid(from->text, from->length, bytes, &capital) ? bytes + HEX_UUID : NULL;
    else if (from->field->hex)
        end = hex_read(from->text, from->length, bytes, &capital) ? bytes + from->length / 2 : NULL;
    else
        end = base64_read(from->text, from->length, bytes);
    if (!end)
        return NULL;
    *type = BSON_TYPE_BINARY;
    *bsonw_int32(out, (int32_t)(end - bytes)) = uuid ? BSON_SUBTYPE_UUID : BSON_SUBTYPE_BINARY;
    return end;
}

static uint8_t *read_json(value_text_t *from, uint8_t *type, uint8_t *out) {
    return json_value_alone(from->values, from->text, from->length, out, type);
}

static uint8_t *read_marked(value_text_t from, uint8_t *type, uint8_t *out) {
    const numeral_t numeral = {from.field->point, from.field->thousands};
    uint8_t plain[NUMERAL_LONGEST + 8];
    if (!numeral_read(&numeral, from.text, from.length, plain, &from.length))
        return NULL;
    from.text = plain;
    return value_types[from.field->type].read(&from, type, out);
}

uint8_t *value_read(value_text_t *from, uint8_t *type, uint8_t *out) {
    const field_t *field = from->field;
    const value_type_t *row = &value_types[field->type];
    if (row->flags & VALUE_NUMBER && field->exact && !convert_is_exact(from->text, from->length))
        return NULL;
    return field->point ? read_marked(*from, type, out) : row->read(from, type, out);
}

/* ---- to text ---- */

static bool print_number(const field_t *field, const bson_iter_t *at, text_t *text) {
    const numeral_t numeral = {field->point, field->thousands};
    uint8_t plain[DECIMAL_PRINTED], marked[2 * DECIMAL_PRINTED];
    bson_decimal128_t decimal;
    const size_t length = bson_iter_decimal128(at, &decimal) ? decimal_print(decimal, field->divide, plain)
                          : BSON_ITER_HOLDS_DOUBLE(at)
                              ? convert_print_number(bson_iter_double(at), field->divide, plain)
                              : convert_print_int(bson_iter_as_int64(at), plain);
    if (field->point)
        text_append_bytes(text, (const char *)marked, numeral_write(&numeral, plain, length, marked));
    else
        text_append_bytes(text, (const char *)plain, length);
    return true;
}

static bool print_date(const field_t *field, const bson_iter_t *at, text_t *text) {
    uint8_t printed[PATTERN_PRINTED];
    size_t length = 0;
    for (size_t i = 0; !length && i < field->patterns.count; i++)
        length = pattern_write(&field->compiled[i], bson_iter_date_time(at), printed);
    text_append_bytes(text, (const char *)printed, length);
    return length > 0;
}

static bool print_boolean(const field_t *field, const bson_iter_t *at, text_t *text) {
    const schema_text_t *word = &field->words[bson_iter_bool(at)].items[0];
    text_append_bytes(text, word->text, word->length);
    return true;
}

static bool print_bytes(const field_t *field, const bson_iter_t *at, text_t *text) {
    const bool objectid = field->type == TYPE_OBJECTID, uuid = field->type == TYPE_UUID;
    bson_subtype_t subtype = BSON_SUBTYPE_BINARY;
    const uint8_t *bytes;
    uint32_t length = HEX_OBJECTID;
    if (objectid)
        bytes = bson_iter_oid(at)->bytes;
    else
        element_binary(at, &subtype, &length, &bytes);
    if (subtype != (uuid ? BSON_SUBTYPE_UUID : BSON_SUBTYPE_BINARY) || (uuid && length != HEX_UUID) ||
        !text_grow(text, 2 * (size_t)length + 4))
        return false;
    uint8_t *const out = (uint8_t *)text->bytes + text->length;
    text->length += uuid                     ? hex_print_uuid(bytes, out)
                    : objectid || field->hex ? hex_print(bytes, length, out)
                                             : (size_t)(base64_write(bytes, length, out) - out);
    return true;
}

bool value_print(const field_t *field, const bson_iter_t *at, text_t *text) {
    const value_type_t *row = &value_types[field->type];
    const uint8_t type = (uint8_t)bson_iter_type(at);
    uint32_t length;
    if (type == BSON_TYPE_UTF8) {
        const char *const bytes = bson_iter_utf8(at, &length);
        text_append_bytes(text, bytes, length);
        return true;
    }
    return (type == row->bson[0] || type == row->bson[1]) && row->print && row->print(field, at, text);
}

void value_misfit(const field_t *field, const uint8_t *text, size_t length, char sentence[VALUE_MISFIT]) {
    enum { SHOWN_NAME = 80, SHOWN_VALUE = 120 };
    char name[SHOWN_NAME], value[SHOWN_VALUE];
    escape_text(name, sizeof name, field->name, strlen(field->name));
    escape_text(value, sizeof value, (const char *)text, length);
    snprintf(sentence, VALUE_MISFIT, "the value '%s%s' of '%s' does not fit its type, %s%s", value,
             strlen(value) < length ? "..." : "", name, schema_type_name(field->type),
             value_is_skipped(field, text, length) ? ": the clocks of its zone skipped that hour" : "");
}

/* ---- the rows ---- */

/* NUMBER: flags and sizes of numbers. FORMED: those of other values of a fixed size. */
#define NUMBER VALUE_NUMBER | VALUE_ORDERED | VALUE_FORMED, FIXED, 0
#define FORMED VALUE_ORDERED | VALUE_FORMED, FIXED, 0

const value_type_t value_types[] = {
    [TYPE_TEXT] = {{BSON_TYPE_UTF8}, VALUE_ORDERED, 8, 1, read_text, NULL},
    [TYPE_TRIMMED] = {{BSON_TYPE_UTF8}, VALUE_ORDERED, 8, 1, read_text, NULL},
    [TYPE_INT] = {{BSON_TYPE_INT32, BSON_TYPE_INT64}, NUMBER, read_whole, print_number},
    [TYPE_LONG] = {{BSON_TYPE_INT64}, NUMBER, read_whole, print_number},
    [TYPE_NUMBER] = {{BSON_TYPE_DOUBLE}, NUMBER, read_double, print_number},
    [TYPE_DATE] = {{BSON_TYPE_DATE_TIME}, FORMED, read_date, print_date},
    [TYPE_LENGTH] = {{BSON_TYPE_INT32}, NUMBER, read_whole, print_number},
    [TYPE_BOOLEAN] = {{BSON_TYPE_BOOL}, FORMED, read_boolean, print_boolean},
    [TYPE_DECIMAL] = {{BSON_TYPE_DECIMAL128}, NUMBER, read_decimal, print_number},
    [TYPE_OBJECTID] = {{BSON_TYPE_OID}, FORMED, read_objectid, print_bytes},
    [TYPE_UUID] = {{BSON_TYPE_BINARY}, FORMED, read_binary, print_bytes},
    [TYPE_BINARY] = {{BSON_TYPE_BINARY}, 0, FIXED, 1, read_binary, print_bytes},
    [TYPE_JSON] = {{0}, 0, JSON_AROUND, JSON_TIMES, read_json, NULL},
};

/* ---- order ---- */

static int order_bytes(const void *a, size_t n, const void *b, size_t m) {
    const int order = memcmp(a, b, n < m ? n : m);
    return order ? (order > 0) - (order < 0) : (n > m) - (n < m);
}

/* Exactly: a long double has room for each whole number of 64 bits. */
static long double number_of(const bson_iter_t *at) {
    static_assert(LDBL_MANT_DIG >= 64, "a long double keeps whole numbers of 64 bits");
    if (BSON_ITER_HOLDS_DATE_TIME(at))
        return bson_iter_date_time(at);
    return BSON_ITER_HOLDS_DOUBLE(at) ? bson_iter_double(at) : (long double)bson_iter_as_int64(at);
}

int value_order(const bson_iter_t *a, const bson_iter_t *b) {
    const bson_type_t type = bson_iter_type(a);
    const uint32_t length = a->next_off - a->d1;
    bson_decimal128_t first, second;
    uint32_t bytes, others;
    if ((BSON_ITER_HOLDS_NUMBER(a) && BSON_ITER_HOLDS_NUMBER(b)) ||
        (type == BSON_TYPE_DATE_TIME && BSON_ITER_HOLDS_DATE_TIME(b))) {
        const long double one = number_of(a), other = number_of(b);
        return isunordered(one, other) ? VALUE_NO_ORDER : (one > other) - (one < other);
    }
    if (type != bson_iter_type(b))
        return VALUE_NO_ORDER;
    if (bson_iter_decimal128(a, &first) && bson_iter_decimal128(b, &second))
        return decimal_is_number(&first) && decimal_is_number(&second) ? decimal_compare(&first, &second)
                                                                       : VALUE_NO_ORDER;
    if (type == BSON_TYPE_UTF8) {
        const char *const text = bson_iter_utf8(a, &bytes), *const other = bson_iter_utf8(b, &others);
        return order_bytes(text, bytes, other, others);
    }
    /* a boolean, an ObjectId or a UUID */
    return length && length == b->next_off - b->d1
               ? order_bytes(a->raw + a->d1, length, b->raw + b->d1, length)
               : VALUE_NO_ORDER;
}
