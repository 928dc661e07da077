/* completion: the scripts by which shells complete, and the words that these ask for: what can stand at the end of a
 * command line, from the rows that it is read by. */
#include "base/log.h"
#include "builtin/builtin.h"
#include "cli/options/cli.h"
#include "query/suite/suite.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- what can stand there ---- */

/* What has been typed of a word: the first `kept` bytes stay, and the rest is the beginning of what is looked for. */
typedef struct {
    const char *word;
    size_t kept;
    const char *suite; /* whose queries can follow, or NULL */
} typed_t;

/* The first sentence is enough for a line of a list. */
static void offer(typed_t typed, const char *word, const char *about) {
    const char *begin = typed.word + typed.kept, *end = about ? strstr(about, ". ") : NULL;
    if (strncmp(word, begin, strlen(begin)) != 0)
        return;
    out_print("%.*s%s", (int)typed.kept, typed.word, word);
    if (about) {
        const size_t length = end ? (size_t)(end - about) : strlen(about);
        out_print("\t%.*s", (int)(length - (length && about[length - 1] == '.')), about);
    }
    out_print("\n");
}

static void offer_commands(typed_t typed) {
    for (const command_t *const *command = cli_commands; *command; command++)
        offer(typed, (*command)->name, (*command)->about);
}

static void offer_builtin(typed_t typed, const builtin_t *builtin) {
    for (; builtin->name; builtin++)
        offer(typed, builtin->name, NULL);
}

static void offer_queries(typed_t typed) {
    err_t ignored;
    suite_t *suite = typed.suite ? suite_open(typed.suite, &ignored) : NULL;
    for (size_t i = 0; suite && i < suite->query_count; i++)
        offer(typed, suite->queries[i].name, suite->queries[i].about);
    suite_close(suite);
}

/* A kind of words, as --help calls an argument, or as .offers names it; or a word. */
static void offer_kind(typed_t typed, const char *kind) {
    if (strcmp(kind, "FILE") == 0 || strcmp(kind, "DIR") == 0 || strcmp(kind, "INPUT") == 0 ||
        strcmp(kind, "@files") == 0)
        out_print(":files\n");
    else if (strcmp(kind, "COMMAND") == 0)
        offer_commands(typed);
    else if (strcmp(kind, "QUERY") == 0)
        offer_queries(typed);
    else if (strcmp(kind, "@formats") == 0)
        offer_builtin(typed, builtin_formats);
    else if (strcmp(kind, "@suites") == 0)
        offer_builtin(typed, builtin_suites);
    else if (!isupper((unsigned char)*kind) && *kind != '-')
        offer(typed, kind, NULL);
}

/* "N|auto", "none snappy", "[FILE...]": the words between | , [ ] . and blanks. */
static void offer_kinds(typed_t typed, const char *kinds) {
    static const char between[] = "|,[] ";
    for (const char *at = kinds; *(at += strspn(at, between));) {
        char kind[40];
        const size_t length = strcspn(at, between);
        snprintf(kind, sizeof kind, "%.*s", (int)length, at);
        at += length;
        char *dots = strstr(kind, "...");
        if (dots)
            *dots = '\0';
        if (*kind)
            offer_kind(typed, kind);
    }
}

static void offer_values(typed_t typed, const option_t *option) {
    const char *comma = strstr(option->argument, ",...") ? strrchr(typed.word + typed.kept, ',') : NULL;
    if (comma)
        typed.kept = (size_t)(comma + 1 - typed.word);
    if (option->offers)
        offer_kinds(typed, option->offers);
    else if (strcmp(option->argument, "COMMAND") != 0) /* of the shell */
        offer_kinds(typed, option->argument);
}

/* ---- where the line ends ---- */

/* The option of a word that takes a value, or NULL; *value: where the value is in this word, or NULL. */
static const option_t *option_of(const cli_rows_t *rows, const char *word, const char **value) {
    const bool is_long = strncmp(word, "--", 2) == 0;
    const size_t length = strcspn(word, "=");
    *value = is_long && word[length] ? word + length + 1 : NULL;
    for (size_t i = 0; i < rows->count && word[0] == '-' && word[1]; i++) {
        const option_t *option = rows->rows[i].option;
        if (is_long ? strlen(option->name) == length - 2 && strncmp(option->name, word + 2, length - 2) == 0
                    : option->letter && word[strlen(word) - 1] == option->letter)
            return option->argument ? option : NULL;
    }
    return NULL;
}

static void complete_of(const command_t *command, char **words, size_t count) {
    typed_t typed = {.word = words[count - 1]};
    const option_t *waiting = NULL; /* its value comes in the next word */
    const char *value;
    bool options = true;
    cli_rows_t rows;
    cli_rows(command, &rows);
    for (size_t i = 0; i + 1 < count; i++) {
        const option_t *option = waiting ? waiting : options ? option_of(&rows, words[i], &value) : NULL;
        const char *given = waiting ? words[i] : option ? value : NULL;
        if (given && strcmp(option->name, "suite") == 0)
            typed.suite = given;
        options = options && (waiting || strcmp(words[i], "--") != 0);
        waiting = given ? NULL : option;
    }
    const option_t *own = waiting || !options ? NULL : option_of(&rows, typed.word, &value);
    if (waiting) {
        offer_values(typed, waiting);
    } else if (own && value) {
        typed.kept = (size_t)(value - typed.word);
        offer_values(typed, own);
    } else if (options && *typed.word == '-') {
        for (size_t i = 0; i < rows.count; i++) {
            char name[OPTION_WORDS];
            snprintf(name, sizeof name, "--%s", rows.rows[i].option->name);
            offer(typed, name, rows.rows[i].option->help);
        }
    } else {
        offer_kinds(typed, command->arguments);
    }
}

/* words: those after `tipple`, at least one. Prints a line for each word that can stand in place of the last one, with
 * what it means after a tab; ":files" if names of files can. */
static void complete_words(char **words, size_t count) {
    const typed_t typed = {.word = words[count - 1]};
    for (const command_t *const *command = cli_commands; *command && count > 1; command++)
        if (strcmp((*command)->name, words[0]) == 0)
            complete_of(*command, words + 1, count - 1);
    if (count > 1)
        return;
    offer_commands(typed);
    if (*typed.word == '-') {
        offer(typed, "--help", "commands by what one wants to know");
        offer(typed, "--version", "print the version");
    }
}

/* ---- the command ---- */

typedef struct {
    bool words;
} values_t;

static values_t values;

static const option_t options[] = {
    OPTION("words", FLAG, words, .group = GROUP_RESULT,
           .help =
               "What the scripts ask for: read the words of a command line from stdin, one a line, the last "
               "one perhaps not finished, and print what can stand there."),
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
    .help =
        "Prints a script for bash, zsh or fish. With it the tab key completes commands, options, formats, "
        "suites, queries and other words. `cmake --install` puts it where shells look for such scripts.",
    .examples = "  source <(tipple completion bash)          # for this shell; or in ~/.bashrc\n"
                "  source <(tipple completion zsh)           # after compinit, in ~/.zshrc\n"
                "  tipple completion fish | source",
    .options = options,
    .values = &values,
    .body = print,
};
