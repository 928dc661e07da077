/* shell_quote: command lines for a shell, word by word (shell_word.h), and of a load its parts. */
#ifndef TIPPLE_CLI_OPTIONS_SHELL_QUOTE_H
#define TIPPLE_CLI_OPTIONS_SHELL_QUOTE_H

#include "base/text.h"
#include "load/load.h"

/* --uri with the target's own; one with a password in it is not shown: $TIPPLE_URI stands in for it. */
void shell_quote_uri(text_t *line, const char *uri);

/* What follows the settings that were looked for: shard key, --direct, filters, files. */
void shell_quote_rest(text_t *line, const load_spec_t *load, bool direct);

#endif
