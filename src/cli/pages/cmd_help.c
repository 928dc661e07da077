/* help: what commands, options and exit statuses mean, as a page. The pages of format files and suites are written by hand:
 * package/tipple-formats.5, package/tipple-suites.5. */
#include "base/log.h"
#include "cli/options/cli.h"
#include "cli/pages/pages.h"

#include <stdio.h>
#include <string.h>

enum { COMMAND_COLUMN = 14, STATUS_COLUMN = 16, OPTION_COLUMN = 24 };

static const char *const statuses[][2] = {
    {"0", "done: every record read is in the collection (or was there already), or was left out by a filter"},
    {"1", "nothing was touched: command line, format, suite, permission, password, or a target that must not "
          "be loaded into"},
    {"2", "done, but some records were rejected (the reject file holds them), or files skipped"},
    {"3", "stopped: more rejects than --max-rejects"},
    {"4", "stopped: the server refused or vanished for longer than --patience; the same command resumes from "
          "there"},
    {"5", "an input could not be read, is damaged, has changed, or does not fit the format; the sentence "
          "says what to do"},
    {"6", "a threshold was missed, such as --within; all else is done"},
    {"7",
     "verify, drill: the collection is not what its files make; query, drill: an answer is not the expected "
     "one; the differences were named"},
    {"8", "stopped: this host (memory, disk full, stdout closed, file descriptors); resumable"},
    {"129, 130, 143", "interrupted (terminal closed, Ctrl-C, SIGTERM): cleaned up; resumable"},
};

static const char of_environment[] =
    "Options that neither destroy nor select data can be set in the environment, "
    "too: TIPPLE_BATCH for --batch.";

/* ---- commands ---- */

static void put_statuses(const writer_t *to) {
    to->heading("Exit statuses", false);
    for (size_t i = 0; i < COUNT(statuses); i++)
        to->entry(statuses[i][0], statuses[i][1], STATUS_COLUMN);
}

static void put_see_also(const writer_t *to) {
    if (to->is_man) {
        to->heading("See also", false);
        to->text("`tipple`(1), `tipple-formats`(5), `tipple-suites`(5)");
    }
}

static void put_options(const writer_t *to, const command_t *command) {
    cli_rows_t rows;
    cli_rows(command, &rows);
    if (to->is_man)
        to->heading("Options", false);
    for (size_t i = 0; i < rows.count; i++) {
        char words[OPTION_WORDS];
        if (i == 0 || rows.rows[i].group != rows.rows[i - 1].group)
            to->heading(rows.rows[i].group, true);
        cli_option_words(rows.rows[i].option, words);
        to->entry(words, rows.rows[i].option->help, OPTION_COLUMN);
    }
}

static void put_command(const writer_t *to, const command_t *command) {
    char usage[120];
    snprintf(usage, sizeof usage, "tipple %s [options]%s%s", command->name, *command->arguments ? " " : "",
             command->arguments);
    to->title(command->name, command->about);
    to->usage(usage);
    to->text(command->help);
    if (command->examples) {
        to->heading("Examples", !to->is_man);
        to->lines(command->examples);
    }
    put_options(to, command);
    to->heading("Environment", false);
    to->text(of_environment);
    if (to->is_man)
        put_statuses(to);
    put_see_also(to);
}

static void put_overview(const writer_t *to) {
    const char *group = "";
    to->title("", "load bulk data into MongoDB, fast, and account for every record");
    to->usage("tipple COMMAND [options] [arguments]");
    to->text("A load can be run again at any time: what is there is not loaded twice, and what is missing is "
             "completed. `tipple COMMAND --help` explains a command, `tipple --version` prints the version.");
    to->heading("Examples", false);
    to->lines("  tipple load orders.csv --uri mongodb://HOST/shop.orders     # any records\n"
              "  tipple verify orders.csv --uri mongodb://HOST/shop.orders   # compare them");
    if (to->is_man)
        to->heading("Commands", false);
    for (const command_t *const *command = cli_commands; *command; command++) {
        if (strcmp(group, (*command)->group) != 0)
            to->heading((*command)->group, true);
        group = (*command)->group;
        to->entry((*command)->name, (*command)->about, COMMAND_COLUMN);
    }
    put_statuses(to);
    put_see_also(to);
}

void cli_print_help(const command_t *command) {
    command ? put_command(&terminal_writer, command) : put_overview(&terminal_writer);
}

/* ---- man ---- */

/* name: of a page, or of a command. False: there is no such page. */
static bool put_man(const char *name) {
    if (strcmp(name, "tipple.1") == 0)
        return put_overview(&man_writer), true;
    for (const command_t *const *command = cli_commands; *command; command++) {
        char page[40];
        snprintf(page, sizeof page, "tipple-%s.1", (*command)->name);
        if (strcmp(name, page) == 0 || strcmp(name, (*command)->name) == 0)
            return put_command(&man_writer, *command), true;
    }
    return false;
}

/* ---- the command ---- */

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
    if (hint)
        err_set(err, STATUS_USAGE, "there is no command '%s': %s", name, hint);
    else
        err_set(err, STATUS_USAGE, "there is no command '%s'%s; `tipple help` lists them", name,
                suggestion(name, names, count).text);
    return NULL;
}

typedef struct {
    bool man;
} values_t;

static values_t values;

static const option_t options[] = {
    OPTION("man", FLAG, man, .group = GROUP_RESULT,
           .help = "Print a page for man: of a command, such as load, or tipple.1."),
    {.name = NULL},
};

static int explain(run_t *run, err_t *err) {
    const char *name = run->count ? run->words[0] : NULL;
    const command_t *command = NULL;
    if (values.man && put_man(name ? name : "tipple.1"))
        return cli_finish(STATUS_OK, err);
    else if (!name || (command = cli_find_command(name, err)))
        cli_print_help(command);
    else
        return (int)err->status;
    return cli_finish(STATUS_OK, err);
}

const command_t command_help = {
    .name = "help",
    .group = COMMANDS_HELP,
    .arguments = "[COMMAND]",
    .about = "explain a command",
    .help = "Prints the page of a command, or all commands, each in a line.",
    .options = options,
    .values = &values,
    .body = explain,
};
