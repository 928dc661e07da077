#include "server/chunks/hashed.h"
#include "base/document.h"
#include "server/chunks/keyorder.h"

#include <math.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

enum { REMEMBERED = 64, DIGEST = 16 };

struct hashed {
    EVP_MD_CTX *context;
    EVP_MD *md5;
    uint8_t last[REMEMBERED]; /* the last short value: its type and bytes */
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

static int64_t whole_of(const bson_iter_t *value) {
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

/* The types whose hashes are known to be the server's: tests/live/keys_test.c asks one for each of them. How it makes a
 * whole number of a decimal, hashes the scope of code, or tells undefined from null, is its own affair. */
static bool is_known_type(bson_type_t type) {
    switch (type) {
    case BSON_TYPE_MINKEY:
    case BSON_TYPE_MAXKEY:
    case BSON_TYPE_NULL:
    case BSON_TYPE_BOOL:
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
    case BSON_TYPE_DOUBLE:
    case BSON_TYPE_DATE_TIME:
    case BSON_TYPE_TIMESTAMP:
    case BSON_TYPE_UTF8:
    case BSON_TYPE_SYMBOL:
    case BSON_TYPE_OID:
    case BSON_TYPE_BINARY:
    case BSON_TYPE_REGEX:
    case BSON_TYPE_CODE:
    case BSON_TYPE_DBPOINTER:
    case BSON_TYPE_DOCUMENT:
    case BSON_TYPE_ARRAY:
        return true;
    default:
        return false;
    }
}

static bool add_value(hashed_t *hashed, const bson_iter_t *value, bool with_key) {
    bson_type_t type = bson_iter_type(value);
    if (!is_known_type(type))
        return false;
    add_int32(hashed, keyorder_rank(type));
    if (with_key)
        EVP_DigestUpdate(hashed->context, bson_iter_key(value), bson_iter_key_len(value) + 1u);
    if (type == BSON_TYPE_DOCUMENT || type == BSON_TYPE_ARRAY)
        return add_inner(hashed, value);
    if (BSON_ITER_HOLDS_NUMBER(value)) {
        uint64_t whole = BSON_UINT64_TO_LE((uint64_t)whole_of(value));
        return EVP_DigestUpdate(hashed->context, &whole, sizeof whole);
    }
    /* the bytes between the key and the next element */
    const uint8_t *bytes = value->raw + value->d1;
    return EVP_DigestUpdate(hashed->context, bytes, value->next_off - value->d1);
}

static bool digest(hashed_t *hashed, const bson_iter_t *value, int64_t *hash) {
    uint8_t bytes[DIGEST];
    uint64_t first;
    if (!EVP_DigestInit_ex2(hashed->context, hashed->md5, NULL))
        return false;
    add_int32(hashed, 0); /* the seed */
    if (value && !add_value(hashed, value, false))
        return false;
    if (!value)
        add_int32(hashed, keyorder_rank(BSON_TYPE_NULL));
    if (!EVP_DigestFinal_ex(hashed->context, bytes, NULL))
        return false;
    memcpy(&first, bytes, sizeof first);
    *hash = (int64_t)BSON_UINT64_FROM_LE(first);
    return true;
}

bool hashed_value(hashed_t *hashed, const bson_iter_t *value, int64_t *hash) {
    if (!value)
        return digest(hashed, NULL, hash);
    if (BSON_ITER_HOLDS_ARRAY(value))
        return false;
    const uint8_t *bytes = value->raw + value->d1;
    size_t length = value->next_off - value->d1;
    uint8_t type = (uint8_t)bson_iter_type(value);
    if (length + 1 == hashed->last_length && hashed->last[0] == type &&
        memcmp(hashed->last + 1, bytes, length) == 0) {
        *hash = hashed->last_hash;
        return true;
    }
    if (!digest(hashed, value, hash))
        return false;
    hashed->last_length = length + 1 <= REMEMBERED ? length + 1 : 0;
    if (hashed->last_length) {
        hashed->last[0] = type;
        memcpy(hashed->last + 1, bytes, length);
        hashed->last_hash = *hash;
    }
    return true;
}
