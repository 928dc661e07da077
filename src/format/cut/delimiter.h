/* delimiter: where fields are divided. Mostly one character; of a format whose delimiter is longer, or is any number of blanks,
 * `delimiter` is the first character of it, and the schema has the rest. */
#ifndef TIPPLE_FORMAT_CUT_DELIMITER_H
#define TIPPLE_FORMAT_CUT_DELIMITER_H

#include "format/schema/schema.h"

#include <string.h>

static inline bool delimiter_is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\t';
}

/* How many bytes at text[at] are one; 0: none. */
static inline size_t delimiter_at(const schema_t *schema, char delimiter, const uint8_t *text, size_t length,
                                  size_t at) {
    if (__builtin_expect(!schema_is_wide(schema), 1))
        return at < length && text[at] == (uint8_t)delimiter;
    size_t end = at;
    while (schema->blanks && end < length && delimiter_is_blank(text[end]))
        end++;
    const size_t wide = schema->wide.length;
    return schema->blanks ? end - at
                          : (length - at >= wide && memcmp(text + at, schema->wide.text, wide) == 0) * wide;
}

/* The first one at `from` or after it; NULL: there is none. */
const uint8_t *delimiter_find_wide(const schema_t *schema, const uint8_t *text, size_t length, size_t from);

static inline const uint8_t *delimiter_find(const schema_t *schema, char delimiter, const uint8_t *text,
                                            size_t length, size_t from) {
    return __builtin_expect(!schema_is_wide(schema), 1) ? memchr(text + from, delimiter, length - from)
                                                        : delimiter_find_wide(schema, text, length, from);
}

#endif
