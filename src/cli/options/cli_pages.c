#include "base/out.h"
#include "cli/options/cli_inner.h"

#include <stdio.h>
#include <string.h>

static void option_words(const option_t *option, char *out, size_t room) {
    char letter[8] = "";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(out, room, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
}

/* Wraps a help text to the width of a terminal, behind an indent. */
static void print_wrapped(const char *text, int indent, int width) {
    int column = indent;
    for (const char *at = text; *at;) {
        if (*at == '\n') {
            out_print("\n%*s", indent, "");
            column = indent;
            at++;
            continue;
        }
        size_t length = strcspn(at, " \n");
        if (column > indent && column + 1 + (int)length > width) {
            out_print("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            out_print(" ");
            column++;
        }
        out_print("%.*s", (int)length, at);
        column += (int)length;
        at += length;
        while (*at == ' ')
            at++;
    }
    out_print("\n");
}

static void print_options(const option_t *options) {
    for (const option_t *option = options; option->name; option++) {
        char words[80];
        option_words(option, words, sizeof words);
        if (strlen(words) > 24)
            out_print("  %s\n%28s", words, "");
        else
            out_print("  %-26s", words);
        print_wrapped(option->help, 28, 100);
    }
}

void cli_print_help(const command_t *command) {
    out_print("tipple %s: %s\n\nUsage: tipple %s [options]%s%s\n\n", command->name, command->about,
              command->name, *command->arguments ? " " : "", command->arguments);
    if (command->help) {
        out_lines(command->help);
        out_print("\n\n");
    }
    out_print("Options:\n");
    print_options(command->options);
    print_options(cli_common_options);
    if (command->examples) {
        out_print("\nExamples:\n");
        out_lines(command->examples);
        out_print("\n");
    }
}

static const char *const statuses[][2] = {
    {"0", "done: every record read is in the collection (or was there already), or was left out by a filter"},
    {"1", "nothing was touched: command line, format, suite, permission, password, or a target that must not "
          "be loaded into"},
    {"2", "done, but some records were rejected (the reject file holds them), or files skipped"},
    {"3", "stopped: more rejects than --max-rejects"},
    {"4", "stopped: the server refused or vanished for longer than --patience; the same command resumes from "
          "there"},
    {"5", "an input could not be read, does not fit the format, or changed while it was read; resumable"},
    {"7",
     "verify, drill: the collection is not what its files make; query, drill: an answer is not the expected "
     "one; the differences were named"},
    {"8", "stopped: this host (memory, disk full, stdout closed, file descriptors); resumable"},
    {"129, 130, 143", "interrupted (terminal closed, Ctrl-C, SIGTERM): cleaned up; resumable"},
};
enum { STATUSES = sizeof statuses / sizeof *statuses };

void cli_print_overview(void) {
    out_print("tipple loads bulk data into MongoDB, fast, and accounts for every record.\n\n"
              "Usage: tipple COMMAND [options] [arguments]\n\nCommands:\n");
    for (const command_t *const *command = cli_commands; *command; command++)
        out_print("  %-10s %s\n", (*command)->name, (*command)->about);
    out_print("\n`tipple COMMAND --help` explains a command; `tipple --version` prints the version.\n\nExit "
              "statuses:\n");
    for (int i = 0; i < STATUSES; i++) {
        out_print("  %-10s ", statuses[i][0]);
        print_wrapped(statuses[i][1], 13, 100);
    }
}

static void print_roff(const char *text) {
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            out_lines("\\&");
        if (*text == '\\')
            out_lines("\\e");
        else if (*text == '-')
            out_lines("\\-");
        else
            out_bytes(text, 1);
        line_start = *text == '\n';
    }
}

static void print_man_options(const option_t *options) {
    for (const option_t *option = options; option->name; option++) {
        char words[80];
        option_words(option, words, sizeof words);
        out_print(".TP\n.B ");
        print_roff(words);
        out_print("\n");
        print_roff(option->help);
        out_print("\n");
    }
}

void cli_print_man(const command_t *command) {
    out_print(".TH TIPPLE-%s 1 \"\" \"tipple %s\"\n.SH NAME\ntipple-%s \\- ", command->name, TIPPLE_VERSION,
              command->name);
    print_roff(command->about);
    out_print("\n.SH SYNOPSIS\n.B tipple %s\n[options]%s", command->name, *command->arguments ? " " : "");
    print_roff(command->arguments);
    out_print("\n.SH DESCRIPTION\n");
    print_roff(command->help ? command->help : command->about);
    out_print("\n.SH OPTIONS\n");
    print_man_options(command->options);
    print_man_options(cli_common_options);
    out_print(".SH \"EXIT STATUS\"\n");
    for (int i = 0; i < STATUSES; i++) {
        out_print(".TP\n.B %s\n", statuses[i][0]);
        print_roff(statuses[i][1]);
        out_print("\n");
    }
    if (command->examples) {
        out_print(".SH EXAMPLES\n.nf\n");
        print_roff(command->examples);
        out_print("\n.fi\n");
    }
}

static void print_reference_options(const option_t *options) {
    for (const option_t *option = options; option->name; option++) {
        char words[80];
        option_words(option, words, sizeof words);
        out_print("| `%s` | ", words);
        for (const char *at = option->help; *at; at++) {
            if (*at == '\n')
                out_print(" ");
            else if (*at == '|')
                out_lines("\\|");
            else
                out_bytes(at, 1);
        }
        if (option->environment)
            out_print(" (environment: `%s`)", option->environment);
        out_print(" |\n");
    }
}

void cli_print_reference(void) {
    out_print(
        "# Reference\n\nPrinted by `tipple help --markdown`; each command says the same with `--help`.\n");
    for (const command_t *const *at = cli_commands; *at; at++) {
        const command_t *command = *at;
        out_print("\n## tipple %s\n\n%s\n\n    tipple %s [options]%s%s\n\n", command->name, command->about,
                  command->name, *command->arguments ? " " : "", command->arguments);
        if (command->help) {
            out_lines(command->help);
            out_print("\n\n");
        }
        out_print("| option | meaning |\n|---|---|\n");
        print_reference_options(command->options);
        print_reference_options(cli_common_options);
        if (command->examples) {
            out_print("\nExamples:\n\n```\n");
            out_lines(command->examples);
            out_print("\n```\n");
        }
    }
    out_print("\n## Exit statuses\n\n| status | meaning |\n|---|---|\n");
    for (int i = 0; i < STATUSES; i++)
        out_print("| %s | %s |\n", statuses[i][0], statuses[i][1]);
}
