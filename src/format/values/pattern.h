/* pattern: dates by a pattern such as "DD/MM/YYYY hh:mm". Where a part has several texts for one value (letters, offsets), the
 * first of them is written: Jan, AM, Z. */
#ifndef TIPPLE_FORMAT_VALUES_PATTERN_H
#define TIPPLE_FORMAT_VALUES_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PATTERN_MOST = 8,
    PATTERN_LONGEST = 40,
    PATTERN_PRINTED = 64, /* bytes of a printed date, at most */
};

typedef struct {
    /* of full width: one of Y M D h m s S (milliseconds) U (microseconds); 0: a literal. Others: see pattern.c */
    char parts[PATTERN_LONGEST];
    char literals[PATTERN_LONGEST];
    uint8_t widths[PATTERN_LONGEST];
    uint8_t count;
    uint8_t length; /* of the text, unless it varies */
    bool iso;       /* it begins with YYYY-MM-DD?hh:mm:ss: the usual pattern, read fast */
    bool varies;    /* it has parts that are not all of these: read more slowly, see pattern_parts.h */
    bool half_days; /* with AM or PM */
} pattern_t;

/* NULL, or what is wrong with the pattern. */
const char *pattern_compile(const char *text, size_t length, pattern_t *pattern);

/* Milliseconds since 1970; false if it is not a real date of this pattern. */
bool pattern_read(const pattern_t *pattern, const uint8_t *text, size_t length, int64_t *ms);

/* Returns how many bytes it wrote. 0: the pattern cannot show this moment (its year, or its finer parts). */
size_t pattern_write(const pattern_t *pattern, int64_t ms, uint8_t *out);

#endif
