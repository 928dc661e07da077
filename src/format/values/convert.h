/* convert: numbers and their texts, without libc for the usual cases: whole numbers, doubles, decimals, and
 * the marks with which other countries write them (1.234,56 is the plain number 1234.56). A number is read only if it keeps
 * all of its digits, and printed so that it reads back as the same number. Functions that read may read up to 8 bytes after
 * the text: buffers have POOL_SLACK for that. */
#ifndef TIPPLE_FORMAT_VALUES_CONVERT_H
#define TIPPLE_FORMAT_VALUES_CONVERT_H

#include "format/values/digits.h"

#include <bson/bson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 1 to 16 plain digits and nothing else: the usual case. */
static inline bool convert_digits(const uint8_t *text, size_t length, uint64_t *value) {
    if (length - 1 < 8) {
        uint64_t digits = (digits_load(text) ^ DIGITS_ZEROS) << (8 * (8 - length));
        *value = digits_value(digits);
        return digits_only(digits);
    }
    if (length - 9 < 8) {
        uint64_t low = digits_load(text + length - 8) ^ DIGITS_ZEROS;
        uint64_t high = (digits_load(text) ^ DIGITS_ZEROS) << (8 * (16 - length));
        *value = (uint64_t)digits_value(high) * 100000000u + digits_value(low);
        return digits_only(low) && digits_only(high);
    }
    return false;
}

/* True if the number keeps all that its text has: no zero in front of another digit, no plus sign, and no exponent but one with
 * a sign, or after a fraction. Blanks around it do not count. */
bool convert_is_exact(const uint8_t *text, size_t length);

/* Any whole number that fits in int64, with blanks around it, a sign, and zeros in front. Not "-0": printing the number
 * would lose the sign. */
bool convert_int(const uint8_t *text, size_t length, int64_t *value);
size_t convert_print_int(int64_t value, uint8_t *out); /* at most 20 bytes */

/* digits * 10^scale where both of them are exact: only one rounding, so it is the nearest double. */
extern const double convert_powers[];
static inline bool convert_scaled(uint64_t digits, long scale, double *value) {
    if (digits > 1ull << 53 || scale < -22 || scale > 22)
        return false;
    *value = scale < 0 ? (double)digits / convert_powers[-scale] : (double)digits * convert_powers[scale];
    return true;
}

/* A decimal number, exactly the double nearest to text / 10^divide. No inf, nan or hexadecimal, and no number of which nothing
 * but 0 would be left. */
bool convert_number(const uint8_t *text, size_t length, int divide, double *value);
/* The same, but false if the double is printed with other digits: then it has not room for all of them. */
bool convert_kept(const uint8_t *text, size_t length, int divide, double *value);
/* The shortest text that reads back as this double times 10^divide; at most CONVERT_PRINTED bytes. */
enum { CONVERT_PRINTED = 40 };
size_t convert_print_number(double value, int divide, uint8_t *out);

/* ---- decimals ---- */

enum {
    DECIMAL_LEAST = -6176, /* the exponents of 128 bits */
    DECIMAL_MOST = 6111,
    DECIMAL_PRINTED = BSON_DECIMAL128_STRING,
};

/* A sign, digits with a point or without, an exponent; blanks around. The decimal has the same digits, also the zeros at the
 * end, and the exponent divided by 10^divide. False: it is no number, or has more than 34 digits or no such exponent. */
bool decimal_read(const uint8_t *text, size_t length, int divide, bson_decimal128_t *decimal);

/* The text of what decimal_read reads, which reads back as the same decimal. Returns its length. */
size_t decimal_print(bson_decimal128_t decimal, int divide, uint8_t out[DECIMAL_PRINTED]);

/* Neither infinite nor NaN. */
static inline bool decimal_is_number(const bson_decimal128_t *decimal) {
    return (decimal->high >> 61 & 3) != 3;
}

/* Less than, equal to, or more than 0, by the values of two numbers: 1.0 equals 1, and -0 equals 0. */
int decimal_compare(const bson_decimal128_t *a, const bson_decimal128_t *b);

/* ---- numbers with a decimal comma, or with marks between the thousands, as plain ones and back ---- */

enum { NUMERAL_LONGEST = 500 };

typedef struct {
    char point; /* before the fraction: '.' or ',' */
    char mark;  /* between groups of three digits; 0: none */
} numeral_t;

/* Writes the plain number, without blanks around it, into `out`; it is no longer than the text. False: marks stand elsewhere, or
 * the text is too long. What is no number stays none. */
bool numeral_read(const numeral_t *numeral, const uint8_t *text, size_t length, uint8_t out[NUMERAL_LONGEST],
                  size_t *size);

/* Writes a plain number as we print it, with marks. A third longer at most, and one byte. */
size_t numeral_write(const numeral_t *numeral, const uint8_t *plain, size_t length, uint8_t *out);

/* Leaves out the spaces around a text. Tabs stay. */
static inline void blanks_trim(const uint8_t **text, size_t *length) {
    while (*length && (*text)[0] == ' ')
        ++*text, --*length;
    while (*length && (*text)[*length - 1] == ' ')
        --*length;
}

#endif
