#include "format/values/convert.h"
#include "base/numbers.h"
#include "format/values/blanks.h"

#include <math.h>

#define INLINED __attribute__((always_inline)) static inline

enum { LONGEST_NUMBER = 504 };

bool convert_is_exact(const uint8_t *text, size_t length) {
    while (length && *text == ' ')
        text++, length--;
    if (length && *text == '-')
        text++, length--;
    for (size_t i = 0; i < length; i++)
        if (text[i] > '9') /* an exponent */
            return false;
    return !length || (*text != '+' && (*text != '0' || length < 2 || text[1] < '0' || text[1] > '9'));
}

bool convert_int(const uint8_t *text, size_t length, int64_t *value) {
    blanks_trim(&text, &length);
    bool minus = length && text[0] == '-';
    if (length && (text[0] == '-' || text[0] == '+'))
        text++, length--;
    if (!length)
        return false;
    uint64_t number = 0, most = (uint64_t)INT64_MAX + minus;
    for (size_t i = 0; i < length; i++) {
        uint64_t digit = (uint64_t)text[i] - '0';
        if (digit > 9 || number > (most - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    if (minus && !number)
        return false;
    *value = minus ? (int64_t)(0 - number) : (int64_t)number;
    return true;
}

size_t convert_print_int(int64_t value, uint8_t *out) {
    uint8_t digits[20];
    size_t count = 0, used = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[count++] = (uint8_t)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0)
        out[used++] = '-';
    while (count)
        out[used++] = digits[--count];
    return used;
}

const double convert_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* The text of a number as digits * 10^scale; its sign is in minus. */
typedef struct {
    uint64_t digits; /* the first ones, at most 17 */
    long scale, exponent;
    size_t mantissa;  /* its length, with the sign */
    bool minus, more; /* a digit after these is not 0 */
} plain_t;

/* Takes digits up to the first byte that is none. */
INLINED const uint8_t *take_digits(const uint8_t *at, const uint8_t *end, plain_t *plain) {
    uint64_t word;
    while (end - at >= 8 && plain->digits < 1000000000 &&
           digits_only(word = digits_load(at) ^ DIGITS_ZEROS)) {
        plain->digits = plain->digits * 100000000 + digits_value(word);
        at += 8;
    }
    for (; at < end && (uint8_t)(*at - '0') <= 9; at++) {
        if (plain->digits < 10000000000000000ull) {
            plain->digits = plain->digits * 10 + (uint64_t)(*at - '0');
        } else {
            plain->more |= *at != '0';
            plain->scale++;
        }
    }
    return at;
}

/* Scans a text without blanks around it. */
INLINED bool scan(const uint8_t *text, size_t length, plain_t *plain) {
    const uint8_t *at = text, *const end = text + length;
    *plain = (plain_t){.minus = length && *text == '-'};
    at += length && (*text == '-' || *text == '+');
    const uint8_t *const first = at;
    at = take_digits(at, end, plain);
    const bool point = at < end && *at == '.';
    if (point) {
        const uint8_t *const fraction = ++at;
        at = take_digits(at, end, plain);
        plain->scale -= at - fraction;
    }
    if (at - first == point || length > LONGEST_NUMBER)
        return false;
    plain->mantissa = (size_t)(at - text);
    if (at == end || (*at != 'e' && *at != 'E'))
        return at == end;
    const bool down = ++at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    const uint8_t *const power = at;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        plain->exponent = plain->exponent < 100000 ? plain->exponent * 10 + (*at - '0') : plain->exponent;
    plain->exponent = down ? -plain->exponent : plain->exponent;
    plain->scale += plain->exponent;
    return at == end && at > power;
}

/* Reads any number by number_read. False: it is too large for a double. */
static bool read_slowly(const uint8_t *text, size_t length, size_t mantissa, long exponent, int divide,
                        double *value) {
    char copy[LONGEST_NUMBER + 24];
    if (divide) {
        memcpy(copy, text, mantissa);
        copy[mantissa] = 'e';
        length = mantissa + 1 + convert_print_int(exponent - divide, (uint8_t *)copy + mantissa + 1);
        text = (uint8_t *)copy;
    }
    return number_read((const char *)text, length, value) && isfinite(*value);
}

INLINED bool nearest(const uint8_t *text, size_t length, const plain_t *plain, int divide, double *value) {
    if (plain->more || !convert_scaled(plain->digits, plain->scale - divide, value))
        return read_slowly(text, length, plain->mantissa, plain->exponent, divide, value);
    *value = plain->minus ? -*value : *value;
    return true;
}

bool convert_number(const uint8_t *text, size_t length, int divide, double *value) {
    plain_t plain;
    blanks_trim(&text, &length);
    return scan(text, length, &plain) && nearest(text, length, &plain, divide, value);
}

/* True if the double prints these digits. */
static bool prints_the_same(uint64_t digits, long scale, double value) {
    char text[NUMBER_DIGITS];
    int exponent;
    number_shortest(value, text, &exponent);
    const uint64_t high = digits_value(digits_load((uint8_t *)text) ^ DIGITS_ZEROS),
                   low = digits_value(digits_load((uint8_t *)text + 8) ^ DIGITS_ZEROS),
                   printed = (high * 100000000 + low) * 10 + (uint64_t)(text[16] - '0');
    /* the number of zeros that fill the digits up to 17 places */
    const long zeros = scale + (NUMBER_DIGITS - 1) - exponent;
    uint64_t same;
    return zeros >= 0 && zeros < NUMBER_DIGITS &&
           !__builtin_mul_overflow(digits, (uint64_t)convert_powers[zeros], &same) && same == printed;
}

bool convert_kept(const uint8_t *text, size_t length, int divide, double *value) {
    plain_t plain;
    blanks_trim(&text, &length);
    if (!scan(text, length, &plain) || plain.more || !nearest(text, length, &plain, divide, value))
        return false;
    return (plain.digits <= 1000000000000000ull && isnormal(*value)) || /* any 15 digits fit */
           !plain.digits || prints_the_same(plain.digits, plain.scale - divide, *value);
}

size_t convert_print_number(double value, int divide, uint8_t *out) {
    char digits[NUMBER_DIGITS];
    int exponent;
    const size_t count = number_shortest(value, digits, &exponent);
    const long power = value == 0 ? 0 : exponent + divide; /* zero, however it is scaled */
    size_t used = 0;
    if (signbit(value))
        out[used++] = '-';
    if (power > 16 || power < -6) { /* numbers that would be long keep the exponent */
        out[used++] = (uint8_t)digits[0];
        if (count > 1)
            out[used++] = '.';
        memcpy(out + used, digits + 1, count - 1);
        used += count - 1;
        out[used++] = 'e';
        return used + convert_print_int(power, out + used);
    }
    if (power < 0) {
        memcpy(out + used, "0.00000", (size_t)(1 - power));
        used += (size_t)(1 - power);
        memcpy(out + used, digits, count);
        return used + count;
    }
    const size_t whole = (size_t)power + 1;
    memcpy(out + used, digits, whole); /* with the zeros after them */
    used += whole;
    if (count <= whole)
        return used;
    out[used++] = '.';
    memcpy(out + used, digits + whole, count - whole);
    return used + count - whole;
}
