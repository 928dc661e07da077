#include "base/log.h"
#include "base/text.h"
#include "format/guess/guess_inner.h"
#include "format/guess/guess_options.h"
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

/* By its name in the header, or as the guess names it. */
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

static bool spec_agrees(const char *text, const schema_t *schema, const char *what, err_t *err) {
    type_spec_t spec;
    const bool ok = type_spec_read(text, &spec, err) && type_spec_agrees(&spec, schema, what, err);
    type_spec_free(&spec);
    return ok;
}

/* As it was said, the delimiter may have become a longer one; where none divides, the format has some that no text holds. */
static bool delimiter_agrees(char delimiter, const schema_t *schema) {
    return delimiter == '\n'  ? schema->field_count == 1
           : delimiter == ' ' ? schema->blanks
                              : !schema->blanks && schema->delimiters[0] == delimiter;
}

static const char *const date_words[] = {NULL, "dmy", "mdy", "ymd"}, *const header_words[] = {NULL, "yes",
                                                                                              "no"};

/* What is first in a date whose order its text may not tell: D, M or Y; 0: it is not such a one. */
static char first_of_date(const char *pattern) {
    const char *first = strpbrk(pattern, "DMY");
    return first && strncmp(pattern, "YYYY", 4) != 0 && !strcasestr(pattern, "mon") ? *first : '\0';
}

/* A pattern of another order; NULL: there is none, or one of this order, too. */
static const char *other_dates(const schema_t *schema, char first) {
    const char *other = NULL;
    for (size_t i = 0; i < schema->field_count; i++)
        for (size_t j = 0; j < schema->fields[i].patterns.count; j++) {
            const char *pattern = schema->fields[i].patterns.items[j].text;
            if (first_of_date(pattern) == first)
                return NULL;
            other = first_of_date(pattern) ? pattern : other;
        }
    return other;
}

static bool has_other_decimal(const schema_t *schema, char mark) {
    bool other = false;
    for (size_t i = 0; i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i];
        const bool number = field->type == TYPE_NUMBER || field->type == TYPE_DECIMAL;
        const char is = field->point ? field->point : number ? '.' : '\0';
        if (is == mark)
            return false;
        other |= is != '\0';
    }
    return other;
}

static bool has_other_header(const schema_t *schema, bool header) {
    return schema->kind == RECORDS_DELIMITED && header != header_may_be(schema->header);
}

static bool has_flat_dots(const schema_t *schema) {
    for (size_t i = 0; schema->kind == RECORDS_DELIMITED && i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i];
        if (field->columns.count && strchr(field->columns.items[0].text, '.') && !strchr(field->key, '.'))
            return true;
    }
    return false;
}

/* Of these a first load may have kept something else, because its text told. */
static void tell_other(const guess_options_t *options, const schema_t *schema, const char *what) {
    const char *other = options->dates ? other_dates(schema, "-DMY"[options->dates]) : NULL;
    if (other)
        log_warn("--with dates=%s: %s reads dates as %s, and that stays: " TYPE_SPEC_ANEW,
                 date_words[options->dates], what, other);
    if (options->decimal && has_other_decimal(schema, options->decimal))
        log_warn("--with decimal=%c: %s reads numbers with another mark, and that stays: " TYPE_SPEC_ANEW,
                 options->decimal, what);
    if (options->header && has_other_header(schema, options->header == GUESS_HEADER))
        log_warn("--with header=%s: %s takes the first line for %s, and that stays: " TYPE_SPEC_ANEW,
                 header_words[options->header], what,
                 options->header == GUESS_HEADER ? "a record" : "the names of the columns");
    else if (options->header_line && schema->kind == RECORDS_DELIMITED &&
             options->header_line != schema->skip + 1)
        log_warn("--with header=%u: %s takes line %u for the names of the columns, and that "
                 "stays: " TYPE_SPEC_ANEW,
                 options->header_line, what, schema->skip + 1);
    if (options->nested && has_flat_dots(schema))
        log_warn("--with nested=yes: %s makes no subdocuments, and that stays: " TYPE_SPEC_ANEW, what);
}

bool guess_options_agree(const guess_options_t *options, const schema_t *schema, const char *what,
                         err_t *err) {
    const char *of_text = guess_options_of_text(options);
    if (of_text && schema_any_fields(schema))
        return err_set(err, STATUS_USAGE,
                       "--%s: %s is of documents, and the option is for text in columns: leave it out",
                       of_text, what);
    if (options->validate && !schema->validate)
        return err_set(err, STATUS_USAGE, "--with validate: %s does not validate: " TYPE_SPEC_ANEW, what);
    for (size_t i = 0; i < options->type_count; i++)
        if (!spec_agrees(options->types[i], schema, what, err))
            return false;
    if (options->delimiter && !delimiter_agrees(options->delimiter, schema))
        return err_set(err, STATUS_USAGE, "--with delimiter=%s: %s has another one: " TYPE_SPEC_ANEW,
                       guess_delimiter_word(options->delimiter), what);
    if (options->charset && !(schema->charset && strcmp(options->charset, schema->charset) == 0))
        return err_set(err, STATUS_USAGE, "--with encoding=%s: %s has %s: " TYPE_SPEC_ANEW, options->charset,
                       what, schema->charset ? schema->charset : encoding_names[schema->encoding]);
    if (options->encoding_given && options->encoding != schema->encoding)
        return err_set(err, STATUS_USAGE, "--with encoding=%s: %s has %s: " TYPE_SPEC_ANEW,
                       encoding_names[options->encoding], what, encoding_names[schema->encoding]);
    if (options->quote && (*options->quote != schema->quote || schema->quoted_needed))
        return err_set(err, STATUS_USAGE, "--with quote: %s has quote: %s%s: " TYPE_SPEC_ANEW, what,
                       schema->quote ? (const char[]){schema->quote, '\0'} : "none",
                       schema->quoted_needed ? ", quoted: needed" : "");
    tell_other(options, schema, what);
    return !options->bad_value_given || options->bad_value == schema->bad_value ||
           err_set(err, STATUS_USAGE, "--on-bad-value %s: %s has %s: " TYPE_SPEC_ANEW,
                   schema_bad_values[options->bad_value], what, schema_bad_values[schema->bad_value]);
}

/* Appends --with KEY=VALUE for a shell; nothing without a value. */
static void quote_with(text_t *line, const char *key, const char *value) {
    char word[80];
    snprintf(word, sizeof word, "%s=%s", key, value ? value : "");
    shell_quote_option(line, "--with", value ? word : NULL);
}

void guess_options_quote(text_t *line, const guess_options_t *options) {
    const char decimal[] = {options->decimal, '\0'};
    char number[16];
    snprintf(number, sizeof number, "%u", options->header_line);
    quote_with(line, "header", options->header_line ? number : header_words[options->header]);
    quote_with(line, "dates", date_words[options->dates]);
    quote_with(line, "decimal", *decimal ? decimal : NULL);
    quote_with(line, "delimiter", guess_delimiter_word(options->delimiter));
    quote_with(line, "quote", options->quote ? guess_options_quote_word(*options->quote) : NULL);
    quote_with(line, "encoding",
               options->encoding_given ? encoding_names[options->encoding] : options->charset);
    quote_with(line, "nested", options->nested ? "yes" : NULL);
    quote_with(line, "validate", options->validate ? "yes" : NULL);
    for (size_t i = 0; i < options->type_count; i++)
        shell_quote_option(line, "--type", options->types[i]);
    if (options->bad_value_given)
        shell_quote_option(line, "--on-bad-value", schema_bad_values[options->bad_value]);
}
