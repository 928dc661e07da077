/* wide: values of columns that are not simply as long as their texts, from texts and back:
 * arrays, binary data, JSON. A wide_t belongs to one thread. */
#ifndef TIPPLE_FORMAT_DELIMITED_WIDE_H
#define TIPPLE_FORMAT_DELIMITED_WIDE_H

#include "base/text.h"
#include "format/schema/schema.h"
#include "format/values/pattern.h"

#include <bson/bson.h>

typedef struct wide wide_t;

wide_t *wide_new(void); /* NULL: out of memory */
void wide_free(wide_t *wide);

bool wide_is(const field_t *field);

/* A value takes at most this, beside its key: some bytes, and some for each byte of its text. text_times: how much longer
 * the field's text may be in UTF-8. */
typedef struct {
    size_t bytes, times;
} wide_most_t;
wide_most_t wide_most(const field_t *field, size_t text_times);

/* Takes the blanks off that do not count for the field: before a text is compared with null values. */
void wide_trim(const field_t *field, const uint8_t **text, size_t *length);

/* Writes the value at `out`, and its type at `type`. patterns: of dates, compiled. NULL: the text is no such value. */
uint8_t *wide_put(wide_t *wide, const field_t *field, const pattern_t *patterns, encoding_t encoding,
                  const uint8_t *text, size_t length, uint8_t *type, uint8_t *out);

/* Was memory out since wide_new? Then what was written is not what it should be. */
bool wide_failed(const wide_t *wide);

/* Binary data of this subtype is a text that is none, and not UTF-8. */
enum { WIDE_NO_BINARY = BSON_SUBTYPE_USER };

/* Appends the text of a document's value, as wide_put reads it. False: the value has none. */
bool wide_print(const field_t *field, const pattern_t *patterns, const bson_iter_t *at, text_t *text);

#endif
