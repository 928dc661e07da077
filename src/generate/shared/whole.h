/* whole: arithmetic in whole numbers, the same on every machine. */
#ifndef TIPPLE_GENERATE_SHARED_WHOLE_H
#define TIPPLE_GENERATE_SHARED_WHOLE_H

#include <stdint.h>

static inline int32_t whole_clamp(int64_t value, int32_t least, int32_t most) {
    return value < least ? least : value > most ? most : (int32_t)value;
}

static inline int32_t whole_larger(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static inline int32_t whole_rounded(int64_t value, int32_t by) {
    return (int32_t)((value + (value < 0 ? -by : by) / 2) / by);
}

/* Of 1/100 degrees, in 1/10000: Bhaskara's approximation, right to 0.17%. */
static inline int32_t whole_sine(int32_t angle) {
    int32_t whole = (angle % 36000 + 36000) % 36000;
    int64_t half = whole % 18000, x = half * (18000 - half);
    int32_t sine = (int32_t)(40000 * x / (405000000 - x));
    return whole < 18000 ? sine : -sine;
}

static inline int32_t whole_cosine(int32_t angle) {
    return whole_sine(angle + 9000);
}

/* Maps each x below the limit to another number below the limit: a permutation of the 31-bit numbers, repeated until the
 * result is below the limit. */
static inline uint32_t whole_scatter(uint32_t x, uint32_t key, uint32_t limit) {
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
