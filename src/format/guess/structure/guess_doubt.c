/* Where a structure was found, and another one may be right, or the text is none that a guess reads. */
#include "base/chars.h"
#include "format/guess/structure/guess_structure.h"
#include "format/guess/structure/guess_study.h"

#include <stdio.h>
#include <string.h>

const char *const guess_delimiter_words[] = {",", ";", "|", ":", "::", "tab", "\\x01", "blanks", "none"};
static const char signs[GUESS_DELIMITERS] = {',', ';', '|', ':', GUESS_TWO_COLONS, '\t', '\x01', ' ', '\n'};
_Static_assert(sizeof guess_delimiter_words / sizeof *guess_delimiter_words == GUESS_DELIMITERS,
               "each has a sign");

char guess_delimiter_sign(size_t word) {
    return signs[word];
}

const char *guess_delimiter_word(char delimiter) {
    const char *sign = memchr(signs, delimiter, sizeof signs);
    return sign ? guess_delimiter_words[sign - signs] : NULL;
}

const char *guess_name_delimiter(char out[8], char delimiter) {
    const char *word = guess_delimiter_word(delimiter), *quote = *word >= 'a' && *word <= 'z' ? "" : "'";
    snprintf(out, 8, "%s%s%s", quote, word, quote);
    return out;
}

char guess_way_sign(const way_t *way) {
    return strcmp(way->wide, "::") == 0 ? GUESS_TWO_COLONS : way->delimiter;
}

static bool refuse_undivided(const char *name, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: no delimiter (of , ; tab | : || \\x01 and blanks) divides its lines evenly, so its "
        "format cannot be guessed; give --format",
        name);
}

static bool refuse_amounts(study_t *study, const structure_t *best, const char *name, err_t *err) {
    bool is;
    if (!guess_is_of_amounts(study, &is, err))
        return false;
    return !is || err_set(err, STATUS_INPUT,
                          "%.1000s: each of its lines may be one number with a comma in it, or %zu columns: "
                          "nothing tells; say which by --with delimiter=none or --with delimiter=,",
                          name, best->columns);
}

static bool refuse_said(const study_t *study, const char *name, err_t *err) {
    char sign[8];
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: --with delimiter=%s divides most of its lines into one field, or each into another number "
        "of fields; give another one, or --format",
        name, guess_name_delimiter(sign, study->delimiter));
}

bool guess_refuse_gap(const char *name, size_t number, const uint8_t *text, size_t length, err_t *err) {
    char which[32] = "a line";
    if (number)
        snprintf(which, sizeof which, "line %zu", number);
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: blanks divide its lines, but %s ('%.*s') has words at other places than "
        "the lines around it: a field of it may be empty, and another one have a blank in it. Give "
        "a --format of fixed width, or --with delimiter=blanks if each word is a field",
        name, which, length < 60 ? (int)length : 60, (const char *)text);
}

static bool check_gaps(study_t *study, const structure_t *best, const char *name, err_t *err) {
    size_t record;
    if (!best->way.blanks || !guess_find_gap(study, best, &record, err))
        return err->status == STATUS_OK;
    const size_t at = study->records[record].at;
    return guess_refuse_gap(name, study->lines_before + 1 + lines_count(study->text, at), study->text + at,
                            study->records[record].length, err);
}

bool guess_refuse_behind_blank(const char *name, const uint8_t *text, size_t length, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: some of its quotes stand behind a blank ('%.*s'): there a quote is an ordinary "
        "character, so that the value would keep it, or be divided within the quotes. Remove these "
        "blanks; or give a --format, if that is meant",
        name, length < 60 ? (int)length : 60, (const char *)text);
}

bool guess_refuse_structure(study_t *study, const structure_t *best, const char *name, err_t *err) {
    const bool said = study->delimiter != 0;
    if (!said && best->columns > 1 && best->way.delimiter == ',' && !refuse_amounts(study, best, name, err))
        return false;
    if (!said && best->unsure_blanks)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: its lines may be numbers with a blank for thousands, or blanks may divide "
            "them into columns: nothing tells; say which by --with delimiter=none or --with delimiter=blanks",
            name);
    if (!said && (best->score <= 0.25 || best->columns == 1) && !guess_refuse_by_width(study, name, err))
        return false;
    if (!said && best->score <= 0.25 && !guess_check_colons(study, best, name, err))
        return false;
    if (best->score <= 0.25)
        return said ? refuse_said(study, name, err) : refuse_undivided(name, err);
    if (!said && (!guess_check_links(study, best, name, err) || !guess_check_commas(study, best, name, err) ||
                  !guess_check_colons(study, best, name, err) || !check_gaps(study, best, name, err) ||
                  !guess_check_within(study, best, name, err)))
        return false;
    if (!said && best->columns == 1 && !study->quote && guess_has_quoted_words(study))
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: blanks seem to divide its lines, which begin with a text in quotes, but nothing "
            "else tells; give --with delimiter=blanks, or --with quote=none if it is one column",
            name);
    if (best->columns > SCHEMA_MOST_FIELDS)
        return err_set(err, STATUS_INPUT, "%.1000s: has %zu columns; a format has %d fields at most", name,
                       best->columns, SCHEMA_MOST_FIELDS);
    if (best->skip > SCHEMA_MOST_SKIPPED)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: %zu lines stand before its header; at most %d can be skipped", name,
                       best->skip, SCHEMA_MOST_SKIPPED);
    if (best->two_quotes && !study->quote)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: some of its fields are enclosed in ' and some in \", and only one of them can be "
            "the quote character: say which by --with quote=single or --with quote=double",
            name);
    if (best->behind_blank.length)
        return guess_refuse_behind_blank(name, best->behind_blank.text, best->behind_blank.length, err);
    if (best->unsure_comment)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: of its lines that begin with '#', some have as many fields as its records, and some "
            "have not: all may be comments, or none; give a --format with comment: \"#\", or without",
            name);
    return true;
}

/* Between blanks, but not tabs. */
static size_t count_in_line(const uint8_t *line, const uint8_t *end) {
    size_t length = 0;
    while (line + length < end && line[length] != '\n' && line[length] != '\r')
        length++;
    return guess_count_words(line, length, false);
}

/* The line of a web server's log that names its columns, between blanks as below it. NULL: it is no such log. */
static const uint8_t *find_fields(const study_t *study) {
    static const char fields[] = "#Fields:";
    enum { LENGTH = sizeof fields - 1 };
    const uint8_t *found = NULL, *at = study->text, *const end = study->end;
    while (at < end && (*at == '#' || *at == '\r' || *at == '\n')) {
        const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
        if (end - at > LENGTH && memcmp(at, fields, LENGTH) == 0)
            found = at + LENGTH;
        at = feed ? feed + 1 : end;
    }
    const size_t names = found ? count_in_line(found, end) : 0;
    return names > 1 && (at == end || count_in_line(at, end) == names) ? found : NULL;
}

bool guess_check_fields(const study_t *study, const char *name, err_t *err) {
    const uint8_t *line = find_fields(study);
    return !line ||
           err_set(
               err, STATUS_INPUT,
               "%.1000s: looks like the log of a web server (W3C): blanks divide its columns, and line "
               "%zu (#Fields:) names them. Make that line a header (grep -v '^#[^F]' FILE | sed "
               "'s/^#Fields: *//' > NEW), and give NEW with --with delimiter=blanks; or give this one with "
               "--with delimiter=blanks, and the columns have no names",
               name, study->lines_before + 1 + lines_count(study->text, (size_t)(line - study->text)));
}

bool guess_check_hashes(const study_t *study, const char *name, err_t *err) {
    const uint8_t *at = study->text, *const end = study->end;
    size_t lines = 0;
    while (end - at > 2 && at[0] == '#' && at[1] == '#' && lines < GUESS_MOST_RECORDS) {
        const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
        at = feed ? feed + 1 : end;
        lines++;
    }
    return lines < GUESS_MOST_RECORDS ||
           err_set(
               err, STATUS_INPUT,
               "%.1000s: its first %d lines begin with '##', as comments do, and in no more lines a guess "
               "looks for the columns: take them out (grep -v '^##' FILE > NEW), and give that",
               name, GUESS_MOST_RECORDS);
}

bool guess_refuse_two(const structure_t *one, const structure_t *other, const char *name, err_t *err) {
    char first[8], second[8];
    guess_name_delimiter(first, guess_way_sign(&one->way));
    guess_name_delimiter(second, guess_way_sign(&other->way));
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: %s divides its lines into %zu columns, and %s into %zu: nothing tells which is right; "
        "say it by --with delimiter=%s or --with delimiter=%s",
        name, first, one->columns, second, other->columns, first, second);
}
