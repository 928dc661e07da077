#include "base/utf8.h"

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

bool utf8_valid(const uint8_t *text, size_t length) {
    for (size_t at = 0, more; at < length; at += more)
        if (!(more = utf8_character(text + at, length - at)))
            return false;
    return true;
}
