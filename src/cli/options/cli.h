/* cli: commands and options as tables. --help, man pages and reference (`help --markdown`) are printed from the same
 * tables that the command line is read by. */
#ifndef TIPPLE_CLI_OPTIONS_CLI_H
#define TIPPLE_CLI_OPTIONS_CLI_H

#include "load/spec/load_options.h"
#include "load/spec/options.h"

/* The headings of options that load_options.h does not name. A new one gets its place in `groups` (cli.c), too. */
#define GROUP_ASKED     "What is asked"
#define GROUP_MADE      "What is made"
#define GROUP_QUERIES   "Suites and queries"
#define GROUP_COMPARED  "What is compared"
#define GROUP_REHEARSED "What is rehearsed"
#define GROUP_TRIED     "What is tried"
#define GROUP_MEASURED  "How it is measured"
#define GROUP_RESULT    "What comes out"
#define GROUP_GENERAL   "Of all commands"

/* Rows of commands that read a collection, for a struct with uri_file, patience_ns and json; member: of the URI. */
#define CLI_URI(values, member)                                                                              \
    {.name = "uri",                                                                                          \
     .group = GROUP_COLLECTION,                                                                              \
     .argument = "URI",                                                                                      \
     .kind = OPTION_TEXT,                                                                                    \
     .offset = offsetof(values, member),                                                                     \
     .help = "The collection: mongodb://HOST/DATABASE.COLLECTION."},                                         \
    {                                                                                                        \
        .name = "uri-file", .argument = "FILE", .kind = OPTION_TEXT, .offset = offsetof(values, uri_file),   \
        .help = "Read the URI from this file, so that no password is on the command line."                   \
    }
#define CLI_PATIENCE(values)                                                                                 \
    {                                                                                                        \
        .name = "patience", .argument = "TIME", .kind = OPTION_TIME,                                         \
        .offset = offsetof(values, patience_ns), .help = "How long a server may be away (default 30s)."      \
    }
#define CLI_JSON(values)                                                                                     \
    {                                                                                                        \
        .name = "json", .group = GROUP_RESULT, .kind = OPTION_FLAG, .offset = offsetof(values, json),        \
        .help = "Print the result as JSON."                                                                  \
    }

/* An option's row, for a struct with report. */
#define CLI_REPORT(values)                                                                                   \
    {                                                                                                        \
        .name = "report", .group = GROUP_RESULT, .argument = "FILE", .kind = OPTION_TEXT,                    \
        .offset = offsetof(values, report), .help = "Write a page for people: FILE.html."                    \
    }

/* What a user asks: the headings of `tipple --help`. */
#define COMMANDS_LOAD  "How do I load my files?"
#define COMMANDS_CHECK "Is everything there?"
#define COMMANDS_SPEED "How long does it take, and how fast can it be?"
#define COMMANDS_QUERY "How fast are queries?"
#define COMMANDS_TRY   "Have you data to try it with?"
#define COMMANDS_HELP  "Where can I read more?"

/* Options that do not go together: one would have no effect, or undo the other. */
typedef struct {
    const char *option;
    const char *others; /* names, with a blank between them */
    const char *reason; /* what the option does: "lists drills, and makes none" */
} apart_t;

typedef struct command {
    const char *name;
    const char *group;
    const char *arguments;   /* for the usage line: "FILE..." */
    const char *about;       /* one line */
    const char *help;        /* paragraphs, with an empty line between */
    const char *examples;    /* lines of "command    # what it does" */
    bool needs_driver;       /* it talks to a server */
    const option_t *options; /* its own; ends with a NULL name */
    unsigned takes;          /* rows of load_options that it takes, too: TAKEN_BY_...; their values, a
                                load_options_t, are at load_at in its struct */
    size_t load_at;
    const apart_t *apart; /* ends with a NULL option; or NULL */
    /* Returns the exit status; whatever went wrong was said in *err, which the caller prints. */
    int (*run)(int argc, char **argv, const struct command *command, err_t *err);
} command_t;

extern const command_t *const cli_commands[]; /* ends with NULL */

/* NULL with the sentence that tells the nearest one. */
const command_t *cli_find_command(const char *name, err_t *err);

/* Options that every command has. */
typedef struct {
    bool help, version, quiet, verbose;
} common_t;

/* Reads options into `values`, leaving what is no option in argv[0, *rest). common options are acted on.
 * False: nothing else is to be done, and *status is the command's: --help or --version was printed (0), or there is a
 * mistake (1). */
bool cli_read(const command_t *command, int argc, char **argv, void *values, int *rest, int *status,
              err_t *err);
/* Frees what cli_read has put into values. */
void cli_free(const command_t *command, void *values);

/* The words of "1,4,16", one by one; *at moves on. False at the end. */
bool cli_next_word(const char **at, char *word, size_t room);

/* The pages. */
void cli_print_help(const command_t *command);
void cli_print_overview(void);
bool cli_print_man(const char *name); /* of a command, or tipple-formats.5; false: there is none */
void cli_list_man(void);
void cli_print_reference(void);

/* Without --yes, whoever destroys something is asked on a terminal. cli_may_ask: false if there is none. cli_ask: asks, and
 * returns false unless the answer is y. */
bool cli_may_ask(const char *destroys, err_t *err);
bool cli_ask(const char *question, err_t *err);

/* Flushes stdout; a failure is status 8 with a sentence, or that of a reader who is gone. */
bool cli_flush(err_t *err);
/* The end of a run of this status: the same, or cli_flush's when it was fine and what was printed did not get out. */
int cli_finish(int status, err_t *err);

#endif
