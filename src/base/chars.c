#include "base/chars.h"

#include <stdio.h>
#include <string.h>

/* ---- UTF-8 ---- */

static bool tail(const uint8_t *at, size_t count) {
    for (size_t i = 1; i <= count; i++)
        if ((at[i] & 0xC0) != 0x80)
            return false;
    return true;
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
    if (!length || left < length || !tail(at, length - 1))
        return 0;
    const bool overlong = (lead == 0xE0 && at[1] < 0xA0) || (lead == 0xF0 && at[1] < 0x90);
    const bool surrogate = lead == 0xED && at[1] >= 0xA0;
    const bool too_high = lead == 0xF4 && at[1] >= 0x90; /* above U+10FFFF */
    return overlong || surrogate || too_high ? 0 : length;
}

/* Eight bytes of ASCII? */
static bool is_plain(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return !(word & 0x8080808080808080u);
}

/* What the bytes so far leave open, as the place of a field in `steps`: nothing, WRONG for good, one to three more bytes, or
 * two or three of which the next one is in a smaller range. */
enum {
    DONE = 0,
    WRONG = 6,
    ONE = 12,
    TWO = 18,
    THREE = 24,
    AFTER_E0 = 30,
    AFTER_ED = 36,
    AFTER_F0 = 42,
    AFTER_F4 = 48
};
#define STEP(from, to) ((uint64_t)((to) ^ WRONG) << (from))
#define ROW(steps)     (0x6186186186186ull ^ (steps)) /* WRONG in all other fields */
#define USUAL          (STEP(ONE, DONE) | STEP(TWO, ONE) | STEP(THREE, TWO))
static const uint64_t steps[256] = {[0 ... 0x7F] = ROW(STEP(DONE, DONE)),
                                    [0x80 ... 0x8F] = ROW(USUAL | STEP(AFTER_ED, ONE) | STEP(AFTER_F4, TWO)),
                                    [0x90 ... 0x9F] = ROW(USUAL | STEP(AFTER_ED, ONE) | STEP(AFTER_F0, TWO)),
                                    [0xA0 ... 0xBF] = ROW(USUAL | STEP(AFTER_E0, ONE) | STEP(AFTER_F0, TWO)),
                                    [0xC0 ... 0xC1] = ROW(0),
                                    [0xC2 ... 0xDF] = ROW(STEP(DONE, ONE)),
                                    [0xE0] = ROW(STEP(DONE, AFTER_E0)),
                                    [0xE1 ... 0xEC] = ROW(STEP(DONE, TWO)),
                                    [0xED] = ROW(STEP(DONE, AFTER_ED)),
                                    [0xEE ... 0xEF] = ROW(STEP(DONE, TWO)),
                                    [0xF0] = ROW(STEP(DONE, AFTER_F0)),
                                    [0xF1 ... 0xF3] = ROW(STEP(DONE, THREE)),
                                    [0xF4] = ROW(STEP(DONE, AFTER_F4)),
                                    [0xF5 ... 0xFF] = ROW(0)};

const uint8_t *utf8_wrong(const uint8_t *at, const uint8_t *end) {
    uint64_t state = DONE;
    const uint8_t *byte = at;
    for (; end - byte >= 8; byte += 8)
        if ((state & 63) != DONE || !is_plain(byte))
            for (int i = 0; i < 8; i++)
                state = steps[byte[i]] >> (state & 63);
    for (; byte < end; byte++)
        state = steps[*byte] >> (state & 63);
    if ((state & 63) == DONE)
        return NULL;
    for (size_t length; at < end && (length = utf8_character(at, (size_t)(end - at))); at += length)
        ;
    return at;
}

/* ---- lines ---- */

#if defined(__GNUC__) && !defined(__clang__)
#define VECTORIZED __attribute__((optimize("O3"))) /* at -O2, gcc 12 does not vectorize this loop */
#else
#define VECTORIZED
#endif

/* Counts in bytes, up to 255 at a time, so that the compiler can compare 16 or 32 bytes at once. */
VECTORIZED uint64_t lines_count(const uint8_t *text, size_t length) {
    enum { LANES = 32 };
    uint64_t lines = 0;
    while (length >= LANES) {
        uint8_t sums[LANES] = {0};
        size_t rounds = length / LANES < 255 ? length / LANES : 255;
        for (size_t round = 0; round < rounds; round++, text += LANES)
            for (int i = 0; i < LANES; i++)
                sums[i] = (uint8_t)(sums[i] + (text[i] == '\n'));
        for (int i = 0; i < LANES; i++)
            lines += sums[i];
        length -= rounds * LANES;
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
    static const char instead[] = "\\x0a";
    enum { MORE = sizeof instead - 2 };
    for (char *at = strchr(format, '\n') ? NULL : strchr(text, '\n'); at; at = strchr(at + 1, '\n')) {
        if (strncmp(at + 1, "  ", 2) == 0)
            continue;
        const size_t before = (size_t)(at - text), after = strlen(at + 1);
        if (before + 1 + MORE >= room) {
            *at = '\0';
            return;
        }
        const size_t left = room - before - 1 - MORE - 1, kept = after < left ? after : left;
        memmove(at + 1 + MORE, at + 1, kept);
        at[1 + MORE + kept] = '\0';
        memcpy(at, instead, 1 + MORE);
        at += MORE;
    }
}
