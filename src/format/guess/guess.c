/* The course of a guess (guess_new):
 *
 *     begin          finds the structure by the first piece, and keeps the first record
 *     take_inputs    adds the whole records of the inputs that begin with the same line to their columns
 *     settle         decides line ends, quotes, encoding and header; adds the other inputs (take_inputs again) and decides
 *                    the first three anew; then decides names, --type, order of days, decimal marks and null words
 *
 * Each step may refuse or ask (status 5). guess_write.c writes the result. */
#include "base/chars.h"
#include "format/guess/guess_inner.h"
#include "format/record/dialect.h"
#include "format/values/blanks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void guess_destroy(guess_t *guess) {
    if (!guess)
        return;
    for (size_t i = 0; guess->columns && i < guess->structure.columns; i++) {
        free(guess->columns[i].text);
        free(guess->columns[i].name);
        free(guess->columns[i].key);
    }
    for (size_t i = 0; guess->types && i < guess->options.type_count; i++)
        free(guess->types[i].name);
    free(guess->types);
    free(guess->columns);
    split_free(&guess->split);
    free(guess);
}

bool guess_split_line(guess_t *guess, const guess_line_t *line, err_t *err) {
    return split_record(&guess->split, &guess->schema, guess->schema.delimiters[0], line->text,
                        line->length) ||
           err_memory(err, line->length);
}

/* True if the record holds a CR, and nothing that may be a text in quotes. */
static bool has_cr(const guess_t *guess, const uint8_t *text, size_t length) {
    return text[length - 1] == '\r' ||
           (memchr(text, '\r', length) && !memchr(text, guess->schema.quote, length));
}

/* True if the last record of the piece is whole. A text that may go on (options.beginning) counts as whole while it is short. */
static bool is_whole(const guess_t *guess, const guess_piece_t *piece) {
    return piece->ends &&
           !(guess->options.beginning && lines_count(piece->text, piece->length) >= GUESS_LEAST_LINES);
}

/* The quote by which an input would be read; 0: none. */
static char quote_of(const guess_t *guess, const guess_piece_t *piece, bool whole) {
    structure_t found;
    err_t ignored;
    return guess_find_structure(&found, piece->input, piece->text, piece->length, whole, &guess->options,
                                &ignored)
               ? found.way.quote
               : 0;
}

/* True if the text would be read with quotes if it went on: it may have been cut off within a text in quotes. */
static bool is_cut_off(const guess_t *guess, const guess_piece_t *piece) {
    return !guess->options.quote && !guess->schema.quote && quote_of(guess, piece, false);
}

/* True for x.bson, x.bson.gz, a.tar!x.bson. */
static bool is_named_bson(const char *name) {
    const char *end = strstr(name, ".bson");
    return end && (!end[5] || (end[5] == '.' && !strpbrk(end, "/!")));
}

/* Finds the structure by the first piece, and keeps the first record, which may name the columns, until the others are known. */
static bool begin(guess_t *guess, err_t *err) {
    const guess_piece_t *const piece = guess->head;
    const uint8_t *const text = piece->text;
    structure_t *structure = &guess->structure;
    guess->marked = lines_bom(text, piece->length) > 0;
    guess->kind = piece->ends && !piece->length && (piece->dumped || is_named_bson(guess->name))
                      ? RECORDS_BSON
                      : guess_kind_of(text, piece->length);
    if (guess->kind != RECORDS_DELIMITED)
        return true;
    const bool whole = is_whole(guess, piece);
    if (!guess_is_text(guess->name, text, piece->length, err) ||
        !guess_find_structure(structure, guess->name, text, piece->length, whole, &guess->options, err))
        return false;
    guess->fields = structure->columns;
    guess_schema(&guess->schema, &structure->way);
    guess->quotes.cut_off = whole && is_cut_off(guess, piece);
    guess->schema.skip = (uint32_t)structure->skip;
    guess->schema.comment = structure->comment;
    if (!(guess->columns = calloc(structure->columns, sizeof *guess->columns)))
        return err_memory(err, structure->columns * sizeof *guess->columns);
    for (size_t i = 0; i < structure->columns; i++)
        guess_column_begin(&guess->columns[i].column);
    const uint8_t *at = text + structure->names;
    guess_line_t line = {NULL, 0};
    do
        if (!guess_next(&guess->schema, &at, text + piece->length, whole, &line) ||
            !guess_cut_first(guess, &line, err))
            return false;
    while (line.text < text + structure->first);
    guess->first = line;
    guess->first_line = 1 + lines_count(text, (size_t)(line.text - text));
    return !has_cr(guess, line.text, line.length) || guess_refuse_cr(guess->name, err);
}

/* ---- values ---- */

/* The column of a field of the input at hand. */
static guess_column_t *column_at(const guess_t *guess, size_t field) {
    return &guess->columns[guess->header ? guess->order[field] : field];
}

/* True if the record that is split has as many fields as the header of its input. */
static bool has_all_fields(const guess_t *guess) {
    return guess->split.count == guess->fields && split_is_sound(&guess->split);
}

/* Adds the record that is split. */
static bool add_record(guess_t *guess, const guess_line_t *line, err_t *err) {
    guess->records++;
    guess->with_cr += has_cr(guess, line->text, line->length);
    /* a line of - = _ + only is a reject under a guessed format */
    if (!has_all_fields(guess) ||
        dialect_is_underline(&guess->schema, guess->schema.delimiters[0], line->text, line->length)) {
        guess->misfits++;
        guess->quotes.odd += guess->split.torn > 0;
        return true;
    }
    uint32_t torn;
    bool hollow = true;
    if (!guess_look_at_text(guess, line, &torn, err))
        return false;
    for (size_t i = 0; !torn && i < guess->split.count; i++) {
        const span_t *span = &guess->split.spans[i];
        guess_column_t *column = column_at(guess, i);
        hollow &= !span->length;
        column->column.here =
            (value_place_t){line->text, line->text == guess->first.text ? 0 : guess->records};
        guess_column_add(&column->column, span->text, span->length);
        guess_compare_head(column, span);
        column->column.kept_blank |= span->raw_length > span->length && span->length &&
                                     (span->text[0] == ' ' || span->text[span->length - 1] == ' ');
    }
    guess->hollow += hollow && !torn;
    return true;
}

/* True if the field holds the column's name. */
static bool is_named(const guess_t *guess, const guess_column_t *column, const span_t *span) {
    const uint8_t *text = span->text, *name = (const uint8_t *)column->text;
    size_t length = span->length, name_length = column->length;
    blanks_trim(&text, &length);
    if (guess->kept && column < guess->columns + guess->kept->field_count)
        return encoding_same(guess->encoding, column->text, name_length, text, length, true);
    blanks_trim(&name, &name_length);
    return length == name_length && strncasecmp((const char *)text, (const char *)name, length) == 0;
}

/* True if the record that is split is the header again, except for quotes, case and blanks around names. The reader also takes
 * it for a header (dialect_line). */
static bool is_named_again(const guess_t *guess) {
    bool same =
        guess->fields > 1 && !guess->first_misfits && column_at(guess, 0)->length && has_all_fields(guess);
    for (size_t i = 0; same && i < guess->split.count; i++)
        same = is_named(guess, column_at(guess, i), &guess->split.spans[i]);
    return same;
}

/* True if the line is the first record. */
static bool is_first(const guess_t *guess, const guess_line_t *line) {
    const size_t bom = lines_bom(line->text, line->length); /* of a file that was appended to another one */
    return line->length - bom == guess->first.length &&
           memcmp(line->text + bom, guess->first.text, guess->first.length) == 0;
}

/* Adds the whole records of a piece, the first of which begins at `at`. */
static bool take_lines(guess_t *guess, const guess_piece_t *piece, const uint8_t *at, bool last, err_t *err) {
    bool at_start = piece->begins;
    guess_line_t line;
    while (guess_next(&guess->schema, &at, piece->text + piece->length, last, &line)) {
        const bool like_first = is_first(guess, &line);
        const size_t bom = lines_bom(line.text, line.length);
        const guess_line_t bare = {line.text + bom, line.length - bom};
        if (!guess_split_line(guess, &bare, err))
            return false;
        if (like_first || (at_start && guess->header) || is_named_again(guess)) {
            guess->like_first++;
            guess->repeated += !at_start;
            guess->marked_again |= !at_start && bom;
            at_start = false;
        } else if ((bom && !guess_split_line(guess, &line, err)) || !add_record(guess, &line, err)) {
            return false;
        }
    }
    return true;
}

static bool take_piece(guess_t *guess, const guess_piece_t *piece, err_t *err) {
    const bool last = is_whole(guess, piece);
    guess->all &= piece->begins && last;
    if (guess->kind != RECORDS_DELIMITED)
        return !piece->begins || guess_take_documents(guess, piece->text, piece->length, last, err);
    const uint8_t *const text = piece->text, *const feed = memchr(text, '\n', piece->length);
    const uint8_t *begin =
        piece->begins ? text + dialect_begin(&guess->schema, text, piece->length)
        : feed ? guess_middle(&guess->schema, guess->fields, &guess->split, feed + 1, text + piece->length)
               : NULL;
    return !begin || take_lines(guess, piece, begin, last, err);
}

/* ---- other inputs ---- */

/* Refuses another input that would be read with another quote if it were the first one. */
static bool check_quote(const guess_t *guess, const guess_piece_t *piece, err_t *err) {
    const char quote = guess->schema.quote;
    const bool may = quote && (quote == '\'' || memchr(piece->text, '\'', piece->length));
    const char other = may ? quote_of(guess, piece, piece->ends) : 0;
    return !other || other == quote || !memchr(piece->text, other, piece->length) ||
           err_set(err, STATUS_INPUT,
                   "%.1000s: by its beginning %c encloses texts, and %c in another input with the same "
                   "columns: one format cannot read both. Load them into a collection each, or give --format",
                   piece->input, quote, other);
}

/* The column of this name; the number of columns: there is none. Most stand at the same place, so the search begins there. */
static size_t find_named(const guess_t *guess, size_t at, const span_t *span) {
    const size_t count = guess->structure.columns;
    for (size_t i = 0; i < count; i++) {
        const size_t next = (at + i) % count;
        if (is_named(guess, &guess->columns[next], span) && (span->length || !i))
            return next;
    }
    return count;
}

bool guess_add_column(guess_t *guess, const char *text, size_t length, err_t *err) {
    const size_t count = guess->structure.columns, room = (count + 1) * sizeof *guess->columns;
    guess_column_t *larger = realloc(guess->columns, room);
    char *copy = calloc(1, length + 1);
    guess->columns = larger ? larger : guess->columns;
    if (!larger || !copy) {
        free(copy);
        return err_memory(err, room);
    }
    memcpy(copy, text, length);
    larger[count] = (guess_column_t){
        .text = copy, .length = length, .optional = guess->kind == RECORDS_DELIMITED, .in = guess->here};
    guess_column_begin(&larger[count].column);
    guess->structure.columns++;
    return true;
}

/* True if a name is a text in the encoding of the kept format. */
static bool is_readable(const guess_t *guess, const span_t *span) {
    return encoding_converts(guess->encoding, span->text, span->length) ||
           utf8_valid(span->text, span->length);
}

/* Compares the header of another input, which is split, with the columns. *shares: it has most of the names of the shorter
 * header, and none twice. Then its new columns are appended, and columns that it lacks become optional. */
static bool add_names(guess_t *guess, bool *shares, err_t *err) {
    const split_t *split = &guess->split;
    const size_t before = guess->structure.columns, fewer = before < split->count ? before : split->count;
    bool fits = split_is_sound(split), has[SCHEMA_MOST_FIELDS] = {false};
    size_t known = 0;
    for (size_t i = 0; fits && i < split->count; i++) {
        const size_t column = find_named(guess, i, &split->spans[i]);
        const bool nameless = guess->kept && column == guess->structure.columns &&
                              (!split->spans[i].length || !is_readable(guess, &split->spans[i]));
        if (!(fits = column < SCHEMA_MOST_FIELDS && !has[column] && !nameless))
            break;
        if (column == guess->structure.columns &&
            !guess_add_column(guess, (const char *)split->spans[i].text, split->spans[i].length, err))
            return false;
        has[column] = true;
        guess->order[i] = (uint16_t)column;
        known += column < before;
    }
    *shares = fits && 2 * known > fewer;
    for (size_t i = 0; *shares && i < before; i++)
        guess->columns[i].optional |= !has[i];
    while (!*shares && guess->structure.columns > before)
        free(guess->columns[--guess->structure.columns].text);
    return true;
}

/* True if the first record of another input, which is split, fits a first input without a header: a number or date stands in a
 * column with a type, or all columns are text. */
static bool is_record(const guess_t *guess) {
    const split_t *split = &guess->split;
    bool typed = false, none = true;
    for (size_t i = 0; i < split->count && i < guess->structure.columns; i++) {
        const bool text = guess_kind_is_text(guess->columns[i].is.kind);
        none &= text;
        typed |= !text && guess_is_number_or_date(&split->spans[i]);
    }
    return split->count == guess->structure.columns && split_is_sound(split) && (typed || none);
}

/* Begins another input. *takes: it is read like the first one, or its first line is a header that shares names with the first
 * one or, if there is no header, a record. Other inputs are left out, and refused when they are checked. */
static bool begin_other(guess_t *guess, const guess_piece_t *piece, bool *takes, err_t *err) {
    const bool delimited = guess->kind == RECORDS_DELIMITED;
    const uint8_t *at = piece->text + dialect_begin(&guess->schema, piece->text, piece->length);
    guess_line_t line;
    *takes = !delimited && guess_kind_of(piece->text, piece->length) == guess->kind;
    if (delimited && guess_next(&guess->schema, &at, piece->text + piece->length, piece->ends, &line)) {
        if (!guess_split_line(guess, &line, err))
            return false;
        *takes = guess->named_here ? is_first(guess, &line) : !guess->header && is_record(guess);
        guess->fields = guess->split.count;
        if ((guess->header && !add_names(guess, takes, err)) || (*takes && !check_quote(guess, piece, err)))
            return false;
    }
    guess->all &= *takes;
    guess->others |= *takes;
    return true;
}

/* Adds the pieces of the input that decides, or those of all others. */
static bool take_inputs(guess_t *guess, bool others, err_t *err) {
    const guess_piece_t *piece = guess->sample->pieces, *const end = piece + guess->sample->count;
    bool takes = false, of_first = false;
    for (; piece < end; piece++) {
        of_first = piece->begins ? piece == guess->head : of_first;
        if (of_first == others || (piece->ends && guess_is_empty(piece->text, piece->length)))
            continue;
        guess->here = piece->input;
        takes |= of_first;
        if (others && piece->begins && !begin_other(guess, piece, &takes, err))
            return false;
        if (takes && !take_piece(guess, piece, err))
            return false;
    }
    guess->here = guess->name;
    guess->fields = guess->structure.columns;
    return true;
}

/* ---- decisions ---- */

static void decide_columns(guess_t *guess) {
    for (size_t i = guess->decided; i < guess->structure.columns; i++)
        guess->columns[i].is = guess_column_decide(&guess->columns[i].column);
}

/* Adds the first record and all lines that are the same: without a header they are records. After a header of one column the
 * repeated ones are values. */
static bool add_like_first(guess_t *guess, err_t *err) {
    const bool named = guess->header || guess->named_here;
    if (guess->kept || (named && guess->structure.columns > 1))
        return true;
    for (uint64_t i = named; i < guess->like_first; i++)
        if (!guess_split_line(guess, &guess->first, err) || !add_record(guess, &guess->first, err))
            return false;
    decide_columns(guess);
    return true;
}

/* Decides what takes all records. */
static bool settle_text(guess_t *guess, err_t *err) {
    decide_columns(guess);
    return (guess->kept || guess_find_text(guess, err)) && guess_read_names(guess, err);
}

/* Decides by the first input, then by all. */
static bool settle(guess_t *guess, err_t *err) {
    const bool text = guess->kind == RECORDS_DELIMITED;
    if (guess->options.validate == GUESS_YES && guess->kind != RECORDS_BSON)
        return err_set(err, STATUS_USAGE,
                       "%.1000s: is no BSON, and --with validate is for BSON: leave it out", guess->name);
    if (text && !guess->kept && (!settle_text(guess, err) || !guess_find_header(guess, err)))
        return false;
    if (!take_inputs(guess, true, err))
        return false;
    if (!text)
        return guess_check_documents(guess, err) && guess_tell_types(guess, err);
    if ((guess->others && !settle_text(guess, err)) || !add_like_first(guess, err) ||
        !guess_name_columns(guess, err) || !guess_tell_types(guess, err) || !guess_settle_ways(guess, err))
        return false;
    guess_settle_nulls(guess);
    return true;
}

/* ---- more columns for a kept format ---- */

/* Reads the sample by the kept format, whose fields become the first columns. What the format shows of dates and numbers counts as
 * said by the user. */
static bool begin_kept(guess_t *guess, err_t *err) {
    const schema_t *const kept = guess->kept;
    guess->schema = *kept;
    guess->decided = kept->field_count;
    guess->header = true;
    guess->encoding = kept->encoding;
    unsigned marks = 0, orders = 0;
    for (size_t i = 0; i < kept->field_count; i++) {
        const field_t *field = &kept->fields[i];
        const schema_text_t *name = &field->columns.items[0];
        const char first = field->patterns.count ? field->patterns.items[0].text[0] : 0;
        if (!guess_add_column(guess, name->text, name->length, err) ||
            !(guess->columns[i].name = strdup(name->text)) || !(guess->columns[i].key = strdup(field->key)))
            return err_memory(err, name->length);
        if (field->type == TYPE_NUMBER || field->type == TYPE_DECIMAL)
            marks |= 1u << (field->point == ',' ? GUESS_COMMA : GUESS_POINT);
        orders |= first == 'D' ? 1u << GUESS_DMY : first == 'M' ? 1u << GUESS_MDY : 0;
        guess->nothing.backslash |= words_find(&field->nulls, kept->encoding, (const uint8_t *)"\\N", 2) >= 0;
        guess->nothing.null |= words_find(&field->nulls, kept->encoding, (const uint8_t *)"NULL", 4) >= 0;
    }
    if (!guess->options.decimal && __builtin_popcount(marks) == 1)
        guess->options.decimal = (uint8_t)__builtin_ctz(marks);
    if (!guess->options.dates && __builtin_popcount(orders) == 1)
        guess->options.dates = (uint8_t)__builtin_ctz(orders);
    return true;
}

/* ---- a guess ---- */

/* The first input with two lines, by which the structure is found; where none has two, with one; else the first of all. */
static const guess_piece_t *find_head(const guess_sample_t *sample) {
    const guess_piece_t *first = NULL;
    for (const guess_piece_t *piece = sample->pieces; piece < sample->pieces + sample->count; piece++) {
        const uint8_t *const text = piece->text, *const end = text + piece->length;
        if (!piece->begins || guess_is_empty(text, piece->length))
            continue;
        const uint8_t *feed = memchr(text, '\n', piece->length);
        if (!piece->ends || guess_kind_of(text, piece->length) != RECORDS_DELIMITED ||
            (feed && !guess_is_empty(feed + 1, (size_t)(end - feed - 1))))
            return piece;
        first = first ? first : piece;
    }
    return first ? first : sample->pieces;
}

static bool read_types(guess_t *guess, err_t *err) {
    const size_t count = guess->options.type_count;
    if (!(guess->types = calloc(count + 1, sizeof *guess->types)))
        return err_memory(err, (count + 1) * sizeof *guess->types);
    for (size_t i = 0; i < count; i++)
        if (!type_spec_read(guess->options.types[i], &guess->types[i], err))
            return false;
    return true;
}

/* kept: the format that the sample may widen, or NULL. */
static guess_t *guess_from(const guess_sample_t *sample, const schema_t *kept, const guess_options_t *options,
                           err_t *err) {
    const guess_piece_t *const head = kept ? NULL : find_head(sample);
    guess_t *guess = calloc(1, sizeof *guess);
    if (!guess) {
        err_memory(err, sizeof *guess);
        return NULL;
    }
    guess->sample = sample;
    guess->head = head;
    guess->kept = kept;
    guess->name = guess->here = (head ? head : sample->pieces)->input;
    guess->options = *options;
    guess->all = sample->every;
    if (read_types(guess, err) && (kept ? begin_kept(guess, err) : begin(guess, err)) &&
        take_inputs(guess, false, err) && settle(guess, err))
        return guess;
    guess_destroy(guess);
    return NULL;
}

guess_t *guess_new(const guess_sample_t *sample, const guess_options_t *options, err_t *err) {
    return guess_from(sample, NULL, options, err);
}

bool guess_widen(const schema_t *kept, const char *yaml, const guess_sample_t *sample,
                 const guess_options_t *options, char **wider, err_t *err) {
    guess_t *guess = guess_from(sample, kept, options, err);
    const bool ok = guess && guess_write_added(guess, yaml, wider, err);
    guess_destroy(guess);
    return ok;
}
