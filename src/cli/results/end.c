/* What the results of all commands have in common: the run of a command, and the page at its end. */
#include "base/log.h"
#include "cli/options/shell_quote.h"
#include "cli/results/results.h"

#include <stdlib.h>

int results_run(const command_t *command, int argc, char **argv, void *values, results_body_t *body,
                err_t *err) {
    int rest, status;
    again_t again;
    again_keep(&again, command, argc, argv);
    if (cli_read(command, argc, argv, values, &rest, &status, err))
        status = body(values, argv, rest, &again, err);
    cli_free(command, values);
    again_free(&again);
    return status;
}

int results_page(result_t *result, const char *path, const again_t *again, const char *uri, int status,
                 err_t *err) {
    char *line = again_line(again, uri);
    err_t problem;
    result_put(&result->document, AS_TEXT("-again", line));
    free(line);
    if (result_write_page(result, path, &problem))
        return status;
    if (result_is_trouble(status)) {
        log_warn("%s", problem.text);
        return status;
    }
    *err = problem;
    return (int)problem.status;
}

char *results_load_line(const load_spec_t *load, const char *more) {
    text_t line = {.length = 0};
    text_append(&line, "tipple load");
    shell_quote_option(&line, "--format", load->format);
    shell_quote_uri(&line, load->uri);
    text_append(&line, more);
    shell_quote_option(&line, "--create", load->create);
    shell_quote_option(&line, "--compressor", load->compressor);
    for (size_t i = 0; i < load->index_count; i++)
        shell_quote_option(&line, "--index", load->indexes[i]);
    shell_quote_option(&line, "--rejects", load->rejects);
    shell_quote_rest(&line, load, load->direct);
    return text_take_or_end(&line);
}

bool results_no_page(const char *path, err_t *err) {
    return !path ||
           err_set(err, STATUS_USAGE,
                   "--report is of one collection, and the URI names none: leave the option out, or name "
                   "one in the URI");
}
