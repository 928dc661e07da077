#include "base/chars.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

/* ---- UTF-8 ---- */

static bool is_tail(uint8_t byte) {
    return (byte & 0xC0) == 0x80;
}

size_t utf8_character(const uint8_t *at, size_t left) {
    if (!left)
        return 0;
    uint8_t lead = *at;
    size_t length = lead < 0x80   ? 1
                    : lead < 0xC2 ? 0
                    : lead < 0xE0 ? 2
                    : lead < 0xF0 ? 3
                    : lead < 0xF5 ? 4
                                  : 0;
    if (left < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if (!is_tail(at[i]))
            return 0;
    const bool overlong = (lead == 0xE0 && at[1] < 0xA0) || (lead == 0xF0 && at[1] < 0x90);
    const bool surrogate = lead == 0xED && at[1] >= 0xA0;
    const bool too_high = lead == 0xF4 && at[1] >= 0x90; /* above U+10FFFF */
    return overlong || surrogate || too_high ? 0 : length;
}

const uint8_t *utf8_wrong(const uint8_t *at, const uint8_t *end) {
    for (size_t length; at < end; at += length) {
        const size_t left = (size_t)(end - at);
        uint64_t word;
        length = 1;
        if (*at < 0x80 && left >= 8) { /* how many of the next eight are ASCII */
            memcpy(&word, at, 8);
            word = le64toh(word) & 0x8080808080808080u;
            length = word ? (size_t)__builtin_ctzll(word) / 8 : 8;
        } else if (*at >= 0xC2 && *at < 0xE0 && left >= 2 && is_tail(at[1]))
            length = 2;
        else if (*at > 0xE0 && *at < 0xED && left >= 3 && is_tail(at[1]) && is_tail(at[2]))
            length = 3;
        else if (*at >= 0x80 && !(length = utf8_character(at, left)))
            return at;
    }
    return NULL;
}

/* ---- lines ---- */

/* Counts in bytes, two vectors of them at once, up to 127 times. */
uint64_t lines_count(const uint8_t *text, size_t length) {
    enum { LANES = 16, STEP = 2 * LANES };
    typedef uint8_t lanes_t __attribute__((vector_size(LANES)));
    uint64_t lines = 0;
    while (length >= STEP) {
        lanes_t sums = {0}, bytes[2];
        size_t rounds = length / STEP < 127 ? length / STEP : 127;
        for (size_t round = 0; round < rounds; round++, text += STEP) {
            memcpy(bytes, text, STEP);
            sums -= (lanes_t)(bytes[0] == '\n') + (lanes_t)(bytes[1] == '\n'); /* true is -1 */
        }
        for (int i = 0; i < LANES; i++)
            lines += sums[i];
        length -= rounds * STEP;
    }
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

const uint8_t *lines_blanks(const uint8_t *at, const uint8_t *end) {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* ---- escaped ---- */

static void copy(char piece[ESCAPE_PIECE], const uint8_t *at, size_t length) {
    memcpy(piece, at, length);
    piece[length] = '\0';
}

/* Line ends of Unicode, and what makes a text run from right to left, by which it looks like another one: U+200E,
 * U+200F, U+2028 to U+202E, U+2066 to U+2069. 0: another character. */
static unsigned misleads(const uint8_t *at, size_t length) {
    if (length != 3 || *at != 0xE2 || at[1] > 0x81)
        return 0;
    const unsigned number = 0x2000 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
    const bool one = (number & ~1u) == 0x200E || (number >= 0x2028 && number <= 0x202E) ||
                     (number >= 0x2066 && number <= 0x2069);
    return one ? number : 0;
}

size_t escape_shown(const uint8_t *at, size_t left, char piece[ESCAPE_PIECE]) {
    const size_t length = utf8_character(at, left);
    const unsigned number = misleads(at, length);
    if (number) {
        snprintf(piece, ESCAPE_PIECE, "\\u%04x", number);
        return length;
    }
    if (length && !utf8_is_control(at, length)) {
        copy(piece, at, length);
        return length;
    }
    snprintf(piece, ESCAPE_PIECE, length == 2 ? "\\x%02x\\x%02x" : "\\x%02x", at[0], at[length == 2]);
    return length ? length : 1;
}

size_t escape_json(const uint8_t *at, size_t left, char piece[ESCAPE_PIECE]) {
    static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    const size_t length = utf8_character(at, left);
    if (!length) {
        strcpy(piece, "\xEF\xBF\xBD");
        return 1;
    }
    for (const char *known = shorts; *known; known += 2) {
        if (*at == (uint8_t)*known) {
            snprintf(piece, ESCAPE_PIECE, "\\%c", known[1]);
            return 1;
        }
    }
    const bool control = utf8_is_control(at, length);
    const unsigned number = control ? at[length - 1] : misleads(at, length); /* C1: C2 80 is U+0080 */
    if (control || number)
        snprintf(piece, ESCAPE_PIECE, "\\u%04x", number);
    else
        copy(piece, at, length);
    return length;
}

char *escape_text(char *out, size_t room, const char *text, size_t length) {
    size_t used = 0;
    for (size_t at = 0; at < length;) {
        char piece[ESCAPE_PIECE];
        at += escape_shown((const uint8_t *)text + at, length - at, piece);
        const size_t more = strlen(piece);
        if (used + more >= room)
            break;
        memcpy(out + used, piece, more);
        used += more;
    }
    out[used] = '\0';
    return out;
}

void escape_lines(char *out, const char *text, size_t length) {
    *out = '\0';
    for (size_t at = 0; at < length;) {
        char piece[ESCAPE_PIECE] = "\n";
        at += text[at] == '\n' ? 1 : escape_shown((const uint8_t *)text + at, length - at, piece);
        out = stpcpy(out, piece);
    }
}

void escape_line_ends(char *text, size_t room, const char *format) {
    char rest[4096];
    for (char *at = strchr(format, '\n') ? NULL : strchr(text, '\n'); at; at = strchr(at + 1, '\n')) {
        if (strncmp(at + 1, "  ", 2) == 0)
            continue;
        snprintf(rest, sizeof rest, "%s", at + 1);
        snprintf(at, room - (size_t)(at - text), "\\x0a%s", rest);
    }
}
