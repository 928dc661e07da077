#include "base/chars/lines.h"

#if defined(__GNUC__) && !defined(__clang__)
#define VECTORIZED __attribute__((optimize("O3"))) /* at -O2, gcc 12 does not vectorize this loop */
#else
#define VECTORIZED
#endif

/* Counts in bytes, up to 255 at a time, so that the compiler can compare 16 or 32 bytes at once. */
VECTORIZED uint64_t lines_count(const uint8_t *text, size_t length) {
    enum { LANES = 32 };
    uint64_t lines = 0;
    while (length >= LANES) {
        uint8_t sums[LANES] = {0};
        size_t rounds = length / LANES < 255 ? length / LANES : 255;
        for (size_t round = 0; round < rounds; round++, text += LANES)
            for (int i = 0; i < LANES; i++)
                sums[i] = (uint8_t)(sums[i] + (text[i] == '\n'));
        for (int i = 0; i < LANES; i++)
            lines += sums[i];
        length -= rounds * LANES;
    }
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

const uint8_t *lines_blanks(const uint8_t *at, const uint8_t *end) {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}
