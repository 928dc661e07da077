/* suggest: the known word that a mistyped one most likely meant. */
#ifndef TIPPLE_BASE_SUGGEST_H
#define TIPPLE_BASE_SUGGEST_H

#include <stddef.h>

/* The closest of words[0..count), or NULL when none is close enough to be worth naming. */
const char *suggest_word(const char *word, const char *const *words, size_t count);

#endif
