/* query_print: what `tipple query` found, as tables, as JSON, and next to an earlier run.
 * stdout; main thread. */
#ifndef TIPPLE_CLI_PRINT_QUERY_PRINT_H
#define TIPPLE_CLI_PRINT_QUERY_PRINT_H

#include "cli/print/result.h"
#include "query/run.h"

void query_print_table(const query_result_t *result);
/* then: what compare_read read; NULL without --compare. */
void query_make_result(bson_t *to, const query_result_t *result, const bson_t *then);
void query_print_comparison(const query_result_t *result, const bson_t *then);
/* The answers themselves, a line each. */
void query_print_answers(const query_result_t *result, bool named); /* named: each after its query's name */
void query_print_plans(const query_result_t *result);

/* ---- figures: NAN where there are too few times to know one ---- */

typedef double query_figure_fn(const measure_t *measure);

typedef struct {
    const char *name, *title; /* of programs, of people */
    query_figure_fn *of, *deviation;
} query_figure_t;

extern const query_figure_t query_figures[]; /* ends with a NULL name */

/* NAN: there is no figure of this name. */
double query_figure(const measure_t *measure, const char *name);

/* How many times as long as then, by the median or another percentile; NAN: it is not known, or there is an obstacle. */
double query_ratio(const measure_t *measure, const compared_t *then, const char *figure);

/* What is to be told of requests to which nothing came back; NULL: nothing is. */
enum { QUERY_EMPTINESS = 80 };
const char *query_emptiness(const measure_t *measure, char out[QUERY_EMPTINESS]);

/* The figure that the suite's table has as published next to this measurement, or NULL. */
const char *query_published(const query_result_t *result, const suite_table_t *table,
                            const measure_t *measure);

#endif
