/* What divides fields, other than one character: several, blanks, or nothing but their places. */
#include "format/cut/delimiter.h"
#include "format/guess/column/guess_column.h"
#include "format/guess/structure/guess_study.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    size_t words, clear; /* numbers, and texts in quotes */
    bool gap;            /* several blanks in a row */
    bool torn;           /* [a text with blanks] is cut */
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

static words_t count_words(const uint8_t *text, size_t length) {
    const uint8_t *at = text, *const end = text + length;
    words_t is = {0, 0, false, false};
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
        is.clear += quoted || guess_is_typed(from, (size_t)(at - from));
    }
    return is;
}

bool guess_is_aligned(study_t *study, bool *unsure, err_t *err) {
    const way_t way = {.delimiter = '\n'};
    size_t usual = 0, first = 0, same = 0, words = 0, clear = 0, wide = 0;
    bool torn = false;
    column_t whole; /* each line but the first as one value */
    *unsure = false;
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
    }
    const bool even = study->count > 1 && usual >= 2 && same * 20 >= (study->count - 1) * 19;
    if (!even || torn || (clear * 2 < words && wide * 2 <= study->count))
        return false;
    /* a decimal mark would tell that it is one number */
    *unsure = whole.values && whole.styles && !(whole.styles & whole.fraction) && first == usual;
    return !*unsure && usual >= 3 && !(whole.values && whole.typed);
}

bool guess_is_of_amounts(study_t *study, bool *is, err_t *err) {
    const way_t way = {.delimiter = '\n'};
    column_t whole;
    *is = false;
    guess_column_begin(&whole);
    if (!guess_cut_all(study, &way, err))
        return false;
    for (size_t i = 0; i < study->count; i++)
        guess_column_add(&whole, study->text + study->records[i].at, study->records[i].length);
    for (size_t i = 0; whole.values && i < STYLES; i++)
        *is |= guess_styles[i].decimal == ',' && (whole.styles & whole.fraction & whole.grouped) >> i & 1;
    return true;
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
