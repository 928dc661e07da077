#include "format/values/hex.h"

#include <string.h>

enum { IS = 0x80, SMALL = 0x20, CAPITAL = 0x40 };

static const uint8_t kinds[256] = {
    ['0' ... '9'] = IS, ['a' ... 'f'] = IS | SMALL, ['A' ... 'F'] = IS | CAPITAL};

static inline uint8_t value_of(uint8_t digit) {
    return (uint8_t)((digit & 15) + 9 * (digit >> 6));
}

static int digit_of(uint8_t byte) {
    return kinds[byte] ? value_of(byte) : -1;
}

bool hex_read_byte(const uint8_t *text, size_t length, uint8_t *out) {
    const int high = length == 2 ? digit_of(*text) : 0, low = length ? digit_of(text[length - 1]) : -1;
    *out = (uint8_t)(high << 4 | low);
    return length <= 2 && high >= 0 && low >= 0;
}

/* Is there a dash before this byte of a UUID? */
static bool dash_before(size_t byte) {
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

__attribute__((always_inline)) static inline bool read_bytes(const uint8_t *text, size_t count, bool dashes,
                                                             uint8_t *out, bool *capital) {
    unsigned seen = 0, all = IS;
    for (size_t i = 0; i < count; i++, text += 2) {
        if (dashes && dash_before(i) && *text++ != '-')
            return false;
        const unsigned high = kinds[text[0]], low = kinds[text[1]];
        out[i] = (uint8_t)(value_of(text[0]) << 4 | value_of(text[1]));
        seen |= high | low;
        all &= high & low;
    }
    if (capital)
        *capital = seen & CAPITAL;
    return all && !(capital && *capital && (seen & SMALL));
}

static size_t print_bytes(const uint8_t *bytes, size_t count, bool dashes, uint8_t *out) {
    static const char digits[] = "0123456789abcdef";
    uint8_t *at = out;
    for (size_t i = 0; i < count; i++) {
        if (dashes && dash_before(i))
            *at++ = '-';
        *at++ = (uint8_t)digits[bytes[i] >> 4];
        *at++ = (uint8_t)digits[bytes[i] & 15];
    }
    return (size_t)(at - out);
}

bool hex_read_uuid(const uint8_t *text, size_t length, uint8_t out[HEX_UUID], bool *capital) {
    return length == HEX_UUID_TEXT && read_bytes(text, HEX_UUID, true, out, capital);
}

size_t hex_print_uuid(const uint8_t bytes[HEX_UUID], uint8_t *out) {
    return print_bytes(bytes, HEX_UUID, true, out);
}

bool hex_read(const uint8_t *text, size_t length, uint8_t *out, bool *capital) {
    return length % 2 == 0 && read_bytes(text, length / 2, false, out, capital);
}

size_t hex_print(const uint8_t *bytes, size_t count, uint8_t *out) {
    return print_bytes(bytes, count, false, out);
}

/* ---- base64 ---- */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* What a digit of 6 bits has more than its value, modulo 256; 0: it is no digit. */
static const uint8_t base64_more[256] = {['A' ... 'Z'] = 'A',
                                         ['a' ... 'z'] = 'a' - 26,
                                         ['0' ... '9'] = (uint8_t)('0' - 52),
                                         ['+'] = (uint8_t)('+' - 62),
                                         ['/'] = (uint8_t)('/' - 63)};

uint8_t *base64_read(const uint8_t *text, size_t length, uint8_t *out) {
    size_t padding = 0;
    if (length % 4)
        return NULL;
    while (padding < 2 && length && text[length - 1] == '=')
        padding++, length--;
    uint32_t bits = 0, held = 0;
    for (size_t i = 0; i < length; i++) {
        if (!base64_more[text[i]])
            return NULL;
        bits = bits << 6 | (uint8_t)(text[i] - base64_more[text[i]]);
        held += 6;
        if (held >= 8) {
            held -= 8;
            *out++ = (uint8_t)(bits >> held);
        }
    }
    return bits & ((1u << held) - 1) ? NULL : out; /* bits that would be lost */
}

uint8_t *base64_write(const uint8_t *bytes, size_t length, uint8_t *out) {
    for (size_t i = 0; i < length; i += 3) {
        const size_t left = length - i < 3 ? length - i : 3;
        const uint32_t bits = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? bytes[i + 2] : 0);
        for (size_t j = 0; j < 4; j++)
            *out++ = j <= left ? (uint8_t)letters[bits >> (18 - 6 * j) & 63] : '=';
    }
    return out;
}
