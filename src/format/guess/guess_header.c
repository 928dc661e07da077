/* Which line names the columns, and what the columns are called.
 *
 * The first record is the header, or there is none. (guess_structure.c finds the first record, also after titles.) Each column
 * compares the field of the first record with the values below it:
 *
 *      below            the field                                       is evidence
 *      a type           is of the type, too                             3 that it is a record
 *      a type           is a name                                       4 for names; 2 if the name is as short as a code
 *      a type           is of another type                              3 that nothing is known
 *      a type           is another text with a long word in it          1 for names
 *      numbers          is a number written as none of them is          3 against both
 *      numbers          is a year of several in a row, a day, a month   heads: 3 for names if there are enough of them
 *      texts            is a word that often names columns, as none is  1 for names
 *      texts            lacks what all, or nearly all, of them have     1 for names; 2 if they are of digits and signs, or have @
 *      texts            is one of them, or an address as all are        1 or 3 that it is a record
 *      texts            differs from all of them in its digits only     2 that it is a record, once for all columns
 *      texts, nothing   is a number or a date                           1 that it is a record
 *      values           is empty, or a text that is no name             2 or 1 against names
 *
 * The first record names the columns if the evidence for names is at least twice all other evidence. It is a record if the
 * evidence for that is more than twice the evidence for names, and no name stands above a typed column. Everything else is a
 * question, by one sentence (ask). So are a header without a record, and a header that is repeated where it may be a value.
 *
 * A line below the names that describes them (dashes, widths) is refused. Lines with another number of fields before the
 * first record are skipped only above a header; otherwise they may be damaged records, and are refused. */
#include "base/chars.h"
#include "base/numbers.h"
#include "format/guess/guess_inner.h"
#include "format/record/dialect.h"
#include "format/values/blanks.h"
#include "format/values/digits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    /* evidence; see above */
    FITS = 3,
    NAME = 4,
    SHORT_NAME = 2,
    UNLIKE = 3,
    DAY_HEAD = 3,
    YEAR_HEAD = 2,
    HEADS = 6, /* two days, or three years */
    ENOUGH = 2,
    /* limits of what counts as evidence */
    LOOKED_AT = 1000, /* records */
    LONG_WORD = 4,    /* letters of a word that is hardly a code, such as M or DNF */
    NEAR_YEARS = 10,
    RISING = 3,      /* numbers that rise in each record hardly rise by chance */
    LEAST_ROWS = 5,  /* fewer texts may have something in common by chance */
    MOST_OF = 20,    /* one number in this many may be a word */
    LEAST_TYPED = 3, /* the same for addresses with @, and for signs and digits only */
    MOST_KEY = 100,  /* bytes; a number may follow */
};

/* ---- a field, and how the values below are written ---- */

static figure_t figure_of(const uint8_t *text, size_t length) {
    figure_t figure = {.is = true, .whole = true};
    blanks_trim(&text, &length);
    if (length && *text == '-')
        text++, length--;
    for (size_t i = 0; i < length; i++) {
        const bool digit = digits_is_one(text[i]);
        figure.is &= digit || memchr(".,' ", text[i], 4);
        figure.whole &= digit;
        figure.digits += figure.whole;
        figure.size = figure.whole && figure.digits < 10 ? figure.size * 10 + (text[i] - '0') : figure.size;
    }
    figure.is &= length && digits_is_one(text[length - 1]);
    figure.year = figure.is && figure.whole && length == 4 && figure.size >= 1700 && figure.size <= 2200;
    return figure;
}

/* What a text is made of. All texts of a column may have that in common. */
enum {
    DIGIT = 1,
    UPPER = 2,
    LOWER = 4,
    BLANK = 8,
    SLASH = 16,
    AT = 32,
    OTHER = 64,
    LETTER = 128, /* not of ASCII */
    ONLY_UPPER = 256,
    FIRST = 512, /* times what the first byte is */
    TELLING = DIGIT | BLANK | SLASH | AT | ONLY_UPPER | (DIGIT | UPPER | LOWER) * FIRST,
};

static unsigned shape_of(const uint8_t *text, size_t length) {
    unsigned shape = 0, first = 0;
    for (size_t i = length; i--; shape |= first)
        first = digits_is_one(text[i])             ? DIGIT
                : text[i] >= 'A' && text[i] <= 'Z' ? UPPER
                : text[i] >= 'a' && text[i] <= 'z' ? LOWER
                : text[i] == ' '                   ? BLANK
                : text[i] == '/'                   ? SLASH
                : text[i] == '@'                   ? AT
                : text[i] >= 0x80                  ? LETTER
                                                   : OTHER;
    return shape | first * FIRST | ((shape & (UPPER | LOWER)) == UPPER ? ONLY_UPPER : 0);
}

/* True if a value is written as the field is. */
static bool is_alike(const guess_column_t *column, const uint8_t *text, size_t length) {
    const figure_t *field = &column->heading.figure, value = figure_of(text, length);
    if (column->heading.day) /* 0 may stand for a day that is missing */
        return value.is && value.whole &&
               (!value.size || (field->is && field->whole && value.digits == field->digits));
    if (!field->is)
        return guess_is_numbered_alike((const char *)text, length, column->text, column->length);
    return value.is && (field->year    ? value.year
                        : field->whole ? !field->size || (value.whole && value.digits >= field->digits)
                                       : !value.whole);
}

/* True if the numbers of a record rise from column to column, where the first record has whole numbers. NULL: the first record. */
static bool rises(const guess_t *guess, const split_t *split) {
    long last = -1;
    size_t count = 0;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const figure_t *first = &guess->columns[i].heading.figure;
        if (!first->is || !first->whole)
            continue;
        const long size = split ? figure_of(split->spans[i].text, split->spans[i].length).size : first->size;
        if (size <= last)
            return false;
        last = size;
        count++;
    }
    return count >= RISING;
}

void guess_header_look(guess_t *guess, const split_t *split) {
    if (guess->records > LOOKED_AT)
        return;
    guess->rising += guess->first_rises && rises(guess, split);
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const guess_column_t *column = &guess->columns[i];
        heading_t *heading = &guess->columns[i].heading;
        const uint8_t *text = split->spans[i].text;
        size_t length = split->spans[i].length;
        if (!length || guess_is_null(text, length))
            continue;
        const unsigned shape = shape_of(text, length);
        heading->common = heading->values++ ? heading->common & shape : shape;
        heading->figures += (shape & DIGIT) && !(shape & (UPPER | LOWER | LETTER));
        heading->alike += is_alike(column, text, length);
        heading->same |= length == column->length && memcmp(text, column->text, length) == 0;
        blanks_trim(&text, &length);
        heading->words =
            heading->words || (heading->word && guess_is_column_word((const char *)text, length));
    }
}

static bool set_field(guess_column_t *column, const span_t *span, err_t *err) {
    heading_t *heading = &column->heading;
    const uint8_t *text = span->text;
    size_t length = span->length;
    column_t one;
    free(column->text);
    if (!(column->text = calloc(1, length + 1)))
        return err_memory(err, length);
    memcpy(column->text, text, length);
    column->length = length;
    guess_column_begin(&one);
    guess_column_add(&one, text, length);
    const kind_t kind = guess_column_decide(&one).kind;
    heading->shape = shape_of(text, length);
    blanks_trim(&text, &length);
    heading->figure = figure_of(text, length);
    heading->empty = !one.values;
    heading->typed = one.values && !guess_kind_is_text(kind);
    heading->word = guess_is_column_word((const char *)text, length);
    heading->day = (one.values && guess_kind_is_date(kind)) || guess_is_period((const char *)text, length);
    return true;
}

bool guess_cut_first(guess_t *guess, err_t *err) {
    static const span_t none = {(const uint8_t *)"", 0, 0, 0};
    structure_t *structure = &guess->structure;
    const guess_line_t first = {guess->first, guess->first_length};
    if (!guess_split_line(guess, &first, err))
        return false;
    const size_t count = guess->split->count;
    if (count == structure->columns)
        structure->odd_header = structure->row_names = structure->unsure_names = false;
    guess->first_misfits = count != structure->columns || !split_is_sound(guess->split);
    const size_t shift = structure->odd_header && structure->row_names;
    bool ok = true;
    for (size_t i = 0; ok && i < structure->columns; i++)
        ok = set_field(&guess->columns[i],
                       i >= shift && i - shift < count ? &guess->split->spans[i - shift] : &none, err);
    guess->first_rises = ok && rises(guess, NULL);
    return ok;
}

/* ---- lines below a header that describe the names above them ---- */

/* |---|--:|, as in Markdown. */
static bool is_markdown(const guess_t *guess, const guess_line_t *line) {
    for (size_t i = 0; i < line->length; i++)
        if (!strchr("-: |", line->text[i]) && line->text[i] != (uint8_t)guess->structure.way.delimiter)
            return false;
    return memmem(line->text, line->length, "--", 2) && guess->split->count == guess->structure.columns;
}

/* 5s 15s 20d: in RDB files of the USGS, the width and type of the column below each name. */
static bool is_of_widths(const guess_t *guess) {
    for (size_t i = 0; i < guess->split->count; i++) {
        const span_t *span = &guess->split->spans[i];
        if (span->length < 2 || !memchr("sdn", span->text[span->length - 1], 3) ||
            !figure_of(span->text, span->length - 1).whole)
            return false;
    }
    return guess->split->count > 1 && guess->structure.way.delimiter == '\t';
}

bool guess_is_underline(const guess_t *guess, const guess_line_t *line) {
    return dialect_is_underline(guess->schema, guess->structure.way.delimiter, line->text, line->length);
}

bool guess_underline_look(guess_t *guess, const guess_line_t *line, const uint8_t *text, bool second,
                          bool *is, err_t *err) {
    *is = guess_is_underline(guess, line);
    guess->records += *is;
    guess->underlines += *is;
    if (second && !*is && !guess_split_line(guess, line, err))
        return false;
    if (second && (*is || is_markdown(guess, line) || is_of_widths(guess)))
        guess->underline = 1 + lines_count(text, (size_t)(line->text - text));
    return true;
}

/* ---- evidence ---- */

typedef struct {
    size_t names, record, odd, unlike; /* for names; for a record; against names; against both */
    size_t heads;
    bool above;   /* a name stands above a typed column */
    bool known;   /* a known word is a name */
    bool nothing; /* a word for nothing stands above a typed column */
    bool certain; /* the field is a date, or a number with a fraction, as the values below are */
    bool code;    /* the field is as all texts below except for its digits: IDX01 above IDX02 and IDX03 */
} evidence_t;

/* Years in a row head the columns of many a table. */
static bool is_of_years(const guess_t *guess, size_t at) {
    const figure_t *year = &guess->columns[at].heading.figure;
    for (size_t i = at ? at - 1 : 0; year->year && i <= at + 1 && i < guess->structure.columns; i++) {
        const figure_t *other = &guess->columns[i].heading.figure;
        if (other->year && other->size != year->size && labs(other->size - year->size) <= NEAR_YEARS)
            return true;
    }
    return false;
}

/* True if the columns are named by numbers, 0, 1, 2, ..., as programs write tables without names. */
static bool are_numbered(const guess_t *guess) {
    const size_t columns = guess->structure.columns, names = guess->columns[0].length ? 0 : 1;
    for (size_t i = names; i < columns; i++)
        if (!guess->columns[i].heading.figure.whole ||
            guess->columns[i].heading.figure.size != (long)(i - names))
            return false;
    return columns - names > (names ? 0 : 2);
}

/* True if only the first field is empty, above values: the corner of a table. */
static bool is_corner_empty(const guess_t *guess) {
    const heading_t *corner = &guess->columns[0].heading;
    bool filled = guess->structure.columns > 1;
    for (size_t i = 1; i < guess->structure.columns; i++)
        filled &= guess->columns[i].length > 0;
    return filled && !guess->columns[0].length && guess->records && corner->values >= guess->records;
}

static bool has_long_word(const char *text, size_t length) {
    size_t letters = 0;
    for (size_t i = 0; i < length && letters < LONG_WORD; i++)
        letters = (text[i] | 0x20) >= 'a' && (text[i] | 0x20) <= 'z' ? letters + 1 : 0;
    return letters == LONG_WORD;
}

static bool is_of_type(const guess_column_t *column) {
    column_t with = column->column;
    guess_column_add(&with, (const uint8_t *)column->text, column->length);
    return !guess_kind_is_text(guess_column_decide(&with).kind);
}

/* Above a typed column. */
static void add_name(const char *text, size_t length, evidence_t *evidence) {
    const bool known = guess_is_known_word(text, length);
    evidence->names += known || length >= LONG_WORD ? NAME : SHORT_NAME;
    evidence->known |= known;
    evidence->above = true;
}

static void weigh_typed(const guess_column_t *column, const char *text, size_t length, evidence_t *evidence) {
    const heading_t *heading = &column->heading;
    const bool numbers = guess_kind_is_number(column->is.kind);
    evidence->nothing |= guess_means_nothing(text, length);
    if (heading->empty)
        return;
    if (numbers && heading->day) {
        evidence->heads += 2 * heading->alike < heading->values ? DAY_HEAD : 0;
    } else if (is_of_type(column)) {
        const bool unlike = heading->figure.is && !heading->alike && heading->values;
        evidence->unlike += unlike ? UNLIKE : 0;
        evidence->record += unlike ? 0 : FITS;
        evidence->certain |= !unlike && column->is.kind != KIND_INT && !heading->figure.whole;
    } else if (guess_is_name_like(text, length)) {
        add_name(text, length, evidence);
    } else {
        evidence->names += !heading->typed && has_long_word(text, length);
        evidence->unlike += heading->typed ? UNLIKE : 0;
    }
}

static void weigh_text(const guess_column_t *column, const char *text, size_t length, evidence_t *evidence) {
    const heading_t *heading = &column->heading;
    const unsigned lacks = heading->common & ~heading->shape & TELLING;
    const bool word = heading->word && !heading->words, name = guess_is_name_like(text, length);
    const uint64_t values = heading->values, words = values - heading->figures;
    if (heading->typed) {
        const bool unlike = values && heading->figure.is && heading->figure.whole && !heading->alike;
        evidence->unlike += unlike ? UNLIKE : 0;
        evidence->record += !unlike && (!values || (values >= LEAST_ROWS && !heading->day));
        return;
    }
    evidence->odd += !name && values;
    evidence->names += word;
    evidence->known |= word && guess_is_known_word(text, length);
    evidence->record += heading->same;
    evidence->record += heading->common & heading->shape & AT ? FITS : 0;
    evidence->code |= values > 1 && heading->alike == values;
    if (!name || heading->same)
        return;
    const bool many = values >= LEAST_ROWS, some = values >= LEAST_TYPED;
    evidence->above |= !words && some; /* times, numbers with zeros in front: nearly a type */
    if (lacks & AT ? some : many && !words)
        evidence->names += ENOUGH;
    else
        evidence->names +=
            (some && !words) || (many && lacks) || (values >= MOST_OF && MOST_OF * words <= values);
}

static evidence_t weigh(const guess_t *guess) {
    evidence_t evidence = {.names = 0};
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const guess_column_t *column = &guess->columns[i];
        const uint8_t *text = (const uint8_t *)column->text;
        size_t length = column->length;
        blanks_trim(&text, &length);
        const bool values = column->column.values, typed = values && !guess_kind_is_text(column->is.kind);
        if (is_of_years(guess, i)) {
            const heading_t *heading = &column->heading;
            const bool numbers = guess_kind_is_number(column->is.kind) || heading->values >= LEAST_ROWS;
            evidence.heads += values && numbers && 2 * heading->alike < heading->values ? YEAR_HEAD : 0;
            continue;
        }
        evidence.odd += i && !length && values ? 2 : 0;
        if (typed)
            weigh_typed(column, (const char *)text, length, &evidence);
        else if (!column->heading.empty)
            weigh_text(column, (const char *)text, length, &evidence);
    }
    const bool sure = evidence.known || is_corner_empty(guess);
    evidence.names += evidence.heads + (sure && evidence.heads ? YEAR_HEAD : 0) >= HEADS ? FITS : 0;
    evidence.record += evidence.code ? ENOUGH : 0;
    return evidence;
}

/* ---- what is asked ---- */

/* Lines before the first record that may be records themselves. */
static size_t unsure_lines(const guess_t *guess) {
    return guess->structure.skip - guess->structure.told;
}

/* True if the text has one column, with a sign inside the first record that may divide it. */
static bool may_be_divided(const guess_t *guess) {
    for (size_t i = 1; guess->structure.columns == 1 && i + 1 < guess->first_length; i++)
        if (guess->first[i] && strchr("^~!#$%&*", guess->first[i]))
            return true;
    return false;
}

/* at: the line in question, from 1: the first record's, or one after lines that may be titles. */
static bool ask(const guess_t *guess, size_t at, const char *why, err_t *err) {
    const bool is_first = at == guess->first_line, only = is_first && !unsure_lines(guess);
    char shown[200] = "", yes[60] = "yes";
    bool blank = false; /* a field is empty: the line may be a title */
    for (size_t i = 0; only && i < guess->structure.columns; i++)
        blank |= !guess->columns[i].length;
    if (is_first)
        guess_shown(shown, sizeof shown, (const char *)guess->first, guess->first_length);
    if (blank)
        snprintf(yes, sizeof yes, "yes, --with header=N if line N does,");
    else if (!only)
        snprintf(yes, sizeof yes, "%zu", at);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: line %zu%s%s%s may name the columns or be a record: %s; say which by --with "
                   "header=%s or %s%s",
                   guess->name, at, is_first ? " (" : "", shown, is_first ? ")" : "", why, yes,
                   only || !is_first ? "--with header=no" : "a --format",
                   may_be_divided(guess)
                       ? "; no delimiter was found: if a sign in it is one, give a --format that says so"
                       : "");
}

static bool refuse_fields(const guess_t *guess, uint64_t line, size_t fields, const char *advice,
                          err_t *err) {
    return err_set(err, STATUS_INPUT, "%.1000s: line %llu has %zu field%s, and the records have %zu: %s",
                   guess->name, (unsigned long long)line, fields, units_s(fields), guess->structure.columns,
                   advice);
}

/* Refuses lines before a first record: they may be damaged records, or a header with another number of names. */
static bool refuse_before_record(const guess_t *guess, err_t *err) {
    char advice[200];
    snprintf(
        advice, sizeof advice,
        "if it is a record, or names the columns, give all as many fields; if it is neither, take it out, "
        "or give a --format with 'skip: %zu'",
        guess->structure.skip);
    return refuse_fields(guess, guess->first_line - 1, guess->structure.before,
                         unsure_lines(guess) ? advice
                                             : "if it names the columns, name all of them there; if it is a "
                                               "comment, say --with header=no",
                         err);
}

static bool refuse_underline(const guess_t *guess, err_t *err) {
    const unsigned long long line = guess->underline;
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: line %llu underlines the names, or tells how wide the columns are, and is no record: "
        "take it out (sed %llud FILE > NEW) and give that; if it is a record, give %s",
        guess->name, line, line, guess->underlines ? "a --format" : "--with header=no, or a --format");
}

static bool refuse_line(const guess_t *guess, err_t *err) {
    const unsigned long long first = guess->first_line;
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: --with header=%u says that line %u names the columns, but the first line with as "
        "many fields as the records (%zu) is line %llu; give --with header=%llu if that one names "
        "them, else a --format",
        guess->name, guess->options.header_line, guess->options.header_line, guess->structure.columns, first,
        first);
}

/* ---- the decision ---- */

/* True if two names are the same except for upper and lower case: columns cannot be found by such names. */
static bool has_doubles(const guess_t *guess) {
    for (size_t i = 0; i < guess->structure.columns; i++)
        for (size_t j = 0; j < i; j++)
            if (strcasecmp(guess->columns[i].name, guess->columns[j].name) == 0)
                return true;
    return false;
}

/* Decides how the format names the header: by `header: yes`, or as a line of its own (named_here). Refuses lines before the
 * records that neither explains. */
static bool settle(guess_t *guess, bool header, err_t *err) {
    const structure_t *structure = &guess->structure;
    if (structure->unsure_names && guess->options.header == GUESS_ANY_HEADER)
        return refuse_fields(guess, guess->first_line, structure->columns - 1,
                             "the first column may have no name, or the last one, or a delimiter may be in a "
                             "value that is not in quotes. Give --with header=yes if the first column has "
                             "none; else name all columns in that line",
                             err);
    if (structure->ends_empty && !structure->odd_header)
        return refuse_fields(
            guess, guess->first_line - 1, structure->before,
            "they end in an empty extra field, and nothing tells whether that line names the "
            "columns. Take the last delimiter off the records, and say by --with header=yes or "
            "--with header=no",
            err);
    guess->header = header && !structure->odd_header && !has_doubles(guess);
    guess->named_here = header && !guess->header;
    /* a comment of many fields may name the columns */
    const bool comment = structure->comment && !structure->way.blanks &&
                         guess->options.header == GUESS_ANY_HEADER && structure->before > 2 &&
                         2 * structure->before > structure->columns;
    return header || (!unsure_lines(guess) && !comment) || refuse_before_record(guess, err);
}

bool guess_find_header(guess_t *guess, err_t *err) {
    const structure_t *structure = &guess->structure;
    const uint32_t line = guess->options.header_line;
    const bool yes = guess->options.header == GUESS_HEADER, no = guess->options.header == GUESS_NO_HEADER;
    const size_t first = (size_t)guess->first_line;
    if (line && line != guess->first_line)
        return refuse_line(guess, err);
    if (guess->underline && !no)
        return refuse_underline(guess, err);
    if (no || (yes && (line || !unsure_lines(guess) || structure->ends_empty)) || structure->odd_header ||
        structure->named)
        return settle(guess, !no, err);
    if (structure->unsure_names_at)
        return ask(guess, structure->unsure_names_at, "what stands before it may be titles, or records", err);
    const evidence_t evidence = weigh(guess);
    const size_t against = evidence.record + evidence.odd + evidence.unlike;
    const bool named = evidence.names >= ENOUGH && evidence.names >= 2 * against;
    const bool again = guess->repeated && evidence.names &&
                       (structure->columns == 1 || !(evidence.known || evidence.names >= NAME));
    if (again)
        return ask(guess, first,
                   structure->columns == 1
                       ? "it is there again (with header=yes the others like it are records)"
                       : "it is there again, as in files that were put together",
                   err);
    if (named && !guess->records && !yes)
        return ask(guess, first, "no record follows it", err);
    if (named && guess->parted && structure->columns == 1 && !yes)
        return ask(guess, first, "a blank line or a comment follows it, as it may follow a title", err);
    if (named && structure->wider < 2 && (!evidence.nothing || evidence.known || yes))
        return settle(guess, true, err);
    if (structure->wider > 1 || (structure->before > structure->columns && !structure->comment))
        return refuse_before_record(guess, err);
    const bool unlike = (evidence.unlike && evidence.record <= evidence.unlike) ||
                        (guess->first_rises && !guess->rising && guess->records >= RISING);
    const bool may_name = evidence.above || is_corner_empty(guess) || are_numbered(guess) ||
                          ((evidence.known || evidence.heads || unlike) && !evidence.certain);
    if (!yes && !may_name && evidence.record > 2 * evidence.names)
        return settle(guess, false, err);
    return ask(guess, first,
               unlike || evidence.heads ? "its numbers are not like those below them" : "nothing in it tells",
               err);
}

/* ---- names and keys ---- */

/* The name of a column, in UTF-8, without the blanks around it. */
static char *read_name(const guess_column_t *column, encoding_t encoding) {
    const uint8_t *text = (const uint8_t *)column->text;
    size_t length = column->length;
    blanks_trim(&text, &length);
    char *name = calloc(1, ENCODING_MOST_BYTES * length + 1);
    if (name && encoding_converts(encoding, text, length))
        encoding_to_utf8(encoding, (uint8_t *)name, text, length);
    else if (name)
        memcpy(name, text, length);
    return name;
}

bool guess_read_names(guess_t *guess, err_t *err) {
    for (size_t i = 0; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        free(column->name);
        if (!(column->name = read_name(column, guess->encoding)))
            return err_memory(err, column->length);
    }
    return true;
}

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || digits_is_one((uint8_t)c) || (c & 0x80);
}

/* A key of letters, digits and single underscores; with `dots`, also single dots. Leaves room for a number. */
static char *make_key(const char *name, bool dots) {
    char *key = calloc(1, MOST_KEY + 24);
    size_t used = 0;
    name += strcmp(name, "_id") == 0;
    for (; key && *name && used < MOST_KEY; name++) {
        const bool dot = dots && *name == '.';
        const bool blank = strncmp(name, "\xC2\xA0", 2) == 0; /* a no-break space */
        if (is_plain(*name) && !blank)
            key[used++] = *name;
        else if (dot && used && key[used - 1] == '_')
            key[used - 1] = '.';
        else if (used && key[used - 1] != '_' && key[used - 1] != '.')
            key[used++] = dot ? '.' : '_';
        name += blank;
    }
    while (used && !utf8_valid((const uint8_t *)key, used))
        used--; /* a character was torn */
    while (used && (key[used - 1] == '_' || key[used - 1] == '.'))
        used--;
    if (key)
        key[used] = '\0';
    return key;
}

bool guess_keys_collide(const char *one, const char *other) {
    const size_t a = strlen(one), b = strlen(other), shorter = a < b ? a : b;
    return strncmp(one, other, shorter) == 0 && (a == b || (a < b ? other : one)[shorter] == '.');
}

/* The first column before this one whose key collides with this key; NULL: none. */
static guess_column_t *find_taken(const guess_t *guess, size_t before, const char *key) {
    for (size_t i = 0; i < before; i++)
        if (guess_keys_collide(guess->columns[i].key, key))
            return &guess->columns[i];
    return NULL;
}

/* Appends a number to a key that another column has. Thousands of columns may share a name, so the first of them remembers the
 * last number (numbered). */
static void make_unique(guess_t *guess, size_t at) {
    char *key = guess->columns[at].key, *dot;
    guess_column_t *taken, *same = NULL;
    size_t number = 1;
    guess->columns[at].numbered = 1;
    if (!*key)
        snprintf(key, 16, "column_%u", (unsigned)at % 1000 + 1);
    while ((taken = find_taken(guess, at, key)) && (dot = strchr(key, '.')))
        *dot = '_';
    if (!taken)
        return;
    if (strcmp(taken->key, key) == 0) {
        same = taken;
        number = same->numbered;
    }
    const size_t length = strlen(key);
    do
        snprintf(key + length, 24, "_%zu", ++number);
    while (find_taken(guess, at, key));
    if (same)
        same->numbered = number;
}

/* Makes the keys, when it is known whether the first record holds names. */
bool guess_name_columns(guess_t *guess, err_t *err) {
    const bool named = guess->header || guess->named_here;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        free(column->key);
        if (!(column->key = make_key(named ? column->name : "", guess->options.nested)))
            return err_memory(err, MOST_KEY);
        make_unique(guess, i);
    }
    return true;
}
