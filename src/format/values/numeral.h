/* numeral: numbers with a decimal comma, or with marks between the thousands (1.234,56), as plain ones (1234.56), and
 * back. */
#ifndef TIPPLE_FORMAT_VALUES_NUMERAL_H
#define TIPPLE_FORMAT_VALUES_NUMERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
