/* Which line names the columns, and what the columns are called.
 *
 * The first record is the header, or there is none. (guess_structure.c finds the first record, also after titles.) Each field of
 * the first record is compared with its column: with the column's type, and with the first values below it (head_of).
 *
 *      below            the field                                       is evidence
 *      a type           is of the type, too, and written so             3 that it is a record
 *      a type           is a name                                       4 for names; 2 if the name is as short as a code
 *      a type           is of another type, a number unlike all, or
 *                       of digits and signs without letters (1 234)     3 against both
 *      numbers          is one of three years or two days in a row      3 for names
 *      texts            is a word that often names columns, as none is  1 for names
 *      texts            lacks what all, or nearly all, of them have     1 for names; 2 if they are of digits and signs
 *      texts            is one of them                                  1 that it is a record
 *      texts            differs from all of them in its digits only,
 *                       or is a number in groups as they are numbers    2 that it is a record, once for all columns
 *      texts, nothing   is a number or a date                           1 that it is a record
 *      values           is empty, or a text that is no name             2 or 1 against names
 *
 * The first record names the columns if the evidence for names is at least twice all other evidence. It is a record if the
 * evidence for that is more than twice the evidence for names, and no name stands above a typed column. Everything
 * else is a question, by one sentence (ask). So are a header without a record, and a header that is repeated where it may be
 * a value. Where names stand in several lines (structure.names), the first record is the last of these, and is not weighed.
 *
 * A line below the names that describes them (dashes, widths) is refused. Lines with another number of fields before the
 * first record are skipped only above a header; otherwise they may be damaged records, and are refused. */
#include "base/chars.h"
#include "base/numbers.h"
#include "format/guess/guess_inner.h"
#include "format/record/dialect.h"
#include "format/values/values.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_KEY = 100 /* bytes; a number may follow */ };

/* ---- whether a text may name a column, by the text alone ---- */

enum { LONGEST_WORD = 16 };

/* Each word stands between two bars, in small letters. */
static const char known_words[] =
    "|id|name|date|time|code|type|city|country|state|status|email|phone|address|title|price|amount|count|"
    "total|value|year|month|day|description|note|notes|comment|text|key|label|category|url|first name|"
    "last name|number|quantity|zip|region|gender|lat|lon|latitude|longitude|company|user|data|timestamp|"
    "role|group|username|firstname|lastname|surname|street|postcode|department|position|salary|age|brand|"
    "model|colour|color|size|weight|height|product|item|order|customer|client|supplier|sku|currency|"
    "language|version|host|message|level|event|action|result|score|source|target|src|dst|start|end|from|"
    "to|datum|ip|share|cost|file|path|birthday|firma|nombre|nom|prix|preis|ort|stadt|land|vorname|"
    "nachname|strasse|plz|telefon|menge|anzahl|betrag|ville|pays|adresse|prenom|fecha|ciudad|";
static const char nothing_words[] =
    "|none|null|inf|infinity|tbd|tba|tbc|nil|nan|na|n/a|n.a.|n/d|n.d.|s/d|unknown|undefined|undef|"
    "missing|empty|blank|offline|nothing|no data|no value|not set|not known|unset|k.a.|k. a.|n.v.|n. v.|"
    "keine|keiner|keines|kein|leer|fehlt|unbekannt|nichts|inconnu|inconnue|aucun|aucune|vide|ninguno|"
    "ninguna|vacio|sin datos|nessuno|nessuna|geen|onbekend|brak|nenhum|(null)|(none)|(empty)|(blank)|"
    "(leer)|(unknown)|<null>|<none>|<na>|[null]|#n/a|#null!|#value!|#ref!|#div/0!|#num!|#name?|\\n|";

/* Of ASCII, whatever the locale of the program is. */
static bool is_letter(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_one_of(const char *words, const char *text, size_t length) {
    char word[LONGEST_WORD + 3] = "|";
    if (!length || length > LONGEST_WORD || memchr(text, '|', length) || memchr(text, 0, length))
        return false;
    for (size_t i = 0; i < length; i++)
        word[1 + i] = (char)(is_letter((unsigned char)text[i]) ? text[i] | 0x20 : text[i]);
    word[1 + length] = '|';
    return strstr(words, word) != NULL;
}

/* True if columns of many files have this name: "price". */
static bool is_known_word(const char *text, size_t length) {
    return is_one_of(known_words, text, length);
}

/* True for a word like_this or likeThis, of parts with three characters on average, and digits only at the end of a part. */
static bool is_joined(const char *text, size_t length) {
    size_t parts = 1;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i], before = i ? text[i - 1] : '_';
        const bool letter = is_letter((unsigned char)c), upper = letter && c <= 'Z';
        if ((!digits_is_one((uint8_t)c) && !letter && c != '_') || (letter && digits_is_one((uint8_t)before)))
            return false;
        parts += (c == '_' && i) || (upper && before >= 'a' && before <= 'z');
    }
    return parts > 1 && length >= 3 * parts;
}

/* True for a known word, and for one that is written like_this or likeThis. */
static bool is_column_word(const char *text, size_t length) {
    return is_known_word(text, length) || is_joined(text, length);
}

/* True for a word, or signs, for a missing value: "unknown", "k.A.", "-", "#N/A". */
static bool means_nothing(const char *text, size_t length) {
    const uint8_t *word = (const uint8_t *)text;
    blanks_trim(&word, &length);
    size_t signs = 0;
    while (signs < length && memchr("-?._*/", word[signs], 6))
        signs++;
    return (signs && signs == length) || is_one_of(nothing_words, (const char *)word, length);
}

/* True if a column may be called so: the text begins with a letter, does not mean nothing, and is no date or code of
 * several numbers. */
static bool is_name_like(const char *text, size_t length) {
    if (length > 2 && *text == '<' && text[length - 1] == '>' && !means_nothing(text, length))
        return is_name_like(text + 1, length - 2); /* <DATE> */
    size_t letters = 0, digits = 0, numbers = 0;
    for (size_t i = 0; i < length; i++) {
        const bool digit = digits_is_one((uint8_t)text[i]);
        letters += is_letter((unsigned char)text[i]);
        digits += digit;
        /* 12 of Q1_12 is a part of the name; 2020 of Jan 3 2020 is not */
        numbers += digit && (!i || !digits_is_one((uint8_t)text[i - 1])) && (!numbers || text[i - 1] != '_');
    }
    const unsigned char first = length ? (unsigned char)*text : 0,
                        next = length > 1 ? (unsigned char)text[1] : 0;
    const bool sign = first == 0xC2 || (first == 0xE2 && next <= 0x84); /* such as a pound, a dash, a euro */
    return !means_nothing(text, length) && (is_letter(first) || first == '_' || (first >= 0x80 && !sign)) &&
           (numbers < 2 || letters >= 2 * digits);
}

/* True for a part of a year, which has no type here: 2023-01, 2023/24, 2023-Q1, 2023W05. */
static bool is_period(const char *text, size_t length) {
    bool is = length > 5 && length <= 8 && memcmp(text, "1800", 4) >= 0 && memcmp(text, "2200", 4) <= 0;
    for (size_t i = 0; is && i < length; i++)
        is = i == 4 ? memchr("-/ QWMHS", text[i], 8) != NULL
                    : digits_is_one((uint8_t)text[i]) || (i > 4 && memchr("QWMHS", text[i], 5));
    return is;
}

/* ---- a field, and how the values below are written ---- */

/* A number as it is written: whole, or with marks. */
typedef struct {
    bool is, whole;
    size_t digits; /* before the first mark */
    long size;     /* without what follows the first mark; of nine digits at most */
} figure_t;

/* A field of the first record, and the values below it. */
typedef struct {
    const guess_column_t *column;
    const char *text; /* without the blanks around it */
    size_t length;
    figure_t figure;
    unsigned signs;
    bool nothing;   /* it is empty, or a word for a null value */
    bool typed;     /* it alone has a type */
    bool day;       /* it is a date, or a part of a year */
    bool word;      /* it is a word that often names a column, as no value is */
    bool same;      /* a value is the same text */
    unsigned all;   /* signs of all values */
    size_t values;  /* all but null values; of them: */
    size_t alike;   /* those that are written as the field is */
    size_t figures; /* those of digits and signs: numbers, dates, times */
} head_t;

static figure_t figure_of(const uint8_t *text, size_t length) {
    figure_t figure = {.is = length && digits_is_one(text[length - 1]), .whole = true};
    for (size_t i = length && *text == '-'; i < length; i++) {
        const bool digit = digits_is_one(text[i]);
        figure.is &= digit || memchr(".,' ", text[i], 4);
        figure.whole &= digit;
        figure.digits += figure.whole;
        figure.size = figure.whole && figure.digits < 10 ? figure.size * 10 + (text[i] - '0') : figure.size;
    }
    return figure;
}

static bool is_year(const figure_t *figure) {
    return figure->is && figure->whole && figure->digits == 4 && figure->size >= 1700 && figure->size <= 2200;
}

/* Signs that all values of a column may have. A name lacks one of MANNERS by chance only if others lack it. */
enum { DIGIT = 1, LETTER = 2, BLANK = 4, SLASH = 8, OTHER = 16, MANNERS = DIGIT | BLANK | SLASH };

static unsigned signs_of(const uint8_t *text, size_t length) {
    unsigned signs = 0;
    for (size_t i = 0; i < length; i++)
        signs |= digits_is_one(text[i])                ? DIGIT
                 : isalpha(text[i]) || text[i] >= 0x80 ? LETTER
                 : text[i] == ' '                      ? BLANK
                 : text[i] == '/'                      ? SLASH
                                                       : OTHER;
    return signs;
}

static head_t begin_head(const guess_column_t *column) {
    const uint8_t *text = (const uint8_t *)column->text;
    size_t length = column->length;
    column_t one;
    guess_column_begin(&one);
    guess_column_add(&one, text, length);
    const field_type_t kind = guess_column_decide(&one).kind;
    blanks_trim(&text, &length);
    return (head_t){.column = column,
                    .text = (const char *)text,
                    .length = length,
                    .figure = figure_of(text, length),
                    .signs = signs_of(text, length),
                    .nothing = !one.values,
                    .typed = one.values && !guess_kind_is_text(kind),
                    .word = is_column_word((const char *)text, length),
                    .day = (one.values && kind == TYPE_DATE) || is_period((const char *)text, length)};
}

/* True if a value is written as the field is. */
static bool is_alike(const head_t *field, const uint8_t *text, size_t length) {
    const figure_t *figure = &field->figure, value = figure_of(text, length);
    bool same = length == field->length && (field->signs & (DIGIT | LETTER)) == (DIGIT | LETTER);
    for (size_t i = 0; same && i < length; i++)
        same = field->text[i] == (char)text[i] ||
               (digits_is_one(text[i]) && digits_is_one((uint8_t)field->text[i]));
    if (!figure->is)
        return same;
    return value.is && (is_year(figure) ? is_year(&value)
                        : figure->whole ? !figure->size || (value.whole && value.digits >= figure->digits)
                                        : !value.whole);
}

static void compare(head_t *field, const uint8_t *text, size_t length) {
    blanks_trim(&text, &length);
    const unsigned signs = signs_of(text, length);
    field->all = field->values++ ? field->all & signs : signs;
    field->figures += (signs & (DIGIT | LETTER)) == DIGIT;
    field->alike += is_alike(field, text, length);
    field->same |= length == field->length && memcmp(text, field->text, length) == 0;
    field->word = field->word && !is_column_word((const char *)text, length);
}

/* Compares a field of the first record with the first values of its column. */
static head_t head_of(const guess_t *guess, size_t index) {
    head_t field = begin_head(&guess->columns[index]);
    for (size_t i = 0; i < guess->sheet.count && field.values < COMPARED; i++) {
        const row_t *row = &guess->sheet.rows[i];
        const cell_t *cell = guess_is_record(guess, row) ? guess_cell(guess, row, index) : NULL;
        if (cell && cell->length && !guess_is_null(cell->text, cell->length))
            compare(&field, cell->text, cell->length);
    }
    return field;
}

/* ---- evidence ---- */

/* True if the line that is split describes the names above it: ---, --: as in Markdown, or 5s, 20d in RDB files of the USGS,
 * the width and type of each column. */
static bool is_description(const guess_t *guess, const dialect_line_t *line) {
    const split_t *split = &guess->split;
    bool widths = split->count > 1 && guess->schema.delimiters[0] == '\t',
         dashes = split->count == guess->structure.columns && memmem(line->text, line->length, "--", 2);
    for (size_t i = 0; i < split->count; i++) {
        const uint8_t *text = split->spans[i].text;
        const size_t length = split->spans[i].length;
        widths =
            widths && length > 1 && memchr("sdn", text[length - 1], 3) && figure_of(text, length - 1).whole;
        for (size_t j = 0; dashes && j < length; j++)
            dashes = memchr("-: |", text[j], 4);
    }
    return widths || dashes ||
           dialect_is_underline(&guess->schema, guess->schema.delimiters[0], line->text, line->length);
}

/* Refuses the first row, or what may be names, if it describes the names above it. */
static bool check_description(guess_t *guess, const guess_piece_t *piece, err_t *err) {
    const uint8_t *at = piece->text + dialect_begin(&guess->schema, piece->text, piece->length);
    dialect_line_t row;
    for (int i = guess->structure.unsure; i < 2; i++)
        if (!guess_next(&guess->schema, &at, piece->text + piece->length, piece->ends, &row))
            return true;
    if (!guess_split_line(guess, row.text, row.length, err))
        return false;
    const size_t line = 1 + lines_count(piece->text, (size_t)(row.text - piece->text));
    return !is_description(guess, &row) ||
           err_set(err, STATUS_INPUT,
                   "%.1000s: line %zu underlines the names, or says how wide the columns are, and is no "
                   "record: take it out (sed %zud FILE > NEW) and give that; if it is a record, give a "
                   "--format",
                   guess->name, line, line);
}

typedef struct {
    size_t names, record, odd, unlike; /* for names; for a record; against names; against both */
    size_t heads;                      /* years and days in a row, except for the first of them */
    bool above;                        /* a name stands above a typed column */
    bool code;                         /* a text is written as all of those below it */
    bool rises; /* three or more whole numbers rise from column to column, as those that count columns */
} evidence_t;

/* True if the field and the next one are a day each, or years in a row, which head the columns of many a table. */
static bool are_heads(const head_t *one, const head_t *next) {
    const long years = labs(next->figure.size - one->figure.size);
    return is_year(&one->figure) ? is_year(&next->figure) && years && years <= NEAR_YEARS
                                 : one->day && next->day;
}

static bool is_of_type(const guess_column_t *column) {
    column_t with = column->column;
    guess_column_add(&with, (const uint8_t *)column->text, column->length);
    return !guess_kind_is_text(guess_column_decide(&with).kind);
}

/* True for a text that is hardly a value among figures: 2007 - 08 Volume */
static bool is_caption(const head_t *field) {
    return field->signs & LETTER && field->length >= CAPTION;
}

static void weigh_typed(const head_t *field, evidence_t *evidence) {
    if (is_of_type(field->column)) {
        evidence->record += STRONG;
    } else if (field->typed || field->day || (field->signs & (DIGIT | LETTER)) == DIGIT) { /* 1 234 */
        evidence->unlike += STRONG;
    } else if (is_name_like(field->text, field->length)) {
        evidence->names +=
            field->length >= LONG_WORD || is_known_word(field->text, field->length) ? NAME : ENOUGH;
        evidence->above = true;
    } else {
        evidence->names += is_caption(field);
    }
}

static void weigh_text(const head_t *field, evidence_t *evidence) {
    const bool name = is_name_like(field->text, field->length);
    const size_t words = field->values - field->figures;
    const unsigned lacks = field->all & ~field->signs;
    if (field->typed) {
        evidence->record += !field->values;
        return;
    }
    const bool figures = !words && field->values >= LEAST_ROWS,
               caption = !name && figures && is_caption(field);
    evidence->odd += !name && !caption && field->column->column.values;
    evidence->names += field->word + caption;
    evidence->record += field->same;
    const bool grouped = field->figure.is && !words; /* 1 234 above 5 678 and 7 */
    evidence->code |= field->values > 1 && (field->alike == field->values || grouped);
    if (name && !field->same && field->values >= LEAST_ROWS)
        evidence->names += !words ? ENOUGH : lacks & MANNERS || WORDS_IN * words <= field->values;
}

/* heads: one for each column, and an empty one before and after them. */
static evidence_t weigh(const head_t *heads, size_t columns) {
    evidence_t evidence = {0};
    bool falls = false;
    long last = -1;
    size_t rising = 0;
    for (size_t i = 1; i <= columns; i++) {
        const head_t *field = &heads[i];
        const guess_column_t *column = field->column;
        const bool values = column->column.values, typed = values && !guess_kind_is_text(column->is.kind),
                   follows = are_heads(field - 1, field), head = follows || are_heads(field, field + 1);
        if (field->figure.is && field->figure.whole) {
            falls |= field->figure.size <= last;
            last = field->figure.size;
            rising++;
        }
        if (head && guess_kind_is_number(column->is.kind) && 2 * field->alike < field->values)
            evidence.heads += !follows ? 0 : field->day ? 2 : 1;
        else if (!field->length)
            evidence.odd += i > 1 && values ? 2 : 0;
        else if (field->nothing || (head && is_year(&field->figure)))
            continue;
        else if (field->figure.is && (typed || field->figure.whole) && field->values && !field->alike)
            evidence.unlike += STRONG;
        else if (typed)
            weigh_typed(field, &evidence);
        else
            weigh_text(field, &evidence);
    }
    evidence.names += evidence.heads > 1 ? STRONG : 0;
    evidence.record += evidence.code ? ENOUGH : 0;
    evidence.rises = rising >= RISING && !falls;
    return evidence;
}

/* ---- what is asked ---- */

/* Lines before the first record that may be records themselves. */
static size_t unsure_lines(const guess_t *guess) {
    return guess->structure.skip - guess->structure.given;
}

static bool ask(const guess_t *guess, const char *why, err_t *err) {
    char shown[200], yes[24];
    guess_shown(shown, sizeof shown, (const char *)guess->first.text, guess->first.length);
    snprintf(yes, sizeof yes, unsure_lines(guess) ? "%llu" : "yes", (unsigned long long)guess->first_line);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: line %llu (%s) may name the columns or be a record: %s; say which by --with "
                   "header=%s, --with header=N if line N does, or --with header=no",
                   guess->name, (unsigned long long)guess->first_line, shown, why, yes);
}

/* Refuses a line before the records, or of names: it may be a damaged record, or lack a name. */
static bool refuse_fields(const guess_t *guess, uint64_t line, size_t fields, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%.1000s: line %llu has %zu field%s, and the records have %zu: if it is a record, or "
                   "names the columns, give all as many fields%s; if it is a comment, say --with header=no; "
                   "else take it out, or give a --format with 'skip'",
                   guess->name, (unsigned long long)line, fields, units_s(fields), guess->structure.columns,
                   fields + 1 != guess->structure.columns ? ""
                   : guess->structure.ends_empty
                       ? " (add a delimiter to that line, or take the last one off the records)"
                       : " (or --with header=yes if only the first column has no name)");
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

/* Decides how the format names the header: by `header: yes`, or as a line of its own. Refuses lines before the
 * records that neither explains. */
static bool settle(const guess_t *guess, bool header, naming_t *names, err_t *err) {
    const structure_t *structure = &guess->structure;
    const bool said = guess->options.header != GUESS_ANY_HEADER;
    if (structure->unsure_names && (!said || (header && structure->ends_empty)))
        return refuse_fields(guess, guess->first_line, structure->columns - 1, err);
    const bool by_name =
        header && !structure->odd_header && !has_doubles(guess) && structure->names == structure->first;
    *names = by_name ? NAMES_HEADER : header ? NAMES_LINE : NAMES_NONE;
    /* a comment of many fields may name the columns */
    const bool comment = structure->comment && !structure->way.blanks && !said && structure->before > 2 &&
                         2 * structure->before > structure->columns;
    if (comment && !header)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: line %llu, a comment, may name the columns: say --with header=%llu if it "
                       "does, else --with header=no",
                       guess->name, (unsigned long long)guess->first_line - 1,
                       (unsigned long long)guess->first_line - 1);
    return header || !unsure_lines(guess) ||
           refuse_fields(guess, guess->first_line - 1, structure->before, err);
}

/* Decides by the evidence. yes: the user says that some line names the columns. */
static bool decide(const guess_t *guess, bool yes, const evidence_t evidence, naming_t *names, err_t *err) {
    const structure_t *structure = &guess->structure;
    const size_t against = evidence.record + evidence.odd + evidence.unlike;
    const bool titles = structure->unsure || (structure->titles && structure->before == structure->columns),
               named = !structure->unsure && evidence.names >= ENOUGH && evidence.names >= 2 * against,
               one = structure->columns == 1,
               unlike = (evidence.unlike && evidence.record <= evidence.unlike) ||
                        (guess->counts.records && evidence.rises);
    if (guess->counts.repeated && (evidence.names || guess->counts.marked_again) &&
        (one || evidence.names < NAME))
        return ask(guess, "it is there again, as a value or where files were put together", err);
    if (named && !guess->counts.records && !yes)
        return ask(guess, "no record follows it", err);
    if (structure->wider > 1)
        return refuse_fields(guess, guess->first_line - 1, structure->before, err);
    if (named)
        return settle(guess, true, names, err);
    if (!yes && !titles && !evidence.above && !evidence.heads && !unlike &&
        evidence.record > 2 * evidence.names)
        return settle(guess, false, names, err);
    return ask(guess,
               titles                     ? "what stands before it may be titles, or records"
               : unlike || evidence.heads ? "its numbers are not like those below them"
                                          : "nothing in it shows that",
               err);
}

bool guess_find_header(guess_t *guess, err_t *err) {
    const structure_t *structure = &guess->structure;
    const uint32_t line = guess->options.header_line;
    const bool yes = guess->options.header == GUESS_HEADER, no = guess->options.header == GUESS_NO_HEADER;
    if (line && line != guess->first_line)
        return ask(guess, "the line that --with header names has another number of fields", err);
    if (!no && !check_description(guess, guess->head, err))
        return false;
    if (no || (yes && (line || !unsure_lines(guess))) || structure->odd_header || structure->named)
        return settle(guess, !no, &guess->names, err);
    head_t *heads = calloc(structure->columns + 2, sizeof *heads);
    if (!heads)
        return err_memory(err, (structure->columns + 2) * sizeof *heads);
    for (size_t i = 0; i < structure->columns; i++)
        heads[i + 1] = head_of(guess, i);
    const evidence_t evidence = weigh(heads, structure->columns);
    free(heads);
    return decide(guess, yes, evidence, &guess->names, err);
}

/* ---- names and keys ---- */

bool guess_read_names(guess_t *guess, err_t *err) {
    for (size_t i = guess->decided; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        const uint8_t *text = (const uint8_t *)column->text;
        size_t length = column->length;
        text_t name = {.length = 0};
        blanks_trim(&text, &length);
        free(column->name);
        encoding_append(&name, guess->encoding, text, length);
        if (!(column->name = text_take(&name, err)))
            return false;
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

/* The first column before this one whose key collides with this key; NULL: none. */
static guess_column_t *find_taken(const guess_t *guess, size_t before, const char *key) {
    for (size_t i = 0; i < before; i++)
        if (schema_keys_clash(guess->columns[i].key, key))
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

/* True if a --type gives the column another key. */
static bool has_key_by_user(const guess_t *guess, const guess_column_t *column) {
    for (size_t i = 0; i < guess->options.type_count; i++) {
        const type_spec_t *spec = &guess->types[i];
        if (spec->key && (strcmp(spec->name, column->name) == 0 || strcmp(spec->name, column->key) == 0))
            return true;
    }
    return false;
}

/* A new column of a kept format gets no number: its key is its own, or the user's. */
static bool check_new_key(const guess_t *guess, size_t at, err_t *err) {
    const guess_column_t *column = &guess->columns[at];
    const guess_column_t *taken = *column->key ? find_taken(guess, at, column->key) : NULL;
    if (!taken || guess_leaves_out(guess, column) || has_key_by_user(guess, column))
        return true;
    text_t option = {.length = 0};
    for (const char *name = column->name; *name; name++)
        text_print(&option, *name == ':' ? "::" : "%c", *name);
    text_append(&option, ":KEY:");
    err_set(err, STATUS_INPUT,
            "%.1000s: the key '%s' of the new column '%s' does not go with the key '%s' of the column '%s': "
            "give it another one with --type '%s'",
            guess->name, column->key, column->name, taken->key, taken->name,
            option.bytes ? option.bytes : "");
    text_free(&option);
    return false;
}

/* Makes the keys, when it is known whether the first record holds names. */
bool guess_name_columns(guess_t *guess, err_t *err) {
    for (size_t i = guess->decided; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        free(column->key);
        if (!(column->key = make_key(guess->names > NAMES_NONE ? column->name : "",
                                     guess->options.nested == GUESS_YES)))
            return err_memory(err, MOST_KEY);
        if (guess->kept && !check_new_key(guess, i, err))
            return false;
        make_unique(guess, i);
    }
    return true;
}
