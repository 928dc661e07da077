/* paste: a command line that a person can paste into a shell. */
#ifndef TIPPLE_CLI_PASTE_H
#define TIPPLE_CLI_PASTE_H

#include <bson/bson.h>

/* A blank and the word, in quotes where the shell would take it for something else. */
void paste_word(bson_string_t *line, const char *word);
void paste_option(bson_string_t *line, const char *option, const char *value);

#endif
