/* What reading options and printing pages of them share. */
#ifndef TIPPLE_CLI_OPTIONS_CLI_INNER_H
#define TIPPLE_CLI_OPTIONS_CLI_INNER_H

#include "cli/options/cli.h"

extern const option_t cli_common_options[]; /* of every command; ends with a NULL name */

/* A command's options in order, and then those of all commands. */
typedef struct {
    const command_t *command;
    const option_t *option; /* NULL: before the first one */
    const char *group;      /* of the option, or of one before it */
    bool common, new_group;
} option_walk_t;
bool cli_next_option(option_walk_t *walk);

/* "-f, --format NAME" */
enum { OPTION_WORDS = 80 };
void cli_option_words(const option_t *option, char out[OPTION_WORDS]);

extern const char *const cli_overview_examples;

enum { CLI_STATUSES = 10 };
extern const char *const cli_statuses[CLI_STATUSES][2]; /* status, what it means */

#endif
