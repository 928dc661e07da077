#include "base/chars/utf8.h"
#include "format/guess/guess_inner.h"

void guess_look_at_bytes(guess_t *guess, const uint8_t *text, size_t length) {
    if (encoding_is_ascii(text, length))
        return;
    if (utf8_valid(text, length)) {
        guess->wide_characters = true;
        return;
    }
    guess->other_bytes = true;
    guess->no_bytes |= !encoding_is(ENCODING_WINDOWS_1252, text, length);
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
    return !guess->other_bytes || !guess->wide_characters || refuse_two_encodings(guess, err);
}
