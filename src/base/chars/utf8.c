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

const uint8_t *utf8_wrong(const uint8_t *at, const uint8_t *end) {
    while (at < end) {
        if (*at < 0x80) {
            at += end - at >= 8 && is_plain(at) ? 8 : 1;
            continue;
        }
        if (*at >= 0xC2 && *at < 0xE0 && end - at >= 2 && (at[1] & 0xC0) == 0x80) {
            at += 2;
            continue;
        }
        /* three bytes, but E0 and ED, after which not everything may come */
        if ((*at & 0xF0) == 0xE0 && *at != 0xE0 && *at != 0xED && end - at >= 3 && (at[1] & 0xC0) == 0x80 &&
            (at[2] & 0xC0) == 0x80) {
            at += 3;
            continue;
        }
        const size_t length = utf8_character(at, (size_t)(end - at));
        if (!length)
            return at;
        at += length;
    }
    return NULL;
}
