/* guess_name: whether a text may name a column, by the text alone. */
#ifndef TIPPLE_FORMAT_GUESS_COLUMN_GUESS_NAME_H
#define TIPPLE_FORMAT_GUESS_COLUMN_GUESS_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* True if columns of many files have this name: "price". */
bool guess_is_known_word(const char *text, size_t length);
/* True for a known word, and for one that is written like_this or likeThis. */
bool guess_is_column_word(const char *text, size_t length);
/* True if a column may be called so: the text begins with a letter, does not mean nothing, and is no date or code of
 * several numbers. */
bool guess_is_name_like(const char *text, size_t length);
/* True for a part of a year, which has no type here: 2023-01, 2023/24, 2023-Q1, 2023W05. */
bool guess_is_period(const char *text, size_t length);

#endif
