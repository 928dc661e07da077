#include "format/fixed/fixed_ops.h"
#include "base/chars/utf8.h"
#include "format/record/bsonw.h"
#include "format/values/calendar.h"

/* ---- values ---- */

static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

static inline uint8_t *put_head(const fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op) {
    if (__builtin_expect(op->head_size > FIXED_HEAD, 0))
        memcpy(out, encoder->plan->rests[op->rest].long_head, op->head_size);
    else
        memcpy(out, op->head, FIXED_HEAD);
    return out + op->head_size;
}

static inline uint8_t *put_text(fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op,
                                const uint8_t *text, size_t length) {
    uint8_t *type = out;
    out = put_head(encoder, out, op);
    *type = 0x02;
    if (__builtin_expect(encoder->high && !utf8_valid(text, length), 0)) {
        *type = 0x05;
        encoder->kept_as_text++;
        return bsonw_binary(out, text, length);
    }
    return bsonw_string(out, text, length);
}

/* The length of a code without the blanks after it, which only text has. */
static inline size_t code_length(const fixed_encoder_t *encoder, const uint8_t *text, size_t width) {
    if (encoder->high && !utf8_valid(text, width))
        return width;
    while (width && text[width - 1] == ' ')
        width--;
    return width;
}

/* Writes a value that is not the number that it should be. */
static uint8_t *put_odd(fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op, const uint8_t *text) {
    const uint64_t kept = encoder->kept_as_text;
    out = put_text(encoder, out, op, text, op->width);
    encoder->kept_as_text = kept + 1;
    return out;
}

typedef struct {
    uint32_t digits; /* of at most 8 characters */
    bool minus;
} whole_t;

/* Reads a number that is written exactly as it would be printed; a zero may have a minus only before a point. */
static inline bool read_whole(const fixed_op_t *op, const uint8_t *text, whole_t *whole) {
    uint64_t word = digits_load(text + (op->sign == SIGN_ALWAYS)) ^ 0x3030303030303030ull;
    whole->minus = false;
    if (op->sign != SIGN_NEVER) {
        whole->minus = *text == '-';
        if (op->sign == SIGN_ALWAYS && !whole->minus && *text != '+')
            return false;
        if (op->sign == SIGN_MINUS && whole->minus)
            word &= ~0xFFull; /* treated as a zero */
    }
    word = op->shift < 64 ? word << op->shift : 0;
    whole->digits = digits_value(word);
    return digits_only(word) && op->shift < 64;
}

static inline uint8_t *put_int(fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op,
                               const uint8_t *text) {
    whole_t whole;
    if (__builtin_expect(!read_whole(op, text, &whole) || (whole.minus && !whole.digits), 0))
        return put_odd(encoder, out, op, text);
    int32_t value = (int32_t)whole.digits * (op->divide < 0 ? 10 : 1);
    return bsonw_int32(put_head(encoder, out, op), whole.minus ? -value : value);
}

static inline double number_of(const fixed_op_t *op, whole_t whole) {
    double value = (double)(int32_t)whole.digits / powers[op->divide];
    return whole.minus ? -value : value;
}

static inline uint8_t *put_number(fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op,
                                  const uint8_t *text) {
    whole_t whole;
    if (__builtin_expect(!read_whole(op, text, &whole), 0))
        return put_odd(encoder, out, op, text);
    return bsonw_double(put_head(encoder, out, op), number_of(op, whole));
}

/* Writes how many characters follow, only if the record says it wrong. */
static uint8_t *put_length(fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op,
                           const uint8_t *text) {
    whole_t whole;
    if (!read_whole(op, text, &whole))
        return put_odd(encoder, out, op, text);
    if (whole.digits == encoder->length - encoder->plan->schema->fixed)
        return out;
    return bsonw_int32(put_head(encoder, out, op), (int32_t)whole.digits);
}

static uint8_t *put_counted(fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op,
                            const uint8_t *text) {
    uint32_t length = 0;
    for (size_t i = 0; i < op->width; i++)
        length = length * 10 + (uint32_t)(text[i] - '0');
    return put_text(encoder, out, op, text + op->width, length);
}

/* ---- made keys ---- */

static bool is_absent(const field_t *field, const uint8_t *text) {
    return field->nulls.count && memcmp(field->nulls.items[0].text, text, field->width) == 0;
}

/* The bytes of the field under its own key. */
static size_t value_length(const fixed_encoder_t *encoder, const field_t *field) {
    return field->type == TYPE_TRIMMED ? code_length(encoder, encoder->record + field->offset, field->width)
                                       : field->width;
}

/* Writes the first item that is there, after its prefix. */
static __attribute__((noinline)) uint8_t *put_first(fixed_encoder_t *encoder, uint8_t *out,
                                                    const fixed_op_t *op) {
    const schema_t *schema = encoder->plan->schema;
    const make_t *made = &schema->made[op->made];
    for (size_t i = 0; i < made->from_count; i++) {
        const schema_text_t *with = &made->from[i].with;
        uint8_t *text = put_head(encoder, out, op) + 4, *end = text;
        /* fields that are joined are always there, whatever they contain */
        bool there = made->from[i].count > 1;
        memcpy(end, with->text ? with->text : "", with->length);
        end += with->length;
        for (size_t j = 0; j < made->from[i].count; j++) {
            const field_t *field = &schema->fields[made->from[i].fields[j]];
            there |= !is_absent(field, encoder->record + field->offset);
            memcpy(end, encoder->record + field->offset, field->width);
            end += value_length(encoder, field);
        }
        if (!there)
            continue;
        if (encoder->high && !utf8_valid(text, (size_t)(end - text)))
            return out;
        bsonw_int32(text - 4, (int32_t)(end - text) + 1);
        *end = 0;
        return end + 1;
    }
    return out;
}

/* From YYYYMMDD and hhmm; 2400 is 0000 of the next day. */
static __attribute__((noinline)) uint8_t *put_utc(fixed_encoder_t *encoder, uint8_t *out,
                                                  const fixed_op_t *op) {
    const make_t *made = &encoder->plan->schema->made[op->made];
    const uint8_t *date = encoder->record + encoder->plan->schema->fields[made->from[0].fields[0]].offset;
    const uint8_t *time = encoder->record + encoder->plan->schema->fields[made->from[1].fields[0]].offset;
    uint64_t day_text = digits_load(date), word = day_text ^ 0x3030303030303030ull;
    if (day_text != encoder->day_text) {
        uint32_t digits = digits_value(word);
        if (!digits_only(word) ||
            !calendar_days(digits / 10000, digits / 100 % 100, digits % 100, &encoder->day))
            return out;
        encoder->day_text = day_text;
    }
    word = (digits_load(time) ^ 0x3030303030303030ull) << 32;
    uint32_t hhmm = digits_value(word);
    if (!digits_only(word) || ((hhmm >= 2400 || hhmm % 100 >= 60) && hhmm != 2400))
        return out;
    int64_t minutes = (int64_t)encoder->day * 1440 + hhmm / 100 * 60 + hhmm % 100;
    out = bsonw_int64(put_head(encoder, out, op), minutes * 60000);
    if (hhmm == 2400) {
        memcpy(out, "\x08hour24\0\x01", 9); // NOLINT(bugprone-not-null-terminated-result): BSON
        out += 9;
    }
    encoder->made |= 1u << op->made;
    return out;
}

/* Writes a GeoJSON point if both coordinates are there and in range. */
static __attribute__((noinline)) uint8_t *put_point(fixed_encoder_t *encoder, uint8_t *out,
                                                    const fixed_op_t *op) {
    const make_t *made = &encoder->plan->schema->made[op->made];
    double values[2];
    for (size_t i = 0; i < 2; i++) {
        const field_t *field = &encoder->plan->schema->fields[made->from[i].fields[0]];
        const uint8_t *text = encoder->record + field->offset;
        fixed_op_t number;
        fixed_plan_number(&number, field);
        whole_t whole;
        if (is_absent(field, text) || !read_whole(&number, text, &whole))
            return out;
        values[i] = number_of(&number, whole);
    }
    if (!bsonw_is_on_earth(values[0], values[1]))
        return out;
    encoder->made |= 1u << op->made;
    return bsonw_point(put_head(encoder, out, op), values[0], values[1]);
}

/* ---- ops ---- */

/* A subdocument that is being written. */
typedef struct {
    uint8_t *head, *body;
} group_t;

/* Opens or closes a subdocument; an empty one is removed again. */
static inline uint8_t *put_group(const fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op,
                                 group_t **group) {
    if (op->code == FIXED_OPEN) {
        uint8_t *body = put_head(encoder, out, op);
        *(*group)++ = (group_t){out, body};
        return body + 4;
    }
    const group_t *closed = --*group;
    if (out == closed->body + 4) // NOLINT(clang-analyzer-core.UndefinedBinaryOperatorResult)
        return closed->head;
    *out++ = 0;
    bsonw_int32(closed->body, (int32_t)(out - closed->body));
    return out;
}

uint8_t *fixed_ops_run(fixed_encoder_t *encoder, const fixed_ops_t *ops, const uint8_t *base, uint8_t *out) {
    group_t groups[FIXED_DEPTH], *group = groups;
    for (const fixed_op_t *op = ops->ops, *end = ops->end; op < end; op++) {
        const uint8_t *text = base + op->offset;
        uint64_t word = digits_load(text);
        if ((word & op->mask) == op->null_bytes &&
            (op->width <= 8 || is_absent(encoder->plan->rests[op->rest].field, text)))
            continue;
        if (__builtin_expect(op->unless & encoder->made, 0))
            continue;
        switch ((fixed_code_t)op->code) {
        case FIXED_CHARACTER:
            if (__builtin_expect(word & 0x80, 0)) {
                out = put_text(encoder, out, op, text, 1);
                break;
            }
            out = put_head(encoder, out, op);
            bsonw_int64(out, (int64_t)(2 | (word & 0x7F) << 32));
            out += 6;
            break;
        case FIXED_TEXT:
            out = put_text(encoder, out, op, text, op->width);
            break;
        case FIXED_CODE:
            out = put_text(encoder, out, op, text, code_length(encoder, text, op->width));
            break;
        case FIXED_INT:
            out = put_int(encoder, out, op, text);
            break;
        case FIXED_NUMBER:
            out = put_number(encoder, out, op, text);
            break;
        case FIXED_COUNTED:
            out = put_counted(encoder, out, op, text);
            break;
        case FIXED_LENGTH:
            out = put_length(encoder, out, op, text);
            break;
        case FIXED_OPEN:
        case FIXED_CLOSE:
            out = put_group(encoder, out, op, &group);
            break;
        case FIXED_FIRST:
            out = put_first(encoder, out, op);
            break;
        case FIXED_UTC:
            out = put_utc(encoder, out, op);
            break;
        case FIXED_POINT:
            out = put_point(encoder, out, op);
            break;
        }
    }
    return out;
}
