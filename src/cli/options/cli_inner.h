/* What reading options and printing pages of them share. */
#ifndef TIPPLE_CLI_OPTIONS_CLI_INNER_H
#define TIPPLE_CLI_OPTIONS_CLI_INNER_H

#include "cli/options/cli.h"

/* The options of a command: its own, those of load_options that it takes, and those of all commands, group by group. */
typedef struct {
    const option_t *option;
    const char *group;
    size_t at;   /* where the struct of its values begins in the command's */
    bool common; /* of all commands: its value is in a common_t */
} cli_row_t;

enum { MOST_OPTIONS = 80 };
typedef struct {
    cli_row_t rows[MOST_OPTIONS];
    size_t count;
} cli_rows_t;
void cli_rows(const command_t *command, cli_rows_t *rows);

/* The variable that stands in for an option: TIPPLE_SHARD_KEY. */
enum { VARIABLE_MAX = 64 };
void cli_variable(const option_t *option, char out[VARIABLE_MAX]);

/* "-f, --format NAME" */
enum { OPTION_WORDS = 80 };
void cli_option_words(const option_t *option, char out[OPTION_WORDS]);

extern const char *const cli_overview_examples;
extern const char *const cli_of_environment; /* how options are set there */

enum { CLI_STATUSES = 10 };
extern const char *const cli_statuses[CLI_STATUSES][2]; /* status, what it means */

#endif
