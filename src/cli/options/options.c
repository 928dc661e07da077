/* Reads the command line and the environment into the values of a command, by the rows of its options. */
#include "base/conceal.h"
#include "base/numbers.h"
#include "cli/options/cli.h"
#include "library/library.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the rows of a command ---- */

/* For a run_t. takers: WITH_...; a row without any is for every command. */
typedef run_t values_t;
static const option_t shared_options[] = {
    OPTION("yes", FLAG, yes, .group = GROUP_COLLECTION, .letter = 'y', .destroys = true, .takers = WITH_YES,
           .help = "Do not ask."),
    OPTION("json", FLAG, json, .group = GROUP_RESULT, .takers = WITH_JSON,
           .help = "Print the result as JSON."),
    OPTION("report", TEXT, report, .argument = "FILE", .takers = WITH_REPORT,
           .help = "Write a page for people: FILE.html."),
    OPTION("metrics", TEXT, metrics, .argument = "FILE", .takers = WITH_METRICS,
           .help =
               "Keep its progress in FILE, for Prometheus; with a name like FILE.jsonl, as lines of JSON."),
    OPTION("quiet", FLAG, quiet, .group = GROUP_GENERAL, .letter = 'q',
           .help = "Print only results and errors."),
    OPTION("verbose", FLAG, verbose, .letter = 'v', .help = "Say more."),
    OPTION("help", FLAG, help, .letter = 'h', .help = "Print this page."),
    OPTION("version", FLAG, version, .letter = 'V', .help = "Print the version."),
    {.name = NULL},
};

/* The headings in the order of the pages. */
static const char *const groups[] = {
    GROUP_COLLECTION, GROUP_ASKED,     GROUP_MADE,  GROUP_QUERIES,  GROUP_INPUT,  GROUP_MISFITS, GROUP_AGAIN,
    GROUP_COMPARED,   GROUP_REHEARSED, GROUP_SPEED, GROUP_MEASURED, GROUP_RESULT, GROUP_GENERAL};

/* Appends the rows of a table that stand under this heading. */
static void add_group(cli_rows_t *rows, const char *group, const option_t *table, unsigned takers) {
    const char *of_row = "";
    for (const option_t *option = table; option && option->name; option++) {
        of_row = option->group ? option->group : of_row;
        if (strcmp(of_row, group) == 0 && (!option->takers || option->takers & takers) &&
            rows->count < MOST_OPTIONS)
            rows->rows[rows->count++] = (cli_row_t){option, group, table == shared_options};
    }
}

void cli_rows(const command_t *command, cli_rows_t *rows) {
    rows->count = 0;
    for (size_t i = 0; i < COUNT(groups); i++) {
        add_group(rows, groups[i], command->takes ? load_options : NULL, command->takes);
        add_group(rows, groups[i], command->options, UINT_MAX);
        add_group(rows, groups[i], shared_options, command->with);
    }
}

const cli_row_t *cli_find_row(const cli_rows_t *rows, const char *name, size_t length, char letter) {
    for (size_t i = 0; i < rows->count; i++) {
        const option_t *option = rows->rows[i].option;
        if (name ? strlen(option->name) == length && strncmp(option->name, name, length) == 0
                 : option->letter == letter)
            return &rows->rows[i];
    }
    return NULL;
}

/* ---- options that the command does not have ---- */

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
    const char *hint = library_gone(word, is_long);
    const char *near = is_long ? suggest_word(word, names, count) : NULL;
    char more[100];
    snprintf(more, sizeof more, near ? "did you mean '--%s'?" : "`tipple %s --help` lists them",
             near ? near : command->name);
    return err_set(err, STATUS_USAGE, "tipple %s has no option '%s%s'; %s%s", command->name,
                   is_long ? "--" : "-", word, hint ? "instead: " : "", hint ? hint : more);
}

/* ---- reading ---- */

static bool set(run_t *run, const cli_row_t *row, const char *text, err_t *err) {
    const option_t *option = row->option;
    bool *said = &run->said[row - run->rows.rows];
    if (*said && option->once)
        return err_set(err, STATUS_USAGE, "--%s is given twice, and takes one value", option->name);
    *said = true;
    if (option->tried && run->command->take_values)
        return run->command->take_values(option, text, err);
    return option_set(option, text, row->shared ? (void *)run : run->values, err);
}

/* --name, --name=value, --name value, -n value, -nvalue, or several letters of flags. */
static bool read_option(run_t *run, int *at, err_t *err) {
    const cli_rows_t *rows = &run->rows;
    const char *word = run->line[*at];
    const bool is_long = word[1] == '-';
    const size_t named = strcspn(word + 1, "=");
    if (!is_long && named > 1 && cli_find_row(rows, word + 1, named, 0))
        return err_set(err, STATUS_USAGE, "an option of several letters has two dashes: --%.*s", (int)named,
                       word + 1);
    for (const char *letter = word + 1; *letter; letter++) {
        const size_t length = is_long ? strcspn(word + 2, "=") : 1;
        const cli_row_t *row = cli_find_row(rows, is_long ? word + 2 : NULL, length, *letter);
        const char *joined =
            is_long ? (word[2 + length] ? word + 3 + length : NULL) : (letter[1] ? letter + 1 : NULL);
        if (!row)
            return unknown_option(run->command, rows, word, *letter, err);
        const option_t *option = row->option;
        const char *text = NULL;
        if (option->argument) {
            text = joined ? joined : *at + 1 < run->line_count ? run->line[*at + 1] : NULL;
            *at += !joined && text;
            if (!text)
                return err_set(err, STATUS_USAGE, "--%s needs a value: %s", option->name, option->argument);
        } else if (is_long && joined) {
            return err_set(err, STATUS_USAGE, "--%s takes no value", option->name);
        }
        if (!set(run, row, text, err))
            return false;
        if (is_long || option->argument)
            return true;
    }
    return true;
}

static bool is_no_uri(const char *argument, err_t *err) {
    const bool is_uri =
        strncmp(argument, "mongodb://", 10) == 0 || strncmp(argument, "mongodb+srv://", 14) == 0;
    return option_no_password("an argument", argument, err) &&
           (!is_uri ||
            err_set(err, STATUS_USAGE, "the URI of a server goes with --uri: put --uri before it"));
}

static bool is_among(const char *words, const char *name) {
    char all[200], one[64];
    snprintf(all, sizeof all, " %s ", words);
    snprintf(one, sizeof one, " %s ", name);
    return strstr(all, one);
}

/* Why these two options do not go together; NULL: they do. */
static const apart_t *apart_of(const command_t *command, const char *one, const char *other) {
    static const apart_t of_all[] = {{"uri-file", "uri", "has the URI"}, {NULL, NULL, NULL}};
    const apart_t *const tables[] = {of_all, command->apart};
    for (size_t i = 0; i < COUNT(tables); i++)
        for (const apart_t *apart = tables[i]; apart && apart->option; apart++)
            if (strcmp(apart->option, one) == 0 && is_among(apart->others, other))
                return apart;
    return NULL;
}

static bool go_together(const run_t *run, err_t *err) {
    const cli_rows_t *rows = &run->rows;
    for (size_t i = 0; i < rows->count; i++)
        for (size_t j = 0; run->said[i] && j < rows->count; j++) {
            const char *one = rows->rows[i].option->name, *other = rows->rows[j].option->name;
            const apart_t *apart = run->said[j] ? apart_of(run->command, one, other) : NULL;
            if (apart)
                return err_set(err, STATUS_USAGE, "--%s %s: leave it or --%s out", one, apart->reason, other);
        }
    return true;
}

/* Does the command line say it itself, or something that does not go with it? */
static bool is_settled(const run_t *run, const bool *typed, const option_t *option) {
    const command_t *command = run->command;
    for (size_t i = 0; i < run->rows.count; i++) {
        const char *name = run->rows.rows[i].option->name;
        if (typed[i] && (strcmp(name, option->name) == 0 || apart_of(command, name, option->name) ||
                         apart_of(command, option->name, name)))
            return true;
    }
    return false;
}

/* After the command line, which goes first. */
static bool read_environment(run_t *run, err_t *err) {
    bool typed[MOST_OPTIONS];
    memcpy(typed, run->said, sizeof typed);
    for (size_t i = 0; i < run->rows.count; i++) {
        const cli_row_t *row = &run->rows.rows[i];
        const option_t *option = row->option;
        char variable[64]; /* TIPPLE_SHARD_KEY */
        snprintf(variable, sizeof variable, "TIPPLE_%s", option->name);
        for (char *at = variable; *at; at++)
            *at = (char)(*at == '-' ? '_' : toupper((unsigned char)*at));
        const bool never = option->typed || option->destroys || (row->shared && !option->takers);
        const char *text = never ? NULL : getenv(variable);
        if (text && *text && !is_settled(run, typed, option) && !set(run, row, text, err))
            return err_where(err, "in the environment, %s", variable);
    }
    return true;
}

bool cli_read(run_t *run, err_t *err) {
    bool options = true;
    cli_rows(run->command, &run->rows);
    for (int i = 0; i < run->line_count; i++) {
        char *word = run->line[i];
        if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (options && word[0] == '-' && word[1]) {
            if (!read_option(run, &i, err))
                return false;
        } else if (is_no_uri(word, err)) {
            run->words[run->count++] = word;
        } else {
            return false;
        }
        if (run->help || run->version)
            return true;
    }
    return read_environment(run, err) && go_together(run, err);
}
