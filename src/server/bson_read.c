#include "server/bson_read.h"
#include "base/document.h"

#include <math.h>
#include <string.h>

bool bson_read_document(const bson_iter_t *at, bson_t *document) {
    uint32_t length;
    const uint8_t *bytes;
    if (!BSON_ITER_HOLDS_DOCUMENT(at))
        return false;
    bson_iter_document(at, &length, &bytes);
    return bson_init_static(document, bytes, length);
}

bool bson_read_field(const bson_t *document, const char *key, bson_t *inner) {
    bson_iter_t at;
    return bson_iter_init_find(&at, document, key) && bson_read_document(&at, inner);
}

bool bson_read_true(const bson_t *document, const char *key) {
    bson_iter_t at;
    return bson_iter_init_find(&at, document, key) && bson_iter_as_bool(&at);
}

bool bson_read_at(const bson_t *document, const char *path, bson_iter_t *at) {
    bson_iter_t top;
    return bson_iter_init(&top, document) && bson_iter_find_descendant(&top, path, at);
}

double bson_read_number(const bson_t *document, const char *path) {
    bson_iter_t at;
    if (!bson_read_at(document, path, &at))
        return NAN;
    return BSON_ITER_HOLDS_NUMBER(&at) || BSON_ITER_HOLDS_BOOL(&at) ? bson_iter_as_double(&at)
           : BSON_ITER_HOLDS_DATE_TIME(&at)                         ? (double)bson_iter_date_time(&at)
                                                                    : NAN;
}

const char *bson_read_text(const bson_t *document, const char *path) {
    bson_iter_t at;
    return bson_read_at(document, path, &at) && BSON_ITER_HOLDS_UTF8(&at) ? bson_iter_utf8(&at, NULL) : "";
}

uint64_t bson_read_timestamp(const bson_t *document, const char *key) {
    bson_iter_t at;
    uint32_t seconds = 0, increment = 0;
    if (bson_iter_init_find(&at, document, key) && BSON_ITER_HOLDS_TIMESTAMP(&at))
        bson_iter_timestamp(&at, &seconds, &increment);
    return (uint64_t)seconds << 32 | increment;
}

const uint8_t *bson_read_uuid(const bson_t *document, const char *path) {
    bson_iter_t at;
    bson_subtype_t subtype;
    uint32_t length = 0;
    const uint8_t *bytes = NULL;
    if (bson_read_at(document, path, &at) && BSON_ITER_HOLDS_BINARY(&at))
        bson_iter_binary(&at, &subtype, &length, &bytes);
    return length == 16 ? bytes : NULL;
}

const bson_oid_t *bson_read_oid(const bson_t *document, const char *path) {
    bson_iter_t at;
    return bson_read_at(document, path, &at) && BSON_ITER_HOLDS_OID(&at) ? bson_iter_oid(&at) : NULL;
}

bool bson_read_list(const bson_t *document, const char *path, bson_iter_t *values) {
    bson_iter_t at;
    return bson_read_at(document, path, &at) && BSON_ITER_HOLDS_ARRAY(&at) && bson_iter_recurse(&at, values);
}

bool bson_read_batch(const bson_t *reply, bson_iter_t *documents) {
    return bson_read_list(reply, "cursor.firstBatch", documents);
}

bool bson_read_next(bson_iter_t *documents, bson_t *document) {
    return bson_iter_next(documents) && bson_read_document(documents, document);
}
