/* choose: which of a few words an option's text is. */
#ifndef TIPPLE_BASE_CHARS_CHOOSE_H
#define TIPPLE_BASE_CHARS_CHOOSE_H

#include "base/err.h"

#include <stddef.h>

/* Its place in words[0..count); -1 with the sentence that lists them. */
int choose_word(const char *option, const char *text, const char *const *words, size_t count, err_t *err);

#endif
