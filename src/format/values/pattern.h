/* pattern: dates by a pattern such as "DD/MM/YYYY hh:mm". Where a part has several texts for one value (letters, offsets), the
 * first of them is written: Jan, AM, Z. */
#ifndef TIPPLE_FORMAT_VALUES_PATTERN_H
#define TIPPLE_FORMAT_VALUES_PATTERN_H

#include "base/zone.h"

#include <stdbool.h>

enum {
    PATTERN_LONGEST = 40,
    PATTERN_PRINTED = 64, /* bytes of a printed date, at most */
};

/* A part of a date, such as the day in two digits, or a character between two parts. */
typedef struct {
    uint8_t how;         /* it is written; 0: it is the character `literal` */
    uint8_t what;        /* it says of the moment */
    uint8_t width, most; /* characters of the pattern, and digits of the date at most */
    uint8_t literal;
} pattern_part_t;

typedef struct {
    pattern_part_t parts[PATTERN_LONGEST];
    uint8_t count;
    uint8_t length; /* of the text, unless it varies */
    bool varies;    /* it has parts without a full width */
    bool iso;       /* it begins with YYYY-MM-DD?hh:mm:ss, which is read fast */
    bool half_days; /* with AM or PM */
    bool rounds;    /* to milliseconds */
    bool local;     /* it has an hour, and names no zone: neither ZZ, nor Z, UTC, GMT or + after the hour */
    uint16_t epoch; /* milliseconds of the unit that is counted since 1970, in place of all parts; 0: none */
    const zone_t
        *zone; /* of the clocks that a local pattern shows; NULL: UTC. Set by the owner of the pattern */
} pattern_t;

/* NULL, or what is wrong with the pattern, after which there is a zero. */
const char *pattern_compile(const char *text, size_t length, pattern_t *pattern);

/* Milliseconds since 1970, and how often the clocks of its zone showed the text. ZONE_NEVER: it is not a real date of this pattern. */
zone_times_t pattern_read(const pattern_t *pattern, const uint8_t *text, size_t length, int64_t *ms);

/* Returns how many bytes it wrote. 0: the pattern cannot show this moment (its year, its finer parts, or the second of two hours
 * that look alike). */
size_t pattern_write(const pattern_t *pattern, int64_t ms, uint8_t *out);

#endif
