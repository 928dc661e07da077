#include "format/values/hex.h"

#include <string.h>

enum { SMALL = 0x20, CAPITAL = 0x40 };

const uint8_t hex_digits[256] = {
    ['0'] = 0x80, ['1'] = 0x81, ['2'] = 0x82, ['3'] = 0x83, ['4'] = 0x84, ['5'] = 0x85,
    ['6'] = 0x86, ['7'] = 0x87, ['8'] = 0x88, ['9'] = 0x89, ['a'] = 0xAA, ['b'] = 0xAB,
    ['c'] = 0xAC, ['d'] = 0xAD, ['e'] = 0xAE, ['f'] = 0xAF, ['A'] = 0xCA, ['B'] = 0xCB,
    ['C'] = 0xCC, ['D'] = 0xCD, ['E'] = 0xCE, ['F'] = 0xCF};

bool hex_read_byte(const uint8_t *text, size_t length, uint8_t *out) {
    unsigned value = 0;
    for (size_t i = 0; i < length; i++) {
        const int digit = hex_digit(text[i]);
        if (digit < 0)
            return false;
        value = value << 4 | (unsigned)digit;
    }
    *out = (uint8_t)value;
    return length == 1 || length == 2;
}

/* Is there a dash before this byte of a UUID? */
static bool dash_before(size_t byte) {
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

__attribute__((always_inline)) static inline bool read_bytes(const uint8_t *text, size_t count, bool dashes,
                                                             uint8_t *out, bool *capital) {
    unsigned seen = 0, all = HEX_IS;
    for (size_t i = 0; i < count; i++, text += 2) {
        if (dashes && dash_before(i) && *text++ != '-')
            return false;
        const unsigned high = hex_digits[text[0]], low = hex_digits[text[1]];
        out[i] = (uint8_t)(high << 4 | (low & 15));
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

bool hex_read_objectid(const uint8_t *text, size_t length, uint8_t out[HEX_OBJECTID], bool *capital) {
    const size_t digits = 2 * (size_t)HEX_OBJECTID;
    return length == digits && read_bytes(text, HEX_OBJECTID, false, out, capital);
}

size_t hex_print_objectid(const uint8_t bytes[HEX_OBJECTID], uint8_t *out) {
    return print_bytes(bytes, HEX_OBJECTID, false, out);
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

/* From 1 on; 0: it is no digit. */
static const uint8_t base64_digits[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64};

uint8_t *base64_read(const uint8_t *text, size_t length, uint8_t *out) {
    size_t padding = 0;
    if (length % 4)
        return NULL;
    while (padding < 2 && length && text[length - 1] == '=')
        padding++, length--;
    uint32_t bits = 0, held = 0;
    for (size_t i = 0; i < length; i++) {
        const uint32_t digit = base64_digits[text[i]];
        if (!digit)
            return NULL;
        bits = bits << 6 | (digit - 1);
        held += 6;
        if (held >= 8) {
            held -= 8;
            *out++ = (uint8_t)(bits >> held);
        }
    }
    return bits & ((1u << held) - 1) ? NULL : out; /* bits that would be lost */
}

uint8_t *base64_write(const uint8_t *bytes, size_t length, uint8_t *out) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < length; i += 3) {
        const size_t left = length - i < 3 ? length - i : 3;
        const uint32_t bits = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? bytes[i + 2] : 0);
        for (size_t j = 0; j < 4; j++)
            *out++ = j <= left ? (uint8_t)letters[bits >> (18 - 6 * j) & 63] : '=';
    }
    return out;
}
