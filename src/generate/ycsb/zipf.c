#include "generate/ycsb/zipf.h"

__extension__ typedef unsigned __int128 wide_t;

/* Numbers below 2^21 with 43 binary places. */
enum { PLACES = 43, WEIGHT_BITS = 16 };

/* Roots are exact for small numbers, and interpolated linearly above. */
enum { ONE_BY_ONE = 4096, APART = 16 };

static uint64_t times(uint64_t a, uint64_t b) {
    return (uint64_t)((wide_t)a * b >> PLACES);
}

static uint64_t to_the_99th(uint64_t x) {
    uint64_t to_3 = times(times(x, x), x), to_96 = to_3;
    for (unsigned i = 0; i < 5; i++)
        to_96 = times(to_96, to_96);
    return times(to_96, to_3);
}

/* The root of k by Newton's way, from one that is near. */
static uint64_t root_100th(uint64_t k, uint64_t near) {
    int64_t step;
    do {
        const uint64_t wanted = (uint64_t)(((wide_t)k << 2 * PLACES) / to_the_99th(near));
        step = ((int64_t)wanted - (int64_t)near) / 100;
        near += (uint64_t)step;
    } while (step);
    return near;
}

/* (k + 1)^-0.99 is (k + 1)^0.01 / (k + 1). */
static void add_weights(zipf_t *zipf) {
    uint64_t root = UINT64_C(1) << PLACES, sum = 0;
    for (uint32_t from = 1, apart; from <= ZIPF_VALUES; from += apart) {
        apart = from < ONE_BY_ONE ? 1 : APART;
        const uint64_t next = root_100th(from + apart, root), rise = next - root;
        for (uint32_t i = 0; i < apart && from + i <= ZIPF_VALUES; i++)
            zipf->below[from + i - 1] = sum += ((root + rise * i / apart) << WEIGHT_BITS) / (from + i);
        root = next;
    }
}

/* The place of 64 bits within the weights of all numbers. */
static uint64_t place_of(const zipf_t *zipf, uint64_t random) {
    return (uint64_t)((wide_t)random * zipf->below[ZIPF_VALUES - 1] >> 64);
}

void zipf_init(zipf_t *zipf) {
    add_weights(zipf);
    uint32_t at = 0;
    for (uint64_t step = 0; step < 1 << ZIPF_GUIDE_BITS; step++) {
        while (place_of(zipf, step << (64 - ZIPF_GUIDE_BITS)) >= zipf->below[at])
            at++;
        zipf->guide[step] = at;
    }
    zipf->guide[1 << ZIPF_GUIDE_BITS] = ZIPF_VALUES - 1;
}

uint32_t zipf_draw(const zipf_t *zipf, uint64_t random) {
    const uint64_t place = place_of(zipf, random), step = random >> (64 - ZIPF_GUIDE_BITS);
    uint32_t low = zipf->guide[step], high = zipf->guide[step + 1];
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (place < zipf->below[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
