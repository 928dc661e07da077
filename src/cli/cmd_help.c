/* help: what commands, options and exit statuses mean, as a page for a terminal or for man, by one walk over the rows of
 * commands and options. The pages of format files and suites are written by hand: package/tipple-formats.5,
 * package/tipple-suites.5. */
#include "base/log.h"
#include "cli/options/cli.h"
#include "library/library.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { COMMAND_COLUMN = 14, STATUS_COLUMN = 16, OPTION_COLUMN = 24 };

static const char *const statuses[][2] = {
    {"0", "done: every record read is in the collection (or was there already), or was left out by a filter"},
    {"1", "nothing was touched: command line, format, suite, permission, password, or an unsuitable target"},
    {"2", "done, but some records were rejected (the reject file holds them), or files skipped"},
    {"3", "stopped: more rejects than --max-rejects"},
    {"4", "stopped: the server refused or was away for longer than --patience; the same command resumes"},
    {"5",
     "an input is unreadable, damaged, changed, or does not fit the format; the sentence says what to do"},
    {"6", "a threshold was missed, such as --within; all else is done"},
    {"7", "verify, drill: the collection is not what its files make; query, drill: an answer is not the "
          "expected one; the differences were named"},
    {"8", "stopped: this host (memory, disk full, stdout closed, file descriptors); resumable"},
    {"129, 130, 143", "interrupted (terminal closed, Ctrl-C, SIGTERM): cleaned up; resumable"},
};

static const char of_environment[] =
    "Options that neither destroy nor select data can be set in the environment, too: TIPPLE_URI for --uri.";

/* ---- the two languages of a page: text for a terminal of 80 columns, or roff ---- */

enum { WIDTH = 80 };

static bool is_man;

/* Wraps a text after an indent. */
static void wrap(const char *text, int indent) {
    int column = indent;
    for (const char *at = text; *at;) {
        const size_t word = strcspn(at, " \n");
        if (*at == '\n' || (column > indent && column + 1 + (int)word > WIDTH)) {
            out_print("\n%*s", indent, "");
            column = indent;
            at += *at == '\n';
            continue;
        }
        out_print("%s%.*s", column > indent ? " " : "", (int)word, at);
        column += (column > indent) + (int)word;
        at += word + strspn(at + word, " ");
    }
    out_print("\n");
}

/* A typesetter would print other characters, which no shell knows. */
static void put_roff(const char *text) {
    static const char from[] = "\\-'`^~";
    static const char *const to[] = {"\\e", "\\-", "\\(aq", "\\(ga", "\\(ha", "\\(ti"};
    for (; *text; text++) {
        const char *special = strchr(from, *text);
        if (special)
            out_lines(to[special - from]);
        else if (strncmp(text, "\n\n", 2) == 0)
            out_lines("\n.PP");
        else
            out_bytes(text, 1);
    }
    out_lines("\n");
}

static void put_upper(const char *text) {
    for (; *text; text++)
        out_print("%c", toupper((unsigned char)*text));
}

/* part: below another heading */
static void put_heading(const char *text, bool part) {
    if (!is_man) {
        out_print("\n%s%s\n", text, text[strlen(text) - 1] == '?' ? "" : ":");
    } else if (part) {
        out_print(".SS %s\n", text);
    } else {
        out_lines(".SH ");
        put_upper(text);
        out_lines("\n");
    }
}

/* An empty line begins a paragraph. */
static void put_text(const char *text) {
    if (is_man) {
        put_roff(text);
    } else {
        out_lines("\n");
        wrap(text, 0);
    }
}

/* Lines that stay as they are. */
static void put_lines(const char *lines) {
    out_lines(is_man ? ".nf\n" : "");
    is_man ? put_roff(lines) : out_lines(lines);
    out_lines(is_man ? ".fi\n" : "\n");
}

/* Words, and what they mean, from this column on at a terminal. */
static void put_entry(const char *words, const char *means, int column) {
    if (is_man) {
        out_lines(".TP\n.B ");
        put_roff(words);
        put_roff(means);
    } else {
        if ((int)strlen(words) > column - 3)
            out_print("  %s\n%*s", words, column, "");
        else
            out_print("  %-*s", column - 2, words);
        wrap(means, column);
    }
}

/* name: of a command; "": the overview */
static void put_title(const char *name, const char *about, const char *usage) {
    if (!is_man) {
        out_print("tipple%s%s: %s\n\nUsage: %s\n", *name ? " " : "", name, about, usage);
        return;
    }
    const char *dash = *name ? "-" : "";
    out_print(".TH TIPPLE%s", dash);
    put_upper(name);
    out_print(" 1 \"" TIPPLE_DAY "\" \"tipple %s\"\n.SH NAME\ntipple%s%s \\- ", TIPPLE_VERSION, dash, name);
    put_roff(about);
    out_lines(".SH SYNOPSIS\n.B ");
    put_roff(usage);
    out_lines(".SH DESCRIPTION\n");
}

/* ---- a page ---- */

static void put_statuses(void) {
    put_heading("Exit statuses", false);
    for (size_t i = 0; i < COUNT(statuses); i++)
        put_entry(statuses[i][0], statuses[i][1], STATUS_COLUMN);
}

static void put_see_also(void) {
    if (is_man) {
        put_heading("See also", false);
        put_text("tipple(1), tipple-formats(5), tipple-suites(5)");
    }
}

/* "-f, --format NAME" */
enum { OPTION_WORDS = 80 };
static void option_words(const option_t *option, char out[OPTION_WORDS]) {
    char letter[8] = "";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(out, OPTION_WORDS, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
}

static void put_options(const command_t *command) {
    cli_rows_t rows;
    cli_rows(command, &rows);
    if (is_man)
        put_heading("Options", false);
    for (size_t i = 0; i < rows.count; i++) {
        char words[OPTION_WORDS];
        if (i == 0 || rows.rows[i].group != rows.rows[i - 1].group)
            put_heading(rows.rows[i].group, true);
        option_words(rows.rows[i].option, words);
        put_entry(words, rows.rows[i].option->help, OPTION_COLUMN);
    }
}

static void put_command(const command_t *command) {
    char usage[120];
    snprintf(usage, sizeof usage, "tipple %s [options]%s%s", command->name, *command->arguments ? " " : "",
             command->arguments);
    put_title(command->name, command->about, usage);
    put_text(command->help);
    if (command->examples) {
        put_heading("Examples", !is_man);
        put_lines(command->examples);
    }
    put_options(command);
    put_heading("Environment", false);
    put_text(of_environment);
    if (is_man)
        put_statuses();
    put_see_also();
}

static void put_overview(void) {
    const char *group = "";
    put_title("", "load bulk data into MongoDB, fast, and account for every record",
              "tipple COMMAND [options] [arguments]");
    put_text("A load can be run again at any time: what is there is not loaded twice, and what is missing is "
             "completed. `tipple COMMAND --help` explains a command, `tipple --version` prints the version.");
    put_heading("Examples", false);
    put_lines("  tipple load orders.csv --uri mongodb://HOST/shop.orders     # any records\n"
              "  tipple verify orders.csv --uri mongodb://HOST/shop.orders   # compare them");
    if (is_man)
        put_heading("Commands", false);
    for (const command_t *const *command = cli_commands; *command; command++) {
        if (strcmp(group, (*command)->group) != 0)
            put_heading((*command)->group, true);
        group = (*command)->group;
        put_entry((*command)->name, (*command)->about, COMMAND_COLUMN);
    }
    put_statuses();
    put_see_also();
}

void cli_print_help(const command_t *command) {
    command ? put_command(command) : put_overview();
}

/* ---- the command ---- */

const command_t *cli_find_command(const char *name, err_t *err) {
    const char *names[16];
    size_t count = 0;
    for (const command_t *const *at = cli_commands; *at; at++) {
        if (strcmp((*at)->name, name) == 0)
            return *at;
        names[count++] = (*at)->name;
    }
    const char *hint = library_gone(name, true);
    err_set(err, STATUS_USAGE, "there is no command '%s'%s%s", name,
            hint ? "; instead: " : suggestion(name, names, count).text,
            hint ? hint : "; `tipple help` lists them");
    return NULL;
}

typedef struct {
    bool man;
} values_t;

static values_t values;

static const option_t options[] = {
    OPTION("man", FLAG, man, .group = GROUP_RESULT,
           .help = "Print a page for man: of a command, such as load, or tipple.1."),
    {.name = NULL},
};

static int explain(run_t *run, err_t *err) {
    const char *name = run->count ? run->words[0] : "tipple.1";
    const command_t *command = NULL;
    char of_page[24]; /* tipple-load.1 */
    if (sscanf(name, "tipple-%23[a-z].1", of_page) == 1)
        name = of_page;
    if (strcmp(name, "tipple.1") != 0 && !(command = cli_find_command(name, err)))
        return (int)err->status;
    is_man = values.man;
    cli_print_help(command);
    return cli_finish(STATUS_OK, err);
}

const command_t command_help = {
    .name = "help",
    .group = COMMANDS_HELP,
    .arguments = "[COMMAND]",
    .about = "explain a command",
    .help = "Prints the page of a command, or all commands, each in a line.",
    .options = options,
    .values = &values,
    .body = explain,
};
