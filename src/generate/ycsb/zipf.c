#include "generate/ycsb/zipf.h"

__extension__ typedef unsigned __int128 wide_t;

/* Numbers below 2^15 with 48 binary places. */
enum { PLACES = 48 };

static uint64_t times(uint64_t a, uint64_t b) {
    return (uint64_t)((wide_t)a * b >> PLACES);
}

static uint64_t to_the_100th(uint64_t x) {
    uint64_t to_4 = times(times(x, x), times(x, x));
    uint64_t to_32 = times(to_4, to_4);
    to_32 = times(to_32, to_32);
    to_32 = times(to_32, to_32);
    return times(times(to_32, to_32), times(to_32, to_4));
}

/* The root of k, from that of k - 1, which is less than 2^-7 below: 2^0.01 - 1 at most. */
static uint64_t root_100th(uint64_t k, uint64_t root) {
    for (unsigned bit = PLACES - 7; bit--;)
        if (to_the_100th(root + (UINT64_C(1) << bit)) <= k << PLACES)
            root += UINT64_C(1) << bit;
    return root;
}

/* k^-0.99 is k^0.01 / k. */
void zipf_init(zipf_t *zipf) {
    uint64_t root = UINT64_C(1) << PLACES, sum = 0;
    for (uint32_t k = 1; k <= ZIPF_VALUES; k++) {
        root = root_100th(k, root);
        zipf->below[k - 1] = sum += (root << 8) / k;
    }
    for (uint32_t at = 0; at < ZIPF_VALUES; at++)
        zipf->below[at] = (uint64_t)(((wide_t)zipf->below[at] << 63) / sum);
    uint32_t at = 0;
    for (uint64_t step = 0; step < 1 << ZIPF_GUIDE_BITS; step++) {
        while (step << (63 - ZIPF_GUIDE_BITS) >= zipf->below[at])
            at++;
        zipf->guide[step] = (uint16_t)at;
    }
}
