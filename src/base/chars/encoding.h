/* encoding: text of one byte a character, as UTF-8. */
#ifndef TIPPLE_BASE_CHARS_ENCODING_H
#define TIPPLE_BASE_CHARS_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* windows-1252 is Latin-1 but for the bytes 80 to 9f: 27 of them are characters, five are none. */
typedef enum { ENCODING_NONE, ENCODING_LATIN1, ENCODING_WINDOWS_1252 } encoding_t;

enum { ENCODING_MOST_BYTES = 3 /* of UTF-8 for one byte */ };

/* One byte as UTF-8, into ENCODING_MOST_BYTES bytes; returns how many. 0: the byte is no character. */
size_t encoding_character(encoding_t encoding, uint8_t byte, uint8_t *out);

/* Are all bytes characters? Not with ENCODING_NONE. */
bool encoding_is(encoding_t encoding, const uint8_t *text, size_t length);

/* Writes at most ENCODING_MOST_BYTES * length bytes of a text that is one; returns how many. */
size_t encoding_to_utf8(encoding_t encoding, uint8_t *out, const uint8_t *text, size_t length);

/* Does a text begin with these words of UTF-8, but written in the encoding? Returns how many bytes of the text they are;
 * 0: no, or the text begins in UTF-8. any_case: ASCII letters match in any case. */
size_t encoding_begins(encoding_t encoding, const uint8_t *words, size_t count, const uint8_t *text,
                       size_t length, bool any_case);

#endif
