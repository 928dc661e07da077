#include "base/chars/utf8.h"
#include "format/guess/guess_inner.h"

enum { SHORT = 3, LONG = 4, SHORT_ENOUGH = 3 };

static bool is_ascii_letter(uint8_t byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* Letters of windows-1252, and what are letters where each letter is such a byte. Not its quotes, marks and odd blanks. */
static bool is_high(uint8_t byte) {
    return byte > 0xA0 && byte != 0xA1 && byte != 0xAB && byte != 0xAD && byte != 0xB7 && byte != 0xBB &&
           byte != 0xBF;
}

/* ‚ „ ”, which DOS had as é ä ö. */
static bool is_quote(uint8_t byte) {
    return byte == 0x82 || byte == 0x84 || byte == 0x94;
}

static bool is_of_word(const uint8_t *text, size_t at, size_t length) {
    return is_ascii_letter(text[at]) || is_high(text[at]) ||
           (is_quote(text[at]) && at && at + 1 < length && is_ascii_letter(text[at - 1]) &&
            is_ascii_letter(text[at + 1]));
}

static void keep_word(guess_words_t *words, const uint8_t *text, size_t length) {
    enum { KEPT = sizeof words->first / ENCODING_MOST_BYTES - 1 };
    if (!words->first[0] && encoding_is(ENCODING_WINDOWS_1252, text, length))
        encoding_to_utf8(ENCODING_WINDOWS_1252, (uint8_t *)words->first, text, length < KEPT ? length : KEPT);
}

static void look_at_word(guess_words_t *words, const uint8_t *text, size_t length) {
    size_t letters = 0, quotes = 0, run = 0, longest = 0;
    bool same = true; /* a line of one sign is no word */
    for (size_t i = 0; i < length; i++) {
        letters += is_ascii_letter(text[i]);
        quotes += is_quote(text[i]);
        run = text[i] >= 0xC0 ? run + 1 : is_high(text[i]) ? run : 0;
        longest = run > longest ? run : longest;
        same &= text[i] == text[0];
    }
    if (letters == length || same)
        return;
    const bool is_long = longest >= LONG, is_short = longest == SHORT && !letters;
    words->foreign += is_long;
    words->short_foreign += is_short;
    words->quoted += quotes > 0;
    words->accented += !is_long && !is_short && letters && !quotes;
    if (is_long || is_short || quotes)
        keep_word(words, text, length);
}

/* No sign of ASCII, and of three kinds at least: so are also the words of encodings with two bytes a letter. */
static bool is_odd_run(const uint8_t *text, size_t length) {
    const uint8_t one = text[0];
    uint8_t two = one;
    for (size_t i = 0; i < length; i++) {
        if (two == one)
            two = text[i];
        else if (text[i] != one && text[i] != two)
            return length >= LONG;
    }
    return false;
}

static void look_at_runs(guess_words_t *words, const uint8_t *text, size_t length) {
    for (size_t at = 0, from; at < length; at++) {
        for (from = at; at < length && text[at] >= 0x80; at++)
            ;
        if (at > from && is_odd_run(text + from, at - from)) {
            words->short_foreign++;
            keep_word(words, text + from, at - from);
        }
    }
}

static void look_at_words(guess_words_t *words, const uint8_t *text, size_t length) {
    for (size_t at = 0, from; at < length; at++) {
        for (from = at; at < length && is_of_word(text, at, length); at++)
            ;
        if (at > from)
            look_at_word(words, text + from, at - from);
    }
}

void guess_look_at_bytes(guess_t *guess, const uint8_t *text, size_t length) {
    if (encoding_is_ascii(text, length))
        return;
    if (utf8_valid(text, length)) {
        guess->wide_characters = true;
        return;
    }
    guess->other_bytes = true;
    guess->no_bytes |= !encoding_is(ENCODING_WINDOWS_1252, text, length);
    look_at_words(&guess->words, text, length);
    look_at_runs(&guess->words, text, length);
}

static bool refuse_two_encodings(const guess_t *guess, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%.1000s: part of its text is UTF-8, and part is not. If all of it is windows-1252, give "
                   "--encoding windows-1252; if both are mixed, give --encoding utf-8-or-windows-1252, which "
                   "reads each value as UTF-8 where it can be",
                   guess->name);
}

/* The first record's text, which may have to be written down. */
static bool check_first(const guess_t *guess, err_t *err) {
    return utf8_valid(guess->first, guess->first_length) ||
           encoding_converts(guess->encoding, guess->first, guess->first_length) ||
           err_set(err, STATUS_INPUT, "%.1000s: its first line is no text in the encoding %s", guess->name,
                   encoding_names[guess->encoding]);
}

/* A few odd words may be in any text; but not more of them than of others. */
static bool is_foreign(const guess_words_t *words) {
    const uint64_t foreign = words->foreign + words->short_foreign;
    return (words->foreign || words->short_foreign >= SHORT_ENOUGH) && foreign > words->accented;
}

static bool refuse_words(const guess_t *guess, const char *which, const char *as, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: its text is not UTF-8, and hardly windows-1252, in which it would have %s such as '%s'. "
        "Make it UTF-8 (iconv -f ENCODING -t UTF-8 FILE > NEW; ENCODING may be %s; iconv -l lists all) and "
        "give "
        "that; or give --encoding windows-1252 if it is that after all",
        guess->name, which, guess->words.first, as);
}

bool guess_find_encoding(guess_t *guess, err_t *err) {
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
            "%.1000s: begins with a byte-order mark, by which its text is UTF-8: leave --encoding out",
            guess->name);
    if (guess->options.encoding_given)
        return check_first(guess, err);
    if (guess->other_bytes && guess->marked)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: begins with the byte-order mark of UTF-8, and some of its text is none; say "
                       "--encoding utf-8 to keep that as bytes, or correct the file",
                       guess->name);
    if (guess->no_bytes)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: its text is neither UTF-8 nor windows-1252; make it UTF-8 first (iconv -f ENCODING -t "
            "UTF-8; iconv -l lists them), or pipe that in and name the input '-'",
            guess->name);
    if (is_foreign(&guess->words))
        return refuse_words(guess, "whole words of accents and signs,",
                            "WINDOWS-1251 or KOI8-R (Russian), WINDOWS-1253 (Greek), GB18030 (Chinese)", err);
    if (guess->words.quoted > guess->words.accented)
        return refuse_words(guess, "quotes within words,", "CP850 or CP437 (DOS)", err);
    return !guess->other_bytes || !guess->wide_characters || refuse_two_encodings(guess, err);
}
