/* Line ends, quotes and encoding, by the rows and cells of the sheet (guess_find_text).
 *
 * Quotes: guess_find_structure decides by the beginning of a text whether they enclose texts or are ordinary characters. The user
 * is asked for these reasons:
 *
 *     mixed      texts stand in other quotes than the rest, or in quotes that a blank follows or that enclose nothing, or hold a
 *                quote after a backslash
 *     cut off    the text ends within one, if they enclose texts
 *     blank      a text in quotes stands after a blank, where a quote is an ordinary character
 *     odd        most records have something after the quote that ends a text
 *     torn       each line of a record of several lines looks like a record itself (split_torn_lines). The record is a reject
 *     needless   some texts are in quotes, none needs them, and neither commas nor semicolons divide. Programs that write these
 *                two put texts into quotes where they have to; with another sign, or none, many leave a quote as it is
 *
 * Encoding: nearly any text that is not UTF-8 can be read as windows-1252, with wrong letters. So each byte above 7f has to stand
 * where languages of Western Europe put the character that it would be; otherwise the user is asked. */
#include "base/chars.h"
#include "format/cut/split.h"
#include "format/guess/guess_inner.h"
#include "format/values/values.h"

#include <ctype.h>
#include <string.h>

/* ---- quotes ---- */

/* What the rows show about quotes. */
typedef struct {
    uint64_t odd,
        several; /* records with something after a closing quote; of several lines that look like records */
    bool any;    /* a field or a name is in quotes, */
    bool needed; /* one of which needs them; */
    bool loose;  /* or holds a quote, and is in none */
    bool some, most;   /* in a column some values are in quotes; most are */
    const char *blank; /* the first input with a text in quotes after a blank; NULL: there is none */
} quotes_t;

/* True if blanks stand before a quote. */
static bool is_after_blank(const cell_t *cell, char quote) {
    const uint8_t *text = cell->text;
    size_t length = cell->length;
    blanks_trim(&text, &length);
    return text > cell->text && length > 1 && !cell->enclosed && *text == (uint8_t)quote;
}

/* Notes the quotes of a cell. Returns whether it is a text in quotes. */
static bool look_at_cell(const guess_t *guess, const row_t *row, const cell_t *cell, quotes_t *quotes) {
    const char quote = guess->schema.quote;
    if (!quotes->blank && is_after_blank(cell, quote))
        quotes->blank = row->input;
    quotes->loose |= cell->length && !cell->enclosed && memchr(cell->text, quote, cell->length);
    quotes->any |= cell->enclosed;
    if (row->kind == ROW_NAMES || !cell->enclosed || !cell->length)
        return false;
    quotes->needed |= split_needs_quotes(&guess->schema, guess->schema.delimiters[0], guess->fields > 1,
                                         cell->text, cell->length);
    return true;
}

static quotes_t study_quotes(const guess_t *guess) {
    static _Thread_local uint64_t enclosed[SCHEMA_MOST_FIELDS]; /* by column */
    const sheet_t *sheet = &guess->sheet;
    const char quote = guess->schema.quote;
    quotes_t quotes = {0};
    memset(enclosed, 0, sizeof enclosed);
    for (size_t at = 0; at < sheet->count; at++) {
        const row_t *row = &sheet->rows[at];
        const bool counts = row->kind == ROW_NAMES || guess_is_record(guess, row);
        if (!quote || !counts || !memchr(row->text, quote, row->length))
            continue;
        quotes.odd += row->torn;
        quotes.several += row->several;
        for (size_t i = 0; i < row->count; i++) {
            const cell_t *cell = guess_cell(guess, row, i);
            enclosed[i] += cell && look_at_cell(guess, row, cell, &quotes);
        }
    }
    for (size_t i = 0; i < guess->structure.columns; i++) {
        quotes.some |= enclosed[i] > 0;
        quotes.most |= enclosed[i] * 2 > guess->columns[i].column.values;
    }
    return quotes;
}

static bool find_quotes(const guess_t *guess, bool *unquoted, err_t *err) {
    const quotes_t quotes = study_quotes(guess);
    const char quote = guess->schema.quote, delimiter = guess->schema.delimiters[0];
    const bool said = guess->options.quote, uncommon = (delimiter != ',' && delimiter != ';') ||
                                                       guess->structure.columns == 1 || quotes.loose;
    const struct {
        bool is;
        const char *why, *otherwise;
    } reasons[] = {
        {guess->structure.unsure_quotes && !said,
         "some stand in other quotes than the rest, are followed by a blank, enclose nothing, or hold a "
         "quote after a backslash",
         "--with quote=double or --with quote=single"},
        {guess->cut_off, "the last one opens a text that the file does not end; it may have been cut off",
         "--with quote=double or --with quote=single"},
        {quotes.blank, "some stand after a blank, where a quote encloses nothing", "take those blanks out"},
        {quotes.odd * 2 > guess->counts.records,
         "in most records something follows the quote that ends a text, be it a blank",
         "take out what stands there, or give a --format (escape, quote)"},
        {quotes.several && !said, "some go around several lines, each of which looks like a record itself",
         "a --format with multiline: yes, which reads these records, or --with quote=double (or single), "
         "which rejects them"},
        /* `"Heroes"` among `So` and `12" mixes` */
        {quote && !said && uncommon && quotes.some && !quotes.most && !quotes.needed,
         "some values have quotes that they do not need, and most have none",
         quote == '"' ? "--with quote=double" : "--with quote=single"},
    };
    *unquoted = quote && !said && uncommon && !quotes.any;
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (reasons[i].is)
            return err_set(err, STATUS_INPUT,
                           "%.1000s: its quotes may enclose texts, or be ordinary characters: %s. Give "
                           "--with quote=none if they are a part of the texts; else %s",
                           quotes.blank ? quotes.blank : guess->name, reasons[i].why, reasons[i].otherwise);
    return true;
}

/* ---- encoding ---- */

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

/* What the texts show about the encoding. */
typedef struct {
    const char *wide, *other; /* the first input with UTF-8 that is no ASCII; with text that is not UTF-8 */
    uint64_t count;           /* bytes above 7f of text that is not UTF-8; */
    uint64_t odd;             /* those of them that stand where they would not in windows-1252; */
    char first[24];           /* the first one, with what is around it, in UTF-8, */
    const char *in;           /* and the input that holds it */
} bytes_t;

static void look_at_bytes(bytes_t *found, const char *input, const uint8_t *text, size_t length) {
    enum { KEPT = sizeof found->first / ENCODING_MOST_BYTES - 1 };
    if (encoding_is_ascii(text, length))
        return;
    const bool valid = utf8_valid(text, length),
               possible = !valid && encoding_is(ENCODING_WINDOWS_1252, text, length);
    const char **in = valid ? &found->wide : &found->other;
    *in = *in ? *in : input;
    for (size_t at = 0; !valid && at < length; at++) {
        if (text[at] < 0x80)
            continue;
        found->count++;
        if (possible && is_in_place(text, length, at))
            continue;
        if (!found->odd) {
            size_t from = at;
            while (from && at - from < KEPT / 2 && text[from - 1] > ' ')
                from--;
            found->in = input;
            encoding_to_utf8(possible ? ENCODING_WINDOWS_1252 : ENCODING_LATIN1, (uint8_t *)found->first,
                             text + from, length - from < KEPT ? length - from : KEPT);
        }
        found->odd += possible ? 1 : NEVER;
    }
}

static bytes_t study_bytes(const guess_t *guess) {
    const sheet_t *sheet = &guess->sheet;
    bytes_t found = {.count = 0};
    for (size_t at = 0; at < sheet->count; at++) {
        const row_t *row = &sheet->rows[at];
        if (!guess_is_record(guess, row) || encoding_is_ascii(row->text, row->length))
            continue;
        for (size_t i = 0; i < row->count; i++)
            look_at_bytes(&found, row->input, sheet->cells[row->first + i].text,
                          sheet->cells[row->first + i].length);
    }
    for (size_t i = 0; i < guess->structure.columns; i++)
        look_at_bytes(&found, guess->name, (const uint8_t *)guess->columns[i].text, guess->columns[i].length);
    if (!utf8_valid(guess->first.text, guess->first.length))
        look_at_bytes(&found, guess->name, guess->first.text, guess->first.length);
    return found;
}

/* Checks what the user says. The first record may have to be written into the format, so it must be text in the encoding. */
static bool check_given(const guess_t *guess, encoding_t encoding, err_t *err) {
    if (guess->marked && !encoding_keeps_utf8(encoding))
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: begins with a byte-order mark, by which its text is UTF-8: leave --with encoding out",
            guess->name);
    return utf8_valid(guess->first.text, guess->first.length) ||
           encoding_converts(encoding, guess->first.text, guess->first.length) ||
           err_set(err, STATUS_INPUT, "%.1000s: its first line is no text in the encoding %s", guess->name,
                   encoding_names[encoding]);
}

static bool find_encoding(const guess_t *guess, encoding_t *encoding, err_t *err) {
    const bytes_t found = study_bytes(guess);
    const uint8_t given = guess->options.encoding;
    *encoding = given         ? (encoding_t)(given - 1)
                : found.other ? ENCODING_WINDOWS_1252_NOT_UTF8
                              : ENCODING_NONE;
    if (given)
        return check_given(guess, *encoding, err);
    if (found.odd && found.odd * MOST_OF >= found.count)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: its text is not UTF-8, and hardly windows-1252, in which it would have words "
            "such as '%s'. Say which encoding it is: --with encoding=NAME (NAME may be " ENCODINGS
            "; iconv -l lists all), or --with encoding=windows-1252 if it is that after all",
            found.in, found.first);
    const char *utf8 = guess->marked ? guess->name : found.wide;
    return !found.other || !utf8 ||
           err_set(err, STATUS_INPUT,
                   "%.1000s: some of its text is not UTF-8, and some text of %.1000s is: if all of it is "
                   "windows-1252, give --with encoding=windows-1252; else --with "
                   "encoding=utf-8-or-windows-1252, which reads each value as UTF-8 where it can be",
                   found.other, utf8);
}

/* ---- all of it ---- */

bool guess_find_text(guess_t *guess, err_t *err) {
    if (2 * guess->counts.with_cr > guess->counts.records)
        return guess_refuse_cr(guess->name, err);
    return find_quotes(guess, &guess->unquoted, err) && find_encoding(guess, &guess->encoding, err);
}
