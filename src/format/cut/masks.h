/* masks: what 64 bytes of a text are, as one bit for each. Shared by scan, ends and json_span. */
#ifndef TIPPLE_FORMAT_CUT_MASKS_H
#define TIPPLE_FORMAT_CUT_MASKS_H

#include "format/cut/scan.h"

#define MASKS_INLINED __attribute__((always_inline)) static inline

#if defined(__x86_64__)
#include <immintrin.h>

/* Of functions that are called where masks_are_wide. */
#define MASKS_WIDE __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))

/* Has this CPU 32-byte vectors, and what counts bits? */
static inline bool masks_are_wide(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}

/* The highest bit of each byte. */
MASKS_WIDE MASKS_INLINED uint64_t masks_high(__m256i low, __m256i high) {
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                               << 32;
}

MASKS_WIDE MASKS_INLINED uint64_t masks_same(__m256i low, __m256i high, char byte) {
    const __m256i wanted = _mm256_set1_epi8(byte);
    return masks_high(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted));
}
#endif

/* Each bit: is the number of bits up to it odd? So within quotes, where each bit is a quote. */
MASKS_INLINED uint64_t masks_prefix_xor(uint64_t bits) {
    for (int by = 1; by < 64; by *= 2)
        bits ^= bits << by;
    return bits;
}

/* One bit for each of 64 bytes. */
typedef struct {
    uint64_t line, end, quote, high;
} masks_t;

/* Appends the positions of the bits. Writes up to 8 (16) at once: that is cheaper than a test for each. */
MASKS_INLINED void masks_append(scan_t *scan, uint32_t base, masks_t masks) {
    uint64_t bits = masks.end;
    uint32_t *out = scan->ends + scan->end_count;
    int count = __builtin_popcountll(bits);
    for (uint64_t line = masks.line; line; line &= line - 1) {
        uint64_t below = line ^ (line - 1);
        scan->row_quotes[scan->row_count] =
            scan->quote_count + (uint32_t)__builtin_popcountll(masks.quote & below);
        scan->rows[scan->row_count++] =
            (uint32_t)(scan->end_count + (size_t)__builtin_popcountll(bits & below));
    }
    scan->end_count += (size_t)count;
    scan->high |= masks.high != 0;
    scan->quotes |= masks.quote != 0;
    scan->quote_count += (uint32_t)__builtin_popcountll(masks.quote);
#define ONE(i) (out[i] = base + (uint32_t)__builtin_ctzll(bits | 1ull << 63), bits &= bits - 1)
    ONE(0), ONE(1), ONE(2), ONE(3), ONE(4), ONE(5), ONE(6), ONE(7);
    if (__builtin_expect(count > 8, 1)) {
        ONE(8), ONE(9), ONE(10), ONE(11), ONE(12), ONE(13), ONE(14), ONE(15);
        for (int i = 16; i < count; i++)
            ONE(i);
    }
#undef ONE
}

MASKS_INLINED masks_t masks_below(masks_t masks, uint32_t count) {
    uint64_t keep = count >= 64 ? ~0ull : (1ull << count) - 1;
    return (masks_t){masks.line & keep, masks.end & keep, masks.quote & keep, masks.high & keep};
}

#endif
