/* Which documents match, and how values compare. */
#include "box_inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void box_inside(const bson_iter_t *iter, bson_t *inside) {
    const uint8_t *data;
    uint32_t length;
    if (BSON_ITER_HOLDS_ARRAY(iter))
        bson_iter_array(iter, &length, &data);
    else
        bson_iter_document(iter, &length, &data);
    if (!data || !bson_init_static(inside, data, length))
        box_die("'%s' is no document", bson_iter_key(iter));
}

static bool is_container(const bson_iter_t *iter) {
    return BSON_ITER_HOLDS_ARRAY(iter) || BSON_ITER_HOLDS_DOCUMENT(iter);
}

/* ---- comparing ---- */

_Thread_local bool box_folds;

/* Letters of ASCII, digits and blanks sort as in the collation of English; others are not known here. */
static int compare_folded(const char *a, const char *b) {
    static const char known[] = "0123456789 abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (a[strspn(a, known)] || b[strspn(b, known)])
        box_die("'%s' and '%s' are not compared here by a collation", a, b);
    return strcasecmp(a, b);
}

/* Types in the order in which servers sort them; numbers are of one type. */
static int rank(const bson_iter_t *iter) {
    switch (bson_iter_type(iter)) {
    case BSON_TYPE_MINKEY:
        return 0;
    case BSON_TYPE_NULL:
        return 1;
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
    case BSON_TYPE_DOUBLE:
    case BSON_TYPE_DECIMAL128:
        return 2;
    case BSON_TYPE_UTF8:
        return 3;
    case BSON_TYPE_DOCUMENT:
        return 4;
    case BSON_TYPE_ARRAY:
        return 5;
    case BSON_TYPE_BINARY:
        return 6;
    case BSON_TYPE_OID:
        return 7;
    case BSON_TYPE_BOOL:
        return 8;
    case BSON_TYPE_DATE_TIME:
        return 9;
    case BSON_TYPE_TIMESTAMP:
        return 10;
    case BSON_TYPE_DBPOINTER:
        return 12;
    case BSON_TYPE_CODE:
        return 13;
    case BSON_TYPE_CODEWSCOPE:
        return 14;
    case BSON_TYPE_MAXKEY:
        return 15;
    default:
        box_die("values of the type %d are not known here", (int)bson_iter_type(iter));
    }
}

static int compare_numbers(const bson_iter_t *a, const bson_iter_t *b) {
    if (BSON_ITER_HOLDS_DECIMAL128(a) || BSON_ITER_HOLDS_DECIMAL128(b))
        box_die("decimal numbers are not compared here");
    const long double x = BSON_ITER_HOLDS_DOUBLE(a) ? bson_iter_double(a)
                                                    : (long double)bson_iter_as_int64(a),
                      y = BSON_ITER_HOLDS_DOUBLE(b) ? bson_iter_double(b)
                                                    : (long double)bson_iter_as_int64(b);
    if (isnan(x) || isnan(y))
        return (isnan(y) != 0) - (isnan(x) != 0); /* before all other numbers */
    return (x > y) - (x < y);
}

static int compare_bytes(const void *a, size_t a_length, const void *b, size_t b_length) {
    const size_t shorter = a_length < b_length ? a_length : b_length;
    const int order = shorter ? memcmp(a, b, shorter) : 0;
    return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_inside(const bson_iter_t *a, const bson_iter_t *b) {
    bson_t one, other;
    box_inside(a, &one);
    box_inside(b, &other);
    bson_iter_t x, y;
    bson_iter_init(&x, &one);
    bson_iter_init(&y, &other);
    for (;;) {
        const bool more = bson_iter_next(&x), more_there = bson_iter_next(&y);
        if (!more || !more_there)
            return more - more_there;
        int order = rank(&x) - rank(&y);
        order = order ? order : strcmp(bson_iter_key(&x), bson_iter_key(&y));
        order = order ? order : box_compare(&x, &y);
        if (order)
            return order;
    }
}

static int compare_binary(const bson_iter_t *a, const bson_iter_t *b) {
    const uint8_t *x, *y;
    uint32_t x_length, y_length;
    bson_subtype_t x_type, y_type;
    bson_iter_binary(a, &x_type, &x_length, &x);
    bson_iter_binary(b, &y_type, &y_length, &y);
    if (x_length != y_length)
        return x_length > y_length ? 1 : -1;
    return x_type != y_type ? (int)x_type - (int)y_type : compare_bytes(x, x_length, y, y_length);
}

static int64_t of_time(const bson_iter_t *iter) {
    uint32_t seconds = 0, increment = 0;
    if (BSON_ITER_HOLDS_DATE_TIME(iter))
        return bson_iter_date_time(iter);
    bson_iter_timestamp(iter, &seconds, &increment);
    return (int64_t)seconds << 32 | increment;
}

int box_compare(const bson_iter_t *a, const bson_iter_t *b) {
    const int type = rank(a);
    if (type != rank(b))
        return type - rank(b);
    switch (bson_iter_type(a)) {
    case BSON_TYPE_MINKEY:
    case BSON_TYPE_NULL:
    case BSON_TYPE_MAXKEY:
        return 0;
    case BSON_TYPE_UTF8:
        return box_folds ? compare_folded(bson_iter_utf8(a, NULL), bson_iter_utf8(b, NULL))
                         : strcmp(bson_iter_utf8(a, NULL), bson_iter_utf8(b, NULL));
    case BSON_TYPE_DOCUMENT:
    case BSON_TYPE_ARRAY:
        return compare_inside(a, b);
    case BSON_TYPE_BINARY:
        return compare_binary(a, b);
    case BSON_TYPE_OID:
        return bson_oid_compare(bson_iter_oid(a), bson_iter_oid(b));
    case BSON_TYPE_BOOL:
        return bson_iter_bool(a) - bson_iter_bool(b);
    case BSON_TYPE_DATE_TIME:
    case BSON_TYPE_TIMESTAMP: {
        const int64_t x = of_time(a), y = of_time(b);
        return (x > y) - (x < y);
    }
    default:
        if (type != 2)
            box_die("values of the type %d are not compared here", (int)bson_iter_type(a));
        return compare_numbers(a, b);
    }
}

/* ---- paths ---- */

typedef bool take_fn(const void *context, const bson_iter_t *value);

static bool is_number(const char *text, size_t length) {
    return length && strspn(text, "0123456789") >= length;
}

/* Every value at the path, of all elements where arrays are on the way; true as soon as one is taken. */
static bool each_at(const bson_t *document, bool in_array, const char *path, take_fn *take,
                    const void *context, bool *any) {
    const size_t length = strcspn(path, ".");
    const char *rest = path[length] ? path + length + 1 : NULL;
    bson_iter_t iter;
    for (bson_iter_init(&iter, document); bson_iter_next(&iter);) {
        const bool named = strncmp(bson_iter_key(&iter), path, length) == 0 && !bson_iter_key(&iter)[length];
        if (in_array && !is_number(path, length) && BSON_ITER_HOLDS_DOCUMENT(&iter)) {
            bson_t inside;
            box_inside(&iter, &inside);
            if (each_at(&inside, false, path, take, context, any))
                return true;
        }
        if (!named)
            continue;
        if (rest && is_container(&iter)) {
            bson_t inside;
            box_inside(&iter, &inside);
            return each_at(&inside, BSON_ITER_HOLDS_ARRAY(&iter), rest, take, context, any);
        }
        if (!rest) {
            *any = true;
            return take(context, &iter);
        }
    }
    return false;
}

static bool keep_it(const void *context, const bson_iter_t *value) {
    **(bson_iter_t *const *)context = *value;
    return true;
}

bool box_at(const bson_t *document, const char *path, bson_iter_t *value) {
    bool any = false;
    return each_at(document, false, path, keep_it, &value, &any);
}

/* ---- conditions ---- */

static bool condition(const bson_t *document, const char *path, const char *name, const bson_iter_t *operand);

typedef struct {
    const char *name; /* "$lt" */
    const bson_iter_t *operand;
} test_t;

static bool in_list(const bson_iter_t *value, const bson_iter_t *list) {
    bson_t inside;
    box_inside(list, &inside);
    bson_iter_t each;
    for (bson_iter_init(&each, &inside); bson_iter_next(&each);)
        if (box_compare(value, &each) == 0)
            return true;
    return false;
}

static bool is_nan(const bson_iter_t *value) {
    return BSON_ITER_HOLDS_DOUBLE(value) && isnan(bson_iter_double(value));
}

static bool holds(const test_t *test, const bson_iter_t *value) {
    if (strcmp(test->name, "$in") == 0)
        return in_list(value, test->operand);
    if (rank(value) != rank(test->operand) || is_nan(value) != is_nan(test->operand))
        return false; /* a range is of one type, and what is no number is in none */
    const int order = box_compare(value, test->operand);
    return strcmp(test->name, "$eq") == 0    ? order == 0
           : strcmp(test->name, "$lt") == 0  ? order < 0
           : strcmp(test->name, "$lte") == 0 ? order <= 0
           : strcmp(test->name, "$gt") == 0  ? order > 0
                                             : order >= 0;
}

/* Null is also what is not there. */
static bool takes_null(const test_t *test) {
    bson_t null = BSON_INITIALIZER;
    bson_iter_t value;
    BSON_APPEND_NULL(&null, "");
    return (strcmp(test->name, "$eq") == 0 || strcmp(test->name, "$in") == 0) &&
           bson_iter_init_find(&value, &null, "") && holds(test, &value);
}

/* The value, or one of its elements. */
static bool value_holds(const void *context, const bson_iter_t *value) {
    const test_t *test = context;
    if (holds(test, value))
        return true;
    bson_iter_t each;
    if (BSON_ITER_HOLDS_ARRAY(value) && bson_iter_recurse(value, &each))
        while (bson_iter_next(&each))
            if (holds(test, &each))
                return true;
    return false;
}

static bool has_size(const void *context, const bson_iter_t *value) {
    bson_t inside;
    if (!BSON_ITER_HOLDS_ARRAY(value))
        return false;
    box_inside(value, &inside);
    return bson_count_keys(&inside) == bson_iter_as_int64(context);
}

static bool element_matches(const void *context, const bson_iter_t *value) {
    bson_t filter;
    box_inside(context, &filter);
    bson_iter_t each;
    if (!BSON_ITER_HOLDS_ARRAY(value) || !bson_iter_recurse(value, &each))
        return false;
    while (bson_iter_next(&each)) {
        bson_t inside;
        if (!BSON_ITER_HOLDS_DOCUMENT(&each))
            continue;
        box_inside(&each, &inside);
        if (box_matches(&inside, &filter))
            return true;
    }
    return false;
}

static bool exists(const void *context, const bson_iter_t *value) {
    (void)context, (void)value;
    return true;
}

static bool is_long(const void *context, const bson_iter_t *value) {
    const bson_iter_t *type = context;
    if (!BSON_ITER_HOLDS_UTF8(type) || strcmp(bson_iter_utf8(type, NULL), "long") != 0)
        box_die("of the types only \"long\" is known here");
    return BSON_ITER_HOLDS_INT64(value);
}

/* {path: {$a: ..., $b: ...}} */
static bool all_conditions(const bson_t *document, const char *path, const bson_iter_t *operators) {
    bson_iter_t each;
    bson_iter_recurse(operators, &each);
    while (bson_iter_next(&each))
        if (!condition(document, path, bson_iter_key(&each), &each))
            return false;
    return true;
}

static bool condition(const bson_t *document, const char *path, const char *name,
                      const bson_iter_t *operand) {
    static const char *const tests[] = {"$eq", "$lt", "$lte", "$gt", "$gte", "$in"};
    const test_t test = {name, operand};
    bool any = false;
    if (strcmp(name, "$not") == 0)
        return !all_conditions(document, path, operand);
    if (strcmp(name, "$ne") == 0)
        return !condition(document, path, "$eq", operand);
    if (strcmp(name, "$exists") == 0)
        return each_at(document, false, path, exists, NULL, &any) == bson_iter_as_bool(operand);
    if (strcmp(name, "$size") == 0)
        return each_at(document, false, path, has_size, operand, &any);
    if (strcmp(name, "$type") == 0)
        return each_at(document, false, path, is_long, operand, &any);
    if (strcmp(name, "$elemMatch") == 0)
        return each_at(document, false, path, element_matches, operand, &any);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strcmp(name, tests[i]) == 0)
            return each_at(document, false, path, value_holds, &test, &any) || (!any && takes_null(&test));
    box_die("the condition %s is not known here", name);
}

/* Is there one of the filters that matches, or does not? */
static bool any_of(const bson_t *document, const bson_iter_t *list, bool matches) {
    bson_iter_t each;
    bson_iter_recurse(list, &each);
    while (bson_iter_next(&each)) {
        bson_t filter;
        box_inside(&each, &filter);
        if (box_matches(document, &filter) == matches)
            return true;
    }
    return false;
}

static bool is_true(const bson_t *document, const bson_iter_t *expression) {
    bson_t value;
    bson_iter_t iter;
    box_evaluate(expression, document, &value);
    const bool is = bson_iter_init_find(&iter, &value, "") && bson_iter_as_bool(&iter);
    bson_destroy(&value);
    return is;
}

bool box_has_operators(const bson_iter_t *iter) {
    bson_iter_t first;
    return BSON_ITER_HOLDS_DOCUMENT(iter) && bson_iter_recurse(iter, &first) && bson_iter_next(&first) &&
           bson_iter_key(&first)[0] == '$';
}

bool box_matches(const bson_t *document, const bson_t *filter) {
    bson_iter_t each;
    bool all = true;
    for (bson_iter_init(&each, filter); all && bson_iter_next(&each);) {
        const char *key = bson_iter_key(&each);
        if (strcmp(key, "$or") == 0)
            all = any_of(document, &each, true);
        else if (strcmp(key, "$and") == 0)
            all = !any_of(document, &each, false);
        else if (strcmp(key, "$expr") == 0)
            all = is_true(document, &each);
        else if (key[0] == '$')
            box_die("%s is not known here", key);
        else if (box_has_operators(&each))
            all = all_conditions(document, key, &each);
        else
            all = condition(document, key, "$eq", &each);
    }
    return all;
}
