/* query_tables: the tables that a suite names: one figure of each measurement, arranged by two things. Main thread. */
#ifndef TIPPLE_CLI_PRINT_QUERY_TABLES_H
#define TIPPLE_CLI_PRINT_QUERY_TABLES_H

#include "cli/print/query_print.h"

/* Nothing is printed of a table with a single figure, but where one was published. */
void query_print_suite_table(const query_result_t *result, const suite_table_t *table);

/* The figure that the table has as published beside this measurement, or NULL. */
const char *query_published(const query_result_t *result, const suite_table_t *table,
                            const measure_t *measure);

#endif
