/* Texts in quotes, and numbers. */
#include "base/chars.h"
#include "base/numbers.h"
#include "format/json/json_inner.h"
#include "format/values/convert.h"
#include "format/values/hex.h"

#include <math.h>
#include <stdio.h>

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
    if (JSON_LIKELY(byte)) {
        *(*to)++ = byte;
        return at + 2;
    }
    if (at[1] == 'u')
        return unicode(json, at, to);
    if (at[1] > ' ' && at[1] < 0x7F)
        return json_reject(json, at, "\\%c is not an escape of JSON", at[1]);
    return json_reject(json, at, "a backslash is not followed by an escape of JSON");
}

/* ---- texts ---- */

const uint8_t *json_text_long(json_value_t *json, const uint8_t *at, uint8_t *to, size_t *length) {
    const uint8_t *const begin = at;
    uint8_t *into = to;
    uint32_t high = 0;
    for (;;) {
        if (JSON_UNLIKELY(into > json->limit))
            return json_full(json, into);
        const json_marks_t marks = json_marks_copy(at, into);
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
            return odd ? json_reject_utf8(json, odd) : at + 1;
        }
        if (*at != '\\')
            return json_reject(
                json, at, "the control character 0x%02X may not stand within quotes: it is written \\u%04x",
                *at, *at);
        if (json_ended(json, at + 1))
            break;
        at = escape(json, at, &into);
        if (JSON_UNLIKELY(!at))
            return NULL;
        if (json_ended(json, at))
            break;
    }
    return json_reject(json, begin - 1, "the text within the quotes has no end");
}

/* ---- numbers ---- */

enum { MOST_DIGITS = 19 }; /* that always fit in 64 bits */

static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* How many of the next eight bytes are digits, before one that is none; their value is appended to *value. */
JSON_INLINED uint32_t more_digits(const uint8_t *at, uint64_t *value) {
    const uint64_t word = digits_load(at) ^ DIGITS_ZEROS;
    const uint64_t others = (word | (word + 0x7676767676767676u)) & 0x8080808080808080u;
    const uint32_t count = others ? (uint32_t)__builtin_ctzll(others) >> 3 : 8;
    if (JSON_LIKELY(count))
        *value = *value * tens[count] + digits_value(word << (64 - 8 * count));
    return count;
}

static const uint8_t *put_int(json_value_t *json, const uint8_t *at, uint8_t *type, int64_t value) {
    if (value >= INT32_MIN && value <= INT32_MAX) {
        *type = BSON_TYPE_INT32;
        json->out = bsonw_int32(json->out, (int32_t)value);
    } else {
        *type = BSON_TYPE_INT64;
        json->out = bsonw_int64(json->out, value);
    }
    return at;
}

static const uint8_t *put_double(json_value_t *json, const uint8_t *at, uint8_t *type, double value) {
    *type = BSON_TYPE_DOUBLE;
    json->out = bsonw_double(json->out, value);
    return at;
}

bool json_vanishes(const uint8_t *text, size_t length, double value) {
    if (value != 0)
        return false;
    for (const uint8_t *at = text; at < text + length && *at != 'e' && *at != 'E'; at++)
        if (*at >= '1' && *at <= '9')
            return true;
    return false;
}

/* Is a whole number, of `count` digits, the same as a double, or what a double is printed as? */
static bool is_same(const char *text, size_t count, double value) {
    char exact[400], digits[NUMBER_DIGITS];
    int exponent;
    const size_t kept = number_shortest(value, digits, &exponent);
    return ((size_t)exponent == count - 1 && memcmp(text, digits, kept) == 0 &&
            strspn(text + kept, "0") == count - kept) ||
           (snprintf(exact, sizeof exact, "%.0f", value) == (int)count && memcmp(exact, text, count) == 0);
}

static const uint8_t *whole_number(json_value_t *json, const uint8_t *begin, const uint8_t *at,
                                   uint8_t *type) {
    int64_t value;
    const uint8_t *const digits = begin + (*begin == '-');
    if (convert_int(begin, (size_t)(at - begin), &value))
        return put_int(json, at, type, value);
    if (at - digits == 1 && *digits == '0')
        return put_double(json, at, type, -0.0);
    double number;
    number_read((const char *)digits, (size_t)(at - digits), &number);
    if (!isfinite(number) || !is_same((const char *)digits, (size_t)(at - digits), number))
        return json_reject(
            json, begin,
            "a double would not keep all digits of this number: write {\"$numberDecimal\": \"...\"}");
    return put_double(json, at, type, *begin == '-' ? -number : number);
}

/* Digits, at least one. */
static const uint8_t *over_digits(json_value_t *json, const uint8_t *at) {
    const uint8_t *const first = at;
    while (at < json->end && *at >= '0' && *at <= '9')
        at++;
    return at > first ? at : json_reject(json, at, "a number has no digit here");
}

/* A number of any form, checked byte by byte. */
static const uint8_t *any_number(json_value_t *json, const uint8_t *begin, uint8_t *type) {
    const uint8_t *const digits = begin + (*begin == '-');
    if (*digits == 'I' && digits < json->end)
        return json_shell(json, begin, type);
    const uint8_t *at = over_digits(json, digits);
    if (at && *digits == '0' && at - digits > 1)
        return json_reject(json, digits, "a number begins with 0");
    const bool point = at && at < json->end && *at == '.';
    if (point)
        at = over_digits(json, at + 1);
    const bool exponent = at && at < json->end && (*at == 'e' || *at == 'E');
    if (exponent)
        at = over_digits(json, at + 1 + (at + 1 < json->end && (at[1] == '-' || at[1] == '+')));
    if (!at)
        return NULL;
    if (json_ended(json, at)) /* what follows it may be digits */
        return json_too_short(json);
    if (!point && !exponent)
        return whole_number(json, begin, at, type);
    double value;
    const size_t length = (size_t)(at - begin);
    number_read((const char *)begin, length, &value);
    if (!isfinite(value))
        return json_reject(json, begin, "this number is larger than a double can hold");
    if (json_vanishes(begin, length, value))
        return json_reject(json, begin, "this number is smaller than a double can hold: it would become 0");
    return put_double(json, at, type, value);
}

static bool has_exponent(const uint8_t *at) {
    return *at == 'e' || *at == 'E';
}

/* The usual numbers, eight digits at a time. */
const uint8_t *json_number(json_value_t *json, const uint8_t *at, uint8_t *type) {
    const bool minus = *at == '-';
    const uint8_t *const begin = at, *const digits = at + minus;
    uint64_t mantissa = 0;
    uint32_t count = more_digits(digits, &mantissa);
    if (JSON_UNLIKELY(count == 8)) {
        count += more_digits(digits + 8, &mantissa);
        if (count == 16)
            return any_number(json, begin, type);
    }
    if (JSON_UNLIKELY(!count || (*digits == '0' && count > 1)))
        return any_number(json, begin, type);
    at = digits + count;
    if (*at != '.') {
        if (JSON_UNLIKELY(has_exponent(at) || (minus && !mantissa)))
            return any_number(json, begin, type);
        return put_int(json, at, type, minus ? -(int64_t)mantissa : (int64_t)mantissa);
    }
    at++;
    uint32_t scale = more_digits(at, &mantissa);
    for (uint32_t more = scale; JSON_UNLIKELY(more == 8 && scale < MOST_DIGITS); scale += more)
        more = more_digits(at + scale, &mantissa);
    at += scale;
    if (JSON_UNLIKELY(!scale || count + scale > MOST_DIGITS || has_exponent(at)))
        return any_number(json, begin, type);
    double value;
    if (!convert_scaled(mantissa, -(long)scale, &value)) {
        number_read((const char *)begin, (size_t)(at - begin), &value);
        return put_double(json, at, type, value);
    }
    return put_double(json, at, type, minus ? -value : value);
}
