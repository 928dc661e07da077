#include "query/suite/numeric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_EXACT = 9007199254740992; /* 2^53 */

static void decimal_text(const bson_iter_t *at, char text[BSON_DECIMAL128_STRING]) {
    bson_decimal128_t decimal;
    bson_iter_decimal128(at, &decimal);
    bson_decimal128_to_string(&decimal, text);
}

static bool decimal_double(const bson_iter_t *at, double *number) {
    char text[BSON_DECIMAL128_STRING];
    decimal_text(at, text);
    *number = strtod(text, NULL);
    const char digit = text[strcspn(text, "123456789E")];
    const bool finite = strpbrk(text, "0123456789"), zero = !digit || digit == 'E';
    return !finite || (isfinite(*number) && (*number != 0 || zero));
}

/* "-12.50E+3": the digits without the point, and how many of them are behind it. */
static bool decimal_whole(const bson_iter_t *at, int64_t *whole) {
    char text[BSON_DECIMAL128_STRING];
    const char *c = text;
    __int128 digits = 0;
    long exponent = 0;
    bool behind = false;
    decimal_text(at, text);
    for (c += *c == '-'; (*c >= '0' && *c <= '9') || *c == '.'; c++) {
        if (*c == '.') {
            behind = true;
            continue;
        }
        digits = digits * 10 + (*c - '0'); /* 34 at the most */
        exponent -= behind;
    }
    if (*c == 'E')
        exponent += strtol(c + 1, NULL, 10);
    else if (*c)
        return false; /* NaN, Infinity */
    for (; digits && exponent < 0 && digits % 10 == 0; exponent++)
        digits /= 10;
    for (; digits && exponent > 0 && digits <= INT64_MAX; exponent--)
        digits *= 10;
    if ((digits && exponent) || digits > INT64_MAX)
        return false;
    *whole = *text == '-' ? -(int64_t)digits : (int64_t)digits;
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
