#include "base/chars/escape.h"
#include "base/chars/utf8.h"

#include <stdio.h>
#include <string.h>

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
    static const char instead[] = "\\x0a";
    enum { MORE = sizeof instead - 2 };
    for (char *at = strchr(format, '\n') ? NULL : strchr(text, '\n'); at; at = strchr(at + 1, '\n')) {
        if (strncmp(at + 1, "  ", 2) == 0)
            continue;
        const size_t before = (size_t)(at - text), behind = strlen(at + 1);
        if (before + 1 + MORE >= room) {
            *at = '\0';
            return;
        }
        const size_t left = room - before - 1 - MORE - 1, kept = behind < left ? behind : left;
        memmove(at + 1 + MORE, at + 1, kept);
        at[1 + MORE + kept] = '\0';
        memcpy(at, instead, 1 + MORE);
        at += MORE;
    }
}
