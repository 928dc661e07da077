/* What divides fields, other than one character: several, blanks, or nothing but their places. */
#include "format/cut/delimiter.h"
#include "format/guess/column/guess_column.h"
#include "format/guess/structure/guess_places.h"
#include "format/guess/structure/guess_study.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    size_t words, clear; /* numbers, and texts in quotes */
    bool gap;            /* several blanks in a row */
    bool torn;           /* [a text with blanks] is cut */
    bool digits;         /* a word of digits and signs */
} words_t;

/* Behind a text in quotes that ends where a word does; NULL: there is none. */
static const uint8_t *skip_quoted(const uint8_t *at, const uint8_t *end) {
    if (*at != '"')
        return NULL;
    for (at++; at < end; at++) {
        if (*at == '"' && (at + 1 == end || delimiter_is_blank(at[1])))
            return at + 1;
        at += (*at == '\\' || *at == '"') && at + 1 < end;
    }
    return NULL;
}

/* 007, 10:15, 12.5 */
static bool is_of_digits(const uint8_t *at, const uint8_t *end) {
    bool digits = false;
    for (; at < end && *at < 0x80 && ((*at | 0x20) < 'a' || (*at | 0x20) > 'z'); at++)
        digits |= *at >= '0' && *at <= '9';
    return digits && at == end;
}

static words_t count_words(const uint8_t *text, size_t length) {
    const uint8_t *at = text, *const end = text + length;
    words_t is = {.words = 0};
    while (at < end) {
        const uint8_t *from = at;
        while (at < end && delimiter_is_blank(*at))
            at++;
        if (at == end)
            break;
        is.gap |= at - from > 1;
        from = at;
        const uint8_t *const quoted = skip_quoted(at, end);
        for (at = quoted ? quoted : at; at < end && !delimiter_is_blank(*at);)
            at++;
        is.torn |= *from == '[' && at[-1] != ']';
        is.words++;
        is.digits |= is_of_digits(from, at);
        is.clear += quoted || guess_is_typed(from, (size_t)(at - from));
    }
    return is;
}

bool guess_is_aligned(study_t *study, bool *unsure, bool *even_words, err_t *err) {
    const way_t way = {.delimiter = '\n'};
    size_t usual = 0, digits = 0, first = 0, same = 0, words = 0, clear = 0, wide = 0;
    bool torn = false;
    column_t whole; /* each line but the first as one value */
    *unsure = *even_words = false;
    guess_column_begin(&whole);
    if (!guess_cut_all(study, &way, err))
        return false;
    for (size_t i = 0; i < study->count; i++) {
        const uint8_t *text = study->text + study->records[i].at;
        const words_t line = count_words(text, study->records[i].length);
        if (i)
            guess_column_add(&whole, text, study->records[i].length);
        else
            first = line.words;
        if (i < 2) /* the names above may be of several words */
            usual = line.words;
        same += i && line.words == usual;
        words += line.words;
        clear += line.clear;
        wide += line.gap;
        torn |= line.torn;
        digits += line.digits == (i > 0);
    }
    const bool even = study->count > 1 && usual >= 2 && same * 20 >= (study->count - 1) * 19;
    *even_words = even && !torn && usual >= 2 && first == usual && same + 1 == study->count &&
                  digits == study->count && !(whole.values && whole.typed);
    if (!even || torn || (clear * 2 < words && wide * 2 <= study->count))
        return false;
    /* a decimal mark would tell that it is one number */
    *unsure = whole.values && whole.styles && !(whole.styles & whole.fraction) && first == usual;
    return !*unsure && usual >= 3 && !(whole.values && whole.typed);
}

/* How the parts of all lines behind their comma are written. */
typedef struct {
    size_t digits; /* in each; SIZE_MAX: not as many */
    bool signed_, zero;
} decimals_t;

static void look_at_decimals(decimals_t *decimals, bool first, const uint8_t *text, size_t length) {
    const uint8_t *comma = memchr(text, ',', length), *const end = text + length;
    size_t digits = 0;
    for (const uint8_t *at = comma; at && at < end; at++)
        digits += *at >= '0' && *at <= '9';
    decimals->digits = first || decimals->digits == digits ? digits : SIZE_MAX;
    decimals->signed_ |= memchr(text, '-', length) != NULL;
    decimals->zero |= comma && comma + 1 < end && comma[1] == '0';
}

/* Cents, thousands, a minus sign, or a zero behind the comma, as no second number would have it. */
static bool are_of_amounts(const decimals_t *decimals) {
    return decimals->digits == 2 || decimals->digits == 3 || decimals->signed_ || decimals->zero;
}

bool guess_is_of_amounts(study_t *study, bool *is, err_t *err) {
    const way_t way = {.delimiter = '\n'};
    column_t whole;
    decimals_t decimals = {.digits = 0};
    *is = false;
    guess_column_begin(&whole);
    if (!guess_cut_all(study, &way, err))
        return false;
    for (size_t i = 0; i < study->count; i++) {
        const uint8_t *text = study->text + study->records[i].at;
        guess_column_add(&whole, text, study->records[i].length);
        look_at_decimals(&decimals, i == 0, text, study->records[i].length);
    }
    for (size_t i = 0; whole.values && i < STYLES; i++) {
        const bool grouped = whole.grouped >> i & 1, fraction = whole.fraction >> i & 1;
        if (whole.styles >> i & 1)
            *is |= guess_styles[i].decimal == ',' ? fraction && (grouped || are_of_amounts(&decimals))
                                                  : grouped && guess_styles[i].thousands == ',';
    }
    return true;
}

/* ---- words that stand at other places than those of other lines ---- */

/* Of lines all over the text, with their numbers. */
static bool keep_places(study_t *study, const structure_t *found, guess_places_t *places, size_t *numbers,
                        err_t *err) {
    const size_t step = study->count / GUESS_PLACES_KEPT + 1;
    for (size_t i = 0; i < study->count; i += step) {
        if (study->records[i].fields != found->columns)
            continue;
        numbers[places->count] = i;
        if (!guess_split(study, found->way.delimiter, i, err) ||
            !guess_places_keep(places, &study->split, err))
            return false;
    }
    return true;
}

bool guess_find_gap(study_t *study, const structure_t *found, size_t *record, err_t *err) {
    guess_places_t places = {.rows = NULL};
    size_t numbers[GUESS_PLACES_KEPT] = {0}, but = 0;
    bool is = false;
    *err = (err_t){.status = STATUS_OK};
    bool ok = guess_cut_all(study, &found->way, err) && keep_places(study, found, &places, numbers, err);
    for (size_t i = 1; ok && i < study->count && !is; i++) {
        if (study->records[i].fields != found->columns ||
            !guess_has_gap(study->text + study->records[i].at, study->records[i].length))
            continue;
        while (but < places.count && numbers[but] < i)
            but++;
        ok = guess_split(study, found->way.delimiter, i, err);
        is = ok && guess_places_odd(&places, &study->split,
                                    but < places.count && numbers[but] == i ? but : GUESS_PLACES_KEPT);
        *record = i;
    }
    guess_places_free(&places);
    return is;
}

bool guess_is_widened(study_t *study, const structure_t *found, char wide[4], err_t *err) {
    const char delimiter = found->way.delimiter;
    size_t looked = 0, middle = 0;
    uint8_t sign = 0;
    const bool sheet =
        delimiter == ',' || delimiter == '\t'; /* which may have an empty column in its middle */
    if (found->columns < (sheet ? 5 : 3) || found->columns % 2 == 0 ||
        !guess_cut_all(study, &found->way, err))
        return false;
    for (size_t i = 0; i < study->count; i++) {
        const uint8_t *record = study->text + study->records[i].at;
        if (study->records[i].fields != found->columns)
            continue;
        if (!split_record(&study->split, &study->schema, delimiter, record, study->records[i].length))
            return false;
        const span_t *spans = study->split.spans;
        if (!looked++ && (middle = spans[1].length) == 1)
            sign = spans[1].text[0];
        for (size_t j = 1; j < study->split.count; j += 2)
            if (spans[j].raw_length != middle || (middle && spans[j].text[0] != sign))
                return false;
    }
    if (looked < 2 || middle > 1 || (middle && !strchr("~^", sign)))
        return false;
    snprintf(wide, 4, middle ? "%c%c%c" : "%c%c", delimiter, middle ? (char)sign : delimiter, delimiter);
    return true;
}

bool guess_has_quoted_words(const study_t *study) {
    size_t lines = 0;
    for (size_t i = 0; i < study->count; i++) {
        const uint8_t *text = study->text + study->records[i].at,
                      *const end = text + study->records[i].length,
                      *quoted = study->records[i].length ? skip_quoted(text, end) : NULL;
        lines += quoted && quoted < end;
    }
    return lines * 2 > study->count;
}

enum { WIDEST_LINE = 1000, NAMED_PLACES = 20 };

/* Where columns begin that are cut by position: behind blanks that all lines have at the same places. Returns how many do. */
static size_t find_places(const study_t *study, size_t places[NAMED_PLACES]) {
    static _Thread_local bool used[WIDEST_LINE];
    size_t count = 0, widest = 0;
    memset(used, 0, sizeof used);
    for (size_t i = 0; i < study->count; i++)
        for (size_t j = 0; j < study->records[i].length && j < WIDEST_LINE; j++) {
            used[j] |= study->text[study->records[i].at + j] != ' ';
            widest = j + 1 > widest ? j + 1 : widest;
        }
    for (size_t j = 0; j < widest && count < NAMED_PLACES; j++)
        if (used[j] && (!j || !used[j - 1]))
            places[count++] = j + 1;
    return count;
}

bool guess_refuse_by_width(const study_t *study, const char *name, err_t *err) {
    enum { LEAST_LINES = 3 };
    size_t places[NAMED_PLACES];
    char shown[NAMED_PLACES * 8] = "";
    size_t gaps = 0;
    const size_t count = find_places(study, places);
    for (size_t i = 0; i < study->count; i++)
        gaps += memmem(study->text + study->records[i].at, study->records[i].length, "  ", 2) != NULL;
    if (study->count < LEAST_LINES || count < 2 || gaps * 2 < study->count)
        return true;
    for (size_t i = 0, used = 0; i < count; i++)
        used += (size_t)snprintf(shown + used, sizeof shown - used, i ? ", %zu" : "%zu", places[i]);
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: no delimiter divides its lines, but all have blanks at the same places: columns of fixed "
        "width, which seem to begin at bytes %s; give a --format of fixed width, such as 'record: {fixed: "
        "N}' with N the bytes of a line, and fields such as {name: a, width: %zu, type: trimmed}",
        name, shown, places[1] - 1);
}
