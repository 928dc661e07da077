/* convert: text into numbers and dates and back, without libc in the record path. The inline readers may load
 * up to 8 bytes behind the text: buffers have POOL_SLACK for that. */
#ifndef TIPPLE_FORMAT_CONVERT_H
#define TIPPLE_FORMAT_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t convert_load8(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

/* Eight digits in a word, first digit in the lowest byte, each already minus '0'. */
static inline uint32_t convert_eight(uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    return (uint32_t)((((digits & 0x000000FF000000FFull) * 0x000F424000000064ull) +
                       (((digits >> 16) & 0x000000FF000000FFull) * 0x0000271000000001ull)) >>
                      32);
}

/* True when every byte of a word (already minus '0' by xor) is 0 to 9. */
static inline bool convert_are_digits(uint64_t digits) {
    return ((digits | (digits + 0x7676767676767676ull)) & 0x8080808080808080ull) == 0;
}

/* 1 to 16 plain digits, nothing else: the usual case. */
static inline bool convert_digits(const uint8_t *text, size_t length, uint64_t *value) {
    const uint64_t zeros = 0x3030303030303030ull;
    if (length - 1 < 8) {
        uint64_t digits = (convert_load8(text) ^ zeros) << (8 * (8 - length));
        *value = convert_eight(digits);
        return convert_are_digits(digits);
    }
    if (length - 9 < 8) {
        uint64_t low = convert_load8(text + length - 8) ^ zeros;
        uint64_t high = (convert_load8(text) ^ zeros) << (8 * (16 - length));
        *value = (uint64_t)convert_eight(high) * 100000000u + convert_eight(low);
        return convert_are_digits(low) && convert_are_digits(high);
    }
    return false;
}

/* Any whole number that fits int64, with blanks around it, a sign, zeros in front. "-0" is none: printing the
 * number would lose the sign. */
bool convert_int(const uint8_t *text, size_t length, int64_t *value);
size_t convert_print_int(int64_t value, uint8_t *out); /* at most 20 bytes */

/* A decimal number, exactly the double nearest to text / 10^divide. No inf, nan or hexadecimal. */
bool convert_number(const uint8_t *text, size_t length, int divide, double *value);
/* The shortest text that reads back as this double times 10^divide; at most 40 bytes. */
size_t convert_print_number(double value, int divide, uint8_t *out);

/* Days since 1970-01-01 of a real date of the proleptic Gregorian calendar, year 0 or later. */
bool convert_days(uint32_t year, uint32_t month, uint32_t day, int32_t *days);

/* YYYY-MM-DD, 10 bytes, a real date. */
bool convert_any_iso_date(const uint8_t *text, int64_t *ms);

/* The same, quick for 1901 to 2099, where every fourth year is a leap year. */
static inline bool convert_iso_date(const uint8_t *text, int64_t *ms) {
    static const uint8_t month_days[16] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0};
    static const uint16_t before[16] = {0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 0, 0, 0};
    uint16_t last;
    memcpy(&last, text + 8, 2);
    /* without '0' or '-' each byte is a digit or out of range */
    uint64_t first = convert_load8(text) ^ 0x2D30302D30303030ull;
    uint32_t ending = last ^ 0x3030u;
    if (__builtin_expect(((first & 0xFFF0F0FFF0F0F0F0ull) | (ending & 0xF0F0u)) != 0, 0))
        return false;
    uint32_t year = (uint32_t)(first & 0xF) * 1000 + (uint32_t)(first >> 8 & 0xF) * 100 +
                    (uint32_t)(first >> 16 & 0xF) * 10 + (uint32_t)(first >> 24 & 0xF);
    uint32_t month = (uint32_t)(first >> 40 & 0xF) * 10 + (uint32_t)(first >> 48 & 0xF);
    uint32_t day = (ending & 0xF) * 10 + (ending >> 8);
    uint32_t leap = (year & 3) == 0;
    if (__builtin_expect(year - 1901 > 198 || month > 12 ||
                             day - 1 >= month_days[month & 15] + (leap & (month == 2)) ||
                             !convert_are_digits(first) || !convert_are_digits(ending),
                         0))
        return convert_any_iso_date(text, ms);
    int32_t days = ((int32_t)year - 1970) * 365 + (((int32_t)year - 1901) >> 2) - 17 + before[month] +
                   (int32_t)(leap & (month > 2)) + (int32_t)day - 1;
    *ms = (int64_t)days * 86400000;
    return true;
}

#endif
