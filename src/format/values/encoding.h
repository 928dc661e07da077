/* encoding: text of one byte a character, as UTF-8. */
#ifndef TIPPLE_FORMAT_VALUES_ENCODING_H
#define TIPPLE_FORMAT_VALUES_ENCODING_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* windows-1252 is Latin-1 except for the bytes 80 to 9f: 27 of them are characters, five are none. The numbers stand in the
 * digests of formats. */
typedef enum {
    ENCODING_NONE,           /* UTF-8 */
    ENCODING_UTF8_OR_LATIN1, /* by the value: one that is UTF-8 stays, of another each byte is a character */
    ENCODING_UTF8_OR_WINDOWS_1252, /* so, too */
    ENCODING_LATIN1,               /* each byte is a character, */
    ENCODING_WINDOWS_1252,         /* also where they could be UTF-8 */
    ENCODING_WINDOWS_1252_NOT_UTF8, /* the same, but a value that could be UTF-8 is doubted: nobody has said which */
    ENCODINGS
} encoding_t;

/* As a format file calls it; "utf-8" for none. */
extern const char *const encoding_names[ENCODINGS];

/* Does UTF-8 stay as it is? */
static inline bool encoding_keeps_utf8(encoding_t encoding) {
    return encoding <= ENCODING_UTF8_OR_WINDOWS_1252;
}

bool encoding_is_ascii(const uint8_t *text, size_t length);

/* Is this text one whose bytes are to be made characters, and can be? */
bool encoding_converts(encoding_t encoding, const uint8_t *text, size_t length);

/* Could it be UTF-8, too, where that is doubted? */
bool encoding_doubts(encoding_t encoding, const uint8_t *text, size_t length);

enum { ENCODING_MOST_BYTES = 3 /* of UTF-8 for one byte, in any encoding; in this one: */ };
size_t encoding_most_bytes(encoding_t encoding);

/* One byte as UTF-8, into ENCODING_MOST_BYTES bytes; returns how many. 0: the byte is no character. */
size_t encoding_character(encoding_t encoding, uint8_t byte, uint8_t *out);

/* Are all bytes characters? Not with ENCODING_NONE. */
bool encoding_is(encoding_t encoding, const uint8_t *text, size_t length);

/* Writes at most ENCODING_MOST_BYTES * length bytes of a text that is one; returns how many. */
size_t encoding_to_utf8(encoding_t encoding, uint8_t *out, const uint8_t *text, size_t length);

/* Appends a text in UTF-8: one that does not convert stays as it is. */
void encoding_append(text_t *to, encoding_t encoding, const uint8_t *text, size_t length);

/* The other way: writes at most `length` bytes of a text of UTF-8 as the encoding has them. SIZE_MAX: it has no such
 * character. */
size_t encoding_from_utf8(encoding_t encoding, uint8_t *out, const uint8_t *text, size_t length);

/* Is the text these words of UTF-8, written in the encoding? False for what is UTF-8, and kept by the encoding. any_case: ASCII
 * letters match in any case. */
bool encoding_writes(encoding_t encoding, const char *words, size_t count, const uint8_t *text, size_t length,
                     bool any_case);

/* The same, or the very words. */
static inline bool encoding_same(encoding_t encoding, const char *words, size_t count, const uint8_t *text,
                                 size_t length, bool any_case) {
    if (count == length && (!length || encoding_keeps_utf8(encoding)) &&
        (any_case ? strncasecmp(words, (const char *)text, length) : memcmp(words, text, length)) == 0)
        return true;
    return encoding && length && encoding_writes(encoding, words, count, text, length, any_case);
}

/* ---- other encodings, of which whoever reads a text makes UTF-8 ---- */

/* True if iconv reads text of this encoding, and each byte stands for itself: in an encoding with shift states a single
 * damaged byte would damage all the rest. False also for UTF-8 and UTF-16, which are recognised in the text, for "", which
 * is the locale's, and for names with //IGNORE, by which characters would be lost. */
bool encoding_iconv_knows(const char *encoding);

#endif
