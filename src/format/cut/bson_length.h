/* bson_length: how many bytes a BSON document says it has, in its first four (int32, little endian). */
#ifndef TIPPLE_FORMAT_CUT_BSON_LENGTH_H
#define TIPPLE_FORMAT_CUT_BSON_LENGTH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BSON_LENGTH_LEAST = 5,
    BSON_LENGTH_MOST = (16 << 20) + (16 << 10), /* what a server sends and stores for itself */
};

static inline uint32_t bson_length(const uint8_t *text) {
    return text[0] | (uint32_t)text[1] << 8 | (uint32_t)text[2] << 16 | (uint32_t)text[3] << 24;
}

/* True if this is a valid size of a document. */
static inline bool bson_length_may_be(uint32_t length) {
    return length >= BSON_LENGTH_LEAST && length <= BSON_LENGTH_MOST;
}

#endif
