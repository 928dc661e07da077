/* wide: values of columns that are not simply as long as their texts, from texts and back: arrays. See docs/formats.md, Arrays. */
#ifndef TIPPLE_FORMAT_DELIMITED_WIDE_H
#define TIPPLE_FORMAT_DELIMITED_WIDE_H

#include "base/text.h"
#include "format/schema/schema.h"
#include "format/values/pattern.h"

#include <bson/bson.h>

bool wide_is(const field_t *field);

/* A value takes at most this, beside its key: some bytes, and some for each byte of its text. text_times: how much longer
 * the field's text may be in UTF-8. */
typedef struct {
    size_t bytes, times;
} wide_most_t;
wide_most_t wide_most(const field_t *field, size_t text_times);

/* Writes the value at `out`, and its type at `type`. patterns: of dates, compiled. NULL: the text is no such value. */
uint8_t *wide_put(const field_t *field, const pattern_t *patterns, encoding_t encoding, const uint8_t *text,
                  size_t length, uint8_t *type, uint8_t *out);

/* Appends the text of a document's value, as `wide_put` reads it, of spellings the first. False: the value has none. */
bool wide_print(const field_t *field, const pattern_t *patterns, const bson_iter_t *at, text_t *text);

#endif
