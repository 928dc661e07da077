/* tune_print: what `tipple tune` found, for a person and for programs. stdout; main thread. */
#ifndef TIPPLE_CLI_PRINT_TUNE_PRINT_H
#define TIPPLE_CLI_PRINT_TUNE_PRINT_H

#include "study/tune/tune.h"

void tune_print_table(const tune_spec_t *spec, const tune_result_t *result);
void tune_print_json(const tune_spec_t *spec, const tune_result_t *result, int status);

/* The `tipple load` line that loads like a setting; free. */
char *tune_print_line(const tune_spec_t *spec, const tune_result_t *result, size_t setting);

#endif
