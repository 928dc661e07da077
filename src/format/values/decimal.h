/* decimal: decimal numbers digit by digit, without rounding, and as the 128 bits that BSON has for them. */
#ifndef TIPPLE_FORMAT_VALUES_DECIMAL_H
#define TIPPLE_FORMAT_VALUES_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DECIMAL_DIGITS = 34,   /* of 128 bits */
    DECIMAL_LEAST = -6176, /* the exponents of 128 bits */
    DECIMAL_MOST = 6111,
    DECIMAL_KEPT = 40,    /* digits of a decimal_t; a double prints 17 */
    DECIMAL_PRINTED = 48, /* bytes of a printed one, at most */
};

/* digits * 10^exponent. Zeros in front do not count, those at the end do: 12.50 is 1250 * 10^-2. */
typedef struct {
    uint8_t digits[DECIMAL_KEPT]; /* the first ones, 0 to 9 */
    size_t count;                 /* of all; 0: the number is zero */
    int64_t exponent;             /* of the last one */
    bool minus;
    bool more; /* a digit that is not kept is not 0 */
} decimal_t;

/* A sign, digits with a point or without, an exponent; blanks around. */
bool decimal_read(const uint8_t *text, size_t length, decimal_t *decimal);

/* Less than, equal to, or more than 0, by their values: 1.0 equals 1, and -0 equals 0. */
int decimal_compare(const decimal_t *a, const decimal_t *b);

/* Has it 128 bits, with all of its digits? */
bool decimal_fits(const decimal_t *decimal);

/* For a decimal that fits. The text reads back as the same digits and exponent: plain where it can be (12.50), else as
 * 1.25E+7. At most DECIMAL_PRINTED bytes. */
size_t decimal_print(const decimal_t *decimal, uint8_t *out);

/* The value of a BSON decimal, 16 bytes; it must fit. */
void decimal_store(const decimal_t *decimal, uint8_t out[16]);
/* False: it is infinite, not a number, or not written as decimal_store writes it. */
bool decimal_load(const uint8_t bytes[16], decimal_t *decimal);

#endif
