/* pattern: dates by a pattern such as "DD/MM/YYYY hh:mm". What was read can be written again byte for byte: each part has
 * one text for one value, or what it may have several of (letters, offsets) is told beside it. */
#ifndef TIPPLE_FORMAT_VALUES_PATTERN_H
#define TIPPLE_FORMAT_VALUES_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PATTERN_MOST = 8,
    PATTERN_LONGEST = 40,
    PATTERN_PRINTED = 64, /* bytes of a printed date, at most */
    PATTERN_LETTERS = 6,  /* ways of small and capital letters */
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

/* What the moment does not say of its text. Zeros are the usual: Jan and AM, and Z. */
typedef struct {
    uint8_t letters; /* of the month's name: 0 Jan, 1 JAN, 2 jan; 3 more: am instead of AM */
    int16_t zone;    /* 4 * the minutes before UTC; 1 more: as +01:00, 2 more: as +0100; 0 is Z */
} pattern_spelling_t;

/* NULL, or what is wrong with the pattern. */
const char *pattern_compile(const char *text, size_t length, pattern_t *pattern);

/* Milliseconds since 1970; false if it is not a real date of this pattern. spelling may be NULL. */
bool pattern_read(const pattern_t *pattern, const uint8_t *text, size_t length, int64_t *ms,
                  pattern_spelling_t *spelling);

/* Returns how many bytes it wrote. 0: the pattern cannot show this moment (its year, or its finer parts). */
size_t pattern_write(const pattern_t *pattern, int64_t ms, pattern_spelling_t spelling, uint8_t *out);

#endif
