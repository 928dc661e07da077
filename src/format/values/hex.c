#include "format/values/values.h"

#include <openssl/evp.h>
#include <string.h>

/* Eight digits at once, a byte each. */
typedef uint64_t eight_t;
enum { EIGHT = sizeof(eight_t) };
#define ALL(byte) ((eight_t)(byte)*0x0101010101010101u)

/* The highest bit of each byte that is at least `least`, where no byte has that bit itself. */
static inline eight_t from(eight_t bytes, uint8_t least) {
    return (bytes + ALL(0x80 - least)) & ALL(0x80);
}

/* Writes four bytes. *capital and *small: any letter so far is one. False: not all of the eight are digits. */
static inline bool read_eight(const uint8_t *text, uint8_t *out, bool *capital, bool *small) {
    eight_t bytes;
    memcpy(&bytes, text, EIGHT);
    const eight_t folded = bytes | ALL(0x20), plain = from(bytes, '0') & ~from(bytes, '9' + 1),
                  letters = from(folded, 'a') & ~from(folded, 'f' + 1), are_small = bytes << 2 & letters;
    if ((bytes & ALL(0x80)) || (plain | letters) != ALL(0x80))
        return false;
    *small |= are_small != 0;
    *capital |= are_small != letters;
    eight_t values = (bytes & ALL(0x0F)) + (letters >> 7) * 9;
    values = (values << 4 | values >> 8) & 0x00FF00FF00FF00FFu;
    values = (values | values >> 8) & 0x0000FFFF0000FFFFu;
    const uint32_t packed = (uint32_t)(values | values >> 16);
    memcpy(out, &packed, sizeof packed);
    return true;
}

bool hex_read(const uint8_t *text, size_t length, uint8_t *out, bool *capital) {
    bool any_capital = false, any_small = false;
    for (size_t at = 0; at < length; at += EIGHT) {
        const bool whole = length - at >= EIGHT;
        uint8_t padded[EIGHT] = "00000000", bytes[EIGHT / 2];
        if (!whole)
            memcpy(padded, text + at, length - at);
        if (!read_eight(whole ? text + at : padded, whole ? out + at / 2 : bytes, &any_capital, &any_small))
            return false;
        if (!whole)
            memcpy(out + at / 2, bytes, (length - at) / 2);
    }
    if (capital)
        *capital = any_capital;
    return length % 2 == 0 && !(capital && any_capital && any_small);
}

bool hex_read_byte(const uint8_t *text, size_t length, uint8_t *out) {
    const uint8_t two[] = {length == 2 ? text[0] : '0', length ? text[length - 1] : ' '};
    return length <= 2 && hex_read(two, sizeof two, out, NULL);
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
    return hex_read(digits, sizeof digits, out, capital);
}

size_t hex_print(const uint8_t *bytes, size_t count, uint8_t *out) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        *out++ = (uint8_t)digits[bytes[i] >> 4];
        *out++ = (uint8_t)digits[bytes[i] & 15];
    }
    return 2 * count;
}

size_t hex_print_uuid(const uint8_t bytes[HEX_UUID], uint8_t *out) {
    uint8_t *at = out;
    for (size_t i = 0; i < HEX_UUID; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        at += hex_print(bytes + i, 1, at);
    }
    return (size_t)(at - out);
}

/* ---- base64 ---- */

/* OpenSSL takes = for a digit, and bits of the last digits that are lost. */
uint8_t *base64_read(const uint8_t *text, size_t length, uint8_t *out) {
    uint8_t again[5];
    if (!length || length % 4)
        return length ? NULL : out;
    const int padding = (text[length - 1] == '=') + (text[length - 1] == '=' && text[length - 2] == '=');
    const int bytes = EVP_DecodeBlock(out, text, (int)length);
    if (memchr(text, '=', length - (size_t)padding) || (size_t)bytes != length / 4 * 3)
        return NULL;
    EVP_EncodeBlock(again, out + bytes - 3, 3 - padding);
    return memcmp(again, text + length - 4, 4) == 0 ? out + bytes - padding : NULL;
}

uint8_t *base64_write(const uint8_t *bytes, size_t length, uint8_t *out) {
    return out + EVP_EncodeBlock(out, bytes, (int)length);
}
