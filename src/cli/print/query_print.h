/* query_print: what `tipple query` found, for a person, for programs (JSON, CSV), and beside an earlier run.
 * stdout; main thread. */
#ifndef TIPPLE_CLI_PRINT_QUERY_PRINT_H
#define TIPPLE_CLI_PRINT_QUERY_PRINT_H

#include "query/compare.h"
#include "query/run.h"

void query_print_table(const query_result_t *result);
void query_print_csv(const query_result_t *result);
/* earlier: what --compare names, or NULL. */
void query_print_json(const query_result_t *result, const earlier_list_t *earlier, int status);
void query_print_comparison(const query_result_t *result, const earlier_list_t *earlier);
/* The answers themselves, a line each. */
void query_print_answers(const query_result_t *result);
void query_print_plans(const query_result_t *result);

#endif
