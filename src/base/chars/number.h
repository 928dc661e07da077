/* number: doubles and their texts. The decimal point is always a point, whatever the locale of the program that uses
 * the library. */
#ifndef TIPPLE_BASE_CHARS_NUMBER_H
#define TIPPLE_BASE_CHARS_NUMBER_H

#include <stddef.h>

enum { NUMBER_ROOM = 32 };

/* As strtod. */
double number_read(const char *text, char **end);
long double number_read_long(const char *text); /* as strtold */
/* d.ddde+xx with this many digits after the point; returns what snprintf returns. */
int number_print_digits(char *out, size_t room, int digits, double number);

/* With only as many digits as needed to read back the same number: 12.067, -0, 5, 1e+22, inf, nan. Returns out. */
char *number_print(char out[NUMBER_ROOM], double number);

#endif
