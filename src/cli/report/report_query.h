/* report_query: the report of a suite's measurements. Main thread. */
#ifndef TIPPLE_CLI_REPORT_REPORT_QUERY_H
#define TIPPLE_CLI_REPORT_REPORT_QUERY_H

#include "query/run.h"
#include "report/report.h"

/* report_free; also of a run of which some failed, or that was interrupted. */
report_t *report_query(const query_spec_t *spec, const query_result_t *result, int status, const err_t *err);

#endif
