/* lines: line ends counted fast, and gone over with other blanks. */
#ifndef TIPPLE_BASE_CHARS_LINES_H
#define TIPPLE_BASE_CHARS_LINES_H

#include <stddef.h>
#include <stdint.h>

uint64_t lines_count(const uint8_t *text, size_t length);

/* Goes over blanks, tabs and line ends. */
const uint8_t *lines_blanks(const uint8_t *at, const uint8_t *end);

#endif
