/* shell_word: words of a command line that a person may paste into a shell. */
#ifndef TIPPLE_BASE_SHELL_WORD_H
#define TIPPLE_BASE_SHELL_WORD_H

#include "base/text.h"

/* Behind a blank, in quotes where a shell would read it otherwise. */
void shell_quote_word(text_t *line, const char *word);
void shell_quote_option(text_t *line, const char *option, const char *value);

/* --uri of a collection, whose hosts are left to the person. */
void shell_quote_target(text_t *line, const char *namespace);

#endif
