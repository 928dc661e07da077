/* query_print: what `tipple query` found, for a person, for programs (JSON), and beside an earlier run.
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
void query_print_answers(const query_result_t *result);
void query_print_plans(const query_result_t *result);

#endif
