/* digits: decimal digits, eight at a time in a word. */
#ifndef TIPPLE_FORMAT_VALUES_DIGITS_H
#define TIPPLE_FORMAT_VALUES_DIGITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* For functions of hot loops, which are instanced with constants. */
#define INLINED __attribute__((always_inline)) static inline

static const uint64_t DIGITS_ZEROS = 0x3030303030303030ull;

/* The powers of ten that 64 bits hold. */
static const uint64_t digits_tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                       1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};

static inline uint64_t digits_load(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

/* The value of eight digits in a word; the first digit is in the lowest byte; '0' is already subtracted from each. */
static inline uint32_t digits_value(uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    return (uint32_t)((((digits & 0x000000FF000000FFull) * 0x000F424000000064ull) +
                       (((digits >> 16) & 0x000000FF000000FFull) * 0x0000271000000001ull)) >>
                      32);
}

static inline bool digits_is_one(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

/* Writes the last digits of a number, as many as `width`. */
static inline uint8_t *digits_write(uint8_t *out, size_t width, uint64_t value) {
    for (size_t i = width; i; i--, value /= 10)
        out[i - 1] = (uint8_t)('0' + value % 10);
    return out + width;
}

/* Is every byte of a word (after xor with '0') 0 to 9? */
static inline bool digits_only(uint64_t digits) {
    return ((digits | (digits + 0x7676767676767676ull)) & 0x8080808080808080ull) == 0;
}

/* How many of the first bytes of a word (after xor with '0') are digits. */
static inline size_t digits_count(uint64_t digits) {
    const uint64_t others = (digits | (digits + 0x7676767676767676ull)) & 0x8080808080808080ull;
    return others ? (size_t)__builtin_ctzll(others) / 8 : 8;
}

/* How many of the first bytes of a word are digits, or signs that are below the digits in ASCII. */
static inline size_t digits_before_letter(uint64_t word) {
    const uint64_t others = (word | (word + 0x4646464646464646ull)) & 0x8080808080808080ull;
    return others ? (size_t)__builtin_ctzll(others) / 8 : 8;
}

#endif
