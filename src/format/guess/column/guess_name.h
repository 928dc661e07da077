/* guess_name: may a text name a column? What a text is by itself, whatever column it stands in. */
#ifndef TIPPLE_FORMAT_GUESS_COLUMN_GUESS_NAME_H
#define TIPPLE_FORMAT_GUESS_COLUMN_GUESS_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* A name that columns have in many files: "price". */
bool guess_is_known_word(const char *text, size_t length);
/* A known word, or one that is written like_this or likeThis. */
bool guess_is_column_word(const char *text, size_t length);
/* A word, or signs, for a value that is missing: "unknown", "k.A.", "-", "#N/A". */
bool guess_means_nothing(const char *text, size_t length);
/* True if a column may be called so: the text begins with a letter, does not mean nothing, and is no date or code of
 * several numbers. */
bool guess_is_name_like(const char *text, size_t length);
/* A part of a year, which is of no type: 2023-01, 2023/24, 2023-Q1, 2023W05, 01/2023, Q1/2023. */
bool guess_is_period(const char *text, size_t length);
/* The same text except for its digits, as IDX01 and IDX12 are; both have digits and letters. */
bool guess_is_numbered_alike(const char *one, size_t length, const char *other, size_t other_length);

#endif
