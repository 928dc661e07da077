#include "base/numbers.h"
#include "base/text.h"
#include "format/values/values.h"

#include <math.h>

enum {
    LONGEST_NUMBER = 504,
    MOST_DIGITS = 17,          /* that a double needs */
    SURE_DIGITS = 15,          /* that any double keeps */
    BIAS = 1074,               /* of a double whose fraction is a whole number */
    MOST_EXPONENT = 100000000, /* no double and no decimal is as large */
    GROUP = 3,                 /* digits between two marks */
    EXPONENT_BITS = 49,        /* where the exponent of 128 bits begins */
    MOST_PLAIN = 16,           /* powers of ten of printed numbers without an exponent */
    LEAST_PLAIN = -6,
};

__extension__ typedef unsigned __int128 decimal_digits_t;

/* The smallest number of 34 digits: a decimal has no room for one more. */
static const decimal_digits_t most_digits = (decimal_digits_t)1000000000000000 * 1000000000000000000;

/* ---- whole numbers ---- */

/* True for 7.3e-06 and 1.5e3, whose letter is at `at`; that of 1e5 may be one of a code. */
__attribute__((noinline)) static bool is_exact_power(const uint8_t *text, size_t length, size_t at) {
    bool exact = at + 1 < length && (text[at + 1] == '-' || text[at + 1] == '+');
    for (size_t i = 0; i < at; i++)
        exact |= text[i] == '.' || text[i] == ',';
    return exact && (text[at] | 0x20) == 'e';
}

bool convert_is_exact(const uint8_t *text, size_t length) {
    size_t at = 0;
    while (length && *text == ' ')
        text++, length--;
    if (length && *text == '-')
        text++, length--;
    for (size_t before = 8; at < length && before == 8; at += before)
        before = digits_before_letter(digits_load(text + at));
    return (at >= length || is_exact_power(text, length, at)) &&
           (!length || (*text != '+' && (*text != '0' || length < 2 || !digits_is_one(text[1]))));
}

bool convert_int(const uint8_t *text, size_t length, int64_t *value) {
    uint64_t number = 0;
    blanks_trim(&text, &length);
    const bool minus = length && *text == '-';
    const size_t sign = minus || (length && *text == '+');
    for (size_t i = sign; i < length; i++) {
        const uint64_t digit = (uint64_t)text[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, digit, &number))
            return false;
    }
    if (length == sign || number > (uint64_t)INT64_MAX + minus || (minus && !number))
        return false;
    *value = (int64_t)(minus ? 0 - number : number);
    return true;
}

size_t convert_print_int(int64_t value, uint8_t *out) {
    uint64_t number = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    uint8_t digits[20];
    size_t count = 0, used = 0;
    do
        digits[count++] = (uint8_t)('0' + number % 10);
    while (number /= 10);
    if (value < 0)
        out[used++] = '-';
    while (count)
        out[used++] = digits[--count];
    return used;
}

/* ---- the text of any number ---- */

const double convert_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* The text of a number as digits * 10^scale; its sign is in minus. */
typedef struct {
    uint64_t digits; /* the first ones, at most MOST_DIGITS */
    long scale, exponent;
    size_t mantissa;  /* its length, with the sign */
    bool minus, more; /* a digit after these is not 0 */
} plain_t;

/* Takes digits up to the first byte that is none: up to eight at a time where all bytes may be read. */
INLINED const uint8_t *take_digits(const uint8_t *at, const uint8_t *end, bool slack, plain_t *plain) {
    for (size_t left; slack && (left = (size_t)(end - at));) {
        const uint64_t word = digits_load(at) ^ DIGITS_ZEROS;
        const size_t found = digits_count(word), count = found < left ? found : left;
        if (!count || plain->digits >= digits_tens[MOST_DIGITS - count])
            break;
        plain->digits = plain->digits * digits_tens[count] + digits_value(word << (64 - 8 * count));
        at += count;
    }
    for (; at < end && digits_is_one(*at); at++) {
        if (plain->digits < digits_tens[MOST_DIGITS - 1]) {
            plain->digits = plain->digits * 10 + (uint64_t)(*at - '0');
        } else {
            plain->more |= *at != '0';
            plain->scale++;
        }
    }
    return at;
}

/* Scans a text without blanks around it. */
INLINED bool scan(const uint8_t *text, size_t length, bool slack, plain_t *plain) {
    const uint8_t *at = text, *const end = text + length;
    *plain = (plain_t){.minus = length && *text == '-'};
    at += length && (*text == '-' || *text == '+');
    const uint8_t *const first = at;
    at = take_digits(at, end, slack, plain);
    const bool point = at < end && *at == '.';
    if (point) {
        const uint8_t *const fraction = ++at;
        at = take_digits(at, end, slack, plain);
        plain->scale -= at - fraction;
    }
    if (at - first == point)
        return false;
    plain->mantissa = (size_t)(at - text);
    if (at == end || (*at != 'e' && *at != 'E'))
        return at == end;
    const bool down = ++at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    const uint8_t *const power = at;
    for (; at < end && digits_is_one(*at); at++)
        plain->exponent =
            plain->exponent < MOST_EXPONENT ? plain->exponent * 10 + (*at - '0') : plain->exponent;
    plain->exponent = down ? -plain->exponent : plain->exponent;
    plain->scale += plain->exponent;
    return at == end && at > power;
}

/* ---- doubles ---- */

/* Reads any number by number_read, and gets a copy, so that the usual numbers stay in registers. False: it is too large for a
 * double, or so small that nothing is left but 0. */
static bool read_slowly(const uint8_t *text, size_t length, plain_t plain, int divide, double *value) {
    char copy[LONGEST_NUMBER + 24];
    if (divide && length > LONGEST_NUMBER)
        return false;
    if (divide) {
        memcpy(copy, text, plain.mantissa);
        copy[plain.mantissa] = 'e';
        length = plain.mantissa + 1 +
                 convert_print_int(plain.exponent - divide, (uint8_t *)copy + plain.mantissa + 1);
        text = (uint8_t *)copy;
    }
    return number_read((const char *)text, length, value) && isfinite(*value) &&
           (*value != 0 || !plain.digits);
}

INLINED bool nearest(const uint8_t *text, size_t length, const plain_t *plain, int divide, double *value) {
    if (plain->more || !convert_scaled(plain->digits, plain->scale - divide, value))
        return read_slowly(text, length, *plain, divide, value);
    *value = plain->minus ? -*value : *value;
    return true;
}

bool convert_number(const uint8_t *text, size_t length, int divide, double *value) {
    plain_t plain;
    blanks_trim(&text, &length);
    return scan(text, length, false, &plain) && nearest(text, length, &plain, divide, value);
}

/* True if the double prints these digits, which are not 0. */
static bool prints_the_same(uint64_t digits, long scale, double value) {
    char text[NUMBER_DIGITS];
    int exponent;
    const long count = (long)number_shortest(value, text, &exponent);
    uint64_t printed = 0;
    for (long i = 0; i < count; i++)
        printed = printed * 10 + (uint64_t)(text[i] - '0');
    for (; digits % 10 == 0; digits /= 10)
        scale++;
    return printed == digits && scale == exponent - count + 1;
}

/* Reads and checks the usual numbers of 16 and 17 digits, digits / 10^places, by whole numbers alone: the double is
 * mantissa * 2^power, and times 10^places it lies within half a digit of the digits, where no multiple of ten lies as near
 * to it as half the distance to the next double. False: that has to be found in another way. */
static bool nearest_long(uint64_t digits, long places, double *value, bool *kept) {
    if (places < 1 || places >= (long)COUNT(digits_tens) || digits % 10 == 0)
        return false;
    const uint64_t five = digits_tens[places] >> places;
    const int up = __builtin_clzll(digits), wide = __builtin_clzll(five);
    const decimal_digits_t scaled = (decimal_digits_t)(digits << up) << 63;
    const uint64_t divisor = five << wide, quotient = (uint64_t)(scaled / divisor),
                   rest = (uint64_t)scaled - quotient * divisor;
    const int cut = 64 - 53 - !(quotient >> 63), down = up + 63 - wide - cut;
    const uint64_t half = 1ull << (cut - 1), over = quotient & (2 * half - 1);
    uint64_t mantissa = quotient >> cut;
    mantissa += over > half || (over == half && (rest || mantissa & 1));
    if (down < 1 || mantissa >= 1ull << 53 || mantissa == 1ull << 52)
        return false;
    const uint64_t bits = mantissa + ((uint64_t)(BIAS - down - places) << 52);
    memcpy(value, &bits, sizeof bits);
    /* twice, in units of 1 / 2^down of the last digit: how far the digits and multiples of ten are from the double */
    const __int128 one = (__int128)2 << down, off = (__int128)digits * one - (__int128)mantissa * five * 2,
                   below = (__int128)(digits % 10) * one - off,
                   above = 10 * one - (__int128)(digits % 10) * one + off,
                   near = (below < above ? below : above), reach = five, far = off < 0 ? -off : off;
    *kept = near > reach && 2 * far < one;
    return near != reach && 2 * far != one;
}

bool convert_kept(const uint8_t *text, size_t length, int divide, double *value) {
    plain_t plain;
    bool kept;
    blanks_trim(&text, &length);
    if (!scan(text, length, true, &plain) || plain.more)
        return false;
    if (plain.digits > digits_tens[SURE_DIGITS] &&
        nearest_long(plain.digits, divide - plain.scale, value, &kept)) {
        *value = plain.minus ? -*value : *value;
        return kept;
    }
    return nearest(text, length, &plain, divide, value) &&
           ((plain.digits <= digits_tens[SURE_DIGITS] && isnormal(*value)) || !plain.digits ||
            prints_the_same(plain.digits, plain.scale - divide, *value));
}

/* Numbers that would be long keep an exponent. */
size_t convert_print_number(double value, int divide, uint8_t *out) {
    char digits[NUMBER_DIGITS], *at = (char *)out;
    int exponent;
    const long count = (long)number_shortest(value, digits, &exponent),
               power = value == 0 ? 0 : exponent + divide, /* zero, however it is scaled */
        zeros = power < 0 && power >= LEAST_PLAIN ? -power : 0;
    const bool plain = power <= MOST_PLAIN && power >= LEAST_PLAIN;
    const long whole = plain && power > 0 ? power + 1 : 1,
               all = whole > zeros + count ? whole : zeros + count;
    if (signbit(value))
        *at++ = '-';
    for (long i = 0; i < all; i++) {
        if (i == whole)
            *at++ = '.';
        *at++ = i < zeros || i - zeros >= count ? '0' : digits[i - zeros];
    }
    if (!plain) {
        *at++ = 'e';
        at += convert_print_int(power, (uint8_t *)at);
    }
    return (size_t)(at - (char *)out);
}

/* ---- decimals ---- */

bool decimal_read(const uint8_t *text, size_t length, int divide, bson_decimal128_t *decimal) {
    plain_t plain;
    decimal_digits_t digits = 0;
    bool point = false;
    blanks_trim(&text, &length);
    if (!scan(text, length, false, &plain))
        return false;
    long exponent = plain.exponent - divide - DECIMAL_LEAST;
    for (const uint8_t *at = text; at < text + plain.mantissa; at++) {
        point |= *at == '.';
        if (!digits_is_one(*at))
            continue;
        if (digits >= most_digits)
            return false;
        exponent -= point;
        digits = digits * 10 + (*at - '0');
    }
    decimal->low = (uint64_t)digits;
    decimal->high =
        (uint64_t)(digits >> 64) | (uint64_t)exponent << EXPONENT_BITS | (uint64_t)plain.minus << 63;
    return exponent >= 0 && exponent <= DECIMAL_MOST - DECIMAL_LEAST;
}

size_t decimal_print(bson_decimal128_t decimal, int divide, uint8_t out[DECIMAL_PRINTED]) {
    decimal.high += (uint64_t)divide << EXPONENT_BITS;
    bson_decimal128_to_string(&decimal, (char *)out);
    return strlen((const char *)out);
}

typedef struct {
    decimal_digits_t digits;
    int exponent, sign;
} unpacked_t;

static unpacked_t unpack(const bson_decimal128_t *decimal) {
    const uint64_t high = decimal->high & ((1ull << EXPONENT_BITS) - 1);
    const decimal_digits_t digits = (decimal_digits_t)high << 64 | decimal->low;
    return (unpacked_t){.digits = digits,
                        .exponent = (int)(decimal->high >> EXPONENT_BITS & 0x3FFF),
                        .sign = !digits               ? 0
                                : decimal->high >> 63 ? -1
                                                      : 1};
}

int decimal_compare(const bson_decimal128_t *a, const bson_decimal128_t *b) {
    unpacked_t one = unpack(a), other = unpack(b);
    for (; one.exponent > other.exponent && one.digits < most_digits * 1000; one.exponent--)
        one.digits *= 10;
    for (; other.exponent > one.exponent && other.digits < most_digits * 1000; other.exponent--)
        other.digits *= 10;
    const int sizes = one.exponent == other.exponent
                          ? (one.digits > other.digits) - (one.digits < other.digits)
                          : (one.exponent > other.exponent) - (one.exponent < other.exponent);
    return one.sign == other.sign ? one.sign * sizes : one.sign > other.sign ? 1 : -1;
}

/* ---- marks ---- */

/* A number with marks has them where they are written: so 0.125 is not 125. */
bool numeral_read(const numeral_t *numeral, const uint8_t *text, size_t length, uint8_t out[NUMERAL_LONGEST],
                  size_t *size) {
    uint8_t *to = out, again[2 * NUMERAL_LONGEST];
    blanks_trim(&text, &length);
    if (length > NUMERAL_LONGEST)
        return false;
    for (const uint8_t *at = text; at < text + length; at++) {
        if (numeral->mark && *at == (uint8_t)numeral->mark)
            continue;
        if (*at == ' ' || (*at == '.' && numeral->point != '.'))
            return false;
        *to++ = *at == (uint8_t)numeral->point ? '.' : *at;
    }
    *size = (size_t)(to - out);
    if (*size == length)
        return true;
    return *size && out[*out == '-' || *out == '+'] != '0' &&
           numeral_write(numeral, out, *size, again) == length && memcmp(again, text, length) == 0;
}

size_t numeral_write(const numeral_t *numeral, const uint8_t *plain, size_t length, uint8_t *out) {
    const uint8_t *at = plain, *const end = plain + length;
    uint8_t *to = out;
    if (at < end && !digits_is_one(*at))
        *to++ = *at++;
    size_t left = 0; /* digits before the point */
    while (at + left < end && digits_is_one(at[left]))
        left++;
    for (; at<end; at++, left -= left> 0) {
        *to++ = *at == '.' ? (uint8_t)numeral->point : *at;
        if (numeral->mark && left > 1 && (left - 1) % GROUP == 0)
            *to++ = (uint8_t)numeral->mark;
    }
    return (size_t)(to - out);
}
