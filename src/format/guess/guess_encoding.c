#include "base/chars.h"
#include "format/guess/guess_inner.h"

enum {
    SHORT_ENOUGH = 3,
    MOST_OF = 32, /* one odd word in so many may be in any text */
};

/* The encodings that text which is not UTF-8 has most often, as iconv calls them. */
#define ENCODINGS                                                                                            \
    "WINDOWS-1250 or ISO-8859-2 (Polish, Czech, Hungarian, Romanian), WINDOWS-1251 or KOI8-R (Russian), "    \
    "WINDOWS-1253 (Greek), WINDOWS-1254 (Turkish), WINDOWS-1257 (Baltic), CP850 (DOS), MACINTOSH, "          \
    "GB18030 (Chinese)"

static bool is_of_word(uint8_t byte) {
    return byte >= 0x80 || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static void add_word(guess_t *guess, const uint8_t *text, size_t length, uint8_t before, uint8_t after) {
    guess_words_t *words = &guess->words;
    enum { KEPT = sizeof words->first[0] / ENCODING_MOST_BYTES - 1 };
    const guess_word_t is = guess_word(text, length, before, after);
    if (words->of[is]++)
        return;
    words->in[is] = guess->here;
    if (encoding_is(ENCODING_WINDOWS_1252, text, length))
        encoding_to_utf8(ENCODING_WINDOWS_1252, (uint8_t *)words->first[is], text,
                         length < KEPT ? length : KEPT);
}

static void look_at_words(guess_t *guess, const uint8_t *text, size_t length) {
    for (size_t at = 0, from; at < length; at++) {
        for (from = at; at < length && is_of_word(text[at]); at++)
            ;
        if (at > from)
            add_word(guess, text + from, at - from, from ? text[from - 1] : 0, at < length ? text[at] : 0);
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

static uint64_t count_words(const guess_words_t *words, guess_word_t from, guess_word_t to) {
    uint64_t count = 0;
    for (size_t i = from; i < to; i++)
        count += words->of[i];
    return count;
}

/* Words that speak against windows-1252; *as: one of them. Icelandic has many with an accent besides those with ð and þ;
 * Estonian has ä besides õ, and none with an accent; one name of it may be in any list. */
static uint64_t count_odd(const guess_words_t *words, guess_word_t *as) {
    const uint64_t *of = words->of;
    const bool odd[WORDS] = {[WORD_ODD] = of[WORD_ODD],
                             [WORD_SHORT] = of[WORD_ODD] || of[WORD_SHORT] >= SHORT_ENOUGH,
                             [WORD_THORN] = of[WORD_THORN] > 2 * of[WORD_ACUTE],
                             [WORD_TILDE] = of[WORD_TILDE] > 2 * of[WORD_UMLAUT] + !of[WORD_ODD] &&
                                            of[WORD_TILDE] < of[WORD_ACUTE]};
    uint64_t count = 0;
    for (size_t i = 0; i < WORDS; i++) {
        count += odd[i] ? of[i] : 0;
        *as = odd[i] ? (guess_word_t)i : *as;
    }
    return count;
}

static bool check_words(const guess_t *guess, err_t *err) {
    const guess_words_t *words = &guess->words;
    guess_word_t as = words->of[WORD_UNSURE] ? WORD_UNSURE : WORD_SHORT;
    const uint64_t odd = count_odd(words, &as), all = count_words(words, WORD_WESTERN, WORDS);
    const bool unsure = words->of[as] && !odd && !count_words(words, WORD_WESTERN, WORD_SHORT);
    return (!unsure && (!odd || odd * MOST_OF < all)) ||
           err_set(err, STATUS_INPUT,
                   "%.1000s: its text is not UTF-8, and %s windows-1252, in which it would have %s such "
                   "as "
                   "'%s'. Say which encoding it is: --with encoding=NAME (NAME may be " ENCODINGS
                   "; iconv -l lists all), or --with encoding=windows-1252 if it is that after all",
                   words->in[as], unsure ? "no longer word tells whether it is" : "hardly",
                   unsure ? "signs or short words" : "words", words->first[as]);
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
