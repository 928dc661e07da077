/* digits: numbers as text, without a division for each digit. They are below 10^8 where nothing else is said, and 8 bytes
 * are written, whatever the width. */
#ifndef TIPPLE_GENERATE_SHARED_DIGITS_H
#define TIPPLE_GENERATE_SHARED_DIGITS_H

#include "format/values/calendar.h"

#include <endian.h>

/* Eight digits, one a byte, the first in the lowest: halves, quarters and digits are split side by side. */
static inline uint64_t digits_of(uint32_t number) {
    uint64_t halves = number / 10000 | (uint64_t)(number % 10000) << 32;
    uint64_t hundreds = ((halves * 10486) >> 20) & 0x7f0000007fu;
    uint64_t quarters = hundreds | (halves - hundreds * 100) << 16;
    uint64_t tens = ((quarters * 103) >> 10) & 0x000f000f000f000fu;
    return tens | (quarters - tens * 10) << 8;
}

static inline void digits_store(char *to, uint64_t digits) {
    uint64_t text = htole64(digits + 0x3030303030303030u);
    memcpy(to, &text, sizeof text);
}

/* The last 1 to 8 digits; returns the end of the width. */
static inline char *digits_put_last(char *to, uint32_t number, unsigned width) {
    digits_store(to, digits_of(number) >> (64 - 8 * width));
    return to + width;
}

/* The same where the width alone may be written. */
static inline void digits_put_into(char *to, uint32_t number, unsigned width) {
    char text[8];
    digits_put_last(text, number, width);
    memcpy(to, text, width);
}

/* Without leading zeros; returns the number's end. */
static inline char *digits_put(char *to, uint32_t number) {
    uint64_t digits = digits_of(number);
    unsigned zeros = (unsigned)__builtin_ctzll(digits | (uint64_t)1 << 56) / 8;
    digits_store(to, digits >> (zeros * 8));
    return to + 8 - zeros;
}

/* Any number. */
static inline char *digits_put_long(char *to, uint64_t number) {
    const uint32_t eight = 100000000;
    if (number < eight)
        return digits_put(to, (uint32_t)number);
    return digits_put_last(digits_put_long(to, number / eight), (uint32_t)(number % eight), 8);
}

/* 2024-05-06 */
static inline char *digits_put_date(char *to, uint32_t year, const date_t *date) {
    to = digits_put_last(to, year, 4);
    *to++ = '-';
    to = digits_put_last(to, date->month, 2);
    *to++ = '-';
    return digits_put_last(to, date->day, 2);
}

/* T23:59:59, from a day's second */
static inline char *digits_put_clock(char *to, uint32_t second) {
    const uint32_t parts[] = {second / 3600, second / 60 % 60, second % 60};
    for (unsigned i = 0; i < 3; i++) {
        *to++ = "T::"[i];
        to = digits_put_last(to, parts[i], 2);
    }
    return to;
}

#endif
