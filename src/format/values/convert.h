/* convert: numbers and their texts, without libc for the usual cases: whole numbers, doubles, decimals digit by digit, and
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

/* ---- decimals: digit by digit, without rounding, and as the 128 bits that BSON has for them ---- */

enum {
    DECIMAL_DIGITS = 34,   /* of 128 bits */
    DECIMAL_LEAST = -6176, /* the exponents of 128 bits */
    DECIMAL_MOST = 6111,
    DECIMAL_KEPT = 38,    /* digits of a decimal_t; a double prints 17 */
    DECIMAL_PRINTED = 48, /* bytes of a printed one, at most */
};

__extension__ typedef unsigned __int128 decimal_digits_t;

/* digits * 10^exponent. Zeros in front do not count, those at the end do: 12.50 is 1250 * 10^-2. */
typedef struct {
    decimal_digits_t digits; /* the first ones, as a whole number */
    size_t count;            /* of all; 0: the number is zero */
    int64_t exponent;        /* of the last one */
    bool minus;
} decimal_t;

/* A sign, digits with a point or without, an exponent; blanks around. */
bool decimal_read(const uint8_t *text, size_t length, decimal_t *decimal);

/* Less than, equal to, or more than 0, by their values, of DECIMAL_KEPT digits at most: 1.0 equals 1, and -0 equals 0. */
int decimal_compare(const decimal_t *a, const decimal_t *b);

/* Has it 128 bits, with all of its digits? */
bool decimal_fits(const decimal_t *decimal);

/* For a decimal that fits. The text reads back as the same digits and exponent: plain where it can be (12.50), else as
 * 1.25E+7. At most DECIMAL_PRINTED bytes. */
size_t decimal_print(const decimal_t *decimal, uint8_t *out);

/* Writes the value of a BSON decimal, which must fit. Returns its end. */
uint8_t *decimal_store(const decimal_t *decimal, uint8_t out[16]);
/* False: it is infinite, not a number, or not written as decimal_store writes it. */
bool decimal_load(const bson_decimal128_t *bits, decimal_t *decimal);

/* ---- numbers with a decimal comma, or with marks between the thousands, as plain ones and back ---- */

enum { NUMERAL_LONGEST = 500 };

typedef struct {
    char point; /* before the fraction: '.' or ',' */
    char mark;  /* between groups of three digits; 0: none */
} numeral_t;

/* Writes the plain number, without blanks around it, into `out`; it is no longer than the text. False: marks
 * stand elsewhere, or the text is too long. What is no number stays
 * none. */
bool numeral_read(const numeral_t *numeral, const uint8_t *text, size_t length, uint8_t out[NUMERAL_LONGEST],
                  size_t *size);

/* Writes a plain number as we print it, with marks. A third longer at most, and one byte. */
size_t numeral_write(const numeral_t *numeral, const uint8_t *plain, size_t length, uint8_t *out);

#endif
