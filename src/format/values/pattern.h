/* pattern: dates by a pattern such as "DD/MM/YYYY hh:mm". Each part has its full width, so that what was read
 * can be written again byte for byte. */
#ifndef TIPPLE_FORMAT_VALUES_PATTERN_H
#define TIPPLE_FORMAT_VALUES_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PATTERN_MOST = 8, PATTERN_LONGEST = 40 };

typedef struct {
    char
        parts[PATTERN_LONGEST]; /* one of Y M D h m s S (milliseconds) U (microseconds), or 0 for a literal */
    char literals[PATTERN_LONGEST];
    uint8_t widths[PATTERN_LONGEST];
    uint8_t count;
    uint8_t length; /* of the text */
    bool iso;       /* it starts with YYYY-MM-DD?hh:mm:ss: the usual one, read quickly */
} pattern_t;

/* NULL, or what is wrong with it. */
const char *pattern_compile(const char *text, size_t length, pattern_t *pattern);

/* Milliseconds since 1970 of a real calendar date; false for anything else. */
bool pattern_read(const pattern_t *pattern, const uint8_t *text, size_t length, int64_t *ms);

/* Writes pattern->length bytes; false when the pattern cannot show this moment (its year, or finer parts). */
bool pattern_write(const pattern_t *pattern, int64_t ms, uint8_t *out);

#endif
