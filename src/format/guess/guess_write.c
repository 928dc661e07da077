/* Writes the result of a guess twice in one walk: each fact goes into the format file, and in words into the lines that a first
 * command prints. All is decided before (guess_new in guess.c). */
#include "base/chars.h"
#include "base/document.h"
#include "base/numbers.h"
#include "format/guess/guess_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_COLUMNS = 40, MOST_NAMED = 8 };

/* ---- words ---- */

/* A line for the user with a list, of which the first items are named. */
typedef struct {
    const char *words;
    size_t most, count;
    text_t text;
} list_t;

/* Counts an item. True if it is named: the caller appends it to the list's text. */
static bool list_next(list_t *list) {
    const bool named = list->count++ < list->most;
    text_append(&list->text, named && list->count > 1 ? ", " : "");
    return named;
}

/* Appends the line, if the list has an item, and frees it. */
static void list_end(text_t *out, list_t *list) {
    if (list->count)
        text_print(out, "\n%s: %s", list->words, list->text.bytes ? list->text.bytes : "");
    if (list->count > list->most)
        text_print(out, ", and %zu more", list->count - list->most);
    text_miss(out, &list->text);
    text_free(&list->text);
}

/* True if YAML takes the text without quotes for a text: letters, digits, _ and dots, and no word or number of YAML. */
static bool is_plain(const char *text) {
    static const char *const meant[] = {"yes", "no", "true", "false", "null", "on", "off", "y", "n", "none"};
    for (size_t i = 0; i < COUNT(meant); i++)
        if (strcasecmp(meant[i], text) == 0)
            return false;
    return *text && !strchr("0123456789.", *text) &&
           !text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.")];
}

void guess_put_scalar(text_t *out, const char *before, const char *text) {
    text_append(out, before);
    if (is_plain(text))
        text_append(out, text);
    else
        ejson_append_text(out, text);
}

/* ---- the record ---- */

static bool is_typed_by_user(const guess_column_t *column) {
    return column->told && column->told->type;
}

static bool has_numbers(const guess_t *guess) {
    for (size_t i = 0; i < guess->structure.columns; i++)
        if (guess_kind_is_number(guess->columns[i].is.kind) && !is_typed_by_user(&guess->columns[i]))
            return true;
    return false;
}

static bool shows_by_types(const guess_t *guess) {
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const guess_column_t *column = &guess->columns[i];
        if (!guess_kind_is_text(column->is.kind) && !is_typed_by_user(column) && column->length &&
            !guess_is_null((const uint8_t *)column->text, column->length))
            return !guess->first_misfits;
    }
    return false;
}

/* True if all records of the sample have one field more than the header has names, and this field is always empty. */
static bool ends_empty(const guess_t *guess) {
    const structure_t *structure = &guess->structure;
    const column_t *last = &guess->columns[structure->columns - 1].column;
    return structure->ends_empty && guess->named_here && !last->values && !last->null_count;
}

/* 1,5 below 2,75 may be the edges of a graph, or one number a line. */
static bool may_be_numbers(const guess_t *guess) {
    const guess_column_t *columns = guess->columns;
    return guess->structure.columns == 2 && guess->structure.way.delimiter == ',' && !guess->header &&
           !guess->named_here && !guess->options.delimiter && !guess->quotes.any &&
           columns[0].is.kind == KIND_INT && columns[1].is.kind == KIND_INT && !columns[1].told;
}

/* Appends the line that names the columns, in UTF-8. */
static void put_header_line(text_t *out, const guess_t *guess) {
    text_t line = {.length = 0};
    if (!encoding_converts(guess->encoding, guess->first, guess->first_length))
        text_append_bytes(&line, (const char *)guess->first, guess->first_length);
    else if (text_grow(&line, ENCODING_MOST_BYTES * guess->first_length + 1))
        line.bytes[encoding_to_utf8(guess->encoding, (uint8_t *)line.bytes, guess->first,
                                    guess->first_length)] = '\0';
    guess_put_scalar(out, ", header_line: ", line.bytes ? line.bytes : "");
    text_miss(out, &line);
    text_free(&line);
}

static void write_header(text_t *yaml, text_t *lines, const guess_t *guess) {
    const bool shows = shows_by_types(guess), asked = guess->options.header;
    if (guess->named_here)
        put_header_line(yaml, guess);
    else
        text_print(yaml, ", header: %s", guess->header ? "yes" : !asked && shows ? "refuse" : "no");
    if (guess->header || guess->named_here)
        text_print(lines, ", header in line %llu", (unsigned long long)guess->first_line);
    else
        text_append(lines, !guess->of_many || asked || shows
                               ? ", no header"
                               : ", no header (in another file one would be loaded as a record)");
}

static void write_delimiter(text_t *yaml, text_t *lines, const guess_t *guess) {
    const way_t *way = &guess->structure.way;
    const char one[] = {way->delimiter, '\0'}, *word = guess_delimiter_word(way->blanks ? ' ' : *one);
    if (way->blanks)
        text_append(yaml, "record: {delimiter: blanks");
    else
        guess_put_scalar(yaml, "record: {delimiter: [", way->wide[0] ? way->wide : one);
    text_append(yaml, way->blanks ? "" : "]");
    if (guess->structure.columns == 1)
        text_append(lines, "no --format: read as one column");
    else
        text_print(lines, "no --format: read as CSV, delimiter '%s'", way->wide[0] ? way->wide : word);
}

static void write_record(text_t *yaml, text_t *lines, const guess_t *guess) {
    const structure_t *structure = &guess->structure;
    const bool named = guess->header || guess->named_here;
    const char quote[] = {structure->way.quote, '\0'}, comment[] = {structure->comment, '\0'};
    write_delimiter(yaml, lines, guess);
    if (*quote != '"') {
        text_append(yaml, ", quote: ");
        text_append(yaml, *quote ? "\"'\"" : "none");
        text_append(lines, *quote ? ", single quotes" : ", no quotes");
    }
    if (guess_is_of_no_quotes(guess))
        text_append(yaml, ", quoted: needed");
    if (structure->way.backslash) {
        const bool twice = structure->way.backslashes;
        text_print(yaml, ", escape: [double, backslash%s]", twice ? "es" : "");
        text_print(lines, ", escapes by backslash%s", twice ? ", also of backslashes" : "");
    }
    if (structure->skip) {
        text_print(yaml, ", skip: %zu", structure->skip);
        text_print(lines, ", %zu line%s before the %s skipped", structure->skip, units_s(structure->skip),
                   named ? "header" : "first record");
    }
    if (*comment) {
        guess_put_scalar(yaml, ", comment: ", comment);
        text_print(lines, ", comments in lines that begin with '%s'", comment);
    }
    if (guess->was_utf16)
        text_append(lines, ", UTF-16 made UTF-8");
    write_header(yaml, lines, guess);
    if (has_numbers(guess))
        text_append(yaml, ", exact: yes");
    if (guess->encoding || guess->options.charset) {
        const char *encoding = guess->encoding ? encoding_names[guess->encoding] : guess->options.charset;
        text_print(yaml, ", encoding: %s", encoding);
        text_print(lines, ", encoding %s",
                   guess->encoding == ENCODING_WINDOWS_1252_NOT_UTF8 ? "windows-1252" : encoding);
    }
    text_append(yaml, "}\n");
    if (guess->options.bad_value)
        text_print(yaml, "on_bad_value: %s\n", schema_bad_values[guess->options.bad_value]);
    if (structure->columns > 1)
        text_print(lines, ", %zu columns", structure->columns);
    if (ends_empty(guess))
        text_append(lines, ", the last of which the header does not name and is empty");
}

/* Appends the size of the sample, and how many of its records will be rejects. */
static void show_sample(text_t *lines, const guess_t *guess, uint64_t text_bytes) {
    const uint64_t torn = guess->quotes.torn;
    const struct {
        uint64_t count;
        const char *why;
    } rejects[] = {
        {guess->misfits, "for another number of fields, or an odd quote or end"},
        {torn, torn == 1 ? "for a text whose lines look like records: multiline: yes in a format reads it"
                         : "for a text whose lines look like records: multiline: yes in a format reads them"},
    };
    text_append(lines, " (");
    guess_put_share(lines, guess, text_bytes);
    for (size_t i = 0; i < COUNT(rejects); i++) {
        char count[UNITS_MAX];
        if (rejects[i].count)
            text_print(lines, "; %s of them will be rejected, %s", units_count(count, rejects[i].count),
                       rejects[i].why);
    }
    if (guess->keeps_escapes)
        text_append(lines, "; other escapes such as \\t and \\\\ stay as they are");
    if (may_be_numbers(guess))
        text_append(lines, "; if each line is one number with a comma: --with delimiter=none");
    if ((guess->header || guess->named_here) && guess->repeated && guess->structure.columns > 1)
        text_append(lines, "; the header is there again, and is no row");
    text_append(lines, ")");
    if (guess->options.bad_value)
        text_print(lines, ", values that do not fit: %s", schema_bad_values[guess->options.bad_value]);
}

void guess_put_share(text_t *out, const guess_t *guess, uint64_t text_bytes) {
    static const char *const words[][2] = {{"rows", "row"}, {"objects", "object"}, {"documents", "document"}};
    const char *rows = words[guess->bson ? 2 : guess->json][guess->records == 1];
    char count[UNITS_MAX], about[UNITS_MAX];
    units_count(count, guess->records);
    if (!guess->records)
        text_print(out, "no %s", rows);
    else if (guess->all)
        text_print(out, "%s%s %s", guess->records == 1 ? "" : "all ", count, rows);
    else if (guess->scattered && !text_bytes)
        text_print(out, "%s %s of its beginning, middle and end", count, rows);
    else if (!guess->scattered || !guess->bytes)
        text_print(out, "the first %s %s", count, rows);
    else
        text_print(out, "%s of about %s %s", count,
                   units_rate(about, (double)text_bytes * (double)guess->records / (double)guess->bytes),
                   rows);
    text_append(out, " looked at");
}

/* ---- the fields ---- */

/* The date pattern of a column; NULL: none, or the usual ones of its type. */
static const char *pattern_of(const guess_column_t *column) {
    return column->told && column->told->pattern ? column->told->pattern
           : column->is.kind == KIND_DATE        ? column->is.pattern
                                                 : NULL;
}

static const char *type_of(const guess_column_t *column) {
    static const char *const names[] = {
        [KIND_TEXT] = "text",         [KIND_TRIMMED] = "trimmed",   [KIND_BOOLEAN] = "boolean",
        [KIND_INT] = "int",           [KIND_LONG] = "long",         [KIND_NUMBER] = "number",
        [KIND_DECIMAL] = "decimal",   [KIND_DATE] = "date",         [KIND_DAY] = "date",
        [KIND_DATETIME] = "datetime", [KIND_OBJECTID] = "objectid", [KIND_UUID] = "uuid",
        [KIND_BINARY] = "binary",     [KIND_JSON] = "json"};
    return names[column->is.kind == KIND_DATE && strchr(pattern_of(column), 'h') ? KIND_DATETIME
                                                                                 : column->is.kind];
}

static void write_number(text_t *yaml, text_t *lines, const guess_column_t *column) {
    const style_t *style = &guess_styles[column->is.style];
    const uint8_t bit = (uint8_t)(1u << column->is.style);
    const bool grouped = style->thousands && (column->column.grouped & bit);
    const bool comma = style->decimal == ',' && ((column->column.fraction & bit) || !grouped);
    if (style->decimal != '.')
        text_print(yaml, ", decimal: \"%c\"", style->decimal);
    if (comma)
        text_append(lines, " with decimal comma");
    if (grouped) {
        text_print(yaml, ", thousands: \"%c\"", style->thousands);
        text_print(lines, " %s '%c' for thousands", comma ? "and" : "with", style->thousands);
    }
    if (column->is.took_point)
        text_append(lines, " with decimal dot (else: --with decimal=,)");
}

static void write_type(text_t *yaml, text_t *lines, const guess_t *guess, const guess_column_t *column) {
    const char *pattern = pattern_of(column);
    text_print(yaml, " type: %s", type_of(column));
    text_print(lines, " %s", type_of(column));
    if (pattern) {
        if (pattern == (column->told ? column->told->pattern : NULL) || strchr(pattern, ','))
            guess_put_scalar(yaml, ", pattern: ", pattern);
        else
            text_print(yaml, ", pattern: %s", pattern);
        text_print(lines, " %s", pattern);
    }
    if (guess_kind_is_number(column->is.kind)) {
        write_number(yaml, lines, column);
        if (is_typed_by_user(column) && has_numbers(guess))
            text_append(yaml, ", exact: no");
    }
    /* otherwise blanks in quotes and capitals of later values would be lost */
    if ((column->is.kind == KIND_TRIMMED || column->is.kind == KIND_OBJECTID) && !is_typed_by_user(column))
        text_append(yaml, ", exact: yes");
    if (column->is.kind == KIND_BOOLEAN && column->is.pair > 2) {
        const char *const *pair = guess_pairs[column->is.pair];
        text_print(yaml, ", true: [\"%s\"], false: [\"%s\"]", pair[0], pair[1]);
        text_print(lines, " %s/%s", pair[0], pair[1]);
    }
    if (column->is.rounded && !column->told)
        text_print(lines, " (rounded to milliseconds; else: --type %s:text)", column->key);
    if (column->told)
        text_append(lines, " (by --type)");
    if (column->optional)
        text_append(lines, " (not in every file)");
}

/* The lists over all columns: their types; names that are no good keys; values that are left out, and null words that stay text. */
enum { COLUMNS, RENAMED, LEFT_OUT, KEPT, LISTS };

static void write_nulls(text_t *yaml, list_t lists[LISTS], const guess_column_t *column) {
    const bool of_text = guess_kind_is_text(column->is.kind);
    if (column->column.blank && list_next(&lists[LEFT_OUT]))
        text_print(&lists[LEFT_OUT].text, "'' of %s", column->key);
    text_append(yaml, column->is.nulls ? ", nulls: [\"\"" : "");
    for (size_t i = 0; i < column->column.null_count; i++) {
        char word[GUESS_NULL_ROOM + 1] = "", shown[4 * GUESS_NULL_ROOM + 3];
        memcpy(word, column->column.nulls[i].bytes, column->column.nulls[i].length);
        snprintf(shown, sizeof shown, "'%s'", word);
        const bool is = column->is.nulls >> i & 1;
        const char *before = lists[LEFT_OUT].text.bytes;
        if (is)
            guess_put_scalar(yaml, ", ", word);
        if (is && !(before && strstr(before, shown)) && list_next(&lists[LEFT_OUT]))
            text_append(&lists[LEFT_OUT].text, shown);
        if (!is && of_text && list_next(&lists[KEPT]))
            text_print(&lists[KEPT].text, "%s of %s", shown, column->key);
    }
    text_append(yaml, column->is.nulls ? "]" : "");
}

void guess_put_spec(text_t *out, const char *option, const char *name, const guess_column_t *column) {
    const char *pattern = pattern_of(column);
    text_t spec = {.length = 0};
    for (; *name; name++)
        text_print(&spec, *name == ':' ? "::" : "%c", *name);
    text_print(&spec, pattern ? ":%s(%s)" : ":%s", type_of(column), pattern);
    shell_quote_option(out, option, spec.bytes);
    text_free(&spec);
}

/* Names a column that is text because of a few of its values. */
static void list_nearly(list_t *list, const guess_column_t *column) {
    guess_column_t as = {.key = column->key};
    char misfits[UNITS_MAX], values[UNITS_MAX], first[2 * GUESS_SHOWN];
    fit_t fit;
    if (column->told || !guess_kind_is_text(column->is.kind) ||
        !guess_column_nearly(&column->column, &fit, &as.is) || !list_next(list))
        return;
    text_print(&list->text, "%s because of %s of %s values, %s'%s':", column->key,
               units_count(misfits, fit.misfits), units_count(values, column->column.values),
               fit.misfits > 1 ? "the first of them " : "",
               guess_shown(first, sizeof first, (const char *)fit.first->first, fit.first->length));
    guess_put_spec(&list->text, "--type", column->key, &as);
    text_append(&list->text, " reads the others");
}

static void write_field(text_t *yaml, list_t lists[LISTS], const guess_t *guess,
                        const guess_column_t *column) {
    const char *key = guess_key(column);
    text_t unnamed = {.length = 0}, *lines = list_next(&lists[COLUMNS]) ? &lists[COLUMNS].text : &unnamed;
    char shown[4 * 128]; /* keys may hold any character */
    guess_put_scalar(yaml, "  - {name: ", column->key);
    text_append(yaml, ",");
    text_append(lines, column->key);
    if (key != column->key) {
        guess_put_scalar(yaml, " key: ", key);
        text_append(yaml, ",");
        text_print(lines, " as %s", escape_text(shown, sizeof shown, key, strlen(key)));
    }
    write_type(yaml, lines, guess, column);
    write_nulls(yaml, lists, column);
    list_nearly(&lists[KEPT], column);
    const bool renamed = (guess->header || guess->named_here) && strcmp(column->name, column->key) != 0;
    if (renamed && guess->header)
        guess_put_scalar(yaml, ", column: ", column->name);
    text_append(yaml, column->optional ? ", optional: yes}\n" : "}\n");
    const bool is_end = ends_empty(guess) && column == &guess->columns[guess->structure.columns - 1];
    if (renamed && key == column->key && !is_end && list_next(&lists[RENAMED]))
        text_print(&lists[RENAMED].text, "'%s' -> %s",
                   guess_shown(shown, sizeof shown, column->name, strlen(column->name)), column->key);
    text_free(&unnamed);
}

/* Writes the fields whose keys begin with the prefix. Those of a subdocument follow each other, at the place of the first. */
static void write_fields(text_t *yaml, list_t lists[LISTS], const guess_t *guess, const char *prefix,
                         size_t length, bool *done) {
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const char *key = guess_key(&guess->columns[i]);
        if (done[i] || strncmp(key, prefix, length) != 0)
            continue;
        const char *dot = strchr(key + length, '.');
        if (dot) {
            write_fields(yaml, lists, guess, key, (size_t)(dot - key) + 1, done);
        } else {
            done[i] = true;
            write_field(yaml, lists, guess, &guess->columns[i]);
        }
    }
}

/* Lists the order of the columns, if they are found by their places and subdocuments have changed the order of the fields. */
static void write_layout(text_t *yaml, const guess_t *guess) {
    bool moved = false;
    for (size_t i = 0; i < guess->structure.columns; i++)
        moved |= strchr(guess_key(&guess->columns[i]), '.') != NULL;
    if (guess->header || !moved)
        return;
    text_append(yaml, "layouts:\n  - [");
    for (size_t i = 0; i < guess->structure.columns; i++)
        guess_put_scalar(yaml, i ? ", " : "", guess->columns[i].key);
    text_append(yaml, "]\n");
}

static void write_columns(text_t *yaml, text_t *lines, const guess_t *guess) {
    bool done[SCHEMA_MOST_FIELDS] = {false};
    list_t lists[LISTS] = {{.words = "columns", .most = MOST_COLUMNS},
                           {.words = "renamed", .most = MOST_NAMED},
                           {.words = "left out", .most = MOST_NAMED},
                           {.words = "kept as text", .most = MOST_NAMED}};
    text_append(yaml, "fields:\n");
    write_fields(yaml, lists, guess, "", 0, done);
    write_layout(yaml, guess);
    if (guess->hollow && list_next(&lists[LEFT_OUT]))
        text_print(&lists[LEFT_OUT].text, "all of %llu row%s (an empty document each)",
                   (unsigned long long)guess->hollow, units_s(guess->hollow));
    for (size_t i = 0; i < LISTS; i++)
        list_end(lines, &lists[i]);
}

/* ---- all of it ---- */

static void show_change(text_t *out, const guess_t *guess) {
    text_append(out, "\nto change that: ");
    if (guess->once)
        text_append(out, "save the beginning (... | head -n 10000 > sample), then ");
    text_append(out, "tipple formats --guess");
    guess_options_quote(out, &guess->options);
    shell_quote_word(out, guess->once ? "sample" : guess->name);
    text_append(out, " > my.yaml, edit my.yaml, and give --format ./my.yaml");
}

bool guess_write(const guess_t *guess, uint64_t text_bytes, char **yaml, char **lines, err_t *err) {
    text_t file = {.length = 0}, about = {.length = 0}, people = {.length = 0};
    text_print(&about, "guessed from %s", guess->name);
    text_append(&file, "# Guessed by tipple, ");
    guess_put_share(&file, guess, 0);
    text_append(&file, ".\n");
    guess_options_name(&file, &guess->options);
    guess_put_scalar(&file, "format: " GUESS_FORMAT "\nabout: ", about.bytes ? about.bytes : "");
    text_append(&file, "\n");
    text_free(&about);
    const bool documents = guess->json || guess->bson;
    if (documents) {
        guess_write_documents(&file, &people, guess, text_bytes);
    } else {
        write_record(&file, &people, guess);
        show_sample(&people, guess, text_bytes);
        write_columns(&file, &people, guess);
    }
    if (!documents || guess->options.type_count)
        show_change(&people, guess);
    text_append(&people, "\n");
    *yaml = text_take(&file, err);
    *lines = text_take(&people, err);
    return *yaml && *lines;
}
