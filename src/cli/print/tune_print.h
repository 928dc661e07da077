/* tune_print: what `tipple tune` found, for a person and for programs. stdout; main thread. */
#ifndef TIPPLE_CLI_PRINT_TUNE_PRINT_H
#define TIPPLE_CLI_PRINT_TUNE_PRINT_H

#include "cli/print/result.h"
#include "study/tune/tune.h"

void tune_make_result(bson_t *to, const tune_spec_t *spec, const tune_result_t *result);
void tune_print_table(const tune_result_t *result, const bson_t *document);

/* "best", "cheapest", "given up", "too small", "not tried", or nothing. */
const char *tune_remark(const tune_result_t *result, size_t setting);

#endif
