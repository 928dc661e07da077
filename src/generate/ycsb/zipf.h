/* zipf: numbers of which few are frequent and many are rare: 0 to ZIPF_VALUES - 1, the number k with a share in
 * proportion to 1 / (k + 1)^0.99, the exponent that the Yahoo cloud serving benchmark made usual. The table is made
 * by whole numbers alone, so it is the same on every machine; each share is right to 7 digits. Read-only
 * once it was made: any thread. */
#ifndef TIPPLE_GENERATE_YCSB_ZIPF_H
#define TIPPLE_GENERATE_YCSB_ZIPF_H

#include <stdint.h>

enum { ZIPF_VALUES = 1000000, ZIPF_GUIDE_BITS = 16 };

typedef struct {
    uint64_t below[ZIPF_VALUES]; /* of the last one: what falls to this number or a smaller one */
    /* for the highest bits drawn: the first number it can be; it is not beyond that of the next bits */
    uint32_t guide[(1 << ZIPF_GUIDE_BITS) + 1];
} zipf_t;

void zipf_init(zipf_t *zipf);

/* The number for 64 random bits; the more the bits say, the rarer. */
uint32_t zipf_draw(const zipf_t *zipf, uint64_t random);

#endif
