#include "report/reading.h"
#include "server/bson_read.h"

#include <math.h>

static const bson_t nothing = BSON_INITIALIZER;

const char *reading_text(const bson_t *document, const char *name) {
    return bson_read_text(document, name);
}

double reading_value(const bson_iter_t *at) {
    return BSON_ITER_HOLDS_NUMBER(at) && isfinite(bson_iter_as_double(at)) ? bson_iter_as_double(at) : NAN;
}

double reading_number(const bson_t *document, const char *name) {
    bson_iter_t at;
    return bson_iter_init_find(&at, document, name) ? reading_value(&at) : NAN;
}

bool reading_has(const bson_t *document, const char *name) {
    bson_iter_t at;
    return bson_iter_init_find(&at, document, name);
}

static bool take_inner(const bson_iter_t *at, bson_t *inner) {
    const uint8_t *bytes;
    uint32_t length;
    if (BSON_ITER_HOLDS_DOCUMENT(at))
        bson_iter_document(at, &length, &bytes);
    else if (BSON_ITER_HOLDS_ARRAY(at))
        bson_iter_array(at, &length, &bytes);
    else
        return false;
    return bson_init_static(inner, bytes, length);
}

void reading_inner(const bson_t *document, const char *name, bson_t *inner) {
    bson_iter_t at;
    if (!bson_iter_init_find(&at, document, name) || !take_inner(&at, inner))
        bson_init_static(inner, bson_get_data(&nothing), nothing.len);
}

void reading_begin(bson_iter_t *at, const bson_t *list) {
    bson_iter_init(at, list);
}

bool reading_next(bson_iter_t *at, bson_t *item) {
    while (bson_iter_next(at))
        if (take_inner(at, item))
            return true;
    return false;
}

size_t reading_count(const bson_t *list) {
    return bson_count_keys(list);
}
