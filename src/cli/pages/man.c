#include "base/out.h"
#include "cli/options/cli_inner.h"

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

static void print_man_options(const command_t *command) {
    for (option_walk_t walk = {.command = command}; cli_next_option(&walk);) {
        char words[OPTION_WORDS];
        if (walk.new_group)
            out_print(".SS \"%s\"\n", walk.group);
        cli_option_words(walk.option, words);
        out_print(".TP\n.B ");
        print_roff(words);
        out_print("\n");
        print_roff(walk.option->help);
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
    print_man_options(command);
    out_print(".SH \"EXIT STATUS\"\n");
    for (int i = 0; i < CLI_STATUSES; i++) {
        out_print(".TP\n.B %s\n", cli_statuses[i][0]);
        print_roff(cli_statuses[i][1]);
        out_print("\n");
    }
    if (command->examples) {
        out_print(".SH EXAMPLES\n.nf\n");
        print_roff(command->examples);
        out_print("\n.fi\n");
    }
}
