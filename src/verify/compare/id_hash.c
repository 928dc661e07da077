#include "verify/compare/id_hash.h"
#include "base/document.h"
#include "base/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static uint64_t hash_as(char kind, const void *bytes, size_t length) {
    const uint64_t hash = XXH3_64bits_withSeed(bytes, length, (uint64_t)kind);
    return hash ? hash : 1;
}

static uint64_t hash_number(double value) {
    const int64_t whole = value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : 0;
    if ((double)whole == value)
        return hash_as('n', &whole, sizeof whole);
    if (isnan(value))
        return hash_as('N', "", 0);
    return hash_as('d', &value, sizeof value);
}

/* "-12.50E+3" as the digits 125, the exponent 2 of the last one, and the sign. */
typedef struct {
    char digits[48];
    size_t count;
    long exponent;
    bool negative;
} plain_number_t;

static void read_plain(const char *text, plain_number_t *number) {
    const char *e = strpbrk(text, "eE");
    bool behind = false;
    *number = (plain_number_t){.exponent = e ? strtol(e + 1, NULL, 10) : 0, .negative = *text == '-'};
    for (; *text && text != e; text++) {
        behind |= *text == '.';
        if (*text < '0' || *text > '9' || number->count == sizeof number->digits)
            continue;
        number->exponent -= behind;
        if (number->count || *text != '0')
            number->digits[number->count++] = *text;
    }
    for (; number->count && number->digits[number->count - 1] == '0'; number->exponent++)
        number->digits[--number->count] = '\0';
}

/* A double that is the decimal exactly has the same hash: to the server both are one `_id`. */
static uint64_t hash_digits(const char *text) {
    plain_number_t number, other;
    char exact[96];
    double value;
    number_read(text, strlen(text), &value);
    read_plain(text, &number);
    number_print_digits(exact, sizeof exact, 40, value);
    read_plain(exact, &other);
    if (isfinite(value) && number.negative == other.negative && number.exponent == other.exponent &&
        number.count == other.count && memcmp(number.digits, other.digits, number.count) == 0)
        return hash_number(value);
    const int used = snprintf(exact, sizeof exact, "%c%.48se%ld", number.negative ? '-' : '+', number.digits,
                              number.exponent);
    return hash_as('D', exact, (size_t)used);
}

/* Exactly, as a decimal has more digits and larger exponents than any number of the machine. */
static bool is_whole(const plain_number_t *number, int64_t *whole) {
    enum { MOST_DIGITS = 19 };
    const uint64_t most = (uint64_t)INT64_MAX + number->negative;
    uint64_t value = 0;
    *whole = 0;
    if (!number->count)
        return true;
    if (number->exponent < 0 || number->exponent > MOST_DIGITS - (long)number->count)
        return false;
    for (size_t i = 0; i < number->count + (size_t)number->exponent; i++)
        value = 10 * value + (i < number->count ? (uint64_t)(number->digits[i] - '0') : 0);
    *whole = (int64_t)(number->negative ? -value : value);
    return value <= most;
}

static uint64_t hash_decimal(const bson_iter_t *id) {
    bson_decimal128_t decimal;
    char text[BSON_DECIMAL128_STRING];
    plain_number_t number;
    int64_t whole;
    double value;
    if (!bson_iter_decimal128(id, &decimal))
        return 1;
    bson_decimal128_to_string(&decimal, text);
    if (!strpbrk(text, "0123456789"))
        return number_read(text, strlen(text), &value), hash_number(value); /* NaN or Infinity */
    read_plain(text, &number);
    return is_whole(&number, &whole) ? hash_as('n', &whole, sizeof whole) : hash_digits(text);
}

/* Type and bytes of any other value. */
static uint64_t hash_bytes(const bson_iter_t *id) {
    bson_t alone = BSON_INITIALIZER;
    element_append(&alone, "", id);
    const uint64_t hash = hash_as('v', bson_get_data(&alone), alone.len);
    bson_destroy(&alone);
    return hash;
}

uint64_t id_hash_of(const bson_iter_t *id) {
    int64_t whole;
    switch (bson_iter_type(id)) {
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        whole = bson_iter_as_int64(id);
        return hash_as('n', &whole, sizeof whole);
    case BSON_TYPE_DOUBLE:
        return hash_number(bson_iter_double(id));
    case BSON_TYPE_DECIMAL128:
        return hash_decimal(id);
    default:
        return hash_bytes(id);
    }
}

uint64_t id_hash(const uint8_t *document, uint32_t length) {
    bson_t whole;
    bson_iter_t id;
    return bson_init_static(&whole, document, length) && element_of(&whole, "_id", &id) ? id_hash_of(&id) : 0;
}
