/* What the results of all commands have in common: the run of a command, and the page at its end. */
#include "base/log.h"
#include "cli/results/end.h"

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
    char *shown = uri ? again_conceal(uri, uri) : NULL, *line = again_line(again, uri);
    err_t problem;
    result_put(&result->document, AS_TEXT("-uri", shown));
    result_figures(result, SHOW_PAGE, "Settings", NULL,
                   RESULT_COLUMNS(COLUMN("format", "format"), COLUMN("threads", "threads"),
                                  COLUMN("batch", "batch"), COLUMN("clustered", "clustered"),
                                  COLUMN("sample_percent", "sample, percent"),
                                  COLUMN("budget_seconds", "budget"), COLUMN("-uri", "URI")));
    result_command(result, SHOW_PAGE, "The same again:", line);
    bson_free(shown);
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

bool results_no_page(const char *path, err_t *err) {
    return !path ||
           err_set(err, STATUS_USAGE,
                   "--report is of one collection, and the URI names none: leave the option out, or name "
                   "one in the URI");
}
