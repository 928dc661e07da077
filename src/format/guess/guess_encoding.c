/* Decides whether text that is not UTF-8 is windows-1252. Nearly any text can be read so, with wrong letters. So each byte above
 * 7f has to stand where languages of Western Europe put the character that it would be; otherwise the user is asked. */
#include "base/chars.h"
#include "format/guess/guess_inner.h"

#include <ctype.h>
#include <string.h>

enum {
    MOST_OF = 32,    /* one byte in this number may be odd in any text */
    NEVER = 1 << 30, /* as many odd ones: the text has bytes that are no characters of windows-1252 */
};

/* The encodings that text which is not UTF-8 has most often, as iconv calls them. */
#define ENCODINGS                                                                                            \
    "WINDOWS-1250 or ISO-8859-2 (Polish, Czech, Hungarian, Romanian), WINDOWS-1251 or KOI8-R (Russian), "    \
    "WINDOWS-1253 (Greek), WINDOWS-1254 (Turkish), WINDOWS-1257 (Baltic), CP850 (DOS), MACINTOSH, "          \
    "GB18030 (Chinese)"

/* The characters that may stand before and after a byte (letters in small): V: a vowel of ASCII, C: another letter of it, W: a
 * letter above 7f, _: none of these; NULL: any. One row has to fit. */
static const struct {
    const char *bytes, *before, *after;
} places[] = {
    /* letters that Eastern encodings have, too; the others stand where those encodings would not have theirs */
    {"\xE4\xE5\xE9\xEB\xED\xF3\xF6\xFA\xFC", NULL, NULL}, /* ä å é ë í ó ö ú ü */
    {"\xDF", "VWC", NULL},                                /* ß */
    {"\xE0\xEC\xF2\xF9", "VC", "_"},                      /* à ì ò ù */
    {"\xE1", "C_iu", "C_uiW"},                            /* á */
    {"\xE2\xE8\xEA\xEE\xF4", "C_aeiou", "C_"},            /* â è ê î ô */
    {"\xE3", "C_Wou", "oes_"},                            /* ã */
    {"\xE6", "C_iu", "Cue"},                              /* æ */
    {"\xF8", "C_eo", "Ceo_"},                             /* ø */
    {"\xE7\xF1", "VWC_", "VW"},                           /* ç ñ */
    {"\xEF", "V", "VC_"},                                 /* ï */
    /* signs */
    {"\x82\x84\x8B\x91\x93\xAB\xBF", "_", NULL},                     /* ‚ „ ‹ ‘ “ « ¿ */
    {"\x85\x92\x94\x96\x97\x99\x9B\xA0\xA9\xAE\xB4\xBB", NULL, "_"}, /* … ’ ” – — ™ › © ® ´ » */
    {"\x80\x95\xA3\xA5\xA7\xB1\xB5\xB7\xBC\xBD\xBE\xD7\xF7", "_", "_"}, /* € • £ ¥ § ± · ¼ ½ ¾ × ÷ */
    {"\x92\xB4", "ldjn", "VWh"},                                        /* l’été */
    {"\x92\xB4", "on", "tnbcdm"},                                       /* O’Neil, don’t */
    {"\x92\xB4", NULL, "s"},                                            /* it’s */
    {"\xB0\xB5", "_n", "_cfmgsl"},                                      /* ° µ, as in N°, °C, µm */
    {"\xB2\xB3", "mo0123456789", "_ak"},                                /* ² ³, as in m² */
};

static bool is_among(uint8_t byte, const char *bytes) {
    return byte && strchr(bytes, byte);
}

static bool is_letter(uint8_t byte) {
    return isalpha(byte) || (byte >= 0xC0 && byte != 0xD7 && byte != 0xF7);
}

static uint8_t small(uint8_t byte) {
    return is_letter(byte) && byte != 0xDF ? byte | 0x20 : byte;
}

static bool stands_by(uint8_t neighbour, const char *among) {
    const uint8_t letter = small(neighbour);
    const char kind = !is_letter(neighbour)        ? '_'
                      : neighbour >= 0x80          ? 'W'
                      : is_among(letter, "aeiouy") ? 'V'
                                                   : 'C';
    return !among || strchr(among, kind) || is_among(letter, among);
}

/* True if text[at], a byte above 7f, stands where it may. A letter stands next to one of ASCII, in a word of three or more. */
static bool is_in_place(const uint8_t *text, size_t length, size_t at) {
    const uint8_t byte = text[at], before = at ? text[at - 1] : 0, after = at + 1 < length ? text[at + 1] : 0;
    const bool capital = small(byte) != byte && is_letter(before) && small(before) == before;
    size_t from = at, to = at;
    bool in_place = false;
    for (size_t i = 0; i < COUNT(places); i++)
        in_place |= is_among(small(byte), places[i].bytes) && stands_by(before, places[i].before) &&
                    stands_by(after, places[i].after);
    while (from && is_letter(text[from - 1]))
        from--;
    while (to < length && is_letter(text[to]))
        to++;
    return in_place && !capital &&
           (!is_letter(byte) || (to - from > 2 && (isalpha(before) || isalpha(after))));
}

void guess_look_at_bytes(guess_t *guess, const uint8_t *text, size_t length) {
    guess_words_t *words = &guess->words;
    enum { KEPT = sizeof words->first / ENCODING_MOST_BYTES - 1 };
    if (encoding_is_ascii(text, length))
        return;
    const bool valid = utf8_valid(text, length),
               possible = !valid && encoding_is(ENCODING_WINDOWS_1252, text, length);
    const char **in = valid ? &guess->wide_characters : &guess->other_bytes;
    *in = *in ? *in : guess->here;
    for (size_t at = 0; !valid && at < length; at++) {
        if (text[at] < 0x80)
            continue;
        words->count++;
        if (possible && is_in_place(text, length, at))
            continue;
        if (!words->odd) {
            size_t from = at;
            while (from && at - from < KEPT / 2 && text[from - 1] > ' ')
                from--;
            words->in = guess->here;
            encoding_to_utf8(possible ? ENCODING_WINDOWS_1252 : ENCODING_LATIN1, (uint8_t *)words->first,
                             text + from, length - from < KEPT ? length - from : KEPT);
        }
        words->odd += possible ? 1 : NEVER;
    }
}

/* Checks what the user says. The first record may have to be written into the format, so it must be text in the encoding. */
static bool check_given(const guess_t *guess, err_t *err) {
    if (guess->marked && !encoding_keeps_utf8(guess->encoding))
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: begins with a byte-order mark, by which its text is UTF-8: leave --with encoding out",
            guess->name);
    return utf8_valid(guess->first.text, guess->first.length) ||
           encoding_converts(guess->encoding, guess->first.text, guess->first.length) ||
           err_set(err, STATUS_INPUT, "%.1000s: its first line is no text in the encoding %s", guess->name,
                   encoding_names[guess->encoding]);
}

bool guess_find_encoding(guess_t *guess, err_t *err) {
    const guess_words_t *words = &guess->words;
    guess->here = guess->name;
    for (size_t i = 0; i < guess->structure.columns; i++)
        guess_look_at_bytes(guess, (const uint8_t *)guess->columns[i].text, guess->columns[i].length);
    if (!utf8_valid(guess->first.text, guess->first.length))
        guess_look_at_bytes(guess, guess->first.text, guess->first.length);
    const uint8_t given = guess->options.encoding;
    guess->encoding = given                ? (encoding_t)(given - 1)
                      : guess->other_bytes ? ENCODING_WINDOWS_1252_NOT_UTF8
                                           : ENCODING_NONE;
    if (given)
        return check_given(guess, err);
    if (words->odd && words->odd * MOST_OF >= words->count)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: its text is not UTF-8, and hardly windows-1252, in which it would have words "
            "such as '%s'. Say which encoding it is: --with encoding=NAME (NAME may be " ENCODINGS
            "; iconv -l lists all), or --with encoding=windows-1252 if it is that after all",
            words->in, words->first);
    const char *utf8 = guess->marked ? guess->name : guess->wide_characters;
    return !guess->other_bytes || !utf8 ||
           err_set(err, STATUS_INPUT,
                   "%.1000s: some of its text is not UTF-8, and some text of %.1000s is: if all of it is "
                   "windows-1252, give --with encoding=windows-1252; else --with "
                   "encoding=utf-8-or-windows-1252, which reads each value as UTF-8 where it can be",
                   guess->other_bytes, utf8);
}
