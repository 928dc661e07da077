/* drill_print: what `tipple drill` found, as a table for a person or as JSON. */
#ifndef TIPPLE_CLI_PRINT_DRILL_PRINT_H
#define TIPPLE_CLI_PRINT_DRILL_PRINT_H

#include "study/drill/drill.h"

void drill_print_table(const drill_spec_t *spec, const drill_result_t *result);
void drill_print_json(const drill_spec_t *spec, const drill_result_t *result, int status);

/* The `tipple load` that goes on where a drill of the target itself was stopped; free it. */
char *drill_load_line(const drill_result_t *result);

#endif
