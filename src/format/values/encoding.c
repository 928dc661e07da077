#include "base/chars.h"
#include "format/values/values.h"

#include <ctype.h>
#include <iconv.h>
#include <string.h>

/* The characters of the bytes 80 to 9f in windows-1252; 0: none. */
static const uint16_t windows[32] = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                     0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                     0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                     0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

const char *const encoding_names[ENCODINGS] = {
    [ENCODING_NONE] = "utf-8",
    [ENCODING_UTF8_OR_LATIN1] = "utf-8-or-latin1",
    [ENCODING_UTF8_OR_WINDOWS_1252] = "utf-8-or-windows-1252",
    [ENCODING_LATIN1] = "latin1",
    [ENCODING_WINDOWS_1252] = "windows-1252",
    [ENCODING_WINDOWS_1252_NOT_UTF8] = "windows-1252-not-utf-8",
};

static bool is_windows(encoding_t encoding) {
    return encoding == ENCODING_WINDOWS_1252 || encoding == ENCODING_UTF8_OR_WINDOWS_1252 ||
           encoding == ENCODING_WINDOWS_1252_NOT_UTF8;
}

static bool is_remapped(encoding_t encoding, uint8_t byte) {
    return byte >= 0x80 && byte < 0xA0 && is_windows(encoding);
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

bool encoding_is_ascii(const uint8_t *text, size_t length) {
    uint64_t bits = 0;
    size_t at = 0;
    for (; at + 32 <= length; at += 32)
        bits |= digits_load(text + at) | digits_load(text + at + 8) | digits_load(text + at + 16) |
                digits_load(text + at + 24);
    for (; at < length; at++)
        bits |= text[at];
    return !(bits & 0x8080808080808080ull);
}

bool encoding_converts(encoding_t encoding, const uint8_t *text, size_t length) {
    return encoding_is(encoding, text, length) &&
           (!encoding_keeps_utf8(encoding) || !utf8_valid(text, length));
}

bool encoding_doubts(encoding_t encoding, const uint8_t *text, size_t length) {
    return encoding == ENCODING_WINDOWS_1252_NOT_UTF8 && !encoding_is_ascii(text, length) &&
           utf8_valid(text, length);
}

size_t encoding_to_utf8(encoding_t encoding, uint8_t *out, const uint8_t *text, size_t length) {
    uint8_t *to = out;
    for (size_t i = 0; i < length; i++)
        to += encoding_character(encoding, text[i], to);
    return (size_t)(to - out);
}

void encoding_append(text_t *to, encoding_t encoding, const uint8_t *text, size_t length) {
    if (!encoding || !encoding_converts(encoding, text, length))
        text_append_bytes(to, (const char *)text, length);
    else if (text_grow(to, ENCODING_MOST_BYTES * length))
        to->length += encoding_to_utf8(encoding, (uint8_t *)to->bytes + to->length, text, length);
}

size_t encoding_most_bytes(encoding_t encoding) {
    return is_windows(encoding) ? ENCODING_MOST_BYTES : encoding ? 2 : 1;
}

/* The byte whose character it is; 0: there is none. */
static uint8_t byte_of(encoding_t encoding, const uint8_t *character, size_t size) {
    for (unsigned byte = 0x80; byte <= 0xFF; byte++) {
        uint8_t other[ENCODING_MOST_BYTES];
        if (encoding_character(encoding, (uint8_t)byte, other) == size && memcmp(other, character, size) == 0)
            return (uint8_t)byte;
    }
    return 0;
}

size_t encoding_from_utf8(encoding_t encoding, uint8_t *out, const uint8_t *text, size_t length) {
    size_t written = 0;
    for (size_t at = 0; at < length; written++) {
        const size_t size = utf8_character(text + at, length - at);
        out[written] = size == 1 ? text[at] : size ? byte_of(encoding, text + at, size) : 0;
        if (!size || (!out[written] && text[at]))
            return SIZE_MAX;
        at += size;
    }
    return written;
}

bool encoding_writes(encoding_t encoding, const char *words, size_t count, const uint8_t *text, size_t length,
                     bool any_case) {
    size_t at = 0, i = 0, size;
    uint8_t character[ENCODING_MOST_BYTES];
    for (; at < length && i < count; i += size, at++) {
        size = encoding_character(encoding, text[at], character);
        if (!size || size > count - i ||
            (memcmp(words + i, character, size) != 0 &&
             !(any_case && size == 1 && tolower((uint8_t)words[i]) == tolower(character[0]))))
            return false;
    }
    return at == length && i == count && !(encoding_keeps_utf8(encoding) && utf8_valid(text, length));
}

/* ---- other encodings ---- */

#define NO_ICONV ((iconv_t)-1)

/* Encodes a character and ends the text: an encoding with shift states then writes bytes that shift back. */
static bool shifts(iconv_t encode, const char *character) {
    char bytes[32], *in = (char *)(uintptr_t)character, *out = bytes;
    size_t left = strlen(character), room = sizeof bytes;
    iconv(encode, &in, &left, &out, &room);
    const char *const encoded = out;
    iconv(encode, NULL, NULL, &out, &room);
    return out != encoded;
}

bool encoding_iconv_knows(const char *encoding) {
    static const char *const letters[] = {"\u00e9", "\u3042", "\u4e2d", "\ud55c"};
    if (!*encoding || strchr(encoding, '/') || strncasecmp(encoding, "utf", 3) == 0)
        return false;
    const iconv_t decode = iconv_open("UTF-8", encoding), encode = iconv_open(encoding, "UTF-8");
    bool knows = decode != NO_ICONV && encode != NO_ICONV;
    for (size_t i = 0; knows && i < sizeof letters / sizeof *letters; i++)
        knows = !shifts(encode, letters[i]);
    if (decode != NO_ICONV)
        iconv_close(decode);
    if (encode != NO_ICONV)
        iconv_close(encode);
    return knows;
}
