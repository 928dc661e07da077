#include "query/suite/numeric.h"
#include "base/chars/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_EXACT = 9007199254740992; /* 2^53 */

/* A decimal as whole digits times a power of ten. The digits neither begin nor end with 0, so each value has one
 * form. */
typedef struct {
    bool negative;
    char digits[BSON_DECIMAL128_STRING]; /* "0" for zero; "NaN" and "Infinity" are kept */
    bool finite;
    long exponent;
} decimal_t;

/* "-12.50E+3" */
static void read_decimal(const bson_iter_t *at, decimal_t *decimal) {
    bson_decimal128_t value;
    char text[BSON_DECIMAL128_STRING];
    const char *c = text;
    size_t count = 0;
    bool after_point = false;
    *decimal = (decimal_t){.finite = false};
    bson_iter_decimal128(at, &value);
    bson_decimal128_to_string(&value, text);
    decimal->negative = *c == '-';
    c += *c == '-';
    if (*c == 'N' || *c == 'I') {
        strcpy(decimal->digits, c);
        return;
    }
    decimal->finite = true;
    for (; (*c >= '0' && *c <= '9') || *c == '.'; c++) {
        if (*c == '.') {
            after_point = true;
            continue;
        }
        decimal->exponent -= after_point;
        if (count || *c != '0')
            decimal->digits[count++] = *c;
    }
    if (*c == 'E')
        decimal->exponent += strtol(c + 1, NULL, 10);
    for (; count && decimal->digits[count - 1] == '0'; count--)
        decimal->exponent++;
    if (!count)
        *decimal = (decimal_t){.finite = true, .digits = "0"}, count = 1;
    decimal->digits[count] = '\0';
}

static bool decimal_double(const bson_iter_t *at, double *number) {
    decimal_t decimal;
    char text[BSON_DECIMAL128_STRING + 32];
    read_decimal(at, &decimal);
    snprintf(text, sizeof text, decimal.finite ? "%s%se%ld" : "%s%s", decimal.negative ? "-" : "",
             decimal.digits, decimal.exponent);
    number_read(text, strlen(text), number);
    return !decimal.finite || (isfinite(*number) && (*number != 0 || decimal.digits[0] == '0'));
}

static bool decimal_whole(const bson_iter_t *at, int64_t *whole) {
    decimal_t decimal;
    __int128 number = 0;
    read_decimal(at, &decimal);
    if (!decimal.finite || decimal.exponent < 0)
        return false;
    for (const char *c = decimal.digits; *c; c++) /* at most 34 */
        number = number * 10 + (*c - '0');
    for (; decimal.exponent && number <= INT64_MAX; decimal.exponent--)
        number *= 10;
    if (decimal.exponent || number > (__int128)INT64_MAX + decimal.negative)
        return false;
    *whole = (int64_t)(decimal.negative ? -number : number);
    return true;
}

bool numeric_double(const bson_iter_t *at, double *number) {
    switch (bson_iter_type(at)) {
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        *number = (double)bson_iter_as_int64(at);
        return true;
    case BSON_TYPE_DOUBLE:
        *number = bson_iter_double(at);
        return true;
    case BSON_TYPE_DECIMAL128:
        return decimal_double(at, number);
    default:
        return false;
    }
}

bool numeric_whole(const bson_iter_t *at, int64_t *whole) {
    switch (bson_iter_type(at)) {
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        *whole = bson_iter_as_int64(at);
        return true;
    case BSON_TYPE_DOUBLE: {
        const double number = bson_iter_double(at);
        if (!(fabs(number) <= MOST_EXACT) || number != rint(number))
            return false;
        *whole = (int64_t)number;
        return true;
    }
    case BSON_TYPE_DECIMAL128:
        return decimal_whole(at, whole);
    default:
        return false;
    }
}
