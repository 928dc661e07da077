#include "base/chars.h"
#include "format/guess/guess_inner.h"
#include "format/guess/structure/guess_cut.h"
#include "format/record/dialect.h"
#include "format/values/blanks.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* guess_middle: the first record of a text that begins with some line of a larger one, perhaps within quotes. Where records begin in the middle of a text. Lines of a text in quotes may look like records. But its quotes tell: one
 * that opens a field stands behind a delimiter, and one that closes it before one. */

enum {
    TRIED_LINES = 200, /* to find a record, */
    IN_A_ROW = 10,     /* after which so many others fit */
};

static bool ends_line(const uint8_t *at, const uint8_t *end) {
    return *at == '\n' || (*at == '\r' && at + 1 < end && at[1] == '\n');
}

static bool divides(const way_t *way, uint8_t character) {
    return character == (uint8_t)way->delimiter || (way->blanks && (character == ' ' || character == '\t'));
}

/* Behind the first quote of which it is certain that it closes a field; NULL: one opens a field before, or none tells. */
static const uint8_t *find_closed(const way_t *way, const uint8_t *text, const uint8_t *end) {
    const size_t wide = strlen(way->wide);
    const uint8_t last = (uint8_t)(wide ? way->wide[wide - 1] : way->delimiter);
    const uint8_t *at = text, *begin;
    while ((begin = memchr(at, way->quote, (size_t)(end - at)))) {
        for (at = begin; at < end && *at == (uint8_t)way->quote;)
            at++;
        if (at == end)
            break;
        const bool behind =
                       begin == text || begin[-1] == '\n' || begin[-1] == last || divides(way, begin[-1]),
                   before = ends_line(at, end) || divides(way, *at);
        if (behind == before || (at - begin) % 2 == 0 || (begin > text && begin[-1] == '\\'))
            continue;
        return before ? at : NULL;
    }
    return NULL;
}

/* Where the record ends of which a field ends there. */
static const uint8_t *end_of_record(const schema_t *schema, const uint8_t *at, const uint8_t *end) {
    guess_line_t line;
    if (ends_line(at, end))
        return (const uint8_t *)memchr(at, '\n', (size_t)(end - at)) + 1;
    at++;
    return guess_next(schema, &at, end, false, &line) ? at : end;
}

/* A line is the first of a record if so are those after it, as far as can be seen. */
static bool fits_from(const structure_t *structure, const schema_t *schema, split_t *split, const uint8_t *at,
                      const uint8_t *end) {
    guess_line_t line;
    size_t fitting = 0;
    while (fitting < IN_A_ROW && guess_next(schema, &at, end, false, &line)) {
        if (!split_record(split, schema, structure->way.delimiter, line.text, line.length) ||
            !split_is_sound(split) || split->count != structure->columns)
            return false;
        fitting++;
    }
    return fitting > 0;
}

/* NULL: none is found. schema: of the structure. split is used. */
static const uint8_t *guess_middle(const structure_t *structure, const schema_t *schema, split_t *split,
                                   const uint8_t *text, const uint8_t *end) {
    const way_t *way = &structure->way;
    const uint8_t *at = text, *closed = way->quote ? find_closed(way, text, end) : NULL;
    if (closed)
        at = end_of_record(schema, closed, end);
    for (size_t i = 0; i < TRIED_LINES && at < end; i++) {
        if (fits_from(structure, schema, split, at, end))
            return at;
        const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
        at = feed ? feed + 1 : end;
    }
    return NULL;
}

guess_t *guess_new(const char *name, const guess_options_t *options, err_t *err) {
    guess_t *guess = calloc(1, sizeof *guess);
    if (!guess || !(guess->schema = calloc(1, sizeof *guess->schema)) ||
        !(guess->split = calloc(1, sizeof *guess->split))) {
        guess_destroy(guess);
        err_memory(err, sizeof *guess);
        return NULL;
    }
    guess->name = guess->here = name;
    guess->options = *options;
    if (guess_read_types(guess, err))
        return guess;
    guess_destroy(guess);
    return NULL;
}

void guess_destroy(guess_t *guess) {
    if (!guess)
        return;
    for (size_t i = 0; guess->columns && i < guess->structure.columns; i++) {
        free(guess->columns[i].text);
        free(guess->columns[i].name);
        free(guess->columns[i].key);
    }
    for (size_t i = 0; guess->types && i < guess->options.type_count; i++)
        type_spec_free(&guess->types[i]);
    free(guess->types);
    free(guess->columns);
    free(guess->first);
    if (guess->split)
        split_free(guess->split);
    free(guess->split);
    free(guess->schema);
    free(guess);
}

bool guess_split_line(guess_t *guess, const guess_line_t *line, err_t *err) {
    return split_record(guess->split, guess->schema, guess->structure.way.delimiter, line->text,
                        line->length) ||
           err_memory(err, line->length);
}

/* A comment may be a record all the same, and is a reject then: see look_at_comment in delimited.c. */
static bool add_comment(guess_t *guess, const guess_line_t *line, bool before, err_t *err) {
    const size_t columns = guess->structure.columns;
    if (!guess_split_line(guess, line, err))
        return false;
    if (memchr(line->text, '\n', line->length))
        guess->comments++;
    else if (columns > 1 && guess->split->count == columns)
        *(before ? &guess->comments_before : &guess->comments) += 1;
    return true;
}

/* Behind the lines that are skipped. */
static bool look_before_first(guess_t *guess, const uint8_t *text, err_t *err) {
    const uint8_t *at = text, *const end = text + guess->structure.first;
    guess_line_t line;
    for (size_t left = guess->structure.skip; left && at < end; left--) {
        const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
        at = feed ? feed + 1 : end;
    }
    while (guess_line(guess->schema, &at, end, true, &line))
        if (schema_is_comment(guess->schema, *line.text) && !add_comment(guess, &line, true, err))
            return false;
    return true;
}

/* The first record may name the columns: it is kept until the others are known. */
static bool keep_first(guess_t *guess, const uint8_t *text, size_t length, bool whole, err_t *err) {
    const structure_t *structure = &guess->structure;
    const uint8_t *at = text + structure->first;
    guess_line_t line = {NULL, 0};
    if (!(guess->columns = calloc(structure->columns, sizeof *guess->columns)))
        return err_memory(err, structure->columns * sizeof *guess->columns);
    for (size_t i = 0; i < structure->columns; i++)
        guess_column_begin(&guess->columns[i].column);
    if (!guess_next(guess->schema, &at, text + length, whole, &line))
        return false;
    if (!(guess->first = malloc(line.length)))
        return err_memory(err, line.length);
    memcpy(guess->first, line.text, line.length);
    guess->first_length = line.length;
    guess->first_line = 1 + lines_count(text, (size_t)(line.text - text));
    return guess_cut_first(guess, err) && look_before_first(guess, text, err);
}

void guess_reads_once(guess_t *guess) {
    guess->once = true;
}

size_t guess_cut_line(const uint8_t *text, size_t length) {
    if (lines_count(text, length) < GUESS_LEAST_LINES || text[length - 1] == '\r')
        return 0;
    return (size_t)(text + length - 1 - (const uint8_t *)memrchr(text, '\n', length));
}

/* Is each line a record, without quotes? Then these are ordinary characters that stand in pairs by chance, and the last one tells. */
static bool is_of_single_lines(const guess_t *guess, const uint8_t *text, size_t length,
                               const structure_said_t *said, const structure_t *quoted) {
    static const char none = 0;
    structure_said_t without = *said;
    structure_t lines;
    err_t ignored;
    without.quote = &none;
    return !said->quote &&
           guess_find_structure(&lines, guess->name, text, length, true, &without, &ignored) && lines.even &&
           lines.way.delimiter == quoted->way.delimiter && guess_tells_more(&lines, quoted);
}

/* Bytes at the end of a text that is all there is: of a record whose text in quotes does not end, or of a last line without a line
 * end. If it was cut off there, its lines tell nothing of how the others are divided. A lone quote may be an ordinary character: so
 * they are left out only where other texts in quotes go over several lines, and most of the text is before them. */
static size_t cut_record(const guess_t *guess, const uint8_t *text, size_t length,
                         const structure_said_t *said) {
    structure_t found;
    schema_t schema;
    guess_line_t line;
    err_t ignored;
    bool of_lines = false;
    if (!memchr(text, '"', length) && !memchr(text, '\'', length))
        return 0;
    if (!guess_find_structure(&found, guess->name, text, length, false, said, &ignored) || !found.way.quote)
        return 0;
    guess_schema(&schema, &found.way);
    const uint8_t *at = text + found.first, *const end = text + length;
    while (guess_line(&schema, &at, end, false, &line))
        of_lines |= memchr(line.text, '\n', line.length) != NULL;
    const size_t left = (size_t)(end - at);
    const bool comment = left && (*at == '#' || memmem(at, left, "\n#", 2)); /* it may be the only one */
    if (!of_lines || left >= length / 2 || comment)
        return 0;
    return is_of_single_lines(guess, text, length - left, said, &found) ? 0 : left;
}

bool guess_begin(guess_t *guess, const uint8_t *text, size_t length, bool whole, err_t *err) {
    const size_t bom = lines_bom(text, length);
    guess->marked = bom > 0;
    guess->bson = guess_is_bson(text, length) ||
                  (whole && !length && (guess->dumped || guess_is_named_bson(guess->name)));
    guess->json = !guess->bson && guess_is_json(text, length);
    if (guess->bson || guess->json)
        return true;
    const structure_said_t said = {guess->options.header_line, guess->options.quote,
                                   guess->options.delimiter};
    if (!guess_is_text(guess->name, text, length, err))
        return false;
    if (whole) {
        guess->cut_off = guess->options.beginning ? guess_cut_line(text, length) : 0;
        guess->cut_off += cut_record(guess, text + bom, length - bom - guess->cut_off, &said);
        length -= guess->cut_off;
    }
    if (!guess_find_structure(&guess->structure, guess->name, text + bom, length - bom, whole, &said, err))
        return false;
    guess_schema(guess->schema, &guess->structure.way);
    guess->schema->skip = (uint32_t)guess->structure.skip;
    guess->schema->comment = guess->structure.comment;
    return keep_first(guess, text + bom, length - bom, whole, err);
}

bool guess_is_of_lines(const guess_t *guess) {
    return !guess->json && !guess->bson;
}

size_t guess_cut_off(const guess_t *guess) {
    return guess->cut_off;
}

/* ---- values ---- */

/* \t, \n, \\: so databases write a tab, a line end, a backslash into text without quotes. */
static bool has_escape(const span_t *span) {
    const uint8_t *at = span->text, *const end = at + span->length;
    while ((at = memchr(at, '\\', (size_t)(end - at))) && at + 1 < end) {
        if (strchr("bfnrtv\\\n", at[1]) && at[1])
            return true;
        at++;
    }
    return false;
}

static void note_escapes(guess_t *guess, const span_t *span) {
    const bool quoted = span->raw_length > span->length && span->length;
    guess->has_escapes =
        guess->has_escapes || ((!quoted || guess->structure.way.backslash) && has_escape(span));
}

static void add_value(guess_t *guess, guess_column_t *column, const span_t *span) {
    const bool quoted = span->raw_length > span->length && span->length;
    value_t value;
    guess_read(&value, span->text, span->length);
    guess_column_take(&column->column, &value, span->text, span->length);
    column->column.kept_blank |= quoted && (span->text[0] == ' ' || span->text[span->length - 1] == ' ');
    guess_torn_plain(guess, span);
    note_escapes(guess, span);
    guess_look_at_bytes(guess, span->text, span->length);
}

/* A CR that ends no line for us, and perhaps did for who wrote it; in quotes it is a part of a text. */
static bool has_cr(const split_t *split) {
    for (size_t i = 0; i < split->count; i++)
        if (split->spans[i].length == split->spans[i].raw_length &&
            memchr(split->spans[i].text, '\r', split->spans[i].length))
            return true;
    return false;
}

static bool add_record(guess_t *guess, const guess_line_t *line, err_t *err) {
    if (!guess_split_line(guess, line, err))
        return false;
    guess->records++;
    guess->with_cr += has_cr(guess->split);
    const span_t *last = &guess->split->spans[guess->split->count - 1];
    guess->stray_cr |=
        last->length && last->length == last->raw_length && last->text[last->length - 1] == '\r';
    if (guess->split->count != guess->structure.columns || !split_is_sound(guess->split)) {
        guess->misfits++;
        guess->torn.loose += guess->split->torn > 0;
        guess->torn.odd += guess->split->torn > 0;
        return true;
    }
    guess_odd_look(guess);
    bool torn = false;
    if (guess->structure.way.quote && !guess_torn_look(guess, line, &torn, err))
        return false;
    guess->escaped_ends += !torn && split_ends_escaped(line->text, line->length);
    if (!torn)
        guess_header_look(guess, guess->split);
    for (size_t i = 0; !torn && i < guess->split->count; i++)
        add_value(guess, &guess->columns[i], &guess->split->spans[i]);
    return true;
}

/* *again: what is known of quotes has changed by it. */
static bool look_at_quotes(guess_t *guess, const guess_line_t *line, const guess_text_t *here, bool *again,
                           err_t *err) {
    *again = false;
    return !guess->structure.way.quote || !memchr(line->text, '\\', line->length) ||
           guess_escapes_look(guess, here, again, err);
}

static bool is_first(const guess_t *guess, const guess_line_t *line) {
    const size_t bom = lines_bom(line->text, line->length); /* of a file that stands behind another one */
    return line->length - bom == guess->first_length &&
           memcmp(line->text + bom, guess->first, guess->first_length) == 0;
}

/* Where a line's first name begins, behind blanks and a quote. */
static const uint8_t *skip_to_name(const guess_t *guess, const uint8_t *text, const uint8_t *end) {
    while (text < end && (*text == ' ' || *text == (uint8_t)guess->structure.way.quote))
        text++;
    return text;
}

/* Does it hold what the first record does, but for quotes, case and blanks around? A header is one again for the reader, too
 * (dialect_line). */
static bool names_same(guess_t *guess, const guess_line_t *line, bool *same, err_t *err) {
    const size_t bom = lines_bom(line->text, line->length);
    const guess_line_t names = {line->text + bom, line->length - bom};
    const uint8_t *end = names.text + names.length, *one = skip_to_name(guess, names.text, end);
    const uint8_t *first_end = guess->first + guess->first_length,
                  *other = skip_to_name(guess, guess->first, first_end);
    *same = false;
    if (guess->structure.columns < 2 || guess->first_misfits || one == end || other == first_end ||
        strncasecmp((const char *)one, (const char *)other, 1) != 0)
        return true;
    if (!guess_split_line(guess, &names, err))
        return false;
    *same = guess->split->count == guess->structure.columns && split_is_sound(guess->split);
    for (size_t i = 0; *same && i < guess->split->count; i++) {
        const uint8_t *text = guess->split->spans[i].text, *name = (const uint8_t *)guess->columns[i].text;
        size_t length = guess->split->spans[i].length, name_length = guess->columns[i].length;
        blanks_trim(&text, &length);
        blanks_trim(&name, &name_length);
        *same = length == name_length && strncasecmp((const char *)text, (const char *)name, length) == 0;
    }
    return true;
}

static bool is_still_first(const guess_t *guess, const guess_text_t *here) {
    const uint8_t *at = here->at;
    guess_line_t line;
    return guess_next(guess->schema, &at, here->end, here->last, &line) && is_first(guess, &line);
}

/* Would another input's beginning be read with another quote, if it were the first one? */
static bool check_quote(const guess_t *guess, const uint8_t *text, size_t length, bool whole, err_t *err) {
    const size_t bom = lines_bom(text, length);
    const char quote = guess->structure.way.quote;
    const structure_said_t said = {0, guess->options.quote, guess->options.delimiter};
    structure_t other;
    err_t ignored;
    if (guess->json || guess->bson || (!memchr(text, '\'', length) && quote != '\'') ||
        !guess_find_structure(&other, guess->name, text + bom, length - bom, whole, &said, &ignored))
        return true;
    return other.way.quote == quote || !other.way.quote || !quote || !memchr(text, other.way.quote, length) ||
           err_set(err, STATUS_INPUT,
                   "%.1000s: by its beginning %c encloses texts, and %c in another input with the same "
                   "columns: one format cannot read both. Load them into a collection each, or give --format",
                   guess->name, quote, other.way.quote);
}

bool guess_take(guess_t *guess, const uint8_t *text, size_t length, guess_from_t from, bool last,
                size_t *used, err_t *err) {
    const uint8_t *begin = text, *const end = text + length;
    guess_line_t line;
    *used = 0;
    guess->scattered |= from == GUESS_FROM_LINE;
    if (from == GUESS_FROM_OTHER && !check_quote(guess, text, length, last, err))
        return false;
    if (guess->json && from != GUESS_FROM_LINE)
        guess_json_take(guess, text, length, from == GUESS_FROM_START, last, used);
    if (guess->bson && from != GUESS_FROM_LINE)
        guess_bson_take(guess, text, length, used);
    if (guess->json || guess->bson)
        return true;
    if (from == GUESS_FROM_LINE &&
        !(begin = guess_middle(&guess->structure, guess->schema, guess->split, text, end)))
        return true;
    const size_t first = from == GUESS_FROM_START ? lines_bom(text, length) + guess->structure.first : 0;
    if (first > length)
        return true;
    begin += first;
    const uint8_t *at = begin, *done = begin;
    bool at_start = from == GUESS_FROM_START || from == GUESS_FROM_OTHER;
    while (guess_line(guess->schema, &at, end, last, &line)) {
        const guess_text_t here = {line.text, end, last};
        if (schema_is_comment(guess->schema, *line.text)) {
            if (!add_comment(guess, &line, false, err))
                return false;
            done = at;
            continue;
        }
        const bool like_first = is_first(guess, &line);
        const bool second = from == GUESS_FROM_START && !guess->records;
        bool again, same = like_first, underlines = false;
        if (!look_at_quotes(guess, &line, &here, &again, err) ||
            (!again && !same && !names_same(guess, &line, &same, err)))
            return false;
        if (again) {
            at = line.text;
            guess->escapes.conflict |= like_first && !is_still_first(guess, &here);
        } else if (same) {
            guess->like_first++;
            guess->repeated += !at_start;
            guess->marked_again |= !at_start && lines_bom(line.text, line.length);
            at_start = false;
        } else if (!guess_underline_look(guess, &line, text, second, &underlines, err) ||
                   (!underlines && !add_record(guess, &line, err))) {
            return false;
        }
        done = at;
    }
    guess->bytes += (uint64_t)(done - begin);
    *used = last ? length : (size_t)(done - text);
    return true;
}

bool guess_is_same(guess_t *guess, const uint8_t *text, size_t length) {
    if (guess->bson)
        return guess_is_bson(text, length);
    if (guess->json)
        return guess_is_json(text, length);
    const uint8_t *at = text + dialect_begin(guess->schema, text, length);
    guess_line_t line;
    return guess_next(guess->schema, &at, text + length, true, &line) && is_first(guess, &line);
}

void guess_input(guess_t *guess, const char *name) {
    guess->here = name;
}

uint64_t guess_records(const guess_t *guess) {
    return guess->records;
}

uint64_t guess_rejects(const guess_t *guess) {
    return guess->misfits + guess->underlines + guess->torn.torn;
}

void guess_was_utf16(guess_t *guess) {
    guess->was_utf16 = true;
}

void guess_was_dumped(guess_t *guess) {
    guess->dumped = true;
}

void guess_is_of_many(guess_t *guess) {
    guess->of_many = true;
}

void guess_saw_all(guess_t *guess) {
    guess->all = true;
}

/* ---- decisions ---- */

static void decide_columns(guess_t *guess) {
    for (size_t i = 0; i < guess->structure.columns; i++)
        guess->columns[i].is = guess_column_decide(&guess->columns[i].column);
}

static bool refuse_mark(const guess_t *guess, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: its first line comes again, behind a byte-order mark (bytes ef bb bf), as where files "
        "were put together, and it is no header: give those as files of their own, or take the marks "
        "out first (sed 's/\\xef\\xbb\\xbf//g')",
        guess->name);
}

/* The first record, and all lines that are the same, are records where no header is read; behind a header of one column
 * they are its values. */
static bool add_like_first(guess_t *guess, err_t *err) {
    const bool named = guess->header || guess->named_here, one = guess->structure.columns == 1;
    if (guess->like_first <= (named && one) || (named && !one))
        return true;
    if (guess->marked_again)
        return refuse_mark(guess, err);
    guess->records += guess->like_first - named;
    if (guess->first_misfits) {
        guess->misfits += guess->like_first;
        return true;
    }
    guess->escaped_ends +=
        split_ends_escaped(guess->first, guess->first_length) * (guess->like_first - named);
    const guess_line_t first = {guess->first, guess->first_length};
    if (guess_is_underline(guess, &first)) {
        guess->underlines += guess->like_first - named;
        return true;
    }
    if (!guess_split_line(guess, &first, err))
        return false;
    for (size_t i = 0; i < guess->split->count; i++)
        note_escapes(guess, &guess->split->spans[i]);
    for (size_t i = 0; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        guess_column_add(&column->column, (const uint8_t *)column->text, column->length);
    }
    decide_columns(guess);
    return true;
}

/* Before a header no line is a record. */
static void add_comments(guess_t *guess) {
    const bool named = guess->header || guess->named_here;
    const uint64_t rejects = guess->comments + (named ? 0 : guess->comments_before);
    guess->records += rejects;
    guess->misfits += rejects;
}

static bool check_for_documents(const guess_t *guess, err_t *err) {
    const bool types = guess->options.type_count > 0;
    const char *of_text = guess_options_of_text(&guess->options);
    if (of_text)
        return err_set(err, STATUS_USAGE, "%.1000s: is %s, and --%s is for text in columns: leave it out%s",
                       guess->name, guess->bson ? "BSON" : "JSON", of_text,
                       guess->json ? "; --type says of which type the values of a key are" : "");
    if (guess->json && types)
        return guess_json_types(guess, err);
    if (!types && !guess->options.bad_value)
        return true;
    return err_set(err, STATUS_USAGE,
                   "%.1000s: is %s, whose values have the types that they are written with: %s", guess->name,
                   guess->bson ? "BSON" : "JSON",
                   guess->bson ? "--type and --on-bad-value are for delimited files and JSON"
                               : "--on-bad-value goes with --type there");
}

/* In the first line, or in most of the others: then many records are one. */
static bool find_cr(guess_t *guess, err_t *err) {
    const guess_line_t first = {guess->first, guess->first_length};
    if (guess->stray_cr || guess->first[guess->first_length - 1] == '\r')
        return guess_refuse_two_cr(guess->name, err);
    if (!guess_split_line(guess, &first, err))
        return false;
    return (!has_cr(guess->split) && 2 * guess->with_cr <= guess->records) ||
           guess_refuse_cr(guess->name, err);
}

bool guess_end(guess_t *guess, err_t *err) {
    if (guess->options.validate && !guess->bson)
        return err_set(err, STATUS_USAGE,
                       "%.1000s: is no BSON, and --with validate is for BSON: leave it out%s", guess->name,
                       guess->json ? "; JSON is always validated" : "");
    if (guess->json || guess->bson)
        return check_for_documents(guess, err);
    if (!find_cr(guess, err))
        return false;
    decide_columns(guess);
    if (!guess_find_odd(guess, err) || !guess_find_escapes(guess, err) || !guess_find_torn(guess, err) ||
        !guess_find_encoding(guess, err) || !guess_read_names(guess, err) || !guess_find_header(guess, err))
        return false;
    add_comments(guess);
    if (!add_like_first(guess, err) || !guess_name_columns(guess, err) || !guess_tell_types(guess, err) ||
        !guess_settle_days(guess, err) || !guess_settle_marks(guess, err))
        return false;
    guess_settle_nulls(guess);
    return true;
}

uint64_t guess_so_far(const guess_t *guess) {
    uint64_t sum = (guess->other_bytes != NULL) + 2u * (guess->wide_characters != NULL) +
                   4u * (guess->schema->escape_backslash + guess->schema->escape_backslashes);
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const column_t *column = &guess->columns[i].column;
        const decision_t is = guess_column_decide(column);
        const uint64_t parts[] = {is.kind,   is.style,          is.reads.days, is.reads.times,     is.pair,
                                  is.orders, is.unsure_decimal, is.nulls,      column->class_count};
        for (size_t j = 0; j < sizeof parts / sizeof *parts; j++)
            sum = sum * 1099511628211u + parts[j] + 1;
    }
    return sum;
}
