/* query_print: what `tipple query` found, for a person, for programs (JSON), and beside an earlier run.
 * stdout; main thread. */
#ifndef TIPPLE_CLI_PRINT_QUERY_PRINT_H
#define TIPPLE_CLI_PRINT_QUERY_PRINT_H

#include "cli/print/result.h"
#include "query/compare.h"
#include "query/run.h"

void query_print_table(const query_result_t *result);
/* earlier: what --compare names, or NULL. */
/* earlier: NULL without --compare. */
void query_make_result(bson_t *to, const query_result_t *result, const earlier_list_t *earlier);
void query_print_comparison(const query_result_t *result, const earlier_list_t *earlier);
/* The answers themselves, a line each. */
void query_print_answers(const query_result_t *result);
void query_print_plans(const query_result_t *result);

#endif
