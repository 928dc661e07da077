/* types: the values of fields, from their texts to BSON and back.
 *
 * A type is a row of `value_types`: the BSON types of its values, how many bytes a value takes at most, the function that reads
 * a text, and the function that prints a value. Whoever adds a type adds its word to schema_types and its row to value_types
 * (types.c), its name to field_type_t (schema.h), and what JSON may make of it to take_source (json_fields.c). Readers, writers
 * and bounds follow the rows.
 *
 * Invariants:
 * - A text becomes a value only if the value keeps everything that the text says: all digits of a number, every part of a
 *   date. value_read refuses any other text, and its caller decides what takes the value's place.
 * - value_print writes a text that value_read reads as the same value. A field with several patterns or words uses the
 *   first one that can show the value.
 * - value_read writes no more than its row says; like all writers (bsonw.h) it may store up to 32 bytes after the end
 *   that it returns, and it may read up to 8 bytes after the text.
 * - Delimited records have inline code for plain whole numbers, numbers, dates and texts. It gives the same values.
 *
 * Everything here may be called by any thread, except that a values_t belongs to one thread. */
#ifndef TIPPLE_FORMAT_TYPES_H
#define TIPPLE_FORMAT_TYPES_H

#include "base/text.h"
#include "format/schema/schema.h"

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

typedef struct {
    uint8_t bson[2]; /* the BSON types of its values; 0: none, or any */
    bool number;     /* has decimal marks, and `exact` */
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

#endif
