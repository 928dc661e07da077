/* completion: the scripts by which shells complete, and the words that these ask for: what can stand at the end of a
 * command line, from the rows that it is read by. */
#include "base/log.h"
#include "builtin/builtin.h"
#include "cli/options/cli.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- what can stand there ---- */

/* Prints a word that the typed one begins. The first sentence is enough for a line of a list. */
static void offer(const char *typed, const char *word, const char *about) {
    const char *end = about ? strstr(about, ". ") : NULL;
    if (strncmp(word, typed, strlen(typed)) != 0)
        return;
    out_lines(word);
    if (about) {
        const size_t length = end ? (size_t)(end - about) : strlen(about);
        out_bytes("\t", 1);
        out_print("%.*s", (int)(length - (length && about[length - 1] == '.')), about);
    }
    out_lines("\n");
}

static void offer_commands(const char *typed) {
    for (const command_t *const *command = cli_commands; *command; command++)
        offer(typed, (*command)->name, (*command)->about);
}

static void offer_builtin(const char *typed, const builtin_t *builtin) {
    for (; builtin->name; builtin++)
        offer(typed, builtin->name, NULL);
}

/* A kind of words, as --help calls an argument, or as .offers names it; or a word. */
static void offer_kind(const char *typed, const char *kind) {
    if (strcmp(kind, "FILE") == 0 || strcmp(kind, "DIR") == 0 || strcmp(kind, "INPUT") == 0 ||
        strcmp(kind, "@files") == 0)
        out_lines(":files\n");
    else if (strcmp(kind, "COMMAND") == 0)
        offer_commands(typed);
    else if (strcmp(kind, "@formats") == 0)
        offer_builtin(typed, builtin_formats);
    else if (strcmp(kind, "@suites") == 0)
        offer_builtin(typed, builtin_suites);
    else if (*kind && !isupper((unsigned char)*kind) && *kind != '-')
        offer(typed, kind, NULL);
}

/* "N|auto", "none snappy", "[FILE...]": the words between | , [ ] . and blanks. */
static void offer_kinds(const char *typed, const char *kinds) {
    static const char between[] = "|,[] ";
    for (const char *at = kinds; *(at += strspn(at, between));) {
        char kind[40];
        const size_t length = strcspn(at, between);
        snprintf(kind, sizeof kind, "%.*s", (int)length, at);
        at += length;
        char *dots = strstr(kind, "...");
        if (dots)
            *dots = '\0';
        offer_kind(typed, kind);
    }
}

/* ---- where the line ends ---- */

/* The option of a word whose value comes in the next word, or NULL. */
static const option_t *option_of(const cli_rows_t *rows, const char *word) {
    if (word[0] != '-' || !word[1])
        return NULL;
    const char *name = word[1] == '-' ? word + 2 : NULL;
    const cli_row_t *row = cli_find_row(rows, name, name ? strlen(name) : 0, word[strlen(word) - 1]);
    return row && row->option->argument ? row->option : NULL;
}

static void complete_of(const command_t *command, char **words, size_t count) {
    const char *typed = words[count - 1];
    const option_t *waiting = NULL; /* for its value */
    bool options = true;
    cli_rows_t rows;
    cli_rows(command, &rows);
    for (size_t i = 0; i + 1 < count; i++) {
        options = options && (waiting || strcmp(words[i], "--") != 0);
        waiting = waiting || !options ? NULL : option_of(&rows, words[i]);
    }
    if (waiting)
        offer_kinds(typed, waiting->offers ? waiting->offers : waiting->argument);
    else if (!options || *typed != '-')
        offer_kinds(typed, command->arguments);
    else
        for (size_t i = 0; i < rows.count; i++) {
            char name[64];
            snprintf(name, sizeof name, "--%s", rows.rows[i].option->name);
            offer(typed, name, rows.rows[i].option->help);
        }
}

/* words: those after `tipple`, at least one. Prints a line for each word that can stand in place of the last one, with
 * what it means after a tab; ":files" if names of files can. */
static void complete_words(char **words, size_t count) {
    for (const command_t *const *command = cli_commands; *command && count > 1; command++)
        if (strcmp((*command)->name, words[0]) == 0)
            complete_of(*command, words + 1, count - 1);
    if (count > 1)
        return;
    offer_commands(words[0]);
    if (*words[0] == '-') {
        offer(words[0], "--help", "commands by what one wants to know");
        offer(words[0], "--version", "print the version");
    }
}

/* ---- the command ---- */

typedef struct {
    bool words;
} values_t;

static values_t values;

static const option_t options[] = {
    OPTION("words", FLAG, words, .group = GROUP_RESULT,
           .help = "What the scripts ask for: read the words of a command line from stdin, one a line, the "
                   "last one perhaps not finished, and print what can stand there."),
    {.name = NULL},
};

/* Of a line that a user types: longer ones are not completed. */
enum { MOST_WORDS = 256, MOST_BYTES = 1 << 16 };

static void complete(void) {
    static char line[MOST_BYTES];
    char *words[MOST_WORDS];
    size_t count = 0, length = fread(line, 1, sizeof line - 1, stdin);
    if (length && line[length - 1] == '\n')
        length--;
    line[length] = '\0';
    for (char *at = line; at && count < MOST_WORDS;)
        words[count++] = strsep(&at, "\n");
    complete_words(words, count);
}

static int print(run_t *run, err_t *err) {
    const builtin_t *script = run->count == 1 ? builtin_find(builtin_completion, run->words[0]) : NULL;
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
    .help = "Prints a script for bash, zsh or fish. With it the tab key completes commands, options, "
            "formats, suites and other words. `cmake --install` puts it where shells look for such scripts.",
    .examples = "  source <(tipple completion bash)          # for this shell; or in ~/.bashrc\n"
                "  source <(tipple completion zsh)           # after compinit, in ~/.zshrc\n"
                "  tipple completion fish | source",
    .options = options,
    .values = &values,
    .body = print,
};
