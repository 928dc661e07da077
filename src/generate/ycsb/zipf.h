/* zipf: numbers of which few are frequent and many are rare: 1 to ZIPF_VALUES, the k-th with a share in
 * proportion to 1 / k^0.99, the exponent that the Yahoo cloud serving benchmark made usual. The table is made
 * by whole numbers alone, so it is the same on every machine; each share is right to 12 digits. Read-only
 * once it was made: any thread. */
#ifndef TIPPLE_GENERATE_YCSB_ZIPF_H
#define TIPPLE_GENERATE_YCSB_ZIPF_H

#include <stdint.h>

enum { ZIPF_VALUES = 10000, ZIPF_GUIDE_BITS = 14 };

typedef struct {
    uint64_t below[ZIPF_VALUES]; /* of 2^63: what falls to this number or a smaller one; [0] belongs to 1 */
    uint16_t guide[1 << ZIPF_GUIDE_BITS]; /* for the highest bits drawn: the first number it can be, less 1 */
} zipf_t;

void zipf_init(zipf_t *zipf);

/* The number for 64 random bits; the more the bits say, the rarer. */
static inline uint32_t zipf_draw(const zipf_t *zipf, uint64_t random) {
    uint32_t at = zipf->guide[random >> (64 - ZIPF_GUIDE_BITS)];
    while (random >> 1 >= zipf->below[at])
        at++;
    return at + 1;
}

#endif
