#include "format/values/hex.h"

#include <string.h>

enum { SMALL = 0x20, CAPITAL = 0x40 };
const uint8_t hex_digits[256] = {[0 ... '0' - 1] = HEX_NONE,
                                 ['9' + 1 ... 'A' - 1] = HEX_NONE,
                                 ['F' + 1 ... 'a' - 1] = HEX_NONE,
                                 ['f' + 1 ... 255] = HEX_NONE,
                                 ['0'] = 0,
                                 1,
                                 2,
                                 3,
                                 4,
                                 5,
                                 6,
                                 7,
                                 8,
                                 9,
                                 ['a'] = SMALL | 10,
                                 SMALL | 11,
                                 SMALL | 12,
                                 SMALL | 13,
                                 SMALL | 14,
                                 SMALL | 15,
                                 ['A'] = CAPITAL | 10,
                                 CAPITAL | 11,
                                 CAPITAL | 12,
                                 CAPITAL | 13,
                                 CAPITAL | 14,
                                 CAPITAL | 15};

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

static bool read_bytes(const uint8_t *text, size_t count, uint8_t *out, bool *capital) {
    unsigned seen = 0;
    for (size_t i = 0; i < count; i++, text += 2) {
        const unsigned high = hex_digits[text[0]], low = hex_digits[text[1]];
        out[i] = (uint8_t)(high << 4 | (low & 15));
        seen |= high | low;
    }
    if (capital)
        *capital = seen & CAPITAL;
    return !(seen & HEX_NONE) && !(capital && *capital && (seen & SMALL));
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
    return length == digits && read_bytes(text, HEX_OBJECTID, out, capital);
}

size_t hex_print_objectid(const uint8_t bytes[HEX_OBJECTID], uint8_t *out) {
    return print_bytes(bytes, HEX_OBJECTID, false, out);
}

bool hex_read_uuid(const uint8_t *text, size_t length, uint8_t out[HEX_UUID], bool *capital) {
    uint8_t digits[2 * HEX_UUID];
    if (length != HEX_UUID_TEXT || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-')
        return false;
    memcpy(digits, text, 8);
    memcpy(digits + 8, text + 9, 4);
    memcpy(digits + 12, text + 14, 4);
    memcpy(digits + 16, text + 19, 4);
    memcpy(digits + 20, text + 24, 12);
    return read_bytes(digits, HEX_UUID, out, capital);
}

size_t hex_print_uuid(const uint8_t bytes[HEX_UUID], uint8_t *out) {
    return print_bytes(bytes, HEX_UUID, true, out);
}

bool hex_read(const uint8_t *text, size_t length, uint8_t *out, bool *capital) {
    return length % 2 == 0 && read_bytes(text, length / 2, out, capital);
}

size_t hex_print(const uint8_t *bytes, size_t count, uint8_t *out) {
    return print_bytes(bytes, count, false, out);
}
