/* cli: the command line, in one place for all commands. A command is a row (command_t): its texts, the table of its
 * options, and its body. cli_run does what all of them have in common:
 *
 *     command line, environment --options.c--> values, words --body--> result --cli_end--> text or --json, the page
 *     of --report, and the exit status
 *
 * Help, man pages, reference and completion (cmd_help.c, cmd_completion.c) are walks over the same rows. A command's values begin with
 * a load_options_t if it takes rows of load_options. What a command found is a result (report/result.h); nobody else
 * prints figures. Main thread only. */
#ifndef TIPPLE_CLI_OPTIONS_CLI_H
#define TIPPLE_CLI_OPTIONS_CLI_H

#include "base/text.h"
#include "builtin/builtin.h"
#include "load/spec/load_options.h"
#include "load/spec/load_result.h"
#include "load/spec/options.h"
#include "report/result.h"

/* ---- commands ---- */

/* The headings of options that load_options.h does not name. A new one gets its place in `groups` (options.c), too. */
#define GROUP_ASKED     "What is asked"
#define GROUP_MADE      "What is made"
#define GROUP_QUERIES   "Suites and queries"
#define GROUP_COMPARED  "What is compared"
#define GROUP_REHEARSED "What is rehearsed"
#define GROUP_MEASURED  "How it is measured"
#define GROUP_RESULT    "What comes out"
#define GROUP_GENERAL   "Of all commands"

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

/* Options of several commands that are not those of a load; their values are in run_t. */
enum { WITH_JSON = 1, WITH_REPORT = 2, WITH_YES = 4, WITH_METRICS = 8 };

typedef struct run run_t;

typedef struct {
    const char *name;
    const char *group;
    const char *arguments;   /* for the usage line: "FILE..." */
    const char *about;       /* one line */
    const char *help;        /* paragraphs, with an empty line between */
    const char *examples;    /* lines of "command    # what it does" */
    const option_t *options; /* its own; ends with a NULL name; or NULL */
    unsigned takes;          /* rows of load_options: TAKEN_BY_... */
    unsigned with;           /* WITH_... */
    const apart_t *apart;    /* ends with a NULL option; or NULL */
    void *values;            /* what its options are read into; a load_options_t first if it takes any */
    void (*init)(void);      /* before that, and after load_options_init; or NULL */
    /* Takes rows of load_options of which several values may be tried; NULL: they have one. */
    bool (*take_values)(const option_t *row, const char *text, err_t *err);
    /* Returns the exit status. What went wrong is in *err, which the caller prints. */
    int (*body)(run_t *run, err_t *err);
} command_t;

extern const command_t *const cli_commands[]; /* ends with NULL */

/* NULL with a sentence that names the nearest command. */
const command_t *cli_find_command(const char *name, err_t *err);

typedef struct {
    const option_t *option;
    const char *group;
    bool shared; /* its value is in the run_t */
} cli_row_t;

/* The options of a command, group by group: those of load_options that it takes, its own, and the shared ones. */
enum { MOST_OPTIONS = 80 };
typedef struct {
    cli_row_t rows[MOST_OPTIONS];
    size_t count;
} cli_rows_t;
void cli_rows(const command_t *command, cli_rows_t *rows);
/* By its name; or, without one, by its letter. NULL: there is none. */
const cli_row_t *cli_find_row(const cli_rows_t *rows, const char *name, size_t length, char letter);

/* One run of a command. */
struct run {
    const command_t *command;
    void *values;      /* the command's */
    char *const *line; /* as typed, after the command's name */
    int line_count;
    char **words; /* the arguments that are no options, borrowed from the line */
    int count;
    cli_rows_t rows;         /* the command's */
    bool said[MOST_OPTIONS]; /* row by row: was it given? */
    const char *report, *metrics;
    bool json, yes, help, version, quiet, verbose;
};

/* Reads the options, runs the body, and returns the exit status. */
int cli_run(const command_t *command, int argc, char **argv, err_t *err);

/* ---- for the bodies ---- */

/* False: the command line names no collection. what: "the collection to verify" */
bool cli_has_uri(const run_t *run, const char *what, err_t *err);

/* For a command that reads files: checks the URI (uri_is NULL: it needs none), the inputs, what was said for a guess, and
 * whether a page can be written. The inputs become those of the load's options. */
bool cli_takes_inputs(const run_t *run, const char *uri_is, err_t *err);

/* Shows a result as text or as JSON, if `shown`, and writes the page of --report unless nothing was touched (status 1).
 * A run that ended well, but could not write its page, has status 8. Frees the result, and returns the exit status. */
int cli_end(const run_t *run, result_t *result, bool shown, int status, err_t *err);

/* The exit status of a run that has printed by itself: `status`, or that of a stdout which could not be written. */
int cli_finish(int status, err_t *err);
/* Flushes stdout; a failure is status 8 with a sentence, or that of a reader who is gone. */
bool cli_flush(err_t *err);

/* The built-in files of a kind ("format"), a line each: the whole of a run. */
int cli_list(const run_t *run, const builtin_t *files, const char *kind, err_t *err);

/* Asks on the terminal unless --yes is given. False: the answer is not yes, or there is no terminal. */
bool cli_confirm(const run_t *run, const char *destroys, const char *question, err_t *err);

/* Takes each word of the list of an option, "1,4,16"; there are at most `most`, and no two are the same. */
typedef bool cli_take_t(void *into, const char *word, err_t *err);
bool cli_read_words(const char *option, const char *text, size_t most, cli_take_t *take, void *into,
                    err_t *err);

/* ---- each_collection.c: one command for all collections of a dump ---- */

/* Where the URI names no collection, and the one input is a dump of mongodump, the command does its work for each
 * collection in turn: under the name that it has in the dump, or in the database that the URI names. */

/* Is asked before the first one, with the number of collections; 0: the URI names the one target. */
typedef bool each_may_t(const run_t *run, size_t collections, err_t *err);

/* Does the work for one collection: the command's status, with the sentence in *err. */
typedef int each_body_t(const run_t *run, const char *uri, char **inputs, int count, err_t *err);

/* Calls the body for each, or once with what was given. A collection that fails is named, and the next one is begun, until
 * the command is to stop, this host lacks something (8), or the server fails twice in a row. Returns the status of what ended it,
 * else of the first that failed; 2: there are rejects. may: NULL: nothing is asked. loads: 2 also where views, time series or
 * capped collections of the dump were not loaded, which are named. */
int each_collection(const run_t *run, bool loads, each_may_t *may, each_body_t *body, err_t *err);

/* Reads environment and command line into the run. False: status 1. */
bool cli_read(run_t *run, err_t *err);

/* The page of a command on stdout, or of all (NULL). */
void cli_print_help(const command_t *command);

/* ---- cmd_load.c: what a drill shows of its load, too ---- */

/* How many documents a second were loaded, and its view. */
void cli_put_course(bson_t *to, const timeline_t *course);

/* ---- cmd_load.c: what `parse` prints, too ---- */

/* "kept as text: 2 values that are not what their field's type says". stay: the format has no types, but the user named
 * some. binary: some of them are stored as binary. */
void cli_print_bad_values(text_t *out, bad_value_t bad_value, bool stay, bool binary, uint64_t count);
#define CLI_COURSE                                                                                           \
    CHART("-course", "", "Documents a second", NULL, COLUMN("seconds", "time"),                              \
          COLUMN("docs_per_second", "documents a second"))

#endif
