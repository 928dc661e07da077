#include "format/delimited/emit_delimited.h"
#include "base/text.h"
#include "base/threads/pool.h"
#include "format/cut/delimiter.h"
#include "format/delimited/wide.h"
#include "format/record/typed.h"
#include "format/values/convert.h"
#include "format/values/pattern.h"

#include <stdlib.h>

typedef struct {
    const uint8_t *text;
    size_t length;
    bool number;
    uint8_t printed[PATTERN_PRINTED];
} value_t;

/* How one field is written. */
typedef enum {
    FIELD_BARE,
    FIELD_QUOTED,    /* quotes are doubled; a quote after a backslash gets one more backslash instead */
    FIELD_DOUBLED,   /* all quotes are doubled */
    FIELD_BACKSLASH, /* all quotes are escaped with a backslash */
    /* without quotes, after a blank: then a code that looks like a header is not taken for one */
    FIELD_PADDED,
    FIELD_WAYS
} way_t;

/* The ways to write a row. Each is tried only if the one before does not give the same document again. */
typedef enum { ROW_AS_SHAPE, ROW_BARE, ROW_WHERE_NEEDED, ROW_BACKSLASH, ROW_TRIES } row_t;

enum { MOST_TRIED = 6 };

struct emit_delimited {
    draft_t *draft;
    value_t values[SCHEMA_MOST_FIELDS * 2]; /* by column */
    way_t ways[SCHEMA_MOST_FIELDS * 2];
    pattern_t *patterns; /* of all fields, one after the other */
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

static bool is_null(const field_t *field, const value_t *value) {
    for (size_t i = 0; i < field->nulls.count; i++)
        if (field->nulls.items[i].length == value->length &&
            memcmp(field->nulls.items[i].text, value->printed, value->length) == 0)
            return true;
    return false;
}

/* By one pattern, in its spelling or, where that is a null value, with other letters. */
static bool print_by(const field_t *field, const pattern_t *pattern, pattern_spelling_t spelling, int64_t ms,
                     value_t *value) {
    for (unsigned i = 0; i < (pattern->varies ? PATTERN_LETTERS : 1); i++) {
        const pattern_spelling_t as = {(uint8_t)((spelling.letters + i) % PATTERN_LETTERS), spelling.zone};
        if (!(value->length = pattern_write(pattern, ms, as, value->printed)))
            return false;
        if (!is_null(field, value))
            return true;
    }
    return false;
}

static bool print_date(const emit_delimited_t *emit, const field_t *field, const shape_t *shape, int64_t ms,
                       value_t *value) {
    const size_t index = (size_t)(field - emit->draft->schema->fields), count = field->patterns.count;
    const pattern_t *patterns = emit->patterns + emit->first_pattern[index];
    const uint8_t first = shape ? shape->spelling[index] % PATTERN_MOST : 0;
    pattern_spelling_t spelling = {0, 0};
    if (shape)
        spelling = (pattern_spelling_t){shape->spelling[index] / PATTERN_MOST, shape->zone[index]};
    for (size_t i = 0; i < count; i++)
        if (print_by(field, &patterns[(first + i) % count], spelling, ms, value))
            return true;
    return false;
}

static bool print_wide(const emit_delimited_t *emit, const field_t *field, const bson_iter_t *at,
                       uint8_t spelling, value_t *value) {
    const size_t index = (size_t)(field - emit->draft->schema->fields);
    text_t *text = &emit->wide[index];
    text_free(text);
    text_append(text, "");
    if (!wide_print(field, emit->patterns + emit->first_pattern[index], at, spelling, text) || text->lacking)
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
    uint8_t spelling = shape ? shape->spelling[field - emit->draft->schema->fields] : 0;
    *value = (value_t){.text = value->printed};
    *bytes = false;
    if (!find_value(emit, field, document, &at)) {
        if (field->nulls.count) {
            const schema_text_t *null = &field->nulls.items[spelling < field->nulls.count ? spelling : 0];
            value->text = (const uint8_t *)null->text;
            value->length = null->length;
        }
        return true;
    }
    if (wide_is(field) && !BSON_ITER_HOLDS_UTF8(&at)) {
        if (print_wide(emit, field, &at, spelling, value))
            return true;
        const text_t *text = &emit->wide[field - emit->draft->schema->fields];
        if (text->lacking)
            return err_memory(err, text->lacking);
    }
    typed_t typed;
    if (typed_is(field) && typed_take(field, &at, &typed)) {
        schema_text_t text;
        typed.spelling = spelling;
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

static bool put_quoted(emit_delimited_t *emit, const value_t *value, way_t way) {
    const schema_t *schema = emit->draft->schema;
    char quote = schema->quote;
    if (!put_byte(emit->draft, quote))
        return false;
    for (size_t i = 0; i < value->length; i++) {
        /* a doubled quote after a backslash would be read as an escaped one */
        bool mixed = way == FIELD_QUOTED && schema->escape_backslash && !schema->escape_backslashes &&
                     i > 0 && value->text[i - 1] == '\\';
        bool escape = way == FIELD_BACKSLASH || mixed;
        if (schema->escape_backslashes && value->text[i] == '\\' && !put_byte(emit->draft, '\\'))
            return false;
        if (value->text[i] == (uint8_t)quote && !put_byte(emit->draft, escape ? '\\' : quote))
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
static bool needs_quotes(const schema_t *schema, const dialect_t *dialect, size_t column,
                         const value_t *value) {
    const uint16_t index = dialect->field_of[column];
    return index != DIALECT_NO_FIELD && schema->fields[index].type == TYPE_TRIMMED &&
           schema->fields[index].exact && value->length &&
           (value->text[0] == ' ' || value->text[value->length - 1] == ' ');
}

/* Does it contain quotes, delimiters, line ends, or what would be read as a part of the line end or as no record? */
static bool is_special(const emit_delimited_t *emit, const dialect_t *dialect, size_t column) {
    const value_t *value = &emit->values[column];
    char quote = emit->draft->schema->quote;
    return meets_delimiter(emit->draft->schema, dialect, value) ||
           needs_quotes(emit->draft->schema, dialect, column, value) ||
           (quote && memchr(value->text, quote, value->length)) ||
           (emit->draft->schema->multiline && memchr(value->text, '\n', value->length)) ||
           (!column && value->length && schema_is_comment(emit->draft->schema, *value->text)) ||
           (value->length ? column + 1u == dialect->columns && value->text[value->length - 1] == '\r'
                          : dialect->columns == 1);
}

static void choose_ways(emit_delimited_t *emit, const dialect_t *dialect, const shape_t *shape, row_t row) {
    const schema_t *schema = emit->draft->schema;
    bool quoting = schema->quote && row != ROW_BARE && (row != ROW_AS_SHAPE || !shape || shape->quoted);
    bool backslash = schema->escape_backslash && (row == ROW_BACKSLASH || !schema->escape_double ||
                                                  (row == ROW_AS_SHAPE && shape && shape->backslash));
    for (size_t i = 0; i < dialect->columns; i++) {
        bool quoted = quoting && is_special(emit, dialect, i);
        emit->ways[i] = !quoted ? FIELD_BARE : backslash ? FIELD_BACKSLASH : FIELD_QUOTED;
    }
}

static bool put_delimiter(draft_t *draft, const dialect_t *dialect) {
    const schema_text_t *wide = &draft->schema->wide;
    return wide->length ? draft_put(draft, wide->text, wide->length) : put_byte(draft, dialect->delimiter);
}

static bool write_row(emit_delimited_t *emit, const dialect_t *dialect) {
    emit->draft->length = 0;
    for (size_t i = 0; i < dialect->columns; i++) {
        const value_t *value = &emit->values[i];
        if (i && !put_delimiter(emit->draft, dialect))
            return false;
        if (emit->ways[i] == FIELD_PADDED && !put_byte(emit->draft, ' '))
            return false;
        bool bare = emit->ways[i] == FIELD_BARE || emit->ways[i] == FIELD_PADDED;
        if (!(bare ? draft_put(emit->draft, value->text, value->length)
                   : put_quoted(emit, value, emit->ways[i])))
            return false;
    }
    if (!draft_put(emit->draft, "", 0))
        return false;
    memset(emit->draft->bytes + emit->draft->length, 0, POOL_SLACK);
    return true;
}

/* For rows whose fields need different ways: tries all combinations for the first few doubtful fields. */
static int try_fields(emit_delimited_t *emit, const dialect_t *dialect, const bson_t *document,
                      const shape_t *shape) {
    size_t tried[MOST_TRIED], count = 0;
    uint32_t combinations = 1;
    /* the most doubtful first: quotes with backslashes, quotes, backslashes, and what may be read as a header */
    for (int doubt = 3; doubt >= 0; doubt--) {
        for (size_t i = 0; i < dialect->columns; i++) {
            const value_t *value = &emit->values[i];
            bool quote =
                emit->draft->schema->quote && memchr(value->text, emit->draft->schema->quote, value->length);
            bool backslash = memchr(value->text, '\\', value->length);
            emit->ways[i] =
                emit->draft->schema->quote && is_special(emit, dialect, i) ? FIELD_QUOTED : FIELD_BARE;
            if (2 * quote + backslash == doubt && (doubt || i == 0) && count < MOST_TRIED) {
                tried[count++] = i;
                combinations *= FIELD_WAYS;
            }
        }
    }
    for (uint32_t combination = 0; combination < combinations; combination++) {
        uint32_t rest = combination;
        for (size_t i = 0; i < count; i++, rest /= FIELD_WAYS) {
            way_t way = (way_t)(rest % FIELD_WAYS);
            if (!emit->draft->schema->quote && way != FIELD_PADDED)
                way = FIELD_BARE;
            emit->ways[tried[i]] = way;
        }
        int same =
            write_row(emit, dialect) ? emit->draft->reads_back(emit->draft, dialect, document, shape) : -1;
        if (same)
            return same;
    }
    return 0;
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
    int same = 0;
    for (row_t row = ROW_AS_SHAPE; !same && row < ROW_TRIES; row++) {
        choose_ways(emit, dialect, shape, row);
        same = write_row(emit, dialect) ? emit->draft->reads_back(emit->draft, dialect, document, shape) : -1;
    }
    return same ? same : try_fields(emit, dialect, document, shape);
}
