/* report_plan: the report of `tipple plan`. Main thread. */
#ifndef TIPPLE_CLI_REPORT_REPORT_PLAN_H
#define TIPPLE_CLI_REPORT_REPORT_PLAN_H

#include "cli/print/plan_print.h"
#include "report/report.h"

/* document: the result's. report_free. */
report_t *report_plan(const planned_t *planned, const bson_t *document);

#endif
