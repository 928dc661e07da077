/* bsonw: the record path's BSON writer: bytes into a buffer that is known to be large enough. Every writer
 * may store up to 32 bytes behind what it returns. Little-endian, like BSON itself. */
#ifndef TIPPLE_FORMAT_BSONW_H
#define TIPPLE_FORMAT_BSONW_H

#include "format/plan.h"

#include <bson/bson.h>

static inline uint8_t *bsonw_int32(uint8_t *out, int32_t value) {
    value = (int32_t)BSON_UINT32_TO_LE((uint32_t)value);
    memcpy(out, &value, 4);
    return out + 4;
}

static inline uint8_t *bsonw_int64(uint8_t *out, int64_t value) {
    value = (int64_t)BSON_UINT64_TO_LE((uint64_t)value);
    memcpy(out, &value, 8);
    return out + 8;
}

/* short_head: the caller knows that it is. */
static inline uint8_t *bsonw_head(uint8_t *out, const op_t *op, bool short_head) {
    if (!short_head && __builtin_expect(op->head_size > PLAN_HEAD, 0))
        memcpy(out, op->long_head, op->head_size);
    else
        memcpy(out, op->head, PLAN_HEAD);
    return out + op->head_size;
}

/* The same field with another type than planned. */
static inline uint8_t *bsonw_head_as(uint8_t *out, const op_t *op, uint8_t type) {
    uint8_t *behind = bsonw_head(out, op, false);
    *out = type;
    return behind;
}

/* The value of a string; the text may be loaded 16 bytes beyond its end. */
static inline uint8_t *bsonw_string(uint8_t *out, const uint8_t *text, size_t length) {
    out = bsonw_int32(out, (int32_t)length + 1);
    if (__builtin_expect(length <= 16, 1))
        memcpy(out, text, 16);
    else
        memcpy(out, text, length);
    out += length;
    *out = 0;
    return out + 1;
}

#endif
