#include "base/text.h"
#include "format/guess/guess_inner.h"
#include "format/schema/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool guess_read_types(guess_t *guess, err_t *err) {
    const guess_options_t *options = &guess->options;
    if (options->type_count && !(guess->types = calloc(options->type_count, sizeof *guess->types)))
        return err_memory(err, options->type_count * sizeof *guess->types);
    for (size_t i = 0; i < options->type_count; i++)
        if (!type_spec_read(options->types[i], &guess->types[i], err))
            return false;
    return true;
}

const char *guess_key(const guess_column_t *column) {
    return column->told && column->told->key ? column->told->key : column->key;
}

static bool refuse_column(const guess_t *guess, const type_spec_t *spec, err_t *err) {
    const size_t count = guess->structure.columns;
    const char *words[2 * SCHEMA_MOST_FIELDS];
    if (!guess->header && !guess->named_here)
        return err_set(err, STATUS_USAGE,
                       "--type '%s': %.1000s has no header, so its columns are column_1 to column_%zu",
                       spec->text, guess->name, count);
    for (size_t i = 0; i < count; i++) {
        words[i] = guess->columns[i].name;
        words[count + i] = guess->columns[i].key;
    }
    const char *near = suggest_word(spec->name, words, 2 * count);
    if (near)
        return err_set(err, STATUS_USAGE, "--type '%s': %.1000s has no column '%s'; did you mean '%s'?",
                       spec->text, guess->name, spec->name, near);
    return err_set(err, STATUS_USAGE, "--type '%s': %.1000s has no column '%s'; the first of its %zu is '%s'",
                   spec->text, guess->name, spec->name, count, words[0]);
}

/* Finds a column by its name in the header, or by its key. */
static guess_column_t *find_column(const guess_t *guess, const char *name) {
    const bool named = guess->header || guess->named_here;
    for (size_t i = 0; named && i < guess->structure.columns; i++)
        if (strcmp(guess->columns[i].name, name) == 0)
            return &guess->columns[i];
    for (size_t i = 0; i < guess->structure.columns; i++)
        if (strcmp(guess->columns[i].key, name) == 0)
            return &guess->columns[i];
    return NULL;
}

static kind_t kind_of(const schema_type_t *type) {
    static const kind_t kinds[] = {
        [TYPE_TEXT] = KIND_TEXT,         [TYPE_TRIMMED] = KIND_TRIMMED, [TYPE_INT] = KIND_INT,
        [TYPE_LONG] = KIND_LONG,         [TYPE_NUMBER] = KIND_NUMBER,   [TYPE_DATE] = KIND_DATETIME,
        [TYPE_LENGTH] = KIND_TEXT,       [TYPE_BOOLEAN] = KIND_BOOLEAN, [TYPE_DECIMAL] = KIND_DECIMAL,
        [TYPE_OBJECTID] = KIND_OBJECTID, [TYPE_UUID] = KIND_UUID,       [TYPE_BINARY] = KIND_BINARY,
        [TYPE_JSON] = KIND_JSON};
    return strcmp(type->name, "date") == 0 ? KIND_DAY : kinds[type->type];
}

static void tell_type(guess_column_t *column, char decimal) {
    const kind_t kind = kind_of(column->told->type);
    column->is = guess_column_as(&column->column, kind, decimal);
    if (column->told->pattern) {
        column->is.kind = kind;
        column->is.orders = 0;
    }
}

static bool check_key(const guess_t *guess, const guess_column_t *column, err_t *err) {
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const guess_column_t *other = &guess->columns[i];
        if (other != column && guess_keys_collide(guess_key(column), guess_key(other)))
            return err_set(
                err, STATUS_USAGE,
                "--type '%s': the key '%s' does not go with '%s' of another column: choose another",
                column->told->text, guess_key(column), guess_key(other));
    }
    return true;
}

bool guess_tell_types(guess_t *guess, err_t *err) {
    for (size_t i = 0; i < guess->options.type_count; i++) {
        const type_spec_t *spec = &guess->types[i];
        guess_column_t *column = find_column(guess, spec->name);
        if (!column)
            return refuse_column(guess, spec, err);
        if (column->told)
            return err_set(err, STATUS_USAGE,
                           "--type '%s': the same column as in --type '%s': say all in one", spec->text,
                           column->told->text);
        column->told = spec;
        if (spec->type)
            tell_type(column, guess->options.decimal);
    }
    for (size_t i = 0; i < guess->structure.columns; i++)
        if (guess->columns[i].told && guess->columns[i].told->key &&
            !check_key(guess, &guess->columns[i], err))
            return false;
    return true;
}
