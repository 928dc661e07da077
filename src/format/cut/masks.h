/* masks: which of 64 bytes of a text are a certain one, as one bit for each. ends.c finds the ends of records and
 * fields by it.
 *
 * What reads texts so is an inline function that is given one of two masks_fn as a constant, and is instanced for both: with
 * masks_wide in a MASKS_WIDE function, which is called where masks_are_wide, and with masks_narrow. */
#ifndef TIPPLE_FORMAT_CUT_MASKS_H
#define TIPPLE_FORMAT_CUT_MASKS_H

#include "format/values/values.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Each bit: is text[bit], as far as the bits `of` go, this byte? Reads text[0, 64). */
typedef uint64_t masks_fn(const uint8_t *text, uint8_t of, uint8_t byte);

enum { MASKS_ALL = 0xFF, MASKS_HIGH = 0x80 };

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define MASKS_WIDE __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))

/* True if this CPU has 32-byte vectors and counts bits, and its system keeps such registers (ends.c). */
bool masks_are_wide(void);

MASKS_WIDE INLINED uint64_t masks_wide(const uint8_t *text, uint8_t of, uint8_t byte) {
    const __m256i bits = _mm256_set1_epi8((char)of), wanted = _mm256_set1_epi8((char)byte);
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)text),
            high = _mm256_loadu_si256((const __m256i *)(const void *)(text + 32));
    if (of != MASKS_HIGH) { /* which need no comparison */
        low = _mm256_cmpeq_epi8(_mm256_and_si256(low, bits), wanted);
        high = _mm256_cmpeq_epi8(_mm256_and_si256(high, bits), wanted);
    }
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                               << 32;
}

#endif

/* 8 bytes at a time: of each, the high bit remains where it is this byte; one multiplication moves the eight together. */
INLINED uint64_t masks_narrow(const uint8_t *text, uint8_t of, uint8_t byte) {
    const uint64_t each = 0x0101010101010101, low = 0x7F * each;
    uint64_t mask = 0;
    for (int i = 0; i < 64; i += 8) {
        uint64_t bytes;
        memcpy(&bytes, text + i, sizeof bytes);
        const uint64_t other = (le64toh(bytes) & of * each) ^ byte * each,
                       same = ~(((other & low) + low) | other | low);
        mask |= ((same >> 7) * 0x0102040810204080 >> 56) << i;
    }
    return mask;
}

/* Each bit: is the number of bits up to it odd? So within quotes, where each bit is a quote. */
INLINED uint64_t masks_prefix_xor(uint64_t bits) {
    for (int by = 1; by < 64; by *= 2)
        bits ^= bits << by;
    return bits;
}

/* The bits below this one, of 64. */
INLINED uint64_t masks_below(uint64_t bit) {
    return bit < 64 ? ((uint64_t)1 << bit) - 1 : ~(uint64_t)0;
}

#endif
