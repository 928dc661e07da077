#include "base/out.h"
#include "cli/options/cli_inner.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 100 };

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
    "  tipple load orders.csv --uri mongodb://127.0.0.1/shop.orders     # any file of records\n"
    "  tipple verify orders.csv --uri mongodb://127.0.0.1/shop.orders   # compare it with the file";

bool cli_next_option(option_walk_t *walk) {
    const char *group = walk->group;
    walk->option = walk->option ? walk->option + 1 : walk->command->options;
    if (!walk->option->name && !walk->common) {
        walk->common = true;
        walk->option = cli_common_options;
    }
    if (walk->option->group)
        walk->group = walk->option->group;
    walk->new_group = walk->group && (!group || strcmp(group, walk->group) != 0);
    return walk->option->name != NULL;
}

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
    if (strlen(words) > 24)
        out_print("  %s\n%28s", words, "");
    else
        out_print("  %-26s", words);
    print_wrapped(option->help, 28);
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
    for (option_walk_t walk = {.command = command}; cli_next_option(&walk);) {
        if (walk.new_group)
            out_print("\n%s:\n", walk.group);
        print_option(walk.option);
    }
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
    out_print("\n`tipple COMMAND --help` explains a command; `tipple --version` prints the version.\n");
    out_print("\nExit statuses:\n");
    for (int i = 0; i < CLI_STATUSES; i++) {
        out_print("  %-13s ", cli_statuses[i][0]);
        print_wrapped(cli_statuses[i][1], 16);
    }
}
