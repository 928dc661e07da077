/* Decides what the values of a column leave open: by --type, by the other columns, or by the options. */
#include "base/chars.h"
#include "base/text.h"
#include "format/guess/guess_inner.h"
#include "format/schema/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    const size_t count = guess->structure.columns, from = guess->header || guess->named_here ? 0 : count;
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

bool guess_tell_types(guess_t *guess, err_t *err) {
    static const uint8_t by_mark[] = {POINTS | COMMAS, [GUESS_POINT] = POINTS, [GUESS_COMMA] = COMMAS};
    const uint8_t numbers = by_mark[guess->options.decimal];
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
            *is = guess_column_as(&column->column, spec->type->type, numbers);
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
    const kind_t kind = column->is.kind;
    guess_take_way(&column->column, way, &column->is);
    column->is.kind = guess_is_typed_by_user(column) ? kind : column->is.kind;
}

/* True if the comma in a column's numbers may stand between two numbers: "1,5" in quotes, where commas divide and other columns
 * have 1.5; where blanks divide. */
static bool may_be_pairs(const guess_t *guess, const guess_column_t *column, bool point) {
    return !column->spec && column->is.orders == 1u << MARK_COMMA &&
           (guess->schema.blanks || (point && guess->schema.delimiters[0] == ','));
}

static bool ask(const guess_t *guess, const guess_column_t *column, err_t *err) {
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
    return is->took_point || ask(guess, column, err);
}

bool guess_settle_ways(guess_t *guess, err_t *err) {
    for (size_t i = guess->decided; i < guess->structure.columns; i++)
        if (!settle_way(guess, &guess->columns[i], err))
            return false;
    return true;
}

/* ---- null values ---- */

void guess_settle_nulls(guess_t *guess) {
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
