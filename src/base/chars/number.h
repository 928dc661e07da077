/* number: doubles and their texts, by std::from_chars and std::to_chars. The decimal point is always a point, whatever the
 * locale of the program that uses the library. */
#ifndef TIPPLE_BASE_CHARS_NUMBER_H
#define TIPPLE_BASE_CHARS_NUMBER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NUMBER_ROOM = 32, NUMBER_DIGITS = 17 };

/* Reads the number at the beginning of a text: a sign, digits with or without a point, an exponent; or inf, infinity, nan.
 * Returns its length, or 0 if there is none. The result is the nearest double; infinite if the number is too large. */
size_t number_read(const char *text, size_t length, double *number);
size_t number_read_long(const char *text, size_t length, long double *number);

/* The fewest digits that read back as this finite number, without its sign, and zeros after them up to NUMBER_DIGITS. The first digit counts
 * 10^exponent. Returns how many there are without the zeros. */
size_t number_shortest(double number, char digits[NUMBER_DIGITS], int *exponent);

/* The same digits as a text: 12.067, -0, 5, 1e+22, inf, nan. Returns out. */
char *number_print(char out[NUMBER_ROOM], double number);

/* d.ddde+xx with this many digits after the point. */
void number_print_digits(char *out, size_t room, int digits, double number);

#ifdef __cplusplus
}
#endif

#endif
