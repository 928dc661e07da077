#include "base/utf8.h"

static bool tail(const uint8_t *at, size_t count) {
    for (size_t i = 1; i <= count; i++)
        if ((at[i] & 0xC0) != 0x80)
            return false;
    return true;
}

bool utf8_valid(const uint8_t *text, size_t length) {
    const uint8_t *at = text, *end = text + length;
    while (at < end) {
        uint8_t lead = *at;
        size_t more = lead < 0x80   ? 0
                      : lead < 0xC2 ? 4
                      : lead < 0xE0 ? 1
                      : lead < 0xF0 ? 2
                      : lead < 0xF5 ? 3
                                    : 4;
        if (more == 4 || (size_t)(end - at) <= more || !tail(at, more))
            return false;
        if (lead == 0xE0 && at[1] < 0xA0) /* overlong */
            return false;
        if (lead == 0xED && at[1] >= 0xA0) /* surrogates */
            return false;
        if (lead == 0xF0 && at[1] < 0x90) /* overlong */
            return false;
        if (lead == 0xF4 && at[1] >= 0x90) /* above U+10FFFF */
            return false;
        at += more + 1;
    }
    return true;
}

size_t utf8_from_latin1(uint8_t *out, const uint8_t *text, size_t length) {
    uint8_t *to = out;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < 0x80) {
            *to++ = text[i];
        } else {
            *to++ = (uint8_t)(0xC0 | text[i] >> 6);
            *to++ = (uint8_t)(0x80 | (text[i] & 0x3F));
        }
    }
    return (size_t)(to - out);
}
