/* again: the command line that a command was started with, quoted so that it can be pasted into a shell. Secrets in it
 * are shown as ***. The text of a COMMAND option is not shown at all: any word of it may be a secret. Main thread. */
#ifndef TIPPLE_CLI_OPTIONS_AGAIN_H
#define TIPPLE_CLI_OPTIONS_AGAIN_H

#include "cli/options/cli.h"

#include <bson/bson.h>

typedef struct {
    const command_t *command;
    char **words;
    int count;
} again_t;

/* Before cli_read, which moves the words about. The words themselves are borrowed. */
void again_keep(again_t *again, const command_t *command, int argc, char **argv);
void again_free(again_t *again);

/* "tipple load --format mot ..."; uri: the target's, or NULL. free. */
char *again_line(const again_t *again, const char *uri);

/* A text without the passwords of the target's URI and of any other URI in it. bson_free. */
char *again_conceal(const char *text, const char *uri);

#endif
