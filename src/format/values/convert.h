/* convert: text to numbers and back, without libc for the usual cases. convert_digits may read up to 8 bytes after the
 * text: buffers have POOL_SLACK for that. */
#ifndef TIPPLE_FORMAT_VALUES_CONVERT_H
#define TIPPLE_FORMAT_VALUES_CONVERT_H

#include "format/values/digits.h"

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

/* Has the text of a number nothing that the number does not keep: no zero in front of another digit, no plus sign and no
 * exponent? Blanks around it do not count. */
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

/* A decimal number, exactly the double nearest to text / 10^divide. No inf, nan or hexadecimal. */
bool convert_number(const uint8_t *text, size_t length, int divide, double *value);
/* The same, but false if the double is printed with other digits: then it has not room for all of them. */
bool convert_kept(const uint8_t *text, size_t length, int divide, double *value);
/* The shortest text that reads back as this double times 10^divide; at most CONVERT_PRINTED bytes. */
enum { CONVERT_PRINTED = 40 };
size_t convert_print_number(double value, int divide, uint8_t *out);

#endif
