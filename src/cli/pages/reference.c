#include "base/log.h"
#include "cli/options/cli_inner.h"

static void print_options(const command_t *command) {
    cli_rows_t rows;
    cli_rows(command, &rows);
    for (size_t i = 0; i < rows.count; i++) {
        const option_t *option = rows.rows[i].option;
        char words[OPTION_WORDS];
        if (i == 0 || rows.rows[i].group != rows.rows[i - 1].group)
            out_print("\n%s:\n\n| option | meaning |\n|---|---|\n", rows.rows[i].group);
        cli_option_words(option, words);
        out_print("| `%s` | ", words);
        for (const char *at = option->help; *at; at++) {
            if (*at == '\n')
                out_print(" ");
            else if (*at == '|')
                out_lines("\\|");
            else
                out_bytes(at, 1);
        }
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
            out_print("\n");
        }
        print_options(command);
        if (command->examples) {
            out_print("\nExamples:\n\n```\n");
            out_lines(command->examples);
            out_print("\n```\n");
        }
    }
    out_print("\n## Environment\n\n%s\n", cli_of_environment);
    out_print("\n## Exit statuses\n\n| status | meaning |\n|---|---|\n");
    for (int i = 0; i < CLI_STATUSES; i++)
        out_print("| %s | %s |\n", cli_statuses[i][0], cli_statuses[i][1]);
}
