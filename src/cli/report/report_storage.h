/* report_storage: the report of `tipple tune --storage`. Main thread. */
#ifndef TIPPLE_CLI_REPORT_REPORT_STORAGE_H
#define TIPPLE_CLI_REPORT_REPORT_STORAGE_H

#include "report/report.h"
#include "study/tune/storage.h"

/* document: the result's. report_free; also of one that failed or was interrupted. */
report_t *report_storage(const storage_spec_t *spec, const storage_result_t *result, const bson_t *document,
                         int status, const err_t *err);

#endif
