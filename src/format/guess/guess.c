/* The course of a guess (guess_new), as guess_inner.h draws it; and what is decided when all rows are there: --type, the order of
 * days, decimal marks and null words. A kept format that may become wider goes the same way, with its fields as the first
 * columns. */
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
    guess_free_sheet(guess);
    split_free(&guess->split);
    free(guess);
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
    const size_t count = guess->structure.columns, from = guess->names > NAMES_NONE ? 0 : count;
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

/* ---- the course ---- */

/* Decides by the rows that are there. */
static bool settle_text(guess_t *guess, err_t *err) {
    return (guess->kept || guess_find_text(guess, err)) && guess_read_names(guess, err);
}

/* Decides by the first input, then by all. */
static bool settle(guess_t *guess, err_t *err) {
    const bool text = guess->kind == RECORDS_DELIMITED;
    if (guess->options.validate == GUESS_YES && guess->kind != RECORDS_BSON)
        return err_set(err, STATUS_USAGE,
                       "%.1000s: is no BSON, and --with validate is for BSON: leave it out", guess->name);
    if (text)
        guess_decide(guess);
    if (text && !guess->kept && (!settle_text(guess, err) || !guess_find_header(guess, err)))
        return false;
    if (!guess_cut(guess, true, err))
        return false;
    if (!text)
        return guess_check_documents(guess, err) && tell_types(guess, err);
    guess_decide(guess);
    if ((guess->others && !settle_text(guess, err)) || !guess_name_columns(guess, err) ||
        !tell_types(guess, err) || !settle_ways(guess, err))
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
    guess->names = NAMES_HEADER;
    guess->encoding = kept->encoding;
    unsigned marks = 0, orders = 0;
    for (size_t i = 0; i < kept->field_count; i++) {
        const field_t *field = &kept->fields[i];
        const schema_text_t *name = &field->columns.items[0];
        const char first = field->patterns.count ? field->patterns.items[0].text[0] : 0;
        if (!guess_add_column(guess, name->text, name->length, guess->name, err) ||
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
    guess->name = (kept ? sample->pieces : guess->head)->input;
    guess->options = *options;
    guess->all = sample->every;
    if (read_types(guess, err) && (kept ? begin_kept(guess, err) : guess_begin(guess, err)) &&
        guess_cut(guess, false, err) && settle(guess, err))
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
