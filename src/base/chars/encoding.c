#include "base/chars/encoding.h"
#include "base/chars/utf8.h"

#include <ctype.h>
#include <string.h>

/* The characters of the bytes 80 to 9f in windows-1252; 0: none. */
static const uint16_t windows[32] = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                     0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                     0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                     0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

static bool is_remapped(encoding_t encoding, uint8_t byte) {
    return encoding == ENCODING_WINDOWS_1252 && byte >= 0x80 && byte < 0xA0;
}

size_t encoding_character(encoding_t encoding, uint8_t byte, uint8_t *out) {
    const uint32_t character = is_remapped(encoding, byte) ? windows[byte - 0x80] : byte;
    const bool has_none = byte >= 0x80 && (!character || encoding == ENCODING_NONE);
    return has_none ? 0 : utf8_put(out, character);
}

bool encoding_is(encoding_t encoding, const uint8_t *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (is_remapped(encoding, text[i]) && !windows[text[i] - 0x80])
            return false;
    return encoding != ENCODING_NONE;
}

size_t encoding_to_utf8(encoding_t encoding, uint8_t *out, const uint8_t *text, size_t length) {
    uint8_t *to = out;
    for (size_t i = 0; i < length; i++)
        to += encoding_character(encoding, text[i], to);
    return (size_t)(to - out);
}

size_t encoding_begins(encoding_t encoding, const uint8_t *words, size_t count, const uint8_t *text,
                       size_t length, bool any_case) {
    size_t at = 0;
    for (size_t i = 0; i < count; at++) {
        uint8_t character[ENCODING_MOST_BYTES];
        const size_t size = at < length ? encoding_character(encoding, text[at], character) : 0;
        if (!size || size > count - i ||
            (memcmp(words + i, character, size) != 0 &&
             !(any_case && size == 1 && words[i] < 0x80 && tolower(words[i]) == tolower(character[0]))))
            return 0;
        i += size;
    }
    return utf8_valid(text, at) ? 0 : at;
}
