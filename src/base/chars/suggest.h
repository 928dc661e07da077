/* suggest: the known word that a mistyped word most likely means. */
#ifndef TIPPLE_BASE_CHARS_SUGGEST_H
#define TIPPLE_BASE_CHARS_SUGGEST_H

#include <stddef.h>

/* The closest of words[0..count), or NULL if none is close enough. */
const char *suggest_word(const char *word, const char *const *words, size_t count);

/* The same as the end of a sentence: "; did you mean 'WORD'?", or nothing. */
typedef struct {
    char text[96];
} suggestion_t;
suggestion_t suggestion(const char *word, const char *const *words, size_t count);

#endif
