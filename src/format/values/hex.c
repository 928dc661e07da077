#include "format/values/hex.h"

const int8_t hex_digits[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16};

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

/* Are its letters all small or all capital? */
static bool is_one_case(const uint8_t *text, size_t length, bool *capital) {
    bool small = false;
    *capital = false;
    for (size_t i = 0; i < length; i++)
        if (text[i] >= 'A')
            *(text[i] >= 'a' ? &small : capital) = true;
    return !(small && *capital);
}

/* Is there a dash before this byte of a UUID? */
static bool dash_before(size_t byte) {
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

static bool read_bytes(const uint8_t *text, size_t count, bool dashes, uint8_t *out, bool *capital) {
    const uint8_t *at = text;
    for (size_t i = 0; i < count; i++) {
        if (dashes && dash_before(i) && *at++ != '-')
            return false;
        const int high = hex_digit(*at++), low = hex_digit(*at++);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return !capital || is_one_case(text, (size_t)(at - text), capital);
}

static size_t print_bytes(const uint8_t *bytes, size_t count, bool dashes, bool capital, uint8_t *out) {
    const char *digits = capital ? "0123456789ABCDEF" : "0123456789abcdef";
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

size_t hex_print_objectid(const uint8_t bytes[HEX_OBJECTID], bool capital, uint8_t *out) {
    return print_bytes(bytes, HEX_OBJECTID, false, capital, out);
}

bool hex_read_uuid(const uint8_t *text, size_t length, uint8_t out[HEX_UUID], bool *capital) {
    return length == HEX_UUID_TEXT && read_bytes(text, HEX_UUID, true, out, capital);
}

size_t hex_print_uuid(const uint8_t bytes[HEX_UUID], bool capital, uint8_t *out) {
    return print_bytes(bytes, HEX_UUID, true, capital, out);
}

bool hex_read(const uint8_t *text, size_t length, uint8_t *out, bool *capital) {
    return length % 2 == 0 && read_bytes(text, length / 2, false, out, capital);
}

size_t hex_print(const uint8_t *bytes, size_t count, bool capital, uint8_t *out) {
    return print_bytes(bytes, count, false, capital, out);
}
