/* report_load: the report of a load. Main thread. */
#ifndef TIPPLE_CLI_REPORT_REPORT_LOAD_H
#define TIPPLE_CLI_REPORT_REPORT_LOAD_H

#include "load/load.h"
#include "report/report.h"

/* document: the result's. report_free; also of a load that failed or was interrupted. */
report_t *report_load(const load_spec_t *spec, const load_result_t *result, const bson_t *document,
                      int status, const err_t *err);

/* The rate over time, which other commands' reports have, too. */
void report_load_course(report_t *report, const timeline_t *course, const server_checkpoints_t *flushes);

#endif
