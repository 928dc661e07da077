#include "base/chars/utf8.h"

#include <string.h>

static bool tail(const uint8_t *at, size_t count) {
    for (size_t i = 1; i <= count; i++)
        if ((at[i] & 0xC0) != 0x80)
            return false;
    return true;
}

size_t utf8_character(const uint8_t *at, size_t left) {
    if (!left)
        return 0;
    uint8_t lead = *at;
    size_t length = lead < 0x80   ? 1
                    : lead < 0xC2 ? 0
                    : lead < 0xE0 ? 2
                    : lead < 0xF0 ? 3
                    : lead < 0xF5 ? 4
                                  : 0;
    if (!length || left < length || !tail(at, length - 1))
        return 0;
    const bool overlong = (lead == 0xE0 && at[1] < 0xA0) || (lead == 0xF0 && at[1] < 0x90);
    const bool surrogate = lead == 0xED && at[1] >= 0xA0;
    const bool too_high = lead == 0xF4 && at[1] >= 0x90; /* above U+10FFFF */
    return overlong || surrogate || too_high ? 0 : length;
}

/* Eight bytes of ASCII? */
static bool is_plain(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return !(word & 0x8080808080808080u);
}

/* What the bytes so far leave open, as the place of a field in `steps`: nothing, WRONG for good, so many bytes to come, or
 * two or three of which the next one is in a smaller range. */
enum {
    DONE = 0,
    WRONG = 6,
    ONE = 12,
    TWO = 18,
    THREE = 24,
    AFTER_E0 = 30,
    AFTER_ED = 36,
    AFTER_F0 = 42,
    AFTER_F4 = 48
};
#define STEP(from, to) ((uint64_t)((to) ^ WRONG) << (from))
#define ROW(steps)     (0x6186186186186ull ^ (steps)) /* WRONG in all other fields */
#define USUAL          (STEP(ONE, DONE) | STEP(TWO, ONE) | STEP(THREE, TWO))
static const uint64_t steps[256] = {[0 ... 0x7F] = ROW(STEP(DONE, DONE)),
                                    [0x80 ... 0x8F] = ROW(USUAL | STEP(AFTER_ED, ONE) | STEP(AFTER_F4, TWO)),
                                    [0x90 ... 0x9F] = ROW(USUAL | STEP(AFTER_ED, ONE) | STEP(AFTER_F0, TWO)),
                                    [0xA0 ... 0xBF] = ROW(USUAL | STEP(AFTER_E0, ONE) | STEP(AFTER_F0, TWO)),
                                    [0xC0 ... 0xC1] = ROW(0),
                                    [0xC2 ... 0xDF] = ROW(STEP(DONE, ONE)),
                                    [0xE0] = ROW(STEP(DONE, AFTER_E0)),
                                    [0xE1 ... 0xEC] = ROW(STEP(DONE, TWO)),
                                    [0xED] = ROW(STEP(DONE, AFTER_ED)),
                                    [0xEE ... 0xEF] = ROW(STEP(DONE, TWO)),
                                    [0xF0] = ROW(STEP(DONE, AFTER_F0)),
                                    [0xF1 ... 0xF3] = ROW(STEP(DONE, THREE)),
                                    [0xF4] = ROW(STEP(DONE, AFTER_F4)),
                                    [0xF5 ... 0xFF] = ROW(0)};

const uint8_t *utf8_wrong(const uint8_t *at, const uint8_t *end) {
    uint64_t state = DONE;
    const uint8_t *byte = at;
    for (; end - byte >= 8; byte += 8)
        if ((state & 63) != DONE || !is_plain(byte))
            for (int i = 0; i < 8; i++)
                state = steps[byte[i]] >> (state & 63);
    for (; byte < end; byte++)
        state = steps[*byte] >> (state & 63);
    if ((state & 63) == DONE)
        return NULL;
    for (size_t length; at < end && (length = utf8_character(at, (size_t)(end - at))); at += length)
        ;
    return at;
}
