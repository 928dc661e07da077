#include "base/suggest.h"
#include "cli/options/cli.h"

#include <string.h>

typedef struct {
    bool all, man, markdown;
} values_t;

static const option_t options[] = {
    {.name = "all",
     .group = GROUP_RESULT,
     .first = true,
     .help = "Print all that there is to say, with all options.",
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, all)},
    {.name = "man",
     .first = true,
     .help = "Print the command's page for man.",
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, man)},
    {.name = "markdown",
     .first = true,
     .help = "Print the reference of all commands.",
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, markdown)},
    {.name = NULL},
};

const command_t *cli_find_command(const char *name, err_t *err) {
    const char *names[16];
    size_t count = 0;
    for (const command_t *const *at = cli_commands; *at; at++) {
        if (strcmp((*at)->name, name) == 0)
            return *at;
        names[count++] = (*at)->name;
    }
    const char *near = suggest_word(name, names, count);
    if (near)
        err_set(err, STATUS_USAGE, "there is no command '%s'; did you mean 'tipple %s'?", name, near);
    else
        err_set(err, STATUS_USAGE, "there is no command '%s'; `tipple help` lists them", name);
    return NULL;
}

static int run_help(int argc, char **argv, const command_t *self, err_t *err) {
    values_t values = {.all = false};
    int rest, status;
    if (!cli_read(self, argc, argv, &values, &rest, &status, err))
        return status;
    const command_t *command = rest ? cli_find_command(argv[0], err) : NULL;
    if (rest && !command)
        return (int)err->status;
    if (values.markdown)
        cli_print_reference();
    else if (values.man && !command)
        return err_set(err, STATUS_USAGE, "help --man needs a command's name"), STATUS_USAGE;
    else if (values.man)
        cli_print_man(command);
    else if (command)
        cli_print_help(command, values.all);
    else
        cli_print_overview(values.all);
    return cli_flush(err) ? STATUS_OK : (int)err->status;
}

const command_t command_help = {
    .name = "help",
    .group = COMMANDS_HELP,
    .arguments = "[COMMAND]",
    .about = "explain a command",
    .options = options,
    .run = run_help,
};
