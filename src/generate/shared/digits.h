/* digits: numbers below 10^8 as text, without a division for each digit. */
#ifndef TIPPLE_GENERATE_SHARED_DIGITS_H
#define TIPPLE_GENERATE_SHARED_DIGITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Eight digits, one a byte, the first in the lowest: halves, quarters and digits are split side by side. */
static inline uint64_t digits_of(uint32_t number) {
    uint64_t halves = number / 10000 | (uint64_t)(number % 10000) << 32;
    uint64_t hundreds = ((halves * 10486) >> 20) & 0x7f0000007fu;
    uint64_t quarters = hundreds | (halves - hundreds * 100) << 16;
    uint64_t tens = ((quarters * 103) >> 10) & 0x000f000f000f000fu;
    return tens | (quarters - tens * 10) << 8;
}

/* Writes 8 bytes. */
static inline void digits_store(char *to, uint64_t digits) {
    uint64_t text = htole64(digits + 0x3030303030303030u);
    memcpy(to, &text, sizeof text);
}

/* The last 1 to 8 digits; writes 8 bytes, and returns the end of the width. */
static inline char *digits_put_last(char *to, uint32_t number, unsigned width) {
    digits_store(to, digits_of(number) >> (64 - 8 * width));
    return to + width;
}

/* Without leading zeros; writes 8 bytes, and returns the number's end. */
static inline char *digits_put(char *to, uint32_t number) {
    uint64_t digits = digits_of(number);
    unsigned zeros = (unsigned)__builtin_ctzll(digits | (uint64_t)1 << 56) / 8;
    digits_store(to, digits >> (zeros * 8));
    return to + 8 - zeros;
}

#endif
