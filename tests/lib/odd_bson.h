/* odd_bson: documents that a fuzzer's bytes choose: any at all, or one that is as it should be except for a few places.
 * Where the bytes are at an end, nothing else is changed. */
#ifndef TIPPLE_TESTS_ODD_BSON_H
#define TIPPLE_TESTS_ODD_BSON_H

#include "format_lab.h"

#include <bson/bson.h>
#include <math.h>
#include <string.h>

typedef struct {
    const uint8_t *at;
    size_t left;
} odd_t;

LAB_UNUSED uint8_t odd_byte(odd_t *odd) {
    if (!odd->left)
        return 0;
    odd->left--;
    return *odd->at++;
}

LAB_UNUSED size_t odd_below(odd_t *odd, size_t limit) {
    return odd_byte(odd) % limit;
}

/* The numbers at which something may go wrong, and any others. */
LAB_UNUSED int64_t odd_number(odd_t *odd) {
    static const int64_t edges[] = {INT64_MIN,  INT32_MIN, -1,        INT32_MAX,
                                    UINT32_MAX, 1LL << 53, INT64_MAX, 1LL << 32};
    const uint8_t kind = odd_byte(odd);
    uint64_t number = 0;
    if (kind < 128)
        return kind;
    if (kind < 192)
        return (int64_t)((uint64_t)edges[kind % 8] + (uint64_t)(kind / 8 % 3) - 1);
    for (int i = kind % 8; i >= 0; i--)
        number = number << 8 | odd_byte(odd);
    return (int64_t)number;
}

LAB_UNUSED double odd_double(odd_t *odd) {
    static const double edges[] = {NAN, INFINITY, -INFINITY, -0.0, 0x1p63, -0x1p63, 1e300, 0.5};
    const uint8_t kind = odd_byte(odd);
    return kind < 128 ? edges[kind % 8] : kind < 192 ? (double)odd_number(odd) : (double)odd_number(odd) / 4;
}

/* Any bytes, also such as are no UTF-8. *length of them, at most 64; they last until the next call. */
LAB_UNUSED const char *odd_text(odd_t *odd, int *length) {
    static char text[65];
    *length = (int)odd_below(odd, sizeof text);
    for (int i = 0; i < *length; i++)
        text[i] = (char)odd_byte(odd);
    text[*length] = '\0';
    return text;
}

/* Documents in each other, far deeper than any server allows. */
static void odd_deep(odd_t *odd, bson_t *to, const char *key) {
    const uint32_t levels = 1u << odd_below(odd, 16), length = 5 + 7 * levels; /* length, 3, "", ..., 0 */
    uint8_t *bytes = malloc(length);
    bson_t document;
    LAB_MUST(bytes);
    memset(bytes, 0, length);
    for (uint32_t i = 0; i <= levels; i++) {
        const uint32_t own = length - 7 * i;
        for (uint32_t j = 0; j < 4; j++)
            bytes[6 * i + j] = (uint8_t)(own >> 8 * j);
        if (i < levels)
            bytes[6 * i + 4] = BSON_TYPE_DOCUMENT;
    }
    LAB_MUST(bson_init_static(&document, bytes, length));
    bson_append_document(to, key, -1, &document);
    free(bytes);
}

LAB_UNUSED void odd_value(odd_t *odd, bson_t *to, const char *key, int depth);

static void odd_list(odd_t *odd, bson_t *to, const char *key, bool is_array, int depth) {
    bson_t inner = BSON_INITIALIZER;
    for (size_t i = 0, count = depth < 4 ? odd_below(odd, 5) : 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, is_array ? "%zu" : "k%zu", i);
        odd_value(odd, &inner, name, depth + 1);
    }
    if (is_array)
        bson_append_array(to, key, -1, &inner);
    else
        bson_append_document(to, key, -1, &inner);
    bson_destroy(&inner);
}

/* A value of any type. */
LAB_UNUSED void odd_value(odd_t *odd, bson_t *to, const char *key, int depth) {
    static const uint8_t bytes[16] = {1, 2, 3};
    bson_decimal128_t decimal = {.high = 0x3040000000000000};
    bson_oid_t oid;
    int length;
    switch (odd_below(odd, 24)) {
    case 0:
    case 1:
        bson_append_int64(to, key, -1, odd_number(odd));
        return;
    case 2:
        bson_append_int32(to, key, -1, (int32_t)odd_number(odd));
        return;
    case 3:
        bson_append_double(to, key, -1, odd_double(odd));
        return;
    case 4:
    case 5: {
        const char *text = odd_text(odd, &length);
        bson_append_utf8(to, key, -1, text, length);
        return;
    }
    case 6:
        odd_list(odd, to, key, false, depth);
        return;
    case 7:
        odd_list(odd, to, key, true, depth);
        return;
    case 8:
        bson_append_binary(to, key, -1, odd_byte(odd) & 1 ? BSON_SUBTYPE_UUID : BSON_SUBTYPE_BINARY, bytes,
                           (uint32_t)odd_below(odd, sizeof bytes + 1));
        return;
    case 9:
        bson_oid_init_from_data(&oid, bytes);
        oid.bytes[11] = odd_byte(odd);
        bson_append_oid(to, key, -1, &oid);
        return;
    case 10:
        bson_append_bool(to, key, -1, odd_byte(odd) & 1);
        return;
    case 11:
        bson_append_date_time(to, key, -1, odd_number(odd));
        return;
    case 12:
        bson_append_null(to, key, -1);
        return;
    case 13:
        bson_append_timestamp(to, key, -1, (uint32_t)odd_number(odd), odd_byte(odd));
        return;
    case 14:
        bson_append_minkey(to, key, -1);
        return;
    case 15:
        bson_append_maxkey(to, key, -1);
        return;
    case 16:
        decimal.low = odd_byte(odd);
        bson_append_decimal128(to, key, -1, &decimal);
        return;
    case 17:
        bson_append_regex(to, key, -1, "a.*", "i");
        return;
    case 18:
        bson_append_code(to, key, -1, "f()");
        return;
    case 19:
        bson_append_undefined(to, key, -1);
        return;
    case 20:
        bson_append_symbol(to, key, -1, "symbol", -1);
        return;
    case 21:
        bson_oid_init_from_data(&oid, bytes);
        bson_append_dbpointer(to, key, -1, "a.b", &oid);
        return;
    case 22:
        odd_deep(odd, to, key);
        return;
    default:
        bson_append_code_with_scope(to, key, -1, "g()", &(bson_t)BSON_INITIALIZER);
    }
}

/* A copy is not looked into below ODD_DEEPEST, and nothing is added to one of ODD_LARGEST bytes: what comes several times at each
 * depth would fill any memory. */
enum { ODD_DEEPEST = 12, ODD_LARGEST = 1 << 20 };

static void odd_copy_field(odd_t *odd, const bson_iter_t *at, const char *key, bson_t *to, int depth);

static void odd_copy_inside(odd_t *odd, const bson_t *from, bool is_array, bson_t *to, int depth) {
    bson_iter_t at;
    uint32_t index = 0;
    for (bool more = bson_iter_init(&at, from) && bson_iter_next(&at); more; more = bson_iter_next(&at)) {
        const uint8_t choice = odd_byte(odd);
        size_t times = choice < 224 ? 1 : choice < 232 ? 0 : choice < 248 ? 1 : (size_t)(choice - 246);
        for (; times && to->len < ODD_LARGEST; times--) {
            char text[16];
            const char *key = bson_iter_key(&at);
            if (is_array)
                bson_uint32_to_string(index++, &key, text, sizeof text);
            if (choice >= 232 && choice < 248)
                odd_value(odd, to, key, 0);
            else
                odd_copy_field(odd, &at, key, to, depth);
        }
    }
}

static void odd_copy_field(odd_t *odd, const bson_iter_t *at, const char *key, bson_t *to, int depth) {
    const bool is_array = BSON_ITER_HOLDS_ARRAY(at);
    uint32_t length;
    const uint8_t *bytes;
    bson_t from, inner = BSON_INITIALIZER;
    if ((!is_array && !BSON_ITER_HOLDS_DOCUMENT(at)) || depth == ODD_DEEPEST) {
        bson_append_iter(to, key, -1, at);
        return;
    }
    if (is_array)
        bson_iter_array(at, &length, &bytes);
    else
        bson_iter_document(at, &length, &bytes);
    LAB_MUST(bson_init_static(&from, bytes, length));
    odd_copy_inside(odd, &from, is_array, &inner, depth + 1);
    if (is_array)
        bson_append_array(to, key, -1, &inner);
    else
        bson_append_document(to, key, -1, &inner);
    bson_destroy(&inner);
}

/* A copy in which each value may be missing, be another, or come several times. */
LAB_UNUSED void odd_copy(odd_t *odd, const bson_t *from, bool is_array, bson_t *to) {
    odd_copy_inside(odd, from, is_array, to, 0);
}

#endif
