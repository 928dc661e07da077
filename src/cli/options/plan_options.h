/* plan_options: what `tipple plan` was asked, as numbers. */
#ifndef TIPPLE_CLI_OPTIONS_PLAN_OPTIONS_H
#define TIPPLE_CLI_OPTIONS_PLAN_OPTIONS_H

#include "cli/options/cli.h"
#include "cli/options/guess_rows.h"
#include "study/plan/plan.h"
#include "study/plan/simulate.h"

enum { PLAN_MOST_NUMBERS = 48 };

typedef struct {
    const char *format, *compressor, *report;
    const char *texts[PLAN_MOST_NUMBERS]; /* of options that are numbers, as they were typed */
    texts_list_t indexes, types;
    guess_options_t guess; /* of the sample, without a format */
    bool even, simulate, json;
    plan_spec_t plan;
    simulate_spec_t simulation;
} plan_values_t;

extern const option_t plan_options[];

/* Defaults, before the options are read. */
void plan_options_init(plan_values_t *values);

/* After it: the texts into numbers, with the sentence about the first that is none. What was not given stays.
 */
bool plan_options_finish(plan_values_t *values, err_t *err);

#endif
