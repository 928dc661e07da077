/* lines: line ends counted fast, and gone over with other blanks; the mark before the first line. */
#ifndef TIPPLE_BASE_CHARS_LINES_H
#define TIPPLE_BASE_CHARS_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

uint64_t lines_count(const uint8_t *text, size_t length);

/* Goes over blanks, tabs and line ends. */
const uint8_t *lines_blanks(const uint8_t *at, const uint8_t *end);

/* Bytes of a byte-order mark of UTF-8 at the start of a text: 0 or 3. */
static inline size_t lines_bom(const uint8_t *text, size_t length) {
    return length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

#endif
