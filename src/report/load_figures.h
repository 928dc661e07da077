/* load_figures: what a load found, as the object that `tipple load --json` prints and tipple_load_json gives. Where memory is out, the
 * process ends (report/result.h). */
#ifndef TIPPLE_REPORT_LOAD_FIGURES_H
#define TIPPLE_REPORT_LOAD_FIGURES_H

#include "load/spec/load_result.h"
#include "load/spec/load_spec.h"
#include "report/result.h"

/* A name with '-' before it is for the command's views alone. */
void load_figures(bson_t *to, const load_spec_t *spec, const load_result_t *load);

/* The list of indexes that were built. */
result_field_t load_figures_indexes(const load_result_t *load);

/* The list of columns that a guess made texts because of a few values, by the format file that it wrote; NULL: none. */
result_field_t load_figures_kept_columns(const char *yaml);

#endif
