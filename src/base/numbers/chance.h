/* chance: random bits, the same on every machine: computed from a position, or drawn one after another from a
 * stream. */
#ifndef TIPPLE_BASE_NUMBERS_CHANCE_H
#define TIPPLE_BASE_NUMBERS_CHANCE_H

#include <stdint.h>

/* SplitMix64 (Steele, Lea, Flood 2014): bits of a key plus a multiple of the golden ratio. */
#define CHANCE_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t chance_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t chance_bits(uint64_t key, uint64_t place) {
    return chance_mix(key + place * CHANCE_GOLDEN);
}

/* The next bits of a stream. A stream may begin at any number. */
static inline uint64_t chance_next(uint64_t *stream) {
    return chance_mix(*stream += CHANCE_GOLDEN);
}

/* Maps each x below the limit to another number below the limit: a permutation of the 31-bit numbers, repeated until the
 * result is below the limit. */
static inline uint32_t chance_scatter(uint32_t x, uint32_t key, uint32_t limit) {
    const uint32_t bits31 = 0x7fffffff;
    do {
        x ^= key & bits31;
        x ^= x >> 16;
        x = (x * 0x7feb352du) & bits31;
        x ^= x >> 15;
        x = (x * 0x846ca68bu) & bits31;
        x ^= x >> 16;
    } while (x >= limit);
    return x;
}

#endif
