/* Text that is not UTF-8: is it windows-1252? Its words have to be such as languages of Western Europe write; where others
 * would be read, the user is asked. */
#include "base/chars.h"
#include "format/guess/guess_inner.h"

#include <string.h>

enum {
    MOST_OF = 32,     /* one odd word in as many may be in any text */
    BEFORE_MARK = 2,  /* letters before º, as in Nº */
    AFTER_MICRO = 3,  /* and after µ, as in µmol */
    A_SIDE = 3,       /* on each side of a dash between two words */
    LONGEST_WIDE = 2, /* letters above 7f in a row */
};

/* The encodings that text which is not UTF-8 has most often, as iconv calls them. */
#define ENCODINGS                                                                                            \
    "WINDOWS-1250 or ISO-8859-2 (Polish, Czech, Hungarian, Romanian), WINDOWS-1251 or KOI8-R (Russian), "    \
    "WINDOWS-1253 (Greek), WINDOWS-1254 (Turkish), WINDOWS-1257 (Baltic), CP850 (DOS), MACINTOSH, "          \
    "GB18030 (Chinese)"

/* What languages write in words, in small: German, French, Spanish, Portuguese, Italian, Swedish, Danish. */
static const char *const alphabets[] = {
    "\xE4\xF6\xFC\xDF\xE9",
    "\xE0\xE2\xE7\xE9\xE8\xEA\xEB\xEE\xEF\xF4\xFB\xF9\xFC\x9C\xFF",
    "\xE1\xE9\xED\xF3\xFA\xFC\xF1",
    "\xE1\xE2\xE3\xE0\xE7\xE9\xEA\xED\xF3\xF4\xF5\xFA\xFC",
    "\xE0\xE8\xE9\xEC\xF2\xF9",
    "\xE5\xE4\xF6\xE9\xFC",
    "\xE6\xF8\xE5\xE9",
};

/* Words of one and two letters. */
static const char short_words[] =
    "\xE0 \xE8 \xE9 \xF3 \xE5 \xF8 o\xF9 l\xE0 s\xEC s\xED t\xFA s\xF3 \xE9l d\xFB n\xE9 p\xE5 n\xE5 f\xE5 "
    "s\xE5 \xE5r \xE4r \xF6l y\xF6 ";

/* Where letters stand that other encodings have for others: after one of `before`, in front of one of `after`. V: a vowel
 * of ASCII, C: another letter of it, W: a letter above 7f, _: the word's edge. */
static const struct {
    uint8_t letter;
    const char *before, *after;
} places[] = {
    {0x9C, "C_", "uidtn"},       /* œ */
    {0xDF, "VWC", "VWC_"},       /* ß */
    {0xE0, "VC_", "_"},          /* à */
    {0xE1, "C_iu", "C_uiW"},     /* á */
    {0xE2, "C_iu", "C_"},        /* â */
    {0xE3, "C_Wou", "oes_"},     /* ã */
    {0xE6, "C_iu", "Cue"},       /* æ */
    {0xE7, "VWC_", "VW"},        /* ç */
    {0xE8, "C_iu", "C_"},        /* è */
    {0xEA, "C_iuo", "CV_"},      /* ê */
    {0xEC, "VC", "_"},           /* ì */
    {0xEE, "C_aou", "C_"},       /* î */
    {0xEF, "V", "VC_"},          /* ï */
    {0xF1, "VW", "VW"},          /* ñ */
    {0xF2, "VC", "_"},           /* ò */
    {0xF4, "C_ie", "C_"},        /* ô */
    {0xF5, "VCW", "e"},          /* õ */
    {0xF8, "C_eo", "Ceo_"},      /* ø */
    {0xF9, "VC", "_"},           /* ù */
    {0xFB, "bsmldroea", "trcl"}, /* û */
    {0xFF, "a", "_"},            /* ÿ */
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

static bool is_capital(uint8_t byte) {
    return (byte >= 'A' && byte <= 'Z') || (byte >= 0xC0 && byte <= 0xDE) || (is_wide(byte) && byte < 0x90) ||
           byte == 0x9F;
}

static uint8_t small(uint8_t byte) {
    return !is_capital(byte)             ? byte
           : byte == 0x9F                ? 0xFF
           : byte < 0x80 || byte >= 0xC0 ? byte | 0x20
                                         : byte | 0x10;
}

static bool is_among(uint8_t byte, const char *bytes) {
    return byte && strchr(bytes, byte);
}

/* neighbour: 0 at the word's edge. */
static bool stands_by(uint8_t neighbour, const char *among) {
    const uint8_t letter = small(neighbour);
    const bool vowel = is_among(letter, "aeiouy");
    return !is_letter(neighbour)     ? is_among('_', among)
           : is_among(letter, among) ? true
           : is_wide(letter)         ? is_among('W', among)
                                     : is_among(vowel ? 'V' : 'C', among);
}

static bool is_placed(uint8_t letter, uint8_t before, uint8_t after) {
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].letter == small(letter))
            return stands_by(before, places[i].before) && stands_by(after, places[i].after);
    return true;
}

static bool is_of_alphabet(const uint8_t *word, size_t length, const char *alphabet) {
    for (size_t i = 0; i < length; i++)
        if (is_wide(word[i]) && !is_among(small(word[i]), alphabet))
            return false;
    return true;
}

static bool is_short_word(const uint8_t *word, size_t length) {
    char text[4] = {(char)small(word[0]), length > 1 ? (char)small(word[1]) : ' ', ' ', '\0'};
    text[length] = ' ';
    text[length + 1] = '\0';
    for (const char *at = short_words; (at = strstr(at, text)); at++)
        if (at == short_words || at[-1] == ' ')
            return true;
    return false;
}

/* A word of letters only. */
static bool is_western(const uint8_t *word, size_t length) {
    size_t run = 0, wide = 0;
    bool known = false, mixed = false;
    for (size_t i = 0; i < length; i++) {
        run = is_wide(word[i]) ? run + 1 : 0;
        wide += run > 0;
        mixed |= run && is_capital(word[i]) && i && !is_capital(word[i - 1]);
        if (run > LONGEST_WIDE ||
            (run && !is_placed(word[i], i ? word[i - 1] : 0, i + 1 < length ? word[i + 1] : 0)))
            return false;
    }
    if (!wide)
        return true;
    if (length <= 2)
        return is_short_word(word, length);
    for (size_t i = 0; i < sizeof alphabets / sizeof *alphabets; i++)
        known |= is_of_alphabet(word, length, alphabets[i]);
    return known && !mixed && wide < length;
}

/* ---- signs ---- */

typedef struct {
    const uint8_t *text;
    size_t at, length;
} odd_byte_t;

/* How many letters stand before this place, or after it. */
static size_t letters_before(const odd_byte_t *sign) {
    size_t count = 0;
    while (count < sign->at && is_letter(sign->text[sign->at - count - 1]))
        count++;
    return count;
}

static size_t letters_after(const odd_byte_t *sign) {
    size_t count = 0;
    while (sign->at + count + 1 < sign->length && is_letter(sign->text[sign->at + count + 1]))
        count++;
    return count;
}

/* l’été, qu’on, d’hui; don’t, it’s, we’ll. */
static bool is_apostrophe(const odd_byte_t *sign, size_t before, size_t after) {
    static const char *const ends[] = {"t", "s", "d", "m", "ll", "re", "ve"};
    const uint8_t *text = sign->text + sign->at;
    if (before <= BEFORE_MARK || is_among(small(text[-1]), "ud"))
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strlen(ends[i]) == after && memcmp(text + 1, ends[i], after) == 0)
            return true;
    return false;
}

/* A byte above 7f that is no letter. */
static bool is_usual_sign(const odd_byte_t *sign) {
    const uint8_t byte = sign->text[sign->at], last = sign->at ? sign->text[sign->at - 1] : 0;
    const size_t before = letters_before(sign), after = letters_after(sign);
    switch (byte) {
    case 0xB4:
    case 0x92: /* ’ */
        return !before || !after || is_apostrophe(sign, before, after);
    case 0x96:
    case 0x97: /* dashes */
        return !before || !after || (before >= A_SIDE && after >= A_SIDE);
    case 0xA0: /* a blank */
        return !before || !after || (before > 1 && after > 1);
    case 0xA1: /* ¡ */
        return !before && after != 1;
    case 0x82:
    case 0x84:
    case 0x8B:
    case 0x91:
    case 0x93:
    case 0xAB:
    case 0xBF: /* they open texts */
        return !before;
    case 0x94:
    case 0x9B:
    case 0xA9:
    case 0xAE:
    case 0x99:
    case 0xBB: /* they end them, and words */
        return !after;
    case 0x80:
    case 0xA3:
    case 0xA5:
    case 0xA7:
    case 0xBC:
    case 0xBD:
    case 0xBE: /* € £ ¥ § ¼ ½ ¾ */
        return !before && !after;
    case 0x85:
    case 0xB0:
    case 0xB1: /* … ° ± */
        return !before;
    case 0x95:
    case 0xB7:
    case 0xD7:
    case 0xF7: /* • · × ÷ */
        return before <= 1 && after <= 1;
    case 0xAA:
    case 0xBA: /* ª º */
        return before <= BEFORE_MARK && !after;
    case 0xB2:
    case 0xB3: /* ² ³ */
        return before <= A_SIDE && is_among(last, "mtndO0123456789");
    case 0xB5: /* µ */
        return !before && after <= AFTER_MICRO;
    default:
        return false;
    }
}

/* A run of letters of ASCII and bytes above 7f. */
static bool is_usual_run(const uint8_t *text, size_t length, const uint8_t *run, size_t count) {
    for (size_t i = 0, from; i < count; i++) {
        for (from = i; i < count && is_letter(run[i]); i++)
            ;
        if (i > from && !is_western(run + from, i - from))
            return false;
        if (i < count && !is_usual_sign(&(odd_byte_t){text, (size_t)(run + i - text), length}))
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
    if (guess->wide_characters != guess->other_bytes)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: some of its text is not UTF-8, and %.1000s has text that is. Make it UTF-8, "
            "too (iconv -f ENCODING -t UTF-8), or load both into a collection each; or, if it is "
            "windows-1252, give --with encoding=utf-8-or-windows-1252, which reads each value as UTF-8 "
            "where it can be",
            guess->other_bytes, guess->wide_characters);
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: part of its text is UTF-8, and part is not. If all of it is windows-1252, give "
        "--with encoding=windows-1252; if both are mixed, give --with encoding=utf-8-or-windows-1252, which "
        "reads each value as UTF-8 where it can be",
        guess->other_bytes);
}

/* The first record's text, which may have to be written down. */
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
