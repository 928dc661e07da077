#include "base/text.h"
#include "cli/options/cli.h"

#include <string.h>

typedef struct {
    bool man, man_list, markdown;
} values_t;

static const option_t options[] = {
    {.name = "man",
     .group = GROUP_RESULT,
     .help = "Print a page for man: of a command, such as load, or tipple.1, tipple-formats.5 or "
             "tipple-suites.5.",
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, man)},
    {.name = "man-list",
     .help = "Name the pages for man.",
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, man_list)},
    {.name = "markdown",
     .help = "Print the reference of all commands.",
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, markdown)},
    {.name = NULL},
};

/* Commands of other tools and former versions, and what to use instead. */
static const char *const other_commands[][2] = {
    {"import", "`tipple load FILE... --uri mongodb://HOST/DATABASE.COLLECTION` loads files"},
    {"restore", "`tipple load DUMP --uri mongodb://HOST` loads a dump of mongodump"},
    {"plan", "the script tools/plan of the source tree computes what a load takes and costs"},
};

const command_t *cli_find_command(const char *name, err_t *err) {
    const char *names[16];
    size_t count = 0;
    for (const command_t *const *at = cli_commands; *at; at++) {
        if (strcmp((*at)->name, name) == 0)
            return *at;
        names[count++] = (*at)->name;
    }
    const char *hint = NULL;
    for (size_t i = 0; i < COUNT(other_commands); i++)
        if (strcmp(name, other_commands[i][0]) == 0)
            hint = other_commands[i][1];
    const char *near = hint ? NULL : suggest_word(name, names, count);
    if (hint)
        err_set(err, STATUS_USAGE, "there is no command '%s': %s", name, hint);
    else if (near)
        err_set(err, STATUS_USAGE, "there is no command '%s'; did you mean 'tipple %s'?", name, near);
    else
        err_set(err, STATUS_USAGE, "there is no command '%s'; `tipple help` lists them", name);
    return NULL;
}

static int run_help(int argc, char **argv, const command_t *self, err_t *err) {
    values_t values = {.man = false};
    int rest, status;
    if (!cli_read(self, argc, argv, &values, &rest, &status, err))
        return status;
    const char *name = rest ? argv[0] : NULL;
    if (values.man_list)
        cli_list_man();
    else if (values.markdown)
        cli_print_reference();
    else if (values.man && cli_print_man(name ? name : "tipple.1"))
        return cli_finish(STATUS_OK, err);
    else if (!name)
        cli_print_overview();
    else {
        const command_t *command = cli_find_command(name, err);
        if (!command)
            return (int)err->status;
        cli_print_help(command);
    }
    return cli_finish(STATUS_OK, err);
}

const command_t command_help = {
    .name = "help",
    .group = COMMANDS_HELP,
    .arguments = "[COMMAND]",
    .about = "explain a command",
    .options = options,
    .run = run_help,
};
