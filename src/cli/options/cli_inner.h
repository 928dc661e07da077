/* What reading options and printing pages of them share. */
#ifndef TIPPLE_CLI_OPTIONS_CLI_INNER_H
#define TIPPLE_CLI_OPTIONS_CLI_INNER_H

#include "cli/options/cli.h"

extern const option_t cli_common_options[]; /* of every command; ends with a NULL name */

#endif
