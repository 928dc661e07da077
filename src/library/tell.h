/* tell: how the library's calls fail. */
#ifndef TIPPLE_LIBRARY_TELL_H
#define TIPPLE_LIBRARY_TELL_H

#include "base/err.h"
#include "tipple/tipple.h"

enum { LIBRARY_WORDS = 4 * sizeof((err_t *)NULL)->text };

/* A sentence as the command would print it: without passwords, and with what a terminal would obey escaped. */
void library_words(char words[LIBRARY_WORDS], const char *text);

/* error may be NULL. Always false. */
bool library_tell(tipple_error_t *error, const err_t *err);
bool library_no_memory(tipple_error_t *error, size_t bytes);

/* True: the call was not given `what`, and error says so. */
bool library_misses(const void *given, const char *what, tipple_error_t *error);

/* A library does not talk: what there is to say is in tipple_error_t. */
void library_be_silent(void);

#endif
