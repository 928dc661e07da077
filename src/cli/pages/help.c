#include "base/log.h"
#include "cli/options/cli_inner.h"

#include <stdio.h>
#include <string.h>

/* Two screens of 60 lines show the help of any command on a terminal of 80 columns. */
enum { WIDTH = 80, INDENT = 24 };

const char *const cli_statuses[CLI_STATUSES][2] = {
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

const char *const cli_overview_examples =
    "  tipple load orders.csv --uri mongodb://HOST/shop.orders     # any records\n"
    "  tipple verify orders.csv --uri mongodb://HOST/shop.orders   # compare them";

const char *const cli_of_environment = "Options that neither destroy nor select data can be set in the "
                                       "environment, too: TIPPLE_BATCH for --batch.";

void cli_option_words(const option_t *option, char out[OPTION_WORDS]) {
    char letter[8] = "";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(out, OPTION_WORDS, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
}

/* Wraps a text to the width of a terminal, after an indent. */
static void print_wrapped(const char *text, int indent) {
    int column = indent;
    for (const char *at = text; *at;) {
        if (*at == '\n') {
            out_print("\n%*s", indent, "");
            column = indent;
            at++;
            continue;
        }
        const size_t word = strcspn(at, " \n");
        if (column > indent && column + 1 + (int)word > WIDTH) {
            out_print("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            out_print(" ");
            column++;
        }
        out_print("%.*s", (int)word, at);
        column += (int)word;
        at += word;
        while (*at == ' ')
            at++;
    }
    out_print("\n");
}

static void print_option(const option_t *option) {
    char words[OPTION_WORDS];
    cli_option_words(option, words);
    if (strlen(words) > INDENT - 4)
        out_print("  %s\n%*s", words, INDENT, "");
    else
        out_print("  %-*s", INDENT - 2, words);
    print_wrapped(option->help, INDENT);
}

void cli_print_help(const command_t *command) {
    out_print("tipple %s: %s\n\nUsage: tipple %s [options]%s%s\n", command->name, command->about,
              command->name, *command->arguments ? " " : "", command->arguments);
    if (command->help) {
        out_print("\n");
        print_wrapped(command->help, 0);
    }
    if (command->examples) {
        out_print("\nExamples:\n");
        out_lines(command->examples);
        out_print("\n");
    }
    cli_rows_t rows;
    cli_rows(command, &rows);
    for (size_t i = 0; i < rows.count; i++) {
        if (i == 0 || rows.rows[i].group != rows.rows[i - 1].group)
            out_print("\n%s:\n", rows.rows[i].group);
        print_option(rows.rows[i].option);
    }
    out_print("\n");
    print_wrapped(cli_of_environment, 0);
}

void cli_print_overview(void) {
    const char *group = "";
    out_print("tipple loads bulk data into MongoDB, fast, and accounts for every record.\n\n"
              "Usage: tipple COMMAND [options] [arguments]\n\nExamples:\n");
    out_lines(cli_overview_examples);
    out_print("\n");
    for (const command_t *const *command = cli_commands; *command; command++) {
        if (strcmp(group, (*command)->group) != 0)
            out_print("\n%s\n", (*command)->group);
        group = (*command)->group;
        out_print("  %-11s %s\n", (*command)->name, (*command)->about);
    }
    out_print("\n`tipple COMMAND --help` explains a command, `tipple --version` its version.\n");
    out_print("\nExit statuses:\n");
    for (int i = 0; i < CLI_STATUSES; i++) {
        out_print("  %-13s ", cli_statuses[i][0]);
        print_wrapped(cli_statuses[i][1], 16);
    }
}
