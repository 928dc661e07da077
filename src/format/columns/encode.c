/* Rows of the batch at hand become documents: a walk over the tree, with a switch for the kind of each value. What an array says of
 * its own places is checked where it is used. */
#include "base/chars.h"
#include "format/columns/columns_inner.h"
#include "format/types.h"
#include "format/values/values.h"

#include <inttypes.h>
#include <stdio.h>

/* What few values need is kept out of the function that all values go through. */
#define APART __attribute__((noinline)) static

typedef unsigned __int128 wide_t;

enum { DAY_SECONDS = 86400 };
static const int64_t DAY_MS = DAY_SECONDS * INT64_C(1000);

/* ---- what goes wrong ---- */

static uint64_t row_number(const frame_t *frame) {
    return frame->rows + (uint64_t)frame->at + 1;
}

void *encode_broken(frame_t *frame, const column_t *column) {
    frame->state = FAILED;
    err_set(&frame->err, STATUS_INPUT,
            "the producer gave a broken array: %s%.200s%srow %" PRIu64
            ": a length, an offset or an index in it cannot be true",
            *column->sum.path ? "column '" : "", column->sum.path, *column->sum.path ? "', " : "",
            row_number(frame));
    return NULL;
}

static void *too_large(frame_t *frame) {
    frame->state = TOO_LARGE;
    return NULL;
}

static bool has_room(const frame_t *frame, const uint8_t *out, uint64_t bytes) {
    return out <= frame->limit && bytes <= (uint64_t)(frame->limit - out);
}

/* ---- elements ---- */

INLINED uint8_t *put_key(uint8_t *out, uint8_t type, const column_key_t *key) {
    *out++ = type;
    if (__builtin_expect(key->padded && key->length <= KEY_SHORT, 1))
        memcpy(out, key->bytes, KEY_SHORT);
    else
        memcpy(out, key->bytes, key->length);
    out += key->length;
    *out++ = 0;
    return out;
}

/* A text, a symbol, or binary data: what has a length. `head` is the element's type. */
static uint8_t *put_bytes(frame_t *frame, uint8_t *head, uint8_t type, uint8_t subtype, const uint8_t *bytes,
                          uint64_t length, uint8_t *out) {
    if (!has_room(frame, out, length))
        return too_large(frame);
    *head = type;
    if (type != BSON_TYPE_BINARY)
        return bsonw_text(out, bytes, length);
    out = bsonw_binary(out, bytes, length);
    out[-(int64_t)length - 1] = subtype;
    return out;
}

/* A value that does not fit, by its text: what columns_how_t says becomes of it. */
APART uint8_t *put_misfit(frame_t *frame, column_t *column, uint8_t *head, const uint8_t *text,
                          uint64_t length, uint8_t *out) {
    const unsigned bad = frame->how.bad;
    const bool utf8 = utf8_valid(text, length);
    if (bad == BAD_VALUE_REJECT)
        return put_bytes(frame, head, BSON_TYPE_SYMBOL, 0, text, length, out);
    if (bad == COLUMNS_STOP) {
        frame->state = FAILED;
        err_set(&frame->err, STATUS_INPUT,
                "column '%.200s', row %" PRIu64
                ": a document cannot hold '%.*s' as it is, and on-bad-value is stop",
                column->sum.path, row_number(frame), (int)(length < 200 ? length : 200), (const char *)text);
        return NULL;
    }
    if (!column->sum.kept++)
        column->sum.first_kept = row_number(frame);
    if (bad == BAD_VALUE_NULL) {
        *head = BSON_TYPE_NULL;
        return out;
    }
    return put_bytes(frame, head, utf8 ? BSON_TYPE_UTF8 : BSON_TYPE_BINARY, 0, text, length, out);
}

/* ---- numbers ---- */

static double half(const uint8_t *value) {
    uint16_t bits;
    memcpy(&bits, value, sizeof bits);
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31  ? (fraction ? __builtin_nan("") : __builtin_inf())
                        : exponent == 0 ? __builtin_ldexp(fraction, -24)
                                        : __builtin_ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -size : size;
}

static double number_at(const column_t *column, int64_t index) {
    const uint8_t *value = column->values + (column->offset + index) * column->width;
    float single;
    double number;
    if (column->width == 2)
        return half(value);
    memcpy(&single, value, sizeof single);
    if (column->width == 4)
        return (double)single;
    memcpy(&number, value, sizeof number);
    return number;
}

enum { WORDS = 8, DIGITS = 80, MISFIT = 120 /* of its text, where that is a number's */ };

/* A whole number of up to 256 bits: its size, 32 bits at a time, the lowest first. */
static bool read_wide(const column_t *column, int64_t index, uint32_t words[WORDS]) {
    const uint8_t *value = column->values + (column->offset + index) * column->width;
    const bool minus = value[column->width - 1] >> 7;
    memset(words, minus ? 0xFF : 0, WORDS * sizeof *words);
    memcpy(words, value, column->width);
    uint64_t carry = minus;
    for (int i = 0; minus && i < WORDS; i++) {
        carry += (uint32_t)~words[i];
        words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return minus;
}

/* Its digits, written backwards from `end`. Returns the first one. */
static uint8_t *print_wide(uint32_t words[WORDS], uint8_t *end) {
    uint32_t any;
    do {
        uint64_t rest = any = 0;
        for (int i = WORDS - 1; i >= 0; i--) {
            rest = rest << 32 | words[i];
            any |= words[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        *--end = (uint8_t)('0' + rest);
    } while (any);
    return end;
}

/* -1.05, or 105E+3 where there is no place for a point among the digits. */
static size_t print_decimal(uint32_t words[WORDS], bool minus, int64_t scale, char text[MISFIT]) {
    uint8_t digits[DIGITS], *const end = digits + sizeof digits, *first = print_wide(words, end);
    const int count = (int)(end - first), whole = scale > 0 && scale < count ? count - (int)scale : count;
    int length = snprintf(text, MISFIT, "%s%.*s", minus ? "-" : "", whole, (const char *)first);
    if (whole < count)
        length += snprintf(text + length, MISFIT - (size_t)length, ".%.*s", count - whole, first + whole);
    else if (scale)
        length += snprintf(text + length, MISFIT - (size_t)length, "E%+" PRId64, -scale);
    return (size_t)length;
}

APART uint8_t *put_decimal(frame_t *frame, column_t *column, int64_t index, uint8_t *head, uint8_t *out) {
    enum { BIAS = 6176, EXPONENT = 49 /* bits before it */ };
    const wide_t most = (wide_t)UINT64_C(100000000000000000) * UINT64_C(100000000000000000);
    uint32_t words[WORDS];
    char text[MISFIT];
    const bool minus = read_wide(column, index, words);
    const uint64_t low = words[0] | (uint64_t)words[1] << 32, high = words[2] | (uint64_t)words[3] << 32;
    if (words[4] | words[5] | words[6] | words[7] || ((wide_t)high << 64 | low) >= most) {
        const size_t length = print_decimal(words, minus, column->size, text);
        return put_misfit(frame, column, head, (const uint8_t *)text, length, out);
    }
    out = bsonw_int64(out, (int64_t)low);
    return bsonw_int64(out,
                       (int64_t)((uint64_t)minus << 63 | (uint64_t)(BIAS - column->size) << EXPONENT | high));
}

/* A whole number that is kept as a text. */
APART uint8_t *put_misfit_number(frame_t *frame, column_t *column, int64_t number, uint8_t *head,
                                 uint8_t *out) {
    char text[MISFIT];
    const int length = column->kind == KIND_LARGE ? snprintf(text, sizeof text, "%" PRIu64, (uint64_t)number)
                                                  : snprintf(text, sizeof text, "%" PRId64, number);
    return put_misfit(frame, column, head, (const uint8_t *)text, (size_t)length, out);
}

/* ---- times ---- */

/* This number of digits, with zeros in front. */
static uint8_t *print_digits(uint8_t *out, int64_t number, int digits) {
    for (int i = digits; i--; number /= 10)
        out[i] = (uint8_t)('0' + number % 10);
    return out + digits;
}

/* HH:MM:SS.ffffff, and three digits more where there are nanoseconds. ticks: of a second's parts. */
static uint8_t *print_clock(uint8_t *out, int64_t seconds, int64_t ticks, int64_t parts) {
    out = print_digits(out, seconds / 3600, 2);
    *out++ = ':';
    out = print_digits(out, seconds / 60 % 60, 2);
    *out++ = ':';
    out = print_digits(out, seconds % 60, 2);
    *out++ = '.';
    const int64_t nanoseconds = ticks * (1000000000 / parts);
    return nanoseconds % 1000 ? print_digits(out, nanoseconds, 9) : print_digits(out, nanoseconds / 1000, 6);
}

APART uint8_t *put_clock(frame_t *frame, column_t *column, int64_t index, uint8_t *head, uint8_t *out) {
    const int64_t value = bind_whole(column, index), parts = column->type->scale;
    if (value < 0 || value / parts >= DAY_SECONDS)
        return put_misfit_number(frame, column, value, head, out);
    uint8_t text[MISFIT], *end = print_clock(text, value / parts, value % parts, parts);
    return bsonw_text(out, text, (size_t)(end - text));
}

/* Digits below a millisecond do not fit where such values are not to be changed. */
APART uint8_t *put_misfit_moment(frame_t *frame, column_t *column, int64_t ms, int64_t value, uint8_t *head,
                                 uint8_t *out) {
    const int64_t parts = -column->type->scale * 1000, days = ms / DAY_MS - (ms % DAY_MS < 0);
    uint8_t text[MISFIT], *end = text;
    date_t date;
    if (!calendar_date(days, &date))
        return put_misfit_number(frame, column, value, head, out);
    end += snprintf((char *)end, MISFIT, "%04u-%02u-%02uT", date.year, date.month, date.day);
    end = print_clock(end, (ms - days * DAY_MS) / 1000, value - (ms / 1000 - (ms % 1000 < 0)) * parts, parts);
    *end++ = 'Z';
    return put_misfit(frame, column, head, text, (size_t)(end - text), out);
}

static uint8_t *put_moment(frame_t *frame, column_t *column, int64_t index, uint8_t *head, uint8_t *out) {
    const int64_t value = bind_whole(column, index), scale = column->type->scale;
    int64_t ms;
    if (scale > 0)
        return __builtin_mul_overflow(value, scale, &ms) ? put_misfit_number(frame, column, value, head, out)
                                                         : bsonw_int64(out, ms);
    ms = value / -scale - (value % scale < 0);
    if (value % scale) {
        if (frame->how.bad == BAD_VALUE_REJECT || frame->how.bad == COLUMNS_STOP)
            return put_misfit_moment(frame, column, ms, value, head, out);
        if (!column->sum.cut++)
            column->sum.first_cut = row_number(frame);
    }
    return bsonw_int64(out, ms);
}

/* ---- texts and bytes ---- */

/* A view has its length, and then up to 12 bytes; or their first 4, the number of a buffer, and the place in it. */
static bool view_at(const column_t *column, int64_t at, bytes_t *is) {
    enum { INLINE_BYTES = 12 };
    const uint8_t *const view = column->values + at * VIEW_BYTES;
    const int64_t length = place_at(view, 0, 4), buffer = place_at(view, 2, 4), from = place_at(view, 3, 4);
    *is = (bytes_t){view + 4, (uint64_t)length};
    if (length >= 0 && length <= INLINE_BYTES)
        return true;
    if (length < 0 || buffer < 0 || buffer >= column->view_count || from < 0 || !column->views[buffer] ||
        place_at(column->data, buffer, 8) < from + length)
        return false;
    is->bytes = (const uint8_t *)column->views[buffer] + from;
    return true;
}

/* Of a value without bytes there may be no buffer. */
static bool bytes_at(frame_t *frame, const column_t *column, int64_t index, bytes_t *is) {
    const int64_t at = column->offset + index;
    if (column->width == VIEW)
        return view_at(column, at, is) || encode_broken(frame, column);
    const bool fixed = column->kind == KIND_FIXED;
    const uint8_t *const bytes = fixed ? column->values : column->data;
    const int64_t begin = fixed ? at * column->size : place_at(column->values, at, column->width),
                  end = fixed ? begin + column->size : place_at(column->values, at + 1, column->width);
    if (begin < 0 || end < begin || (!fixed && end > column->data_end))
        return encode_broken(frame, column);
    *is = (bytes_t){end > begin ? bytes + begin : (const uint8_t *)"", (uint64_t)(end - begin)};
    return true;
}

APART uint8_t *put_text(frame_t *frame, column_t *column, int64_t index, uint8_t *head, uint8_t *out) {
    bytes_t is;
    if (!bytes_at(frame, column, index, &is))
        return NULL;
    if (column->kind == KIND_TEXT && !utf8_valid(is.bytes, is.length))
        return put_misfit(frame, column, head, is.bytes, is.length, out);
    if (column->bson == BSON_TYPE_OID)
        return mempcpy(out, is.bytes, is.length);
    return put_bytes(frame, head, column->bson, column->subtype, is.bytes, is.length, out);
}

/* ---- columns within columns ---- */

/* The run that a place is in, which is mostly that of the last value, or the next one. Ends of runs rise (bind.c). */
static int64_t find_run(column_t *column, int64_t place) {
    const column_t *ends = column->children;
    const int64_t run = column->run;
    if ((run && bind_whole(ends, run - 1) > place) || bind_whole(ends, run) <= place)
        column->run = (int64_t)SEARCH_FIRST((size_t)ends->length, at, bind_whole(ends, (int64_t)at) <= place);
    return column->run;
}

/* The column that has the value, for which a dictionary, runs or a union only stand, and its index there. NULL: it is null, or
 * (frame->state) broken. */
APART column_t *resolve(frame_t *frame, column_t *column, int64_t *index) {
    for (;;) {
        column_t *of = column->children;
        if (column->kind == KIND_NULL || !bind_is_valid(column, *index))
            return NULL;
        if (__builtin_expect(column->kind < KIND_DICTIONARY, 1))
            return column;
        const int64_t place = column->offset + *index;
        if (column->kind == KIND_DICTIONARY) {
            *index = bind_whole(column, *index);
        } else if (column->kind == KIND_RUNS) {
            *index = find_run(column, place);
            of++;
        } else {
            const int8_t code = (int8_t)column->values[place], field = code < 0 ? -1 : column->codes[code];
            if (field < 0)
                return encode_broken(frame, column);
            of += field;
            *index = column->kind == KIND_DENSE ? place_at(column->data, place, 4) : place;
        }
        if (*index < 0 || *index >= of->length)
            return encode_broken(frame, column);
        column = of;
    }
}

INLINED uint8_t *put(frame_t *frame, column_t *of, int64_t index, const column_key_t *key, bool keep_null,
                     uint8_t *out);

/* Ends a document or an array that begins at `from`. */
static uint8_t *end_document(uint8_t *from, uint8_t *out) {
    *out++ = 0;
    bsonw_int32(from, (int32_t)(out - from));
    return out;
}

/* place: in the buffers of a struct. */
APART uint8_t *put_fields(frame_t *frame, column_t *column, int64_t place, uint8_t *out) {
    const bool keep_nulls = frame->how.keep_nulls || column->keeps_nulls;
    uint8_t *const from = out;
    out += 4;
    for (size_t i = 0; out && i < column->child_count; i++) {
        column_t *field = &column->children[i];
        out = put(frame, field, place, &field->key, keep_nulls, out);
    }
    return out ? end_document(from, out) : NULL;
}

typedef struct {
    int64_t begin, end;
} range_t;

/* Which values of its child a list or a map has. */
static bool range_at(frame_t *frame, const column_t *column, int64_t index, range_t *range) {
    const int64_t at = column->offset + index;
    if (column->kind == KIND_FIXED_LIST) {
        *range = (range_t){at * column->size, (at + 1) * column->size};
        return true;
    }
    range->begin = place_at(column->values, at, column->width);
    range->end = column->data ? place_at(column->data, at, column->width)
                              : place_at(column->values, at + 1, column->width);
    if (column->data && __builtin_add_overflow(range->begin, range->end, &range->end))
        return encode_broken(frame, column);
    return (range->begin >= 0 && range->begin <= range->end && range->end <= column->children->length) ||
           encode_broken(frame, column);
}

APART uint8_t *put_list(frame_t *frame, column_t *items, range_t range, uint8_t *out) {
    uint8_t *const from = out, digits[32];
    out += 4;
    for (int64_t i = range.begin; out && i < range.end; i++) {
        const uint8_t *const end = bsonw_index(digits, (uint32_t)(i - range.begin));
        const column_key_t key = {digits, (size_t)(end - digits) - 1, true};
        out = put(frame, items, i, &key, true, out);
    }
    return out ? end_document(from, out) : NULL;
}

static int by_bytes(const void *a, const void *b) {
    const bytes_t *one = a, *other = b;
    const uint64_t least = one->length < other->length ? one->length : other->length;
    const int order = memcmp(one->bytes, other->bytes, least);
    return order ? order : (one->length > other->length) - (one->length < other->length);
}

/* place: in the buffers of the entries. A key is never null. */
static bool key_at(frame_t *frame, column_t *keys, int64_t place, bytes_t *key) {
    const column_t *of = resolve(frame, keys, &place);
    return of ? bytes_at(frame, of, place, key) : encode_broken(frame, keys) != NULL;
}

/* Can they be those of a document: are they UTF-8 without a zero, and each one there once? They are sorted. */
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
APART uint8_t *put_map(frame_t *frame, column_t *column, range_t range, uint8_t *head, uint8_t *out) {
    static const char why[] = "a map with keys that no document can have";
    column_t *const entries = column->children, *const keys = entries->children;
    const int64_t first = entries->offset + range.begin;
    const size_t count = (size_t)(range.end - range.begin);
    uint8_t *const from = out;
    bytes_t key;
    if (!GROW(frame->keys, frame->key_room, count + 1, &frame->err)) {
        frame->state = FAILED;
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (!key_at(frame, keys, first + (int64_t)i, &frame->keys[i]))
            return NULL;
    if (!are_keys(frame->keys, count)) {
        if (frame->how.bad != BAD_VALUE_TEXT)
            return put_misfit(frame, column, head, (const uint8_t *)why, strlen(why), out);
        if (!column->sum.kept++)
            column->sum.first_kept = row_number(frame);
        *head = BSON_TYPE_ARRAY;
        return put_list(frame, entries, range, out);
    }
    out += 4;
    for (int64_t place = first; out && place < entries->offset + range.end; place++) {
        if (!key_at(frame, keys, place, &key))
            return NULL;
        out = put(frame, &keys[1], place, &(column_key_t){key.bytes, key.length, false}, true, out);
    }
    return out ? end_document(from, out) : NULL;
}

INLINED uint8_t *put_value(frame_t *frame, column_t *column, int64_t index, uint8_t *head, uint8_t *out) {
    const int64_t place = column->offset + index;
    range_t range;
    int64_t number;
    switch (column->kind) {
    case KIND_BOOLEAN:
        *out = column->values[place >> 3] >> (place & 7) & 1;
        return out + 1;
    case KIND_WHOLE:
        number = bind_whole(column, index);
        return column->bson == BSON_TYPE_INT32 ? bsonw_int32(out, (int32_t)number) : bsonw_int64(out, number);
    case KIND_LARGE:
        number = bind_whole(column, index);
        return number < 0 ? put_misfit_number(frame, column, number, head, out) : bsonw_int64(out, number);
    case KIND_NUMBER:
        return bsonw_double(out, number_at(column, index));
    case KIND_DECIMAL:
        return put_decimal(frame, column, index, head, out);
    case KIND_TEXT:
    case KIND_BYTES:
    case KIND_FIXED:
        return put_text(frame, column, index, head, out);
    case KIND_MOMENT:
        return put_moment(frame, column, index, head, out);
    case KIND_CLOCK:
        return put_clock(frame, column, index, head, out);
    case KIND_STRUCT:
        return put_fields(frame, column, place, out);
    case KIND_MAP:
        return range_at(frame, column, index, &range) ? put_map(frame, column, range, head, out) : NULL;
    default:
        return range_at(frame, column, index, &range) ? put_list(frame, column->children, range, out) : NULL;
    }
}

/* One element. keep_null: a value that is null is written. */
INLINED uint8_t *put(frame_t *frame, column_t *of, int64_t index, const column_key_t *key, bool keep_null,
                     uint8_t *out) {
    const bool plain = of->kind && of->kind < KIND_DICTIONARY && !of->valid;
    column_t *const column = __builtin_expect(plain, 1) ? of : resolve(frame, of, &index);
    if (!column && (frame->state != WELL || !keep_null))
        return frame->state == WELL ? out : NULL;
    if (__builtin_expect(!has_room(frame, out, key->length), 0))
        return too_large(frame);
    uint8_t *const head = out;
    out = put_key(out, column ? column->bson : BSON_TYPE_NULL, key);
    return column ? put_value(frame, column, index, head, out) : out;
}

/* Instead of a document that is too large: one that a reader rejects. */
static uint8_t *put_too_large(uint8_t *out) {
    static const uint8_t why[] = "its document would be larger than the 16 MiB that a server stores";
    static const column_key_t no_key = {(const uint8_t *)"", 0, false};
    uint8_t *const from = out;
    out = put_key(out + 4, BSON_TYPE_SYMBOL, &no_key);
    return end_document(from, bsonw_text(out, why, sizeof why - 1));
}

uint8_t *encode_row(frame_t *frame, uint8_t *out) {
    column_t *const root = &frame->root;
    uint8_t *end;
    frame->state = WELL;
    frame->limit = out + COLUMNS_MOST_DOCUMENT;
    if (bind_is_valid(root, frame->at))
        end = put_fields(frame, root, root->offset + frame->at, out);
    else
        end = end_document(out, out + 4); /* a row that is null as a whole has no values */
    if (end && end - out > COLUMNS_MOST_DOCUMENT)
        end = too_large(frame);
    return frame->state == TOO_LARGE ? put_too_large(out) : end;
}
