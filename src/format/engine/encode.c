/* What the loop of encode.h leaves to functions: values that are not usual, and keys that are made. */
#include "format/engine/encode.h"
#include "base/threads.h"
#include "format/values/values.h"

#include <openssl/evp.h>
#include <stdio.h>

bool engine_init(engine_t *engine, const schema_t *schema, bad_values_t *bad, record_text_t *in) {
    *engine = (engine_t){.schema = schema, .bad = bad, .in = in};
    return (engine->values = values_new());
}

void engine_free(engine_t *engine) {
    program_free(&engine->program);
    values_free(engine->values);
    text_free(&engine->text);
}

void put_long_head(const engine_t *engine, uint8_t *out, const op_t *op) {
    out[0] = op->head[0];
    memcpy(out + 1, op_rest(&engine->program, op)->key, op->head_size - 2u);
    out[op->head_size - 1] = 0;
}

/* ---- unusual values ---- */

/* Text that is UTF-8 and stays so. */
static bool stays(const engine_t *engine, const uint8_t *text, size_t length) {
    return !engine->high || (encoding_keeps_utf8(engine->schema->encoding) && utf8_valid(text, length));
}

/* Writes the text of a field, or what is not the number or date that it should be; bytes that are no text as binary. sure:
 * NULL where it is not sure which text the bytes are. */
static uint8_t *put_text(const engine_t *engine, uint8_t *out, const op_t *op, const uint8_t *text,
                         size_t length, bool sure) {
    const encoding_t encoding = engine->schema->encoding;
    if (stays(engine, text, length))
        return bsonw_string(put_head_as(engine, out, op, BSON_TYPE_UTF8), text, length);
    if (encoding_converts(encoding, text, length) && !(sure && encoding_doubts(encoding, text, length))) {
        out = put_head_as(engine, out, op, BSON_TYPE_UTF8);
        const size_t bytes = encoding_to_utf8(encoding, out + 4, text, length);
        out = bsonw_int32(out, (int32_t)bytes + 1) + bytes;
        *out = 0;
        return out + 1;
    }
    if (sure)
        return NULL;
    engine->bad->binary = true;
    uint8_t *const value = put_head_as(engine, out, op, BSON_TYPE_BINARY);
    out = bsonw_binary(value, text, length);
    if (op_rest(&engine->program, op)->field->type == TYPE_BINARY)
        value[4] = VALUE_NO_BINARY;
    return out;
}

/* Notes a value that does not fit its type, and writes what stands in for it: *out moves on after that. False: its text
 * does. text: for the sentence; NULL: it is a point. */
static __attribute__((noinline)) bool put_instead(engine_t *engine, uint8_t **out, const op_t *op,
                                                  const uint8_t *text, size_t length) {
    const op_rest_t *rest = op_rest(&engine->program, op);
    bad_values_note(engine->bad, rest->counted, 1, engine->record);
    if (engine->in->bad_value == BAD_VALUE_NULL)
        *out = put_head_as(engine, *out, op, BSON_TYPE_NULL);
    if (engine->in->bad_value == BAD_VALUE_REJECT && !engine->refused) {
        engine->refused = op->at + 1u;
        if (text)
            value_misfit(rest->field, text, length, engine->reason);
        else
            snprintf(
                engine->reason, sizeof engine->reason,
                "there is no point for '%.80s': a latitude from -90 to 90 and a longitude from -180 to 180 "
                "were expected",
                rest->field->name);
    }
    return engine->in->bad_value != BAD_VALUE_TEXT;
}

static bool is_absent(const engine_t *engine, const op_t *op, const uint8_t *text, size_t length) {
    if (length == 0)
        return op->flags & NULLS_EMPTY;
    return op->flags & (NULLS_WORD | NULLS_OTHER) &&
           words_find(&op_rest(&engine->program, op)->field->nulls,
                      engine->high ? engine->schema->encoding : ENCODING_NONE, text, length) >= 0;
}

uint8_t *encode_unusual(engine_t *engine, const op_t *op, const uint8_t *text, size_t length, uint8_t *out,
                        shape_t *shape) {
    const op_rest_t *rest = op_rest(&engine->program, op);
    const field_t *field = rest->field;
    const encoding_t encoding = engine->high ? engine->schema->encoding : ENCODING_NONE;
    value_text_t value = {field, text, length, encoding, .values = engine->values};
    uint8_t *after = NULL;
    int64_t whole;
    if (is_absent(engine, op, text, length)) {
        value.choice = shape ? (uint8_t)words_find(&field->nulls, encoding, text, length) : 0;
        after = out;
    } else if (field->type == TYPE_TEXT || field->type == TYPE_TRIMMED) {
        after = put_text(engine, out, op, text, length, true);
    } else if (op->code == OP_INT) {
        if (convert_int(text, length, &whole) &&
            (!(op->flags & OP_IS_EXACT) || convert_is_exact(text, length)))
            after = put_int(engine, out, op, whole, false);
    } else if (op->code <= OP_ISO_DATE || op->code == OP_MADE) {
        after = value_read(&value, out, put_head(engine, out, op, false));
        engine->failed |= values_failed(engine->values);
        if (value.times == ZONE_TWICE)
            bad_values_note(engine->bad, bad_values_twice(engine->bad), 1, engine->record);
    }
    if (shape)
        shape->choice[rest->counted] = value.choice;
    if (after)
        return after;
    return put_instead(engine, &out, op, text, length) ? out : put_text(engine, out, op, text, length, false);
}

/* ---- made keys ---- */

/* The text of a field as it would be under the field's own key. False: the file has no such column, or the text is a null
 * value, where these count. */
static bool find_text(const engine_t *engine, const spans_t *spans, spans_kind_t kind, uint16_t index,
                      bool nulls, span_t *value) {
    const schema_t *schema = engine->schema;
    const field_t *field = &schema->fields[index];
    size_t length;
    if (kind == SPANS_FIXED) {
        value->text = engine->fixed + field->offset;
        length =
            field->type == TYPE_TRIMMED ? trimmed_width(engine, value->text, field->width) : field->width;
        value->length = (uint32_t)length;
        return !(nulls && is_null_of_width(field, value->text));
    }
    const uint16_t column = engine->dialect->column_of[index];
    if (column == DIALECT_NO_FIELD)
        return false;
    *value = text_of_column(spans, kind, column);
    length = value->length;
    if (field->type == TYPE_TRIMMED && !(field->exact && is_quoted(spans, kind, column)))
        blanks_trim(&value->text, &length);
    value->length = (uint32_t)length;
    return !(nulls && words_find(&field->nulls, engine->high ? schema->encoding : ENCODING_NONE, value->text,
                                 length) >= 0);
}

/* The number that the text of a field has become. False: it is none. */
static bool number_of(const field_t *field, spans_kind_t kind, const span_t *value, double *number) {
    uint8_t read[TYPES_VALUE], type;
    if (kind == SPANS_FIXED) {
        op_t op;
        whole_t whole;
        op_set_number(&op, field);
        const bool is = read_whole(&op, value->text, &whole);
        *number = is ? double_of(&op, whole) : 0;
        return is;
    }
    value_text_t text = {.field = field, .text = value->text, .length = value->length};
    const bool is = value_read(&text, &type, read);
    memcpy(number, read, sizeof *number);
    return is;
}

static void set_made(engine_t *engine, const make_t *made) {
    engine->made |= 1u << (made - engine->schema->made);
}

/* A GeoJSON point, if both coordinates are there and in range. Fields of fixed width stay where no point can be made. */
static uint8_t *put_point(engine_t *engine, const spans_t *spans, spans_kind_t kind, const op_t *op,
                          uint8_t *out) {
    const make_t *made = op_rest(&engine->program, op)->made;
    double place[2];
    size_t missing = 0;
    for (size_t i = 0; i < 2; i++) {
        const uint16_t index = made->from[i].fields[0];
        span_t value;
        if (!find_text(engine, spans, kind, index, true, &value))
            missing++;
        else if (!number_of(&engine->schema->fields[index], kind, &value, &place[i]))
            return out; /* that value is noted itself */
    }
    if (!missing && bsonw_is_on_earth(place[0], place[1])) {
        set_made(engine, made);
        return bsonw_point(put_head(engine, out, op, false), place[0], place[1]);
    }
    if (missing < 2 && kind != SPANS_FIXED)
        put_instead(engine, &out, op, NULL, 0);
    return out;
}

/* From YYYYMMDD and hhmm; 2400 is 0000 of the next day. */
static uint8_t *put_utc(engine_t *engine, const op_t *op, uint8_t *out) {
    const make_t *made = op_rest(&engine->program, op)->made;
    const field_t *fields = engine->schema->fields;
    const uint64_t day = digits_load(engine->fixed + fields[made->from[0].fields[0]].offset) ^ DIGITS_ZEROS;
    const uint64_t time = (digits_load(engine->fixed + fields[made->from[1].fields[0]].offset) ^ DIGITS_ZEROS)
                          << 32;
    const uint32_t date = digits_value(day), hhmm = digits_value(time);
    int32_t days;
    if (!digits_only(day) || !digits_only(time) ||
        !calendar_days(date / 10000, date / 100 % 100, date % 100, &days) ||
        ((hhmm >= 2400 || hhmm % 100 >= 60) && hhmm != 2400))
        return out;
    const int64_t minutes = (int64_t)days * 1440 + hhmm / 100 * 60 + hhmm % 100;
    out = bsonw_int64(put_head(engine, out, op, false), minutes * 60000);
    if (hhmm == 2400) {
        memcpy(out, "\x08hour24\0\x01", 9); // NOLINT(bugprone-not-null-terminated-result): BSON
        out += 9;
    }
    set_made(engine, made);
    return out;
}

/* Adds the texts of an item, one after the other. False: the item is not there. Fields that are joined are always there,
 * whatever they contain. */
static bool add_item(engine_t *engine, const spans_t *spans, spans_kind_t kind, const make_t *made,
                     size_t item) {
    const size_t count = made->from[item].count;
    for (size_t i = 0; i < count; i++) {
        span_t value;
        if (!find_text(engine, spans, kind, made->from[item].fields[i], count == 1, &value))
            return false;
        encoding_append(&engine->text, engine->high ? engine->schema->encoding : ENCODING_NONE, value.text,
                        value.length);
    }
    return true;
}

/* Adds the texts of the items: of the first that is there, or of all, each after its prefix or what is between them.
 * False: none is there. */
static bool add_items(engine_t *engine, const spans_t *spans, spans_kind_t kind, const make_t *made) {
    const bool first = made->kind == MAKE_FIRST;
    text_t *text = &engine->text;
    bool any = false;
    for (size_t i = 0; i < made->from_count && !(first && any); i++) {
        const schema_text_t *prefix = &made->from[i].with,
                            *with = first || prefix->length ? prefix : &made->text;
        const size_t before = text->length;
        if (with == prefix || any)
            text_append_bytes(text, with->text ? with->text : "", with->length);
        const bool is = add_item(engine, spans, kind, made, i);
        text->length = is ? text->length : before;
        any |= is;
    }
    return any;
}

/* Of letters only those of ASCII. False: no memory. */
static bool change(text_change_t how, text_t *text) {
    uint8_t digest[EVP_MAX_MD_SIZE], printed[2 * EVP_MAX_MD_SIZE];
    unsigned size;
    for (char *at = text->bytes; how == TEXT_LOWER && at < text->bytes + text->length; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at ^= 0x20;
    if (how != TEXT_SHA256)
        return true;
    const bool ok = EVP_Digest(text->bytes, text->length, digest, &size, EVP_sha256(), NULL);
    text->length = 0;
    text_append_bytes(text, (const char *)printed, ok ? hex_print(digest, size, printed) : 0);
    return ok;
}

/* What is made from the texts of fields, of the format, or from the name of the input: written as the text of a column;
 * nothing if it is no text. */
static uint8_t *put_texts(engine_t *engine, const spans_t *spans, spans_kind_t kind, const op_t *op,
                          uint8_t *out) {
    const make_t *made = op_rest(&engine->program, op)->made;
    const bool of_input = made->kind >= MAKE_FILE, high = engine->high;
    text_t *text = &engine->text;
    text->length = 0;
    if (made->kind < MAKE_CONSTANT) {
        if (!add_items(engine, spans, kind, made))
            return out;
    } else {
        const char *file = engine->in->file ? engine->in->file : "";
        const schema_text_t given = of_input ? schema_place(made, file, strlen(file)) : made->text;
        if (!given.text)
            return out;
        text_append_bytes(text, given.text, given.length);
    }
    if (text->length + POOL_SLACK > text->room)
        text_grow(text, POOL_SLACK);
    if (text->lacking || (made->change && !change(made->change, text))) {
        engine->failed = true;
        return out;
    }
    const uint8_t *at = (const uint8_t *)text->bytes;
    size_t length = text->length;
    if ((high || of_input) && !utf8_valid(at, length))
        return of_input && made->kind != MAKE_PATH
                   ? bsonw_binary(put_head_as(engine, out, op, BSON_TYPE_BINARY), at, length)
                   : out;
    if (made->field.type == TYPE_TEXT && !op->flags)
        return bsonw_string(put_head(engine, out, op, false), at, length);
    if (made->field.type == TYPE_TRIMMED)
        blanks_trim(&at, &length);
    engine->high = false; /* it is UTF-8 */
    out = encode_unusual(engine, op, at, length, out, NULL);
    engine->high = high;
    return out;
}

uint8_t *encode_made(engine_t *engine, const spans_t *spans, spans_kind_t kind, const op_t *op,
                     uint8_t *out) {
    switch (op_rest(&engine->program, op)->made->kind) {
    case MAKE_POINT:
        return put_point(engine, spans, kind, op, out);
    case MAKE_UTC:
        return put_utc(engine, op, out);
    default:
        return put_texts(engine, spans, kind, op, out);
    }
}
