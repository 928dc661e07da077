/* typed: values of a field's type from texts, and back; delimited records have a faster way for plain numbers and dates.
 * A text is converted only if the value keeps what it says; of a decimal, as of all numbers, its digits. */
#ifndef TIPPLE_FORMAT_RECORD_TYPED_H
#define TIPPLE_FORMAT_RECORD_TYPED_H

#include "format/schema/schema.h"
#include "format/values/pattern.h"

#include <bson/bson.h>

enum { TYPED_BYTES = 24, TYPED_PRINTED = 64 };

typedef struct {
    uint8_t bson_type;
    uint8_t size;
    uint8_t bytes[TYPED_BYTES];
} typed_t;

/* Is the type one of these four? */
bool typed_is_rare(field_type_t type);

/* Do delimited records have their values from here? */
bool typed_is(const field_t *field);

/* Of any type but dates and texts. False: the text is no such value.
 * encoding: of a text that is not UTF-8. Up to 8 bytes after the text are read. */
bool typed_read(const field_t *field, encoding_t encoding, const uint8_t *text, size_t length,
                typed_t *value);

/* The same, and dates by the field's compiled patterns; which of them it was is not told. */
bool typed_convert(const field_t *field, const pattern_t *patterns, encoding_t encoding, const uint8_t *text,
                   size_t length, typed_t *value);

/* The sentence about a text that is no value of the field's type. */
enum { TYPED_MISFIT = 320 };
void typed_misfit(const field_t *field, const uint8_t *text, size_t length, char sentence[TYPED_MISFIT]);

/* The value of a document's field. False: it is of another type. */
bool typed_take(const field_t *field, const bson_iter_t *at, typed_t *value);

/* Its text, in `out` or the first word of the field. False: it has none. */
bool typed_print(const field_t *field, const typed_t *value, uint8_t out[TYPED_PRINTED], schema_text_t *text);

/* -1, 0 or 1, for values of the same field. */
int typed_order(const typed_t *a, const typed_t *b);

#endif
