#include "format/delimited/emit_delimited.h"
#include "base/text.h"
#include "format/cut/delimiter.h"
#include "format/delimited/wide.h"
#include "format/record/typed.h"
#include "format/values/convert.h"
#include "format/values/pattern.h"

#include <stdlib.h>

typedef struct {
    const uint8_t *text;
    size_t length;
    uint8_t printed[PATTERN_PRINTED];
} value_t;

struct emit_delimited {
    draft_t *draft;
    value_t values[SCHEMA_MOST_FIELDS * 2]; /* by column */
    pattern_t *patterns;                    /* of all fields, one after the other */
    size_t first_pattern[SCHEMA_MOST_FIELDS];
    text_t *wide;      /* by field: the text of a value that is longer than value_t.printed */
    bson_iter_t found; /* the value that was found last: mostly the next one follows it */
};

/* False: out of memory. */
static bool compile_patterns(emit_delimited_t *emit, const schema_t *schema) {
    size_t count = 0;
    for (size_t i = 0; i < schema->field_count; i++)
        count += schema->fields[i].patterns.count;
    if (!(emit->patterns = calloc(count + 1, sizeof *emit->patterns)))
        return false;
    pattern_t *next = emit->patterns;
    for (size_t i = 0; i < schema->field_count; i++) {
        const texts_t *texts = &schema->fields[i].patterns;
        emit->first_pattern[i] = (size_t)(next - emit->patterns);
        for (size_t j = 0; j < texts->count; j++)
            pattern_compile(texts->items[j].text, texts->items[j].length, next++);
    }
    return true;
}

emit_delimited_t *emit_delimited_new(draft_t *draft) {
    emit_delimited_t *emit = calloc(1, sizeof *emit);
    if (!emit)
        return NULL;
    emit->draft = draft;
    emit->wide = calloc(draft->schema->field_count + 1, sizeof *emit->wide);
    if (emit->wide && compile_patterns(emit, draft->schema))
        return emit;
    emit_delimited_destroy(emit);
    return NULL;
}

void emit_delimited_destroy(emit_delimited_t *emit) {
    if (!emit)
        return;
    for (size_t i = 0; emit->wide && i < emit->draft->schema->field_count; i++)
        text_free(&emit->wide[i]);
    free(emit->wide);
    free(emit->patterns);
    free(emit);
}

static bool put_byte(draft_t *out, char byte) {
    return draft_put(out, &byte, 1);
}

/* By the pattern that the record had, or by the next one that can show the moment. */
static bool print_date(const emit_delimited_t *emit, const field_t *field, const shape_t *shape, int64_t ms,
                       value_t *value) {
    const size_t index = (size_t)(field - emit->draft->schema->fields), count = field->patterns.count;
    const pattern_t *patterns = emit->patterns + emit->first_pattern[index];
    const size_t first = shape ? shape->choice[index] : 0;
    for (size_t i = 0; i < count; i++)
        if ((value->length = pattern_write(&patterns[(first + i) % count], ms, value->printed)))
            return true;
    return false;
}

static bool print_wide(const emit_delimited_t *emit, const field_t *field, const bson_iter_t *at,
                       value_t *value) {
    const size_t index = (size_t)(field - emit->draft->schema->fields);
    text_t *text = &emit->wide[index];
    text_free(text);
    text_append(text, "");
    if (!wide_print(field, emit->patterns + emit->first_pattern[index], at, text) || text->lacking)
        return false;
    value->text = (const uint8_t *)text->bytes;
    value->length = text->length;
    return true;
}

/* A text as the format's encoding has it, where that keeps no UTF-8. */
static bool encode_text(const emit_delimited_t *emit, const field_t *field, value_t *value, err_t *err) {
    const encoding_t encoding = emit->draft->schema->encoding;
    text_t text = {.length = 0};
    if (encoding_keeps_utf8(encoding))
        return true;
    if (!text_grow(&text, value->length + 1))
        return err_memory(err, value->length);
    const size_t length = encoding_from_utf8(encoding, (uint8_t *)text.bytes, value->text, value->length);
    text_t *kept = &emit->wide[field - emit->draft->schema->fields];
    text_free(kept); /* which the value may have been in */
    *kept = text;
    value->text = (const uint8_t *)text.bytes;
    value->length = length;
    return length != SIZE_MAX ||
           err_set(err, STATUS_INPUT, "the text of '%s' cannot be written in the format's encoding, %s",
                   field->key, encoding_names[encoding]);
}

static bool find_value(emit_delimited_t *emit, const field_t *field, const bson_t *document,
                       bson_iter_t *at) {
    bson_iter_t next = emit->found, top;
    if (bson_iter_next(&next) && strcmp(bson_iter_key(&next), field->key) == 0)
        *at = top = next;
    else if (!bson_iter_init(&top, document) || !bson_iter_find_descendant(&top, field->key, at))
        return false;
    emit->found = top;
    return true;
}

/* The text of one column in UTF-8, before quotes and escapes; *bytes: it is none, but bytes. */
static bool print_text(emit_delimited_t *emit, const field_t *field, const bson_t *document,
                       const shape_t *shape, value_t *value, bool *bytes, err_t *err) {
    bson_iter_t at;
    *value = (value_t){.text = value->printed};
    *bytes = false;
    if (!find_value(emit, field, document, &at)) {
        const size_t choice = shape ? shape->choice[field - emit->draft->schema->fields] : 0;
        if (field->nulls.count) {
            const schema_text_t *null = &field->nulls.items[choice < field->nulls.count ? choice : 0];
            value->text = (const uint8_t *)null->text;
            value->length = null->length;
        }
        return true;
    }
    if (wide_is(field) && !BSON_ITER_HOLDS_UTF8(&at)) {
        if (print_wide(emit, field, &at, value))
            return true;
        const text_t *text = &emit->wide[field - emit->draft->schema->fields];
        if (text->lacking)
            return err_memory(err, text->lacking);
    }
    typed_t typed;
    if (typed_is(field) && typed_take(field, &at, &typed)) {
        schema_text_t text;
        if (!typed_print(field, &typed, value->printed, &text))
            return err_set(err, STATUS_INPUT, "the value of '%s' cannot be written as the field %s writes it",
                           field->key, field->name);
        value->text = (const uint8_t *)text.text;
        value->length = text.length;
        return true;
    }
    uint32_t length;
    bson_subtype_t subtype;
    switch (bson_iter_type(&at)) {
    case BSON_TYPE_UTF8:
        value->text = (const uint8_t *)bson_iter_utf8(&at, &length);
        value->length = length;
        return true;
    case BSON_TYPE_BINARY:
        bson_iter_binary(&at, &subtype, &length, &value->text);
        value->length = length;
        return *bytes = true;
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        value->length = convert_print_int(bson_iter_as_int64(&at), value->printed);
        return true;
    case BSON_TYPE_DOUBLE:
        value->length = convert_print_number(bson_iter_double(&at), field->divide, value->printed);
        return true;
    case BSON_TYPE_DATE_TIME:
        if (print_date(emit, field, shape, bson_iter_date_time(&at), value))
            return true;
        return err_set(err, STATUS_INPUT, "the date in '%s' cannot be written by any pattern of the field",
                       field->key);
    default:
        return err_set(err, STATUS_INPUT, "'%s' holds a value of a type that the field %s never has",
                       field->key, field->name);
    }
}

/* The same as the file has it. */
static bool print_value(emit_delimited_t *emit, const field_t *field, const bson_t *document,
                        const shape_t *shape, value_t *value, err_t *err) {
    bool bytes;
    return print_text(emit, field, document, shape, value, &bytes, err) &&
           (bytes || encode_text(emit, field, value, err));
}

/* In quotes. A quote in the text is escaped by a backslash, or doubled; but after a backslash, with which a doubled one would
 * be read as an escaped one. */
static bool put_quoted(emit_delimited_t *emit, const value_t *value, bool backslash) {
    const schema_t *schema = emit->draft->schema;
    const char quote = schema->quote;
    if (!put_byte(emit->draft, quote))
        return false;
    for (size_t i = 0; i < value->length; i++) {
        const bool after =
            schema->escape_backslash && !schema->escape_backslashes && i > 0 && value->text[i - 1] == '\\';
        if (schema->escape_backslashes && value->text[i] == '\\' && !put_byte(emit->draft, '\\'))
            return false;
        if (value->text[i] == (uint8_t)quote && !put_byte(emit->draft, backslash || after ? '\\' : quote))
            return false;
        if (!put_byte(emit->draft, (char)value->text[i]))
            return false;
    }
    return put_byte(emit->draft, quote);
}

/* Does it contain the delimiter, or end with the beginning of it? */
static bool meets_delimiter(const schema_t *schema, const dialect_t *dialect, const value_t *value) {
    const schema_text_t *wide = &schema->wide;
    for (size_t begun = 1; begun < wide->length && begun <= value->length; begun++)
        if (memcmp(value->text + value->length - begun, wide->text, begun) == 0)
            return true;
    return delimiter_find(schema, dialect->delimiter, value->text, value->length, 0) != NULL;
}

/* Is it a text that loses its blanks but in quotes? */
static bool loses_blanks(const schema_t *schema, const dialect_t *dialect, size_t column,
                         const value_t *value) {
    const uint16_t index = dialect->field_of[column];
    return index != DIALECT_NO_FIELD && schema->fields[index].type == TYPE_TRIMMED &&
           schema->fields[index].exact && value->length &&
           (value->text[0] == ' ' || value->text[value->length - 1] == ' ');
}

/* Does the field need quotes? In a record that had none (bare), quotes are a part of the text, and so are delimiters in the
 * surplus. */
static bool needs_quotes(const emit_delimited_t *emit, const dialect_t *dialect, size_t column, bool bare) {
    const schema_t *schema = emit->draft->schema;
    const value_t *value = &emit->values[column];
    if (!schema->quote)
        return false;
    if (!value->length)
        return dialect->columns == 1;
    return (!(bare && dialect->surplus_column == (int)column) && meets_delimiter(schema, dialect, value)) ||
           (!bare && memchr(value->text, schema->quote, value->length)) ||
           loses_blanks(schema, dialect, column, value) ||
           (schema->multiline && memchr(value->text, '\n', value->length)) ||
           (!column && schema_is_comment(schema, *value->text)) ||
           (column + 1u == dialect->columns && value->text[value->length - 1] == '\r');
}

static bool put_delimiter(draft_t *draft, const dialect_t *dialect) {
    const schema_text_t *wide = &draft->schema->wide;
    return wide->length ? draft_put(draft, wide->text, wide->length) : put_byte(draft, dialect->delimiter);
}

static bool write_row(emit_delimited_t *emit, const dialect_t *dialect, const shape_t *shape) {
    const schema_t *schema = emit->draft->schema;
    const bool backslash =
        schema->escape_backslash && (!schema->escape_double || (shape && shape->backslash));
    emit->draft->length = 0;
    for (size_t i = 0; i < dialect->columns; i++) {
        const value_t *value = &emit->values[i];
        if (i && !put_delimiter(emit->draft, dialect))
            return false;
        if (!(needs_quotes(emit, dialect, i, shape && !shape->quoted)
                  ? put_quoted(emit, value, backslash)
                  : draft_put(emit->draft, value->text, value->length)))
            return false;
    }
    return draft_put(emit->draft, "", 0); /* of a row without a byte, too */
}

int emit_delimited_record(emit_delimited_t *emit, const dialect_t *dialect, const bson_t *document,
                          const shape_t *shape, err_t *err) {
    value_t *values = emit->values;
    bson_iter_init(&emit->found, document);
    for (size_t i = 0; i < dialect->columns; i++) {
        uint16_t field = dialect->field_of[i];
        values[i] = (value_t){.text = values[i].printed};
        if (field != DIALECT_NO_FIELD &&
            !print_value(emit, &emit->draft->schema->fields[field], document, shape, &values[i], err))
            return -2;
    }
    return write_row(emit, dialect, shape) ? 1 : -1;
}
