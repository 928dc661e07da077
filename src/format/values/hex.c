#include "format/values/hex.h"

/* 0 to 15; -1: no such digit, or a letter of the other case than those before it. */
static int digit_of(uint8_t byte, bool *small, bool *capital) {
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f' && !*capital) {
        *small = true;
        return byte - 'a' + 10;
    }
    if (byte >= 'A' && byte <= 'F' && !*small) {
        *capital = true;
        return byte - 'A' + 10;
    }
    return -1;
}

/* Is there a dash before this byte of a UUID? */
static bool dash_before(size_t byte) {
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

static bool read_bytes(const uint8_t *text, size_t count, bool dashes, uint8_t *out, bool *capital) {
    bool small = false;
    *capital = false;
    for (size_t i = 0; i < count; i++) {
        if (dashes && dash_before(i) && *text++ != '-')
            return false;
        const int high = digit_of(*text++, &small, capital), low = digit_of(*text++, &small, capital);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
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
