/* Objects and arrays, their keys, texts and numbers, and what is said about those that cannot be read. */
#include "base/chars.h"
#include "base/numbers.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/json/json_inner.h"
#include "format/values/values.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    HEADER = 4,                                   /* bytes of a document's length */
    MOST_WRITTEN = JSON_MOST_BYTES + JSON_MARGIN, /* a typed value may be shorter than what it is made of */
    FIRST_SLOTS = 512,
    KEY_SHOWN = 60,
};

#define TOO_LARGE "its document is larger than 16 MiB"

#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

static const uint8_t *read_object(json_value_t *json, const uint8_t *at, uint8_t *type);
static const uint8_t *read_array(json_value_t *json, const uint8_t *at);

/* ---- failures ---- */

const uint8_t *json_reject(json_value_t *json, const uint8_t *at, const char *format, ...) {
    json->failure = PARSED_REJECT;
    json->place = at < json->end ? at : json->end;
    va_list values;
    va_start(values, format);
    vsnprintf(json->reason, sizeof json->reason,
              at < json->end ? format : "the text ends before the document does", values);
    va_end(values);
    return NULL;
}

const uint8_t *json_memory(json_value_t *json) {
    json->failure = PARSED_MEMORY;
    return NULL;
}

/* There is no room for what ends at `end`: or the document is too large. */
static __attribute__((cold)) const uint8_t *full(json_value_t *json, const uint8_t *end) {
    if (end > json->start && (size_t)(end - json->start) > MOST_WRITTEN)
        return json_reject(json, json->text, TOO_LARGE);
    json->failure = PARSED_FULL;
    return NULL;
}

/* ---- keys ---- */

INLINED uint64_t mix(uint64_t a, uint64_t b) {
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* 8 bytes after the key may be read. */
INLINED uint32_t hash(const json_keys_t *keys, const uint8_t *key, size_t length) {
    uint64_t first, last = 0, state = keys->seed ^ length;
    for (; length > 16; key += 8, length -= 8) {
        memcpy(&first, key, 8);
        state = mix(state ^ first, 0x9E3779B97F4A7C15u);
    }
    memcpy(&first, key, 8);
    if (length > 8)
        memcpy(&last, key + length - 8, 8);
    else
        first = length ? first << (8 * (8 - length)) : 0;
    return (uint32_t)(mix(first ^ state, last ^ 0xD6E8FEB86659FD93u) >> 32);
}

INLINED json_key_t *slot_of(const json_keys_t *keys, const json_key_t *key) {
    return &keys->slots[(key->hash + (uint32_t)(key->object - keys->first) * 0x9E3779B1u) & keys->mask];
}

static json_key_t *next_slot(const json_keys_t *keys, const json_key_t *slot) {
    return &keys->slots[(size_t)(slot - keys->slots + 1) & keys->mask];
}

/* Moves the keys to a table of this size. False: out of memory. */
static bool resize(json_keys_t *keys, uint32_t slots) {
    json_keys_t more = *keys;
    more.mask = slots - 1;
    more.slots = calloc(slots, sizeof *more.slots);
    if (!more.slots)
        return false;
    for (json_key_t *key = keys->slots; key && key <= keys->slots + keys->mask; key++) {
        json_key_t *slot = slot_of(&more, key);
        while (slot->object)
            slot = next_slot(&more, slot);
        if (key->object >= keys->first)
            *slot = *key;
    }
    free(keys->slots);
    *keys = more;
    return true;
}

/* What is not simply put into an empty slot. at: the key in the text. */
static const uint8_t *add_key_slowly(json_value_t *json, const json_key_t *key, size_t length,
                                     const uint8_t *at) {
    json_keys_t *const keys = &json->keys;
    char shown[KEY_SHOWN];
    if (keys->used > keys->mask / 2 && !resize(keys, 4 * (keys->mask + 1)))
        return json_memory(json);
    json_key_t *slot = slot_of(keys, key);
    for (; slot->object >= keys->first; slot = next_slot(keys, slot))
        if (slot->object == key->object && slot->hash == key->hash &&
            memcmp(json->start + slot->key, json->start + key->key, length + 1) == 0) {
            escape_text(shown, sizeof shown, (const char *)json->start + key->key, length);
            return json_reject(json, at, "the key \"%s\" is there twice", shown);
        }
    *slot = *key;
    keys->used++;
    return at;
}

/* text: the key's bytes, as they are in the document at `key`. at: its quote. NULL: it is there twice. */
INLINED const uint8_t *add_key(json_value_t *json, uint64_t object, const uint8_t *text, size_t length,
                               const uint8_t *key, const uint8_t *at) {
    json_keys_t *const keys = &json->keys;
    const json_key_t added = {object, hash(keys, text, length), (uint32_t)(key - json->start)};
    json_key_t *const slot = slot_of(keys, &added);
    if (UNLIKELY(slot->object >= keys->first || keys->used > keys->mask / 2))
        return add_key_slowly(json, &added, length, at);
    *slot = added;
    keys->used++;
    return at;
}

/* ---- blanks ---- */

const uint8_t *json_blanks(json_value_t *json, const uint8_t *at) {
    for (; at < json->end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'); at++)
        json->lines += *at == '\n';
    return at;
}

INLINED const uint8_t *blanks(json_value_t *json, const uint8_t *at) {
    if (LIKELY(*at > ' '))
        return at;
    if (LIKELY(*at == ' ' && at[1] > ' '))
        return at + 1;
    return json_blanks(json, at);
}

/* ---- escapes ---- */

/* Four digits; less than 0: they are not. */
static int32_t unit(const uint8_t *at) {
    uint8_t bytes[2];
    return hex_read(at, 4, bytes, NULL) ? bytes[0] << 8 | bytes[1] : -1;
}

/* \uXXXX, perhaps with its other half. `at` is the backslash. */
static const uint8_t *unicode(json_value_t *json, const uint8_t *at, uint8_t **to) {
    const int32_t first = unit(at + 2);
    if (first < 0)
        return json_reject(json, at, "\\u is not followed by four hexadecimal digits");
    uint32_t code = (uint32_t)first;
    const uint8_t *next = at + 6;
    if (code >= 0xD800 && code < 0xE000) {
        int32_t second = -1;
        if (code < 0xDC00 && next < json->end && next[0] == '\\' && next[1] == 'u')
            second = unit(next + 2);
        if (second < 0xDC00 || second > 0xDFFF)
            return json_reject(json, at, "%.6s is one half of a character, and the other half is missing",
                               (const char *)at);
        code = 0x10000 + ((code - 0xD800) << 10) + ((uint32_t)second - 0xDC00);
        next += 6;
    }
    *to += utf8_put(*to, code);
    return next;
}

/* `at` is the backslash. */
static const uint8_t *escape(json_value_t *json, const uint8_t *at, uint8_t **to) {
    static const uint8_t plain[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                       ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    const uint8_t byte = plain[at[1]];
    if (LIKELY(byte)) {
        *(*to)++ = byte;
        return at + 2;
    }
    return at[1] == 'u' ? unicode(json, at, to)
                        : json_reject(json, at, "a backslash is not followed by an escape of JSON");
}

/* ---- texts ---- */

/* What 16 bytes of a text within quotes are, as one bit for each. */
typedef struct {
    uint32_t stop; /* a quote, a backslash, or a control character */
    uint32_t high; /* no ASCII */
} marks_t;

typedef uint8_t vector_t __attribute__((vector_size(16)));

/* The highest bit of each byte. */
INLINED uint32_t high_bits(vector_t bytes) {
#if defined(__SSE2__)
    return (uint32_t)__builtin_ia32_pmovmskb128((char __attribute__((vector_size(16))))bytes);
#else
    uint32_t bits = 0;
    for (uint32_t i = 0; i < sizeof bytes; i++)
        bits |= (uint32_t)(bytes[i] >> 7) << i;
    return bits;
#endif
}

/* Also copies them. */
INLINED marks_t copy_marks(const uint8_t *at, uint8_t *to) {
    vector_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    memcpy(to, &bytes, sizeof bytes);
    return (marks_t){high_bits((vector_t)((bytes == '"') | (bytes == '\\') | (bytes < ' '))),
                     high_bits(bytes)};
}

/* Copies a text whose first quote lies before `at`, and puts no NUL after it. `to` has room up to the limit and the margin. */
static const uint8_t *read_long_text(json_value_t *json, const uint8_t *at, uint8_t *to, size_t *length) {
    const uint8_t *const begin = at;
    uint8_t *into = to;
    uint32_t high = 0;
    for (;;) {
        if (UNLIKELY(into > json->limit))
            return full(json, into);
        const marks_t marks = copy_marks(at, into);
        const int count = marks.stop ? __builtin_ctz(marks.stop) : 16;
        high |= marks.high & ((1u << count) - 1);
        at += count;
        into += count;
        if (json_ended(json, at))
            break;
        if (!marks.stop)
            continue;
        if (*at == '"') {
            const uint8_t *const odd = high ? utf8_wrong(begin, at) : NULL;
            *length = (size_t)(into - to);
            return odd ? json_reject(json, odd, "this is not UTF-8: byte 0x%02X", *odd) : at + 1;
        }
        if (*at != '\\')
            return json_reject(
                json, at, "the control character 0x%02X may not stand within quotes: it is written \\u%04x",
                *at, *at);
        if (json_ended(json, at + 1))
            break;
        at = escape(json, at, &into);
        if (UNLIKELY(!at))
            return NULL;
        if (json_ended(json, at))
            break;
    }
    return json_reject(json, begin - 1, "the text within the quotes has no end");
}

/* The same; most texts are short, without escapes, and plain ASCII. */
INLINED const uint8_t *read_quoted(json_value_t *json, const uint8_t *at, uint8_t *to, size_t *length) {
    const marks_t marks = copy_marks(at, to);
    const uint32_t count = marks.stop ? (uint32_t)__builtin_ctz(marks.stop) : 0;
    if (UNLIKELY(!marks.stop || at[count] != '"' || marks.high & ((1u << count) - 1)))
        return read_long_text(json, at, to, length);
    *length = count;
    return at + count + 1;
}

/* A text as a value. `at` follows its quote. */
INLINED const uint8_t *read_text(json_value_t *json, const uint8_t *at) {
    uint8_t *const out = json->out, *const to = out + 4;
    size_t length;
    at = read_quoted(json, at, to, &length);
    if (UNLIKELY(!at))
        return NULL;
    bsonw_int32(out, (int32_t)length + 1);
    to[length] = 0;
    json->out = to + length + 1;
    return at;
}

/* ---- numbers ---- */

enum { MOST_DIGITS = 19 }; /* that always fit in 64 bits */

/* How many of the next eight bytes are digits, before one that is none; their value is appended to *value. */
INLINED uint32_t more_digits(const uint8_t *at, uint64_t *value) {
    const uint64_t word = digits_load(at) ^ DIGITS_ZEROS;
    const uint32_t count = (uint32_t)digits_count(word);
    if (LIKELY(count))
        *value = *value * digits_tens[count] + digits_value(word << (64 - 8 * count));
    return count;
}

INLINED const uint8_t *put_int(json_value_t *json, const uint8_t *at, uint8_t *type, int64_t value) {
    if (value >= INT32_MIN && value <= INT32_MAX) {
        *type = BSON_TYPE_INT32;
        json->out = bsonw_int32(json->out, (int32_t)value);
    } else {
        *type = BSON_TYPE_INT64;
        json->out = bsonw_int64(json->out, value);
    }
    return at;
}

INLINED const uint8_t *put_double(json_value_t *json, const uint8_t *at, uint8_t *type, double value) {
    *type = BSON_TYPE_DOUBLE;
    json->out = bsonw_double(json->out, value);
    return at;
}

/* Over digits. Their value is appended to *value, which is right as far as they are MOST_DIGITS. */
INLINED const uint8_t *pass_digits(const json_value_t *json, const uint8_t *at, uint64_t *value) {
    uint32_t count = more_digits(at, value);
    for (at += count; UNLIKELY(count == 8) && at < json->end; at += count)
        count = more_digits(at, value);
    return at;
}

/* Numbers with an exponent or with many digits, the whole number -0, and what is none. is: as far as `at` it has the form of
 * JSON. */
static const uint8_t *odd_number(json_value_t *json, const uint8_t *begin, const uint8_t *at, bool is,
                                 bool is_whole, uint8_t *type) {
    int64_t whole;
    double value;
    if (*begin == '-' && begin[1] == 'I')
        return json_shell(json, begin, type);
    if ((*at | 0x20) == 'e')
        for (is_whole = false, at++; at < json->end && (digits_is_one(*at) || *at == '+' || *at == '-'); at++)
            ;
    const size_t length = (size_t)(at - begin);
    if (json_ended(json, at)) /* what follows it may be digits */
        return json_reject(json, at, " ");
    if (is && is_whole && convert_int(begin, length, &whole))
        return put_int(json, at, type, whole);
    if (is && (is_whole ? convert_kept(begin, length, 0, &value) : convert_number(begin, length, 0, &value)))
        return put_double(json, at, type, value);
    return json_reject(
        json, begin, "this is no number, or a double would not keep it: write {\"$numberDecimal\": \"...\"}");
}

static const uint8_t *read_number(json_value_t *json, const uint8_t *at, uint8_t *type) {
    const bool minus = *at == '-';
    const uint8_t *const begin = at, *const digits = at + minus;
    uint64_t mantissa = 0;
    double value;
    const uint8_t *const point = at = pass_digits(json, digits, &mantissa);
    if (UNLIKELY(at == digits || (*digits == '0' && at > digits + 1)))
        return odd_number(json, begin, at, false, true, type);
    if (*at != '.')
        return LIKELY(at - digits < MOST_DIGITS && (*at | 0x20) != 'e' && (mantissa || !minus))
                   ? put_int(json, at, type, minus ? -(int64_t)mantissa : (int64_t)mantissa)
                   : odd_number(json, begin, at, true, true, type);
    at = pass_digits(json, point + 1, &mantissa);
    if (UNLIKELY(at == point + 1 || at - digits > MOST_DIGITS + 1 || (*at | 0x20) == 'e'))
        return odd_number(json, begin, at, at > point + 1, false, type);
    if (convert_scaled(mantissa, point + 1 - at, &value))
        value = minus ? -value : value;
    else
        number_read((const char *)begin, (size_t)(at - begin), &value);
    return put_double(json, at, type, value);
}

/* ---- values ---- */

INLINED const uint8_t *read_value(json_value_t *json, const uint8_t *at, uint8_t *type) {
    at = blanks(json, at);
    switch (*at) {
    case '"':
        *type = BSON_TYPE_UTF8;
        return read_text(json, at + 1);
    case '-':
    case '0' ... '9':
        return read_number(json, at, type);
    case '{':
        *type = BSON_TYPE_DOCUMENT;
        return read_object(json, at + 1, type);
    case '[':
        *type = BSON_TYPE_ARRAY;
        return read_array(json, at + 1);
    case 't':
        if (memcmp(at, "true", 4) != 0)
            break;
        *type = BSON_TYPE_BOOL;
        *json->out++ = 1;
        return at + 4;
    case 'f':
        if (memcmp(at, "false", 5) != 0)
            break;
        *type = BSON_TYPE_BOOL;
        *json->out++ = 0;
        return at + 5;
    case 'n':
        if (memcmp(at, "null", 4) != 0)
            break;
        *type = BSON_TYPE_NULL;
        return at + 4;
    default:
        break;
    }
    return json_shell(json, at, type);
}

/* A value for which, or for parts of which, a format has types. around: the place of the object or array around the value. */
static const uint8_t *read_typed(json_value_t *json, json_place_t around, const uint8_t *at, uint8_t *element,
                                 bool item) {
    const json_place_t place = item ? around : json_below(json->schema, around, (const char *)element + 1);
    json->below = place;
    at = read_value(json, at, element);
    if (at && place.field && !place.field->key[place.length] && *element != BSON_TYPE_ARRAY &&
        !json_convert(json, place.field, element, item))
        at = json_memory(json);
    json->below = around;
    return at;
}

/* After the last bracket of an object or array. */
INLINED const uint8_t *ascend(json_value_t *json, const uint8_t *at, uint8_t *begin) {
    *json->out++ = 0;
    bsonw_int32(begin, (int32_t)(json->out - begin));
    json->level--;
    if (UNLIKELY(json->out > json->limit))
        return full(json, json->out);
    return at;
}

/* ---- keys of members ---- */

/* A key, from its quote on, and the colon. */
INLINED const uint8_t *read_key(json_value_t *json, const uint8_t *at, uint64_t object, uint8_t *element) {
    uint8_t *const key = element + 1;
    size_t length;
    if (UNLIKELY(*at != '"'))
        return json_reject(json, at, "a key in quotes was expected here");
    const uint8_t *const quote = at, *hashed = at + 1; /* what was just written would have to be waited for */
    at = read_quoted(json, hashed, key, &length);
    if (UNLIKELY(!at))
        return NULL;
    if (UNLIKELY(at != hashed + length + 1)) { /* it has escapes */
        if (memchr(key, 0, length))
            return json_reject(json, quote, "a key contains the character \\u0000");
        hashed = key;
    }
    key[length] = 0;
    json->out = key + length + 1;
    if (UNLIKELY(json->level == 1 && length == 3 && memcmp(key, "_id", 4) == 0) && !json->has_own_id) {
        json->has_own_id = true;
        json->own_id = json->id ? element : NULL;
    }
    if (UNLIKELY(!add_key(json, object, hashed, length, key, quote)))
        return NULL;
    at = blanks(json, at);
    return *at == ':' ? at + 1 : json_reject(json, at, "a colon was expected here, after the key");
}

/* Would a server store the time of day in place of the timestamp that was just written? Not as the _id, or deeper. */
INLINED bool is_replaced(const json_value_t *json, uint8_t type, const uint8_t *element) {
    static const uint8_t zeros[8];
    return UNLIKELY(type == BSON_TYPE_TIMESTAMP) && json->level == 1 && json->id && element != json->own_id &&
           memcmp(json->out - sizeof zeros, zeros, sizeof zeros) == 0;
}

/* ---- objects and arrays ---- */

/* Both are members between brackets, with commas; those of an array have their index for a key. `at` follows the bracket. type:
 * of the element that it is; NULL: it is never a typed value. */
INLINED const uint8_t *read_members(json_value_t *json, const uint8_t *at, uint8_t *type, uint8_t close) {
    const bool array = close != '}';
    uint8_t *const begin = json->out;
    const uint64_t object = json->keys.next++;
    const json_place_t around = json->below;
    const json_word_t *word = NULL;
    const uint8_t *first = NULL; /* the first value, where there is a word */
    if (json_ended(json, at))    /* so no more than one token is read after the end */
        return json_reject(json, at, " ");
    if (UNLIKELY(++json->level > JSON_MOST_LEVELS))
        return json_reject(json, at - 1, "it is nested deeper than the %d levels that a server stores",
                           JSON_MOST_LEVELS);
    json->out += HEADER;
    if (!array && json->level == 1 && json->id)
        json->out = bsonw_id(json->out, *json->id);
    at = blanks(json, at);
    if (*at == close && at < json->end)
        return ascend(json, at + 1, begin);
    for (uint32_t index = 0;; index++) {
        uint8_t *const element = json->out;
        if (UNLIKELY(element > json->limit))
            return full(json, element);
        if (array) {
            json->out = bsonw_index(element + 1, index);
        } else {
            at = read_key(json, at, object, element);
            if (UNLIKELY(!at))
                return NULL;
            if (UNLIKELY(element[1] == '$') && type && index == 0 && (word = json_word(element + 1)))
                first = blanks(json, at);
        }
        at = UNLIKELY(around.field != NULL) ? read_typed(json, around, at, element, array)
                                            : read_value(json, at, element);
        if (UNLIKELY(!at))
            return NULL;
        if (!array && is_replaced(json, *element, element))
            return json_reject(json, at, RECORD_SERVER_REPLACES);
        at = blanks(json, at);
        if (UNLIKELY(json_ended(json, at) || (*at != ',' && *at != close)))
            return json_reject(json, at, "a comma or %c was expected here", close);
        if (*at == close)
            break;
        at = blanks(json, at + 1);
    }
    at = ascend(json, at + 1, begin);
    if (array || LIKELY(!word) || !at)
        return at;
    json->typed = first;
    return json_typed(json, word, begin, type) ? at : NULL;
}

static const uint8_t *read_array(json_value_t *json, const uint8_t *at) {
    return read_members(json, at, NULL, ']');
}

static const uint8_t *read_object(json_value_t *json, const uint8_t *at, uint8_t *type) {
    return read_members(json, at, type, '}');
}

const uint8_t *json_arguments(json_value_t *json, const uint8_t *at) {
    const json_place_t around = json->below;
    json->below.field = NULL;
    at = read_members(json, at, NULL, ')');
    json->below = around;
    return at;
}

/* ---- whole documents ---- */

/* Puts the _id of the text's own where ours is. */
static bool move_own_id(json_value_t *json) {
    enum { KEY = 3 };
    uint8_t *const ours = json->start + HEADER;
    bson_iter_t at;
    bson_iter_init_from_data_at_offset(&at, json->start, (size_t)(json->out - json->start),
                                       (uint32_t)(json->own_id - json->start), KEY);
    const uint8_t *const end = bson_iter_next(&at) ? json->start + bson_iter_offset(&at) : json->out - 1;
    const size_t length = (size_t)(end - json->own_id);
    if (!GROW(json->moved, json->moved_room, length, NULL))
        return json_memory(json);
    memcpy(json->moved, json->own_id, length);
    memmove(ours + length, ours + BSONW_ID, (size_t)(json->own_id - ours) - BSONW_ID);
    memcpy(ours, json->moved, length);
    memmove(ours + (end - ours) - BSONW_ID, end, (size_t)(json->out - end));
    json->out -= BSONW_ID;
    bsonw_int32(json->start, (int32_t)(json->out - json->start));
    return true;
}

/* `at` is the object's bracket. Returns what follows the object. */
static const uint8_t *read_document(json_value_t *json, const uint8_t *at) {
    at = read_object(json, at + 1, NULL);
    if (!at || (json->own_id && !move_own_id(json)))
        return NULL;
    return (size_t)(json->out - json->start) <= JSON_MOST_BYTES ? at
                                                                : json_reject(json, json->text, TOO_LARGE);
}

/* An object with blanks around it, and nothing else. */
static const uint8_t *read_whole(json_value_t *json) {
    const uint8_t *at = lines_blanks(json->text, json->end);
    if (json_ended(json, at) || *at != '{')
        return json_reject(json, at, "a document must be an object, which begins with {");
    at = read_document(json, at);
    at = at ? lines_blanks(at, json->end) : NULL;
    return at && at < json->end ? json_reject(json, at, "something follows the document") : at;
}

/* Why this is enough: two bytes of text ("0,") make at most 6 + 10 bytes (type, index, NUL, int32), and everything
 * else makes less for each of its bytes; the document itself and our _id take 18. A value that gets another type takes at most 12
 * bytes more. */
static size_t most_needed(const json_value_t *json, size_t length) {
    const size_t times = json->root.field ? 2 * JSON_TIMES : JSON_TIMES;
    return (length < JSON_MOST_BYTES / times ? length * times : JSON_MOST_BYTES) + JSON_AROUND;
}

static void begin(json_value_t *json, const uint8_t *text, size_t length, uint8_t *out, size_t room,
                  const int64_t *id) {
    json->text = text;
    json->end = text + length;
    json->start = json->out = out;
    json->limit = out + (room - JSON_MARGIN < MOST_WRITTEN ? room - JSON_MARGIN : MOST_WRITTEN);
    json->id = id;
    json->level = 0;
    json->lines = 0;
    json->own_id = NULL;
    json->has_own_id = false;
    json->below = json->root;
    json->keys.first = json->keys.next;
    json->keys.used = 0;
}

parsed_t json_value_read(json_value_t *json, const uint8_t *text, size_t length, bool whole, uint8_t *out,
                         size_t room, const int64_t *id) {
    if (UNLIKELY(room < JSON_MARGIN)) {
        json->needed = most_needed(json, length);
        return PARSED_FULL;
    }
    begin(json, text, length, out, room, id);
    if (UNLIKELY(json->root.field != NULL)) {
        *json->misfit = '\0';
        bad_values_take_back(json->bad, &json->record);
    }
    const uint8_t *at = whole ? read_whole(json) : read_document(json, text);
    if (UNLIKELY(json->root.field && !at))
        bad_values_take_back(json->bad, &json->record); /* the text was not read to its end */
    else if (UNLIKELY(json->root.field && *json->misfit))
        at = json_reject(json, text, "%s", json->misfit);
    if (UNLIKELY(!at)) {
        json->needed = most_needed(json, length);
        assert(json->failure != PARSED_FULL || room < json->needed);
        return json->failure;
    }
    json->place = at;
    return PARSED_DOCUMENT;
}

/* A zero ends the copy of the text, whatever that holds. The value is read as one of a document that begins with an _id. */
uint8_t *json_value_alone(json_value_t *json, const uint8_t *text, size_t length, uint8_t *out,
                          uint8_t *type) {
    static const int64_t id;
    const uint8_t *at = NULL;
    json->failure = PARSED_MEMORY;
    if (GROW(json->copy, json->copy_room, length + 1 + POOL_SLACK, NULL)) {
        memcpy(json->copy, text, length);
        json->copy[length] = 0;
        begin(json, json->copy, length + 1, out, JSON_TIMES * length + JSON_AROUND, &id);
        json->level = 1;
        at = read_value(json, json->copy, type);
    }
    json->failed |= !at && json->failure == PARSED_MEMORY;
    return at && json_blanks(json, at) == json->end - 1 && !is_replaced(json, *type, out) ? json->out : NULL;
}

values_t *values_new(void) {
    json_value_t *json = calloc(1, sizeof *json);
    if (!json)
        return NULL;
    json->keys.next = 1;
    json->keys.seed = (uint64_t)(uintptr_t)json * 0x9E3779B97F4A7C15u;
    if (resize(&json->keys, FIRST_SLOTS))
        return json;
    free(json);
    return NULL;
}

void values_free(values_t *json) {
    if (!json)
        return;
    free(json->keys.slots);
    free(json->moved);
    free(json->copy);
    free(json);
}

bool values_failed(const values_t *json) {
    return json && json->failed;
}
