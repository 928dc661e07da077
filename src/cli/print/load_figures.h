/* load_figures: the result of a load as a document, and what text and report tell besides. */
#ifndef TIPPLE_CLI_PRINT_LOAD_FIGURES_H
#define TIPPLE_CLI_PRINT_LOAD_FIGURES_H

#include "cli/print/result.h"
#include "load/load.h"

void load_make_result(bson_t *to, const load_result_t *result);
result_put_t load_put_index; /* of built_index_t */

/* Of this process, for each document sent; NAN: none was. */
double load_cpu_us(const load_result_t *result);

/* Of a shard or router, where something was loaded. Percent of the documents, and of the loading time that a batch was
 * under way; batches at once on average. */
typedef struct {
    double documents, busy, at_once;
} load_share_t;
load_share_t load_share(const load_result_t *result, const loaded_place_t *place);

#endif
