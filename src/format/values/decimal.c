#include "format/values/decimal.h"
#include "format/values/blanks.h"
#include "format/values/digits.h"

#include <bson/bson.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide_t;

enum { EXPONENT_BITS = 49, LARGEST_EXPONENT = 100000000 };

static void add_digit(decimal_t *decimal, uint8_t digit) {
    if (!digit && !decimal->count)
        return;
    if (decimal->count < DECIMAL_KEPT)
        decimal->digits[decimal->count] = digit;
    else
        decimal->more |= digit != 0;
    decimal->count++;
}

/* What follows the digits: nothing, or an exponent. */
static bool read_exponent(const uint8_t *at, const uint8_t *end, decimal_t *decimal) {
    if (at == end)
        return true;
    if (*at != 'e' && *at != 'E')
        return false;
    at++;
    const bool minus = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    int64_t exponent = 0;
    if (at == end)
        return false;
    for (; at < end && digits_is_one(*at); at++)
        exponent = exponent < LARGEST_EXPONENT ? exponent * 10 + (*at - '0') : exponent;
    decimal->exponent += minus ? -exponent : exponent;
    return at == end;
}

bool decimal_read(const uint8_t *text, size_t length, decimal_t *decimal) {
    blanks_trim(&text, &length);
    const uint8_t *at = text, *end = text + length;
    *decimal = (decimal_t){.count = 0};
    decimal->minus = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    bool any = false, point = false;
    for (; at < end && (digits_is_one(*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        any = true;
        decimal->exponent -= point;
        add_digit(decimal, (uint8_t)(*at - '0'));
    }
    return any && read_exponent(at, end, decimal);
}

/* By their absolute values. */
static int compare_sizes(const decimal_t *a, const decimal_t *b) {
    if (!a->count || !b->count)
        return (a->count > 0) - (b->count > 0);
    const int64_t high_a = a->exponent + (int64_t)a->count, high_b = b->exponent + (int64_t)b->count;
    if (high_a != high_b)
        return high_a > high_b ? 1 : -1;
    for (size_t i = 0; i < DECIMAL_KEPT; i++) {
        const uint8_t digit_a = i < a->count ? a->digits[i] : 0, digit_b = i < b->count ? b->digits[i] : 0;
        if (digit_a != digit_b)
            return digit_a > digit_b ? 1 : -1;
    }
    return (int)a->more - (int)b->more;
}

int decimal_compare(const decimal_t *a, const decimal_t *b) {
    const bool minus_a = a->minus && a->count, minus_b = b->minus && b->count;
    if (minus_a != minus_b)
        return minus_a ? -1 : 1;
    return minus_a ? compare_sizes(b, a) : compare_sizes(a, b);
}

bool decimal_fits(const decimal_t *decimal) {
    return decimal->count <= DECIMAL_DIGITS && decimal->exponent >= DECIMAL_LEAST &&
           decimal->exponent <= DECIMAL_MOST;
}

size_t decimal_print(const decimal_t *decimal, uint8_t *out) {
    const size_t count = decimal->count ? decimal->count : 1;
    const int64_t exponent = decimal->exponent;
    uint8_t *at = out;
    if (decimal->minus)
        *at++ = '-';
    if (exponent > 0 || exponent < -DECIMAL_DIGITS) {
        for (size_t i = 0; i < count; i++) {
            *at++ = (uint8_t)('0' + (decimal->count ? decimal->digits[i] : 0));
            if (i == 0 && count > 1)
                *at++ = '.';
        }
        char power[16];
        const int size = snprintf(power, sizeof power, "E%+d", (int)exponent + (int)count - 1);
        memcpy(at, power, (size_t)size);
        return (size_t)(at - out) + (size_t)size;
    }
    const size_t after = (size_t)-exponent, before = count > after ? count - after : 1;
    const size_t zeros = before + after - count; /* in front, so that there is a digit before the point */
    for (size_t i = 0; i < before + after; i++) {
        if (i == before)
            *at++ = '.';
        *at++ = (uint8_t)('0' + (i < zeros || !decimal->count ? 0 : decimal->digits[i - zeros]));
    }
    return (size_t)(at - out);
}

void decimal_store(const decimal_t *decimal, uint8_t out[16]) {
    wide_t number = 0;
    for (size_t i = 0; i < decimal->count; i++)
        number = number * 10 + decimal->digits[i];
    const uint64_t low = BSON_UINT64_TO_LE((uint64_t)number);
    const uint64_t high = BSON_UINT64_TO_LE((uint64_t)(number >> 64) |
                                            (uint64_t)(decimal->exponent - DECIMAL_LEAST) << EXPONENT_BITS |
                                            (uint64_t)decimal->minus << 63);
    memcpy(out, &low, 8);
    memcpy(out + 8, &high, 8);
}

bool decimal_load(const uint8_t bytes[16], decimal_t *decimal) {
    uint64_t low, high;
    memcpy(&low, bytes, 8);
    memcpy(&high, bytes + 8, 8);
    low = BSON_UINT64_FROM_LE(low);
    high = BSON_UINT64_FROM_LE(high);
    *decimal = (decimal_t){.minus = high >> 63};
    if ((high >> 61 & 3) == 3) /* infinite, not a number, or more digits than there can be */
        return false;
    decimal->exponent = (int64_t)(high >> EXPONENT_BITS & 0x3FFF) + DECIMAL_LEAST;
    wide_t number = (wide_t)(high & ((1ull << EXPONENT_BITS) - 1)) << 64 | low;
    uint8_t digits[DECIMAL_KEPT];
    size_t count = 0;
    for (; number; number /= 10)
        digits[count++] = (uint8_t)(number % 10);
    for (size_t i = 0; i < count; i++)
        decimal->digits[i] = digits[count - 1 - i];
    decimal->count = count;
    return decimal_fits(decimal);
}
