#include "base/chars.h"
#include "base/numbers.h"
#include "format/guess/guess_inner.h"
#include "format/schema/schema.h"

#include <stdlib.h>
#include <string.h>

enum { WIDEST_NAME = 24 };

static bool is_typed_by_person(const guess_column_t *column) {
    return column->told && column->told->type;
}

static bool has_numbers(const guess_t *guess) {
    for (size_t i = 0; i < guess->structure.columns; i++)
        if (guess_kind_is_number(guess->columns[i].is.kind) && !is_typed_by_person(&guess->columns[i]))
            return true;
    return false;
}

bool guess_is_told_by_types(const guess_t *guess) {
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const guess_column_t *column = &guess->columns[i];
        const uint8_t *text = (const uint8_t *)column->text;
        if (column->is.kind != KIND_TEXT && column->is.kind != KIND_TRIMMED && !is_typed_by_person(column) &&
            column->length && !guess_is_null(text, column->length))
            return !guess->first_misfits;
    }
    return false;
}

/* As text of UTF-8. */
static void put_first_line(text_t *out, const guess_t *guess) {
    text_t line = {.length = 0};
    if (!text_grow(&line, ENCODING_MOST_BYTES * guess->first_length + 1)) {
        text_miss(out, &line);
        return;
    }
    if (encoding_converts(guess->encoding, guess->first, guess->first_length))
        line.length =
            encoding_to_utf8(guess->encoding, (uint8_t *)line.bytes, guess->first, guess->first_length);
    else
        text_append_bytes(&line, (const char *)guess->first, guess->first_length);
    text_append(out, ", header_line: ");
    guess_put_scalar(out, line.bytes, line.length);
    text_free(&line);
}

static void put_header(text_t *out, const guess_t *guess) {
    if (guess->named_here)
        put_first_line(out, guess);
    else
        text_print(out, ", header: %s",
                   guess->header                                                                ? "yes"
                   : guess->options.header == GUESS_ANY_HEADER && guess_is_told_by_types(guess) ? "refuse"
                                                                                                : "no");
}

static void put_record(text_t *out, const guess_t *guess) {
    const structure_t *structure = &guess->structure;
    if (structure->way.blanks) {
        text_append(out, "record: {delimiter: blanks");
    } else {
        text_append(out, "record: {delimiter: [");
        const schema_text_t delimiter = way_delimiter(&structure->way);
        guess_put_scalar(out, delimiter.text, delimiter.length);
        text_append(out, "]");
    }
    if (structure->way.quote != '"') {
        text_append(out, ", quote: ");
        if (structure->way.quote)
            guess_put_scalar(out, &structure->way.quote, 1);
        else
            text_append(out, "none");
    }
    if (guess_is_of_no_quotes(guess))
        text_append(out, ", quoted: needed");
    if (structure->way.backslash)
        text_append(out, structure->way.backslashes ? ", escape: [double, backslashes]"
                                                    : ", escape: [double, backslash]");
    if (structure->skip)
        text_print(out, ", skip: %zu", structure->skip);
    if (structure->comment) {
        text_append(out, ", comment: ");
        guess_put_scalar(out, &structure->comment, 1);
    }
    put_header(out, guess);
    if (has_numbers(guess))
        text_append(out, ", exact: yes");
    if (guess->encoding)
        text_print(out, ", encoding: %s", encoding_names[guess->encoding]);
    else if (guess->options.charset)
        text_print(out, ", encoding: %s", guess->options.charset);
    text_append(out, "}\n");
}

const char *guess_pattern_of(const guess_column_t *column) {
    return column->told && column->told->pattern ? column->told->pattern
           : column->is.kind == KIND_DATE        ? column->is.pattern
                                                 : NULL;
}

const char *guess_type_name(const guess_column_t *column) {
    const decision_t *is = &column->is;
    static const char *const names[] = {
        [KIND_TEXT] = "text",         [KIND_TRIMMED] = "trimmed",   [KIND_BOOLEAN] = "boolean",
        [KIND_INT] = "int",           [KIND_LONG] = "long",         [KIND_NUMBER] = "number",
        [KIND_DECIMAL] = "decimal",   [KIND_DATE] = "date",         [KIND_DAY] = "date",
        [KIND_DATETIME] = "datetime", [KIND_OBJECTID] = "objectid", [KIND_UUID] = "uuid",
        [KIND_BINARY] = "binary",     [KIND_JSON] = "json"};
    if (is->kind == KIND_DATE && strchr(guess_pattern_of(column), 'h'))
        return "datetime";
    return names[is->kind];
}

static void put_nulls(text_t *out, const guess_column_t *column) {
    text_append(out, ", nulls: [\"\"");
    for (size_t i = 0; i < column->column.null_count; i++) {
        if (!(column->is.nulls >> i & 1))
            continue;
        text_append(out, ", ");
        const char *bytes = (const char *)column->column.nulls[i].bytes;
        const size_t length = column->column.nulls[i].length;
        guess_put_scalar(out, bytes, length);
    }
    text_append(out, "]");
}

static void put_number(text_t *out, const guess_column_t *column) {
    const style_t *style = &guess_styles[column->is.style];
    const uint8_t bit = (uint8_t)(1u << column->is.style);
    if (style->decimal != '.')
        text_print(out, ", decimal: \"%c\"", style->decimal);
    if (style->thousands && (column->column.grouped & bit))
        text_print(out, ", thousands: \"%c\"", style->thousands);
}

static size_t characters(const text_t *text, size_t from) {
    size_t count = 0;
    for (; from < text->length; from++)
        count += ((uint8_t)text->bytes[from] & 0xC0) != 0x80;
    return count;
}

static void put_field(text_t *out, const guess_t *guess, const guess_column_t *column, size_t width) {
    text_append(out, "  - {name: ");
    const size_t from = out->length;
    guess_put_scalar(out, column->key, strlen(column->key));
    text_append(out, ",");
    for (size_t shown = characters(out, from); shown < width + 1; shown++)
        text_append(out, " ");
    if (guess_key(column) != column->key) {
        text_append(out, " key: ");
        guess_put_scalar(out, guess_key(column), strlen(guess_key(column)));
        text_append(out, ",");
    }
    text_print(out, " type: %s", guess_type_name(column));
    if (column->told && column->told->pattern) {
        text_append(out, ", pattern: ");
        guess_put_scalar(out, column->told->pattern, strlen(column->told->pattern));
    } else if (guess_pattern_of(column)) {
        const char *pattern = guess_pattern_of(column);
        text_print(out, strchr(pattern, ',') ? ", pattern: \"%s\"" : ", pattern: %s", pattern);
    }
    if (guess_kind_is_number(column->is.kind)) {
        put_number(out, column);
        if (column->is.exponent || (is_typed_by_person(column) && has_numbers(guess)))
            text_append(out, ", exact: no");
    }
    /* else blanks in quotes, and capitals, of later values would be lost */
    if ((column->is.kind == KIND_TRIMMED || column->is.kind == KIND_OBJECTID) && !is_typed_by_person(column))
        text_append(out, ", exact: yes");
    if (column->is.kind == KIND_BOOLEAN && column->is.pair > 2)
        text_print(out, ", true: [\"%s\"], false: [\"%s\"]", guess_pairs[column->is.pair][0],
                   guess_pairs[column->is.pair][1]);
    if (column->is.nulls)
        put_nulls(out, column);
    if (guess->header && strcmp(column->name, column->key) != 0) {
        text_append(out, ", column: ");
        guess_put_scalar(out, column->name, strlen(column->name));
    }
    text_append(out, column->optional ? ", optional: yes}\n" : "}\n");
}

static size_t width_of(text_t *out, const guess_t *guess) {
    size_t width = 0;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        text_t name = {.length = 0};
        guess_put_scalar(&name, guess->columns[i].key, strlen(guess->columns[i].key));
        const size_t shown = characters(&name, 0);
        width = shown <= WIDEST_NAME && shown > width ? shown : width;
        text_miss(out, &name);
        text_free(&name);
    }
    return width;
}

void guess_put_share(text_t *out, const guess_t *guess, uint64_t text_bytes) {
    char count[UNITS_MAX], about[UNITS_MAX];
    const bool one = guess->records == 1;
    static const char *const words[][2] = {{"rows", "row"}, {"objects", "object"}, {"documents", "document"}};
    const char *rows = words[guess->bson ? 2 : guess->json][one];
    units_count(count, guess->records);
    if (!guess->records)
        text_print(out, "no %s", rows);
    else if (guess->all)
        text_print(out, guess->records == 1 ? "%s %s" : "all %s %s", count, rows);
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

/* The fields of one subdocument follow each other: by the place of the first that begins with the same words. */
static void put_fields(text_t *out, const guess_t *guess, const char *prefix, size_t length, bool *done) {
    const size_t count = guess->structure.columns, width = width_of(out, guess);
    for (size_t i = 0; i < count; i++) {
        const char *key = guess_key(&guess->columns[i]);
        if (done[i] || strncmp(key, prefix, length) != 0)
            continue;
        const char *dot = strchr(key + length, '.');
        if (dot) {
            put_fields(out, guess, key, (size_t)(dot - key) + 1, done);
        } else {
            done[i] = true;
            put_field(out, guess, &guess->columns[i], width);
        }
    }
}

/* Without a header columns are found by their place, and the fields of a subdocument may stand in another. */
static void put_layout(text_t *out, const guess_t *guess) {
    bool moved = false;
    for (size_t i = 0; i < guess->structure.columns; i++)
        moved |= strchr(guess_key(&guess->columns[i]), '.') != NULL;
    if (guess->header || !moved)
        return;
    text_append(out, "layouts:\n  - [");
    for (size_t i = 0; i < guess->structure.columns; i++) {
        text_append(out, i ? ", " : "");
        guess_put_scalar(out, guess->columns[i].key, strlen(guess->columns[i].key));
    }
    text_append(out, "]\n");
}

char *guess_yaml(const guess_t *guess, err_t *err) {
    text_t out = {.length = 0};
    bool done[SCHEMA_MOST_FIELDS] = {false};
    text_append(&out, "# Guessed by tipple, ");
    guess_put_share(&out, guess, 0);
    text_append(&out, ".\nformat: " GUESS_FORMAT "\nabout: ");
    text_t about = {.length = 0};
    text_print(&about, "guessed from %s", guess->name);
    if (about.bytes)
        guess_put_scalar(&out, about.bytes, about.length);
    text_miss(&out, &about);
    text_free(&about);
    text_append(&out, "\n");
    if (guess->json || guess->bson) {
        text_print(&out, "record: {%s: yes%s}\n", guess->bson ? "bson" : "json",
                   guess->options.validate ? ", validate: yes" : "");
        if (guess->json)
            guess_json_fields(&out, guess);
        return text_take(&out, err);
    }
    put_record(&out, guess);
    if (guess->options.bad_value)
        text_print(&out, "on_bad_value: %s\n", schema_bad_values[guess->options.bad_value]);
    text_append(&out, "fields:\n");
    put_fields(&out, guess, "", 0, done);
    put_layout(&out, guess);
    return text_take(&out, err);
}
