#include "base/log.h"
#include "cli/options/cli_inner.h"
#include "cli/pages/man_files.h"
#include "cli/pages/roff.h"

#include <stdio.h>
#include <string.h>

static void print_see_also(const command_t *command) {
    out_print(".SH SEE ALSO\n.BR tipple (1)");
    cli_rows_t rows;
    cli_rows(command, &rows);
    for (size_t i = 0; i < rows.count; i++) {
        if (strcmp(rows.rows[i].option->name, "format") == 0)
            out_print(",\n.BR tipple\\-formats (5)");
        if (strcmp(rows.rows[i].option->name, "suite") == 0)
            out_print(",\n.BR tipple\\-suites (5)");
    }
    out_print("\n");
}

static void print_options(const command_t *command) {
    out_print(".SH OPTIONS\n");
    cli_rows_t rows;
    cli_rows(command, &rows);
    for (size_t i = 0; i < rows.count; i++) {
        char words[OPTION_WORDS];
        if (i == 0 || rows.rows[i].group != rows.rows[i - 1].group)
            out_print(".SS %s\n", rows.rows[i].group);
        cli_option_words(rows.rows[i].option, words);
        roff_entry(words, rows.rows[i].option->help);
    }
}

static void print_statuses(void) {
    out_print(".SH EXIT STATUS\n");
    for (int i = 0; i < CLI_STATUSES; i++)
        roff_entry(cli_statuses[i][0], cli_statuses[i][1]);
}

static void print_command(const command_t *command) {
    roff_title(command->name, 1, command->about);
    out_print(".SH SYNOPSIS\n.B tipple %s\n", command->name);
    out_print("[options]%s", *command->arguments ? " " : "");
    roff_text(command->arguments);
    out_print(".SH DESCRIPTION\n");
    roff_text(command->help ? command->help : command->about);
    print_options(command);
    print_statuses();
    if (command->examples) {
        out_print(".SH EXAMPLES\n");
        roff_lines(command->examples);
    }
    print_see_also(command);
}

static void print_overview(void) {
    const char *group = "";
    roff_title("", 1, "load bulk data into MongoDB, fast, and account for every record");
    out_print(".SH SYNOPSIS\n.B tipple\nCOMMAND [options] [arguments]\n.SH DESCRIPTION\n");
    roff_text("`tipple load` loads delimited text, JSON, BSON, dumps of mongodump and fixed-width records, "
              "compressed or not, into a collection of a standalone, a replica set or a sharded cluster. It "
              "can be run again at any time: what is there is not loaded twice, and what is missing is "
              "completed. `tipple verify` compares the collection with the files.\n\nEach command explains "
              "itself with `--help`, and has a page of its own, such as `tipple-load`(1).");
    out_print(".SH COMMANDS\n");
    for (const command_t *const *command = cli_commands; *command; command++) {
        char name[40];
        if (strcmp(group, (*command)->group) != 0)
            out_print(".SS %s\n", (*command)->group);
        group = (*command)->group;
        snprintf(name, sizeof name, "tipple %s", (*command)->name);
        roff_entry(name, (*command)->about);
    }
    print_statuses();
    out_print(".SH ENVIRONMENT\n");
    roff_text(cli_of_environment);
    out_print(".SH EXAMPLES\n");
    roff_lines(cli_overview_examples);
    out_print(".SH SEE ALSO\n");
    for (const command_t *const *command = cli_commands; *command; command++)
        out_print(".BR tipple\\-%s (1),\n", (*command)->name);
    out_print(".BR tipple\\-formats (5),\n.BR tipple\\-suites (5)\n");
}

static const struct {
    const char *name;
    void (*print)(void);
} others[] = {
    {"tipple.1", print_overview},
    {"tipple-formats.5", man_print_formats},
    {"tipple-suites.5", man_print_suites},
};
enum { OTHERS = sizeof others / sizeof *others };

bool cli_print_man(const char *name) {
    for (size_t i = 0; i < OTHERS; i++)
        if (strcmp(name, others[i].name) == 0)
            return others[i].print(), true;
    for (const command_t *const *command = cli_commands; *command; command++) {
        char page[40];
        snprintf(page, sizeof page, "tipple-%s.1", (*command)->name);
        if (strcmp(name, page) == 0 || strcmp(name, (*command)->name) == 0)
            return print_command(*command), true;
    }
    return false;
}

void cli_list_man(void) {
    for (const command_t *const *command = cli_commands; *command; command++)
        out_print("tipple-%s.1\n", (*command)->name);
    for (size_t i = 0; i < OTHERS; i++)
        out_print("%s\n", others[i].name);
}
