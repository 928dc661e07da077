/* report_tune: the report of a tune: its settings, with best and cheapest. Main thread. */
#ifndef TIPPLE_CLI_REPORT_REPORT_TUNE_H
#define TIPPLE_CLI_REPORT_REPORT_TUNE_H

#include "report/report.h"
#include "study/tune/tune.h"

/* document: the result's. report_free; also of one that failed or was interrupted. */
report_t *report_tune(const tune_spec_t *spec, const tune_result_t *result, const bson_t *document,
                      int status, const err_t *err);

#endif
