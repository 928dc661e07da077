/* Subdocuments, and keys that are made from several fields. */
#include "base/chars.h"
#include "format/delimited/delimited_inner.h"
#include "format/record/bsonw.h"
#include "format/schema/schema.h"
#include "format/values/convert.h"
#include "format/values/hex.h"

#include <openssl/evp.h>

uint8_t *delimited_put_group(uint8_t *out, const op_t *op, uint8_t ***group) {
    if (op->code == OP_OPEN) {
        *(*group)++ = out;
        return delimited_put_head(out, op, false) + 4;
    }
    uint8_t *head = *--*group; // NOLINT(clang-analyzer-core.uninitialized.Assign): the plan has opened it
    uint8_t *body = head + strlen((const char *)head + 1) + 2;
    if (out == body + 4)
        return head;
    *out++ = 0;
    bsonw_int32(body, (int32_t)(out - body));
    return out;
}

/* The text of a field as it would be under the field's own key. False: the file has no such column. */
static bool value_of(const delimited_t *reader, const bounds_t *bounds, fields_t fields, uint16_t index,
                     span_t *value) {
    const uint16_t column = reader->dialect->column_of[index];
    if (column == DIALECT_NO_FIELD)
        return false;
    *value = delimited_text_of(reader, bounds, fields, column);
    const field_t *field = &reader->schema->fields[index];
    if (field->type == TYPE_TRIMMED &&
        !(field->exact && delimited_is_quoted(reader, bounds, fields, column, value->text))) {
        while (value->length && value->text[value->length - 1] == ' ')
            value->length--;
        while (value->length && value->text[0] == ' ')
            value->text++, value->length--;
    }
    return true;
}

static bool is_null(const field_t *field, encoding_t encoding, const span_t *value) {
    return words_find(&field->nulls, encoding, value->text, value->length) >= 0;
}

/* The number that a field has become. False: it is none. */
static bool number_of(const field_t *field, const span_t *value, double *number) {
    uint8_t read[TYPES_VALUE], type;
    const bool is = value_read(field, NULL, ENCODING_NONE, value->text, value->length, &type, read);
    memcpy(number, read, sizeof *number);
    return is;
}

/* What is made does not fit its type. text: why, or NULL; its element ends at `end`. */
static uint8_t *put_bad_made(delimited_t *reader, uint8_t *out, const op_t *op, const uint8_t *text,
                             size_t length, uint8_t *end) {
    bad_t bad = {.counter = reader->schema->field_count + op->field,
                 .field = &reader->schema->made[op->field].field,
                 .length = length < sizeof reader->made_text ? length : sizeof reader->made_text};
    if (text && !reader->refused) /* it stays behind the record, of which it is no part */
        bad.text = memcpy(reader->made_text, text, bad.length);
    return delimited_put_bad(reader, &out, op, &bad) ? out : end;
}

uint8_t *delimited_put_point(delimited_t *reader, const bounds_t *bounds, fields_t fields, uint8_t *out,
                             const op_t *op) {
    const make_t *made = &reader->schema->made[op->field];
    double place[2];
    size_t missing = 0;
    for (size_t i = 0; i < 2; i++) {
        const field_t *field = &reader->schema->fields[made->from[i].fields[0]];
        span_t value;
        if (!value_of(reader, bounds, fields, made->from[i].fields[0], &value) ||
            is_null(field, ENCODING_NONE, &value))
            missing++;
        else if (!number_of(field, &value, &place[i]))
            return out; /* that value is counted itself */
    }
    if (!missing && bsonw_is_on_earth(place[0], place[1]))
        return bsonw_point(delimited_put_head(out, op, false), place[0], place[1]);
    return missing == 2 ? out : put_bad_made(reader, out, op, NULL, 0, out);
}

/* Writes the values of an item, one after the other. NULL: the item is not there. Fields that are joined are always
 * there, whatever they contain. */
static uint8_t *put_item(const delimited_t *reader, const bounds_t *bounds, fields_t fields, bool high,
                         uint8_t *out, const make_t *made, size_t item) {
    const size_t count = made->from[item].count;
    const encoding_t encoding = high ? reader->schema->encoding : ENCODING_NONE;
    for (size_t i = 0; i < count; i++) {
        const uint16_t index = made->from[item].fields[i];
        span_t value;
        if (!value_of(reader, bounds, fields, index, &value) ||
            (count == 1 && is_null(&reader->schema->fields[index], encoding, &value)))
            return NULL;
        if (high && encoding_converts(encoding, value.text, value.length)) {
            out += encoding_to_utf8(encoding, out, value.text, value.length);
        } else {
            memcpy(out, value.text, value.length);
            out += value.length;
        }
    }
    return out;
}

/* Puts what the format makes of a text that is there up to `end`; nothing if it is no text. */
static uint8_t *put_made(delimited_t *reader, uint8_t *out, const op_t *op, uint8_t *text, uint8_t *end,
                         bool high) {
    const size_t length = (size_t)(end - text);
    if (high && !utf8_valid(text, length))
        return out;
    switch (made_finish(&reader->schema->made[op->field], out, text, length, &end)) {
    case MADE_VALUE:
        return end;
    case MADE_BAD:
        return put_bad_made(reader, out, op, text, (size_t)(end - text) - 1, end);
    case MADE_FAILED:
        reader->failed = true;
        break;
    case MADE_NOTHING:
        break;
    }
    return out;
}

uint8_t *delimited_put_first(delimited_t *reader, const bounds_t *bounds, fields_t fields, bool high,
                             uint8_t *out, const op_t *op) {
    const make_t *made = &reader->schema->made[op->field];
    for (size_t i = 0; i < made->from_count; i++) {
        const schema_text_t *with = &made->from[i].with;
        uint8_t *value = delimited_put_head(out, op, false) + 4;
        memcpy(value, with->text ? with->text : "", with->length);
        uint8_t *end = put_item(reader, bounds, fields, high, value + with->length, made, i);
        if (end)
            return put_made(reader, out, op, value, end, high);
    }
    return out;
}

uint8_t *delimited_put_joined(delimited_t *reader, const bounds_t *bounds, fields_t fields, bool high,
                              uint8_t *out, const op_t *op) {
    const make_t *made = &reader->schema->made[op->field];
    uint8_t *const value = delimited_put_head(out, op, false) + 4, *end = value;
    bool any = false;
    for (size_t i = 0; i < made->from_count; i++) {
        const schema_text_t *with = made->from[i].with.length ? &made->from[i].with : &made->text;
        const size_t before = any || with != &made->text ? with->length : 0;
        memcpy(end, with->text ? with->text : "", before);
        uint8_t *after = put_item(reader, bounds, fields, high, end + before, made, i);
        any |= after != NULL;
        end = after ? after : end;
    }
    return any ? put_made(reader, out, op, value, end, high) : out;
}

static uint8_t *put_file(const delimited_t *reader, uint8_t *out, const op_t *op) {
    const uint8_t *text = (const uint8_t *)reader->file;
    const bool valid = utf8_valid(text, reader->file_length);
    out = delimited_put_head_as(out, op, valid ? 0x02 : 0x05);
    out = bsonw_int32(out, (int32_t)(reader->file_length + valid));
    if (!valid)
        *out++ = BSON_SUBTYPE_BINARY;
    memcpy(out, text, reader->file_length);
    out += reader->file_length;
    *out = 0;
    return out + valid;
}

uint8_t *delimited_put_given(const delimited_t *reader, uint8_t *out, const op_t *op) {
    if (op->code == OP_FILE)
        return put_file(reader, out, op);
    return (uint8_t *)memcpy(out, op->long_head, op->constant_size) + op->constant_size;
}

/* Of letters only those of ASCII. False: no memory. */
static bool change(text_change_t how, uint8_t *text, size_t *length) {
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned size;
    for (size_t i = 0; how == TEXT_LOWER && i < *length; i++)
        if (text[i] >= 'A' && text[i] <= 'Z')
            text[i] ^= 0x20;
    if (how != TEXT_SHA256)
        return true;
    if (!EVP_Digest(text, *length, digest, &size, EVP_sha256(), NULL))
        return false;
    *length = hex_print(digest, size, text);
    return true;
}

static void trim(uint8_t *text, size_t *length) {
    size_t blanks = 0;
    while (*length && text[*length - 1] == ' ')
        --*length;
    while (blanks < *length && text[blanks] == ' ')
        blanks++;
    *length -= blanks;
    memmove(text, text + blanks, *length);
}

made_result_t made_finish(const make_t *made, uint8_t *type, uint8_t *text, size_t length, uint8_t **end) {
    const field_t *field = &made->field;
    const bool is_text = field->type == TYPE_TEXT || field->type == TYPE_TRIMMED;
    uint8_t value[TYPES_VALUE];
    const uint8_t *after = NULL;
    if (!change(made->change, text, &length))
        return MADE_FAILED;
    if (field->type == TYPE_TRIMMED)
        trim(text, &length);
    if (field->nulls.count && words_find(&field->nulls, ENCODING_NONE, text, length) >= 0)
        return MADE_NOTHING;
    if (!is_text && (after = value_read(field, NULL, ENCODING_NONE, text, length, type, value))) {
        memcpy(text - 4, value, (size_t)(after - value));
        *end = text - 4 + (after - value);
        return MADE_VALUE;
    }
    *type = BSON_TYPE_UTF8;
    bsonw_int32(text - 4, (int32_t)length + 1);
    text[length] = 0;
    *end = text + length + 1;
    return is_text ? MADE_VALUE : MADE_BAD;
}
