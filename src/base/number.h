/* number: doubles and their texts. A decimal point is a point, whatever the locale of the program is that uses the
 * library. */
#ifndef TIPPLE_BASE_NUMBER_H
#define TIPPLE_BASE_NUMBER_H

#include <stddef.h>

enum { NUMBER_ROOM = 32 };

/* As strtod. */
double number_read(const char *text, char **end);
/* d.ddde+xx with so many digits behind the point; as snprintf. */
int number_print_digits(char *out, size_t room, int digits, double number);

/* In as few digits as read back the same: 12.067, -0, 5, 1e+22, inf, nan; returns out. */
char *number_print(char out[NUMBER_ROOM], double number);

#endif
