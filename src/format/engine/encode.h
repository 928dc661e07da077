/* encode: carries out the operations of a program (program.h) on the texts of one record.
 *
 * The loop is one inline function. Each way to find texts is an instance of it, in which `kind` is a constant: the usual
 * conversions are inline, and nothing is decided twice. What is not usual (null values, rare spellings, text beyond
 * ASCII, what does not fit, keys made from fields) is in encode.c. An engine_t belongs to one thread. */
#ifndef TIPPLE_FORMAT_ENGINE_ENCODE_H
#define TIPPLE_FORMAT_ENGINE_ENCODE_H

#include "base/chars.h"
#include "format/cut/split.h"
#include "format/engine/program.h"
#include "format/record/record.h"
#include "format/types.h"
#include "format/values/values.h"

typedef enum {
    SPANS_SIMPLE,  /* between ends, by a program that is simple */
    SPANS_BETWEEN, /* between ends */
    SPANS_SPLIT,   /* found by split_record */
    SPANS_FIXED,   /* at the offsets of the operations */
} spans_kind_t;

typedef struct {
    const uint8_t *record; /* or where the section or entry begins */
    const uint8_t *base;   /* from which ends count */
    const uint32_t *ends;
    const span_t *split;
} spans_t;

typedef struct {
    const schema_t *schema;
    program_t program;
    bad_values_t *bad;
    values_t *values;
    const dialect_t *dialect; /* of delimited records */
    record_text_t *in;
    bool failed; /* memory was out */

    /* of the record at hand: */
    const record_t *record;
    bool high;        /* it may hold bytes beyond ASCII */
    uint32_t refused; /* the column, from 1, of the first value that makes it a reject; 0: there is none */
    char reason[VALUE_MISFIT]; /* of a reject */
    const uint8_t *fixed;      /* of records of fixed width: where it begins, */
    uint32_t tail;             /* how many bytes follow its fixed part, */
    uint32_t made;             /* and which keys were made, bits by number */

    text_t text; /* that is made */
} engine_t;

/* Without a program. False: out of memory. */
bool engine_init(engine_t *engine, const schema_t *schema, bad_values_t *bad, record_text_t *in);
void engine_free(engine_t *engine);

/* Writes a value that the loop below does not know, or that is none. */
uint8_t *encode_unusual(engine_t *engine, const op_t *op, const uint8_t *text, size_t length, uint8_t *out,
                        shape_t *shape);

/* Writes a key that is made. */
uint8_t *encode_made(engine_t *engine, const spans_t *spans, spans_kind_t kind, const op_t *op, uint8_t *out);

/* ---- heads and groups ---- */

void put_long_head(const engine_t *engine, uint8_t *out, const op_t *op);

/* Writes the type and the key. is_short: the caller knows that they are at most OP_SHORT_HEAD bytes. */
INLINED uint8_t *put_head(const engine_t *engine, uint8_t *out, const op_t *op, bool is_short) {
    if (is_short)
        memcpy(out, op->head, OP_SHORT_HEAD);
    else if (__builtin_expect(op->head_size > OP_HEAD, 0))
        put_long_head(engine, out, op);
    else
        memcpy(out, op->head, OP_HEAD);
    return out + op->head_size;
}

/* The same, with another type than planned. */
static inline uint8_t *put_head_as(const engine_t *engine, uint8_t *out, const op_t *op, uint8_t type) {
    uint8_t *after = put_head(engine, out, op, false);
    *out = type;
    return after;
}

static inline uint8_t *put_close(uint8_t *out, uint8_t *body) {
    *out++ = 0;
    bsonw_int32(body, (int32_t)(out - body));
    return out;
}

/* Opens or closes a subdocument; an empty one is removed again. bodies: of those that are open. */
INLINED uint8_t *put_group(const engine_t *engine, uint8_t *out, const op_t *op, uint8_t ***bodies) {
    if (op->code == OP_OPEN)
        return (*(*bodies)++ = put_head(engine, out, op, false)) + 4;
    uint8_t *const body = *--*bodies;
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
    return out == body + 4 ? body - op->head_size : put_close(out, body);
}

INLINED uint8_t *put_int(const engine_t *engine, uint8_t *out, const op_t *op, int64_t value, bool is_short) {
    if (__builtin_expect(value == (int32_t)value && !(op->flags & OP_IS_LONG), 1))
        return bsonw_int32(put_head(engine, out, op, is_short), (int32_t)value);
    return bsonw_int64(put_head_as(engine, out, op, BSON_TYPE_INT64), value);
}

/* ---- texts by column ---- */

static inline span_t text_of_column(const spans_t *spans, spans_kind_t kind, size_t column) {
    if (kind == SPANS_SPLIT)
        return spans->split[column];
    const uint8_t *text = column ? spans->base + spans->ends[column - 1] + 1 : spans->record;
    const size_t length = (size_t)(spans->base + spans->ends[column] - text);
    return (span_t){.text = text, .length = (uint32_t)length};
}

/* Is the text of the column in quotes? */
static inline bool is_quoted(const spans_t *spans, spans_kind_t kind, size_t column) {
    return kind == SPANS_SPLIT && spans->split[column].raw_length != spans->split[column].length;
}

/* ---- texts by offset ---- */

static inline bool is_null_of_width(const field_t *field, const uint8_t *text) {
    return field->nulls.count && memcmp(field->nulls.items[0].text, text, field->width) == 0;
}

/* The length without the blanks at the end, which only text has. */
static inline size_t trimmed_width(const engine_t *engine, const uint8_t *text, size_t width) {
    if (engine->high && !utf8_valid(text, width))
        return width;
    while (width && text[width - 1] == ' ')
        width--;
    return width;
}

typedef struct {
    uint32_t digits; /* of at most 8 characters */
    bool minus;
} whole_t;

/* Reads a number that is written exactly as it would be printed; a zero may have a minus only before a point. */
static inline bool read_whole(const op_t *op, const uint8_t *text, whole_t *whole) {
    uint64_t word = digits_load(text + (op->sign == SIGN_ALWAYS)) ^ DIGITS_ZEROS;
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

static inline double double_of(const op_t *op, whole_t whole) {
    const double value = (double)(int32_t)whole.digits / convert_powers[op->divide];
    return whole.minus ? -value : value;
}

/* ---- the loop ---- */

/* The usual values of columns. NULL: it is none of them; *text and *length then are without blanks that do not count. */
INLINED uint8_t *encode_column(const engine_t *engine, const op_t *op, const uint8_t **text, size_t *length,
                               uint8_t *out, bool is_short, bool keeps_blanks) {
    uint64_t digits;
    int64_t ms;
    double number;
    switch (op->code) {
    case OP_INT:
        if (__builtin_expect(!convert_digits(*text, *length, &digits), 0) ||
            ((op->flags & OP_IS_EXACT) && **text == '0' && *length > 1))
            return NULL;
        return put_int(engine, out, op, (int64_t)digits, is_short);
    case OP_NUMBER:
        if (!convert_kept(*text, *length, op->divide, &number) ||
            __builtin_expect((op->flags & OP_IS_EXACT) && !convert_is_exact(*text, *length), 0))
            return NULL;
        return bsonw_double(put_head(engine, out, op, is_short), number);
    case OP_ISO_DATE:
        if (__builtin_expect(*length != 10 || !calendar_iso(*text, &ms), 0))
            return NULL;
        return bsonw_int64(put_head(engine, out, op, is_short), ms);
    case OP_TRIMMED:
        if (!keeps_blanks)
            blanks_trim(text, length);
        /* fall through */
    case OP_TEXT:
        /* empty, perhaps NULL, perhaps not UTF-8 */
        if (__builtin_expect(*length == 0 || engine->high || (*length == 4 && (op->flags & NULLS_WORD)), 0))
            return NULL;
        return bsonw_string(put_head(engine, out, op, is_short), *text, *length);
    default:
        return NULL;
    }
}

/* The usual values by offset. NULL: it is none of them. */
INLINED uint8_t *encode_width(const engine_t *engine, const op_t *op, const uint8_t **text, size_t *length,
                              uint8_t *out) {
    whole_t whole;
    int32_t value;
    switch (op->code) {
    case OP_WHOLE:
        if (__builtin_expect(!read_whole(op, *text, &whole) || (whole.minus && !whole.digits), 0))
            return NULL;
        value = (int32_t)whole.digits * (op->divide < 0 ? 10 : 1);
        return bsonw_int32(put_head(engine, out, op, false), whole.minus ? -value : value);
    case OP_SCALED:
        if (__builtin_expect(!read_whole(op, *text, &whole), 0))
            return NULL;
        return bsonw_double(put_head(engine, out, op, false), double_of(op, whole));
    case OP_LENGTH:
        if (!read_whole(op, *text, &whole))
            return NULL;
        return whole.digits == engine->tail
                   ? out
                   : bsonw_int32(put_head(engine, out, op, false), (int32_t)whole.digits);
    case OP_COUNTED:
        *length = 0;
        for (const uint8_t *end = *text + op->width; *text < end; ++*text)
            *length = *length * 10 + (size_t)(**text - '0');
        break;
    case OP_TRIMMED:
        *length = trimmed_width(engine, *text, *length);
        break;
    default:
        break;
    }
    if (__builtin_expect(engine->high, 0))
        return NULL;
    return bsonw_string(put_head(engine, out, op, false), *text, *length);
}

/* Writes the elements of the document. `kind` must be a constant. shape: of records that are split, or NULL. */
INLINED uint8_t *encode(engine_t *engine, const ops_t *ops, const spans_t *spans, spans_kind_t kind,
                        uint8_t *out, shape_t *shape) {
    const bool simple = kind == SPANS_SIMPLE;
    const uint8_t *next = spans->record;
    const uint32_t *ends = spans->ends;
    uint8_t *open[PROGRAM_DEPTH], **bodies = open;
    for (const op_t *op = ops->first, *end = ops->end; op < end; op++) {
        const uint8_t *text;
        size_t length;
        bool keeps_blanks = false;
        if (kind == SPANS_FIXED) {
            text = spans->record + op->at;
            if ((digits_load(text) & op->null_mask) == op->null_bytes &&
                (op->width <= 8 || is_null_of_width(op_rest(&engine->program, op)->field, text)))
                continue;
            if (__builtin_expect(op->unless & engine->made, 0))
                continue;
            length = op->width;
        }
        if (!simple && __builtin_expect(op->code >= OP_OPEN, 0)) {
            out = op->code <= OP_CLOSE
                      ? put_group(engine, out, op, &bodies)
                      : encode_made(engine, kind == SPANS_FIXED ? NULL : spans, kind, op, out);
            continue;
        }
        if (simple) {
            const uint8_t *stop = spans->base + *ends++;
            text = next;
            length = (size_t)(stop - text);
            next = stop + 1;
        } else if (kind != SPANS_FIXED) {
            const span_t span = text_of_column(spans, kind, op->at);
            text = span.text;
            length = span.length;
            keeps_blanks = __builtin_expect(op->flags & OP_IS_EXACT, 0) && is_quoted(spans, kind, op->at);
        }
        uint8_t *after = NULL;
        if (kind == SPANS_FIXED)
            after = encode_width(engine, op, &text, &length, out);
        else if (simple || !(op->flags & NULLS_OTHER))
            after = encode_column(engine, op, &text, &length, out, simple, keeps_blanks);
        else if (op->code == OP_TRIMMED && !keeps_blanks)
            blanks_trim(&text, &length);
        out = after ? after : encode_unusual(engine, op, text, length, out, shape);
    }
    return out;
}

#endif
