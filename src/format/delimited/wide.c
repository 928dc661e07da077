#include "format/delimited/wide.h"
#include "base/utf8.h"
#include "format/record/bsonw.h"
#include "format/record/typed.h"
#include "format/record/words.h"

#include <string.h>

enum {
    ELEMENT =
        17, /* of an array, at most: a type, a key of 10 digits, a length, two zeros; with one byte of text between
                     elements a value of one byte takes less than twice that */
    AROUND = 96, /* the array itself, and the longest value of one element */
};

bool wide_is(const field_t *field) {
    return field->array.length > 0;
}

wide_most_t wide_most(const field_t *field, size_t text_times) {
    (void)field;
    return (wide_most_t){AROUND, ELEMENT + text_times};
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

static void trim(const uint8_t **text, size_t *length) {
    while (*length && (*text)[*length - 1] == ' ')
        --*length;
    while (*length && (*text)[0] == ' ')
        ++*text, --*length;
}

static uint8_t *put_text(encoding_t encoding, const uint8_t *text, size_t length, uint8_t *out) {
    if (utf8_valid(text, length)) {
        memcpy(out + 4, text, length);
    } else if (encoding_is(encoding, text, length)) {
        length = encoding_to_utf8(encoding, out + 4, text, length);
    } else {
        return NULL;
    }
    bsonw_int32(out, (int32_t)length + 1);
    out[4 + length] = 0;
    return out + 4 + length + 1;
}

/* field: without null values, unless it is the only element. */
static uint8_t *put_element(const field_t *field, const pattern_t *patterns, encoding_t encoding,
                            const uint8_t *text, size_t length, uint8_t *type, uint8_t *out) {
    typed_t value;
    *type = BSON_TYPE_UTF8;
    if (field->type == TYPE_TRIMMED)
        trim(&text, &length);
    if (field->type == TYPE_TEXT || field->type == TYPE_TRIMMED)
        return words_find(&field->nulls, encoding, text, length) < 0 ? put_text(encoding, text, length, out)
                                                                     : NULL;
    if (typed_convert(field, patterns, encoding, text, length, &value)) {
        *type = value.bson_type;
        memcpy(out, value.bytes, sizeof value.bytes);
        return out + value.size;
    }
    *type = BSON_TYPE_NULL;
    return length ? NULL : out;
}

uint8_t *wide_put(const field_t *field, const pattern_t *patterns, encoding_t encoding, const uint8_t *text,
                  size_t length, uint8_t *type, uint8_t *out) {
    const uint8_t *const end = text + length;
    uint8_t *const begin = out;
    field_t element = *field;
    out += 4;
    for (uint32_t index = 0;; index++) {
        const uint8_t *next = memmem(text, (size_t)(end - text), field->array.text, field->array.length);
        if (next || index) /* what would be written as a null value can only be an element alone */
            element.nulls.count = 0;
        uint8_t *const element_type = out;
        out = put_index(out + 1, index);
        out = put_element(&element, patterns, encoding, text, (size_t)((next ? next : end) - text),
                          element_type, out);
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

/* ---- to text ---- */

static bool print_date(const field_t *field, const pattern_t *patterns, int64_t ms, text_t *text) {
    uint8_t printed[PATTERN_PRINTED];
    size_t length = 0;
    for (size_t i = 0; !length && i < field->patterns.count; i++)
        length = pattern_write(&patterns[i], ms, (pattern_spelling_t){0, 0}, printed);
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

bool wide_print(const field_t *field, const pattern_t *patterns, const bson_iter_t *at, text_t *text) {
    field_t element = *field;
    bson_iter_t inner;
    bool ok = BSON_ITER_HOLDS_ARRAY(at) && bson_iter_recurse(at, &inner);
    element.nulls.count = 0;
    for (bool first = true; ok && bson_iter_next(&inner); first = false) {
        if (!first)
            text_append_bytes(text, field->array.text, field->array.length);
        ok = print_element(&element, patterns, &inner, text);
    }
    return ok;
}
