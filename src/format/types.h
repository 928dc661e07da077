/* types: the values of fields, from their texts to BSON and back.
 *
 * A type is a row of `value_types`: the BSON types of its values, its flags, how many bytes a value takes at most, the function
 * that reads a text, and the function that prints a value. Whoever adds a type adds its word to schema_types and its row to value_types
 * (types.c), its name to field_type_t (schema.h), and what JSON may make of it to take_source (json.c). Readers, writers
 * and bounds follow the rows.
 *
 * Invariants:
 * - A text becomes a value only if the value keeps everything that the text says: all digits of a number, every part of a
 *   date. value_read refuses any other text, and its caller decides what takes the value's place.
 * - value_print writes a text that value_read reads as the same value. A field with several patterns or words uses the
 *   first one that can show the value.
 * - value_read writes no more than its row says; like all writers (bsonw) it may store up to 32 bytes after the end
 *   that it returns, and it may read up to 8 bytes after the text.
 * - Delimited records have inline code for plain whole numbers, numbers, dates and texts. It gives the same values.
 *
 * Everything here may be called by any thread, except that a values_t belongs to one thread. */
#ifndef TIPPLE_FORMAT_TYPES_H
#define TIPPLE_FORMAT_TYPES_H

#include "base/text.h"
#include "format/schema/schema.h"
#include "format/values/values.h"

#include <bson/bson.h>

/* The memory in which a thread reads values of the type json. */
typedef struct json_value values_t;

values_t *values_new(void); /* NULL: out of memory */
void values_free(values_t *values);

/* True if memory has run out since values_new: a text that value_read refused may be a value. */
bool values_failed(const values_t *values);

/* ---- the rows ---- */

/* A text that is to be read, and what is said of it. */
typedef struct {
    const field_t *field;
    const uint8_t *text;
    size_t length;
    encoding_t encoding; /* of a text that is not UTF-8 */
    values_t *values;    /* may be NULL if the field has another type than json */

    /* of dates; both begin as 0: */
    zone_times_t times; /* how often the clocks of the format's zone showed it */
    uint8_t choice;     /* which of the field's patterns it has */
} value_text_t;

enum {
    VALUE_NUMBER = 1,  /* has decimal marks, and `exact` */
    VALUE_ORDERED = 2, /* --filter compares it */
    VALUE_FORMED = 4,  /* few texts are such values; the names of columns are none */
};

typedef struct {
    uint8_t bson[2]; /* the BSON types of its values; 0: none, or any */
    uint8_t flags;   /* VALUE_... */
    size_t bytes,
        times; /* of a value without its key: at most this many, and `times` for each byte of a text */
    uint8_t *(*read)(value_text_t *from, uint8_t *type, uint8_t *out);
    /* of values that are no texts: those are printed as they are */
    bool (*print)(const field_t *field, const bson_iter_t *at, text_t *text);
} value_type_t;

extern const value_type_t value_types[];

/* ---- values ---- */

/* Room for a value of fixed size: of any type but texts, binary data and JSON. */
enum { TYPES_VALUE = 64 };

/* Reads the text of a field. Writes its value at `out` and the value's BSON type at `type`, and returns the end; NULL: the
 * text is no such value. Null values are the caller's: their texts are not looked up here. */
uint8_t *value_read(value_text_t *from, uint8_t *type, uint8_t *out);

/* True if the text would be a date, except for the clocks of the format's zone, which went forward over it. */
bool value_is_skipped(const field_t *field, const uint8_t *text, size_t length);

/* Appends the text of a document's value, including a text that is stored in place of a value. False: it is a value that the
 * field never has, or that has no text. */
bool value_print(const field_t *field, const bson_iter_t *at, text_t *text);

/* Bytes that are no text are stored as binary data of this subtype where the field itself has binary data, otherwise of the
 * generic subtype. value_print refuses both. */
enum { VALUE_NO_BINARY = BSON_SUBTYPE_USER };

/* The order of two values: -1, 0, 1, or VALUE_NO_ORDER if they cannot be compared. Numbers of all types are compared with
 * each other except decimals, and exactly: by all digits. */
enum { VALUE_NO_ORDER = 2 };
int value_order(const bson_iter_t *a, const bson_iter_t *b);

/* The sentence about a text that is no value of the field's type. */
enum { VALUE_MISFIT = 320 };
void value_misfit(const field_t *field, const uint8_t *text, size_t length, char sentence[VALUE_MISFIT]);

/* ---- bsonw ----
 *
 * Writes BSON into a buffer that must be large enough. Every function may store up to 32 bytes after the end
 * that it returns. Little-endian, like BSON itself. */

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
