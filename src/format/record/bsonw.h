/* bsonw: writes BSON into a buffer that must be large enough. Every function may store up to 32 bytes after the end
 * that it returns. Little-endian, like BSON itself. */
#ifndef TIPPLE_FORMAT_RECORD_BSONW_H
#define TIPPLE_FORMAT_RECORD_BSONW_H

#include "format/values/convert.h"

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

enum { BSONW_ID = 13 }; /* bytes of the element that bsonw_id writes */

/* Writes the element `_id`, which is a record's place. */
static inline uint8_t *bsonw_id(uint8_t *out, int64_t id) {
    memcpy(out, "\x12_id", 5);
    return bsonw_int64(out + 5, id);
}

/* Writes the key of an array's element. */
static inline uint8_t *bsonw_index(uint8_t *out, uint32_t index) {
    if (__builtin_expect(index < 10, 1))
        *out++ = (uint8_t)('0' + index);
    else
        out += convert_print_int(index, out);
    *out++ = 0;
    return out;
}

/* Copies 16 bytes, as one value: clang would make one call of two copies in branches, if one of them has a variable length. */
static inline void bsonw_16_bytes(uint8_t *out, const uint8_t *from) {
    uint64_t bytes __attribute__((vector_size(16)));
    memcpy(&bytes, from, sizeof bytes);
    memcpy(out, &bytes, sizeof bytes);
}

/* Writes the value of a string; up to 16 bytes after the text may be read. */
static inline uint8_t *bsonw_string(uint8_t *out, const uint8_t *text, size_t length) {
    out = bsonw_int32(out, (int32_t)length + 1);
    if (__builtin_expect(length <= 16, 1))
        bsonw_16_bytes(out, text);
    else
        memcpy(out, text, length);
    out += length;
    *out = 0;
    return out + 1;
}

/* The same, without reading more. */
static inline uint8_t *bsonw_text(uint8_t *out, const uint8_t *text, size_t length) {
    out = bsonw_int32(out, (int32_t)length + 1);
    memcpy(out, text, length);
    out[length] = 0;
    return out + length + 1;
}

static inline uint8_t *bsonw_binary(uint8_t *out, const uint8_t *bytes, size_t length) {
    out = bsonw_int32(out, (int32_t)length);
    *out++ = 0; /* generic */
    memcpy(out, bytes, length);
    return out + length;
}

static inline uint8_t *bsonw_double(uint8_t *out, double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bsonw_int64(out, (int64_t)bits);
}

/* Does a 2dsphere index accept it? False for what is not a number. */
static inline bool bsonw_is_on_earth(double latitude, double longitude) {
    return latitude >= -90 && latitude <= 90 && longitude >= -180 && longitude <= 180;
}

/* Writes the value of a GeoJSON point: 61 bytes. */
static inline uint8_t *bsonw_point(uint8_t *out, double latitude, double longitude) {
    /* the zeros are its length, the dots are the two coordinates */
    static const uint8_t shape[] = "\x3D\0\0\0\x02type\0\x06\0\0\0Point\0\x04"
                                   "coordinates\0\x1B\0\0\0\x01\x30\0........\x01\x31\0........\0";
    enum { LONGITUDE = 40, LATITUDE = 51 };
    memcpy(out, shape, sizeof shape);
    bsonw_double(out + LONGITUDE, longitude);
    bsonw_double(out + LATITUDE, latitude);
    return out + sizeof shape;
}

#endif
