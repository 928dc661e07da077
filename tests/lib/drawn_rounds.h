/* drawn_rounds: times of rounds with noise of a known kind, for checks of how often an interval holds the truth.
 *
 * One row of moments, in each of which one round is measured. Its time is exp(noise), and the noise of neighbours is alike:
 * an autoregressive series, to which bursts, a drift or heavy tails may be added. The same seed draws the same rounds. */
#ifndef TIPPLE_TESTS_DRAWN_ROUNDS_H
#define TIPPLE_TESTS_DRAWN_ROUNDS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name;
    double scatter; /* standard deviation of the series, in logarithms: 0.1 is about 10 % */
    double alike;   /* correlation of neighbours */
    double own;     /* noise of each moment alone */
    double burst;   /* mean height of bursts, which begin at every tenth moment and last for 2.5 */
    double drift;   /* standard deviation of the whole way */
    bool heavy;     /* the series has Student's t with 3 degrees of freedom */
    bool skewed;    /* exp of the series: rare, long moments */
} drawn_noise_t;

/* The first DRAWN_FOR_RUNS are noise that two runs have to bear; turns have to bear all. The first DRAWN_QUICK are what the
 * unit test draws. */
static const drawn_noise_t drawn_noises[] = {
    {"independent", 0.2, 0, 0.02, 0, 0, false, false}, {"alike 0.5", 0.2, 0.5, 0.02, 0, 0, false, false},
    {"bursts", 0.1, 0.5, 0.02, 0.7, 0, false, false},  {"heavy tails", 0.2, 0.5, 0.02, 0, 0, true, false},
    {"skewed", 0.2, 0.5, 0.02, 0, 0, false, true},     {"alike 0.3", 0.2, 0.3, 0.02, 0, 0, false, false},
    {"alike 0.9", 0.2, 0.9, 0.02, 0, 0, false, false}, {"drift", 0.1, 0.5, 0.02, 0, 1, false, false},
};
enum { DRAWN_QUICK = 3, DRAWN_FOR_RUNS = 6, DRAWN_NOISES = sizeof drawn_noises / sizeof *drawn_noises };

static inline uint64_t drawn_bits(uint64_t *seed) { /* splitmix64 */
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline double drawn_share(uint64_t *seed) {
    return ((double)(drawn_bits(seed) >> 11) + 0.5) * 0x1p-53;
}

static inline double drawn_normal(uint64_t *seed) {
    return sqrt(-2 * log(drawn_share(seed))) * cos(2 * M_PI * drawn_share(seed));
}

static inline double drawn_heavy(uint64_t *seed) {
    const double a = drawn_normal(seed), b = drawn_normal(seed), c = drawn_normal(seed);
    return drawn_normal(seed) / sqrt((a * a + b * b + c * c) / 3);
}

/* Times of neighbouring moments. */
static inline void drawn_times(const drawn_noise_t *noise, uint64_t *seed, double *times, size_t count) {
    const double slope = noise->drift * drawn_normal(seed) / (double)count;
    double series = 0;
    bool on = drawn_share(seed) < 0.2;
    for (size_t i = 0; i < count; i++) {
        const double step = noise->heavy ? drawn_heavy(seed) : drawn_normal(seed);
        series = i ? noise->alike * series + sqrt(1 - noise->alike * noise->alike) * step : step;
        on = i ? drawn_share(seed) < (on ? 0.6 : 0.1) : on;
        times[i] = exp((noise->skewed ? noise->scatter * exp(series) : noise->scatter * series) +
                       noise->own * drawn_normal(seed) + slope * (double)i -
                       (on && noise->burst > 0 ? noise->burst * log(drawn_share(seed)) : 0));
    }
}

#endif
