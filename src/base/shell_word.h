/* shell_word: words of a command line that a person may paste into a shell. */
#ifndef TIPPLE_BASE_SHELL_WORD_H
#define TIPPLE_BASE_SHELL_WORD_H

#include "base/text.h"

/* Appends a blank and the word, in quotes if a shell would read it differently without. */
void shell_quote_word(text_t *line, const char *word);
/* Such a word alone, with its blank; to be freed. NULL: out of memory. */
char *shell_quoted(const char *word, err_t *err);
/* value NULL: appends nothing. */
void shell_quote_option(text_t *line, const char *option, const char *value);

#endif
