#include "base/numbers.h"
#include "format/guess/guess_inner.h"
#include "format/values/blanks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    STRONG = 3,      /* a number or a date where the first row has a word, or the other way round */
    ENOUGH = 2,      /* what one column of texts tells may be so by chance */
    LEAST_ROWS = 5,  /* so may be what fewer have in common, */
    LEAST_MAILS = 3, /* but for addresses with @ */
    LEAST_PLAIN = 4, /* letters of a name that is hardly a code, such as M or DNF */
    RISING = 3,      /* so many numbers, above as many rows, rise by chance more rarely */
};

static column_t of_one(const char *text, size_t length) {
    column_t column;
    guess_column_begin(&column);
    guess_column_add(&column, (const uint8_t *)text, length);
    return column;
}

/* The whole number that a value of the first row is, whatever blanks are around it; -1: none. */
static long number_at(const guess_t *guess, size_t at) {
    if (at >= guess->structure.columns)
        return -1;
    const uint8_t *text = (const uint8_t *)guess->columns[at].text;
    size_t length = guess->columns[at].length;
    blanks_trim(&text, &length);
    if (!length || length > 9 || strspn((const char *)text, "0123456789") < length)
        return -1;
    return atol((const char *)text);
}

static bool are_near_years(const guess_t *guess, size_t at) {
    const long year = number_at(guess, at), next = number_at(guess, at + 1), step = labs(next - year);
    return year >= 1800 && year <= 2200 && next >= 1800 && next <= 2200 && step >= 1 && step <= 10;
}

static bool are_even(const guess_t *guess, size_t at) {
    const long one = number_at(guess, at), two = number_at(guess, at + 1), three = number_at(guess, at + 2);
    return one >= 0 && two > one && three - two == two - one;
}

/* Years in a row head the columns of many a table. */
static bool is_of_years(const guess_t *guess, size_t at) {
    return (at && are_near_years(guess, at - 1)) || are_near_years(guess, at);
}

/* So do hours, months, or any numbers at even steps. */
static bool is_of_series(const guess_t *guess, size_t at) {
    return (at > 1 && are_even(guess, at - 2)) || (at && are_even(guess, at - 1)) || are_even(guess, at);
}

/* Are there so many of the first row's numbers, and each larger than the one before it? */
static bool first_rises(const guess_t *guess) {
    size_t count = 0;
    long last = -1;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const long number = number_at(guess, i);
        if (number >= 0 && number <= last)
            return false;
        count += number >= 0;
        last = number >= 0 ? number : last;
    }
    return count >= RISING;
}

void guess_header_look(guess_t *guess, const split_t *split) {
    double last = -1;
    long last_first = 0;
    bool as_first = true;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const long first = number_at(guess, i);
        if (first < 0)
            continue;
        const double size = guess_range_size(split->spans[i].text, split->spans[i].length);
        if (size <= last)
            return;
        as_first &= last < 0 || trunc(size - last) == (double)(first - last_first);
        last = size;
        last_first = first;
    }
    guess->rising += first_rises(guess);
    guess->rising_as_first += as_first;
}

static bool is_untyped(const column_t *column, const decision_t *is) {
    return (is->kind == KIND_TEXT || is->kind == KIND_TRIMMED) && !(column->typed && column->values);
}

typedef struct {
    size_t with, without;
    /* what without has to outweigh, too: numbers that are not like those below them; and such that are years or at even steps */
    size_t unlike, unlike_series;
    size_t year_heads; /* years in a row, above values that are mostly none */
    size_t time_heads; /* days, months or the like, above numbers that are not all 0, */
    bool time_values;  /* and one of those is written as such a day is */
    bool words, years; /* a name such as "id" is among the first row's; years in a row are */
    bool known;        /* one that many files have */
    bool above;        /* any name is above numbers or dates */
    bool nothing;      /* a word for nothing stands above numbers or dates */
    bool certain;      /* the first row has a date, or a number with a fraction, as the others have */
    bool alike;        /* a text is as all below it but for its digits: IDX01 above IDX02 and IDX03 */
    bool plain;        /* a name that is no code, as id or weight, is above numbers or dates */
    size_t unnamed;    /* columns of values above which nothing stands, or a text that is no name */
} evidence_t;

static bool is_date(kind_t kind) {
    return kind == KIND_DATE || kind == KIND_DAY || kind == KIND_DATETIME;
}

/* All numbers of the first row, each as much above the one before it. */
static bool first_rises_evenly(const guess_t *guess) {
    long last = -1, step = 0;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const long number = number_at(guess, i);
        if (number < 0)
            continue;
        if (last >= 0 && (number <= last || (step && number - last != step)))
            return false;
        step = last >= 0 ? number - last : 0;
        last = number;
    }
    return true;
}

/* Only the first row's first field is empty: so the corner of a table is, whose columns have names. */
static bool is_corner_empty(const guess_t *guess) {
    if (guess->columns[0].length || guess->structure.columns < 2 || !guess->columns[0].range.values ||
        guess->columns[0].range.values < guess->records)
        return false;
    for (size_t i = 1; i < guess->structure.columns; i++)
        if (!guess->columns[i].length)
            return false;
    return true;
}

/* The first row's value, without blanks around. */
static const char *first_trimmed(const guess_column_t *column, size_t *length) {
    const uint8_t *text = (const uint8_t *)column->text;
    *length = column->length;
    blanks_trim(&text, length);
    return (const char *)text;
}

/* named: a text of the first row may be a name. */
static void weigh_column(const guess_t *guess, size_t at, bool named, evidence_t *evidence) {
    const guess_column_t *column = &guess->columns[at];
    size_t length;
    const char *text = first_trimmed(column, &length);
    const column_t first = of_one(column->text, column->length);
    const decision_t first_is = guess_column_decide(&first), *is = &column->is;
    const bool years = is_of_years(guess, at);
    const bool known = guess_is_known_word(text, length);
    evidence->words |= column->word;
    evidence->known |= known;
    evidence->years |=
        years && column->column.same_length != column->length; /* else the others may be years, too */
    evidence->nothing |=
        column->column.values && !is_untyped(&column->column, is) && guess_means_nothing(text, length);
    evidence->unnamed += at && !length && column->column.values;
    const bool unlike = guess_range_is_unlike(&column->range, (const uint8_t *)column->text, column->length);
    if (!first.values || years || (named && is_of_series(guess, at))) {
        evidence->unlike_series += unlike ? STRONG : 0;
        evidence->year_heads += years && (unlike || guess_range_has_few_years(&column->range));
        return;
    }
    const bool word =
        first.all.pairs && (!column->column.values ||
                            !(first.all.pairs & column->column.all.pairs)); /* "n" may be a name, too */
    const bool first_typed = !word && !is_untyped(&first, &first_is),
               typed = column->column.values && !is_untyped(&column->column, is);
    if (guess_kind_is_number(is->kind) &&
        (is_date(first_is.kind) || (!first_typed && guess_is_period(text, length)))) {
        evidence->time_heads += column->range.most > 0;
        evidence->time_values |= column->like_first;
    }
    if (first_typed) {
        /* days head columns, too */
        const bool heads =
            is_date(first_is.kind) && (guess_kind_is_number(is->kind) || (!typed && column->column.values));
        if (!heads && unlike) {
            evidence->unlike += STRONG;
            return;
        }
        evidence->without += heads ? 0 : typed ? STRONG : 1;
        evidence->certain |= typed && !heads && is->kind != KIND_INT && first_is.kind != KIND_INT;
        return;
    }
    const bool name = guess_is_name_like(text, length);
    evidence->unnamed += !name && column->column.values && !typed;
    if (typed) {
        evidence->with += name ? STRONG : 0;
        evidence->above |= name;
        evidence->plain |= name && (known || length >= LEAST_PLAIN);
        return;
    }
    evidence->with += column->word && !column->words;
    evidence->without += column->column.recurs;
    /* an address as all others are is no name */
    evidence->without +=
        column->column.values && first.shape & column->column.shape & GUESS_SHAPE_AT ? STRONG : 0;
    evidence->alike |= column->column.values > 1 && !column->other_code;
    if (!name)
        return;
    const uint32_t common = column->column.shape & ~first.shape;
    if (column->column.values >= LEAST_MAILS && !column->column.recurs && common & GUESS_SHAPE_AT)
        evidence->with += ENOUGH;
    if (column->column.values < LEAST_ROWS || column->column.recurs)
        return;
    /* all rows have in common what the first one has not */
    evidence->with += common != 0;
    evidence->with += column->column.same_length != SIZE_MAX && column->column.same_length != column->length;
}

/* Lines before the first record that may be records themselves. */
static size_t unsure_lines(const guess_t *guess) {
    return guess->structure.skip - guess->structure.told;
}

/* Does the only column hold a sign, between others, that may divide several? */
static bool may_be_divided(const guess_t *guess) {
    for (size_t i = 1; guess->structure.columns == 1 && i + 1 < guess->first_length; i++)
        if (guess->first[i] && strchr("^~!#$%&*", guess->first[i]))
            return true;
    return false;
}

/* unlike: its numbers are not as those below them, as where years head columns of measures. */
static bool refuse_unsure(const guess_t *guess, bool unlike, err_t *err) {
    char first[200];
    guess_shown(first, sizeof first, (const char *)guess->first, guess->first_length);
    if (guess->repeated)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: its first line (%s) is there again: it may be a record, or name the "
            "columns of files that were put together; say which by --with header=no or --with header=yes%s",
            guess->name, first,
            guess->structure.columns == 1 ? ", with which the others like it are records" : "");
    if (unsure_lines(guess))
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: line %llu (%s) may name the columns or be a record: nothing in it tells, and what is "
            "before it has another number of fields, or but one that is filled; give --with header=%llu if "
            "that "
            "line names them, else a "
            "--format, which also says so if the delimiter is a part of the values",
            guess->name, (unsigned long long)guess->first_line, first, (unsigned long long)guess->first_line);
    bool blank = false; /* so it may be a title */
    for (size_t i = 0; i < guess->structure.columns; i++)
        blank |= !guess->columns[i].length;
    return err_set(err, STATUS_INPUT,
                   "%.1000s: its first line (%s) may name the columns or be a record: %s; say which "
                   "by --with header=yes or --with header=no%s%s",
                   guess->name, first,
                   unlike ? "its numbers are not like those below them" : "nothing in it tells",
                   blank ? ", or by --with header=N if line N names them" : "",
                   may_be_divided(guess)
                       ? "; no delimiter was found: if a sign in it is one, give a --format that says so"
                       : "");
}

/* Two names that are the same one, but for upper and lower case: a header could not tell their columns apart. */
static bool has_doubles(const guess_t *guess) {
    for (size_t i = 0; i < guess->structure.columns; i++)
        for (size_t j = 0; j < i; j++)
            if (strcasecmp(guess->columns[i].name, guess->columns[j].name) == 0)
                return true;
    return false;
}

/* A person's word could not tell which line is meant. */
static bool refuse_ends_empty(const guess_t *guess, err_t *err) {
    const schema_text_t delimiter = way_delimiter(&guess->structure.way);
    const char *sign = delimiter.text[0] == '\t'     ? "\\t"
                       : delimiter.text[0] == '\x01' ? "\\x01"
                                                     : delimiter.text;
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: its rows end in an empty extra field, and its first line does not: nothing tells whether "
        "that one names the columns. Take the delimiter off the rows' ends (sed 's/%.*s$//'), and say by "
        "--with header=yes or --with header=no",
        guess->name, sign == delimiter.text ? (int)delimiter.length : (int)strlen(sign), sign);
}

/* What stands before a header is no record. What stands before a record may be one that is damaged. */
static bool refuse_before_record(const guess_t *guess, err_t *err) {
    const size_t skip = guess->structure.skip;
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: %zu line%s before its first record (line %llu) %s another number of fields, or but one "
        "that is filled, and no header "
        "tells that %s none; give --with header=%llu if that line is one, else a --format with 'skip: %zu'",
        guess->name, skip, skip == 1 ? "" : "s", (unsigned long long)guess->first_line,
        skip == 1 ? "has" : "have", skip == 1 ? "it is" : "they are", (unsigned long long)guess->first_line,
        skip);
}

static bool refuse_names(const guess_t *guess, err_t *err) {
    const structure_t *structure = &guess->structure;
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: its first line names %zu column%s, and its rows have %zu: the first column may have no "
        "name, or the last one, or a delimiter may be in a value that is not in quotes. Give --with "
        "header=yes if "
        "the first column has none; else name all columns in that line",
        guess->name, structure->columns - 1, units_s(structure->columns - 1), structure->columns);
}

static bool refuse_behind(const guess_t *guess, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%.1000s: line %zu may name the columns, and what stands before it be no records: give "
                   "--with header=%zu if "
                   "so, else --with header=no",
                   guess->name, guess->structure.unsure_names_at, guess->structure.unsure_names_at);
}

/* The command that takes the line out of an input of this name. */
static const char *without_line(const guess_t *guess, char *out, size_t room) {
    static const char *const packed[][2] = {
        {".gz", "zcat"}, {".bz2", "bzcat"}, {".xz", "xzcat"}, {".zst", "zstdcat"}};
    const unsigned long long line = guess->underline;
    const size_t length = strlen(guess->name);
    snprintf(out, room, "%ssed %llud FILE > NEW", strchr(guess->name, '!') ? "unpack it, then " : "", line);
    if (guess->once)
        snprintf(out, room, "COMMAND | sed %llud | tipple load -", line);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        const size_t end = strlen(packed[i][0]);
        if (length > end && strcasecmp(guess->name + length - end, packed[i][0]) == 0)
            snprintf(out, room, "%s FILE | sed %llud > NEW", packed[i][1], line);
    }
    return out;
}

static bool refuse_underline(const guess_t *guess, err_t *err) {
    char command[80];
    return err_set(err, STATUS_INPUT,
                   "%.1000s: line %llu %s, and is no record: take it out (%s) and give that; if it is a "
                   "record, give %s",
                   guess->name, (unsigned long long)guess->underline,
                   guess->widths ? "tells how wide each column is, as RDB files of the USGS do"
                                 : "is of dashes or the like only, as some programs underline the names",
                   without_line(guess, command, sizeof command),
                   guess->underlines ? "a --format" : "--with header=no, or a --format");
}

/* Can `header: yes` be said, or must the line be skipped? */
static bool settle(guess_t *guess, bool header, err_t *err) {
    if (guess->structure.unsure_names && guess->options.header == GUESS_ANY_HEADER)
        return refuse_names(guess, err);
    if (guess->structure.ends_empty && !guess->structure.odd_header)
        return refuse_ends_empty(guess, err);
    guess->header = header && !guess->structure.odd_header && !has_doubles(guess);
    guess->named_here = header && !guess->header;
    return header || !guess->structure.skip || refuse_before_record(guess, err);
}

static bool refuse_line(const guess_t *guess, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: --with header=%u says that line %u names the columns, but the first line with as many "
        "fields "
        "as the records (%zu) is line %llu; give --with header=%llu if that one names them, else a --format",
        guess->name, guess->options.header_line, guess->options.header_line, guess->structure.columns,
        (unsigned long long)guess->first_line, (unsigned long long)guess->first_line);
}

/* 0, 1, 2, ..., behind an empty one or not: so programs write a table whose columns have no names. */
static bool are_numbered(const guess_t *guess) {
    const size_t columns = guess->structure.columns, names = guess->columns[0].length ? 0 : 1;
    for (size_t i = names; i < columns; i++)
        if (number_at(guess, i) != (long)(i - names))
            return false;
    return columns - names > (names ? 0 : 2);
}

bool guess_find_header(guess_t *guess, err_t *err) {
    evidence_t evidence = {.with = 0};
    const uint32_t line = guess->options.header_line;
    const bool said = guess->options.header == GUESS_NO_HEADER ||
                      (guess->options.header == GUESS_HEADER &&
                       (line || !unsure_lines(guess) || guess->structure.ends_empty));
    if (line && line != guess->first_line)
        return refuse_line(guess, err);
    if (guess->underline && guess->options.header != GUESS_NO_HEADER)
        return refuse_underline(guess, err);
    if (said || guess->structure.odd_header || guess->structure.named)
        return settle(guess, guess->options.header != GUESS_NO_HEADER, err);
    if (guess->structure.unsure_names_at)
        return refuse_behind(guess, err);
    bool named = false;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        size_t length;
        const char *text = first_trimmed(&guess->columns[i], &length);
        named |= guess_is_name_like(text, length);
    }
    for (size_t i = 0; i < guess->structure.columns; i++)
        weigh_column(guess, i, named, &evidence);
    evidence.with += evidence.words && evidence.years;
    evidence.without += evidence.alike && !evidence.plain ? STRONG : 0;
    const bool corner = is_corner_empty(guess);
    if (evidence.year_heads > 1 && first_rises_evenly(guess) &&
        2 * guess->rising_as_first <= guess->records &&
        (evidence.year_heads > 2 || corner || evidence.known)) /* two may be figures near each other */
        evidence.with += ENOUGH;
    if (evidence.time_heads > 1 && !evidence.time_values) /* one may be a mistake in a record */
        evidence.with += STRONG;
    const size_t against = evidence.without + evidence.unlike + evidence.unnamed; /* that it is a header */
    if (guess->options.header == GUESS_HEADER && evidence.with < 2 * against)
        /* the first line, or the one behind what stands before the records? */
        return refuse_unsure(guess, false, err);
    if (guess->repeated && (!evidence.words || guess->structure.columns == 1) && evidence.with)
        return refuse_unsure(guess, false, err);
    /* what stands beside a word for nothing may be values, too */
    const bool doubtful = evidence.nothing && !evidence.words && guess->options.header != GUESS_HEADER;
    if (evidence.with >= ENOUGH && evidence.with >= 2 * against)
        return doubtful ? refuse_unsure(guess, false, err) : settle(guess, true, err);
    const size_t heads = evidence.unlike + evidence.unlike_series;
    const bool unlike = (heads && evidence.without <= heads) ||
                        (!guess->rising && guess->records >= RISING && first_rises(guess));
    const bool contradicts =
        corner || evidence.above || (((evidence.known && evidence.with) || unlike) && !evidence.certain);
    if (evidence.without >= 2 * evidence.with + !evidence.with && !contradicts && !are_numbered(guess))
        return settle(guess, false, err);
    return refuse_unsure(guess, unlike, err);
}
