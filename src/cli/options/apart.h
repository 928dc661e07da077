/* apart: options of a command that do not go together, as a table. One of them would have no effect, or undo the other. */
#ifndef TIPPLE_CLI_OPTIONS_APART_H
#define TIPPLE_CLI_OPTIONS_APART_H

#include "cli/options/cli_inner.h"

/* said: by the row of the command's options, whether the command line has it. False: it has two that do not go together. */
bool apart_check(const command_t *command, const cli_rows_t *rows, const bool *said, err_t *err);

#endif
