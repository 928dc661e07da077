/* drill_print: what `tipple drill` found, as a table for a person and as a document. */
#ifndef TIPPLE_CLI_PRINT_DRILL_PRINT_H
#define TIPPLE_CLI_PRINT_DRILL_PRINT_H

#include "cli/print/result.h"
#include "study/drill/drill.h"

void drill_make_result(bson_t *to, const drill_spec_t *spec, const drill_result_t *result);
void drill_print_table(const drill_spec_t *spec, const drill_result_t *result, const bson_t *document);

bool drill_has_begun(const drill_pass_t *pass);
/* Those that are told of as they came; those that did not, at the end. Returns how many. */
size_t drill_phases_told(const drill_result_t *result, const drill_pass_t *pass,
                         drill_phase_t order[DRILL_PHASES]);
/* Percent of the time until verified that the indexes took where they are built by themselves, else the load. what:
 * "indexes were" or "the load was". */
double drill_share(const drill_pass_t *pass, const char **what);

/* The `tipple load` that goes on where a drill of the target itself was stopped; free it. */
char *drill_load_line(const drill_result_t *result);

#endif
