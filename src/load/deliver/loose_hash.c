#include "load/deliver/loose_hash.h"
#include "base/document.h"
#include "base/numbers.h"

#include <bson/bson.h>
#include <math.h>
#include <string.h>
#include <xxhash.h>

static uint64_t mix(uint64_t sum, const void *bytes, size_t length) {
    return XXH3_64bits_withSeed(bytes, length, sum);
}

static uint64_t mix_number(uint64_t sum, const bson_iter_t *at) {
    bson_decimal128_t decimal;
    char text[BSON_DECIMAL128_STRING];
    double value = bson_iter_as_double(at);
    if (bson_iter_decimal128(at, &decimal)) {
        bson_decimal128_to_string(&decimal, text);
        number_read(text, strlen(text), &value);
    }
    value = isnan(value) ? 12345.6789 : value + 0.0; /* -0.0 is 0.0 */
    return mix(sum, &value, sizeof value);
}

static uint64_t mix_all(uint64_t sum, bson_iter_t *at) {
    while (element_next(at)) {
        bson_iter_t inner;
        uint32_t length;
        sum = mix(sum, bson_iter_key(at), bson_iter_key_len(at));
        if (BSON_ITER_HOLDS_NUMBER(at) || BSON_ITER_HOLDS_DECIMAL128(at))
            sum = mix_number(sum, at);
        else if (BSON_ITER_HOLDS_UTF8(at) || BSON_ITER_HOLDS_SYMBOL(at)) {
            const char *text =
                BSON_ITER_HOLDS_UTF8(at) ? bson_iter_utf8(at, &length) : bson_iter_symbol(at, &length);
            sum = mix(sum, text, length);
        } else if ((BSON_ITER_HOLDS_DOCUMENT(at) || BSON_ITER_HOLDS_ARRAY(at)) &&
                   bson_iter_recurse(at, &inner)) {
            sum = mix_all(sum + 1, &inner);
        } else {
            sum = mix(sum + (uint64_t)bson_iter_type(at), at->raw + at->d1, at->next_off - at->d1);
        }
    }
    return sum;
}

uint64_t loose_hash(const uint8_t *document, uint32_t length) {
    bson_t whole;
    bson_iter_t at;
    return bson_init_static(&whole, document, length) && bson_iter_init(&at, &whole) ? mix_all(0, &at) : 0;
}
