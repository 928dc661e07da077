#include "cli/options/cli.h"
#include "base/conceal.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "cli/options/apart.h"
#include "cli/options/cli_inner.h"
#include "tipple/tipple.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const option_t common_options[] = {
    {.name = "quiet",
     .group = GROUP_GENERAL,
     .letter = 'q',
     .help = "Print only results and errors.",
     .kind = OPTION_FLAG,
     .offset = offsetof(common_t, quiet)},
    {.name = "verbose",
     .letter = 'v',
     .help = "Say more.",
     .kind = OPTION_FLAG,
     .offset = offsetof(common_t, verbose)},
    {.name = "help",
     .letter = 'h',
     .help = "Print this page.",
     .kind = OPTION_FLAG,
     .offset = offsetof(common_t, help)},
    {.name = "version",
     .letter = 'V',
     .help = "Print the version.",
     .kind = OPTION_FLAG,
     .offset = offsetof(common_t, version)},
    {.name = NULL},
};

static bool no_uri(const char *argument, err_t *err) {
    const bool is_uri =
        strncmp(argument, "mongodb://", 10) == 0 || strncmp(argument, "mongodb+srv://", 14) == 0;
    return option_no_password("an argument", argument, err) &&
           (!is_uri ||
            err_set(err, STATUS_USAGE, "the URI of a server goes with --uri: put --uri before it"));
}

/* said: the command line has it already. */
static bool is_said_once(bool *said, const option_t *option, err_t *err) {
    const bool twice = *said && option->once;
    *said = true;
    return !twice || err_set(err, STATUS_USAGE, "--%s is given twice, and takes one value", option->name);
}

/* The headings in the order of the pages. */
static const char *const groups[] = {GROUP_COLLECTION, GROUP_ASKED,   GROUP_MADE,  GROUP_QUERIES,
                                     GROUP_INPUT,      GROUP_MISFITS, GROUP_AGAIN, GROUP_COMPARED,
                                     GROUP_REHEARSED,  GROUP_TRIED,   GROUP_SPEED, GROUP_MEASURED,
                                     GROUP_RESULT,     GROUP_GENERAL};

/* Appends the rows of a table that stand under this heading. */
static void add_group(cli_rows_t *rows, const char *group, const option_t *table, unsigned takers, size_t at,
                      bool common) {
    const char *of_row = "";
    for (const option_t *option = table; option && option->name; option++) {
        of_row = option->group ? option->group : of_row;
        if (strcmp(of_row, group) == 0 && (!option->takers || option->takers & takers) &&
            rows->count < MOST_OPTIONS)
            rows->rows[rows->count++] = (cli_row_t){option, group, at, common};
    }
}

void cli_rows(const command_t *command, cli_rows_t *rows) {
    rows->count = 0;
    for (size_t i = 0; i < COUNT(groups); i++) {
        add_group(rows, groups[i], command->takes ? load_options : NULL, command->takes, command->load_at,
                  false);
        add_group(rows, groups[i], command->options, 0, 0, false);
        add_group(rows, groups[i], common_options, 0, 0, true);
    }
}

void cli_variable(const option_t *option, char out[VARIABLE_MAX]) {
    snprintf(out, VARIABLE_MAX, "TIPPLE_%s", option->name);
    for (char *at = out; *at; at++)
        *at = (char)(*at == '-' ? '_' : toupper((unsigned char)*at));
}

static const cli_row_t *find_long(const cli_rows_t *rows, const char *name, size_t length) {
    for (size_t i = 0; i < rows->count; i++)
        if (strlen(rows->rows[i].option->name) == length &&
            strncmp(rows->rows[i].option->name, name, length) == 0)
            return &rows->rows[i];
    return NULL;
}

static const cli_row_t *find_letter(const cli_rows_t *rows, char letter) {
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].option->letter == letter)
            return &rows->rows[i];
    return NULL;
}

/* The first command that has this option; NULL: none. */
static const char *owner_of(const char *name) {
    for (const command_t *const *command = cli_commands; *command; command++) {
        cli_rows_t rows;
        cli_rows(*command, &rows);
        if (find_long(&rows, name, strlen(name)))
            return (*command)->name;
    }
    return NULL;
}

/* Words of mongoimport (docs/mongoimport.md has all of them), options of earlier versions, and what is meant by them here. */
static const struct {
    const char *theirs;
    char letter;
    const char *ours;
} other_words[] = {
    {"host", 0, "--uri mongodb://HOST:PORT/DATABASE.COLLECTION"},
    {"port", 0, "--uri mongodb://HOST:PORT/DATABASE.COLLECTION"},
    {"db", 'd', "--uri mongodb://HOST:PORT/DATABASE.COLLECTION"},
    {"collection", 'c', "--uri mongodb://HOST:PORT/DATABASE.COLLECTION"},
    {"username", 'u', "--uri mongodb://USER@HOST, with the password in --uri-file or TIPPLE_URI"},
    {"password", 'p', "--uri-file FILE or TIPPLE_URI, whose URI holds the password"},
    {"ssl", 0, "?tls=true in the URI"},
    {"file", 0, "the file's name without an option"},
    {"headerline", 0, "--with header=yes, where it is not guessed"},
    {"fields", 0, "--type column_1:NAME: for each column"},
    {"upsertFields", 0, "--id FIELD,... --existing replace"},
    {"numInsertionWorkers", 0, "--threads N"},
    {"batchSize", 0, "--batch N"},
    /* of 0.2 */
    {"header", 0, "--with header=yes, no or the number of a line"},
    {"dates", 0, "--with dates=dmy, mdy or ymd"},
    {"decimal", 0, "--with decimal=. or --with decimal=,"},
    {"delimiter", 0, "--with delimiter=SIGN"},
    {"quote", 0, "--with quote=double, single or none"},
    {"encoding", 0, "--with encoding=NAME"},
    {"nested", 0, "--with nested=yes"},
    {"polite", 0, "--max-rate auto"},
    {"help-all", 0, "--help"},
    {"batch-bytes", 0, "--batch N; a batch is also sent when it has 2 MB"},
    {"reject-code", 0, "nothing: which errors are a document's fault is known, and any other ends the load"},
    {"validate", 0,
     "nothing: the structure of BSON is always checked, and text that is not UTF-8 is stored as it is"},
    {"parallel", 0, "more shards: a server runs an aggregation on one core"},
    {"csv", 0, "--json, which has the same figures"},
    {"cold", 0, "a restart of the server before the command, with --repeats 1 --warmup 0"},
    {"max-staleness", 0, "maxStalenessSeconds in the URI"},
    {"storage", 0, "tune --compressor none,snappy,zlib,zstd; each table has bytes a document"},
    {"keys", 0, "the keys of a format file (formats --show)"},
    {"wire-compressor", 0, "compressors= in the URI"},
    {"write-concern", 0, "w= in the URI"},
    {"clustered", 0, "--create '{\"clusteredIndex\": true}', where that is not the default"},
    {"no-clustered", 0, "--create '{\"clusteredIndex\": false}'"},
    {"both-clustered", 0, "a tune with --create '{\"clusteredIndex\": true}', then one with false"},
    {"max-record", 0, "nothing: longer records than 16 MiB are rejected"},
    {"quick", 0, "--sample P%, which compares a share of the blocks byte by byte"},
    {"both-direct", 0, "a tune with --direct, then one without"},
    {"routers", 0, "the routers named in the URI"},
    {"precision", 0, "--budget TIME: more time, more rounds"},
    {"indexes", 0, "--index; a load builds indexes after the documents"},
};

static const char *other_word(const char *word, bool is_long) {
    for (size_t i = 0; i < COUNT(other_words); i++)
        if (is_long ? strcasecmp(word, other_words[i].theirs) == 0 : *word == other_words[i].letter)
            return other_words[i].ours;
    return NULL;
}

static bool unknown_option(const command_t *command, const cli_rows_t *rows, const char *text, char letter,
                           err_t *err) {
    const bool is_long = text[1] == '-';
    const char *names[MOST_OPTIONS];
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (!rows->rows[i].option->destroys)
            names[count++] = rows->rows[i].option->name;
    /* never what follows: it may be a password */
    char word[64];
    snprintf(word, sizeof word, "%.*s", is_long ? (int)strcspn(text + 2, "=") : 1,
             is_long ? text + 2 : &letter);
    const char *hint = other_word(word, is_long);
    const char *owner = is_long && !hint ? owner_of(word) : NULL;
    const char *near = is_long && !hint ? suggest_word(word, names, count) : NULL;
    const char *dashes = is_long ? "--" : "-";
    if (hint)
        return err_set(err, STATUS_USAGE, "tipple %s has no option '%s%s'; instead: %s", command->name,
                       dashes, word, hint);
    if (near)
        return err_set(err, STATUS_USAGE, "tipple %s has no option '%s%s'; did you mean '--%s'?",
                       command->name, dashes, word, near);
    if (owner)
        return err_set(err, STATUS_USAGE,
                       "tipple %s has no option '--%s', which is one of tipple %s: leave it out here",
                       command->name, word, owner);
    return err_set(err, STATUS_USAGE, "tipple %s has no option '%s%s'; `tipple %s --help` lists them",
                   command->name, dashes, word, command->name);
}

/* What the command line is read into. */
typedef struct {
    const command_t *command;
    cli_rows_t rows;
    void *values;
    common_t common;
    bool said[MOST_OPTIONS]; /* by the command line, row by row */
} reading_t;

static void *values_of(reading_t *reading, const cli_row_t *row) {
    return row->common ? (void *)&reading->common : (char *)reading->values + row->at;
}

static bool read_environment(reading_t *reading, err_t *err) {
    for (size_t i = 0; i < reading->rows.count; i++) {
        const cli_row_t *row = &reading->rows.rows[i];
        const option_t *option = row->option;
        char variable[VARIABLE_MAX];
        cli_variable(option, variable);
        const char *text = row->common || option->typed || option->destroys ? NULL : getenv(variable);
        if (text && *text && !option_set(option, text, values_of(reading, row), err))
            return err_where(err, "in the environment, %s", variable);
    }
    return true;
}

/* What stands behind an option that can do without: only a number is for it. */
static bool is_for_it(const option_t *option, const char *word) {
    uint64_t number;
    return option->kind != OPTION_COUNT_MAYBE || (word && units_parse_count(word, &number));
}

static bool read_word(reading_t *reading, int argc, char **argv, int *at, err_t *err) {
    const cli_rows_t *rows = &reading->rows;
    char *word = argv[*at];
    bool is_long = word[1] == '-';
    const size_t named = strcspn(word + 1, "=");
    if (!is_long && named > 1 && find_long(rows, word + 1, named))
        return err_set(err, STATUS_USAGE, "an option of several letters has two dashes: --%.*s", (int)named,
                       word + 1);
    for (char *letter = word + 1; *letter; letter++) {
        size_t length = is_long ? strcspn(word + 2, "=") : 1;
        const cli_row_t *row = is_long ? find_long(rows, word + 2, length) : find_letter(rows, *letter);
        char *joined =
            is_long ? (word[2 + length] ? word + 3 + length : NULL) : (letter[1] ? letter + 1 : NULL);
        if (!row)
            return unknown_option(reading->command, rows, word, *letter, err);
        const option_t *option = row->option;
        const char *text = NULL;
        if (option->argument) {
            const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
            text = joined ? joined : is_for_it(option, next) ? next : NULL;
            *at += !joined && text;
            if (!text && option->kind != OPTION_COUNT_MAYBE)
                return err_set(err, STATUS_USAGE, "--%s needs a value: %s", option->name, option->argument);
        } else if (is_long && joined) {
            return err_set(err, STATUS_USAGE, "--%s takes no value", option->name);
        }
        bool *said = &reading->said[row - rows->rows];
        /* a list of the command line takes the place of the environment's */
        if (option->kind == OPTION_LIST && !*said)
            ((texts_list_t *)((char *)values_of(reading, row) + option->offset))->count = 0;
        if (!is_said_once(said, option, err) || !option_set(option, text, values_of(reading, row), err))
            return false;
        if (is_long || option->argument)
            return true;
    }
    return true;
}

static bool is_asked(const common_t *common) {
    return common->help || common->version;
}

static bool read_words(reading_t *reading, int argc, char **argv, int *rest, err_t *err) {
    bool options = true;
    for (int i = 0; i < argc && !is_asked(&reading->common); i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            if (!read_word(reading, argc, argv, &i, err))
                return false;
        } else {
            if (!no_uri(argv[i], err))
                return false;
            argv[(*rest)++] = argv[i];
        }
    }
    return is_asked(&reading->common) || apart_check(reading->command, &reading->rows, reading->said, err);
}

/* The place of a value, or NULL where the command has no such option. */
static void *value_of(reading_t *reading, const char *name) {
    const cli_row_t *row = find_long(&reading->rows, name, strlen(name));
    return row ? (char *)values_of(reading, row) + row->option->offset : NULL;
}

/* The one line of the file, without blanks at its ends. */
static bool read_uri_of(const char *path, const char **uri, err_t *err) {
    enum { LONGEST = 1 << 20 };
    FILE *file = fopen(path, "r");
    char *text = malloc(LONGEST);
    const size_t length = file && text ? fread(text, 1, LONGEST, file) : 0;
    const int problem = !file || ferror(file) ? errno : 0;
    bool ok = true;
    if (file)
        fclose(file);
    if (problem)
        ok = err_set(err, err_status_of(problem), "--uri-file: %s cannot be read: %s", path,
                     strerror(problem));
    else if (!text)
        ok = err_memory(err, LONGEST);
    else if (memchr(text, '\0', length))
        ok = err_set(
            err, STATUS_USAGE,
            "--uri-file: %s holds a zero byte, so it is no text: it should hold the URI and nothing else",
            path);
    else if (length == LONGEST)
        ok = err_set(err, STATUS_USAGE, "--uri-file: %s is longer than any URI", path);
    else if ((ok = option_take_uri(text, length, uri, err)) && !**uri)
        ok = err_set(err, STATUS_USAGE, "--uri-file: %s cannot be read: it is empty", path);
    else if (ok && strpbrk(*uri, "\r\n"))
        ok =
            err_set(err, STATUS_USAGE,
                    "--uri-file: %s holds more than one line: it should hold the URI and nothing else", path);
    if (text)
        explicit_bzero(text, length); /* there may be a password in it */
    free(text);
    return ok;
}

static bool read_uri_file(reading_t *reading, err_t *err) {
    const char **file = value_of(reading, "uri-file"), **uri = value_of(reading, "uri");
    return !file || !*file || is_asked(&reading->common) || read_uri_of(*file, uri, err);
}

bool cli_read(const command_t *command, int argc, char **argv, void *values, int *rest, int *status,
              err_t *err) {
    reading_t reading = {.command = command, .values = values};
    cli_rows(command, &reading.rows);
    *rest = 0;
    bool ok = read_environment(&reading, err) && read_words(&reading, argc, argv, rest, err) &&
              read_uri_file(&reading, err);
    const common_t *common = &reading.common;
    if (ok && is_asked(common)) {
        if (common->version)
            out_lines(tipple_version());
        else
            cli_print_help(command);
        ok = cli_flush(err);
    }
    *status = ok ? STATUS_OK : (int)err->status;
    if (!ok || is_asked(common))
        return false;
    log_set_level(common->quiet ? LOG_QUIET : common->verbose ? LOG_VERBOSE : LOG_NORMAL);
    const bool *json = value_of(&reading, "json");
    if (json && *json)
        log_no_bar();
    return true;
}

void cli_free(const command_t *command, void *values) {
    options_free(command->options, values);
    if (command->takes)
        options_free(load_options, (char *)values + command->load_at);
}

bool cli_next_word(const char **at, char *word, size_t room) {
    const size_t length = strcspn(*at, ",");
    if (!**at)
        return false;
    snprintf(word, room, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ',');
    return true;
}

bool cli_may_ask(const char *destroys, err_t *err) {
    return (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) ||
           err_set(err, STATUS_USAGE, "%s; add --yes where no terminal can ask", destroys);
}

bool cli_ask(const char *question, err_t *err) {
    char answer[16] = "";
    fprintf(stderr, "%s [y/N] ", question);
    if (fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
        return true;
    return err_set(err, STATUS_USAGE, "the answer was not yes: nothing was touched");
}

bool cli_flush(err_t *err) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    if (errno == EINTR) /* only by a signal that asks us to stop */
        return err_set(err, STATUS_INTERRUPTED, "interrupted: not all of the result is on stdout");
    return err_set(err, errno == EPIPE ? STATUS_READER_GONE : STATUS_HOST, "stdout cannot be written: %s",
                   errno ? strerror(errno) : "it was closed");
}

int cli_finish(int status, err_t *err) {
    err_t broken;
    const bool fine = status == STATUS_OK || status == STATUS_SOME_REJECTED || status == STATUS_DIFFERENT;
    if (cli_flush(&broken) || !fine)
        return status;
    *err = broken;
    return (int)broken.status;
}
