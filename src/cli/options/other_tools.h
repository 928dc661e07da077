/* other_tools: options of mongoimport and mongorestore that tipple does not have, and what it does instead. */
#ifndef TIPPLE_CLI_OPTIONS_OTHER_TOOLS_H
#define TIPPLE_CLI_OPTIONS_OTHER_TOOLS_H

#include <stdbool.h>

/* The sentence for an option without its dashes, or for a letter; good until the next call. NULL: they have none
 * of this name either. */
const char *other_tools_hint(const char *name, bool is_letter);

/* The same for an option that tipple has, too, when its value is one of theirs: --type csv. */
const char *other_tools_value_hint(const char *name, const char *value);

/* What is meant by a word that is the name of another tool, or of a command of other tools. NULL: nothing known. */
const char *other_tools_command_hint(const char *name);

#endif
