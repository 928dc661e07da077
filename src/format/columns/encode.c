/* A batch is bound to the tree before any of its rows is encoded: each array has the buffers and the children that its type needs,
 * and as many values as are used of it without a check. Then rows become documents: a walk over the tree, with a switch for the
 * kind of each value. What an array says of its own places is checked where it is used. */
#include "base/chars.h"
#include "base/text.h"
#include "format/columns/columns_inner.h"
#include "format/types.h"
#include "format/values/values.h"

#include <inttypes.h>
#include <stdio.h>

/* What few values need is kept out of the function that all values go through. */
#define APART __attribute__((noinline)) static

/* What stands there, aligned or not. */
#define LOAD(type, at)                                                                                       \
    ({                                                                                                       \
        type loaded;                                                                                         \
        memcpy(&loaded, (at), sizeof loaded);                                                                \
        loaded;                                                                                              \
    })

/* ---- what goes wrong ---- */

static uint64_t row_number(const frame_t *frame) {
    return frame->sums->rows + 1;
}

static void tally(const frame_t *frame, columns_tally_t *of) {
    if (!of->count++)
        of->first = row_number(frame);
}

/* The sentence of a broken array. Always NULL. */
static void *broken(frame_t *frame, const column_t *column) {
    const char *path = column->sum->path;
    err_set(&frame->err, STATUS_INPUT,
            "the producer gave a broken array: %s%.200s%srow %" PRIu64
            ": a length, an offset or an index in it cannot be true",
            *path ? "column '" : "", path, *path ? "', " : "", row_number(frame));
    return NULL;
}

/* ---- what buffers hold ---- */

static bool is_valid(const column_t *column, int64_t at) {
    return !column->valid || (column->valid[at >> 3] >> (at & 7) & 1);
}

/* A whole number of a buffer: a value, an offset, a size or an index. */
INLINED int64_t whole_at(const uint8_t *buffer, int64_t at, uint8_t width, bool is_unsigned) {
    switch (width) {
    case 1:
        return is_unsigned ? buffer[at] : (int8_t)buffer[at];
    case 2:
        return is_unsigned ? LOAD(uint16_t, buffer + 2 * at) : LOAD(int16_t, buffer + 2 * at);
    case 4:
        return is_unsigned ? (int64_t)LOAD(uint32_t, buffer + 4 * at) : LOAD(int32_t, buffer + 4 * at);
    default:
        return LOAD(int64_t, buffer + 8 * at);
    }
}

INLINED int64_t whole_of(const column_t *column, int64_t at) {
    return whole_at(column->values, at, column->width, column->is_unsigned);
}

/* Bytes of a text, or items of a list. */
typedef struct {
    int64_t begin, count;
} span_t;

static bool span_at(frame_t *frame, const column_t *column, int64_t at, span_t *span) {
    const uint8_t width = column->width;
    const bool sized = column->kind == BSON_TYPE_ARRAY && column->data;
    if (!width) {
        *span = (span_t){at * column->size, column->size};
        return true;
    }
    const uint64_t begin = (uint64_t)whole_at(column->values, at, width, false),
                   count = sized ? (uint64_t)whole_at(column->data, at, width, false)
                                 : (uint64_t)whole_at(column->values, at + 1, width, false) - begin,
                   most = (uint64_t)column->most;
    *span = (span_t){(int64_t)begin, (int64_t)count};
    return (begin <= most && count <= most - begin) || broken(frame, column);
}

/* ---- a batch ---- */

/* Bytes, or values of a list: more than any memory holds, and so few that no place in a buffer overflows. */
#define MOST (INT64_C(1) << 48)

/* Its lengths, and that all that was planned is there. Of a type without buffers it may have some. */
static bool check_shape(const column_t *column, const struct ArrowArray *array, int64_t needed) {
    const int64_t most = column->size > 0 ? MOST / column->size : MOST, buffers = column->type->buffers;
    if (!array || array->length < needed || array->length > most || array->offset < 0 ||
        array->offset > most || array->null_count < -1 || array->null_count > array->length)
        return false;
    if (buffers && (!array->buffers || array->n_buffers < buffers))
        return false;
    if (buffers && column->type->width != VIEW && array->n_buffers > buffers)
        return false;
    if (column->kind == KIND_DICTIONARY)
        return array->dictionary && !array->n_children;
    return !array->dictionary && array->n_children == (int64_t)column->child_count &&
           (array->children || !array->n_children);
}

/* Its own buffers: bits for nulls, which unions and runs do not have, values, and what these point to. Texts need no third one
 * as long as all of them are empty: span_at looks. */
static bool take_buffers(column_t *column, const struct ArrowArray *array) {
    const int64_t count = column->type->buffers ? array->n_buffers : 0,
                  bits = count && column->kind != KIND_UNION, end = array->offset + array->length;
    const bool texts = column->kind == BSON_TYPE_UTF8 || column->kind == BSON_TYPE_BINARY,
               needs_values = column->width || column->size;
    column->array = array;
    column->offset = array->offset;
    column->valid = bits ? array->buffers[0] : NULL;
    column->values = count > bits ? array->buffers[bits] : NULL;
    column->data = count > bits + 1 ? array->buffers[count - 1] : NULL;
    column->most = 0;
    if (array->null_count > 0 && bits && !column->valid)
        return false;
    if (!array->length)
        return true;
    if (count > bits && needs_values && !column->values)
        return false;
    if (count > bits + 1 && !texts && !column->data)
        return false;
    if (texts && column->data && column->width != VIEW)
        column->most = whole_at(column->values, end, column->width, false);
    return column->most >= 0;
}

/* Ends of runs rise, above 0, and the last one is that of all values or after it. */
static bool check_runs(const column_t *column) {
    const column_t *ends = column->children;
    const int64_t length = column->array->length;
    int64_t before = 0;
    if (ends->valid || column->children[1].array->length < ends->array->length)
        return false;
    for (int64_t i = 0; i < ends->array->length; i++) {
        const int64_t end = whole_of(ends, ends->offset + i);
        if (end <= before)
            return false;
        before = end;
    }
    return before >= column->offset + length || !length;
}

/* `needed` values must be there: those that the column around it uses without a check. Returns NULL, or the column whose array is
 * broken. */
static const column_t *bind_array(column_t *column, const struct ArrowArray *array, int64_t needed) {
    if (!check_shape(column, array, needed) || !take_buffers(column, array))
        return column;
    const bool sparse = column->kind == KIND_UNION && column->type->buffers == 1;
    const int64_t places = column->offset + array->length,
                  of_children = column->kind == BSON_TYPE_DOCUMENT || sparse ? places : places * column->size;
    for (size_t i = 0; i < column->child_count; i++) {
        const column_t *const wrong = bind_array(
            &column->children[i], array->dictionary ? array->dictionary : array->children[i], of_children);
        if (wrong)
            return wrong;
        if (column->kind == BSON_TYPE_ARRAY || column->kind == KIND_MAP)
            column->most = column->children->array->length;
    }
    return column->kind == KIND_RUNS && !check_runs(column) ? column : NULL;
}

bool encode_bind(frame_t *frame) {
    const column_t *const wrong = bind_array(&frame->root, &frame->batch, 0);
    return !wrong || broken(frame, wrong);
}

/* ---- elements ---- */

static bool has_room(const frame_t *frame, const uint8_t *out, uint64_t bytes) {
    return out <= frame->limit && bytes <= (uint64_t)(frame->limit - out);
}

INLINED uint8_t *put_key(uint8_t *out, uint8_t type, const bytes_t *key) {
    *out++ = type;
    if (__builtin_expect(key->padded && key->length <= KEY_SHORT, 1))
        memcpy(out, key->bytes, KEY_SHORT);
    else
        memcpy(out, key->bytes, key->length);
    out += key->length;
    *out++ = 0;
    return out;
}

/* A text, a symbol, or binary data: the element at hand gets this type. NULL: there is no room. */
static uint8_t *put_bytes(frame_t *frame, uint8_t type, uint8_t subtype, bytes_t is, uint8_t *out) {
    if (!has_room(frame, out, is.length))
        return NULL;
    *frame->head = type;
    if (type != BSON_TYPE_BINARY)
        return bsonw_text(out, is.bytes, is.length);
    uint8_t *const end = bsonw_binary(out, is.bytes, is.length);
    out[4] = subtype;
    return end;
}

/* A value that does not fit, by its text: what columns_how_t says becomes of it. */
APART uint8_t *put_misfit(frame_t *frame, const column_t *column, bytes_t text, uint8_t *out) {
    columns_sum_t *const sum = column->sum;
    const bool utf8 = utf8_valid(text.bytes, text.length);
    switch (frame->sums->how.bad) {
    case BAD_VALUE_REJECT:
        return put_bytes(frame, BSON_TYPE_SYMBOL, 0, text, out);
    case COLUMNS_STOP:
        err_set(&frame->err, STATUS_INPUT,
                "column '%.200s', row %" PRIu64
                ": a document cannot hold '%.*s' as it is, and on-bad-value is stop",
                sum->path, row_number(frame), (int)(text.length < 200 ? text.length : 200),
                (const char *)text.bytes);
        return NULL;
    case BAD_VALUE_NULL:
        tally(frame, &sum->kept);
        *frame->head = BSON_TYPE_NULL;
        return out;
    default:
        tally(frame, &sum->kept);
        return put_bytes(frame, utf8 ? BSON_TYPE_UTF8 : BSON_TYPE_BINARY, 0, text, out);
    }
}

/* ---- numbers ---- */

static double half(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent ? __builtin_ldexp(fraction + 1024, exponent - 25) : __builtin_ldexp(fraction, -24);
    if (exponent == 31)
        size = fraction ? __builtin_nan("") : __builtin_inf();
    return bits >> 15 ? -size : size;
}

INLINED double real_at(const uint8_t *buffer, int64_t at, uint8_t width) {
    if (width == 2)
        return half(LOAD(uint16_t, buffer + 2 * at));
    return width == 4 ? (double)LOAD(float, buffer + 4 * at) : LOAD(double, buffer + 8 * at);
}

typedef unsigned __int128 wide_t;

enum { WORDS = 4, DIGITS = 80, MISFIT = 120 /* of a text */ };

/* The size of a whole number of up to 256 bits, the lowest word first. True: it is below 0. */
static bool read_wide(const column_t *column, int64_t at, uint64_t words[WORDS]) {
    const uint8_t *const value = column->values + at * column->width;
    const bool minus = !column->is_unsigned && value[column->width - 1] >> 7;
    uint64_t carry = minus;
    memset(words, minus ? 0xFF : 0, WORDS * sizeof *words);
    memcpy(words, value, column->width);
    for (int i = 0; minus && i < WORDS; i++)
        carry = __builtin_add_overflow(~words[i], carry, &words[i]);
    return minus;
}

/* A number as a text: -1.05, or 105E+3 where there is no place for a point among the digits. */
APART uint8_t *put_misfit_number(frame_t *frame, const column_t *column, int64_t at, uint8_t *out) {
    uint64_t words[WORDS];
    char digits[DIGITS], *const end = digits + DIGITS, *first = end, text[MISFIT];
    const bool minus = read_wide(column, at, words);
    do {
        wide_t rest = 0;
        for (int i = WORDS; i--; rest %= 10) {
            rest = rest << 64 | words[i];
            words[i] = (uint64_t)(rest / 10);
        }
        *--first = (char)('0' + (int)rest);
    } while (words[0] | words[1] | words[2] | words[3]);
    const int count = (int)(end - first), scale = (int)column->size,
              whole = scale > 0 && scale < count ? count - scale : count;
    int length = snprintf(text, MISFIT, "%s%.*s%s%.*s", minus ? "-" : "", whole, first,
                          whole < count ? "." : "", count - whole, first + whole);
    if (whole == count && scale)
        length += snprintf(text + length, MISFIT - (size_t)length, "E%+d", -scale);
    return put_misfit(frame, column, (bytes_t){(const uint8_t *)text, (uint64_t)length, false}, out);
}

APART uint8_t *put_decimal(frame_t *frame, const column_t *column, int64_t at, uint8_t *out) {
    enum { BIAS = 6176, EXPONENT = 49 /* bits before it */ };
    const wide_t most = (wide_t)UINT64_C(100000000000000000) * UINT64_C(100000000000000000);
    uint64_t words[WORDS];
    const bool minus = read_wide(column, at, words);
    if (words[2] | words[3] || ((wide_t)words[1] << 64 | words[0]) >= most)
        return put_misfit_number(frame, column, at, out);
    out = bsonw_int64(out, (int64_t)words[0]);
    words[1] |= (uint64_t)minus << 63 | (uint64_t)(BIAS - column->size) << EXPONENT;
    return bsonw_int64(out, (int64_t)words[1]);
}

/* ---- times ---- */

static const int64_t SECOND_NS = 1000000000, DAY_SECONDS = 86400;

/* HH:MM:SS.ffffff, and three digits more where there are nanoseconds. */
static uint8_t *print_clock(uint8_t *out, int64_t ns) {
    const int64_t seconds = ns / SECOND_NS, rest = ns % SECOND_NS;
    memcpy(out, "00:00:00.", 9);
    digits_write(out, 2, (uint64_t)(seconds / 3600));
    digits_write(out + 3, 2, (uint64_t)(seconds / 60 % 60));
    digits_write(out + 6, 2, (uint64_t)(seconds % 60));
    return rest % 1000 ? digits_write(out + 9, 9, (uint64_t)rest)
                       : digits_write(out + 9, 6, (uint64_t)(rest / 1000));
}

APART uint8_t *put_clock(frame_t *frame, const column_t *column, int64_t at, uint8_t *out) {
    const int64_t value = whole_of(column, at), parts = column->type->scale;
    if (value < 0 || value / parts >= DAY_SECONDS)
        return put_misfit_number(frame, column, at, out);
    uint8_t text[MISFIT];
    return bsonw_text(out, text, (size_t)(print_clock(text, value * (SECOND_NS / parts)) - text));
}

/* Digits below a millisecond do not fit where such values are not to be changed. */
APART uint8_t *put_misfit_moment(frame_t *frame, const column_t *column, int64_t at, uint8_t *out) {
    const int64_t parts = -column->type->scale * 1000, day = DAY_SECONDS * parts,
                  value = whole_of(column, at), rest = (value % day + day) % day;
    uint8_t text[MISFIT], *end = text;
    date_t date;
    if (!calendar_date(value / day - (value % day < 0), &date))
        return put_misfit_number(frame, column, at, out);
    end += snprintf((char *)end, MISFIT, "%04u-%02u-%02uT", date.year, date.month, date.day);
    end = print_clock(end, rest * (SECOND_NS / parts));
    *end++ = 'Z';
    return put_misfit(frame, column, (bytes_t){text, (uint64_t)(end - text), false}, out);
}

static uint8_t *put_moment(frame_t *frame, const column_t *column, int64_t at, uint8_t *out) {
    const int64_t value = whole_of(column, at), scale = column->type->scale;
    const unsigned bad = frame->sums->how.bad;
    int64_t ms;
    if (scale > 0)
        return __builtin_mul_overflow(value, scale, &ms) ? put_misfit_number(frame, column, at, out)
                                                         : bsonw_int64(out, ms);
    if (value % scale && (bad == BAD_VALUE_REJECT || bad == COLUMNS_STOP))
        return put_misfit_moment(frame, column, at, out);
    if (value % scale)
        tally(frame, &column->sum->cut);
    return bsonw_int64(out, value / -scale - (value % scale < 0));
}

/* ---- texts and bytes ---- */

/* A view has its length, and then up to 12 bytes; or their first 4, the number of a buffer, and the place in it. */
static bool view_at(const column_t *column, int64_t at, bytes_t *is) {
    enum { INLINE_BYTES = 12 };
    const uint8_t *const view = column->values + at * VIEW;
    const int64_t length = LOAD(int32_t, view), buffer = LOAD(int32_t, view + 8),
                  from = LOAD(int32_t, view + 12);
    *is = (bytes_t){view + 4, (uint64_t)length, false};
    if (length >= 0 && length <= INLINE_BYTES)
        return true;
    if (length < 0 || buffer < 0 || buffer >= column->array->n_buffers - 3 || from < 0 || !column->data ||
        !column->array->buffers[buffer + 2] || LOAD(int64_t, column->data + 8 * buffer) < from + length)
        return false;
    is->bytes = (const uint8_t *)column->array->buffers[buffer + 2] + from;
    return true;
}

/* Of a value without bytes there may be no buffer. */
static bool bytes_at(frame_t *frame, const column_t *column, int64_t at, bytes_t *is) {
    span_t span;
    if (column->width == VIEW)
        return view_at(column, at, is) || broken(frame, column);
    if (!span_at(frame, column, at, &span))
        return false;
    const uint8_t *const data = column->width ? column->data : column->values;
    *is = (bytes_t){span.count ? data + span.begin : (const uint8_t *)"", (uint64_t)span.count, false};
    return true;
}

APART uint8_t *put_text(frame_t *frame, const column_t *column, int64_t at, uint8_t *out) {
    bytes_t is;
    if (!bytes_at(frame, column, at, &is))
        return NULL;
    if (column->bson == BSON_TYPE_UTF8 && !utf8_valid(is.bytes, is.length))
        return put_misfit(frame, column, is, out);
    if (column->bson == BSON_TYPE_OID)
        return mempcpy(out, is.bytes, is.length);
    return put_bytes(frame, column->bson, column->subtype, is, out);
}

/* ---- columns within columns ---- */

/* The column that has the value, for which a dictionary, runs or a union only stand, and its place there. NULL: it is null, or
 * frame->err says why. */
APART const column_t *resolve(frame_t *frame, const column_t *column, int64_t *at) {
    for (;;) {
        if (column->kind == BSON_TYPE_NULL || !is_valid(column, *at))
            return NULL;
        if (column->kind < KIND_DICTIONARY)
            return column;
        const column_t *of = column->children;
        int64_t index;
        if (column->kind == KIND_DICTIONARY) {
            index = whole_of(column, *at);
        } else if (column->kind == KIND_RUNS) { /* their ends rise */
            index = (int64_t)SEARCH_FIRST((size_t)of->array->length, run,
                                          whole_of(of, of->offset + (int64_t)run) <= *at);
            of++;
        } else {
            const uint8_t code = column->values[*at], field = code < COLUMN_CODES ? column->codes[code] : 0;
            if (!field)
                return broken(frame, column);
            of += field - 1;
            index = column->data ? whole_at(column->data, *at, 4, false) : *at;
        }
        if (index < 0 || index >= of->array->length)
            return broken(frame, column);
        column = of;
        *at = of->offset + index;
    }
}

INLINED uint8_t *put(frame_t *frame, const column_t *of, int64_t index, const bytes_t *key, bool keep_null,
                     uint8_t *out);

/* Ends a document or an array that begins at `from`. out NULL: there is none. */
static uint8_t *end_document(uint8_t *from, uint8_t *out) {
    if (!out)
        return NULL;
    *out++ = 0;
    bsonw_int32(from, (int32_t)(out - from));
    return out;
}

APART uint8_t *put_fields(frame_t *frame, const column_t *column, int64_t at, uint8_t *out) {
    const bool keep_nulls = frame->sums->how.keep_nulls || column->is_entry;
    uint8_t *const from = out;
    out += 4;
    for (size_t i = 0; out && i < column->child_count; i++) {
        const column_t *field = &column->children[i];
        out = put(frame, field, at, &field->key, keep_nulls, out);
    }
    return end_document(from, out);
}

APART uint8_t *put_list(frame_t *frame, const column_t *items, span_t span, uint8_t *out) {
    uint8_t *const from = out, digits[32];
    out += 4;
    for (int64_t i = 0; out && i < span.count; i++) {
        const uint8_t *const end = bsonw_index(digits, (uint32_t)i);
        const bytes_t key = {digits, (uint64_t)(end - digits) - 1, true};
        out = put(frame, items, span.begin + i, &key, true, out);
    }
    return end_document(from, out);
}

static int by_bytes(const void *a, const void *b) {
    const bytes_t *one = a, *other = b;
    const uint64_t least = one->length < other->length ? one->length : other->length;
    const int order = memcmp(one->bytes, other->bytes, least);
    return order ? order : (one->length > other->length) - (one->length < other->length);
}

/* index: among the entries. A key is never null. */
static bool key_at(frame_t *frame, const column_t *entries, int64_t index, bytes_t *key) {
    const column_t *const keys = entries->children;
    int64_t at = keys->offset + entries->offset + index;
    const column_t *of = resolve(frame, keys, &at);
    return of ? bytes_at(frame, of, at, key) : broken(frame, keys) != NULL;
}

/* True if a document can have these keys: each is UTF-8 without a zero, and is there once. Sorts the keys. */
static bool are_keys(bytes_t *keys, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (memchr(keys[i].bytes, 0, keys[i].length) || !utf8_valid(keys[i].bytes, keys[i].length))
            return false;
    qsort(keys, count, sizeof *keys, by_bytes);
    for (size_t i = 1; i < count; i++)
        if (by_bytes(&keys[i - 1], &keys[i]) == 0)
            return false;
    return true;
}

/* A key that no document can have makes an array of pairs of the map, which keeps everything. frame->keys is not used any more
 * when the values are written: they may be maps. */
APART uint8_t *put_map(frame_t *frame, const column_t *column, span_t span, uint8_t *out) {
    static const char why[] = "a map with keys that no document can have";
    const column_t *const entries = column->children;
    uint8_t *const from = out;
    bytes_t key;
    if (!GROW(frame->keys, frame->key_room, (size_t)span.count + 1, &frame->err))
        return NULL;
    for (int64_t i = 0; i < span.count; i++)
        if (!key_at(frame, entries, span.begin + i, &frame->keys[i]))
            return NULL;
    if (!are_keys(frame->keys, (size_t)span.count)) {
        if (frame->sums->how.bad != BAD_VALUE_TEXT)
            return put_misfit(frame, column, (bytes_t){(const uint8_t *)why, strlen(why), false}, out);
        tally(frame, &column->sum->kept);
        *frame->head = BSON_TYPE_ARRAY;
        return put_list(frame, entries, span, out);
    }
    out += 4;
    for (int64_t i = span.begin; out && i < span.begin + span.count; i++) {
        if (!key_at(frame, entries, i, &key))
            return NULL;
        out = put(frame, &entries->children[1], entries->offset + i, &key, true, out);
    }
    return end_document(from, out);
}

INLINED uint8_t *put_value(frame_t *frame, const column_t *column, int64_t at, uint8_t *out) {
    span_t span;
    int64_t number;
    switch (column->kind) {
    case BSON_TYPE_BOOL:
        *out = column->values[at >> 3] >> (at & 7) & 1;
        return out + 1;
    case BSON_TYPE_INT32:
        return bsonw_int32(out, (int32_t)whole_of(column, at));
    case BSON_TYPE_INT64:
        number = whole_of(column, at);
        return __builtin_expect(number < 0, 0) && column->is_unsigned
                   ? put_misfit_number(frame, column, at, out)
                   : bsonw_int64(out, number);
    case BSON_TYPE_DOUBLE:
        return bsonw_double(out, real_at(column->values, at, column->width));
    case BSON_TYPE_DECIMAL128:
        return put_decimal(frame, column, at, out);
    case BSON_TYPE_UTF8:
    case BSON_TYPE_BINARY:
        return put_text(frame, column, at, out);
    case BSON_TYPE_DATE_TIME:
        return put_moment(frame, column, at, out);
    case KIND_CLOCK:
        return put_clock(frame, column, at, out);
    case BSON_TYPE_DOCUMENT:
        return put_fields(frame, column, at, out);
    case KIND_MAP:
        return span_at(frame, column, at, &span) ? put_map(frame, column, span, out) : NULL;
    default:
        return span_at(frame, column, at, &span) ? put_list(frame, column->children, span, out) : NULL;
    }
}

/* One element. keep_null: a value that is null is written. NULL: it has no room, or frame->err says why. */
INLINED uint8_t *put(frame_t *frame, const column_t *of, int64_t index, const bytes_t *key, bool keep_null,
                     uint8_t *out) {
    const bool plain = !of->valid && of->kind != BSON_TYPE_NULL && of->kind < KIND_DICTIONARY;
    int64_t at = of->offset + index;
    const column_t *const column = __builtin_expect(plain, 1) ? of : resolve(frame, of, &at);
    if (!column && (frame->err.status || !keep_null))
        return frame->err.status ? NULL : out;
    if (__builtin_expect(!has_room(frame, out, key->length), 0))
        return NULL;
    frame->head = out;
    out = put_key(out, column ? column->bson : BSON_TYPE_NULL, key);
    return column ? put_value(frame, column, at, out) : out;
}

/* Instead of a document that is too large: one that a reader rejects. */
static uint8_t *put_too_large(uint8_t *from) {
    static const uint8_t why[] = "its document would be larger than the 16 MiB that a server stores";
    static const bytes_t no_key = {(const uint8_t *)"", 0, false};
    uint8_t *const out = put_key(from + 4, BSON_TYPE_SYMBOL, &no_key);
    return end_document(from, bsonw_text(out, why, sizeof why - 1));
}

/* A row that is null as a whole has no values. */
uint8_t *encode_row(frame_t *frame, uint8_t *out) {
    const column_t *const root = &frame->root;
    const int64_t at = root->offset + frame->at;
    frame->limit = out + COLUMNS_MOST_DOCUMENT;
    uint8_t *end = is_valid(root, at) ? put_fields(frame, root, at, out) : end_document(out, out + 4);
    const bool fits = end && end - out <= COLUMNS_MOST_DOCUMENT;
    return fits || frame->err.status ? end : put_too_large(out);
}
