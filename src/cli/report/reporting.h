/* reporting: what --report has in common in all commands. Each fills its report in a module of its own
 * (report_load, ...). Main thread. */
#ifndef TIPPLE_CLI_REPORT_REPORTING_H
#define TIPPLE_CLI_REPORT_REPORTING_H

#include "base/numbers.h"
#include "cli/options/again.h"
#include "report/report.h"

/* The run function of a command that reports: keeps the line as it was typed, reads options into `values`,
 * then has `body` do the work with what is no option. */
typedef int reporting_body_t(void *values, char **inputs, int count, const again_t *again, err_t *err);
int reporting_run(const command_t *command, int argc, char **argv, void *values, reporting_body_t *body,
                  err_t *err);

/* "uri" and "again" among the settings; written, freed. A run that was fine and whose report cannot be
 * written is status 8, with its sentence in *err; of one that failed anyhow, the report is only warned of.
 * Returns the command's status. */
int reporting_end(report_t *report, const char *path, const again_t *again, const char *uri, int status,
                  err_t *err);

/* Of a command that works on several collections. True: no report is wanted (path: NULL). */
bool reporting_of_none(const char *path, err_t *err);

/* "Interrupted after 3.2 s" or "Failed after 3.2 s: <why>": how a sentence begins of a run that did not end
 * well. bson_free. */
char *reporting_trouble(int status, double seconds, const err_t *err);
bool reporting_is_trouble(int status);
bool reporting_is_interrupted(int status); /* by a signal */

/* A figure of a result's document, by its path there. */
void reporting_figure(report_t *report, const bson_t *result, const char *name, const char *path,
                      const char *unit);

/* A series of percentiles, in milliseconds. */
void reporting_latencies(report_t *report, const hist_t *times, const char *name);

#endif
