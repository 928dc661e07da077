/* Decides whether text that is not UTF-8 is windows-1252. Each word has to be one that a language of Western Europe may write,
 * and each sign has to stand where such a language puts it; otherwise the user is asked. Both rules are tables. */
#include "base/chars.h"
#include "format/guess/guess_inner.h"

#include <string.h>

enum {
    MOST_OF = 32,     /* one odd word in this number may be in any text */
    LONGEST_WIDE = 2, /* letters above 7f in a row */
    MANY = 1000,
};

/* The encodings that text which is not UTF-8 has most often, as iconv calls them. */
#define ENCODINGS                                                                                            \
    "WINDOWS-1250 or ISO-8859-2 (Polish, Czech, Hungarian, Romanian), WINDOWS-1251 or KOI8-R (Russian), "    \
    "WINDOWS-1253 (Greek), WINDOWS-1254 (Turkish), WINDOWS-1257 (Baltic), CP850 (DOS), MACINTOSH, "          \
    "GB18030 (Chinese)"

/* Letters in small, and which languages have them: German, French, Spanish, Portuguese, Italian, sWedish, Danish. Where other
 * encodings have other letters, they stand after one of `before` and in front of one of `after`. V: a vowel of ASCII, C: another
 * letter of it, W: a letter above 7f, _: the word's edge; NULL: any. */
static const struct {
    const char *letters, *languages, *before, *after;
} letters[] = {
    {"\x9C", "f", "C_", "uidtn"},       /* œ */
    {"\xDF", "g", "VWC", "VWC_"},       /* ß */
    {"\xE0", "fpi", "VC_", "_"},        /* à */
    {"\xE1", "sp", "C_iu", "C_uiW"},    /* á */
    {"\xE2", "fp", "C_iu", "C_"},       /* â */
    {"\xE3", "p", "C_Wou", "oes_"},     /* ã */
    {"\xE4\xF6", "gw", NULL, NULL},     /* ä ö */
    {"\xE5", "wd", NULL, NULL},         /* å */
    {"\xE6", "d", "C_iu", "Cue"},       /* æ */
    {"\xE7", "fp", "VWC_", "VW"},       /* ç */
    {"\xE8", "fi", "C_iu", "C_"},       /* è */
    {"\xE9", "gfspiwd", NULL, NULL},    /* é */
    {"\xEA", "fp", "C_iuo", "CV_"},     /* ê */
    {"\xEB", "f", NULL, NULL},          /* ë */
    {"\xEC\xF2", "i", "VC", "_"},       /* ì ò */
    {"\xED\xF3\xFA", "sp", NULL, NULL}, /* í ó ú */
    {"\xEE", "f", "C_aou", "C_"},       /* î */
    {"\xEF", "f", "V", "VC_"},          /* ï */
    {"\xF1", "s", "VW", "VW"},          /* ñ */
    {"\xF4", "fp", "C_ie", "C_"},       /* ô */
    {"\xF5", "p", "VCW", "e"},          /* õ */
    {"\xF8", "d", "C_eo", "Ceo_"},      /* ø */
    {"\xF9", "fi", "VC", "_"},          /* ù */
    {"\xFB", "f", "bsmldroea", "trcl"}, /* û */
    {"\xFC", "gfspw", NULL, NULL},      /* ü */
    {"\xFF", "f", "a", "_"},            /* ÿ */
};

/* Words of one and two letters. */
static const char short_words[] =
    " \xE0 \xE8 \xE9 \xF3 \xE5 \xF8 o\xF9 l\xE0 s\xEC s\xED t\xFA s\xF3 \xE9l d\xFB n\xE9 p\xE5 n\xE5 f\xE5 "
    "s\xE5 \xE5r \xE4r \xF6l y\xF6 ";

/* Which letters may stand around a sign; one row has to fit. before: at most this number of letters before the sign; after it
 * none, or least_after to after. between, if it is not 0, instead: letters on one side only, or at least this number on both.
 * last: the characters that may stand before the sign; NULL: any. */
static const struct {
    const char *signs;
    size_t before, least_after, after, between;
    const char *last;
} signs[] = {
    {"\x82\x84\x85\x8B\x91\x93\xAB\xB1\xBF", 0, 1, MANY, 0, NULL}, /* ‚ „ … ‹ ‘ “ « ± ¿ */
    {"\xA1", 0, 2, MANY, 0, NULL},                                 /* ¡ */
    {"\x94\x99\x9B\xA9\xAE\xBB", MANY, 0, 0, 0, NULL},             /* ” ™ › © ® » */
    {"\x80\xA3\xA5\xA7\xBC\xBD\xBE", 0, 0, 0, 0, NULL},            /* € £ ¥ § ¼ ½ ¾ */
    {"\x95\xB7\xD7\xF7", 1, 1, 1, 0, NULL},                        /* • · × ÷ */
    {"\xAA\xBA", 2, 0, 0, 0, NULL},                                /* ª º, as in Nº */
    {"\xB0", 1, 1, MANY, 0, NULL},                                 /* °, as in N° */
    {"\xAA\xBA", 0, 1, 1, 0, "0123456789"},                        /* and in 3ºD */
    {"\xB5", 0, 1, 3, 0, NULL},                                    /* µ, as in µmol */
    {"\xB2\xB3", 3, 1, MANY, 0, "mtndO0123456789"},                /* ² ³ */
    {"\x96\x97", 0, 0, 0, 3, NULL},                                /* dashes */
    {"\xA0", 0, 0, 0, 2, NULL},                                    /* a blank */
    {"\x92\xB4", 0, 0, 0, MANY, NULL},                             /* ’, or as in l’été and don’t */
};

static bool is_plain(uint8_t byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_wide(uint8_t byte) {
    return (byte >= 0xC0 && byte != 0xD7 && byte != 0xF7) ||
           (byte && strchr("\x8A\x8C\x8E\x9A\x9C\x9E\x9F", byte));
}

static bool is_letter(uint8_t byte) {
    return is_plain(byte) || is_wide(byte);
}

static bool is_among(uint8_t byte, const char *bytes) {
    return byte && strchr(bytes, byte);
}

static uint8_t small(uint8_t byte) {
    return byte == 0x9F                                                     ? 0xFF
           : is_among(byte, "\x8A\x8C\x8E")                                 ? byte | 0x10
           : (byte >= 'A' && byte <= 'Z') || (byte >= 0xC0 && byte <= 0xDE) ? byte | 0x20
                                                                            : byte;
}

/* neighbour: 0 at the word's edge. */
static bool stands_by(uint8_t neighbour, const char *among) {
    const uint8_t letter = small(neighbour);
    const bool vowel = is_among(letter, "aeiouy");
    return !among ||
           is_among(!is_letter(neighbour) ? '_'
                    : is_wide(letter)     ? 'W'
                    : vowel               ? 'V'
                                          : 'C',
                    among) ||
           (is_letter(neighbour) && is_among(letter, among));
}

/* The languages that may have this letter at this place of a word, a bit for each. */
static uint32_t languages_of(const uint8_t *word, size_t at, size_t length) {
    uint32_t languages = 0;
    for (size_t i = 0; i < COUNT(letters); i++)
        if (is_among(small(word[at]), letters[i].letters) &&
            stands_by(at ? word[at - 1] : 0, letters[i].before) &&
            stands_by(at + 1 < length ? word[at + 1] : 0, letters[i].after))
            for (const char *language = letters[i].languages; *language; language++)
                languages |= 1u << (*language - 'a');
    return languages;
}

static bool is_short_word(const uint8_t *word, size_t length) {
    const char text[] = {' ', (char)small(word[0]), length > 1 ? (char)small(word[1]) : ' ',
                         length > 1 ? ' ' : '\0', '\0'};
    return strstr(short_words, text) != NULL;
}

/* True if a language may write this word of letters. */
static bool is_western(const uint8_t *word, size_t length) {
    size_t run = 0, wide = 0;
    uint32_t languages = ~(uint32_t)0;
    bool mixed = false;
    for (size_t i = 0; i < length; i++) {
        run = is_wide(word[i]) ? run + 1 : 0;
        wide += run > 0;
        mixed |= run && small(word[i]) != word[i] && i && small(word[i - 1]) == word[i - 1];
        if (run)
            languages &= languages_of(word, i, length);
        if (run > LONGEST_WIDE)
            return false;
    }
    return !wide || (length <= 2 ? is_short_word(word, length) : languages && !mixed && wide < length);
}

/* l’été, qu’on, d’hui; don’t, it’s, we’ll. before, after: the number of letters before the sign and after it. */
static bool is_apostrophe(const uint8_t *sign, size_t before, size_t after) {
    static const char *const ends[] = {"t", "s", "d", "m", "ll", "re", "ve"};
    if (before <= 2 || is_among(small(sign[-1]), "ud"))
        return true;
    for (size_t i = 0; i < COUNT(ends); i++)
        if (strlen(ends[i]) == after && memcmp(sign + 1, ends[i], after) == 0)
            return true;
    return false;
}

/* True if a sign above 7f stands where a row of `signs` allows. */
static bool is_usual_sign(const uint8_t *text, const uint8_t *sign, const uint8_t *end) {
    size_t before = 0, after = 0;
    bool usual = false;
    while (sign - before > text && is_letter(sign[-1 - (ptrdiff_t)before]))
        before++;
    while (sign + 1 + after < end && is_letter(sign[1 + after]))
        after++;
    const size_t fewer = before < after ? before : after;
    for (size_t i = 0; i < COUNT(signs) && !usual; i++) {
        const size_t between = signs[i].between;
        if (!is_among(*sign, signs[i].signs))
            continue;
        usual = between
                    ? !fewer || fewer >= between || (between == MANY && is_apostrophe(sign, before, after))
                    : before <= signs[i].before &&
                          (!after || (after >= signs[i].least_after && after <= signs[i].after)) &&
                          (!signs[i].last || (sign > text && is_among(sign[-1], signs[i].last)));
    }
    return usual;
}

/* True if all words and signs of a run (ASCII letters and bytes above 7f) are usual. */
static bool is_usual_run(const uint8_t *text, size_t length, const uint8_t *run, size_t count) {
    for (size_t i = 0, from; i < count; i++) {
        for (from = i; i < count && is_letter(run[i]); i++)
            ;
        if (i > from && !is_western(run + from, i - from))
            return false;
        if (i < count && !is_usual_sign(text, run + i, text + length))
            return false;
    }
    return true;
}

static void look_at_words(guess_t *guess, const uint8_t *text, size_t length) {
    guess_words_t *words = &guess->words;
    for (size_t at = 0, from; at < length; at++) {
        bool wide = false;
        for (from = at; at < length && (text[at] >= 0x80 || is_plain(text[at])); at++)
            wide |= text[at] >= 0x80;
        if (!wide)
            continue;
        words->count++;
        if (is_usual_run(text, length, text + from, at - from) || words->odd++)
            continue;
        enum { KEPT = sizeof words->first / ENCODING_MOST_BYTES - 1 };
        words->in = guess->here;
        encoding_to_utf8(ENCODING_WINDOWS_1252, (uint8_t *)words->first, text + from,
                         at - from < KEPT ? at - from : KEPT);
    }
}

void guess_look_at_bytes(guess_t *guess, const uint8_t *text, size_t length) {
    if (encoding_is_ascii(text, length))
        return;
    if (utf8_valid(text, length)) {
        if (!guess->wide_characters)
            guess->wide_characters = guess->here;
        return;
    }
    if (!guess->other_bytes)
        guess->other_bytes = guess->here;
    if (!guess->no_bytes && !encoding_is(ENCODING_WINDOWS_1252, text, length))
        guess->no_bytes = guess->here;
    look_at_words(guess, text, length);
}

static bool refuse_two_encodings(const guess_t *guess, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%.1000s: some of its text is not UTF-8, and some text of %.1000s is. If all of it is "
                   "windows-1252, give "
                   "--with encoding=windows-1252; if both are mixed, --with encoding=utf-8-or-windows-1252, "
                   "which reads each "
                   "value as UTF-8 where it can be; else make it UTF-8 first (iconv -f ENCODING -t UTF-8)",
                   guess->other_bytes, guess->wide_characters);
}

/* The first record may have to be written into the format: it must be text in the encoding. */
static bool check_first(const guess_t *guess, err_t *err) {
    return utf8_valid(guess->first, guess->first_length) ||
           encoding_converts(guess->encoding, guess->first, guess->first_length) ||
           err_set(err, STATUS_INPUT, "%.1000s: its first line is no text in the encoding %s", guess->name,
                   encoding_names[guess->encoding]);
}

static bool check_words(const guess_t *guess, err_t *err) {
    const guess_words_t *words = &guess->words;
    return !words->odd || words->odd * MOST_OF < words->count ||
           err_set(err, STATUS_INPUT,
                   "%.1000s: its text is not UTF-8, and hardly windows-1252, in which it would have words "
                   "such as '%s'. "
                   "Say which encoding it is: --with encoding=NAME (NAME may be " ENCODINGS
                   "; iconv -l lists all), or --with encoding=windows-1252 if it is that after all",
                   words->in, words->first);
}

bool guess_find_encoding(guess_t *guess, err_t *err) {
    guess->here = guess->name;
    for (size_t i = 0; i < guess->structure.columns; i++)
        guess_look_at_bytes(guess, (const uint8_t *)guess->columns[i].text, guess->columns[i].length);
    if (!utf8_valid(guess->first, guess->first_length))
        guess_look_at_bytes(guess, guess->first, guess->first_length);
    guess->encoding = guess->options.encoding_given ? guess->options.encoding
                      : guess->other_bytes          ? ENCODING_WINDOWS_1252_NOT_UTF8
                                                    : ENCODING_NONE;
    if (guess->marked && guess->options.encoding_given && !encoding_keeps_utf8(guess->encoding))
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: begins with a byte-order mark, by which its text is UTF-8: leave --with encoding out",
            guess->name);
    if (guess->options.encoding_given)
        return check_first(guess, err);
    if (guess->other_bytes && guess->marked)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: begins with the byte-order mark of UTF-8, and some of its text is none; say "
                       "--with encoding=utf-8 to keep that as bytes, or correct the file",
                       guess->name);
    if (guess->no_bytes)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: its text is neither UTF-8 nor windows-1252; say which encoding it is: --with "
            "encoding=NAME (such as shift_jis, gb18030, euc-kr; iconv -l lists them)",
            guess->no_bytes);
    if (!check_words(guess, err))
        return false;
    return !guess->other_bytes || !guess->wide_characters || refuse_two_encodings(guess, err);
}
