/* query_figures: the figures of a measurement that are printed. A figure is NAN where there are too few
 * times to tell it. */
#ifndef TIPPLE_CLI_PRINT_QUERY_FIGURES_H
#define TIPPLE_CLI_PRINT_QUERY_FIGURES_H

#include "query/run.h"

typedef double query_figure_fn(const measure_t *measure);

typedef struct {
    const char *name, *title; /* of programs, of people */
    query_figure_fn *of, *deviation;
} query_figure_t;

extern const query_figure_t query_figures[]; /* ends with a NULL name */

/* NAN: there is no figure of this name. */
double query_figure(const measure_t *measure, const char *name);

/* How many times as long as then, by the median or another percentile; NAN: it is not known, or something hinders. */
double query_ratio(const measure_t *measure, const compared_t *then, const char *figure);

/* What is to be told of requests to which nothing came back; NULL: nothing is. */
enum { QUERY_EMPTINESS = 80 };
const char *query_emptiness(const measure_t *measure, char out[QUERY_EMPTINESS]);

#endif
