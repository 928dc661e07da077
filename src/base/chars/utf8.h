/* utf8: checks that text is UTF-8, finds its characters, and writes them. */
#ifndef TIPPLE_BASE_CHARS_UTF8_H
#define TIPPLE_BASE_CHARS_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first place that is not UTF-8; NULL: all of it is. Strict: no overlong forms, no surrogates, nothing above
 * U+10FFFF. NUL is a character like any other. */
const uint8_t *utf8_wrong(const uint8_t *text, const uint8_t *end);

static inline bool utf8_valid(const uint8_t *text, size_t length) {
    return !utf8_wrong(text, text + length);
}

/* How many bytes the character at the start of [at, at + left) has, 1 to 4; 0: it is not UTF-8. */
size_t utf8_character(const uint8_t *at, size_t left);

/* Writes the character of this number, less than 0x110000, and returns how many bytes it has, 1 to 4. */
static inline size_t utf8_put(uint8_t *to, uint32_t character) {
    uint8_t *const begin = to;
    if (character < 0x80) {
        *to = (uint8_t)character;
        return 1;
    }
    if (character < 0x800) {
        *to++ = (uint8_t)(0xC0 | character >> 6);
    } else {
        if (character < 0x10000) {
            *to++ = (uint8_t)(0xE0 | character >> 12);
        } else {
            *to++ = (uint8_t)(0xF0 | character >> 18);
            *to++ = (uint8_t)(0x80 | (character >> 12 & 0x3F));
        }
        *to++ = (uint8_t)(0x80 | (character >> 6 & 0x3F));
    }
    *to++ = (uint8_t)(0x80 | (character & 0x3F));
    return (size_t)(to - begin);
}

/* How many columns of a terminal a text takes: bytes that continue a character take none. */
static inline size_t utf8_columns(const char *text) {
    size_t columns = 0;
    for (; *text; text++)
        columns += (*text & 0xC0) != 0x80;
    return columns;
}

/* Does a terminal obey this character: C0, DEL, or C1 (two bytes, C2 80 to C2 9F)? */
static inline bool utf8_is_control(const uint8_t *at, size_t length) {
    return length == 1 ? *at < ' ' || *at == 0x7F : length == 2 && *at == 0xC2 && at[1] < 0xA0;
}

#endif
