#include "format/delimited/wide.h"
#include "base/chars.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/delimited/delimited_inner.h"
#include "format/json/json_value.h"
#include "format/record/bsonw.h"
#include "format/record/typed.h"
#include "format/schema/schema.h"
#include "format/values/base64.h"
#include "format/values/blanks.h"
#include "format/values/hex.h"

#include <stdlib.h>
#include <string.h>

enum {
    ELEMENT =
        17, /* of an array, at most: a type, a key of 10 digits, a length, two zeros; with one byte of text between
                     elements a value of one byte takes less than twice that */
    AROUND = 96,    /* the array itself, and the longest value of one element */
    JSON_TIMES = 8, /* see most_needed in json_value.c */
};

struct wide {
    json_value_t *json; /* made when it is needed, and so are its text and its document */
    uint8_t *text, *document;
    size_t text_room, document_room;
    bool failed;
};

wide_t *wide_new(void) {
    return calloc(1, sizeof(wide_t));
}

void wide_free(wide_t *wide) {
    if (!wide)
        return;
    json_value_destroy(wide->json);
    free(wide->text);
    free(wide->document);
    free(wide);
}

bool wide_failed(const wide_t *wide) {
    return wide->failed;
}

bool wide_is(const field_t *field) {
    return field->array.length || field->type == TYPE_BINARY || field->type == TYPE_JSON;
}

wide_most_t wide_most(const field_t *field, size_t text_times) {
    if (field->array.length)
        return (wide_most_t){AROUND, ELEMENT + text_times};
    if (field->type == TYPE_JSON) /* as json_value_read needs it, for the text and what is put around it */
        return (wide_most_t){2 * AROUND, JSON_TIMES};
    return (wide_most_t){AROUND, 1};
}

/* ---- from text ---- */

static uint8_t *put_index(uint8_t *out, uint32_t index) {
    uint8_t digits[10];
    int count = 0;
    do
        digits[count++] = (uint8_t)('0' + index % 10);
    while (index /= 10);
    while (count)
        *out++ = digits[--count];
    *out++ = 0;
    return out;
}

void wide_trim(const field_t *field, const uint8_t **text, size_t *length) {
    if (field->type == TYPE_TRIMMED && !field->array.length)
        blanks_trim(text, length);
}

/* NULL: it is none, or nobody can tell which one. */
static uint8_t *put_text(encoding_t encoding, const uint8_t *text, size_t length, uint8_t *out) {
    if (encoding_doubts(encoding, text, length))
        return NULL;
    if (encoding_converts(encoding, text, length))
        length = encoding_to_utf8(encoding, out + 4, text, length);
    else if (encoding_keeps_utf8(encoding) && utf8_valid(text, length))
        memcpy(out + 4, text, length);
    else
        return NULL;
    bsonw_int32(out, (int32_t)length + 1);
    out[4 + length] = 0;
    return out + 4 + length + 1;
}

static uint8_t *put_element(const field_t *field, const pattern_t *patterns, encoding_t encoding,
                            const uint8_t *text, size_t length, uint8_t *type, uint8_t *out) {
    typed_t value;
    *type = BSON_TYPE_UTF8;
    if (field->type == TYPE_TRIMMED)
        blanks_trim(&text, &length);
    if (field->type == TYPE_TEXT || field->type == TYPE_TRIMMED)
        return put_text(encoding, text, length, out);
    if (typed_convert(field, patterns, encoding, text, length, &value) &&
        !delimited_is_inexact(field, text, length)) {
        *type = value.bson_type;
        memcpy(out, value.bytes, sizeof value.bytes);
        return out + value.size;
    }
    *type = BSON_TYPE_NULL;
    return length ? NULL : out;
}

static uint8_t *put_array(const field_t *field, const pattern_t *patterns, encoding_t encoding,
                          const uint8_t *text, size_t length, uint8_t *type, uint8_t *out) {
    const uint8_t *const end = text + length;
    uint8_t *const begin = out;
    out += 4;
    for (uint32_t index = 0;; index++) {
        const uint8_t *next = memmem(text, (size_t)(end - text), field->array.text, field->array.length);
        uint8_t *const element_type = out;
        out = put_index(out + 1, index);
        out = put_element(field, patterns, encoding, text, (size_t)((next ? next : end) - text), element_type,
                          out);
        if (!out)
            return NULL;
        if (!next)
            break;
        text = next + field->array.length;
    }
    *type = BSON_TYPE_ARRAY;
    *out++ = 0;
    bsonw_int32(begin, (int32_t)(out - begin));
    return out;
}

static uint8_t *put_binary(const field_t *field, const uint8_t *text, size_t length, uint8_t *type,
                           uint8_t *out) {
    uint8_t *const bytes = out + 5, *end;
    bool capital;
    if (field->hex)
        end = hex_read(text, length, bytes, &capital) ? bytes + length / 2 : NULL;
    else
        end = base64_read(text, length, bytes);
    if (!end)
        return NULL;
    *type = BSON_TYPE_BINARY;
    *bsonw_int32(out, (int32_t)(end - bytes)) = BSON_SUBTYPE_BINARY;
    return end;
}

/* The document {"": TEXT}. NULL: it is none. */
static const uint8_t *read_json(wide_t *wide, const uint8_t *text, size_t length, uint32_t *size) {
    static const uint8_t before[] = {'{', '"', '"', ':'};
    const size_t whole = sizeof before + length + 1;
    json_result_t result = {.needed = JSON_MARGIN};
    json_read_t read = JSON_FULL;
    if ((!wide->json && !(wide->json = json_value_new())) ||
        !GROW(wide->text, wide->text_room, whole + 2 * (size_t)POOL_SLACK, NULL)) {
        wide->failed = true;
        return NULL;
    }
    uint8_t *const at = wide->text + POOL_SLACK;
    memcpy(at, before, sizeof before);
    memcpy(at + sizeof before, text, length);
    memset(at + whole - 1, 0, POOL_SLACK + 1);
    at[whole - 1] = '}';
    while (read == JSON_FULL && GROW(wide->document, wide->document_room, result.needed, NULL))
        read = json_value_read(wide->json, at, whole, wide->document, wide->document_room, false, 0, &result);
    wide->failed |= read == JSON_FULL || read == JSON_MEMORY;
    *size = result.length;
    return read == JSON_DOCUMENT ? wide->document : NULL;
}

static uint8_t *put_json(wide_t *wide, const uint8_t *text, size_t length, uint8_t *type, uint8_t *out) {
    static const uint8_t zeros[8];
    enum { HEAD = 4 + 1 + 1 /* of the document: a length, a type, the empty key */ };
    uint32_t size;
    bson_iter_t at;
    const uint8_t *document = read_json(wide, text, length, &size);
    if (!document || !bson_iter_init_from_data(&at, document, size) || !bson_iter_next(&at))
        return NULL;
    *type = (uint8_t)bson_iter_type(&at);
    const size_t bytes = size - HEAD - 1;
    /* a second member, by a comma in the text; or what a server does not store as it is */
    if (bson_iter_next(&at) ||
        (*type == BSON_TYPE_TIMESTAMP && memcmp(document + HEAD, zeros, sizeof zeros) == 0))
        return NULL;
    memcpy(out, document + HEAD, bytes);
    return out + bytes;
}

uint8_t *wide_put(wide_t *wide, const field_t *field, const pattern_t *patterns, encoding_t encoding,
                  const uint8_t *text, size_t length, uint8_t *type, uint8_t *out) {
    if (field->array.length)
        return put_array(field, patterns, encoding, text, length, type, out);
    return field->type == TYPE_JSON ? put_json(wide, text, length, type, out)
                                    : put_binary(field, text, length, type, out);
}

/* ---- to text ---- */

static bool print_date(const field_t *field, const pattern_t *patterns, int64_t ms, text_t *text) {
    uint8_t printed[PATTERN_PRINTED];
    size_t length = 0;
    for (size_t i = 0; !length && i < field->patterns.count; i++)
        length = pattern_write(&patterns[i], ms, printed);
    text_append_bytes(text, (const char *)printed, length);
    return length > 0;
}

static bool print_element(const field_t *field, const pattern_t *patterns, const bson_iter_t *at,
                          text_t *text) {
    uint8_t out[TYPED_PRINTED];
    uint32_t length;
    typed_t value;
    schema_text_t printed;
    if (BSON_ITER_HOLDS_NULL(at))
        return true;
    if (BSON_ITER_HOLDS_UTF8(at)) {
        const char *bytes = bson_iter_utf8(at, &length);
        text_append_bytes(text, bytes, length);
        return true;
    }
    if (BSON_ITER_HOLDS_DATE_TIME(at))
        return print_date(field, patterns, bson_iter_date_time(at), text);
    if (!typed_take(field, at, &value) || !typed_print(field, &value, out, &printed))
        return false;
    text_append_bytes(text, printed.text, printed.length);
    return true;
}

static bool print_array(const field_t *field, const pattern_t *patterns, const bson_iter_t *at,
                        text_t *text) {
    bson_iter_t inner;
    bool ok = bson_iter_recurse(at, &inner);
    for (bool first = true; ok && bson_iter_next(&inner); first = false) {
        if (!first)
            text_append_bytes(text, field->array.text, field->array.length);
        ok = print_element(field, patterns, &inner, text);
    }
    return ok;
}

static bool print_binary(const field_t *field, const bson_iter_t *at, text_t *text) {
    bson_subtype_t subtype;
    const uint8_t *bytes;
    uint32_t length;
    bson_iter_binary(at, &subtype, &length, &bytes);
    if (subtype != BSON_SUBTYPE_BINARY || !text_grow(text, 2 * (size_t)length + 4))
        return false;
    uint8_t *const out = (uint8_t *)text->bytes + text->length;
    text->length +=
        field->hex ? hex_print(bytes, length, out) : (size_t)(base64_write(bytes, length, out) - out);
    return true;
}

bool wide_print(const field_t *field, const pattern_t *patterns, const bson_iter_t *at, text_t *text) {
    if (field->array.length)
        return BSON_ITER_HOLDS_ARRAY(at) && print_array(field, patterns, at, text);
    return field->type == TYPE_BINARY && BSON_ITER_HOLDS_BINARY(at) && print_binary(field, at, text);
}
