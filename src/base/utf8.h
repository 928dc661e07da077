/* utf8: is text UTF-8, and Latin-1 into UTF-8. */
#ifndef TIPPLE_BASE_UTF8_H
#define TIPPLE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Strict: no overlong forms, no surrogates, nothing above U+10FFFF. NUL is a character like any other. */
bool utf8_valid(const uint8_t *text, size_t length);

/* Writes at most 2 * length bytes; returns how many. */
size_t utf8_from_latin1(uint8_t *out, const uint8_t *text, size_t length);

#endif
