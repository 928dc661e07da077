#include "base/chars/number.h"
#include "format/json/json_inner.h"
#include "format/values/convert.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_DIGITS = 19 }; /* that always fit in 64 bits */

static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* How many of the next eight bytes are digits, before one that is none; their value is appended to *value. */
JSON_INLINED uint32_t more_digits(const uint8_t *at, uint64_t *value) {
    const uint64_t word = digits_load(at) ^ 0x3030303030303030u;
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

/* The digits of a whole number without those zeros at its end. */
static size_t without_zeros(const char *digits, size_t count) {
    while (count > 1 && digits[count - 1] == '0')
        count--;
    return count;
}

/* Is a whole number, of `count` digits, the same as a double, or what a double is printed as? */
static bool is_same(const char *digits, size_t count, double value) {
    char exact[400], shortest[64];
    if (snprintf(exact, sizeof exact, "%.0f", value) == (int)count && memcmp(exact, digits, count) == 0)
        return true;
    size_t kept = 0;
    const size_t printed = convert_print_number(value, 0, (uint8_t *)shortest);
    char *const exponent = memchr(shortest, 'e', printed);
    if (!exponent)
        return false;
    shortest[printed] = '\0';
    if (strtol(exponent + 1, NULL, 10) != (long)count - 1)
        return false;
    for (const char *at = shortest; at < exponent; at++)
        if (*at != '.')
            shortest[kept++] = *at;
    kept = without_zeros(shortest, kept);
    return kept == without_zeros(digits, count) && memcmp(shortest, digits, kept) == 0;
}

static const uint8_t *whole_number(json_value_t *json, const uint8_t *begin, const uint8_t *at,
                                   uint8_t *type) {
    int64_t value;
    const uint8_t *const digits = begin + (*begin == '-');
    if (convert_int(begin, (size_t)(at - begin), &value))
        return put_int(json, at, type, value);
    if (at - digits == 1 && *digits == '0')
        return put_double(json, at, type, -0.0);
    const double number = number_read((const char *)digits, NULL);
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
    if (length > 500 || !convert_number(begin, length, 0, &value))
        value = number_read((const char *)begin, NULL);
    if (!isfinite(value))
        return json_reject(json, begin, "this number is larger than a double can hold");
    if (json_vanishes(begin, length, value))
        return json_reject(json, begin, "this number is smaller than a double can hold: it would become 0");
    return put_double(json, at, type, value);
}

/* ------------------------------------------------------------------------------------------------- the usual numbers */

#if LDBL_MANT_DIG == 64
/* `mantissa` / 10^scale, scale at most 27. With 64 bits both are exact, so the quotient is rounded once, and then again
 * to the 53 bits of a double. That is the nearest double, unless the quotient looks as if it lay in the middle between
 * two. */
static bool divide(uint64_t mantissa, uint32_t scale, double *value) {
    static const long double powers_long[] = {
        1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
        1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    const long double quotient = (long double)mantissa / powers_long[scale];
    uint64_t bits;
    memcpy(&bits, &quotient, 8);
    *value = (double)quotient;
    return (bits & 0x7FF) != 0x400;
}
#else
static bool divide(uint64_t mantissa, uint32_t scale, double *value) {
    (void)mantissa, (void)scale, (void)value;
    return false;
}
#endif

/* The decimal number of these digits, `scale` of them after the point. False: it takes a closer look. */
JSON_INLINED bool decimal(uint64_t mantissa, uint32_t scale, double *value) {
    if (JSON_LIKELY(mantissa <= 1ull << 53 && scale <= 22)) {
        *value = (double)mantissa / powers[scale];
        return true;
    }
    return scale <= 27 && divide(mantissa, scale, value);
}

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
    if (scale == 8) {
        if (count > 11)
            return any_number(json, begin, type);
        scale += more_digits(at + 8, &mantissa);
        if (scale == 16)
            return any_number(json, begin, type);
    }
    at += scale;
    double value;
    if (JSON_UNLIKELY(!scale || count + scale > MOST_DIGITS || goes_on(*at) ||
                      !decimal(mantissa, scale, &value)))
        return any_number(json, begin, type);
    return put_double(json, at, type, minus ? -value : value);
}
