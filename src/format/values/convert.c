#include "format/values/convert.h"
#include "base/chars/blanks.h"
#include "base/chars/number.h"
#include "format/values/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool convert_is_exact(const uint8_t *text, size_t length) {
    while (length && *text == ' ')
        text++, length--;
    if (length && *text == '-')
        text++, length--;
    if (!length || memchr(text, 'e', length) || memchr(text, 'E', length))
        return !length;
    return *text != '+' && (*text != '0' || length < 2 || text[1] < '0' || text[1] > '9');
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

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Uses libc, for what the exact fast way cannot do. */
static bool slow_number(const uint8_t *text, size_t length, int divide, double *value) {
    char copy[512];
    if (length + 8 > sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *exponent = strpbrk(copy, "eE");
    long power = 0;
    if (exponent) {
        power = strtol(exponent + 1, NULL, 10);
        power = power > 100000    ? 100000
                : power < -100000 ? -100000
                                  : power; /* larger or smaller than any double */
        length = (size_t)(exponent - copy);
    }
    snprintf(copy + length, sizeof copy - length, "e%ld", power - divide);
    *value = number_read(copy, NULL);
    return isfinite(*value);
}

typedef enum { NO_NUMBER, NUMBER_NEAREST, NUMBER_WITH_ALL_DIGITS } number_t;

static inline number_t read_number(const uint8_t *text, size_t length, int divide, double *value) {
    blanks_trim(&text, &length);
    size_t at = length && (text[0] == '-' || text[0] == '+');
    bool minus = at && text[0] == '-', any = false, exact = true;
    uint64_t mantissa = 0;
    long scale = -divide;
    bool point = false;
    for (; at < length && ((text[at] >= '0' && text[at] <= '9') || (text[at] == '.' && !point)); at++) {
        if (text[at] == '.') {
            point = true;
            continue;
        }
        any = true;
        scale -= point;
        if (mantissa < 100000000000000000ull)
            mantissa = mantissa * 10 + (uint64_t)(text[at] - '0');
        else
            exact = false;
    }
    if (!any)
        return NO_NUMBER;
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        size_t first = ++at;
        bool down = at < length && text[at] == '-';
        if (at < length && (text[at] == '-' || text[at] == '+'))
            first = ++at;
        long power = 0;
        for (; at < length && text[at] >= '0' && text[at] <= '9'; at++)
            power = power < 100000 ? power * 10 + (text[at] - '0') : power;
        if (at == first)
            return NO_NUMBER;
        scale += down ? -power : power;
    }
    if (at != length)
        return NO_NUMBER;
    /* a whole number up to 2^53 and one exact power of ten: only one rounding, so it is the nearest double */
    if (!exact || mantissa > (1ull << 53) || scale < -22 || scale > 22)
        return slow_number(text, length, divide, value) ? NUMBER_NEAREST : NO_NUMBER;
    double number = (double)mantissa;
    number = scale < 0 ? number / powers[-scale] : number * powers[scale];
    *value = minus ? -number : number;
    /* any 15 digits fit */
    return mantissa <= 1000000000000000ull ? NUMBER_WITH_ALL_DIGITS : NUMBER_NEAREST;
}

bool convert_number(const uint8_t *text, size_t length, int divide, double *value) {
    return read_number(text, length, divide, value) != NO_NUMBER;
}

static bool prints_the_same(const uint8_t *text, size_t length, int divide, double value) {
    uint8_t printed[CONVERT_PRINTED];
    decimal_t is, again;
    return decimal_read(text, length, &is) &&
           decimal_read(printed, convert_print_number(value, divide, printed), &again) &&
           decimal_compare(&is, &again) == 0;
}

bool convert_kept(const uint8_t *text, size_t length, int divide, double *value) {
    const number_t read = read_number(text, length, divide, value);
    return read == NUMBER_WITH_ALL_DIGITS ||
           (read == NUMBER_NEAREST && prints_the_same(text, length, divide, *value));
}

size_t convert_print_number(double value, int divide, uint8_t *out) {
    char text[64];
    int digits = 1;
    if (value == 0) { /* zero, however it is scaled */
        memcpy(out, "-0", 2);
        out[0] = signbit(value) ? '-' : '0';
        return signbit(value) ? 2 : 1;
    }
    do {
        number_print_digits(text, sizeof text, digits - 1, value);
    } while (number_read(text, NULL) != value && ++digits < 18);
    /* changes d.ddde±x to plain decimals times 10^divide; numbers that would be long keep the exponent */
    char *exponent = strchr(text, 'e');
    long power = strtol(exponent + 1, NULL, 10) + divide;
    bool minus = text[0] == '-';
    char mantissa[32];
    int count = 0;
    for (char *at = text; at < exponent; at++)
        if (*at >= '0' && *at <= '9')
            mantissa[count++] = *at;
    mantissa[count] = '\0';
    size_t used = 0;
    if (minus)
        out[used++] = '-';
    if (power > 16 || power < -6) {
        int more = snprintf((char *)out + used, 40 - used, "%c%s%se%ld", mantissa[0], count > 1 ? "." : "",
                            mantissa + 1, power);
        return used + (size_t)more;
    }
    if (power < 0) {
        out[used++] = '0';
        out[used++] = '.';
        for (long i = -1; i > power; i--)
            out[used++] = '0';
    }
    for (int i = 0; i < count || i <= power; i++) {
        if (i > 0 && i == power + 1 && power >= 0)
            out[used++] = '.';
        out[used++] = (uint8_t)(i < count ? mantissa[i] : '0');
    }
    return used;
}
