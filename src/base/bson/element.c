#include "base/bson/element.h"
#include "base/chars/number.h"

#include <math.h>
#include <string.h>

/* libbson declares its iterator with an alignment of 128 bytes, to which clang does not align one that is passed by value. Only
 * numbers are read of it here, for which 4 bytes are enough. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("alignment"))), apply_to = function)
#endif

static uint32_t number_at(const uint8_t *bytes) {
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return BSON_UINT32_FROM_LE(number);
}

enum { BINARY_HEAD = 5 }; /* length and subtype */

/* Stands where libbson has stopped, with what it would have found, if it was for the inner length only. */
static bool stand(bson_iter_t *at, const uint8_t *raw, uint32_t length, uint32_t from) {
    const uint8_t *end = raw + length, *name_end = NULL;
    if (from < length && raw[from] == BSON_TYPE_BINARY)
        name_end = memchr(raw + from, 0, length - from);
    if (!name_end)
        return false;
    const uint8_t *value = name_end + 1;
    if (end - value <= BINARY_HEAD || value[4] != BSON_SUBTYPE_BINARY_DEPRECATED ||
        number_at(value) >= (size_t)(end - value) - BINARY_HEAD)
        return false;
    at->raw = raw;
    at->len = length;
    at->off = at->type = from;
    at->key = from + 1;
    at->d1 = (uint32_t)(value - raw);
    at->d2 = at->d1 + 4;
    at->d3 = at->d1 + BINARY_HEAD;
    at->d4 = at->err_off = 0;
    at->next_off = at->d3 + number_at(value);
    return true;
}

bool element_next(bson_iter_t *at) {
    const uint8_t *raw = at->raw; /* libbson forgets where it stopped */
    const uint32_t length = at->len, from = at->next_off;
    return bson_iter_next(at) || (at->err_off && raw && stand(at, raw, length, from));
}

bool element_find(bson_iter_t *at, const char *key, size_t length) {
    while (element_next(at))
        if (bson_iter_key_len(at) == length && memcmp(bson_iter_key(at), key, length) == 0)
            return true;
    return false;
}

bool element_of(const bson_t *document, const char *key, bson_iter_t *at) {
    return bson_iter_init(at, document) && element_find(at, key, strlen(key));
}

bool element_at(const bson_t *document, const char *path, bson_iter_t *at) {
    bson_iter_t outer;
    if (!bson_iter_init(at, document))
        return false;
    for (;;) {
        const size_t length = strcspn(path, ".");
        if (!element_find(at, path, length))
            return false;
        if (!path[length])
            return true;
        outer = *at;
        if (!(BSON_ITER_HOLDS_DOCUMENT(&outer) || BSON_ITER_HOLDS_ARRAY(&outer)) ||
            !bson_iter_recurse(&outer, at))
            return false;
        path += length + 1;
    }
}

bool element_append(bson_t *to, const char *key, const bson_iter_t *from) {
    bson_t alone = BSON_INITIALIZER;
    const size_t named = strlen(key) + 1, bytes = from->next_off - from->d1;
    const uint32_t length = (uint32_t)(4 + 1 + named + bytes + 1), little = BSON_UINT32_TO_LE(length);
    uint8_t *out = bson_reserve_buffer(&alone, length);
    if (!out)
        return false;
    memcpy(out, &little, sizeof little);
    out[4] = from->raw[from->type];
    memcpy(out + 5, key, named);
    memcpy(out + 5 + named, from->raw + from->d1, bytes);
    out[length - 1] = 0;
    const bool ok = bson_concat(to, &alone);
    bson_destroy(&alone);
    return ok;
}

bool element_same(const bson_iter_t *a, const bson_iter_t *b) {
    const uint32_t bytes = a->next_off - a->d1;
    return a->raw[a->type] == b->raw[b->type] && bytes == b->next_off - b->d1 &&
           memcmp(a->raw + a->d1, b->raw + b->d1, bytes) == 0;
}

bool element_floor(const bson_iter_t *at, int64_t *whole) {
    bson_decimal128_t decimal;
    char text[BSON_DECIMAL128_STRING];
    if (BSON_ITER_HOLDS_INT32(at) || BSON_ITER_HOLDS_INT64(at)) {
        *whole = bson_iter_as_int64(at);
        return true;
    }
    long double value = NAN;
    if (BSON_ITER_HOLDS_DOUBLE(at)) {
        value = bson_iter_double(at);
    } else if (BSON_ITER_HOLDS_DECIMAL128(at) && bson_iter_decimal128(at, &decimal)) {
        bson_decimal128_to_string(&decimal, text);
        number_read_long(text, strlen(text), &value);
    }
    if (!(value >= -0x1p63L && value < 0x1p63L))
        return false;
    *whole = (int64_t)floorl(value);
    return true;
}

bool element_is_headless(const bson_iter_t *at) {
    if (!BSON_ITER_HOLDS_BINARY(at) || at->raw[at->d2] != BSON_SUBTYPE_BINARY_DEPRECATED)
        return false;
    const uint32_t bytes = number_at(at->raw + at->d1);
    return bytes < 4 || number_at(at->raw + at->d3) != bytes - 4;
}

void element_binary(const bson_iter_t *at, bson_subtype_t *subtype, uint32_t *length, const uint8_t **bytes) {
    if (!element_is_headless(at)) {
        bson_iter_binary(at, subtype, length, bytes);
        return;
    }
    *subtype = BSON_SUBTYPE_BINARY_DEPRECATED;
    *length = number_at(at->raw + at->d1);
    *bytes = at->raw + at->d3;
}

#ifdef __clang__
#pragma clang attribute pop
#endif
