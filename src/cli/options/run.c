/* A run of a command: what all commands do alike before and after their bodies. */
#include "base/log.h"
#include "base/stop.h"
#include "base/yaml_tree.h"
#include "cli/options/cli.h"
#include "load/spec/load_spec.h"
#include "load/spec/progress.h"
#include "tipple/tipple.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- before ---- */

/* The one line of the file, without blanks at its ends. */
static bool read_uri_file(const char *path, const char **uri, err_t *err) {
    opened_t file;
    if (!builtin_read("URI", path, &file, err))
        return false;
    bool ok = option_take_uri(file.text, file.length, uri, err);
    if (ok && (!**uri || strpbrk(*uri, "\r\n") || memchr(file.text, '\0', file.length)))
        ok = err_set(err, STATUS_USAGE, "--uri-file: %s has to hold a URI in one line, and nothing else",
                     path);
    explicit_bzero(file.text, file.length); /* there may be a password in it */
    free(file.text);
    return ok;
}

/* What it takes of the options of a load; NULL: nothing. */
static load_options_t *load_of(const run_t *run) {
    return run->command->takes ? run->values : NULL;
}

static int obey(run_t *run, err_t *err) {
    load_options_t *load = load_of(run);
    if (!cli_read(run, err))
        return (int)err->status;
    if (run->version || run->help) {
        run->version ? out_lines(tipple_version()) : cli_print_help(run->command);
        return cli_finish(STATUS_OK, err);
    }
    if (load && load->uri_file && !read_uri_file(load->uri_file, &load->spec.uri, err))
        return (int)err->status;
    log_set_level(run->quiet ? LOG_QUIET : run->verbose ? LOG_VERBOSE : LOG_NORMAL);
    if (run->json)
        log_no_bar();
    if (run->metrics) {
        char *target = load->spec.uri ? uri_target(load->spec.uri) : NULL;
        metrics_of(target ? target : "");
        free(target);
        if (!metrics_begin(run->metrics, run->command->name, err))
            return (int)err->status;
    }
    const int status = run->command->body(run, err);
    metrics_end(status);
    return status;
}

int cli_run(const command_t *command, int argc, char **argv, err_t *err) {
    run_t run = {.command = command, .values = command->values, .line = argv, .line_count = argc};
    if (!(run.words = calloc((size_t)argc + 1, sizeof *run.words)))
        return err_memory(err, (size_t)argc * sizeof *run.words), (int)err->status;
    if (command->takes)
        load_options_init(run.values);
    if (command->init)
        command->init();
    const int status = obey(&run, err);
    if (command->options)
        options_free(command->options, run.values);
    if (command->takes)
        options_free(load_options, run.values);
    free(run.words);
    return status;
}

/* ---- for the bodies ---- */

bool cli_has_uri(const run_t *run, const char *what, err_t *err) {
    return load_of(run)->spec.uri ||
           err_set(err, STATUS_USAGE,
                   "--uri is missing: %s, such as --uri mongodb://127.0.0.1/mot.results (or set TIPPLE_URI)",
                   what);
}

bool cli_takes_inputs(const run_t *run, const char *uri_is, err_t *err) {
    load_options_t *load = load_of(run);
    if ((uri_is && !cli_has_uri(run, uri_is, err)) || !load_options_settle(load, load->spec.format, err))
        return false;
    if (!run->count && !load->spec.retry)
        return err_set(err, STATUS_USAGE, "nothing to %s: give files, directories, patterns, or - for stdin",
                       run->command->name);
    load->spec.inputs = run->words;
    load->spec.input_count = (size_t)run->count;
    return !run->report || result_check_page(run->report, err);
}

bool cli_read_words(const char *option, const char *text, size_t most, cli_take_t *take, void *into,
                    err_t *err) {
    size_t count = 0;
    for (const char *at = text; *at; count++) {
        char word[32];
        const size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (count == most)
            return err_set(err, STATUS_USAGE, "--%s: more than %zu of them", option, most);
        for (const char *before = text; before < at; before += strcspn(before, ",") + 1)
            if (strcspn(before, ",") == length && strncmp(before, at, length) == 0)
                return err_set(err, STATUS_USAGE, "--%s: %s is named twice", option, word);
        if (!take(into, word, err))
            return false;
        at += length + (at[length] == ',');
    }
    return count > 0 || err_set(err, STATUS_USAGE, "--%s needs a value", option);
}

static void put_file(bson_t *to, const void *of, size_t at) {
    const builtin_t *file = (const builtin_t *)of + at;
    err_t err;
    yaml_tree_t *tree = yaml_tree_parse(file->text, file->length, file->name, &err);
    if (!tree) /* core.formats, core.suite: all can be read */
        err_end_without_memory(file->length);
    result_put(to, OF(file, name), AS_TEXT("about", yaml_item_get(yaml_tree_root(tree), "about")->text));
    yaml_tree_destroy(tree);
}

static const result_view_t views[] = {TABLE(SHOW_QUIET | SHOW_WHOLE, NULL, "-files", NULL, NULL,
                                            COLUMN("name", "{-kind}"), COLUMN("about", "about")),
                                      {0}};

int cli_list(const run_t *run, const builtin_t *files, const char *kind, err_t *err) {
    size_t count = 0;
    result_t *result = result_new(run->command->name, views);
    while (files[count].name)
        count++;
    result_put(&result->document, AS_TEXT("-kind", kind), AS_LIST("-files", count, put_file, files));
    return cli_end(run, result, true, STATUS_OK, err);
}

bool cli_confirm(const run_t *run, const char *destroys, const char *question, err_t *err) {
    char answer[16] = "";
    if (run->yes)
        return true;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return err_set(err, STATUS_USAGE, "%s; add --yes where no terminal can ask", destroys);
    fprintf(stderr, "%s [y/N] ", question);
    return (fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y')) ||
           err_set(err, STATUS_USAGE, "the answer was not yes: nothing was touched");
}

/* ---- after ---- */

bool cli_flush(err_t *err) {
    if (fflush(stdout) != 0 && !out_problem)
        out_problem = errno;
    if (out_problem == EINTR) /* only by a signal that asks us to stop */
        return err_set(err, STATUS_INTERRUPTED, "interrupted: not all of the result is on stdout");
    return !out_problem || err_set(err, out_problem == EPIPE ? STATUS_READER_GONE : STATUS_HOST,
                                   "stdout cannot be written: %s", strerror(out_problem));
}

int cli_finish(int status, err_t *err) {
    err_t broken;
    const bool fine = status == STATUS_OK || status == STATUS_SOME_REJECTED || status == STATUS_DIFFERENT;
    if (cli_flush(&broken) || !fine)
        return status;
    *err = broken;
    return (int)broken.status;
}

/* If the run failed, a warning alone says that there is no page. */
static int write_page(const run_t *run, const result_t *result, int status, err_t *err) {
    err_t problem;
    if (result_write_page(result, run->report, &problem))
        return status;
    if (result_is_trouble(status)) {
        log_warn("%s", problem.text);
        return status;
    }
    *err = problem;
    return (int)problem.status;
}

int cli_end(const run_t *run, result_t *result, bool shown, int status, err_t *err) {
    if (run->report && status != STATUS_USAGE)
        status = write_page(run, result, status, err);
    if (shown && run->json)
        result_print_json(result, status);
    else if (shown)
        result_print_text(result);
    result_free(result);
    return cli_finish(status, err);
}
