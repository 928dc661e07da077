/* plan_print: what `tipple plan` found, as tables for a person and as a document. */
#ifndef TIPPLE_CLI_PRINT_PLAN_PRINT_H
#define TIPPLE_CLI_PRINT_PLAN_PRINT_H

#include "cli/options/plan_options.h"
#include "cli/print/result.h"
#include "study/drill/gauge.h"

typedef struct {
    const plan_values_t *values;
    const plan_spec_t *spec; /* with everything filled in */
    const plan_t *plan;
    const gauge_t *gauge;                 /* NULL: there was no sample */
    const simulate_figures_t *simulation; /* SIMULATE_WAYS of them, or NULL */
} planned_t;

void plan_print(const planned_t *planned);
void plan_make_result(bson_t *to, const planned_t *planned);

#endif
