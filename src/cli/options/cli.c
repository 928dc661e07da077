#include "cli/options/cli.h"
#include "base/chars/suggest.h"
#include "base/conceal.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/numbers/units.h"
#include "base/out.h"
#include "cli/options/apart.h"
#include "cli/options/cli_inner.h"
#include "tipple/tipple.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MOST_OPTIONS = 80 };

const option_t cli_common_options[] = {
    {.name = "quiet",
     .group = GROUP_GENERAL,
     .letter = 'q',
     .help = "Say nothing but results and errors.",
     .kind = OPTION_FLAG,
     .offset = offsetof(common_t, quiet)},
    {.name = "verbose",
     .letter = 'v',
     .help = "Say more.",
     .kind = OPTION_FLAG,
     .offset = offsetof(common_t, verbose)},
    {.name = "help",
     .letter = 'h',
     .help = "Print what the command is for, examples, and its options.",
     .kind = OPTION_FLAG,
     .offset = offsetof(common_t, help)},
    {.name = "version",
     .letter = 'V',
     .help = "Print the version of tipple, and of what it was built with.",
     .kind = OPTION_FLAG,
     .offset = offsetof(common_t, version)},
    {.name = NULL},
};

/* A bound as one would type it. */
static const char *print_bound(char out[UNITS_MAX], uint64_t bound, bool size) {
    static const struct {
        uint64_t unit;
        char letter;
    } units[] = {{1ull << 40, 'T'}, {1ull << 30, 'G'}, {1ull << 20, 'M'}, {1ull << 10, 'K'}};
    for (size_t i = 0; size && i < sizeof units / sizeof *units; i++) {
        if (bound >= units[i].unit && bound % units[i].unit == 0) {
            snprintf(out, UNITS_MAX, "%llu%c", (unsigned long long)(bound / units[i].unit), units[i].letter);
            return out;
        }
    }
    return units_count(out, bound);
}

static bool out_of_range(const option_t *option, const char *text, err_t *err) {
    char least[UNITS_MAX], most[UNITS_MAX];
    bool size = option->kind == OPTION_SIZE;
    print_bound(least, option->least, size);
    if (option->most)
        return err_set(err, STATUS_USAGE, "--%s: %s is out of range; it goes from %s to %s", option->name,
                       text, least, print_bound(most, option->most, size));
    return err_set(err, STATUS_USAGE, "--%s: %s is too small; the least is %s", option->name, text, least);
}

static bool read_number(const option_t *option, const char *text, void *at, err_t *err) {
    uint64_t number;
    bool size = option->kind == OPTION_SIZE;
    if (!(size ? units_parse_size(text, &number) : units_parse_count(text, &number)))
        return err_set(err, STATUS_USAGE, "--%s: '%s' is not a %s; write it like %s", option->name, text,
                       size ? "size" : "whole number", size ? "65536, 64K, 256M or 1G" : "1000, 5k or 2m");
    if (number < option->least || (option->most && number > option->most))
        return out_of_range(option, text, err);
    if (number == CLI_NO_COUNT) /* it stands for a number that was not given */
        return err_set(err, STATUS_USAGE, "--%s: %s is too large", option->name, text);
    if (option->kind == OPTION_COUNT32 || option->kind == OPTION_COUNT32_AUTO)
        *(uint32_t *)at = (uint32_t)number;
    else
        *(uint64_t *)at = number;
    return true;
}

/* It would be written down, in a catalog or beside a figure. */
static bool no_password(const char *where, const char *text, err_t *err) {
    return !text || !conceal_finds(text) ||
           err_set(err, STATUS_USAGE, "%s holds a password: the URI of a server goes with --uri", where);
}

static bool no_uri(const char *argument, err_t *err) {
    const bool is_uri =
        strncmp(argument, "mongodb://", 10) == 0 || strncmp(argument, "mongodb+srv://", 14) == 0;
    return no_password("an argument", argument, err) &&
           (!is_uri ||
            err_set(err, STATUS_USAGE, "the URI of a server goes with --uri: put --uri before it"));
}

static const char blanks[] = " \t\r\n\v\f";

/* A URI without the blanks at its ends, for the life of the process. */
static bool take_uri(const char *text, size_t length, const char **uri, err_t *err) {
    static char *taken;
    while (length && strchr(blanks, text[length - 1]))
        length--;
    for (; length && strchr(blanks, *text); length--)
        text++;
    free(taken);
    taken = strndup(text, length);
    *uri = taken;
    return taken || err_memory(err, length);
}

static bool takes_password(const option_t *option) {
    return option->argument &&
           (strcmp(option->argument, "URI") == 0 || strcmp(option->argument, "COMMAND") == 0);
}

bool cli_set_option(const option_t *option, const char *text, void *values, err_t *err) {
    void *at = (char *)values + option->offset;
    texts_list_t *list = at;
    char name[64];
    snprintf(name, sizeof name, "--%s", option->name);
    if (!takes_password(option) && !no_password(name, text, err))
        return false;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)at = true;
        return true;
    case OPTION_TEXT:
        if (!*text) // NOLINT(clang-analyzer-core.NullDereference): only OPTION_COUNT_MAYBE goes without
            return err_set(err, STATUS_USAGE, "--%s needs a value: %s", option->name, option->argument);
        if (strcmp(option->argument, "URI") == 0)
            return take_uri(text, strlen(text), at, err);
        *(const char **)at = text;
        return true;
    case OPTION_LIST:
        if (list->count == MOST_LISTED)
            return err_set(err, STATUS_USAGE, "--%s: given more than %d times", option->name, MOST_LISTED);
        list->items[list->count++] = (char *)text;
        return true;
    case OPTION_TIME:
        if (!units_parse_time(text, at))
            return err_set(err, STATUS_USAGE, "--%s: '%s' is not a time; write it like 30s, 500ms, 5m or 2h",
                           option->name, text);
        return *(const int64_t *)at >= (int64_t)option->least ||
               err_set(err, STATUS_USAGE, "--%s: %s is no time at all; leave it out, or give a longer one",
                       option->name, text);
    case OPTION_COUNT32_AUTO:
        if (strcmp(text, "auto") != 0) // NOLINT(clang-analyzer-core.NonNullParamChecker): the same
            return read_number(option, text, at, err);
        *(uint32_t *)at = CLI_AUTO;
        return true;
    case OPTION_COUNT_MAYBE:
        if (text)
            return read_number(option, text, at, err);
        *(uint64_t *)at = CLI_NO_COUNT;
        return true;
    case OPTION_CUSTOM:
        return option->custom(at, text, err);
    default:
        return read_number(option, text, at, err);
    }
}

/* said: the command line has it already. */
static bool is_said_once(bool *said, const option_t *option, err_t *err) {
    const bool twice = *said && option->once;
    *said = true;
    return !twice || err_set(err, STATUS_USAGE, "--%s is given twice, and takes one value", option->name);
}

typedef struct {
    const option_t *option;
    bool common;
} found_t;

static found_t find_long(const command_t *command, const char *name, size_t length) {
    const option_t *const tables[] = {command->options, cli_common_options};
    for (int i = 0; i < 2; i++)
        for (const option_t *option = tables[i]; option->name; option++)
            if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
                return (found_t){option, i == 1};
    return (found_t){NULL, false};
}

static found_t find_letter(const command_t *command, char letter) {
    const option_t *const tables[] = {command->options, cli_common_options};
    for (int i = 0; i < 2; i++)
        for (const option_t *option = tables[i]; option->name; option++)
            if (option->letter == letter)
                return (found_t){option, i == 1};
    return (found_t){NULL, false};
}

/* The first command that has this option; NULL: none. */
static const char *owner_of(const char *name) {
    for (const command_t *const *command = cli_commands; *command; command++)
        if (find_long(*command, name, strlen(name)).option)
            return (*command)->name;
    return NULL;
}

/* Words of mongoimport, and what they are here; docs/mongoimport.md has all of them. */
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
    {"headerline", 0, "--header yes, where it is not guessed"},
    {"fields", 0, "--type column_1:NAME: for each column"},
    {"upsertFields", 0, "--id FIELD,... --existing replace"},
    {"numInsertionWorkers", 0, "--threads N"},
    {"batchSize", 0, "--batch N"},
};

static const char *other_word(const char *word, bool is_long) {
    for (size_t i = 0; i < COUNT(other_words); i++)
        if (is_long ? strcasecmp(word, other_words[i].theirs) == 0 : *word == other_words[i].letter)
            return other_words[i].ours;
    return NULL;
}

static bool unknown_option(const command_t *command, const char *text, char letter, err_t *err) {
    const bool is_long = text[1] == '-';
    const char *names[MOST_OPTIONS];
    size_t count = 0;
    for (option_walk_t walk = {.command = command}; cli_next_option(&walk);)
        if (!walk.option->destroys)
            names[count++] = walk.option->name;
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

static bool read_environment(const command_t *command, void *values, err_t *err) {
    for (const option_t *option = command->options; option->name; option++) {
        const char *text = option->environment ? getenv(option->environment) : NULL;
        if (text && *text && !cli_set_option(option, text, values, err))
            return err_where(err, "in the environment, %s", option->environment);
    }
    return true;
}

/* What stands behind an option that can do without: only a number is for it. */
static bool is_for_it(const option_t *option, const char *word) {
    uint64_t number;
    return option->kind != OPTION_COUNT_MAYBE || (word && units_parse_count(word, &number));
}

static bool read_word(const command_t *command, int argc, char **argv, int *at, void *values,
                      common_t *common, bool *said, err_t *err) {
    char *word = argv[*at];
    bool is_long = word[1] == '-';
    const size_t named = strcspn(word + 1, "=");
    if (!is_long && named > 1 && find_long(command, word + 1, named).option)
        return err_set(err, STATUS_USAGE, "an option of several letters has two dashes: --%.*s", (int)named,
                       word + 1);
    for (char *letter = word + 1; *letter; letter++) {
        size_t length = is_long ? strcspn(word + 2, "=") : 1;
        found_t found = is_long ? find_long(command, word + 2, length) : find_letter(command, *letter);
        char *joined =
            is_long ? (word[2 + length] ? word + 3 + length : NULL) : (letter[1] ? letter + 1 : NULL);
        if (!found.option)
            return unknown_option(command, word, *letter, err);
        const char *text = NULL;
        if (found.option->argument) {
            const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
            text = joined ? joined : is_for_it(found.option, next) ? next : NULL;
            *at += !joined && text;
            if (!text && found.option->kind != OPTION_COUNT_MAYBE)
                return err_set(err, STATUS_USAGE, "--%s needs a value: %s", found.option->name,
                               found.option->argument);
        } else if (is_long && joined) {
            return err_set(err, STATUS_USAGE, "--%s takes no value", found.option->name);
        }
        if ((!found.common && !is_said_once(&said[found.option - command->options], found.option, err)) ||
            !cli_set_option(found.option, text, found.common ? (void *)common : values, err))
            return false;
        if (is_long || found.option->argument)
            return true;
    }
    return true;
}

static bool is_asked(const common_t *common) {
    return common->help || common->version;
}

static bool read_words(const command_t *command, int argc, char **argv, void *values, common_t *common,
                       int *rest, err_t *err) {
    bool options = true, said[MOST_OPTIONS] = {false};
    for (int i = 0; i < argc && !is_asked(common); i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            if (!read_word(command, argc, argv, &i, values, common, said, err))
                return false;
        } else {
            if (!no_uri(argv[i], err))
                return false;
            argv[(*rest)++] = argv[i];
        }
    }
    return is_asked(common) || apart_check(command, said, err);
}

static bool is_for_programs(const command_t *command, const void *values) {
    for (const option_t *option = command->options; option && option->name; option++)
        if (option->kind == OPTION_FLAG && strcmp(option->name, "json") == 0)
            return *(const bool *)((const char *)values + option->offset);
    return false;
}

bool cli_read(const command_t *command, int argc, char **argv, void *values, int *rest, int *status,
              err_t *err) {
    common_t common = {.help = false};
    *rest = 0;
    bool ok =
        read_environment(command, values, err) && read_words(command, argc, argv, values, &common, rest, err);
    if (ok && is_asked(&common)) {
        if (common.version)
            out_lines(tipple_version());
        else
            cli_print_help(command);
        ok = cli_flush(err);
    }
    *status = ok ? STATUS_OK : (int)err->status;
    if (!ok || is_asked(&common))
        return false;
    log_set_level(common.quiet ? LOG_QUIET : common.verbose ? LOG_VERBOSE : LOG_NORMAL);
    if (is_for_programs(command, values))
        log_no_bar();
    return true;
}

bool cli_next_word(const char **at, char *word, size_t room) {
    const size_t length = strcspn(*at, ",");
    if (!**at)
        return false;
    snprintf(word, room, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ',');
    return true;
}

bool cli_read_uri_file(const char *path, const char **uri, err_t *err) {
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
    else if ((ok = take_uri(text, length, uri, err)) && !**uri)
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

bool cli_may_ask(bool yes, const char *destroys, err_t *err) {
    return yes || (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) ||
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
    const bool fine = status == STATUS_OK || status == STATUS_SOME_REJECTED || status == STATUS_MISSED ||
                      status == STATUS_DIFFERENT;
    if (cli_flush(&broken) || !fine)
        return status;
    *err = broken;
    return (int)broken.status;
}
