#include "base/numbers.h"
#include "format/json/json_inner.h"
#include "format/values/convert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* ------------------------------------------------------------------------------------------------ any number at all */

static const uint8_t *over_digits(const uint8_t *at, const uint8_t *end) {
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

static const uint8_t *no_digit(json_value_t *json, const uint8_t *at) {
    return json_reject(json, at, "a number has no digit here");
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

/* A number of any form, checked byte by byte. */
static const uint8_t *any_number(json_value_t *json, const uint8_t *begin, uint8_t *type) {
    const uint8_t *at = begin + (*begin == '-'), *const digits = at, *const end = json->end;
    at = over_digits(at, end);
    if (at == digits)
        return *at == 'I' ? json_shell(json, begin, type) : no_digit(json, at);
    if (*digits == '0' && at - digits > 1)
        return json_reject(json, digits, "a number begins with 0");
    const bool point = at < end && *at == '.';
    if (point) {
        const uint8_t *const first = ++at;
        at = over_digits(at, end);
        if (at == first)
            return no_digit(json, at);
    }
    const bool exponent = at < end && (*at == 'e' || *at == 'E');
    if (exponent) {
        at++;
        at += at < end && (*at == '-' || *at == '+');
        const uint8_t *const first = at;
        at = over_digits(at, end);
        if (at == first)
            return no_digit(json, at);
    }
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

/* ------------------------------------------------------------------------------------------------- the usual numbers */

static bool goes_on(uint8_t byte) {
    return byte == 'e' || byte == 'E';
}

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
        if (JSON_UNLIKELY(goes_on(*at) || (minus && !mantissa)))
            return any_number(json, begin, type);
        return put_int(json, at, type, minus ? -(int64_t)mantissa : (int64_t)mantissa);
    }
    at++;
    uint32_t scale = more_digits(at, &mantissa);
    for (uint32_t more = scale; JSON_UNLIKELY(more == 8 && scale < MOST_DIGITS); scale += more)
        more = more_digits(at + scale, &mantissa);
    at += scale;
    if (JSON_UNLIKELY(!scale || count + scale > MOST_DIGITS || goes_on(*at)))
        return any_number(json, begin, type);
    double value;
    if (!convert_scaled(mantissa, -(long)scale, &value)) {
        number_read((const char *)begin, (size_t)(at - begin), &value);
        return put_double(json, at, type, value);
    }
    return put_double(json, at, type, minus ? -value : value);
}
