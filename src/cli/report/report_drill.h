/* report_drill: the report of a drill: its phases beside what was predicted. Main thread. */
#ifndef TIPPLE_CLI_REPORT_REPORT_DRILL_H
#define TIPPLE_CLI_REPORT_REPORT_DRILL_H

#include "report/report.h"
#include "study/drill/drill.h"

/* document: the result's. report_free; also of one that failed or was interrupted, or that only predicted. */
report_t *report_drill(const drill_spec_t *spec, const drill_result_t *result, const bson_t *document,
                       int status, const err_t *err);

#endif
