/* end: how a command runs, and how it ends with a page: what the results of all commands have in common. Main thread. */
#ifndef TIPPLE_CLI_RESULTS_END_H
#define TIPPLE_CLI_RESULTS_END_H

#include "cli/options/again.h"
#include "report/result.h"

/* The run function of a command: keeps the line as it was typed, reads options into `values`, then has `body` do the work
 * with what is no option. */
typedef int results_body_t(void *values, char **inputs, int count, const again_t *again, err_t *err);
int results_run(const command_t *command, int argc, char **argv, void *values, results_body_t *body,
                err_t *err);

/* Adds the settings and the command line, and writes the page. A run that was fine, whose page cannot be written, is status
 * 8, with the sentence in *err; of one that failed, the page is only warned of. Returns the command's status. */
int results_page(result_t *result, const char *path, const again_t *again, const char *uri, int status,
                 err_t *err);

/* True: no page is wanted (path NULL). Of a command that works on several collections. */
bool results_no_page(const char *path, err_t *err);

#endif
