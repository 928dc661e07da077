/* report_verify: the report of `tipple verify`. Main thread. */
#ifndef TIPPLE_CLI_REPORT_REPORT_VERIFY_H
#define TIPPLE_CLI_REPORT_REPORT_VERIFY_H

#include "report/report.h"
#include "verify/verify.h"

/* document: the result's. report_free; also of one that failed or was interrupted. */
report_t *report_verify(const verify_spec_t *spec, const verify_result_t *result, const bson_t *document,
                        int status, const err_t *err);

#endif
