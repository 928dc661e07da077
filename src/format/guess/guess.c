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
#include "format/values/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool guess_split_line(guess_t *guess, const dialect_line_t *line, err_t *err) {
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
    dialect_line_t line = {.text = NULL};
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
static bool add_record(guess_t *guess, const dialect_line_t *line, err_t *err) {
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

/* True if the field holds the column's name. Those of a kept format are UTF-8, others as in the text. */
static bool is_named(const guess_t *guess, const guess_column_t *column, const span_t *span) {
    const uint8_t *text = span->text, *name = (const uint8_t *)column->text;
    size_t length = span->length, name_length = column->length;
    const encoding_t encoding = column < guess->columns + guess->decided ? guess->encoding : ENCODING_NONE;
    blanks_trim(&text, &length);
    blanks_trim(&name, &name_length);
    return encoding_same(encoding, (const char *)name, name_length, text, length, true);
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
static bool is_first(const guess_t *guess, const dialect_line_t *line) {
    const size_t bom = lines_bom(line->text, line->length); /* of a file that was appended to another one */
    return line->length - bom == guess->first.length &&
           memcmp(line->text + bom, guess->first.text, guess->first.length) == 0;
}

/* Adds the whole records of a piece, the first of which begins at `at`. */
static bool take_lines(guess_t *guess, const guess_piece_t *piece, const uint8_t *at, bool last, err_t *err) {
    bool at_start = piece->begins;
    dialect_line_t line;
    while (guess_next(&guess->schema, &at, piece->text + piece->length, last, &line)) {
        const bool like_first = is_first(guess, &line);
        const size_t bom = lines_bom(line.text, line.length);
        const dialect_line_t bare = {.text = line.text + bom, .length = line.length - bom};
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

/* True if the field may name a new column: that of a kept format by a text in its encoding. */
static bool may_name(const guess_t *guess, const span_t *span) {
    return !guess->kept || (span->length && (encoding_converts(guess->encoding, span->text, span->length) ||
                                             utf8_valid(span->text, span->length)));
}

/* Compares the header of another input, which is split, with the columns. *shares: it has most of the names of the shorter
 * header, and none twice. Then its new columns are appended, and columns that it lacks become optional. */
static bool add_names(guess_t *guess, bool *shares, err_t *err) {
    const split_t *split = &guess->split;
    const size_t before = guess->structure.columns, fewer = before < split->count ? before : split->count;
    bool fits = split_is_sound(split), has[SCHEMA_MOST_FIELDS] = {false};
    size_t known = 0;
    for (size_t i = 0; fits && i < split->count; i++) {
        const span_t *span = &split->spans[i];
        const size_t column = find_named(guess, i, span);
        const bool is_new = column == guess->structure.columns;
        fits = column < SCHEMA_MOST_FIELDS && !has[column] && (!is_new || may_name(guess, span));
        if (!fits)
            break;
        if (is_new && !guess_add_column(guess, (const char *)span->text, span->length, err))
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
    dialect_line_t line;
    *takes = !delimited && guess_kind_of(piece->text, piece->length) == guess->kind;
    if (delimited && guess_next(&guess->schema, &at, piece->text + piece->length, piece->ends, &line)) {
        if (!guess_split_line(guess, &line, err))
            return false;
        *takes = guess->named ? is_first(guess, &line) : is_record(guess);
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

/* ---- --type ---- */

/* Finds a column by its name in the header, or by its key; of JSON by its path. With a kept format it is a new one, or NULL
 * without a sentence. */
static guess_column_t *find_column(guess_t *guess, const type_spec_t *spec, err_t *err) {
    if (guess->kind != RECORDS_DELIMITED && (spec->key || !spec->type)) {
        err_set(err, STATUS_USAGE,
                "--type '%s': a value of JSON keeps the key that it has there: say NAME:TYPE", spec->text);
        return NULL;
    }
    if (guess->kind != RECORDS_DELIMITED)
        return guess_column_at(guess, spec->name, err);
    const char *words[2 * SCHEMA_MOST_FIELDS];
    const size_t count = guess->structure.columns, from = guess->named ? 0 : count;
    for (size_t i = from; i < 2 * count; i++) {
        guess_column_t *column = &guess->columns[i % count];
        words[i] = i < count ? column->name : column->key;
        if (i % count >= guess->decided && strcmp(words[i], spec->name) == 0)
            return column;
    }
    if (guess->kept)
        return NULL;
    err_set(err, STATUS_USAGE, "--type '%s': %.1000s has no column '%s'; the first of its %zu is '%s'%s",
            spec->text, guess->name, spec->name, count, words[from],
            suggestion(spec->name, words + from, 2 * count - from).text);
    return NULL;
}

/* Gives each --type to its column when the names are known; with a kept format those of new columns. */
static bool tell_types(guess_t *guess, err_t *err) {
    static const uint8_t by_mark[] = {POINTS | COMMAS, [GUESS_POINT] = POINTS, [GUESS_COMMA] = COMMAS};
    guess->seen = guess->structure.columns;
    for (size_t i = 0; i < guess->options.type_count; i++) {
        type_spec_t *spec = &guess->types[i];
        guess_column_t *column = find_column(guess, spec, err);
        if (!column && guess->kept)
            continue;
        if (!column)
            return false;
        decision_t *is = &column->is;
        if (column->spec)
            return err_set(err, STATUS_USAGE,
                           "--type '%s': the same column as in --type '%s': say all in one", spec->text,
                           column->spec->text);
        column->spec = spec;
        spec->taken = true;
        if (!spec->type)
            continue;
        if (guess->kind == RECORDS_DELIMITED)
            *is = guess_column_as(&column->column, spec->type->type, by_mark[guess->options.decimal]);
        is->kind = spec->type->type;
        if (!*is->pattern || spec->pattern)
            is->timed = strcmp(spec->type->name, "date") != 0;
        if (spec->pattern) {
            snprintf(is->pattern, sizeof is->pattern, "%s", spec->pattern);
            is->orders = 0;
        }
    }
    return true;
}

/* ---- orders of days, and decimal marks ---- */

_Static_assert((int)GUESS_DMY == (int)ORDER_DMY && (int)GUESS_YMD == (int)ORDER_YMD, "the same bits");

/* The ways that columns show without doubt, dates those with this separator; or those that the user says. */
static unsigned told_ways(const guess_t *guess, char separator) {
    const unsigned marks = 1u << MARK_POINT | 1u << MARK_COMMA;
    const uint8_t said = guess->options.decimal;
    unsigned shown = 0;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const decision_t *is = &guess->columns[i].is;
        const char own = guess_sign_of(is->pattern);
        shown |= __builtin_popcount(is->orders) == 1 && (own == separator || (is->orders & marks))
                     ? is->orders
                     : 0;
        shown |= own == '.' ? 1u << DOTTED : 0;
    }
    if (guess->options.dates)
        shown = (shown & (marks | 1u << DOTTED)) | 1u << guess->options.dates;
    return said ? (shown & ~marks) | 1u << (said == GUESS_POINT ? MARK_POINT : MARK_COMMA) : shown;
}

static void take_way(guess_column_t *column, date_order_t way) {
    const field_type_t kind = column->is.kind;
    guess_take_way(&column->column, way, &column->is);
    column->is.kind = guess_is_typed_by_user(column) ? kind : column->is.kind;
}

/* True if the comma in a column's numbers may stand between two numbers: "1,5" in quotes, where commas divide and other columns
 * have 1.5; where blanks divide. */
static bool may_be_pairs(const guess_t *guess, const guess_column_t *column, bool point) {
    return !column->spec && column->is.orders == 1u << MARK_COMMA &&
           (guess->schema.blanks || (point && guess->schema.delimiters[0] == ','));
}

static bool ask_way(const guess_t *guess, const guess_column_t *column, err_t *err) {
    static const char *const options[DOTTED] = {"",          "dates=dmy", "dates=mdy",
                                                "dates=ymd", "decimal=.", "decimal=,"};
    char name[200], ways[300] = "";
    size_t used = 0;
    for (date_order_t way = ORDER_DMY; way < DOTTED; way++) {
        decision_t is = column->is;
        guess_take_way(&column->column, way, &is);
        if (!(column->is.orders >> way & 1) || guess_kind_is_text(is.kind))
            continue;
        used += (size_t)snprintf(ways + used, sizeof ways - used, "%s (--with %s), ",
                                 way < MARK_POINT    ? is.pattern
                                 : way == MARK_POINT ? "numbers with a decimal dot"
                                                     : "numbers with a decimal comma",
                                 options[way]);
    }
    guess_shown(name, sizeof name, column->key, strlen(column->key));
    return err_set(err, STATUS_INPUT,
                   "%.1000s: the values of column '%s' may be %sor text (--type '%s:text'); say which",
                   guess->name, name, ways, name);
}

static bool settle_way(const guess_t *guess, guess_column_t *column, err_t *err) {
    decision_t *is = &column->is;
    const unsigned shown = told_ways(guess, guess_sign_of(is->pattern));
    const bool point = shown >> MARK_POINT & 1, comma = shown >> MARK_COMMA & 1,
               pairs = may_be_pairs(guess, column, point);
    if (guess_is_typed_by_user(column) && (is->kind == TYPE_NUMBER || is->kind == TYPE_DECIMAL) &&
        !is->orders && comma && !point)
        take_way(column, MARK_COMMA); /* a later value may have a mark, as in the other columns */
    is->orders |= pairs ? 1u << MARK_POINT : 0;
    const bool dotted = shown >> DOTTED & 1;
    const unsigned ways = (shown | (dotted && is->comma && !point ? 1u << MARK_COMMA : 0)) & is->orders;
    if (__builtin_popcount(is->orders) < 2)
        return true;
    if (__builtin_popcount(ways) == 1 && (guess->options.decimal || !pairs)) {
        take_way(column, (date_order_t)__builtin_ctz(ways));
        return true;
    }
    is->took_point = guess_kind_is_number(is->kind) && !is->comma && !point && !comma && !dotted &&
                     !(column->column.any[ANY_GROUPED] >> MARK_POINT & 1) &&
                     guess->schema.delimiters[0] != ';';
    return is->took_point || ask_way(guess, column, err);
}

/* Decides what a column alone leaves open. */
static bool settle_ways(guess_t *guess, err_t *err) {
    for (size_t i = guess->decided; i < guess->structure.columns; i++)
        if (!settle_way(guess, &guess->columns[i], err))
            return false;
    return true;
}

/* ---- null values ---- */

/* \N is a null value in all columns if one has it; so is NULL if it is a null value in one. */
static void settle_nulls(guess_t *guess) {
    enum { WORDS_OF_BASE64 = 4 }; /* a later one would become binary data */
    for (size_t i = 0; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        guess->nothing.backslash |= guess_column_null(&column->column, "\\N", 2, false) != 0;
        guess->nothing.null |= guess_column_null(&column->column, "NULL", 4, false) &&
                               !(guess_kind_is_text(column->is.kind) && column->column.values);
        if (!guess_kind_is_text(column->is.kind))
            column->is.nulls = (1u << column->column.null_count) - 1;
        if (column->is.kind == TYPE_JSON) /* null is a value of JSON */
            column->is.nulls &= ~guess_column_null(&column->column, "null", 4, false);
    }
    for (size_t i = 0; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        if (guess->nothing.backslash)
            column->is.nulls |= guess_column_null(&column->column, "\\N", 2, true);
        if (guess->nothing.null)
            column->is.nulls |= guess_column_null(&column->column, "NULL", 4, true);
        for (size_t word = 0; column->is.kind == TYPE_BINARY && word < WORDS_OF_BASE64; word++)
            column->is.nulls |= guess_column_null(&column->column, guess_null_words[word], 4, true);
    }
}

/* ---- decisions ---- */

static void decide_columns(guess_t *guess) {
    for (size_t i = guess->decided; i < guess->structure.columns; i++)
        guess->columns[i].is = guess_column_decide(&guess->columns[i].column);
}

/* Adds the first record and all lines that are the same: without a header they are records. After a header of one column the
 * repeated ones are values. */
static bool add_like_first(guess_t *guess, err_t *err) {
    if (guess->kept || (guess->named && guess->structure.columns > 1))
        return true;
    for (uint64_t i = guess->named; i < guess->like_first; i++)
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
        return guess_check_documents(guess, err) && tell_types(guess, err);
    if ((guess->others && !settle_text(guess, err)) || !add_like_first(guess, err) ||
        !guess_name_columns(guess, err) || !tell_types(guess, err) || !settle_ways(guess, err))
        return false;
    settle_nulls(guess);
    return true;
}

/* ---- more columns for a kept format ---- */

/* Reads the sample by the kept format, whose fields become the first columns. What the format shows of dates and numbers counts as
 * said by the user. */
static bool begin_kept(guess_t *guess, err_t *err) {
    const schema_t *const kept = guess->kept;
    guess->schema = *kept;
    guess->decided = kept->field_count;
    guess->named = guess->header = true;
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
    guess_t *guess = calloc(1, sizeof *guess);
    if (!guess) {
        err_memory(err, sizeof *guess);
        return NULL;
    }
    guess->sample = sample;
    guess->head = kept ? NULL : find_head(sample);
    guess->kept = kept;
    guess->name = guess->here = (kept ? sample->pieces : guess->head)->input;
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
