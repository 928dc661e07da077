/* guess_value: what one value may be, beside a text. */
#ifndef TIPPLE_FORMAT_GUESS_COLUMN_GUESS_VALUE_H
#define TIPPLE_FORMAT_GUESS_COLUMN_GUESS_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STYLES = 8 };
typedef struct {
    char decimal, thousands; /* thousands 0: none */
} style_t;
extern const style_t guess_styles[STYLES];

typedef struct {
    bool fraction, grouped; /* a decimal mark, a thousands mark was there */
    bool wide;              /* no int64 */
    bool lossy;             /* no double prints these digits */
    bool huge;              /* no decimal128 has these digits */
} number_t;

/* Is it a number in this style, of which printing loses nothing? No zeros in front, no plus sign, no exponent. */
bool guess_number(const style_t *style, const uint8_t *text, size_t length, number_t *number);

/* The styles in which the text of this number says the same: a bit for each. */
uint8_t guess_alike(size_t style, const number_t *number);

/* Which of the pairs of words does it belong to? A bit for each; *second: it is the word for no. */
enum { PAIRS = 10 };
extern const char *const guess_pairs[PAIRS][2];
uint32_t guess_pair(const uint8_t *text, size_t length, bool *second);

/* In small letters, as all programs print it. *letters becomes true if it has any. */
bool guess_is_objectid(const uint8_t *text, size_t length, bool *letters);
bool guess_is_uuid(const uint8_t *text, size_t length);

/* Words that often stand for no value, up to a NULL. Is it one of them, or nothing, whatever blanks are around it? */
extern const char *const guess_null_words[];
bool guess_is_null(const uint8_t *text, size_t length);

#endif
