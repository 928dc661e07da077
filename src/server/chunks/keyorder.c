#include "server/chunks/keyorder.h"
#include "base/document.h"

#include <math.h>
#include <string.h>

int keyorder_rank(bson_type_t type) {
    switch (type) {
    case BSON_TYPE_MINKEY:
        return -1;
    case BSON_TYPE_EOD:
    case BSON_TYPE_UNDEFINED:
    case BSON_TYPE_NULL:
        return 5;
    case BSON_TYPE_DOUBLE:
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
    case BSON_TYPE_DECIMAL128:
        return 10;
    case BSON_TYPE_UTF8:
    case BSON_TYPE_SYMBOL:
        return 15;
    case BSON_TYPE_DOCUMENT:
        return 20;
    case BSON_TYPE_ARRAY:
        return 25;
    case BSON_TYPE_BINARY:
        return 30;
    case BSON_TYPE_OID:
        return 35;
    case BSON_TYPE_BOOL:
        return 40;
    case BSON_TYPE_DATE_TIME:
        return 45;
    case BSON_TYPE_TIMESTAMP:
        return 47;
    case BSON_TYPE_REGEX:
        return 50;
    case BSON_TYPE_DBPOINTER:
        return 55;
    case BSON_TYPE_CODE:
        return 60;
    case BSON_TYPE_CODEWSCOPE:
        return 65;
    case BSON_TYPE_MAXKEY:
        return 127;
    }
    return 127;
}

/* A type is clear if keyorder_values can order its values, or if it has only one value. */
static bool is_clear_type(bson_type_t type) {
    switch (type) {
    case BSON_TYPE_MINKEY:
    case BSON_TYPE_MAXKEY:
    case BSON_TYPE_NULL:
    case BSON_TYPE_DOUBLE:
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
    case BSON_TYPE_UTF8:
    case BSON_TYPE_DOCUMENT:
    case BSON_TYPE_ARRAY:
    case BSON_TYPE_BINARY:
    case BSON_TYPE_BOOL:
    case BSON_TYPE_DATE_TIME:
    case BSON_TYPE_OID:
        return true;
    default:
        return false;
    }
}

/* Servers allow no more levels. If one sends more, it must not use up the stack. */
enum { DEEPEST = 200 };

/* A server orders old binary data by the length that has the inner one in it; libbson tells that without. */
static bool is_old_binary(const bson_iter_t *at) {
    return BSON_ITER_HOLDS_BINARY(at) && at->raw[at->d2] == BSON_SUBTYPE_BINARY_DEPRECATED;
}

static bool is_clear_inside(bson_iter_t *at, int depth) {
    bson_iter_t inner;
    while (element_next(at)) {
        bool has_inner = BSON_ITER_HOLDS_DOCUMENT(at) || BSON_ITER_HOLDS_ARRAY(at);
        if (!is_clear_type(bson_iter_type(at)) || is_old_binary(at) ||
            (has_inner &&
             !(depth < DEEPEST && bson_iter_recurse(at, &inner) && is_clear_inside(&inner, depth + 1))))
            return false;
    }
    return !at->err_off;
}

bool keyorder_is_clear(const bson_t *document) {
    bson_iter_t at;
    return bson_iter_init(&at, document) && is_clear_inside(&at, 0);
}

static int order(int64_t a, int64_t b) {
    return a < b ? -1 : a > b;
}

static int order_bytes(const void *a, size_t a_length, const void *b, size_t b_length) {
    int first = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return first ? first : order((int64_t)a_length, (int64_t)b_length);
}

/* Compares a whole number and a double without rounding either. */
static int order_mixed(int64_t whole, double number) {
    if (isnan(number) || number < -0x1p63)
        return 1;
    if (number >= 0x1p63)
        return -1;
    int by_whole = order(whole, (int64_t)number);
    double rest = number - trunc(number);
    return by_whole ? by_whole : rest > 0 ? -1 : rest < 0;
}

static int order_doubles(double a, double b) {
    if (isnan(a) || isnan(b))
        return isnan(b) - isnan(a);
    return a < b ? -1 : a > b;
}

static bool whole_of(const bson_value_t *value, int64_t *whole) {
    *whole = value->value_type == BSON_TYPE_INT32 ? value->value.v_int32 : value->value.v_int64;
    return value->value_type == BSON_TYPE_INT32 || value->value_type == BSON_TYPE_INT64;
}

static int order_numbers(const bson_value_t *a, const bson_value_t *b) {
    int64_t whole_a, whole_b;
    bool is_whole_a = whole_of(a, &whole_a), is_whole_b = whole_of(b, &whole_b);
    if (is_whole_a && is_whole_b)
        return order(whole_a, whole_b);
    if (is_whole_a)
        return order_mixed(whole_a, b->value.v_double);
    if (is_whole_b)
        return -order_mixed(whole_b, a->value.v_double);
    return order_doubles(a->value.v_double, b->value.v_double);
}

/* Compares subdocuments and arrays: by types, then keys (only of documents), then values. */
static int order_inner(const bson_value_t *a, const bson_value_t *b) {
    bson_t inner_a, inner_b;
    bson_iter_t at_a, at_b;
    if (!bson_init_static(&inner_a, a->value.v_doc.data, a->value.v_doc.data_len) ||
        !bson_init_static(&inner_b, b->value.v_doc.data, b->value.v_doc.data_len) ||
        !bson_iter_init(&at_a, &inner_a) || !bson_iter_init(&at_b, &inner_b))
        return 0;
    for (;;) {
        bool more_a = bson_iter_next(&at_a), more_b = bson_iter_next(&at_b);
        if (!more_a || !more_b)
            return (int)more_a - (int)more_b;
        int by_type = keyorder_rank(bson_iter_type(&at_a)) - keyorder_rank(bson_iter_type(&at_b));
        int by_key =
            a->value_type == BSON_TYPE_DOCUMENT ? strcmp(bson_iter_key(&at_a), bson_iter_key(&at_b)) : 0;
        int by_value =
            by_type || by_key ? 0 : keyorder_values(bson_iter_value(&at_a), bson_iter_value(&at_b));
        int first = by_type ? by_type : by_key ? by_key : by_value;
        if (first)
            return first;
    }
}

int keyorder_values(const bson_value_t *a, const bson_value_t *b) {
    int by_rank = keyorder_rank(a->value_type) - keyorder_rank(b->value_type);
    if (by_rank)
        return by_rank;
    switch (a->value_type) {
    case BSON_TYPE_DOUBLE:
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        return order_numbers(a, b);
    case BSON_TYPE_UTF8:
        return order_bytes(a->value.v_utf8.str, a->value.v_utf8.len, b->value.v_utf8.str,
                           b->value.v_utf8.len);
    case BSON_TYPE_BINARY: {
        const uint32_t length_a = a->value.v_binary.data_len, length_b = b->value.v_binary.data_len;
        int first = order(length_a, length_b);
        first = first ? first : (int)a->value.v_binary.subtype - (int)b->value.v_binary.subtype;
        return first ? first
                     : order_bytes(a->value.v_binary.data, length_a, b->value.v_binary.data, length_b);
    }
    case BSON_TYPE_DOCUMENT:
    case BSON_TYPE_ARRAY:
        return order_inner(a, b);
    case BSON_TYPE_BOOL:
        return (int)a->value.v_bool - (int)b->value.v_bool;
    case BSON_TYPE_DATE_TIME:
        return order(a->value.v_datetime, b->value.v_datetime);
    case BSON_TYPE_OID:
        return bson_oid_compare(&a->value.v_oid, &b->value.v_oid);
    default:
        return 0;
    }
}

int keyorder_documents(const bson_t *a, const bson_t *b) {
    bson_iter_t at_a, at_b;
    if (!bson_iter_init(&at_a, a) || !bson_iter_init(&at_b, b))
        return 0;
    for (;;) {
        bool more_a = bson_iter_next(&at_a), more_b = bson_iter_next(&at_b);
        if (!more_a || !more_b)
            return (int)more_a - (int)more_b;
        int first = keyorder_values(bson_iter_value(&at_a), bson_iter_value(&at_b));
        if (first)
            return first;
    }
}
