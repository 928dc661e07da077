/* Writes the values that are not plain: texts with care, null values, rare spellings, and what does not fit. */
#include "base/chars.h"
#include "format/delimited/delimited_inner.h"
#include "format/schema/schema.h"
#include "format/values/convert.h"

/* Text that is UTF-8 and stays so. */
static bool stays(const delimited_t *reader, const uint8_t *text, size_t length, bool high) {
    return !high || (encoding_keeps_utf8(reader->schema->encoding) && utf8_valid(text, length));
}

/* Writes the text of a field, or what is not the number or date that it should be; bytes that are no text as binary. */
static uint8_t *put_text(delimited_t *reader, uint8_t *out, const op_t *op, const uint8_t *text,
                         size_t length, bool high) {
    if (stays(reader, text, length, high))
        return bsonw_string(delimited_put_head_as(out, op, 0x02), text, length);
    if (encoding_converts(reader->schema->encoding, text, length)) {
        out = delimited_put_head_as(out, op, 0x02);
        size_t bytes = encoding_to_utf8(reader->schema->encoding, out + 4, text, length);
        out = bsonw_int32(out, (int32_t)bytes + 1) + bytes;
        *out = 0;
        return out + 1;
    }
    out = bsonw_int32(delimited_put_head_as(out, op, 0x05), (int32_t)length);
    *out++ = reader->schema->fields[op->field].type == TYPE_BINARY ? VALUE_NO_BINARY : BSON_SUBTYPE_BINARY;
    memcpy(out, text, length);
    return out + length;
}

static inline bool is_absent(const op_t *op, encoding_t encoding, const uint8_t *text, size_t length) {
    if (length == 0)
        return op->null_kinds & NULLS_EMPTY;
    if (length == 4 && (op->null_kinds & NULLS_WORD) && memcmp(text, "NULL", 4) == 0)
        return true;
    return (op->null_kinds & NULLS_OTHER) && words_find(op->nulls, encoding, text, length) >= 0;
}

static uint8_t *put_value(delimited_t *reader, uint8_t *out, const op_t *op, const uint8_t *text,
                          size_t length, bool high) {
    uint8_t *after = value_read(&reader->schema->fields[op->field], reader->values,
                                high ? reader->schema->encoding : ENCODING_NONE, text, length, out,
                                delimited_put_head(out, op, false));
    reader->failed |= values_failed(reader->values);
    return after;
}

/* The less usual conversions. NULL: the text is not such a value. */
static uint8_t *put_rare(delimited_t *reader, uint8_t *out, const op_t *op, const uint8_t *text,
                         size_t length, bool high, shape_t *shape) {
    int64_t whole;
    int pattern;
    switch (op->code) {
    case OP_INT:
    case OP_LONG:
        return convert_int(text, length, &whole) ? delimited_put_int(out, op, whole, false) : NULL;
    case OP_EXACT:
    case OP_EXACT_LONG:
        return convert_int(text, length, &whole) && convert_is_exact(text, length)
                   ? delimited_put_exact(out, op, whole)
                   : NULL;
    case OP_ISO_DATE:
    case OP_DATE:
        if ((pattern = value_date(&reader->schema->fields[op->field], text, length, &whole)) < 0)
            return NULL;
        if (shape)
            shape->choice[op->field] = (uint8_t)pattern;
        return bsonw_int64(delimited_put_head(out, op, false), whole);
    default:
        return put_value(reader, out, op, text, length, high);
    }
}

__attribute__((noinline)) bool delimited_put_bad(delimited_t *reader, uint8_t **out, const op_t *op,
                                                 const bad_t *bad) {
    reader->bad_values++;
    reader->bad_of[bad->counter]++;
    switch (reader->schema->bad_value) {
    case BAD_VALUE_NULL:
        *out = delimited_put_head_as(*out, op, 0x0A);
        return true;
    case BAD_VALUE_REJECT:
        if (!reader->refused) {
            reader->refused = bad->field;
            reader->refused_text = bad->text;
            reader->refused_length = bad->length;
            reader->refused_column = bad->column;
        }
        return true;
    case BAD_VALUE_TEXT:
    case BAD_VALUES:
        break;
    }
    return false;
}

/* What is no value of the field's type. */
static uint8_t *put_bad(delimited_t *reader, uint8_t *out, const op_t *op, const uint8_t *text, size_t length,
                        bool high) {
    const bad_t bad = {.counter = op->field,
                       .field = &reader->schema->fields[op->field],
                       .text = text,
                       .length = length,
                       .column = reader->dialect->column_of[op->field]};
    return delimited_put_bad(reader, &out, op, &bad) ? out : put_text(reader, out, op, text, length, high);
}

/* Of bytes that are not kept as they are: is it sure which text they are? */
static bool is_text(encoding_t encoding, const uint8_t *text, size_t length) {
    return encoding_converts(encoding, text, length) && !encoding_doubts(encoding, text, length);
}

uint8_t *delimited_put_unusual(delimited_t *reader, uint8_t *out, const op_t *op, const uint8_t *text,
                               size_t length, bool high, shape_t *shape) {
    const encoding_t encoding = high ? reader->schema->encoding : ENCODING_NONE;
    if (is_absent(op, encoding, text, length)) {
        int null = shape ? words_find(op->nulls, encoding, text, length) : 0;
        if (shape)
            shape->choice[op->field] = (uint8_t)(null < 0 ? 0 : null);
        return out;
    }
    if (op->code != OP_TEXT && op->code != OP_TRIMMED) {
        uint8_t *after = put_rare(reader, out, op, text, length, high, shape);
        return after ? after : put_bad(reader, out, op, text, length, high);
    }
    if (stays(reader, text, length, high))
        return bsonw_string(delimited_put_head_as(out, op, 0x02), text, length);
    return is_text(reader->schema->encoding, text, length) ? put_text(reader, out, op, text, length, high)
                                                           : put_bad(reader, out, op, text, length, high);
}
