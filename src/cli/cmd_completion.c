#include "base/log.h"
#include "builtin/builtin.h"
#include "cli/options/cli.h"
#include "cli/pages/complete.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    bool words;
} values_t;

static const option_t options[] = {
    {.name = "words",
     .group = GROUP_RESULT,
     .help = "What the scripts ask for: read the words of a command line from stdin, one a line, the last "
             "one perhaps not finished, and print what can stand there.",
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, words)},
    {.name = NULL},
};

/* Of a line that a person types: longer ones are not completed. */
enum { MOST_WORDS = 256, MOST_BYTES = 1 << 16 };

static void complete(void) {
    static char line[MOST_BYTES];
    char *words[MOST_WORDS];
    size_t count = 0, length = fread(line, 1, sizeof line - 1, stdin);
    if (length && line[length - 1] == '\n')
        length--;
    line[length] = '\0';
    for (char *at = line; at && count < MOST_WORDS;) {
        words[count++] = at;
        at = strchr(at, '\n');
        if (at)
            *at++ = '\0';
    }
    complete_words(words, count);
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.words = false};
    int rest, status;
    if (!cli_read(command, argc, argv, &values, &rest, &status, err))
        return status;
    const builtin_t *script = rest == 1 ? builtin_find(builtin_completion, argv[0]) : NULL;
    if (values.words)
        complete();
    else if (script)
        out_bytes(script->text, script->length);
    else
        return err_set(err, STATUS_USAGE, "say for which shell: tipple completion bash, zsh or fish"),
               STATUS_USAGE;
    return cli_finish(STATUS_OK, err);
}

const command_t command_completion = {
    .name = "completion",
    .group = COMMANDS_HELP,
    .arguments = "bash|zsh|fish",
    .about = "print the script by which a shell completes commands",
    .help =
        "Prints a script for bash, zsh or fish. With it the tab key completes commands, options, formats, "
        "suites, queries and other words. `cmake --install` puts it where shells look for such scripts.",
    .examples = "  source <(tipple completion bash)          # for this shell; or in ~/.bashrc\n"
                "  source <(tipple completion zsh)           # after compinit, in ~/.zshrc\n"
                "  tipple completion fish | source",
    .options = options,
    .run = run,
};
