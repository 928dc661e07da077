/* cli: commands and options as tables. --help, man pages and reference (`help --markdown`) are printed from the same
 * tables that the command line is read by. */
#ifndef TIPPLE_CLI_OPTIONS_CLI_H
#define TIPPLE_CLI_OPTIONS_CLI_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef enum {
    OPTION_FLAG,         /* bool */
    OPTION_TEXT,         /* const char * */
    OPTION_LIST,         /* texts_list_t: may be given several times */
    OPTION_COUNT,        /* uint64_t: 1000, 5k, 2m */
    OPTION_COUNT32,      /* uint32_t */
    OPTION_COUNT32_AUTO, /* the same, or "auto": CLI_AUTO */
    OPTION_COUNT_MAYBE,  /* uint64_t, CLI_NO_COUNT where no number follows */
    OPTION_SIZE,         /* uint64_t: 64K, 256M */
    OPTION_TIME,         /* int64_t ns: 30s, 5m */
    OPTION_CUSTOM,       /* by its function, which is given the place of the value */
} option_kind_t;

enum { MOST_LISTED = 64 };
#define CLI_AUTO     UINT32_MAX
#define CLI_NO_COUNT UINT64_MAX

typedef struct {
    char *items[MOST_LISTED];
    size_t count;
} texts_list_t;

typedef struct option {
    const char *name;  /* without the dashes */
    const char *group; /* a row without one is in the group of the row before it */
    bool destroys;     /* it destroys, or lets something be destroyed: never proposed for a word like it */
    bool once;   /* of two, both would be meant: refused. Else the last one counts, as an alias needs it */
    char letter; /* or 0 */
    const char *argument; /* what --help calls it, NULL for flags */
    const char *
        offers; /* words that completion offers, "@formats", "@suites", "@queries"; NULL: as the argument says */
    const char *help; /* one sentence or two */
    option_kind_t kind;
    size_t offset;           /* of its value in the command's struct */
    uint64_t least, most;    /* of counts and sizes; most 0: no bound. least: of times, too */
    const char *environment; /* variable that stands in for it, or NULL */
    bool (*custom)(void *at, const char *text, err_t *err);
} option_t;

/* What an option is about: the headings of --help, of man pages and of the reference. */
#define GROUP_COLLECTION "Server and collection"
#define GROUP_INPUT      "What is read"
#define GROUP_GUESS      "For a guessed format"
#define GROUP_MISFITS    "Records that do not fit"
#define GROUP_SPEED      "Speed and memory"
#define GROUP_MEASURED   "How it is measured"
#define GROUP_RESULT     "What comes out"
#define GROUP_GENERAL    "Of all commands"

#define CLI_URI_AT(values, member, words)                                                                    \
    {                                                                                                        \
        .name = "uri", .group = GROUP_COLLECTION, .argument = "URI", .kind = OPTION_TEXT,                    \
        .offset = offsetof(values, member), .environment = "TIPPLE_URI", .help = (words)                     \
    }
#define CLI_URI_LOOKED_AT(values, member)                                                                    \
    CLI_URI_AT(values, member, "The collection: mongodb://HOST/DATABASE.COLLECTION.")

/* Rows of commands that look at a collection, for a struct with uri, patience_ns and json. */
#define CLI_URI(values) CLI_URI_LOOKED_AT(values, uri)
#define CLI_PATIENCE(values)                                                                                 \
    {                                                                                                        \
        .name = "patience", .argument = "TIME", .kind = OPTION_TIME,                                         \
        .offset = offsetof(values, patience_ns), .environment = "TIPPLE_PATIENCE",                           \
        .help = "How long a server may be away (default 30s)."                                               \
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
        .offset = offsetof(values, report),                                                                  \
        .help = "Write a report: FILE.html, a page for people that needs nothing else, or FILE.json, the "   \
                "same for programs."                                                                         \
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
    const option_t *options; /* ends with a NULL name */
    const apart_t *apart;    /* ends with a NULL option; or NULL */
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

/* Reads one value of an option into `values`. Status 1: it is none. */
bool cli_set_option(const option_t *option, const char *text, void *values, err_t *err);

/* The words of "1,4,16", one by one; *at moves on. False at the end. */
bool cli_next_word(const char **at, char *word, size_t room);

/* The one line of --uri-file, without blanks at its ends, for the life of the process. */
bool cli_read_uri_file(const char *path, const char **uri, err_t *err);

/* The pages. */
void cli_print_help(const command_t *command);
void cli_print_overview(void);
bool cli_print_man(const char *name); /* of a command, or tipple-formats.5; false: there is none */
void cli_list_man(void);
void cli_print_reference(void);

/* Whoever destroys something confirms it: by --yes, or on a terminal. cli_may_ask: false without both. cli_ask: asks, and
 * returns false unless the answer is y. */
bool cli_may_ask(bool yes, const char *destroys, err_t *err);
bool cli_ask(const char *question, err_t *err);

/* Flushes stdout; a failure is status 8 with a sentence, or that of a reader who is gone. */
bool cli_flush(err_t *err);
/* The end of a run of this status: the same, or cli_flush's when it was fine and what was printed did not get out. */
int cli_finish(int status, err_t *err);

#endif
