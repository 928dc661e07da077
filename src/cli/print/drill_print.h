/* drill_print: what `tipple drill` found, as a table and as a document, and its history file. */
#ifndef TIPPLE_CLI_PRINT_DRILL_PRINT_H
#define TIPPLE_CLI_PRINT_DRILL_PRINT_H

#include "cli/print/result.h"
#include "study/drill/drill.h"

#include <stdio.h>

/* within: seconds; 0: not asked. */
void drill_make_result(bson_t *to, const drill_spec_t *spec, const drill_result_t *result, double within);
void drill_print_table(const drill_spec_t *spec, const drill_result_t *result, const bson_t *document,
                       double within);

/* The history: a line of JSON for each drill, as --json has it, with its date. earlier: the last one of the same
 * collection and kind, to be destroyed; empty: there is none. */
void drill_read_history(FILE *file, const bson_t *document, bson_t *earlier);
bool drill_write_history(FILE *file, const bson_t *document);
void drill_print_change(const bson_t *earlier, const bson_t *document);

bool drill_has_begun(const drill_pass_t *pass);
/* The phases that came, in their order, then those that did not. Returns how many. */
size_t drill_phases_told(const drill_result_t *result, drill_phase_t order[DRILL_PHASES]);
/* Percent of the time until verified that the indexes took, or, if there are none, the load. what: "indexes were" or
 * "the load was". */
double drill_share(const drill_pass_t *pass, const char **what);

/* The `tipple load` that goes on where a drill of the target itself was stopped; free it. */
char *drill_load_line(const drill_result_t *result);

#endif
