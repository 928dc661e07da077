#include "format/emit.h"
#include "base/pool.h"
#include "format/convert.h"
#include "format/pattern.h"

#include <stdlib.h>

/* The row starts POOL_SLACK bytes behind `base`, because it is read again by the record path. */
typedef struct {
    uint8_t *base, *bytes;
    size_t length, room;
} text_buffer_t;

typedef struct {
    const uint8_t *text;
    size_t length;
    bool number;
    uint8_t printed[PATTERN_LONGEST + 24];
} value_t;

struct emit {
    const schema_t *schema;
    text_buffer_t out;
    delimited_t *reader; /* reads rows back */
    uint8_t *again;      /* the document that it makes */
    size_t again_room;
    value_t values[SCHEMA_MOST_FIELDS * 2]; /* by column */
};

/* How hard a spelling tries: each is tried only when the one before does not read back. */
typedef enum { QUOTE_AS_SHAPE, QUOTE_BARE, QUOTE_WHERE_NEEDED, QUOTE_BACKSLASH, QUOTE_WAYS } quoting_t;

emit_t *emit_new(const schema_t *schema) {
    emit_t *emit = calloc(1, sizeof *emit);
    if (!emit)
        return NULL;
    emit->schema = schema;
    if ((emit->reader = delimited_new(schema)))
        return emit;
    free(emit);
    return NULL;
}

void emit_destroy(emit_t *emit) {
    if (!emit)
        return;
    free(emit->out.base);
    free(emit->again);
    delimited_destroy(emit->reader);
    free(emit);
}

static bool put(text_buffer_t *out, const void *bytes, size_t length) {
    if (out->length + length + POOL_SLACK > out->room) {
        size_t room = 2 * (out->length + length) + 4 * POOL_SLACK;
        uint8_t *larger = realloc(out->base, POOL_SLACK + room);
        if (!larger)
            return false;
        memset(larger, 0, POOL_SLACK);
        out->base = larger;
        out->bytes = larger + POOL_SLACK;
        out->room = room;
    }
    memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
    return true;
}

static bool put_byte(text_buffer_t *out, char byte) {
    return put(out, &byte, 1);
}

static bool print_date(const field_t *field, uint8_t spelling, int64_t ms, value_t *value) {
    for (size_t i = 0; i < field->as.count; i++) {
        const text_t *as = &field->as.items[(spelling + i) % field->as.count];
        pattern_t pattern;
        if (!pattern_compile(as->text, as->length, &pattern) && pattern_write(&pattern, ms, value->printed)) {
            value->length = pattern.length;
            return true;
        }
    }
    return false;
}

/* The text of one column, as it was before quotes and escapes. */
static bool print_value(const schema_t *schema, const field_t *field, const bson_t *document,
                        const shape_t *shape, value_t *value, err_t *err) {
    bson_iter_t top, at;
    uint8_t spelling = shape ? shape->spelling[field - schema->fields] : 0;
    *value = (value_t){.text = value->printed};
    if (!bson_iter_init(&top, document) || !bson_iter_find_descendant(&top, field->key, &at)) {
        if (field->absent.count) {
            const text_t *filler = &field->absent.items[spelling < field->absent.count ? spelling : 0];
            value->text = (const uint8_t *)filler->text;
            value->length = filler->length;
        }
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
        return true;
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        value->length = convert_print_int(bson_iter_as_int64(&at), value->printed);
        return true;
    case BSON_TYPE_DOUBLE:
        value->length = convert_print_number(bson_iter_double(&at), field->divide, value->printed);
        return true;
    case BSON_TYPE_DATE_TIME:
        if (print_date(field, spelling, bson_iter_date_time(&at), value))
            return true;
        return err_set(err, STATUS_INPUT, "the date in '%s' cannot be written by any pattern of the field",
                       field->key);
    default:
        return err_set(err, STATUS_INPUT, "'%s' holds a value of a type that the field %s never has",
                       field->key, field->name);
    }
}

static bool put_quoted(emit_t *emit, const value_t *value, bool backslash) {
    char quote = emit->schema->quote;
    if (!put_byte(&emit->out, quote))
        return false;
    for (size_t i = 0; i < value->length; i++) {
        /* a doubled quote behind a backslash would be read as an escaped one */
        bool escape = backslash || (emit->schema->escape_backslash && i > 0 && value->text[i - 1] == '\\');
        if (value->text[i] == (uint8_t)quote && !put_byte(&emit->out, escape ? '\\' : quote))
            return false;
        if (!put_byte(&emit->out, (char)value->text[i]))
            return false;
    }
    return put_byte(&emit->out, quote);
}

static bool write_row(emit_t *emit, const dialect_t *dialect, const shape_t *shape, quoting_t way) {
    const schema_t *schema = emit->schema;
    bool quoting = schema->quote && way != QUOTE_BARE && (way != QUOTE_AS_SHAPE || !shape || shape->quoted);
    bool backslash = schema->escape_backslash && (way == QUOTE_BACKSLASH || !schema->escape_double ||
                                                  (way == QUOTE_AS_SHAPE && shape && shape->backslash));
    emit->out.length = 0;
    for (size_t i = 0; i < dialect->columns; i++) {
        const value_t *value = &emit->values[i];
        if (i && !put_byte(&emit->out, dialect->delimiter))
            return false;
        bool special = memchr(value->text, dialect->delimiter, value->length) ||
                       (schema->quote && memchr(value->text, schema->quote, value->length));
        /* a bare one would be part of the line end, or no record at all */
        if (way == QUOTE_WHERE_NEEDED)
            special |= value->length ? value->text[value->length - 1] == '\r' : dialect->columns == 1;
        bool ok = quoting && special ? put_quoted(emit, value, backslash)
                                     : put(&emit->out, value->text, value->length);
        if (!ok)
            return false;
    }
    memset(emit->out.bytes + emit->out.length, 0, POOL_SLACK);
    return true;
}

/* Does the row read back as the document? -1: out of memory. */
static int reads_back(emit_t *emit, const dialect_t *dialect, const bson_t *document) {
    bson_iter_t first;
    record_t record;
    const text_buffer_t *row = &emit->out;
    if (memchr(row->bytes, '\n', row->length))
        return 0;
    bool with_id = bson_iter_init_find(&first, document, "_id") && BSON_ITER_HOLDS_INT64(&first);
    delimited_begin(emit->reader, dialect, row->bytes, (uint32_t)row->length, false, with_id,
                    with_id ? bson_iter_int64(&first) : 0);
    for (;;) {
        parsed_t parsed = delimited_next(emit->reader, emit->again, emit->again_room, &record, NULL);
        if (parsed == PARSED_DOCUMENT)
            return record.length == row->length && record.document_length == document->len &&
                   memcmp(emit->again, bson_get_data(document), document->len) == 0;
        if (parsed == PARSED_MEMORY)
            return -1;
        if (parsed != PARSED_FULL)
            return 0;
        free(emit->again);
        emit->again_room = 2 * (size_t)record.needed;
        if (!(emit->again = malloc(emit->again_room)))
            return -1;
    }
}

bool emit_record(emit_t *emit, const dialect_t *dialect, const bson_t *document, const shape_t *shape,
                 const uint8_t **record, size_t *length, err_t *err) {
    for (size_t i = 0; i < dialect->columns; i++) {
        uint16_t field = dialect->field_of[i];
        emit->values[i] = (value_t){.text = emit->values[i].printed};
        if (field != DIALECT_NO_FIELD &&
            !print_value(emit->schema, &emit->schema->fields[field], document, shape, &emit->values[i], err))
            return false;
    }
    for (quoting_t way = QUOTE_AS_SHAPE; way < QUOTE_WAYS; way++) {
        if (!put(&emit->out, "", 0) || !write_row(emit, dialect, shape, way))
            return err_memory(err, emit->out.length);
        int same = reads_back(emit, dialect, document);
        if (same < 0)
            return err_memory(err, emit->out.length);
        if (same) {
            *record = emit->out.bytes;
            *length = emit->out.length;
            return true;
        }
    }
    return err_set(
        err, STATUS_INPUT,
        "the values of this document cannot be written with the delimiter and quotes of this file");
}
