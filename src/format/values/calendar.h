/* calendar: dates of the proleptic Gregorian calendar, from year 0. Functions that read text may read up to 8 bytes
 * after it: buffers have POOL_SLACK for that. */
#ifndef TIPPLE_FORMAT_VALUES_CALENDAR_H
#define TIPPLE_FORMAT_VALUES_CALENDAR_H

#include "base/zone.h"
#include "format/values/digits.h"

#include <stdbool.h>

/* Days since 1970-01-01; false: there is no such date. */
bool calendar_days(uint32_t year, uint32_t month, uint32_t day, int32_t *days);

typedef struct {
    uint32_t year, month, day;
} date_t;

/* The date that is this many days after 1970-01-01; false: before year 0 or after year 9999. */
bool calendar_date(int64_t days, date_t *date);

/* YYYY-MM-DDThh:mm, perhaps with :ss and .fff, then Z or an offset like +01:00 or +0100; without zoned, neither means Z. False:
 * it is no such moment, or milliseconds do not keep its digits. */
bool calendar_moment(const uint8_t *text, size_t length, bool zoned, int64_t *ms);

/* Milliseconds since 1970; false: there is no such date. */
bool calendar_rare(uint32_t year, uint32_t month, uint32_t day, int64_t *ms);

/* YYYY-MM-DD, 10 bytes; it must be a real date. Fast for 1901 to 2099, where every fourth year is a leap year. */
static inline bool calendar_iso(const uint8_t *text, int64_t *ms) {
    static const uint8_t month_days[16] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0};
    static const uint16_t before[16] = {0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 0, 0, 0};
    uint16_t last;
    memcpy(&last, text + 8, 2);
    /* after xor with '0' or '-', each byte is a digit or out of range; a hyphen is 0 */
    const uint64_t first = digits_load(text) ^ 0x2D30302D30303030ull;
    const uint64_t digits =
        (first & 0xFFFFFFFF) | (first >> 8 & 0xFFFF00000000) | (uint64_t)(last ^ 0x3030) << 48;
    if (__builtin_expect((first & 0xFF0000FF00000000ull) || !digits_only(digits), 0))
        return false;
    const uint64_t pairs = digits * 10 + (digits >> 8); /* each of two digits, in every second byte */
    const uint32_t year = (uint32_t)(pairs & 0xFF) * 100 + (uint32_t)(pairs >> 16 & 0xFF);
    const uint32_t month = (uint32_t)(pairs >> 32 & 0xFF), day = (uint32_t)(pairs >> 48 & 0xFF);
    const uint32_t leap = (year & 3) == 0;
    if (__builtin_expect(
            year - 1901 > 198 || month > 12 || day - 1 >= month_days[month] + (leap & (month == 2)), 0))
        return calendar_rare(year, month, day, ms);
    int32_t days = ((int32_t)year - 1970) * 365 + (((int32_t)year - 1901) >> 2) - 17 + before[month] +
                   (int32_t)(leap & (month > 2)) + (int32_t)day - 1;
    *ms = (int64_t)days * 86400000;
    return true;
}

/* ---- pattern ----
 *
 * Dates by a pattern such as "DD/MM/YYYY hh:mm". Where a part has several texts for one value (letters, offsets), the
 * first of them is written: Jan, AM, Z. */

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
