/* The order of values and the hashes of values as a server has them, and the shard key of a document. chunks.h has the
 * contract. Pure. */
#include "base/document.h"
#include "base/text.h"
#include "server/chunks.h"

#include <float.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

/* ---- the order of values ---- */

/* The server's number for a type, which is its place in the order, and is hashed with a value. 0: what a server makes of such values
 * is its own affair, as it is of decimals, code or regular expressions. */
static int rank_of(bson_type_t type) {
    static const int8_t ranks[] = {
        [BSON_TYPE_NULL] = 5,   [BSON_TYPE_DOUBLE] = 10,    [BSON_TYPE_INT32] = 10,
        [BSON_TYPE_INT64] = 10, [BSON_TYPE_UTF8] = 15,      [BSON_TYPE_DOCUMENT] = 20,
        [BSON_TYPE_ARRAY] = 25, [BSON_TYPE_BINARY] = 30,    [BSON_TYPE_OID] = 35,
        [BSON_TYPE_BOOL] = 40,  [BSON_TYPE_DATE_TIME] = 45, [BSON_TYPE_MAXKEY] = 127,
    };
    return type == BSON_TYPE_MINKEY ? -1 : (size_t)type < COUNT(ranks) ? ranks[type] : 0;
}

/* Servers allow no more levels. If one sends more, it must not use up the stack. */
enum { DEEPEST = 200 };

/* A server orders old binary data by the length that has the inner one in it; libbson gives it without. */
static bool is_old_binary(const bson_iter_t *at) {
    return BSON_ITER_HOLDS_BINARY(at) && at->raw[at->d2] == BSON_SUBTYPE_BINARY_DEPRECATED;
}

static bool is_clear_inside(bson_iter_t *at, int depth) {
    bson_iter_t inner;
    while (element_next(at)) {
        bool has_inner = BSON_ITER_HOLDS_DOCUMENT(at) || BSON_ITER_HOLDS_ARRAY(at);
        if (!rank_of(bson_iter_type(at)) || is_old_binary(at) ||
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

static long double number_of(const bson_value_t *value) {
    _Static_assert(LDBL_MANT_DIG >= 64, "a long double is every whole number of 64 bits, and every double");
    return value->value_type == BSON_TYPE_DOUBLE  ? (long double)value->value.v_double
           : value->value_type == BSON_TYPE_INT32 ? (long double)value->value.v_int32
                                                  : (long double)value->value.v_int64;
}

static int order_numbers(const bson_value_t *a, const bson_value_t *b) {
    const long double x = number_of(a), y = number_of(b);
    if (isnan(x) || isnan(y))
        return (isnan(y) != 0) - (isnan(x) != 0);
    return x < y ? -1 : x > y;
}

/* Compares value by value; names: by the keys of values of one type, before their values. If one document ends first and they agree so
 * far, it is smaller. */
static int order_elements(const bson_t *a, const bson_t *b, bool names) {
    bson_iter_t at_a, at_b;
    if (!bson_iter_init(&at_a, a) || !bson_iter_init(&at_b, b))
        return 0;
    for (;;) {
        const bool more_a = bson_iter_next(&at_a), more_b = bson_iter_next(&at_b);
        if (!more_a || !more_b)
            return (int)more_a - (int)more_b;
        int first = rank_of(bson_iter_type(&at_a)) - rank_of(bson_iter_type(&at_b));
        if (!first && names)
            first = strcmp(bson_iter_key(&at_a), bson_iter_key(&at_b));
        if (!first)
            first = keyorder_values(bson_iter_value(&at_a), bson_iter_value(&at_b));
        if (first)
            return first;
    }
}

static int order_inner(const bson_value_t *a, const bson_value_t *b) {
    bson_t inner_a, inner_b;
    return bson_init_static(&inner_a, a->value.v_doc.data, a->value.v_doc.data_len) &&
                   bson_init_static(&inner_b, b->value.v_doc.data, b->value.v_doc.data_len)
               ? order_elements(&inner_a, &inner_b, a->value_type == BSON_TYPE_DOCUMENT)
               : 0;
}

int keyorder_values(const bson_value_t *a, const bson_value_t *b) {
    int by_rank = rank_of(a->value_type) - rank_of(b->value_type);
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
    return order_elements(a, b, false);
}

/* ---- hashes ---- */

enum { REMEMBERED = 64, DIGEST = 16 };

struct hashed {
    EVP_MD_CTX *context;
    EVP_MD *md5;
    uint8_t last[REMEMBERED]; /* the last short element: type, key and value */
    size_t last_length;       /* 0: none */
    int64_t last_hash;
};

hashed_t *hashed_new(void) {
    hashed_t *hashed = calloc(1, sizeof *hashed);
    if (!hashed)
        return NULL;
    hashed->context = EVP_MD_CTX_new();
    hashed->md5 = EVP_MD_fetch(NULL, "MD5", NULL);
    if (hashed->context && hashed->md5)
        return hashed;
    hashed_destroy(hashed);
    return NULL;
}

void hashed_destroy(hashed_t *hashed) {
    if (!hashed)
        return;
    EVP_MD_CTX_free(hashed->context);
    EVP_MD_free(hashed->md5);
    free(hashed);
}

static void add_int32(hashed_t *hashed, int32_t value) {
    uint32_t bytes = BSON_UINT32_TO_LE((uint32_t)value);
    EVP_DigestUpdate(hashed->context, &bytes, sizeof bytes);
}

static int64_t hashed_whole(const bson_iter_t *value) {
    if (!BSON_ITER_HOLDS_DOUBLE(value))
        return bson_iter_as_int64(value);
    double number = bson_iter_double(value);
    if (isnan(number))
        return 0;
    if (number == 0x1p63)
        /* a mistake of the server's own, which it must keep because stored hashes depend on it */
        return INT64_MIN;
    return number > 0x1p63 ? INT64_MAX : number < -0x1p63 ? INT64_MIN : (int64_t)number;
}

static bool add_value(hashed_t *hashed, const bson_iter_t *value, bool with_key);

static bool add_inner(hashed_t *hashed, const bson_iter_t *value) {
    bson_iter_t inner;
    if (!bson_iter_recurse(value, &inner))
        return false;
    while (element_next(&inner))
        if (!add_value(hashed, &inner, true))
            return false;
    add_int32(hashed, 0); /* the end of a document is hashed as an element of type 0 */
    return !inner.err_off;
}

static bool add_value(hashed_t *hashed, const bson_iter_t *value, bool with_key) {
    bson_type_t type = bson_iter_type(value);
    if (!rank_of(type))
        return false;
    add_int32(hashed, rank_of(type));
    if (with_key)
        EVP_DigestUpdate(hashed->context, bson_iter_key(value), bson_iter_key_len(value) + 1u);
    if (type == BSON_TYPE_DOCUMENT || type == BSON_TYPE_ARRAY)
        return add_inner(hashed, value);
    if (BSON_ITER_HOLDS_NUMBER(value)) {
        uint64_t whole = BSON_UINT64_TO_LE((uint64_t)hashed_whole(value));
        return EVP_DigestUpdate(hashed->context, &whole, sizeof whole);
    }
    /* the bytes between the key and the next element */
    const uint8_t *bytes = value->raw + value->d1;
    return EVP_DigestUpdate(hashed->context, bytes, value->next_off - value->d1);
}

bool hashed_value(hashed_t *hashed, const bson_iter_t *value, int64_t *hash) {
    const uint8_t *element = value->raw + value->off;
    const size_t length = value->next_off - value->off;
    uint8_t digest[DIGEST];
    uint64_t first;
    if (length == hashed->last_length && memcmp(element, hashed->last, length) == 0) {
        *hash = hashed->last_hash;
        return true;
    }
    if (BSON_ITER_HOLDS_ARRAY(value) || !EVP_DigestInit_ex2(hashed->context, hashed->md5, NULL))
        return false;
    add_int32(hashed, 0); /* the seed */
    if (!add_value(hashed, value, false) || !EVP_DigestFinal_ex(hashed->context, digest, NULL))
        return false;
    memcpy(&first, digest, sizeof first);
    *hash = hashed->last_hash = (int64_t)BSON_UINT64_FROM_LE(first);
    hashed->last_length = length <= REMEMBERED ? length : 0;
    memcpy(hashed->last, element, hashed->last_length);
    return true;
}

/* ---- shard keys ---- */

bool shardkey_read(const bson_t *spec, shardkey_t *key) {
    bson_iter_t at;
    size_t hashed = 0;
    *key = (shardkey_t){.count = 0};
    bson_copy_to(spec, &key->spec);
    for (bool more = bson_iter_init(&at, &key->spec);
         more && key->count < SHARDKEY_MOST_FIELDS && bson_iter_next(&at); key->count++) {
        key->fields[key->count].path = bson_iter_key(&at);
        key->fields[key->count].hashed = BSON_ITER_HOLDS_UTF8(&at);
        hashed += key->fields[key->count].hashed;
    }
    key->id_first = key->count && strcmp(key->fields[0].path, "_id") == 0 && !key->fields[0].hashed;
    key->is_id = key->id_first && key->count == 1;
    if (key->count && hashed <= 1 && bson_count_keys(spec) == key->count)
        return true;
    shardkey_free(key);
    return false;
}

bson_t *shardkey_from(const shardkey_t *key, int64_t first) {
    bson_t *from = bson_new();
    bson_append_int64(from, key->fields[0].path, -1, first);
    for (size_t i = 1; i < key->count; i++)
        bson_append_minkey(from, key->fields[i].path, -1);
    return from;
}

bool key_append(bson_t *keys, const char *part, const char *const *kinds, bool bare) {
    const char *colon = strrchr(part, ':'), *kind = colon ? colon + 1 : bare ? kinds[0] : "";
    const size_t length = colon ? (size_t)(colon - part) : strlen(part);
    bson_iter_t at;
    while (*kinds && strcmp(kind, *kinds) != 0)
        kinds++;
    if (!*kinds || !length || *part == '$' || *part == '.' || part[length - 1] == '.' || strstr(part, "..") ||
        bson_iter_init_find_w_len(&at, keys, part, (int)length))
        return false;
    return strcmp(kind, "1") == 0    ? bson_append_int32(keys, part, (int)length, 1)
           : strcmp(kind, "-1") == 0 ? bson_append_int32(keys, part, (int)length, -1)
                                     : bson_append_utf8(keys, part, (int)length, kind, -1);
}

bool shardkey_parse(const char *text, shardkey_t *key, err_t *err) {
    static const char *const kinds[] = {"1", "hashed", NULL};
    bson_t spec = BSON_INITIALIZER;
    char *copy = strdup(text), *rest = copy;
    bool ok = true;
    if (!copy)
        return err_memory(err, strlen(text));
    while (ok && rest)
        ok = !strchr(rest, '$') && key_append(&spec, strsep(&rest, ","), kinds, true);
    ok = ok && shardkey_read(&spec, key);
    free(copy);
    bson_destroy(&spec);
    return ok ||
           err_set(err, STATUS_USAGE,
                   "--shard-key '%s': 1 to %d ascending fields, one of which may be hashed, were expected, "
                   "such as _id, st:hashed or st:1,ts:1",
                   text, SHARDKEY_MOST_FIELDS);
}

void shardkey_free(shardkey_t *key) {
    bson_destroy(&key->spec);
    bson_init(&key->spec);
    key->count = 0;
}

/* Follows a dotted path; a value that is not there is null. False: there is an array on the way, or at its end, which cannot be part of a
 * shard key, or bytes that are no element, and the field may come after them. */
static bool find(const bson_t *document, const char *path, bson_iter_t *at) {
    static const uint8_t null[] = {7, 0, 0, 0, BSON_TYPE_NULL, 0, 0};
    bson_iter_t inner;
    if (!bson_iter_init(at, document))
        return false;
    for (size_t length;; path += length + 1) {
        length = strcspn(path, ".");
        const bool there = element_find(at, path, length);
        if (there ? BSON_ITER_HOLDS_ARRAY(at) : at->err_off)
            return false;
        if (there && !path[length])
            return true;
        if (!there || !BSON_ITER_HOLDS_DOCUMENT(at))
            return bson_iter_init_from_data(at, null, sizeof null) && bson_iter_next(at);
        if (!bson_iter_recurse(at, &inner))
            return false;
        *at = inner;
    }
}

/* The types of nearly all keys: their order needs no further check. */
static bool is_plain(bson_type_t type) {
    return type == BSON_TYPE_UTF8 || type == BSON_TYPE_INT32 || type == BSON_TYPE_INT64 ||
           type == BSON_TYPE_DOUBLE || type == BSON_TYPE_DATE_TIME || type == BSON_TYPE_NULL;
}

bool shardkey_of(const shardkey_t *key, hashed_t *hashed, const uint8_t *document, uint32_t length,
                 bson_t *values) {
    bson_t whole;
    bool clear = true;
    bson_reinit(values);
    if (!bson_init_static(&whole, document, length))
        return false;
    for (size_t i = 0; i < key->count; i++) {
        const char *path = key->fields[i].path;
        bson_iter_t at;
        int64_t hash;
        if (!find(&whole, path, &at) || (key->fields[i].hashed && !hashed_value(hashed, &at, &hash)))
            return false;
        if (key->fields[i].hashed) {
            bson_append_int64(values, path, -1, hash);
        } else {
            element_append(values, path, &at);
            clear &= is_plain(bson_iter_type(&at));
        }
    }
    return clear || keyorder_is_clear(values);
}

bson_t *shardkey_end(const shardkey_t *key, bool greatest) {
    bson_t *end = bson_new();
    for (size_t i = 0; i < key->count; i++)
        (greatest ? bson_append_maxkey : bson_append_minkey)(end, key->fields[i].path, -1);
    return end;
}
