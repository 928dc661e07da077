/* chars: what a text is made of. A text of others (a header, a value, a file name) is bytes until it was checked: it may
 * not be UTF-8, and a terminal would obey its control characters. So it is shown escaped, and a line end in it never
 * begins a line, which could look like a sentence of ours. Any thread. */
#ifndef TIPPLE_BASE_CHARS_H
#define TIPPLE_BASE_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- UTF-8 ---- */

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

/* ---- lines ---- */

uint64_t lines_count(const uint8_t *text, size_t length);

/* Skips blanks, tabs and line ends. */
const uint8_t *lines_blanks(const uint8_t *at, const uint8_t *end);

/* Bytes of a byte order mark of UTF-8 at the start of a text: 0 or 3. */
static inline size_t lines_bom(const uint8_t *text, size_t length) {
    return length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* ---- escaped ---- */

enum { ESCAPE_PIECE = 12 };

/* Writes the character at the start of [at, at + left) as a string to `piece`. Returns how many bytes the character
 * has, at least one. On a terminal, \x1b is written for each byte of a control character (a line end is one, too) and
 * for each byte that is not UTF-8, and \u202e for a character that ends a line or turns the direction of a text. */
size_t escape_shown(const uint8_t *at, size_t left, char piece[ESCAPE_PIECE]);

/* The same within a JSON string: \u001b for a control character, U+FFFD for a byte that is not UTF-8. */
size_t escape_json(const uint8_t *at, size_t left, char piece[ESCAPE_PIECE]);

/* A whole text, escaped for a terminal. What does not fit is left out, a whole character at a time. Returns out. */
char *escape_text(char *out, size_t room, const char *text, size_t length);

/* A whole text of our own that contains text of others: line ends are kept. out has room for four times the text and a
 * NUL. */
void escape_lines(char *out, const char *text, size_t length);

/* A text that was printed by this format: a line end in it is ours if the format has line ends, or if it begins a line
 * that is indented, as lists of ours are. Each other one came with a text of others, which could begin a line that looks
 * like a sentence of ours: it becomes \x0a. What has no room after it then is left out. */
void escape_line_ends(char *text, size_t room, const char *format);

#endif
