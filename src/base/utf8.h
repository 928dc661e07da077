/* utf8: checks that text is UTF-8, finds its characters, and converts Latin-1 to UTF-8. */
#ifndef TIPPLE_BASE_UTF8_H
#define TIPPLE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Strict: no overlong forms, no surrogates, nothing above U+10FFFF. NUL is a character like any other. */
bool utf8_valid(const uint8_t *text, size_t length);

/* How many bytes the character at the start of [at, at + left) has, 1 to 4; 0: it is not UTF-8. */
size_t utf8_character(const uint8_t *at, size_t left);

/* Does a terminal obey this character: C0, DEL, or C1 (two bytes, C2 80 to C2 9F)? */
static inline bool utf8_is_control(const uint8_t *at, size_t length) {
    return length == 1 ? *at < ' ' || *at == 0x7F : length == 2 && *at == 0xC2 && at[1] < 0xA0;
}

#endif
